"""Sparse tables give what dense ones do, and are never made dense."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans as PeerKMeans
from sklearn.cluster import kmeans_plusplus
from sklearn.decomposition import PCA as PeerPCA
from sklearn.metrics import adjusted_rand_score

import asterism
from asterism import (
    PCA,
    BernoulliMixture,
    KMeans,
    MultinomialMixture,
    PoissonMixture,
    TruncatedSVD,
    dimension,
)
from asterism.data.sparse import SparseSource, distinct_rows
from asterism.errors import DataError, ParameterError, TooFewRowsError

FORMATS = [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array]


def cells(n=400, d=30, density=0.2, seed=0):
    return sparse.random_array((n, d), density=density, format="csr", rng=np.random.default_rng(seed))


def groups(n=300, d=60, k=3, seed=0):
    """Counts of k groups, each with words of its own."""
    rng = np.random.default_rng(seed)
    p = np.full((k, d), 0.2)
    for c in range(k):
        p[c, c * 15 : c * 15 + 10] = 5.0
    z = rng.integers(k, size=n)
    return rng.poisson(0.3 * p[z]).astype(float), z


def weights(n, seed=1):
    return np.random.default_rng(seed).integers(0, 3, n)


# --- k-means ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_kmeans_steps_are_those_of_the_dense_table(form):
    x, w = cells(), weights(400)
    start = x[:5].toarray()
    a = KMeans(5, init=start, tol=0).fit(form(x), sample_weight=w)
    b = KMeans(5, init=start, tol=0).fit(x.toarray(), sample_weight=w)
    assert_allclose(a.cluster_centers_, b.cluster_centers_, atol=1e-12)
    assert_array_equal(a.labels_[w > 0], b.labels_[w > 0])
    assert_allclose(a.history_, b.history_, rtol=1e-12)
    assert_array_equal(a.predict(form(x)), b.predict(x.toarray()))
    assert_allclose(a.transform(form(x)), b.transform(x.toarray()), atol=1e-12)
    assert a.score(form(x), sample_weight=w) == pytest.approx(-a.inertia_, rel=1e-12)


def test_kmeans_ends_where_scikit_learn_does():
    x = cells()
    start = x[:4].toarray()
    ours = KMeans(4, init=start, tol=0).fit(x)
    theirs = PeerKMeans(4, init=start, n_init=1, tol=0).fit(x)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)
    assert_array_equal(ours.labels_, theirs.labels_)


@pytest.mark.parametrize("init", ["k-means++", "random", "random-points"])
def test_every_start_finds_plain_groups(init):
    x, z = groups()
    found = KMeans(3, init=init, n_init=10, random_state=0).fit(sparse.csr_array(x))
    assert adjusted_rand_score(z, found.labels_) > 0.95


def test_seeding_is_as_good_as_greedy_seeding_of_the_whole_table():
    """The mean J of starts from a sample of a long table, beside scikit-learn's of all rows."""
    x = sparse.csr_array(groups(6000, 200, 8)[0])

    def cost(centers):
        model = KMeans(8, init=centers, max_iter=1, tol=1e9).fit(x)
        return model.history_[0]

    ours = [cost(KMeans(8, max_iter=1, tol=1e9, random_state=s).fit(x).cluster_centers_) for s in range(3)]
    theirs = [cost(kmeans_plusplus(x, 8, random_state=s)[0]) for s in range(3)]
    assert np.mean(ours) < np.mean(theirs)


def test_weight_counts_as_copies_and_zero_is_absent():
    x, w = cells(200), weights(200)
    spoiled = x.copy()
    spoiled.data[np.repeat(w, np.diff(x.indptr)) == 0] = np.nan
    a = KMeans(4, random_state=0).fit(spoiled, sample_weight=w)
    b = KMeans(4, random_state=0).fit(x[np.repeat(np.arange(200), w)])
    assert_allclose(a.cluster_centers_, b.cluster_centers_, atol=1e-12)
    assert a.inertia_ == pytest.approx(b.inertia_)


def test_the_order_of_rows_does_not_matter():
    x = cells(300)
    order = np.random.default_rng(0).permutation(300)
    a, b = KMeans(4, random_state=0).fit(x), KMeans(4, random_state=0).fit(x[order])
    assert_allclose(a.cluster_centers_, b.cluster_centers_, atol=1e-12)


def test_an_empty_group_gets_a_far_row():
    x = sparse.csr_array(np.repeat(np.eye(4), 5, axis=0))
    start = np.vstack([np.eye(4)[:2], np.full((2, 4), 50.0)])
    assert KMeans(4, init=start).fit(x).inertia_ == 0
    with pytest.raises(TooFewRowsError, match="distinct"):
        KMeans(5).fit(x)
    with pytest.raises(TooFewRowsError):
        KMeans(5, init=np.vstack([start, np.full((1, 4), 60.0)])).fit(x)


def test_a_cell_stored_twice_is_the_sum_and_stored_zeros_are_zeros():
    twice = sparse.csr_array(
        (np.array([1.0, 2.0, 0.0, 5.0]), np.array([0, 0, 1, 1]), np.array([0, 3, 4])), (2, 2)
    )
    assert_array_equal(KMeans(2).fit(twice).transform(np.array([[3.0, 0.0]])).min(), 0.0)
    assert twice.nnz == 4  # the caller's matrix is not changed
    same = sparse.csr_array((np.array([0.0, 2.0, 2.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), (2, 2))
    first, group = distinct_rows(same)
    assert len(first) == 1
    assert_array_equal(group, [0, 0])


def test_factors_of_a_sparse_table():
    x, w = cells(100), weights(100)
    found = KMeans(4, random_state=0).fit(x, sample_weight=w)
    u, z = found.factors_
    off = x.toarray() - u @ z
    assert float(w @ (off**2).sum(axis=1)) == pytest.approx(found.inertia_, rel=1e-10)


# --- components -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "d", "m"), [(300, 40, 5), (300, 40, None), (300, 40, 0.6), (40, 2500, 6), (40, 2500, None)]
)
def test_components_are_those_of_the_dense_table(n, d, m):
    x, w = cells(n, d, 0.1), weights(n)
    a, b = PCA(m).fit(x, sample_weight=w), PCA(m).fit(x.toarray(), sample_weight=w)
    assert a.components_.shape == b.components_.shape
    assert_allclose(a.explained_variance_, b.explained_variance_, atol=1e-12)
    assert_allclose(a.components_[:4], b.components_[:4], atol=1e-8)
    assert_allclose(a.transform(x)[:, :4], b.transform(x.toarray())[:, :4], atol=1e-8)
    assert a.reconstruction_error_ == pytest.approx(b.reconstruction_error_, abs=1e-10)
    assert_allclose(a.score_samples(x), b.score_samples(x.toarray()), rtol=1e-9)


def test_components_of_a_table_large_both_ways_are_scikit_learns():
    rng = np.random.default_rng(0)
    strong = sparse.csr_array((rng.random((2300, 4)) < 0.05) * rng.normal(3, 1, (2300, 4)))
    x = sparse.csr_array(
        strong @ sparse.csr_array((rng.random((4, 2200)) < 0.02) * 1.0) + cells(2300, 2200, 0.002)
    )
    ours, theirs = PCA(3).fit(x), PeerPCA(3, svd_solver="arpack", random_state=0).fit(x)
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-9)
    assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-6)
    assert_allclose(ours.mean_, theirs.mean_, atol=1e-12)
    with pytest.raises(ParameterError, match="n_components"):
        PCA().fit(x)


# --- mixtures ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mixture", [BernoulliMixture, MultinomialMixture])
@pytest.mark.parametrize("prior", [None, "conjugate"])
@pytest.mark.parametrize("assignment", ["soft", "hard"])
def test_mixtures_climb_as_on_the_dense_table(mixture, prior, assignment):
    x, z = groups(200)
    x, w = (x > 0) * 1.0 if mixture is BernoulliMixture else x, weights(200)
    given = {"responsibilities_init": 0.8 * np.eye(3)[z] + 0.2 / 3, "prior": prior, "assignment": assignment}
    a = mixture(3, **given, tol=1e-9).fit(sparse.csr_array(x), sample_weight=w)
    b = mixture(3, **given, tol=1e-9).fit(x, sample_weight=w)
    assert_allclose(a.history_, b.history_, rtol=1e-11)
    assert_allclose(a.probabilities_, b.probabilities_, atol=1e-12)
    assert_allclose(a.predict_proba(sparse.csc_array(x)), b.predict_proba(x), atol=1e-9)
    assert_allclose(a.score_samples(sparse.csr_array(x)), b.score_samples(x), rtol=1e-10)
    assert a.bic(sparse.csr_array(x)) == pytest.approx(b.bic(x))


def test_a_component_that_is_sure_of_a_one_says_so():
    """Where p is 1, log(1 - p) is not a number to calculate with."""
    x = np.array([[1.0, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 1]])
    shares = np.repeat(np.eye(2), 2, axis=0)
    a = BernoulliMixture(2, responsibilities_init=shares).fit(sparse.csr_array(x))
    assert_allclose(a.probabilities_, [[1, 1, 0], [1, 0, 1]], atol=1e-12)
    new = np.array([[1.0, 1, 0], [0, 1, 0], [1, 1, 1]])
    assert_allclose(a.score_samples(sparse.csr_array(new)), a.score_samples(new), rtol=1e-12)
    assert a.score_samples(sparse.csr_array(new))[0] == pytest.approx(np.log(0.5), abs=1e-12)


@pytest.mark.parametrize("init", ["auto", "kmeans", "k-means++", "random_from_data", "random"])
def test_mixtures_find_groups_from_any_start(init):
    x, z = groups(400)
    found = MultinomialMixture(3, init_params=init, n_init=4, random_state=0, max_iter=300, tol=1e-6).fit(
        sparse.csr_array(x)
    )
    assert adjusted_rand_score(z, found.labels_) > 0.9
    assert (np.diff(found.history_) > -1e-12).all()


def test_binarize_keeps_a_table_sparse():
    x, _ = groups(200)
    a, b = (
        BernoulliMixture(
            2, binarize=0.5, responsibilities_init=np.random.default_rng(0).random((200, 2))
        ).fit(rows)
        for rows in (sparse.csr_array(x), x)
    )
    assert_allclose(a.probabilities_, b.probabilities_, atol=1e-12)
    with pytest.raises(ParameterError, match="not stored"):
        BernoulliMixture(2, binarize=-1).fit(sparse.csr_array(x))


# --- what cannot be ---------------------------------------------------------------------------------------------


def test_bad_cells_are_named():
    x = cells(50)
    place = int(x.indptr[7])
    for value, what in ((np.nan, "missing"), (np.inf, "inf")):
        bad = x.copy()
        bad.data[place] = value
        for fit in (KMeans(3).fit, PCA(2).fit, TruncatedSVD(2).fit, MultinomialMixture(2).fit):
            with pytest.raises(DataError, match=f"row 8, column 'x{x.indices[place]}'.*{what}"):
                fit(bad)
    counts = sparse.csr_array(groups(50)[0])
    counts.data[counts.indptr[3]] = 0.5
    with pytest.raises(DataError, match=r"row 4, .*not a count"):
        MultinomialMixture(2).fit(counts)
    counts.data[counts.indptr[3]] = -1.0
    with pytest.raises(DataError, match=r"row 4, .*Negative"):
        MultinomialMixture(2, random_state=0).fit(counts)


def test_what_takes_no_sparse_table_says_so():
    x = sparse.csr_array(groups(50)[0])
    fitted = MultinomialMixture(2, random_state=0).fit(x)
    with pytest.raises(DataError, match="No cell of a sparse table is missing"):
        fitted.impute(x)
    with pytest.raises(DataError, match="dimension of a sparse"):
        dimension(x)
    with pytest.raises(DataError, match="no sparse tables"):
        PoissonMixture(2).fit(SparseSource(x))
    with pytest.raises(ParameterError, match="ward"):
        MultinomialMixture(2, init_params="ward").fit(x)


# --- scale ------------------------------------------------------------------------------------------------------


def words(n, d, stored=40, k=3, seed=0):
    """Rows of 0 and 1, half of whose ones are among 50 columns of their group, and those groups."""
    rng = np.random.default_rng(seed)
    z = rng.integers(k, size=n)
    own = 50 * z[:, None] + rng.integers(50, size=(n, stored // 2))
    indices = np.concatenate([rng.integers(d, size=(n, stored - stored // 2)), own], axis=1).astype(np.int32)
    ends = np.arange(0, n * stored + 1, stored, dtype=np.int32)
    x = sparse.csr_array((np.ones(n * stored), indices.ravel(), ends), (n, d))
    x.sum_duplicates()
    x.data[:] = 1.0
    return x, z


def test_memory_stays_below_twice_the_matrix():
    """The matrix itself and less than as much again, where dense numbers would take a hundred times as much."""
    x, _ = words(60_000, 5000)
    size = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
    assert x.shape[0] * x.shape[1] * 8 > 80 * size
    models = [
        KMeans(3, max_iter=1, random_state=0),
        PCA(1),
        TruncatedSVD(1),
        BernoulliMixture(3, max_iter=1, random_state=0, init_params="k-means++"),
        MultinomialMixture(3, max_iter=1, random_state=0, init_params="k-means++"),
    ]
    for model in models:
        with asterism.engine(n_threads=1):
            tracemalloc.start()
            model.fit(x)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert size + peak < 2 * size, f"{model}: {peak / 1e6:.0f} MB beside {size / 1e6:.0f}"


@pytest.mark.parametrize(
    "model", [KMeans(3, random_state=0), MultinomialMixture(3, init_params="kmeans", random_state=0)]
)
def test_groups_of_a_matrix_that_could_not_be_made_dense(model):
    x, z = words(20_000, 300_000)  # 48 GB of dense numbers
    assert adjusted_rand_score(z, model.fit(x).labels_) > 0.99
    assert_array_equal(model.predict(x[:100]), model.labels_[:100])


def test_same_bits_for_any_number_of_threads():
    x = sparse.random_array((20_000, 200), density=0.1, format="csr", rng=np.random.default_rng(0))
    assert SparseSource(x).n_blocks > 1
    found = []
    for n_threads in (1, 2):
        with asterism.engine(n_threads=n_threads):
            found.append(
                (KMeans(5, max_iter=5, random_state=0).fit(x).cluster_centers_, PCA(2).fit(x).components_)
            )
    assert_array_equal(found[0][0], found[1][0])
    assert_array_equal(found[0][1], found[1][1])


def test_a_part_of_a_sparse_source_has_the_same_blocks():
    x = sparse.random_array((20_000, 200), density=0.1, format="csr", rng=np.random.default_rng(0))
    source = SparseSource(x, np.arange(20_000.0) + 1)
    assert source.n_blocks >= 2
    (whole,) = list(source.blocks(1, 2))
    (sent,) = list(source.part(1, 2).blocks(1, 2))
    assert whole.start == sent.start
    assert_array_equal(whole.rows.toarray(), sent.rows.toarray())
    assert_array_equal(whole.weights, sent.weights)
