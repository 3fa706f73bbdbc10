"""All pairs: threads, memory, sums, and W + B = T."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist

import asterism
from asterism.data.source import ArraySource
from asterism.distances.pairwise import condensed, square, sums
from asterism.distances.scatter import pair_scatter
from asterism.errors import MemoryBudgetError, ParameterError


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(2500, 3))


def test_square_and_condensed_hold_the_same_pairs(X):
    D, c = square(ArraySource(X)), condensed(ArraySource(X))
    np.testing.assert_array_equal(c, D[np.triu_indices(len(X), 1)])
    np.testing.assert_allclose(c, pdist(X), rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "gower", "cosine"])
def test_same_bits_for_any_number_of_threads(X, metric):
    source = ArraySource(X, np.arange(len(X)) % 3)
    with asterism.engine(n_threads=1):
        one = square(source, metric), sums(source, metric), pair_scatter(source, X[:, 0] > 0, metric)
    with asterism.engine(n_threads=3):
        three = square(source, metric), sums(source, metric), pair_scatter(source, X[:, 0] > 0, metric)
    np.testing.assert_array_equal(one[0], three[0])
    np.testing.assert_array_equal(one[1], three[1])
    assert one[2] == three[2]


def test_sums_are_those_of_the_matrix(X):
    w = np.arange(len(X)) % 4
    np.testing.assert_allclose(sums(ArraySource(X, w)), cdist(X, X) @ w, rtol=1e-12)


def test_matrix_that_does_not_fit_is_refused_with_its_bytes(X):
    with asterism.engine(memory="1MB"), pytest.raises(MemoryBudgetError, match="takes 50000000 bytes"):
        square(ArraySource(X))
    with pytest.raises(MemoryBudgetError, match="takes 24990000 bytes"):
        condensed(ArraySource(X), memory="1MB")


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 40),
    st.sampled_from(["euclidean", "sqeuclidean", "manhattan", "gower"]),
)
def test_within_and_between_add_up_to_the_total(seed, n, metric):
    rng = np.random.default_rng(seed)
    X, labels, w = rng.normal(size=(n, 2)), rng.integers(4, size=n), rng.integers(0, 3, size=n)
    w[0] = 1
    found = pair_scatter(ArraySource(X, w), labels, metric)
    if metric == "gower":
        spread = np.ptp(X[w > 0], axis=0)
        D = (np.abs(X[:, None] - X) / np.where(spread > 0, spread, 1)).mean(axis=2)
    else:
        D = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    pairs = D * np.outer(w, w) / 2
    same = labels[:, None] == labels
    assert found.within == pytest.approx(pairs[same].sum(), abs=1e-9)
    assert found.between == pytest.approx(pairs[~same].sum(), abs=1e-9)
    assert found.total == pytest.approx(pair_scatter(ArraySource(X, w), np.zeros(n), metric).within)


def test_weight_is_copies_in_scatter():
    rng = np.random.default_rng(0)
    X, labels, w = rng.normal(size=(50, 2)), rng.integers(3, size=50), rng.integers(0, 4, size=50)
    weighted = pair_scatter(ArraySource(X, w), labels)
    repeated = pair_scatter(ArraySource(np.repeat(X, w, axis=0)), np.repeat(labels, w))
    assert weighted.within == pytest.approx(repeated.within, rel=1e-12)
    assert weighted.between == pytest.approx(repeated.between, rel=1e-12)


def test_squared_distances_within_are_sums_of_squares_about_means():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    groups = [X[labels == c] for c in range(3)]
    expected = sum(len(g) * ((g - g.mean(axis=0)) ** 2).sum() for g in groups)
    assert pair_scatter(ArraySource(X), labels, "sqeuclidean").within == pytest.approx(expected)


def test_labels_must_be_one_a_row(X):
    with pytest.raises(ParameterError, match="3 labels were given for 2500 rows"):
        pair_scatter(ArraySource(X), [0, 1, 2])
