"""Principal components against the SVD of centred rows, whichever way they were found."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import asterism
from asterism.data.source import ArraySource, Source
from asterism.engines.reduce import reduce
from asterism.errors import DataError, ParameterError, WeightError
from asterism.methods.dual import DOUBLE, SINGLE, Columns, Deviations, _in_dtype, in_memory, pca_dual
from asterism.methods.krylov import pca_iterative
from asterism.methods.pca import _in_single, fit_pca, pca_from_moments, route
from asterism.stats.moments import Moments


def by_moments(source, m):
    return pca_from_moments(reduce(source, Moments.of), m)


WAYS = [by_moments, pca_dual, pca_iterative]
ways = pytest.mark.parametrize("way", WAYS, ids=["moments", "dual", "iterative"])


def oracle(rows, weights=None):
    """Mean, squared singular values and right singular vectors of sqrt(w) (x - mean), by NumPy's SVD."""
    w = np.ones(len(rows)) if weights is None else np.asarray(weights, float)
    mean = w @ rows / w.sum()
    _, s, v = np.linalg.svd(np.sqrt(w)[:, None] * (rows - mean), full_matrices=False)
    at = np.abs(v).argmax(axis=1)
    return mean, s**2, v * np.sign(v[np.arange(len(v)), at])[:, None]


def spread_out(n, d, seed=0):
    """Rows whose directions have well separated variances, in a random orientation."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return rng.normal(size=(n, d)) * 1.5 ** -np.arange(d) @ turn + rng.normal(size=d)


@ways
@pytest.mark.parametrize("shape", [(600, 12), (40, 300), (200, 150)])
def test_every_way_gives_the_svd_of_centred_weighted_rows(way, shape):
    rows = spread_out(*shape)
    weights = np.random.default_rng(1).integers(0, 4, len(rows)).astype(float)
    mean, values, vectors = oracle(rows, weights)
    found = way(ArraySource(rows, weights), 5)
    assert_allclose(found.mean, mean, rtol=0, atol=1e-13)
    assert_allclose(found.eigenvalues, values[:5], rtol=1e-10)
    assert_allclose(found.directions, vectors[:5], rtol=0, atol=1e-8)
    assert_allclose(found.dropped, values[5:].sum(), rtol=1e-10)
    assert_allclose(found.weight, weights.sum())


@ways
def test_an_offset_of_1e12_changes_nothing(way):
    rows = np.round(spread_out(600, 300) * 64) / 64  # exact at 1e12 only in steps of 2^-13: 1/64 is one
    near = way(ArraySource(rows), 3)
    far = way(ArraySource(rows + 1e12), 3)
    assert_allclose(far.eigenvalues, near.eigenvalues, rtol=1e-12)
    assert_allclose(far.directions, near.directions, rtol=0, atol=1e-10)
    assert_allclose(far.mean - 1e12, near.mean, rtol=0, atol=1e-4)  # the spacing of numbers there


@ways
def test_single_precision_rows_lose_nothing(way):
    rows = (spread_out(600, 30) + 100).astype(np.float32)
    _, values, vectors = oracle(rows.astype(float))
    found = way(ArraySource(rows), 4)
    assert_allclose(found.eigenvalues, values[:4], rtol=1e-11)
    assert_allclose(found.directions, vectors[:4], rtol=0, atol=1e-9)


def many_single_cells(offset=100.0):
    """Enough float32 cells for products in float32, of variances that all count."""
    rng = np.random.default_rng(2)
    turn = np.linalg.qr(rng.normal(size=(60, 60)))[0]
    return (rng.normal(size=(20_000, 60)) * 1.06 ** -np.arange(60) @ turn + offset).astype(np.float32)


def test_products_in_single_precision_are_off_by_what_rounding_cells_is():
    rows = many_single_cells()
    mean, values, vectors = oracle(rows.astype(float))
    found = _in_single(ArraySource(rows), 5)
    assert found is not None
    assert_allclose(found.mean, mean, rtol=1e-14)  # as many digits as ever
    assert_allclose(found.eigenvalues, values[:5], rtol=1e-6)
    assert_allclose(found.directions, vectors[:5], rtol=0, atol=1e-5)
    assert_allclose(found.total, values.sum(), rtol=1e-6)


def test_single_precision_does_not_hide_that_nothing_varies():
    rows = many_single_cells()
    rows[:, 30:] = rows[:, :30]  # 30 directions in which nothing varies
    source = ArraySource(rows)
    assert _in_single(source, 40) is None
    assert _in_single(source, 30) is None  # nor is anything left over
    assert_array_equal(fit_pca(source, 40).eigenvalues[30:], 0.0)


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_cells_whose_squares_float32_cannot_hold_are_multiplied_in_float64(scale):
    rows = many_single_cells(0.0)
    near, far = fit_pca(ArraySource(rows), 3), fit_pca(ArraySource(rows * np.float32(scale)), 3)
    assert_allclose(far.eigenvalues / scale**2, near.eigenvalues, rtol=1e-5)
    assert_allclose(far.directions, near.directions, rtol=0, atol=1e-4)


def test_same_bits_for_any_number_of_threads_in_single_precision():
    rows, found = many_single_cells(), []
    for n_threads in (1, 2, 8):
        with asterism.engine(n_threads=n_threads):
            found.append(fit_pca(ArraySource(rows), 3))
    for other in found[1:]:
        assert_array_equal(other.eigenvalues, found[0].eigenvalues)
        assert_array_equal(other.directions, found[0].directions)
        assert_array_equal(other.mean, found[0].mean)


def wide_single_cells(offset=100.0):
    """Few rows of many float32 cells, enough for products in float32."""
    rng = np.random.default_rng(3)
    factors = rng.normal(size=(8, 9000)) * 1.5 ** -np.arange(8)[:, None]
    return (rng.normal(size=(120, 8)) @ factors + 0.1 * rng.normal(size=(120, 9000)) + offset).astype(
        np.float32
    )


def test_a_gram_matrix_in_single_precision_costs_no_digits_of_the_eigenvalues():
    rows = wide_single_cells()
    mean, values, vectors = oracle(rows.astype(float))
    found = _in_dtype(ArraySource(rows), np.ones(120), 5, SINGLE)
    assert found is not None
    assert_allclose(found.mean, mean, rtol=1e-14)
    assert_allclose(found.eigenvalues, values[:5], rtol=1e-12)
    assert_allclose(found.directions, vectors[:5], rtol=0, atol=1e-7)
    assert_allclose(found.total, values.sum(), rtol=1e-6)


def test_a_gram_matrix_in_single_precision_is_refused_where_it_hides_what_is_small():
    rows, ones = wide_single_cells(), np.ones(120)
    few = np.repeat(rows[:6], 20, axis=0)  # five directions vary, no more
    far = rows.copy()
    far[0] += 1e4  # deviations from the first row tell little of the others
    for table, m in [(few, 6), (few, 5), (far, 3), (rows, 120), (rows * np.float32(1e25), 3)]:
        assert _in_dtype(ArraySource(table), ones, m, SINGLE) is None
    assert fit_pca(ArraySource(few), 6).eigenvalues[5] == 0
    assert_allclose(fit_pca(ArraySource(far), 3).eigenvalues, oracle(far.astype(float))[1][:3], rtol=1e-9)


def test_a_far_row_of_little_weight_costs_the_dual_way_no_digits():
    rows = spread_out(40, 300)
    weights = np.ones(40)
    rows[0] += 1e9
    weights[0] = 1e-18
    assert_allclose(
        pca_dual(ArraySource(rows, weights), 3).eigenvalues, oracle(rows, weights)[1][:3], rtol=1e-10
    )


def test_columns_sent_to_a_worker_or_stored_one_after_the_other_give_the_same_bits():
    rows = np.random.default_rng(0).normal(size=(300, 5000))
    gram = partial(Deviations(np.ones(300)).gram, DOUBLE)
    here = [gram(block).product for block in Columns(rows.T).blocks()]
    assert len(here) == 3
    turned = [gram(block).product for block in Columns(np.asfortranarray(rows).T).blocks()]
    sent = [
        gram(block).product
        for i in range(3)
        for block in pickle.loads(pickle.dumps(Columns(rows.T).part(i, i + 1))).blocks(i, i + 1)
    ]
    assert_array_equal(turned, here)
    assert_array_equal(sent, here)


TALL, WIDE = (40_000, 70), (70, 6_000)


@pytest.mark.parametrize(
    ("way", "shape"), [(by_moments, TALL), (pca_dual, WIDE), (pca_iterative, TALL), (pca_iterative, WIDE)]
)
def test_same_bits_for_any_number_of_threads(way, shape):
    rows = np.random.default_rng(0).normal(size=shape)
    rows[:, :8] *= np.linspace(30, 10, 8)  # so that the iterative way is there in a few passes
    found = []
    for n_threads in (1, 2, 8):
        with asterism.engine(n_threads=n_threads):
            found.append(way(ArraySource(rows), 3))
    for other in found[1:]:
        assert_array_equal(other.eigenvalues, found[0].eigenvalues)
        assert_array_equal(other.directions, found[0].directions)
        assert_array_equal(other.mean, found[0].mean)


@ways
def test_directions_are_orthonormal_also_where_nothing_varies(way):
    rows = np.outer(np.arange(30.0), np.ones(6))  # one direction varies
    found = way(ArraySource(rows), 4)
    assert_allclose(found.directions @ found.directions.T, np.eye(4), atol=1e-12)
    assert_allclose(found.eigenvalues[0], ((np.arange(30) - 14.5) ** 2).sum() * 6, rtol=1e-13)
    assert_array_equal(found.eigenvalues[1:], 0)
    assert found.dropped == 0
    assert found.noise == 0


@ways
def test_equal_rows_have_no_variance(way):
    found = way(ArraySource(np.full((20, 5), 0.1)), 2)
    assert_array_equal(found.eigenvalues, 0)
    assert_array_equal(found.ratios, 0)
    assert_array_equal(found.mean, 0.1)
    assert_allclose(found.directions @ found.directions.T, np.eye(2), atol=1e-15)


@ways
@pytest.mark.parametrize(("bad", "word"), [(np.nan, "missing"), (np.inf, "infinite"), (-np.inf, "infinite")])
def test_a_bad_cell_is_named_by_row_and_column(way, bad, word):
    rows = spread_out(400, 9)
    rows[321, 4] = bad
    with pytest.raises(DataError, match=rf"row 322, column 'x4'.*{word}") as caught:
        fit_pca(ArraySource(rows), 2) if way is by_moments else way(ArraySource(rows), 2)
    assert (caught.value.row, caught.value.column) == (321, "x4")
    assert caught.value.remedy


@ways
def test_absent_rows_may_hold_anything(way):
    rows = spread_out(300, 9)
    weights = np.ones(300)
    weights[[0, 17]] = 0
    whole = way(ArraySource(rows[weights > 0]), 3)
    rows[0], rows[17] = np.nan, np.inf
    assert_allclose(way(ArraySource(rows, weights), 3).eigenvalues, whole.eigenvalues, rtol=1e-12)


def test_values_too_large_to_square_are_refused():
    with pytest.raises(DataError, match="squares are infinite"):
        fit_pca(ArraySource(np.array([[1e200, 0.0], [-1e200, 1.0], [0.0, 2.0]])))


def test_weights_that_leave_no_freedom_are_refused():
    rows = spread_out(10, 3)
    with pytest.raises(WeightError, match="sum to 1"):
        _ = fit_pca(ArraySource(rows, np.full(10, 0.1))).variances


def test_dual_keeps_small_singular_values_that_squares_would_lose():
    rng = np.random.default_rng(0)
    u = np.linalg.qr(rng.normal(size=(12, 5)) - 0.5)[0]
    u -= u.mean(axis=0)
    v = np.linalg.qr(rng.normal(size=(200, 5)))[0]
    rows = u * 10.0 ** -np.arange(0, 15, 3) @ v.T  # down to 1e-12 of the largest: 1e-24 squared
    singular = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    # From squares alone, 1e-6 of the largest would be right to 4 digits, and 1e-9 to none.
    assert_allclose(np.sqrt(pca_dual(ArraySource(rows), 3).eigenvalues), singular[:3], rtol=1e-8)
    assert_allclose(np.sqrt(pca_dual(ArraySource(rows), None).eigenvalues[:5]), singular[:5], rtol=1e-2)


def test_the_iterative_way_settles_on_close_eigenvalues():
    rows = np.random.default_rng(0).normal(size=(3000, 400))  # nothing but noise: no gaps to speak of
    _, values, _ = oracle(rows)
    assert_allclose(pca_iterative(ArraySource(rows), 6).eigenvalues, values[:6], rtol=1e-10)


def test_the_iterative_way_does_not_depend_on_its_start():
    rows = spread_out(2000, 60)
    a, b = (pca_iterative(ArraySource(rows), 4, seed) for seed in (0, 1))
    assert_allclose(a.directions, b.directions, rtol=0, atol=1e-8)


def test_route_takes_the_cheapest_way():
    assert route(200_000, 100, None) == "moments"
    assert route(100, 100, 5) == "moments"
    assert route(500, 20_000, 10) == "dual"
    assert route(50_000, 8_000, 10) == "iterative"
    assert route(8_000, 50_000, 10) == "iterative"
    assert route(50_000, 8_000, None) == "moments"  # all of them were asked for


def test_fit_takes_the_iterative_way_for_a_table_large_both_ways():
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.normal(size=(n, 3)))[0] for n in (2100, 2200))
    left -= left.mean(axis=0)
    rows = left * [300, 200, 100] @ right.T + 7  # of rank 3, so its SVD is that of a 3 x 3 matrix
    assert route(*rows.shape, 3) == "iterative"
    singular = np.linalg.svd(np.linalg.qr(left)[1] * [300, 200, 100], compute_uv=False)
    assert_allclose(fit_pca(ArraySource(rows), 3).eigenvalues, singular**2, rtol=1e-10)


class Streamed(Source):
    """Rows that come in pieces of odd sizes, as from files."""

    def __init__(self, rows, weights):
        self.inner = ArraySource(rows, weights)
        self.columns, self.n_rows, self.dtype = self.inner.columns, len(rows), self.inner.dtype

    def pieces(self, start, stop):
        for a in range(start, stop, 7):
            yield from self.inner.pieces(a, min(a + 7, stop))


@pytest.mark.parametrize("shape", [(3000, 20), (30, 400)])
def test_same_bits_from_any_source(shape):
    rows = spread_out(*shape)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(rows))
    a, b = fit_pca(ArraySource(rows, weights), 4), fit_pca(Streamed(rows, weights), 4)
    assert_array_equal(a.directions, b.directions)
    assert_array_equal(a.eigenvalues, b.eigenvalues)


def test_wide_tables_that_do_not_fit_are_not_brought_into_memory():
    source = Streamed(spread_out(30, 400), None)
    with asterism.engine(memory="100KB"):
        assert in_memory(source) is None
        assert_allclose(fit_pca(source, 2).eigenvalues, oracle(source.inner.array)[1][:2], rtol=1e-10)


# ---- how many


@pytest.mark.parametrize("wrong", [0, -1, 4, 1.0, 0.0, 1.5, True, "two", np.nan])
def test_impossible_numbers_of_components_are_refused(wrong):
    with pytest.raises(ParameterError, match="whole number from 1 to 3"):
        fit_pca(ArraySource(spread_out(10, 3)), wrong)


def test_absent_rows_make_no_components():
    rows, weights = spread_out(5, 8), [1, 1, 1, 0, 0]
    assert len(fit_pca(ArraySource(rows, weights)).directions) == 3
    with pytest.raises(ParameterError, match="3 rows have no more than 3"):
        fit_pca(ArraySource(rows, weights), 4)


def test_a_share_keeps_the_fewest_components_that_reach_it():
    rows = np.diag(np.sqrt([8.0, 4.0, 3.0, 1.0]))
    rows = np.vstack([rows, -rows])  # eigenvalues 16, 8, 6, 2: shares 1/2, 3/4, 15/16, 1
    for share, m in [(0.1, 1), (0.5, 1), (0.51, 2), (0.75, 2), (0.9, 3), (0.9375, 3), (0.94, 4), (0.999, 4)]:
        assert len(fit_pca(ArraySource(rows), share).directions) == m
    assert_allclose(fit_pca(ArraySource(rows), 0.5).dropped, 16)


# ---- laws

tables = st.tuples(st.integers(2, 9), st.integers(1, 12), st.integers(0, 2**32 - 1))


def same_model(a, b, tolerance=1e-9):
    """The same eigenvalues and the same span of every group of close ones, compared by projections."""
    assert len(a.directions) == len(b.directions)
    assert_allclose(a.variances, b.variances, rtol=1e-9, atol=1e-12 * max(a.variances.max(), 1e-300))
    assert_allclose(a.mean, b.mean, rtol=1e-12, atol=1e-12)
    assert_allclose(a.noise, b.noise, rtol=1e-9, atol=1e-12 * a.total)
    scale = np.sqrt(a.variances.max()) or 1.0
    for x, y in [(a, b), (b, a)]:
        covariance = (x.directions.T * x.variances) @ x.directions
        other = (y.directions.T * y.variances) @ y.directions
        assert_allclose(covariance, other, rtol=0, atol=tolerance * scale**2)


@settings(deadline=None, max_examples=60)
@given(tables)
def test_a_weight_is_that_many_copies_and_weight_0_is_absent(table):
    n, d, seed = table
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) * 2.0 ** rng.integers(-3, 4, d)
    weights = rng.integers(0, 4, n)
    weights[0] = 2  # variances need more than one row
    copies = np.repeat(rows, weights, axis=0)
    same_model(fit_pca(ArraySource(rows, weights)), fit_pca(ArraySource(copies)))


@settings(deadline=None, max_examples=40)
@given(tables, st.integers(-200, 200))
def test_scaling_by_a_power_of_two_scales_and_changes_no_bit(table, p):
    n, d, seed = table
    rows = np.random.default_rng(seed).normal(size=(n, d)) + 1
    a, b = fit_pca(ArraySource(rows)), fit_pca(ArraySource(rows * 2.0**p))
    assert_array_equal(b.mean, a.mean * 2.0**p)
    # LAPACK scales matrices of extreme size by factors of its own, so what it returns may differ in rounding.
    assert_allclose(b.eigenvalues, a.eigenvalues * 4.0**p, rtol=1e-12, atol=1e-13 * b.total)


@settings(deadline=None, max_examples=40)
@given(tables, st.integers(-(2**20), 2**20))
def test_shifting_moves_the_mean_alone(table, shift):
    n, d, seed = table
    rows = np.random.default_rng(seed).integers(-1000, 1000, (n, d)) / 8
    a, b = fit_pca(ArraySource(rows)), fit_pca(ArraySource(rows + shift))
    assert_allclose(b.mean, a.mean + shift, rtol=1e-14, atol=1e-10)
    assert_allclose(b.eigenvalues, a.eigenvalues, rtol=1e-10, atol=1e-11 * (a.total + 1e-300))
