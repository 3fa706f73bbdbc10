"""Vector quantisation against SciPy, brute force, Max's table and Shannon's bound."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.vq import vq

import asterism
from asterism.data.source import ArraySource
from asterism.errors import DataError, ParameterError, TooFewRowsError
from asterism.methods.quantize import (
    code_bits,
    column_edges,
    decode,
    encode,
    encode_and_measure,
    entropy_of,
    fit_quantizer,
    rate_distortion,
)

few = settings(max_examples=30, deadline=None)


def table(n=400, d=5, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_codes_and_distances_are_those_of_scipy():
    x = table()
    fit = fit_quantizer(ArraySource(x), 16, seed=0)
    codes, distances = vq(x, fit.model.books[0])
    np.testing.assert_array_equal(fit.codes[:, 0], codes)
    assert fit.usage.distortion == pytest.approx((distances**2).sum() / x.size, rel=1e-12)


def test_codes_of_every_run_of_columns_are_the_nearest():
    x = table(300, 7)
    fit = fit_quantizer(ArraySource(x), 8, n_subspaces=3, seed=0)
    assert fit.model.edges == (0, 3, 5, 7)
    for s, (a, b) in enumerate([(0, 3), (3, 5), (5, 7)]):
        brute = ((x[:, None, a:b] - fit.model.books[s]) ** 2).sum(axis=2)
        np.testing.assert_array_equal(fit.codes[:, s], brute.argmin(axis=1))
    back = decode(fit.model.books, fit.codes)
    assert fit.usage.distortion == pytest.approx(((x - back) ** 2).mean(), rel=1e-12)


@pytest.mark.parametrize(("k", "loss"), [(2, 0.3634), (4, 0.1175), (8, 0.03454)])
def test_normal_rows_lose_what_max_found_in_1960(k, loss):
    # J. Max (1960), Quantizing for minimum distortion, IRE Trans. Inf. Theory 6:7-12, table I.
    x = np.random.default_rng(1).normal(size=(100_000, 1))
    fit = fit_quantizer(ArraySource(x), k, tol=1e-8, n_init=3, seed=0)
    assert fit.usage.distortion == pytest.approx(loss, rel=0.02)


def test_no_point_of_the_curve_is_below_shannons_bound_and_it_falls():
    x = np.random.default_rng(2).normal(size=(20_000, 2))
    points = rate_distortion(ArraySource(x), [64, 1, 4, 16], seed=0)
    assert [p.n_codes for p in points] == [1, 4, 16, 64]
    assert [p.rate for p in points] == [0.0, 1.0, 2.0, 3.0]
    for p in points:
        assert p.distortion >= 0.97 * 2.0 ** (-2.0 * p.entropy)  # sigma^2 2^(-2R), rows are a sample
        assert p.entropy <= p.rate + 1e-12
    assert all(a.distortion > b.distortion for a, b in pairwise(points))
    assert points[0].distortion == pytest.approx(x.var(axis=0).mean(), rel=1e-9)


def test_subspaces_tell_more_rows_apart_than_one_book_of_the_same_size():
    x = table(2000, 8)
    one, four = (fit_quantizer(ArraySource(x), 16, n_subspaces=s, seed=0) for s in (1, 4))
    assert (one.model.rate, four.model.rate) == (0.5, 2.0)
    assert four.usage.distortion < 0.5 * one.usage.distortion


def test_weights_are_copies_and_zero_is_absent():
    x, w = table(60, 3), np.random.default_rng(3).integers(0, 4, 60)
    weighted = fit_quantizer(ArraySource(x, w), 5, n_subspaces=1, seed=0)
    copies = fit_quantizer(ArraySource(np.repeat(x, w, axis=0)), 5, seed=0)
    np.testing.assert_allclose(weighted.model.books[0], copies.model.books[0], rtol=1e-12)
    assert weighted.usage.distortion == pytest.approx(copies.usage.distortion, rel=1e-12)
    assert weighted.usage.entropy == pytest.approx(copies.usage.entropy, rel=1e-12)


def test_missing_cells_take_no_part_and_come_back_as_the_code():
    x = table(200, 4)
    model = fit_quantizer(ArraySource(x), 6, seed=0).model
    holes = x.copy()
    holes[::3, 1] = np.nan
    codes, usage = encode_and_measure(model, ArraySource(holes))
    brute = np.nansum((holes[:, None] - model.books[0]) ** 2, axis=2)
    np.testing.assert_array_equal(codes[:, 0], brute.argmin(axis=1))
    assert usage.distortion == pytest.approx(brute.min(axis=1).sum() / np.isfinite(holes).sum(), rel=1e-12)
    assert np.isfinite(decode(model.books, codes)).all()


def test_same_bits_for_any_number_of_threads():
    x = table(100_000, 6)
    found = []
    for n_threads in (1, 2):
        with asterism.engine(n_threads=n_threads):
            found.append(fit_quantizer(ArraySource(x), 16, n_subspaces=2, seed=4))
    assert found[0].usage.squares == found[1].usage.squares
    np.testing.assert_array_equal(found[0].codes, found[1].codes)


def test_rows_far_from_zero_have_the_codes_of_rows_near_it():
    x = np.round(table(300, 3) * 1024) / 1024  # exact, wherever it is
    near, far = (fit_quantizer(ArraySource(x + shift), 8, seed=0) for shift in (0.0, 2.0**30))
    np.testing.assert_array_equal(near.codes, far.codes)


@few
@given(st.lists(st.floats(0, 100), min_size=1, max_size=20).filter(any))
def test_entropy_is_between_0_and_the_bits_of_equal_shares(mass):
    found = entropy_of(np.array(mass))
    assert -1e-12 <= found <= np.log2(len(mass)) + 1e-9


@few
@given(st.integers(1, 100_000))
def test_code_bits_are_just_enough(k):
    bits = code_bits(k)
    assert 2**bits >= k
    assert bits == 0 or 2 ** (bits - 1) < k


@few
@given(st.integers(1, 50), st.data())
def test_runs_of_columns_differ_by_one_at_most(d, data):
    s = data.draw(st.integers(1, d))
    widths = np.diff(column_edges(d, s))
    assert widths.sum() == d
    assert len(widths) == s
    assert widths.max() - widths.min() <= 1


def test_codes_that_are_in_no_book_are_refused():
    model = fit_quantizer(ArraySource(table()), 4, seed=0).model
    with pytest.raises(DataError, match="row 2: the code is 4"):
        decode(model.books, np.array([0, 4]))
    with pytest.raises(DataError, match="whole numbers"):
        decode(model.books, np.array([0.5]))


def test_settings_that_cannot_work_are_refused():
    with pytest.raises(ParameterError, match="n_subspaces"):
        fit_quantizer(ArraySource(table()), 4, n_subspaces=6)
    with pytest.raises(ParameterError, match="n_subspaces"):
        fit_quantizer(ArraySource(table()), 4, n_subspaces=0)
    with pytest.raises(TooFewRowsError, match="2 distinct"):
        fit_quantizer(ArraySource(np.array([[0.0], [1.0], [1.0]])), 3)


def test_encoding_needs_finite_cells():
    model = fit_quantizer(ArraySource(table()), 4, seed=0).model
    bad = table(3)
    bad[2, 1] = np.inf
    with pytest.raises(DataError, match="row 3, column 'x1'"):
        encode(model, ArraySource(bad))
