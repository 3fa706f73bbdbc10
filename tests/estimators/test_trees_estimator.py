"""Estimators of trees: cuts, new rows, weights, missing cells, large tables, pictures."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score

import asterism
from asterism import AgglomerativeClustering, DivisiveClustering
from asterism.errors import CompressedWarning, DataError, MemoryBudgetError, ParameterError, TooFewRowsError
from asterism.estimators.dendrogram import layout, plot_tree


def blobs(n=120, d=3, seed=0, k=3):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, k, n)
    return rng.standard_normal((n, d)) + 12 * np.eye(k, d)[z], z


BOTH = [AgglomerativeClustering(3), AgglomerativeClustering(3, linkage="average"), DivisiveClustering(3)]


@pytest.mark.parametrize("estimator", BOTH, ids=str)
def test_groups_are_found_and_new_rows_join_them(estimator):
    X, z = blobs()
    labels = estimator.fit_predict(X)
    assert adjusted_rand_score(labels, z) == 1.0
    np.testing.assert_array_equal(estimator.predict(X), labels)
    new, z_new = blobs(seed=1)
    assert adjusted_rand_score(estimator.predict(new), z_new) == 1.0
    assert 0.8 < estimator.coefficient_ < 1


@pytest.mark.parametrize("estimator", BOTH, ids=str)
def test_cut_gives_exactly_k_on_a_grid_full_of_ties(estimator):
    X = np.array([[i, j] for i in range(6) for j in range(6)], float)
    estimator.fit(X)
    for k in range(1, 37):
        assert len(set(estimator.cut(k=k).tolist())) == k


@pytest.mark.parametrize("estimator", BOTH, ids=str)
def test_rows_of_weight_zero_are_no_leaves_but_have_labels(estimator):
    X, _ = blobs(60)
    w = np.ones(60)
    w[::7] = 0
    everything = X.copy()
    X[::7] += 0.01
    fitted = estimator.fit(X, sample_weight=w)
    assert fitted.n_leaves_ == int(w.sum())
    np.testing.assert_array_equal(fitted.leaves_, np.flatnonzero(w))
    assert adjusted_rand_score(fitted.labels_, estimator.fit(everything).labels_) == 1.0


@pytest.mark.parametrize("linkage", ["single", "complete", "average", "weighted"])
def test_precomputed_gives_the_tree_of_the_rows(linkage):
    X, _ = blobs(50)
    ours = AgglomerativeClustering(3, linkage=linkage, metric="precomputed").fit(squareform(pdist(X)))
    rows = AgglomerativeClustering(3, linkage=linkage).fit(X)
    np.testing.assert_allclose(ours.linkage_matrix_, rows.linkage_matrix_, rtol=1e-10)
    np.testing.assert_array_equal(ours.predict(squareform(pdist(X))), ours.labels_)
    zero = np.ones(50)
    zero[3] = 0
    part = AgglomerativeClustering(3, linkage=linkage, metric="precomputed")
    assert part.fit(squareform(pdist(X)), sample_weight=zero).n_leaves_ == 49
    assert len(part.predict(squareform(pdist(X)))) == 50


GOWER = [AgglomerativeClustering(2, linkage="average", metric="gower"), DivisiveClustering(2, metric="gower")]


@pytest.mark.parametrize("estimator", GOWER, ids=str)
def test_mixed_table_with_missing_cells_through_gower(estimator):
    pets = pa.table({"kg": [4.1, 3.9, None, 30.2, 28.1], "says": ["meow", "meow", "meow", "woof", "woof"]})
    assert estimator.fit(pets).labels_.tolist() == [0, 0, 0, 1, 1]
    assert estimator.predict(pets).tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("estimator", GOWER, ids=str)
def test_rows_without_a_common_cell_are_as_far_apart_as_corners(estimator):
    pets = pa.table({"kg": [4.1, 3.9, None, 30.2, 29.0], "says": ["meow", "meow", "meow", None, "woof"]})
    assert estimator.fit(pets).labels_.tolist() == [0, 0, 0, 1, 1]
    assert np.isfinite(estimator.linkage_matrix_).all()


def test_a_function_that_gives_no_number_is_refused_with_the_rows():
    def metric(x, y):
        return np.nan if {x[0], y[0]} == {1.0, 3.0} else abs(x[0] - y[0])

    with pytest.raises(DataError):
        AgglomerativeClustering(2, linkage="average", metric=metric).fit(np.arange(5.0)[:, None])


def test_missing_cells_by_average_but_not_by_ward():
    X, z = blobs(60)
    X[3, 1] = np.nan
    assert adjusted_rand_score(AgglomerativeClustering(3, linkage="average").fit(X).labels_, z) == 1.0
    with pytest.raises(DataError, match="row 4, column 'x1'"):
        AgglomerativeClustering(3).fit(X)


def test_ward_refuses_other_metrics():
    with pytest.raises(ParameterError, match="average"):
        AgglomerativeClustering(2, metric="manhattan").fit(np.eye(4))
    with pytest.raises(ParameterError, match="linkage"):
        AgglomerativeClustering(2, linkage="wrad").fit(np.eye(4))


@pytest.mark.parametrize("estimator", BOTH, ids=str)
def test_numbers_of_clusters_do_not_depend_on_the_order_of_rows(estimator):
    X = np.vstack([blobs(30, seed=3)[0], 100 + np.arange(6.0).reshape(2, 3)])
    labels = estimator.fit(X).labels_
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(estimator.fit(X[order]).labels_, labels[order])
    sizes = np.bincount(labels)
    assert (np.diff(sizes) <= 0).all()


def test_threshold_instead_of_a_number():
    X, _ = blobs()
    tree = AgglomerativeClustering(None, distance_threshold=20.0).fit(X)
    assert tree.n_clusters_ == 3
    np.testing.assert_array_equal(tree.labels_, tree.cut(height=20.0))
    with pytest.raises(ParameterError, match="distance_threshold"):
        AgglomerativeClustering(2, distance_threshold=1.0).fit(X)


def test_too_many_clusters_name_the_rows():
    with pytest.raises(TooFewRowsError, match="n_samples=4"):
        AgglomerativeClustering(5).fit(np.eye(4))


@pytest.mark.parametrize("linkage", ["ward", "average", "single"])
def test_compressed_rows_keep_their_weight_and_say_so(linkage):
    X, z = blobs(3000)
    tree = AgglomerativeClustering(3, linkage=linkage, compress=100).fit(X)
    assert tree.n_leaves_ <= 100
    assert "3000 rows" in tree.compressed_
    assert tree.linkage_matrix_[-1, 3] == pytest.approx(3000)
    assert adjusted_rand_score(tree.labels_, z) == 1.0
    np.testing.assert_array_equal(tree.predict(X) == tree.labels_, True)


def test_compression_comes_with_a_warning_when_it_was_not_asked_for(monkeypatch):
    from asterism.estimators import agglomerative

    monkeypatch.setattr(agglomerative, "MOST_ROWS", 2500)
    X, _ = blobs(3000)
    with pytest.warns(CompressedWarning, match="k-means"):
        AgglomerativeClustering(3).fit(X)


def test_a_matrix_too_large_for_the_memory_is_refused_with_its_bytes():
    X, _ = blobs(300)
    with asterism.engine(memory=100_000), pytest.raises(MemoryBudgetError, match="358800 bytes"):
        AgglomerativeClustering(3, linkage="average", metric="manhattan").fit(X)


def test_threads_change_no_bit():
    X, _ = blobs(2500)
    for linkage in ("single", "average", "complete"):
        trees = []
        for threads in (1, 2):
            with asterism.engine(n_threads=threads):
                trees.append(AgglomerativeClustering(3, linkage=linkage).fit(X).linkage_matrix_)
        np.testing.assert_array_equal(*trees)


# --- pictures


def test_picture_of_a_whole_tree_has_scipys_brackets():
    X, _ = blobs(40)
    tree = AgglomerativeClustering(3).fit(X).linkage_matrix_
    picture = layout(tree, k=3, leaves=None)
    theirs = hierarchy.dendrogram(tree, no_plot=True)
    assert sorted(picture.names, key=int) == [str(i) for i in range(40)]
    np.testing.assert_allclose(sorted(picture.heights), sorted(max(y) for y in theirs["dcoord"]))
    # Every leg stands on a leaf or on the middle of a lower bracket of its height.
    tops = {
        (round((a + b) / 2, 9), round(h, 9))
        for (a, b, *_), h in zip(picture.bars, picture.heights, strict=True)
    }
    for a, b, low_a, low_b in picture.bars:
        for x, low in ((a, low_a), (b, low_b)):
            assert low == 0 or (round(x, 9), round(low, 9)) in tops


def test_picture_of_a_large_tree_shows_its_top():
    X, _ = blobs(5000)
    tree = AgglomerativeClustering(3).fit(X).linkage_matrix_
    picture = layout(tree, k=3, leaves=20)
    assert len(picture.names) == 20
    assert len(picture.bars) == 19
    sizes = [float(name[1:-1]) if name.startswith("(") else 1.0 for name in picture.names]
    assert sum(sizes) == 5000
    assert sorted(set(picture.members)) == [0, 1, 2]


def test_a_tree_as_deep_as_its_rows_is_drawn():
    steps = np.cumsum(np.arange(1.0, 3000.0))[:, None]
    estimator = AgglomerativeClustering(2, linkage="single").fit(steps)
    assert len(layout(estimator.linkage_matrix_, leaves=None).names) == 2999


def test_plot_has_a_line_of_each_cluster_and_the_cut():
    X, _ = blobs(30)
    figure = (
        AgglomerativeClustering(3)
        .fit(X)
        .plot_dendrogram(labels=[f"row {i}" for i in range(30)], title="A tree")
    )
    names = [trace.name for trace in figure.data]
    assert names == ["above the cut", "cluster 0", "cluster 1", "cluster 2", "3 clusters"]
    assert sorted(figure.layout.xaxis.ticktext) == sorted(f"row {i}" for i in range(30))
    with pytest.raises(ParameterError, match="labels"):
        plot_tree(np.array([[0, 1, 1.0, 2]]), labels=["a"])
