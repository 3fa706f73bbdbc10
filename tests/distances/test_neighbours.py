"""Radii and spanning trees, against all distances."""

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from asterism.distances.neighbours import Neighbours

TABLES = [(2, 1, 0), (30, 1, 1), (80, 2, 2), (200, 3, 3), (60, 12, 4)]


def table(n, d, seed):
    return np.random.default_rng(seed).standard_normal((n, d)) * 10.0 ** (seed - 2)


def near(rows, weights=None, most=10_000):
    return Neighbours.of(rows, np.ones(len(rows)) if weights is None else weights, most)


@pytest.mark.parametrize(("n", "d", "seed"), TABLES)
@pytest.mark.parametrize("mass", [1, 3, 17])
def test_radius_is_the_distance_of_so_many_others(n, d, seed, mass):
    X = table(n, d, seed)
    nth = np.sort(cdist(X, X), axis=1)[:, min(mass, n - 1)]  # of all there are, at most
    np.testing.assert_allclose(near(X).log_radius(mass), np.log(nth), rtol=1e-9)


@pytest.mark.parametrize("mass", [1, 2, 5, 12])
def test_a_row_of_weight_two_is_that_row_twice(mass):
    rng = np.random.default_rng(5)
    X, w = table(60, 2, 3), rng.integers(1, 4, 60)
    once = near(X, w.astype(float)).log_radius(mass)
    copies = near(np.repeat(X, w, axis=0)).log_radius(mass)
    np.testing.assert_allclose(np.repeat(once, w), copies, rtol=1e-9)


def test_radius_of_fractional_weights_by_brute_force():
    rng = np.random.default_rng(6)
    X, w = table(50, 2, 3), rng.uniform(0.1, 2.5, 50)
    for i, log_radius in enumerate(near(X, w).log_radius(4.0)):
        distance = np.linalg.norm(X - X[i], axis=1)
        order = np.argsort(distance)
        others = np.cumsum(w[order]) - 1.0
        assert np.exp(log_radius) == pytest.approx(distance[order][np.argmax(others >= 4.0)])


def test_radius_beyond_the_known_neighbours_is_that_of_the_last():
    X = table(40, 2, 3)
    known = near(X, most=6)
    assert known.width == 6
    np.testing.assert_array_equal(known.log_radius(30), known.log_radius(6))


@pytest.mark.parametrize(("n", "d", "seed"), TABLES)
def test_tree_is_as_short_as_scipys(n, d, seed):
    X = table(n, d, seed)
    pairs, lengths = near(X, most=3).tree
    assert lengths.sum() == pytest.approx(minimum_spanning_tree(cdist(X, X)).sum(), rel=1e-6)
    np.testing.assert_allclose(lengths, np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1), rtol=1e-6)


@pytest.mark.parametrize(("n", "d", "seed"), TABLES)
@pytest.mark.parametrize("width", [1, 5])
def test_edges_are_those_to_neighbours_and_of_the_tree_each_once(n, d, seed, width):
    X = table(n, d, seed)
    known = near(X)
    a, b, length = known.edges(width)
    found = list(zip(a.tolist(), b.tolist(), strict=True))
    nearest = np.argsort(cdist(X, X) + np.diag(np.full(n, -1.0)), axis=1)[:, 1 : width + 1]
    wanted = {(min(i, j), max(i, j)) for i in range(n) for j in nearest[i].tolist()}
    wanted |= {(min(i, j), max(i, j)) for i, j in known.tree[0].tolist()}
    assert set(found) == wanted
    assert len(found) == len(wanted)
    np.testing.assert_allclose(length, np.linalg.norm(X[a] - X[b], axis=1), rtol=1e-6)


def test_equal_rows_have_finite_radii_and_a_tree():
    X = np.repeat(table(10, 2, 3), 5, axis=0)
    known = near(X)
    assert np.isfinite(known.log_radius(3)).all()
    assert known.tree[1].sum() == pytest.approx(minimum_spanning_tree(cdist(X[::5], X[::5])).sum(), rel=1e-6)


def test_one_row_has_no_neighbours():
    known = near(np.array([[1.0, 2.0]]))
    assert known.width == 0
    assert known.indices.tolist() == [[0]]
