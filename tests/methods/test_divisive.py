"""Splinter groups against R's cluster::diana and against the definition."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

from asterism.data.source import ArraySource
from asterism.distances.pairwise import square
from asterism.methods.cut import coefficient, cut_tree
from asterism.methods.divisive import split_matrix
from asterism.methods.linkage import link_points

VALUES = json.loads((Path(__file__).parents[1] / "oracles/cluster_trees/values.json").read_text())


def same_partition(a, b):
    return len({*zip(list(a), list(b), strict=True)}) == len(set(a)) == len(set(b))


def splinter(distance):
    """One split from the definition; the rows that leave."""
    n = len(distance)
    left = [int(np.argmax(distance.sum(axis=1)))]
    while len(left) < n - 1:
        stay = [i for i in range(n) if i not in left]
        gains = [distance[i, stay].sum() / (len(stay) - 1) - distance[i, left].mean() for i in stay]
        if max(gains) <= 1e-12:
            break
        left.append(stay[int(np.argmax(gains))])
    return set(left)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_tree_and_coefficient_equal_r(name, metric):
    X, theirs = np.array(VALUES[name]["X"]), VALUES[name]["diana"][metric]
    tree = split_matrix(square(ArraySource(X), metric), np.ones(len(X)))
    np.testing.assert_allclose(tree[:, 2], theirs["heights"], rtol=1e-10)
    assert coefficient(tree) == pytest.approx(theirs["dc"], rel=1e-9)
    for k, labels in enumerate(theirs["cuts"], start=2):
        if not np.isclose(tree[-k, 2], tree[1 - k, 2], rtol=1e-12):  # between equal diameters there is no cut
            assert same_partition(cut_tree(tree, k=k), labels)


def lehmer_table(n, d):
    """The rows of generate_large.R."""
    state, cells = 1, []
    for _ in range(n * d):
        state = state * 16807 % 2147483647
        cells.append(state / 2147483647)
    return np.array(cells).reshape(n, d) + (np.arange(n) % 5 * 0.75)[:, None]


def test_tree_of_two_thousand_rows_equals_r():
    theirs = json.loads((Path(__file__).parents[1] / "oracles/cluster_trees/large.json").read_text())
    X = lehmer_table(2000, 3)
    tree = split_matrix(square(ArraySource(X), "euclidean"), np.ones(len(X)))
    np.testing.assert_allclose(tree[:, 2], theirs["heights"], rtol=1e-10)
    assert coefficient(tree) == pytest.approx(theirs["dc"], rel=1e-9)
    for k, labels in theirs["cuts"].items():
        assert same_partition(cut_tree(tree, k=int(k)), labels)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("linkage", ["single", "complete", "average", "weighted"])
def test_agglomerative_coefficient_equals_r(name, linkage):
    X = np.array(VALUES[name]["X"])
    ours = coefficient(link_points(X, np.ones(len(X)), linkage))
    assert ours == pytest.approx(VALUES[name]["ac"][linkage], rel=1e-9)


def test_the_first_split_follows_the_definition():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        distance = squareform(pdist(rng.standard_normal((25, 3))))
        labels = cut_tree(split_matrix(distance, np.ones(25)), k=2)
        left = splinter(distance)
        assert same_partition(labels, [i in left for i in range(25)])


def test_weighted_equals_repeated():
    rng = np.random.default_rng(5)
    X, w = rng.standard_normal((30, 2)), rng.integers(1, 4, 30)
    ours = split_matrix(square(ArraySource(X)), w.astype(float))
    copies = split_matrix(square(ArraySource(np.repeat(X, w, axis=0))), np.ones(w.sum()))
    np.testing.assert_allclose(ours[:, 2], copies[w.sum() - 30 :, 2], rtol=1e-10)
    np.testing.assert_array_equal(ours[:, 3], copies[w.sum() - 30 :, 3])


@settings(max_examples=40, deadline=None)
@given(arrays(np.int64, st.tuples(st.integers(2, 30), st.integers(1, 3)), elements=st.integers(0, 3)))
def test_ties_still_give_a_tree_of_diameters(X):
    distance = squareform(pdist(X.astype(float)))
    tree = split_matrix(distance, np.ones(len(X)))
    assert hierarchy.is_valid_linkage(tree)
    assert (np.diff(tree[:, 2]) >= 0).all()
    for k in range(1, len(X) + 1):
        labels = cut_tree(tree, k=k)
        assert len(set(labels.tolist())) == k
    assert tree[-1, 2] == distance.max()
