"""Linkage with an eye on sizes, against SciPy's single linkage and a plain rendering of Genie's rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist, pdist
from sklearn.metrics import adjusted_rand_score

from asterism.methods.even_linkage import cut, join_evenly


def spanning(X):
    tree = minimum_spanning_tree(cdist(X, X)).tocoo()
    return np.column_stack([tree.row, tree.col]).astype(np.int64), tree.data


def rows(n, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)) * rng.uniform(0.3, 3.0, (n, 1))  # some rows far out


def gini(sizes):
    pairs = sum(abs(a - b) for a in sizes for b in sizes) / 2
    return pairs / ((len(sizes) - 1) * sum(sizes)) if len(sizes) > 1 else 0.0


def plain_genie(pairs, lengths, sizes, threshold):
    """Of the edges between clusters, the shortest; of those at a smallest cluster only, where sizes are uneven."""
    cluster, order = np.arange(len(sizes)), []
    for _ in pairs:
        mass = np.bincount(cluster, sizes, len(sizes))
        left = [e for e in np.argsort(lengths, kind="stable") if cluster[pairs[e, 0]] != cluster[pairs[e, 1]]]
        if gini(mass[mass > 0].tolist()) > threshold:
            least = mass[mass > 0].min()
            left = [e for e in left if least in mass[cluster[pairs[e]]]]
        order.append(left[0])
        a, b = cluster[pairs[left[0]]]
        cluster[cluster == b] = a
    return order


@pytest.mark.parametrize("n", [2, 30, 150])
def test_without_a_limit_it_is_single_linkage(n):
    X = rows(n, n)
    pairs, lengths = spanning(X)
    order = join_evenly(pairs, lengths, np.ones(n, np.int64), 1.0)
    tree = linkage(pdist(X), "single")
    np.testing.assert_allclose(lengths[order], tree[:, 2])
    for k in (2, 5, 11):
        if k < n:
            scipys = fcluster(tree, k, "maxclust")
            assert adjusted_rand_score(cut(pairs, n, order[: n - k]), scipys) == 1.0


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("seed", range(4))
def test_order_is_that_of_genies_rule(threshold, seed):
    pairs, lengths = spanning(rows(60, seed))
    sizes = np.ones(60, np.int64)
    assert join_evenly(pairs, lengths, sizes, threshold).tolist() == plain_genie(
        pairs, lengths, sizes, threshold
    )


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_rows_count_as_many_as_their_sizes(threshold, seed):
    pairs, lengths = spanning(rows(50, seed))
    sizes = np.random.default_rng(seed).integers(1, 9, 50)
    assert join_evenly(pairs, lengths, sizes, threshold).tolist() == plain_genie(
        pairs, lengths, sizes, threshold
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(0, 10_000), st.floats(0.0, 1.0))
def test_every_edge_is_used_once_and_every_number_of_clusters_occurs(n, seed, threshold):
    pairs, lengths = spanning(rows(n, seed))
    order = join_evenly(pairs, lengths, np.ones(n, np.int64), threshold)
    assert sorted(order.tolist()) == list(range(n - 1))
    for k in range(1, n + 1):
        assert len(np.unique(cut(pairs, n, order[: n - k]))) == k


def test_lone_rows_do_not_take_the_place_of_groups():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(8, 1, (60, 2)), [[40.0, -40.0]]])
    pairs, lengths = spanning(X)
    truth = np.repeat([0, 1], 60)
    two = {
        limit: cut(pairs, 121, join_evenly(pairs, lengths, np.ones(121, np.int64), limit)[:119])[:120]
        for limit in (0.3, 1.0)
    }
    assert adjusted_rand_score(two[0.3], truth) == 1.0
    assert adjusted_rand_score(two[1.0], truth) == 0.0


def test_equal_edges_are_joined_in_their_order():
    pairs = np.array([[0, 1], [1, 2], [2, 3], [3, 4]])
    assert join_evenly(pairs, np.ones(4), np.ones(5, np.int64), 1.0).tolist() == [0, 1, 2, 3]


def test_without_edges_every_row_is_a_part():
    pairs = np.array([[0, 1], [1, 2]])
    assert cut(pairs, 3, np.zeros(2, bool)).tolist() == [0, 1, 2]
    assert cut(pairs, 3, np.array([False, True])).tolist() == [0, 1, 1]
