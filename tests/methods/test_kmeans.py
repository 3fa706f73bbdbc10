from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sklearn.cluster
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from asterism.data.source import ArraySource
from asterism.errors import NotConvergedWarning, TooFewRowsError
from asterism.methods.kmeans import KMeansFit, fit_kmeans, fit_kmeans_path, inertia_of, nearest


def fit(x: np.ndarray, k: int, w: Any = None, **settings: Any) -> KMeansFit:
    return fit_kmeans(ArraySource(np.asarray(x), w), k, **{"seed": 0, **settings})


def squares(x: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """(n, k) sum of (x - c)^2 over observed cells."""
    y = np.asarray(x, np.float64)[:, None] - centers
    return np.where(np.isnan(y), 0.0, y * y).sum(axis=2)


def lloyd_step(x: np.ndarray, w: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """One step in plain NumPy: the weighted mean of the observed cells of each group; a mean of nothing stays."""
    labels = squares(x, centers).argmin(axis=1)
    new = centers.copy()
    for c in range(len(centers)):
        for j in range(x.shape[1]):
            mine = (labels == c) & ~np.isnan(x[:, j]) & (w > 0)
            if mine.any():
                new[c, j] = np.average(x[mine, j], weights=w[mine])
    return new


def by_value(centers: np.ndarray) -> np.ndarray:
    return centers[np.lexsort(centers.T[::-1])]


def blobs(n: int, d: int, k: int, seed: int = 0, spread: float = 8.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(k, d)) * spread)[rng.integers(k, size=n)] + rng.normal(size=(n, d))


# --- the steps --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 2, 5, 20])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "d", "k"), [(600, 2, 5), (900, 17, 12), (500, 60, 30)])
def test_steps_are_those_of_scikit_learn(n, d, k, weighted, steps):
    x = np.random.default_rng(d).normal(size=(n, d))
    w = np.random.default_rng(1).exponential(size=n) if weighted else None
    ours = fit(x, k, w, init=x[:k], max_iter=steps, tol=0.0)
    theirs = sklearn.cluster.KMeans(k, init=x[:k], n_init=1, max_iter=steps, tol=0.0)
    with threadpool_limits(1):
        theirs.fit(x, sample_weight=w)
    assert ours.n_iter == theirs.n_iter_
    assert np.array_equal(ours.labels, theirs.labels_)
    assert np.allclose(ours.centers, theirs.cluster_centers_, rtol=0, atol=1e-9)
    assert ours.inertia == pytest.approx(theirs.inertia_, rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_centre_moves_to_the_mean_of_the_observed_cells_of_its_rows(dtype):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(400, 5)).astype(dtype)
    x[rng.random(x.shape) < 0.4] = np.nan
    w = rng.choice([0.0, 1.0, 3.5], size=400)
    start = rng.normal(size=(7, 5))
    want = start
    for steps in (1, 2, 3):
        want = lloyd_step(x.astype(np.float64), w, want)
        got = fit(x, 7, w, init=start, max_iter=steps, tol=0.0)
        assert np.allclose(got.centers, want, rtol=0, atol=1e-12)


def test_history_holds_the_objective_before_every_step_and_at_the_end():
    x = blobs(300, 3, 4)
    start, want = x[:6], []
    for _ in range(4):
        want.append(squares(x, start).min(axis=1).sum())
        start = lloyd_step(x, np.ones(300), start)
    want.append(squares(x, start).min(axis=1).sum())
    got = fit(x, 6, init=x[:6], max_iter=4, tol=0.0)
    assert np.allclose(got.history, want, rtol=1e-12)
    assert got.inertia == got.history[-1]


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """1 to 12 rows of 1 to 3 columns with weights; whole numbers or not, missing cells or not, any offset.

    Cells that differ at all differ by 1e-20: a centre has some 30 digits, and rows beyond them are one to it (below).
    """
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    fractions = st.floats(-100, 100, width=32).map(lambda value: round(value, 20))
    cell = draw(st.sampled_from([st.integers(-2, 2).map(float), fractions]))
    if draw(st.booleans()):
        cell = cell | st.just(np.nan)
    x = np.array(draw(st.lists(cell, min_size=n * d, max_size=n * d))).reshape(n, d)
    weight = draw(st.sampled_from([st.just(1.0), st.sampled_from([0.0, 1.0, 0.3, 7.5])]))
    w = np.array(draw(st.lists(weight, min_size=n, max_size=n)))
    assume(w.any() and not np.isnan(x[w > 0]).all(axis=0).any())
    return x + draw(st.sampled_from([0.0, 1e9])), w


@settings(max_examples=250, deadline=None)
@given(table=tables(), data=st.data())
def test_objective_never_rises_and_labels_are_those_of_the_centres(table, data):
    x, w = table
    k = data.draw(st.integers(1, len(x)))
    init = data.draw(st.sampled_from(["k-means++", "random", "random-points", "given"]))
    if init == "given":
        init = np.nan_to_num(x[np.resize(np.arange(len(x)), k)])
    try:
        got = fit(x, k, w, init=init, n_init=data.draw(st.integers(1, 3)), tol=0.0)
    except TooFewRowsError:
        assert len(np.unique(x[w > 0], axis=0)) < k or np.isnan(x).any()
        return
    rounding = 1e-28 * w.sum() * np.nanmax(np.ptp(np.nan_to_num(x), axis=0)) ** 2
    assert all(b <= a * (1 + 1e-12) + rounding for a, b in pairwise(got.history)), got.history
    assert got.status == "settled"
    assert len(np.unique(got.labels[w > 0])) == k
    assert np.array_equal(nearest(got.model, ArraySource(x)), got.labels)
    assert inertia_of(got.model, ArraySource(x, w)) == pytest.approx(got.inertia, rel=1e-12)


@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_rows_that_differ_beyond_thirty_digits_are_one_row_and_it_is_said(init):
    x = np.array([[2.0], [0.0], [1.0], [1e-40], [0.0], [np.nan]])
    with pytest.warns(NotConvergedWarning, match="1 of 4 groups ended without rows"):
        got = fit(x, 4, init=init)
    assert got.labels[1] == got.labels[3] == got.labels[4]
    assert len(np.unique(got.labels)) == 3
    assert np.array_equal(nearest(got.model, ArraySource(x)), got.labels)


# --- weights ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("start", ["given", "drawn"])
def test_weight_counts_as_copies_and_the_order_of_rows_does_not_matter(start, missing):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = blobs(150, 3, 4, seed, spread=2.0)
        if missing:
            x[rng.random(x.shape) < 0.2] = np.nan
        w = rng.integers(0, 4, size=150)
        init = "k-means++" if start == "drawn" else np.nan_to_num(x[:4])
        weighted = fit(x, 4, w, init=init, tol=0.0)
        copies = np.repeat(np.arange(150), w)
        repeated = fit(x[copies], 4, init=init, tol=0.0)
        shuffled = rng.permutation(copies)
        in_disorder = fit(x[shuffled], 4, init=init, tol=0.0)
        for other, rows in [(repeated, copies), (in_disorder, shuffled)]:
            assert np.allclose(by_value(other.centers), by_value(weighted.centers), rtol=0, atol=1e-11)
            assert np.array_equal(other.labels, weighted.labels[rows])
            assert other.inertia == pytest.approx(weighted.inertia, rel=1e-12)


@pytest.mark.parametrize("init", ["k-means++", "random", "given"])
@pytest.mark.parametrize("filler", [np.nan, np.inf, -np.inf, 1e300, 0.0])
def test_weight_zero_is_absent_whatever_the_row_holds(filler, init):
    x = blobs(300, 2, 3)
    w = np.where(np.arange(300) % 3 == 0, 0.0, 2.0)
    there = w > 0
    start = x[there][:3] if init == "given" else init
    absent = fit(x[there], 3, w[there], init=start)
    x[~there] = filler
    got = fit(x, 3, w, init=start)
    assert np.allclose(got.centers, absent.centers, rtol=0, atol=1e-12)
    assert np.array_equal(got.labels[there], absent.labels)
    assert got.inertia == pytest.approx(absent.inertia, rel=1e-12)


def test_absent_rows_do_not_seed_a_table_larger_than_the_sample():
    x = np.vstack([blobs(9000, 2, 3), np.full((3000, 2), np.inf), np.full((3000, 2), 1e9)])
    w = np.where(np.arange(15000) < 9000, 1.0, 0.0)
    got = fit(x, 3, w)
    assert (np.bincount(got.labels[:9000], minlength=3) > 1000).all()
    assert np.abs(got.centers).max() < 100


# --- offsets and scales -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [1e6, -1e9, 1e12])
@pytest.mark.parametrize("n", [500, 9000], ids=["table is the sample", "larger than the sample"])
@pytest.mark.parametrize("init", ["k-means++", "random", "given"])
def test_an_offset_changes_no_label(offset, n, init):
    shifted = blobs(n, 3, 6, spread=3.0) + offset
    back = shifted - offset  # the very same differences
    a = fit(back, 6, init=back[:6] if init == "given" else init)
    b = fit(shifted, 6, init=shifted[:6] if init == "given" else init)
    assert np.array_equal(a.labels, b.labels)
    assert np.array_equal(a.model.offsets, b.model.offsets)
    assert a.history == b.history
    assert np.array_equal(nearest(b.model, ArraySource(shifted)), b.labels)


@pytest.mark.parametrize(("dtype", "most"), [(np.float64, 400), (np.float32, 60)])
@pytest.mark.parametrize("missing", [False, True])
def test_a_power_of_two_changes_no_label(dtype, most, missing):
    x = blobs(5000, 3, 6, spread=3.0).astype(dtype)
    if missing:
        x[np.random.default_rng(0).random(x.shape) < 0.1] = np.nan
    want = fit(x, 6)
    for power in (-most, -most // 7, most // 5, most):
        scaled = np.ldexp(x, power)
        got = fit(scaled, 6)
        assert np.array_equal(got.labels, want.labels)
        assert np.array_equal(got.centers, np.ldexp(want.centers, power))
        assert got.inertia == np.ldexp(want.inertia, 2 * power)
        assert np.array_equal(nearest(got.model, ArraySource(scaled)), want.labels)


# --- empty groups -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 5, 40])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("where", [0.0, 50.0, 1e12, 1e30, 1e200], ids=lambda v: f"all at {v:g}")
def test_centres_without_rows_are_put_to_use(where, missing, k):
    x = blobs(400, 2, 5)
    if missing:
        x[::3, 0] = np.nan
    got = fit(x, k, init=np.full((k, 2), where), tol=0.0)
    assert (np.bincount(got.labels, minlength=k) > 0).all()
    assert got.status == "settled"
    assert np.allclose(got.centers, lloyd_step(x, np.ones(400), got.centers), rtol=0, atol=1e-12)


def test_a_fit_stopped_before_all_centres_are_in_use_says_so():
    x = blobs(400, 2, 5)
    with pytest.warns(NotConvergedWarning, match="of 40 groups ended without rows"):
        got = fit(x, 40, init=np.zeros((40, 2)), max_iter=1)
    assert len(np.unique(got.labels)) < 40


@pytest.mark.parametrize("init", ["k-means++", "random", "random-points"])
@pytest.mark.parametrize("n", [60, 20_000], ids=["table is the sample", "larger than the sample"])
def test_as_many_groups_as_distinct_rows_leave_nothing_over(init, n):
    rng = np.random.default_rng(0)
    distinct = rng.normal(size=(12, 2))
    x = distinct[rng.permutation(np.resize(np.arange(12), n))]
    got = fit(x, 12, init=init)
    assert got.inertia == pytest.approx(0.0, abs=1e-25)
    assert np.allclose(by_value(got.centers), by_value(distinct), rtol=0, atol=1e-13)


@pytest.mark.parametrize("init", ["k-means++", "random", "random-points", "given"])
@pytest.mark.parametrize("n", [60, 20_000], ids=["table is the sample", "larger than the sample"])
def test_more_groups_than_distinct_rows_are_refused_and_the_number_named(init, n):
    x = np.resize(np.random.default_rng(0).normal(size=(12, 2)), (n, 2))
    with pytest.raises(TooFewRowsError, match=r"14 groups .* 12 distinct rows|14 groups .*n_samples=12 "):
        fit(x, 14, init=np.resize(x, (14, 2)) if init == "given" else init)


def test_distinct_rows_that_the_sample_missed_are_still_found():
    few = np.arange(1, 11)[:, None] * 1e-3
    x = np.vstack([np.zeros((30_000, 1)), np.full((30_000, 1), 1e6), few])
    for seed in range(3):
        got = fit(x, 12, seed=seed)
        assert got.inertia == pytest.approx(0.0, abs=1e-15)


def test_negative_zero_and_odd_nans_make_no_distinct_rows():
    odd = np.array([0x7FF8000000000001, 0xFFF8000000000000], np.uint64).view(np.float64)
    x = np.array([[0.0, 1.0], [-0.0, 1.0], [odd[0], 5.0], [odd[1], 5.0], [np.nan, 5.0]])
    with pytest.raises(TooFewRowsError, match="n_samples=2 distinct"):
        fit(x, 3)
    assert fit(x, 2).inertia == 0.0


# --- one and all ------------------------------------------------------------------------------------------------


def test_several_k_in_one_go_are_the_single_fits_to_the_bit():
    x = blobs(9000, 4, 5)
    together = fit_kmeans_path(ArraySource(x), [1, 3, 8], n_init=2, seed=4)
    for k, got in together.items():
        alone = fit(x, k, n_init=2, seed=4)
        assert np.array_equal(got.labels, alone.labels)
        assert np.array_equal(got.centers, alone.centers)
        assert got.history == alone.history


def test_one_group_is_the_mean():
    x = blobs(500, 3, 4)
    got = fit(x, 1)
    assert np.allclose(got.centers[0], x.mean(axis=0), rtol=0, atol=1e-12)
    assert got.inertia == pytest.approx(((x - x.mean(axis=0)) ** 2).sum(), rel=1e-12)


def test_the_best_of_several_starts_is_kept():
    x = blobs(400, 2, 9)
    each = [fit(x, 9, init="random", n_init=n).inertia for n in (1, 4, 16)]
    assert each[2] <= each[1] <= each[0]
    assert each[2] < each[0]
