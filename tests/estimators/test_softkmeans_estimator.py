from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import softmax

import asterism
from asterism import SoftKMeans
from asterism.errors import DataError, InterruptedWarning, ParameterError, TooFewRowsError, WeightError


def blobs(n: int = 300, d: int = 2, k: int = 3, seed: int = 0, spread: float = 4.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(k, d)) * spread)[rng.integers(k, size=n)] + rng.normal(size=(n, d))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_iter", [1, 300])
def test_results_agree_with_each_other(dtype, max_iter):
    x = blobs().astype(dtype)
    x64 = x.astype(np.float64)
    soft = SoftKMeans(4, max_iter=max_iter, random_state=0).fit(x)
    distances = cdist(x64, soft.cluster_centers_)
    shares = soft.predict_proba(x)
    assert np.allclose(shares, softmax(-soft.stiffness_ * distances**2, axis=1), rtol=0, atol=1e-10)
    assert np.allclose(shares.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    assert np.array_equal(soft.labels_, shares.argmax(axis=1))
    assert np.array_equal(soft.predict(x), soft.labels_)
    assert np.array_equal(SoftKMeans(4, max_iter=max_iter, random_state=0).fit_predict(x), soft.labels_)
    assert np.allclose(soft.transform(x), distances, rtol=1e-6 if dtype == np.float32 else 1e-12)
    assert soft.free_energy_ == soft.history_[-1]
    assert len(soft.history_) == soft.n_iter_ + 1


def test_auto_stiffness_is_that_of_round_normal_groups_around_the_start():
    x = blobs()
    start = x[:3]
    within = (cdist(x, start).min(axis=1) ** 2).sum() / x.size
    soft = SoftKMeans(3, init=start).fit(x)
    assert soft.stiffness_ == pytest.approx(1 / (2 * within), rel=1e-12)


@pytest.mark.parametrize("n_threads", [1, 2, 8])
def test_any_number_of_threads_and_any_order_of_cells_give_the_same_bits(n_threads, soft_table):
    x, want = soft_table
    with asterism.engine(n_threads=n_threads):
        got = SoftKMeans(5, max_iter=3, random_state=0).fit(np.asfortranarray(x))
    assert np.array_equal(got.cluster_centers_, want.cluster_centers_)
    assert np.array_equal(got.labels_, want.labels_)
    assert got.history_ == want.history_


@pytest.fixture(scope="module")
def soft_table() -> tuple[np.ndarray, SoftKMeans]:
    x = blobs(10 * 4096 - 9, 40, 4, spread=1.0) * 10.0 ** np.random.default_rng(1).integers(-2, 2, size=40)
    return x, SoftKMeans(5, max_iter=3, random_state=0).fit(x)


def test_missing_cells_can_be_predicted_though_there_were_none_when_fitting():
    x = blobs()
    soft = SoftKMeans(3, stiffness=0.2, random_state=0).fit(x)
    new = np.array([[np.nan, 1.0], [2.0, np.nan], [np.nan, np.nan]])
    squares = np.nan_to_num((new[:, None] - soft.cluster_centers_) ** 2).sum(axis=2)
    assert np.allclose(soft.predict_proba(new), softmax(-0.2 * squares, axis=1), rtol=0, atol=1e-12)
    assert np.array_equal(soft.predict(new), squares.argmin(axis=1))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_clusters": 0}, "groups is 0"),
        ({"n_clusters": 1.5}, "1.5"),
        ({"n_init": 0}, "n_init is 0"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"tol": -1.0}, "tol is -1"),
        ({"stiffness": 0.0}, "stiffness is 0"),
        ({"stiffness": -1.0}, "stiffness is -1"),
        ({"stiffness": np.inf}, "stiffness is inf"),
        ({"stiffness": np.nan}, "stiffness is nan"),
        ({"stiffness": "stiff"}, "stiffness is 'stiff'"),
        ({"stiffness": None}, "stiffness is None"),
        ({"init": "centers"}, "'centers'"),
        ({"init": [[1.0]]}, r"\(1, 1\)"),
    ],
)
def test_a_setting_that_cannot_work_is_named(settings, words):
    with pytest.raises(ParameterError, match=words):
        SoftKMeans(**{"n_clusters": 2, **settings}).fit(blobs())


def test_bad_tables_and_weights_are_refused():
    x = blobs(20)
    with pytest.raises(TooFewRowsError, match="n_samples=1"):
        SoftKMeans(2).fit(np.ones((5, 2)))
    with pytest.raises(WeightError, match="row 2"):
        SoftKMeans(2).fit(x, sample_weight=np.where(np.arange(20) == 1, -1.0, 1.0))
    x[4, 1] = np.inf
    with pytest.raises(DataError, match="row 5, column 'x1'"):
        SoftKMeans(2).fit(x)
    soft = SoftKMeans(2, random_state=0).fit(blobs(20))
    with pytest.raises(DataError, match="row 5, column 'x1'"):
        soft.predict_proba(x)


def test_a_time_limit_and_ctrl_c_return_a_usable_model():
    x = np.random.default_rng(0).random((3_000, 3))
    with asterism.engine(time_limit=1e-4):
        limited = SoftKMeans(10, tol=0.0, random_state=0).fit(x)
    assert (limited.n_iter_, limited.converged_) == (1, False)

    def stop(event) -> None:
        if event.step == 2:
            raise KeyboardInterrupt

    with (
        asterism.engine(progress=stop),
        pytest.warns(InterruptedWarning, match="soft k-means was interrupted"),
    ):
        stopped = SoftKMeans(10, tol=0.0, random_state=0).fit(x)
    assert (stopped.n_iter_, stopped.converged_) == (2, False)
    assert np.array_equal(stopped.predict(x), stopped.labels_)
