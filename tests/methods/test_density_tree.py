"""The tree of density: against brute force, with and without groups, and under changes that cannot matter."""

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from asterism.distances.neighbours import Neighbours
from asterism.methods.density_layers import Known, clearest, distinct, layers_of, neighbours_of
from asterism.methods.density_tree import grow_tree, least_size, scales_of


def near(X, weights=None):
    X = X - X.mean(axis=0)
    weights = np.ones(len(X)) if weights is None else weights
    return Neighbours.of(X / X.std(), weights, min(200, max(len(X) // 4, 3)))


def trees(X):
    return [grow_tree(near(X), scale, least_size(len(X))) for scale in scales_of(len(X))]


def greatest_evidence(X):
    return max((valley.evidence for tree in trees(X) for valley in tree.valleys), default=0.0)


def blobs(n, seed, far=8.0, k=2):
    rng = np.random.default_rng(seed)
    z = np.arange(n) % k
    return rng.standard_normal((n, 2)) + far * np.eye(k, 2)[z], z


# --- the tree ---------------------------------------------------------------------------------------------------


def levels_of_all_pairs(X, scale):
    D = cdist(X, X)
    radius = np.sort(D, axis=1)[:, scale]
    return D, np.maximum(np.maximum.outer(radius, radius), D)


def sorted_levels(matrix):
    """Of a spanning tree; every one of least length has the same."""
    return np.sort(minimum_spanning_tree(matrix).data)


@pytest.mark.parametrize("scale", [3, 8, 40])
def test_levels_rise_and_are_those_of_scipys_tree_of_the_nearest(scale):
    X, _ = blobs(200, 1)
    known = near(X)
    D, levels = levels_of_all_pairs(known.rows, scale)
    rank = D.argsort(axis=1).argsort(axis=1)
    edges = (rank <= min(max(scale, 8), 32)) | (minimum_spanning_tree(D).toarray() > 0)
    edges |= edges.T
    tree = grow_tree(known, scale, 4)
    # Of equal levels the shorter edge, by a trifle in the key.
    assert (np.diff(tree.log_levels) >= -1e-5).all()
    wanted = sorted_levels(np.where(edges & (D > 0), levels, 0.0))
    np.testing.assert_allclose(np.sort(np.exp(tree.log_levels)), wanted, rtol=1e-5)


@pytest.mark.parametrize("scale", [3, 8, 40])
def test_levels_are_hardly_higher_than_those_of_all_pairs(scale):
    X, _ = blobs(200, 1)
    known = near(X)
    _, levels = levels_of_all_pairs(known.rows, scale)
    excess = np.sort(grow_tree(known, scale, 4).log_levels) - np.log(sorted_levels(np.triu(levels, 1)))
    assert excess.min() > -1e-5
    assert excess.max() < 0.05


def test_valleys_part_as_many_rows_as_they_say():
    X, _ = blobs(150, 2, k=2)
    tree = grow_tree(near(X), 8, 5)
    assert tree.valleys
    for valley in tree.valleys:
        below = np.arange(len(tree.edges)) < valley.merge
        graph = np.eye(tree.n, dtype=int)
        a, b = tree.edges[below].T
        graph[a, b] = graph[b, a] = 1
        reach = np.linalg.matrix_power(graph.astype(float), tree.n) > 0
        sides = sorted(int(reach[row].sum()) for row in tree.edges[valley.merge])
        assert sides == list(valley.sizes)
        assert sides[0] >= 5
        assert valley.contrast <= valley.prominence


def test_infinite_evidence_leaves_one_region():
    X, _ = blobs(200, 3)
    for tree in trees(X):
        assert set(tree.regions(np.inf).tolist()) == {0}


def test_lower_evidence_only_divides_regions_further():
    X = np.random.default_rng(0).standard_normal((400, 2))
    tree = grow_tree(near(X), 5, 4)
    before = tree.regions(np.inf)
    for evidence in (0.8, 0.5, 0.3, 0.0):
        regions = tree.regions(evidence)
        assert len(set(zip(regions.tolist(), before.tolist(), strict=True))) == regions.max() + 1
        assert regions.max() == sum(valley.evidence > evidence for valley in tree.valleys)
        assert np.bincount(regions).min() >= 4
        before = regions


# --- what chance makes ------------------------------------------------------------------------------------------

WITHOUT = {
    "uniform": lambda rng: rng.uniform(size=(150, 2)),
    "line": lambda rng: rng.uniform(size=(150, 1)),
    "normal": lambda rng: rng.standard_normal((150, 2)),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_few_of_a_hundred_tables_without_groups_have_a_clear_valley(name):
    alarms = sum(greatest_evidence(WITHOUT[name](np.random.default_rng(seed))) > 1 for seed in range(100))
    assert alarms <= 5  # 1 expected of a rate of 1%: more than 5 once in 2,000


def test_nearly_all_of_a_hundred_tables_of_two_far_groups_have_one():
    assert sum(greatest_evidence(blobs(120, seed, 8.0)[0]) > 1 for seed in range(100)) >= 98


# --- what cannot matter -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["order", "units", "offset", "turned"])
def test_regions_are_the_same(change):
    X, _ = make_moons(300, noise=0.07, random_state=0)
    order, Y = np.arange(300), X
    if change == "order":
        order = np.random.default_rng(0).permutation(300)
        Y = X[order]
    elif change == "units":
        Y = X * 1e6
    elif change == "offset":
        Y = X + 1000.0
    else:
        Y = X @ np.array([[0.6, -0.8], [0.8, 0.6]])
    for ours, theirs in zip(trees(X), trees(Y), strict=True):
        for evidence in (0.5, 1.0):
            assert adjusted_rand_score(ours.regions(evidence)[order], theirs.regions(evidence)) == 1.0


# --- layers -----------------------------------------------------------------------------------------------------


def test_layers_are_a_tree_whose_sizes_add_up():
    X, z = blobs(300, 4, far=20.0)
    X[z == 1] += np.where(np.arange(150) % 2, 7.0, 0.0)[:, None]  # the second falls into two
    tree = clearest(trees(X), 1.0)
    found = layers_of(tree, np.ones(300), 1.0)
    assert found.k == 3
    assert len(found.layers) == 5
    assert [layer.size for layer in found.layers[:3]] == np.bincount(found.labels).tolist() == [150, 75, 75]
    assert found.layers[3].children == (1, 2)  # nearer to each other than to the first
    assert set(found.layers[4].children) == {0, 3}
    assert [layer.parent for layer in found.layers] == [4, 3, 3, 4, -1]
    for layer in found.layers[3:]:
        assert layer.size == sum(found.layers[child].size for child in layer.children)
        assert layer.evidence > 1.0
        assert all(found.layers[child].log_level < layer.log_level for child in layer.children)


def test_strength_is_one_at_peaks_and_zero_from_saddles_on():
    X, _ = blobs(300, 5, far=4.0)
    tree = clearest(trees(X), 1.0)
    found = layers_of(tree, np.ones(300), 1.0)
    strengths = found.strengths(tree.log_radius, found.labels)
    saddle = found.layers[-1].log_level
    for group in range(2):
        mine = found.labels == group
        assert strengths[mine].max() == 1.0
        assert strengths[mine].argmax() == tree.log_radius[mine].argmin()
        order = np.argsort(tree.log_radius[mine])
        assert (np.diff(strengths[mine][order]) <= 0).all()
        np.testing.assert_array_equal(strengths[mine] == 0.0, tree.log_radius[mine] >= saddle)


def test_the_clearest_scale_has_the_greatest_sum_of_evidence_above_the_limit():
    X, _ = make_moons(400, noise=0.1, random_state=1)
    grown = trees(X)
    sums = [sum(v.evidence - 1.0 for v in tree.valleys if v.evidence > 1.0) for tree in grown]
    assert clearest(grown, 1.0) is grown[int(np.argmax(sums))]
    assert clearest(grown, np.inf) is grown[-1]


def test_a_new_row_is_joined_to_the_nearest_row_that_is_as_dense_by_brute_force():
    X, _ = blobs(200, 6, far=5.0)
    rows, weights = distinct(X, np.ones(200))
    known = neighbours_of(rows, weights, 50)
    tree = grow_tree(known, 8, 4)
    found = Known(known, tree, layers_of(tree, weights, 1.0))
    new = np.random.default_rng(0).uniform(-4, 9, (100, 2))
    labels, strengths = found.join(new)
    radii = np.exp(tree.log_radius)
    for row, label, strength in zip(new, labels, strengths, strict=True):
        distance = np.linalg.norm(rows - row, axis=1)
        radius = np.sort(distance)[7]
        denser = np.flatnonzero((radii <= radius) & (distance <= radius))
        joined = denser[distance[denser].argmin()] if len(denser) else distance.argmin()
        assert label == found.layers.labels[joined]
        wanted = found.layers.strengths(np.log([radius]), np.array([label]))[0]
        assert strength == pytest.approx(wanted)


def test_known_rows_stay_in_their_groups():
    X, _ = make_moons(300, noise=0.1, random_state=2)
    rows, weights = distinct(X, np.ones(300))
    known = neighbours_of(rows, weights, 75)
    tree = grow_tree(known, 5, 4)
    found = Known(known, tree, layers_of(tree, weights, 0.5))
    labels, strengths = found.join(rows)
    np.testing.assert_array_equal(labels, found.layers.labels)
    np.testing.assert_array_equal(strengths, found.layers.strengths(tree.log_radius, labels))


def test_one_row_is_a_tree_of_one_region():
    tree = grow_tree(Neighbours.of(np.zeros((1, 2)), np.ones(1), 5), 3, 4)
    assert tree.regions(1.0).tolist() == [0]
    assert layers_of(tree, np.ones(1), 1.0).k == 1
