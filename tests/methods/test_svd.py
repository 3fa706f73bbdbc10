"""Singular values against NumPy's, SciPy's and scikit-learn's."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse
from sklearn.decomposition import TruncatedSVD as Peer

import asterism
from asterism import TruncatedSVD
from asterism.data.source import ArraySource
from asterism.data.sparse import SparseSource
from asterism.errors import DataError, MemoryBudgetError, ParameterError
from asterism.methods.krylov import Krylov, leading_pairs
from asterism.methods.squares import Product, SquaresOperator
from asterism.methods.svd import full_svd, leading_factors


def low_rank(n, d, r, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, r)) @ rng.normal(size=(r, d))


@pytest.mark.parametrize("shape", [(20, 8), (8, 20), (10, 10)])
def test_factors_make_the_matrix_again(shape):
    a = np.random.default_rng(0).normal(size=shape)
    f = full_svd(a)
    assert_allclose(f.left * f.values @ f.right, a, atol=1e-13)
    assert_allclose(f.values, np.linalg.svd(a, compute_uv=False), rtol=1e-13)
    assert (f.right[np.arange(8), np.abs(f.right[:8]).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("shape", [(20, 8), (8, 20)])
@pytest.mark.parametrize("r", [0, 1, 5, 8])
def test_rank_range_and_null_space(shape, r):
    a = low_rank(*shape, r) if r else np.zeros(shape)
    f = full_svd(a)
    assert f.rank == np.linalg.matrix_rank(a) == r
    assert f.range.shape == (shape[0], r)
    assert f.null.shape == (shape[1], shape[1] - r)
    assert_allclose(a @ f.null, 0, atol=1e-12)
    assert_allclose(f.null.T @ f.null, np.eye(shape[1] - r), atol=1e-13)
    assert_allclose(f.range @ (f.range.T @ a), a, atol=1e-12)
    assert f.null.shape == linalg.null_space(a).shape


def test_the_closest_matrix_and_its_errors():
    a = np.random.default_rng(0).normal(size=(12, 7))
    f = full_svd(a)
    for m in (0, 3, 7):
        found = f.closest(m)
        assert np.linalg.matrix_rank(found.matrix) == m
        assert found.spectral == pytest.approx(np.linalg.norm(a - found.matrix, 2), abs=1e-12)
        assert found.frobenius == pytest.approx(np.linalg.norm(a - found.matrix), abs=1e-12)
    others = [low_rank(12, 7, 3, seed) for seed in range(20)]
    assert min(np.linalg.norm(a - b) for b in others) > f.closest(3).frobenius
    with pytest.raises(ParameterError):
        f.closest(8)


def test_svd_of_any_table():
    a = low_rank(12, 5, 3)
    frame = pl.DataFrame(a, schema=list("abcde"))
    for table in (a, a.tolist(), frame, sparse.csr_array(a), ArraySource(a)):
        found = asterism.svd(table)
        assert_allclose(found.values, np.linalg.svd(a, compute_uv=False), atol=1e-12)
        assert found.rank == 3
    w = np.random.default_rng(0).integers(0, 3, 12)
    for rows in (a, sparse.csr_array(a)):
        found = asterism.svd(rows, sample_weight=w)
        assert_allclose(
            found.values, np.linalg.svd(np.repeat(a, w, axis=0), compute_uv=False)[:5], atol=1e-12
        )
    a[3, 1] = np.nan
    with pytest.raises(DataError, match="row 4, column 'x1'"):
        asterism.svd(a)
    with asterism.engine(memory="10KB"), pytest.raises(MemoryBudgetError, match="TruncatedSVD"):
        asterism.svd(np.ones((500, 20)))


def test_concepts_are_the_factors_of_users_and_items():
    a = np.array([[5.0, 5, 0, 1], [4, 4, 0, 0], [0, 0, 3, 2], [1, 0, 2, 2], [0, 1, 0, 1]])
    found = asterism.svd(a)
    view = found.concepts(2)
    assert_allclose(view.users * view.strengths @ view.items.T, found.closest(2).matrix, atol=1e-12)
    assert found.closest(2).spectral == pytest.approx(found.values[2])
    assert_allclose(
        found.concepts().users * found.concepts().strengths @ found.concepts().items.T, a, atol=1e-12
    )
    peer = TruncatedSVD(2).fit(a).concepts(a)
    assert_allclose(view.items, peer.items, atol=1e-9)
    assert_allclose(view.users, peer.users, atol=1e-9)
    with pytest.raises(ParameterError):
        found.concepts(5)


@pytest.mark.parametrize("shape", [(300, 40), (40, 300), (60, 2500)])
def test_leading_values_of_dense_tables_are_scipys(shape):
    a = np.random.default_rng(0).normal(size=shape) + 1
    found = leading_factors(ArraySource(a), shape[1], 5)
    _, s, v = np.linalg.svd(a, full_matrices=False)
    assert_allclose(found.values, s[:5], rtol=1e-10)
    assert_allclose(np.abs(np.einsum("md,md->m", found.right, v[:5])), 1, rtol=1e-9)
    assert found.residual == pytest.approx(np.sqrt((s[5:] ** 2).sum()), rel=1e-9)


@pytest.mark.parametrize("shape", [(2000, 200), (200, 1500)])
def test_sparse_tables_are_scipys_to_the_last_digits(shape):
    a = sparse.random(*shape, density=0.01, random_state=0, format="csr")
    s = np.linalg.svd(a.toarray(), compute_uv=False)
    found = leading_factors(SparseSource(a), shape[1], 6)
    assert_allclose(found.values, s[:6], rtol=1e-10)
    assert_allclose(found.right @ found.right.T, np.eye(6), atol=1e-10)


def test_same_as_scikit_learns_arpack():
    a = sparse.random(500, 200, density=0.05, random_state=0, format="csr")
    ours = TruncatedSVD(4, tol=0).fit(a)
    theirs = Peer(4, algorithm="arpack", random_state=0).fit(a)
    assert_allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-9)
    assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-7)
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-7)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-7)
    assert_allclose(np.abs(ours.transform(a)), np.abs(theirs.transform(a)), atol=1e-7)
    dense = TruncatedSVD(4).fit(a.toarray())
    assert_allclose(dense.components_, ours.components_, atol=1e-7)


def test_a_loose_tolerance_still_finds_most():
    a = sparse.random(4000, 1500, density=0.004, random_state=0, format="csr")
    loose, exact = (TruncatedSVD(10, tol=tol).fit(a) for tol in (0.05, 1e-6))
    randomized = Peer(10, random_state=0).fit(a)
    assert loose.reconstruction_error_ >= exact.reconstruction_error_
    assert (loose.singular_values_**2).sum() > (randomized.singular_values_**2).sum()
    assert (loose.singular_values_**2).sum() > 0.98 * (exact.singular_values_**2).sum()


class Given(SquaresOperator):
    """A matrix instead of a sum over rows."""

    def visit(self, q, block):
        return Product(self.matrix @ q)


def leading(matrix, m, tol, width=8, blocks=24):
    operator = Given(tol, len(matrix), 0.0)
    object.__setattr__(operator, "matrix", matrix)
    method = Krylov(operator, len(matrix), m, width, blocks, "values")
    return leading_pairs(method, ArraySource(np.zeros((1, 1))), 0, "")


@pytest.mark.parametrize(("width", "blocks"), [(8, 24), (13, 5), (2, 3)])
def test_lanczos_survives_restarts(width, blocks):
    rng = np.random.default_rng(0)
    q = np.linalg.qr(rng.normal(size=(300, 300)))[0]
    values = 1 / np.arange(1, 301) ** 0.1  # close together: many passes
    a = (q * values) @ q.T
    found, vectors = leading(a, 5, 1e-10, width, blocks)
    assert_allclose(found, values[:5], rtol=1e-12)
    assert_allclose(a @ vectors, vectors * found, atol=1e-9)


def test_lanczos_stops_where_there_is_nothing_more():
    b = low_rank(50, 40, 3)
    found, _ = leading(b.T @ b, 5, 1e-10)
    assert_allclose(found, np.linalg.svd(b, compute_uv=False)[:5] ** 2, atol=1e-9)


def test_more_values_than_the_rank_are_zeros_with_orthonormal_directions():
    a = sparse.csr_array(low_rank(60, 50, 2))
    found = TruncatedSVD(15, tol=0).fit(a)
    assert_allclose(found.singular_values_[:2], np.linalg.svd(a.toarray(), compute_uv=False)[:2], rtol=1e-10)
    assert_allclose(found.singular_values_[2:], 0, atol=1e-5)
    assert_allclose(found.components_ @ found.components_.T, np.eye(15), atol=1e-10)


def test_lanczos_can_be_interrupted_and_taken_up_again(tmp_path):
    a = sparse.random(3000, 400, density=0.02, random_state=0, format="csr")
    whole = TruncatedSVD(4, tol=1e-8).fit(a).components_
    calls = []

    def stop(event):
        calls.append(event)
        if len(calls) == 4:
            raise RuntimeError("the power went out")

    with pytest.raises(RuntimeError), asterism.engine(checkpoint=tmp_path / "svd", progress=stop):
        TruncatedSVD(4, tol=1e-8).fit(a)
    with asterism.engine(checkpoint=tmp_path / "svd"):
        again = TruncatedSVD(4, tol=1e-8).fit(a).components_
    assert_array_equal(again, whole)


def test_weights_are_copies():
    rng = np.random.default_rng(0)
    a, w = rng.normal(size=(60, 6)), rng.integers(0, 3, 60)
    copies = np.repeat(a, w, axis=0)
    for rows, same in ((a, copies), (sparse.csr_array(a), sparse.csr_array(copies))):
        one, two = TruncatedSVD(2, tol=0).fit(rows, sample_weight=w), TruncatedSVD(2, tol=0).fit(same)
        assert_allclose(one.singular_values_, two.singular_values_, rtol=1e-10)
        assert_allclose(one.components_, two.components_, atol=1e-7)
        assert_allclose(one.explained_variance_ratio_, two.explained_variance_ratio_, rtol=1e-8)


def test_same_bits_for_any_number_of_threads():
    a = sparse.random(20_000, 1000, density=0.02, random_state=0, format="csr")
    found = []
    for n_threads in (1, 2, 5):
        with asterism.engine(n_threads=n_threads):
            found.append(TruncatedSVD(3, tol=0.1).fit(a).components_)
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])


def test_users_and_items_share_concepts():
    ratings = np.array([[5.0, 5, 4, 0, 0], [4, 5, 5, 0, 0], [0, 0, 0, 4, 5], [0, 0, 0, 5, 4]])
    view = TruncatedSVD(2).fit(ratings).concepts(ratings)
    assert_allclose(
        view.users * view.strengths @ view.items.T, full_svd(ratings).closest(2).matrix, atol=1e-9
    )
    assert (np.abs(view.items[:3, 0]) > 0.4).all()
    assert_allclose(view.items[3:, 0], 0, atol=1e-12)
    assert_allclose(view.users.T @ view.users, np.eye(2), atol=1e-12)


def test_bad_cells_and_numbers_are_named():
    a = np.eye(4)
    a[2, 1] = np.nan
    with pytest.raises(DataError, match="row 3, column 'x1'"):
        TruncatedSVD(2).fit(a)
    with pytest.raises(DataError, match="row 3, column 'x1'"):
        TruncatedSVD(2).fit(sparse.csr_array(a))
    with pytest.raises(DataError, match="row 3"):
        full_svd(a)
    with pytest.raises(ParameterError, match="whole number from 1 to 4"):
        TruncatedSVD(5).fit(np.eye(4))
