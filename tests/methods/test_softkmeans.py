from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from asterism.data.source import ArraySource
from asterism.errors import TooFewRowsError
from asterism.methods.kmeans import fit_kmeans
from asterism.methods.softkmeans import SoftFit, fit_soft_kmeans, responsibilities


def fit(x: np.ndarray, k: int, w: Any = None, **settings: Any) -> SoftFit:
    return fit_soft_kmeans(ArraySource(np.asarray(x), w), k, **{"seed": 0, **settings})


def squares(x: np.ndarray, centers: np.ndarray) -> np.ndarray:
    y = np.asarray(x, np.float64)[:, None] - centers
    return np.where(np.isnan(y), 0.0, y * y).sum(axis=2)


def free_energy(x: np.ndarray, w: np.ndarray, centers: np.ndarray, b: float) -> float:
    return float(w @ -logsumexp(-b * squares(x, centers), axis=1) / b)


def soft_step(x: np.ndarray, w: np.ndarray, centers: np.ndarray, b: float) -> np.ndarray:
    """c = sum w r x / sum w r over observed cells, in plain NumPy and SciPy."""
    r = softmax(-b * squares(x, centers), axis=1) * w[:, None]
    seen = ~np.isnan(x)
    return (r.T @ np.where(seen, x, 0.0)) / (r.T @ seen)


def blobs(n: int, d: int, k: int, seed: int = 0, spread: float = 4.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(k, d)) * spread)[rng.integers(k, size=n)] + rng.normal(size=(n, d))


# --- the formulas -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("b", [0.01, 0.5, 20.0])
def test_steps_and_free_energy_are_those_of_the_formulas(b, dtype, missing):
    rng = np.random.default_rng(0)
    x = blobs(700, 4, 3).astype(dtype)
    if missing:
        x[rng.random(x.shape) < 0.3] = np.nan
    x64, w = x.astype(np.float64), rng.choice([0.0, 1.0, 2.5], size=700)
    centers = start = rng.normal(size=(5, 4)) * 3
    want = [free_energy(x64, w, centers, b)]
    for steps in (1, 2, 3):
        centers = soft_step(x64, w, centers, b)
        want.append(free_energy(x64, w, centers, b))
        got = fit(x, 5, w, init=start, stiffness=b, max_iter=steps, tol=0.0)
        assert np.allclose(got.model.positions, centers, rtol=0, atol=1e-10)
        assert np.allclose(got.history, want, rtol=1e-11)
        assert got.energy == got.history[-1]
        assert got.n_iter == steps


@pytest.mark.parametrize("b", [1e-6, 0.3, 1e3, 1e12])
def test_shares_are_the_softmax_of_minus_stiffness_times_squared_distance(b):
    x = blobs(600, 3, 4)
    x[::7, 1] = np.nan
    model = fit(x, 4, stiffness=0.3, max_iter=3).model
    r = responsibilities(b, model, ArraySource(x))
    assert np.allclose(
        r, softmax(-b * squares(x, model.positions), axis=1), rtol=0, atol=1e-9 * max(1, b * 1e-6)
    )
    assert np.allclose(r.sum(axis=1), 1.0, rtol=0, atol=1e-14)


def test_shares_in_groups_a_hundred_million_apart_see_the_structure_inside():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2)) + 1e8 * (np.arange(400) % 2)[:, None]
    start = x[:6]
    got = fit(x, 6, init=start, stiffness=0.5, max_iter=1)
    r = responsibilities(0.5, got.model, ArraySource(x))
    assert np.allclose(r, softmax(-0.5 * squares(x, got.model.positions), axis=1), rtol=0, atol=1e-6)
    assert np.array_equal(r.argmax(axis=1), got.labels)
    assert got.history[0] == pytest.approx(free_energy(x, np.ones(400), start, 0.5), rel=1e-7)


def test_a_row_with_every_cell_missing_belongs_to_all_alike():
    x = blobs(100, 2, 2)
    x[5] = np.nan
    got = fit(x, 4)
    assert np.allclose(responsibilities(got.stiffness, got.model, ArraySource(x))[5], 0.25)


# --- limits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [False, True])
def test_great_stiffness_is_k_means(missing):
    x = blobs(900, 3, 5, spread=1.5)
    if missing:
        x[np.random.default_rng(0).random(x.shape) < 0.1] = np.nan
    start = np.nan_to_num(x[:5])
    for steps in (1, 3, 300):
        hard = fit_kmeans(ArraySource(x), 5, init=start, max_iter=steps, tol=0.0)
        soft = fit(x, 5, init=start, stiffness=1e9, max_iter=steps, tol=0.0)
        assert np.array_equal(soft.labels, hard.labels)
        assert np.allclose(soft.model.positions, hard.centers, rtol=0, atol=1e-9)
        assert soft.energy == pytest.approx(hard.inertia, rel=1e-9)


def test_the_free_energy_tends_to_the_objective_of_k_means_from_below():
    x = blobs(500, 2, 3)
    hard = fit_kmeans(ArraySource(x), 3, init=x[:3])
    gaps = [
        hard.inertia - fit(x, 3, init=hard.centers, stiffness=b, max_iter=1).history[0] for b in (1, 10, 100)
    ]
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert gaps[2] < 1e-3 * hard.inertia


def test_small_stiffness_pulls_all_centres_into_the_mean():
    """All centres meet while b < 1 / (2 * largest variance): there is no second minimum before that."""
    x = blobs(600, 2, 3)
    largest = np.linalg.eigvalsh(np.cov(x.T, bias=True))[-1]
    got = fit(x, 3, stiffness=0.5 / largest * 0.5, max_iter=3000, tol=1e-20)
    assert np.allclose(got.model.positions, x.mean(axis=0), rtol=0, atol=1e-3)
    apart = fit(x, 3, stiffness=0.5 / largest * 4, max_iter=3000, tol=1e-20)
    assert np.ptp(apart.model.positions, axis=0).max() > 1.0


# --- laws -------------------------------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    n, d = draw(st.integers(1, 10)), draw(st.integers(1, 3))
    cell = draw(st.sampled_from([st.integers(-2, 2).map(float), st.floats(-30, 30, width=32)]))
    if draw(st.booleans()):
        cell = cell | st.just(np.nan)
    x = np.array(draw(st.lists(cell, min_size=n * d, max_size=n * d))).reshape(n, d)
    weight = draw(st.sampled_from([st.just(1.0), st.sampled_from([0.0, 1.0, 0.3, 7.5])]))
    w = np.array(draw(st.lists(weight, min_size=n, max_size=n)))
    assume(w.any() and not np.isnan(x[w > 0]).all(axis=0).any())
    return x, w


@settings(max_examples=200, deadline=None)
@given(table=tables(), data=st.data())
def test_free_energy_never_rises(table, data):
    x, w = table
    k = data.draw(st.integers(1, len(x)))
    b = data.draw(st.sampled_from(["auto", 1e-3, 0.1, 1.0, 50.0, 1e6]))
    init = data.draw(st.sampled_from(["k-means++", "random", "random-points"]))
    try:
        got = fit(x, k, w, init=init, stiffness=b, max_iter=60, tol=0.0)
    except TooFewRowsError:
        assume(False)
    rounding = 1e-12 * (w.sum() * np.log(k) / got.stiffness + max(map(abs, got.history)))
    assert all(after <= before + rounding for before, after in pairwise(got.history)), got.history


@pytest.mark.parametrize("missing", [False, True])
def test_weight_counts_as_copies_and_weight_zero_is_absent(missing):
    rng = np.random.default_rng(1)
    x = blobs(300, 3, 3)
    if missing:
        x[rng.random(x.shape) < 0.2] = np.nan
    w = rng.integers(0, 4, size=300)
    copies = np.repeat(np.arange(300), w)
    for stiffness in (0.2, "auto"):
        for init in (np.nan_to_num(x[:3]), "k-means++"):
            many = fit(x[copies], 3, init=init, stiffness=stiffness, max_iter=20)
            holed = np.where(
                w[:, None] > 0, x, np.array([np.inf, np.nan, 1e300])[np.arange(300) % 3][:, None]
            )
            weighted = fit(holed, 3, w, init=init, stiffness=stiffness, max_iter=20)
            assert weighted.stiffness == pytest.approx(many.stiffness, rel=1e-12)
            assert np.allclose(weighted.model.positions, many.model.positions, rtol=0, atol=1e-9)
            assert np.array_equal(weighted.labels[copies], many.labels)
            assert weighted.energy == pytest.approx(many.energy, rel=1e-11)


@pytest.mark.parametrize("init", ["given", "k-means++"])
def test_an_offset_changes_nothing_but_the_offset(init):
    shifted = blobs(800, 3, 4) + 1e12
    back = shifted - 1e12
    a = fit(back, 4, init=back[:4] if init == "given" else init)
    b = fit(shifted, 4, init=shifted[:4] if init == "given" else init)
    assert np.array_equal(a.model.offsets, b.model.offsets)
    assert np.array_equal(a.labels, b.labels)
    assert a.history == b.history
    share_a, share_b = (
        responsibilities(f.stiffness, f.model, ArraySource(x)) for f, x in [(a, back), (b, shifted)]
    )
    assert np.array_equal(share_a, share_b)


@pytest.mark.parametrize("power", [-300, -20, 20, 300])
def test_a_power_of_two_changes_no_share(power):
    x = blobs(400, 2, 3)
    a, b = fit(x, 3), fit(np.ldexp(x, power), 3)
    assert b.stiffness == np.ldexp(a.stiffness, -2 * power)
    assert np.array_equal(a.labels, b.labels)
    assert np.allclose(np.ldexp(b.model.positions, -power), a.model.positions, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-10, 1.0, 1e10])
def test_a_centre_on_every_distinct_row_stays_there_in_any_unit(unit):
    x = np.array([[0.0], [1.0], [5.0], [1.0]]) * unit
    got = fit(x, 3)
    assert np.allclose(
        np.sort(got.model.positions, axis=0), np.array([[0.0], [1.0], [5.0]]) * unit, rtol=1e-6
    )


def test_a_constant_table_has_its_value_for_a_centre():
    got = fit(np.full((20, 2), 7.0), 1)
    assert np.array_equal(got.model.positions, [[7.0, 7.0]])
    assert got.energy == 0.0
