"""The same fit to the bit on any number of threads, with weights of one, watched or not."""

from __future__ import annotations

import numpy as np
import pytest

from asterism import GaussianMixture, engine
from asterism.data.source import ArraySource
from asterism.errors import AsterismError
from asterism.methods.frame import survey

RESULTS = ("weights_", "means_", "covariances_", "labels_", "history_", "n_iter_", "converged_")


def groups(n: int, d: int, dtype: str, apart: float = 0.8) -> np.ndarray:
    rng = np.random.default_rng(d)
    return (rng.normal(size=(n, d)) + apart * rng.integers(0, 3, size=(n, 1))).astype(dtype)


def same(one: GaussianMixture, two: GaussianMixture) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in RESULTS)


@pytest.mark.parametrize("structure", ["full", "diag", "spherical", "tied"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("assignment", ["soft", "hard"])
def test_same_bits_on_any_number_of_threads(structure, dtype, assignment):
    X = groups(9000, 40, dtype)
    model = GaussianMixture(
        3, covariance_type=structure, assignment=assignment, random_state=0, max_iter=4, tol=0
    )
    events: list[object] = []
    with engine(n_threads=1, progress=events.append):
        watched = model.fit(X, sample_weight=np.ones(len(X)))
    assert len(events) >= watched.n_iter_
    for n_threads in (1, 2, 5):
        with engine(n_threads=n_threads):
            assert same(watched, GaussianMixture(**model.get_params()).fit(X))


@pytest.mark.parametrize("structure", ["full", "diag", "spherical", "tied"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_labels_of_a_fit_are_those_of_predict(structure, dtype):
    X = groups(3000, 6, dtype, apart=0.1)
    model = GaussianMixture(3, covariance_type=structure, random_state=0, max_iter=3, tol=0).fit(X)
    assert np.array_equal(model.labels_, model.predict(X))


# --- surveys --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [2, 300, 70_001])
def test_a_survey_is_the_same_to_the_bit_block_by_block(n, dtype):
    X = groups(n, 5, dtype)
    X[n // 2, 3] = np.nan
    frame, moments = survey(ArraySource(X, np.ones(n)))
    for n_threads in (1, 2, 5):
        with engine(n_threads=n_threads):
            mine, theirs = survey(ArraySource(X))
        for name in ("weight", "mean", "rest", "scatter", "low", "high", "observed"):
            assert np.array_equal(getattr(moments, name), getattr(theirs, name)), name
        assert (moments.rows, moments.total, frame.scale) == (theirs.rows, theirs.total, mine.scale)
        assert np.array_equal(frame.reference, mine.reference)


def test_a_survey_names_the_first_infinite_cell_of_a_later_block():
    X = groups(90_000, 5, "float64")
    X[80_123, 2] = X[85_000, 0] = -np.inf
    with pytest.raises(AsterismError, match=r"80123|80124"):
        survey(ArraySource(X))
