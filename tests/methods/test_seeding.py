from __future__ import annotations

import numpy as np
import pytest
import sklearn.cluster
from threadpoolctl import threadpool_limits

from asterism.data.source import ArraySource
from asterism.engines.context import engine
from asterism.errors import InterruptedWarning
from asterism.methods.frame import survey
from asterism.methods.kmeans import fit_kmeans
from asterism.methods.lloyd import Lloyd
from asterism.methods.seeding import sample_rows, seed_centers


def starts(x: np.ndarray, k: int, *, how: str = "k-means++", n: int = 1, seed: int | None = 0, w=None):
    source = ArraySource(x, w)
    return [
        model.positions for model in seed_centers(source, *survey(source), k, how=how, n_starts=n, seed=seed)
    ]


def blobs(n: int, d: int, k: int, seed: int = 0, spread: float = 8.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(k, d)) * spread)[rng.integers(k, size=n)] + rng.normal(size=(n, d))


def test_every_well_separated_group_is_found_a_tiny_far_one_among_them():
    """20 groups; one has 20 rows of 50,000. Every seed must put exactly one centre in each."""
    rng = np.random.default_rng(0)
    sites = np.stack(np.meshgrid(np.arange(4), np.arange(5)), axis=-1).reshape(20, 2) * 40.0
    sites[19] = [2000.0, -2000.0]
    group = np.concatenate([np.resize(np.arange(19), 49_980), np.full(20, 19)])
    x = sites[group] + rng.normal(size=(50_000, 2))
    for seed in range(20):
        labels = fit_kmeans(ArraySource(x), 20, seed=seed).labels
        pairs = np.unique(np.stack([group, labels]), axis=1)
        assert pairs.shape[1] == 20, f"seed {seed}"


@pytest.mark.parametrize(
    "x",
    [
        blobs(20_000, 2, 30, spread=4.0),
        blobs(8_000, 10, 12, spread=1.5),
        np.random.default_rng(1).lognormal(sigma=1.5, size=(8_000, 3)),
        np.random.default_rng(2).random((3_000, 2)),
    ],
    ids=["many groups", "overlapping", "long tails", "no groups"],
)
def test_a_default_fit_is_as_good_as_scikit_learns_on_average(x):
    ours = [fit_kmeans(ArraySource(x), 12, seed=seed).inertia for seed in range(10)]
    with threadpool_limits(1):
        theirs = [
            sklearn.cluster.KMeans(12, n_init=1, random_state=seed).fit(x).inertia_ for seed in range(10)
        ]
    assert np.mean(ours) < 1.01 * np.mean(theirs)


@pytest.mark.parametrize("how", ["k-means++", "random"])
def test_drawn_centres_of_a_small_table_are_distinct_rows(how):
    x = np.repeat(np.random.default_rng(0).integers(0, 9, size=(40, 2)).astype(float), 3, axis=0)
    for seed in range(20):
        for centers in starts(x, 12, how=how, n=3, seed=seed):
            assert len(np.unique(centers, axis=0)) == 12
            assert all((x == c).all(axis=1).any() for c in centers)


def test_random_points_fill_the_box_of_the_table():
    x = blobs(500, 3, 2) + 1e6
    drawn = np.vstack(starts(x, 400, how="random-points", n=5))
    assert (drawn >= x.min(axis=0)).all()
    assert (drawn <= x.max(axis=0)).all()
    middle = (x.min(axis=0) + x.max(axis=0)) / 2
    assert np.allclose(drawn.mean(axis=0), middle, rtol=0, atol=0.05 * np.ptp(x, axis=0).max())


def test_random_rows_are_drawn_in_proportion_to_their_weight():
    x = np.arange(10.0)[:, None]
    w = np.where(x[:, 0] == 3, 9.0, 1.0)
    hits = sum(starts(x, 1, how="random", seed=seed, w=w)[0][0, 0] == 3 for seed in range(400))
    assert 160 < hits < 240  # half, to four standard errors


@pytest.mark.parametrize("how", ["k-means++", "random"])
@pytest.mark.parametrize("n", [300, 9000])
def test_a_seed_gives_the_same_start_and_another_seed_another(how, n):
    x = np.random.default_rng(0).normal(size=(n, 3))
    assert np.array_equal(starts(x, 5, how=how, n=2, seed=3), starts(x, 5, how=how, n=2, seed=3))
    assert not np.array_equal(starts(x, 5, how=how, n=2, seed=3), starts(x, 5, how=how, n=2, seed=4))
    one, two = starts(x, 5, how=how, n=2)
    assert not np.array_equal(one, two)


def test_threads_of_the_engine_and_of_blas_change_no_bit_of_a_start():
    x = np.random.default_rng(0).normal(size=(70_000, 16))
    with threadpool_limits(1, "blas"), engine(n_threads=1):
        want = starts(x, 20)
    with threadpool_limits(2, "blas"), engine(n_threads=3):
        assert np.array_equal(starts(x, 20), want)


def test_the_seeding_sample_estimates_the_table_and_holds_far_rows():
    rng = np.random.default_rng(0)
    x = np.vstack([rng.normal(size=(60_000, 3)), rng.normal(size=(30, 3)) + 300])
    source = ArraySource(x)
    frame, moments = survey(source)
    totals, far = [], []
    for seed in range(30):
        sample = sample_rows(source, frame, moments, 8, even=False, seed=seed)
        y = sample.y / frame.scale + frame.reference
        totals.append([sample.w.sum(), *(sample.w @ y)])
        far.append((y[:, 0] > 200).sum())
    error = np.std(totals, axis=0, ddof=1) / np.sqrt(30)
    assert (np.abs(np.mean(totals, axis=0) - [len(x), *x.sum(axis=0)]) < 4 * error).all()
    assert min(far) == 30


def test_a_missing_cell_of_a_drawn_row_is_filled_so_that_centres_are_complete():
    x = np.random.default_rng(0).normal(size=(200, 4))
    x[np.random.default_rng(1).random(x.shape) < 0.5] = np.nan
    for how in ("k-means++", "random", "random-points"):
        assert np.isfinite(starts(x, 20, how=how)).all()


def test_ctrl_c_while_seeding_stops_the_fit(monkeypatch):
    calls = []

    def settled(self, before, after) -> bool:
        calls.append(after)
        if len(calls) == 5:  # three tries a step: in the second step on the sample
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(Lloyd, "settled", settled)
    x = np.random.default_rng(0).random((9000, 2))
    with pytest.warns(InterruptedWarning), pytest.raises(KeyboardInterrupt):
        fit_kmeans(ArraySource(x), 5, seed=0)
    assert len(calls) == 5
