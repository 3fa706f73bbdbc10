"""Trees against SciPy, brute force and the laws of copies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

from asterism.errors import ParameterError, TooFewRowsError
from asterism.methods.cut import coefficient, cut_tree
from asterism.methods.linkage import EUCLIDEAN_ONLY, LINKAGES, link_pairs, link_points

BY_PAIRS = [name for name in LINKAGES if name not in EUCLIDEAN_ONLY]
MONOTONE = [name for name in LINKAGES if name not in ("centroid", "median")]


def table(seed, n=None, d=None):
    rng = np.random.default_rng(seed)
    n, d = n or int(rng.integers(2, 400)), d or int(rng.integers(1, 12))
    centers = 4 * rng.standard_normal((5, d)) * (seed % 2)
    return rng.standard_normal((n, d)) + centers[rng.integers(0, 5, n)]


def brute_force(X, weights, linkage):
    """Merge heights by looking at all pairs of all clusters, from the definitions."""
    distance = squareform(pdist(X))
    clusters = [([i], np.array(X[i], float), 1.0) for i in range(len(X))]  # rows, centre, and shares of rows
    shares = [{i: 1.0} for i in range(len(X))]
    heights = []
    while len(clusters) > 1:
        best = (np.inf, 0, 0)
        for a in range(len(clusters)):
            for b in range(a + 1, len(clusters)):
                rows, others = clusters[a][0], clusters[b][0]
                block = distance[np.ix_(rows, others)]
                s, t = weights[rows].sum(), weights[others].sum()
                apart = np.linalg.norm(clusters[a][1] - clusters[b][1])
                h = {
                    "single": block.min(),
                    "complete": block.max(),
                    "average": (block * np.outer(weights[rows], weights[others])).sum() / (s * t),
                    "weighted": sum(
                        p * q * distance[i, j] for i, p in shares[a].items() for j, q in shares[b].items()
                    ),
                    "centroid": apart,
                    "median": apart,
                    "ward": apart * np.sqrt(2 * s * t / (s + t)),
                }[linkage]
                best = min(best, (h, a, b))
        h, a, b = best
        s, t = weights[clusters[a][0]].sum(), weights[clusters[b][0]].sum()
        share = 0.5 if linkage == "median" else t / (s + t)
        center = (1 - share) * clusters[a][1] + share * clusters[b][1]
        clusters[a] = (clusters[a][0] + clusters[b][0], center, 1.0)
        shares[a] = {i: p / 2 for part in (shares[a], shares[b]) for i, p in part.items()}
        del clusters[b], shares[b]
        heights.append(h)
    return np.array(heights)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_heights_and_merges_equal_scipy_on_fifty_tables(linkage):
    for seed in range(50):
        X = table(seed)
        theirs = hierarchy.linkage(X, linkage)
        ours = link_points(X, np.ones(len(X)), linkage)
        np.testing.assert_allclose(ours[:, 2], theirs[:, 2], rtol=1e-10, atol=0)
        np.testing.assert_array_equal(ours[:, [0, 1, 3]], theirs[:, [0, 1, 3]])
        assert hierarchy.is_valid_linkage(ours)


@pytest.mark.parametrize("linkage", BY_PAIRS)
def test_pairs_give_the_tree_of_scipy_for_other_metrics(linkage):
    for seed in range(10):
        X = table(seed)
        theirs = hierarchy.linkage(X, linkage, "cityblock")
        ours = link_pairs(pdist(X, "cityblock"), np.ones(len(X)), linkage)
        np.testing.assert_allclose(ours[:, 2], theirs[:, 2], rtol=1e-10)


@pytest.mark.parametrize("linkage", BY_PAIRS)
def test_the_way_through_members_is_the_way_through_all_pairs(linkage):
    X = table(1, n=3000, d=5)
    ours = link_points(X, np.ones(len(X)), linkage)
    theirs = hierarchy.linkage(X, linkage)
    np.testing.assert_allclose(ours[:, 2], theirs[:, 2], rtol=1e-10)
    np.testing.assert_array_equal(ours[:, :2], theirs[:, :2])


@pytest.mark.parametrize("linkage", LINKAGES)
def test_weighted_heights_equal_brute_force(linkage):
    rng = np.random.default_rng(3)
    X, w = rng.standard_normal((14, 2)), rng.integers(1, 6, 14).astype(float)
    np.testing.assert_allclose(link_points(X, w, linkage)[:, 2], brute_force(X, w, linkage), rtol=1e-10)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_weighted_equals_repeated(linkage):
    rng = np.random.default_rng(4)
    X, w = rng.standard_normal((40, 3)), rng.integers(1, 4, 40)
    copies = link_points(np.repeat(X, w, axis=0), np.ones(w.sum()), linkage)
    ours = link_points(X, w.astype(float), linkage)
    extra = w.sum() - len(X)
    assert (copies[:extra, 2] == 0).all()
    np.testing.assert_allclose(ours[:, 2], copies[extra:, 2], rtol=1e-10)
    np.testing.assert_array_equal(ours[:, 3], copies[extra:, 3])
    assert coefficient(ours, w.astype(float)) == pytest.approx(coefficient(copies), rel=1e-10)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_any_offset_gives_the_same_tree(linkage):
    X = np.round(table(5, n=200, d=3) * 1024) / 1024
    np.testing.assert_array_equal(
        link_points(X + 2.0**30, np.ones(200), linkage), link_points(X, np.ones(200), linkage)
    )


@settings(max_examples=40, deadline=None)
@given(arrays(np.int64, st.tuples(st.integers(2, 40), st.integers(1, 3)), elements=st.integers(0, 3)))
def test_ties_still_give_rising_heights_and_exactly_k(X):
    X = X.astype(float)
    for linkage in MONOTONE:
        tree = link_points(X, np.ones(len(X)), linkage)
        assert (np.diff(tree[:, 2]) >= 0).all()
        assert hierarchy.is_valid_linkage(tree)
        for k in range(1, len(X) + 1):
            labels = cut_tree(tree, k=k)
            assert len(np.unique(labels)) == k
            # Clusters of one cut are made of whole clusters of the next.
            finer = cut_tree(tree, k=min(k + 1, len(X)))
            assert all(len(np.unique(labels[finer == c])) == 1 for c in np.unique(finer))
    np.testing.assert_allclose(
        link_points(X, np.ones(len(X)), "single")[:, 2],
        hierarchy.linkage(pdist(X), "single")[:, 2],
        atol=1e-12,
    )


@pytest.mark.parametrize("linkage", LINKAGES)
def test_cut_at_a_height_equals_scipys_clusters(linkage):
    X = table(7, n=150, d=2)
    tree = link_points(X, np.ones(150), linkage)
    for height in np.quantile(tree[:, 2], [0.0, 0.3, 0.7, 0.95, 1.0]):
        ours, theirs = cut_tree(tree, height=height), hierarchy.fcluster(tree, height, "distance")
        assert len({*zip(ours.tolist(), theirs.tolist(), strict=True)}) == len(set(ours)) == len(set(theirs))


def test_labels_are_numbered_by_first_rows():
    tree = link_points(np.array([[9.0], [0.0], [9.1], [0.1]]), np.ones(4), "ward")
    assert cut_tree(tree, k=2).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("linkage", LINKAGES)
def test_equal_rows_merge_at_zero(linkage):
    tree = link_points(np.ones((100, 3)), np.ones(100), linkage)
    assert (tree[:, 2] == 0).all()


def test_impossible_cuts_are_refused():
    tree = link_points(np.arange(4.0)[:, None], np.ones(4), "single")
    with pytest.raises(TooFewRowsError, match="n_samples=4"):
        cut_tree(tree, k=5)
    for bad in ({"k": 0}, {"k": 2, "height": 1.0}, {}, {"height": -1.0}, {"height": float("nan")}):
        with pytest.raises(ParameterError):
            cut_tree(tree, **bad)


@pytest.mark.parametrize("linkage", EUCLIDEAN_ONLY)
def test_centroids_of_a_list_of_pairs_are_refused(linkage):
    with pytest.raises(ParameterError, match="centroid"):
        link_pairs(np.ones(3), np.ones(3), linkage)
