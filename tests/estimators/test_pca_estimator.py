"""PCA as scikit-learn's users know it, with scikit-learn's own PCA as a peer."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA as Peer

import asterism
from asterism import PCA
from asterism.data.columns import Column
from asterism.data.source import ArraySource
from asterism.errors import DataError, WeightError

ATTRIBUTES = [
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "mean_",
    "noise_variance_",
]


def table(n=200, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.linspace(3, 1, d) @ rng.normal(size=(d, d)) + 5


@pytest.mark.parametrize("shape", [(200, 6), (9, 30)])
@pytest.mark.parametrize("n_components", [1, 4, 0.8])
@pytest.mark.parametrize("whiten", [False, True])
def test_agrees_with_scikit_learn(shape, n_components, whiten):
    X = table(*shape)
    ours = PCA(n_components, whiten=whiten).fit(X)
    peer = Peer(n_components, whiten=whiten, svd_solver="full").fit(X)
    for name in ATTRIBUTES:
        assert_allclose(getattr(ours, name), getattr(peer, name), rtol=1e-9, atol=1e-10, err_msg=name)
    assert (ours.n_components_, ours.n_samples_) == (peer.n_components_, peer.n_samples_)
    Z = ours.transform(X)
    assert_allclose(Z, peer.transform(X), atol=1e-9)
    assert_allclose(ours.inverse_transform(Z), peer.inverse_transform(Z), atol=1e-9)
    assert_array_equal(PCA(n_components, whiten=whiten).fit_transform(X), Z)
    assert_array_equal(ours.get_feature_names_out(), peer.get_feature_names_out())


def test_density_agrees_with_scikit_learn():
    X = table()
    for m in (2, 5, 6):
        ours, peer = PCA(m).fit(X), Peer(m, svd_solver="full").fit(X)
        assert_allclose(ours.get_covariance(), peer.get_covariance(), atol=1e-10)
        assert_allclose(ours.get_precision(), peer.get_precision(), atol=1e-10)
        assert_allclose(ours.score_samples(X), peer.score_samples(X), rtol=1e-10)
        assert_allclose(ours.score(X), peer.score(X), rtol=1e-10)


@pytest.mark.parametrize("m", [2, 5])
def test_density_of_rows_in_a_plane_is_the_density_within_it(m):
    X = table(d=2) @ np.random.default_rng(2).normal(size=(2, 5))
    pca = PCA(m).fit(X)
    oracle = multivariate_normal(X.mean(axis=0), np.cov(X.T), allow_singular=True)
    assert_allclose(pca.score_samples(X), oracle.logpdf(X), rtol=1e-8)
    assert_array_equal(pca.score_samples(X + np.array([0, 1, 0, 0, 0])), -np.inf)
    assert_allclose(pca.get_precision(), np.linalg.pinv(np.cov(X.T), rcond=1e-10), atol=1e-10)


@pytest.mark.parametrize("shape", [(300, 7), (10, 40)])
def test_all_components_are_as_many_as_rows_or_columns(shape):
    assert PCA().fit(table(*shape)).components_.shape == (min(shape), shape[1])


def test_reconstruction_error_is_the_sum_of_dropped_eigenvalues():
    X, weights = table(), np.random.default_rng(1).uniform(0, 3, 200)
    pca = PCA(2).fit(X, sample_weight=weights)
    left = X - pca.inverse_transform(pca.transform(X))
    assert_allclose(pca.reconstruction_error_, weights @ (left**2).sum(axis=1), rtol=1e-12)
    values = np.linalg.eigvalsh(np.cov(X.T, aweights=weights, ddof=0) * weights.sum())
    assert_allclose(pca.reconstruction_error_, values[:-2].sum(), rtol=1e-12)


def test_weights_are_numpy_frequency_weights():
    X, weights = table(), np.random.default_rng(1).integers(0, 5, 200)
    values = np.linalg.eigvalsh(np.cov(X.T, fweights=weights))[::-1]
    assert_allclose(PCA().fit(X, sample_weight=weights).explained_variance_, values, rtol=1e-12)


@pytest.mark.parametrize("shape", [(100, 8), (8, 100)])
def test_whitened_rows_have_unit_covariance_and_zeros_where_nothing_varies(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(shape[0], 3)) @ rng.normal(size=(3, shape[1])) * 1e3
    pca = PCA(6, whiten=True).fit(X)
    Z = pca.transform(X)
    expected = np.diag([1.0, 1, 1, 0, 0, 0])
    assert_allclose(np.cov(Z.T), expected, atol=1e-10)
    assert_array_equal(Z[:, 3:], 0)
    assert_allclose(pca.inverse_transform(Z), X, atol=1e-8)


def test_single_precision_in_and_out_but_not_in_between():
    X = (table() + 1000).astype(np.float32)
    pca = PCA(3).fit(X)
    assert pca.transform(X).dtype == pca.inverse_transform(pca.transform(X)).dtype == np.float32
    exact = Peer(3, svd_solver="full").fit(X.astype(np.float64))
    assert_allclose(pca.explained_variance_, exact.explained_variance_, rtol=1e-10)
    assert_allclose(pca.transform(X), exact.transform(X.astype(np.float64)), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        np.asfortranarray,
        lambda X: X[:, ::-1][:, ::-1],
        lambda X: X.tolist(),
        pd.DataFrame,
        ArraySource,
    ],
    ids=["fortran", "strided", "list", "frame", "source"],
)
def test_any_table_gives_the_same_bits(make):
    X = table()
    frame = make(X)
    if isinstance(frame, pd.DataFrame):
        frame.columns = [f"x{j}" for j in range(6)]
    pca, expected = PCA(2).fit(frame), PCA(2).fit(X)
    assert_array_equal(pca.components_, expected.components_)
    assert_array_equal(np.asarray(pca.transform(frame)), expected.transform(X))


def test_read_only_integers_are_taken_as_they_are():
    X = np.random.default_rng(0).integers(0, 100, (50, 4))
    X.flags.writeable = False
    assert_array_equal(PCA(2).fit(X).components_, PCA(2).fit(X.astype(float)).components_)


def test_a_source_brings_its_names_and_weights_multiply():
    X, w = table(), np.random.default_rng(1).uniform(0.5, 2, 200)
    columns = tuple(Column(name) for name in "abcdef")
    named = ArraySource(X, w, columns)
    pca = PCA(2).fit(named, sample_weight=w)
    assert_array_equal(pca.feature_names_in_, list("abcdef"))
    assert_array_equal(pca.components_, PCA(2).fit(X, sample_weight=w * w).components_)
    with pytest.raises(DataError, match=r"Column 0 is 'b'.*fitted with 'a'"):
        pca.transform(ArraySource(X, None, columns[1:] + columns[:1]))
    with pytest.raises(DataError, match="X has 5 features, but PCA is expecting 6"):
        pca.transform(ArraySource(X[:, :5]))


def test_columns_of_names_are_refused():
    columns = (Column("a"), Column("colour", "categorical", ("red", "blue")))
    with pytest.raises(DataError, match=r"column 'colour'.*names without an order"):
        PCA(1).fit(ArraySource(np.ones((3, 2)), None, columns))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_cells_are_named_when_transforming(bad):
    X = pd.DataFrame(table(), columns=list("abcdef"))
    pca = PCA(2).fit(X)
    X.loc[123, "c"] = bad
    with pytest.raises(DataError, match="row 124, column 'c'"):
        pca.transform(X)
    with pytest.raises(DataError, match="row 124, column 'c'"):
        pca.fit(X)


@pytest.mark.parametrize("weights", [[1, -1, 1], [1, np.nan, 1], [0, 0, 0], [1, 1]])
def test_bad_weights_are_refused(weights):
    with pytest.raises(WeightError):
        PCA().fit(table(3), sample_weight=weights)


def test_one_row_and_one_column():
    one_row = PCA().fit([[1.0, 2.0, 3.0]])
    assert_array_equal(one_row.mean_, [1, 2, 3])
    assert_array_equal(one_row.explained_variance_, [0])
    assert_array_equal(one_row.transform([[1.0, 2.0, 3.0]]), [[0]])
    one_column = PCA().fit([[1.0], [2.0], [6.0]])
    assert_array_equal(one_column.components_, [[1]])
    assert_allclose(one_column.explained_variance_, [7])


def test_set_output_gives_frames():
    X = pd.DataFrame(table(), columns=list("abcdef"))
    out = PCA(2).set_output(transform="pandas").fit_transform(X)
    assert list(out.columns) == ["pca0", "pca1"]


def test_transform_has_the_same_bits_for_any_number_of_threads():
    X = table(50_000)
    with asterism.engine(n_threads=1):
        one = PCA(3).fit(X).transform(X)
    with asterism.engine(n_threads=8):
        assert_array_equal(PCA(3).fit(X).transform(X), one)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(300_000, 20), (100, 60_000)])
def test_fitting_copies_no_more_than_a_few_blocks(shape, order):
    X = np.asarray(np.random.default_rng(0).normal(size=shape), order=order)  # 48 MB
    PCA(3).fit(X[:, :50])  # what is loaded once is not counted
    tracemalloc.start()
    try:
        PCA(3).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 32e6
