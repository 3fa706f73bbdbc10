"""Standardizer against NumPy, with scikit-learn's StandardScaler as a peer."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import StandardScaler as Peer

import asterism
from asterism import Standardizer
from asterism.errors import DataError, WeightError


def table(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * 10.0 ** np.arange(d) + np.arange(d)


@pytest.mark.parametrize("with_mean", [True, False])
@pytest.mark.parametrize("with_std", [True, False])
def test_agrees_with_scikit_learn(with_mean, with_std):
    X = table()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    ours = Standardizer(with_mean=with_mean, with_std=with_std).fit(X)
    peer = Peer(with_mean=with_mean, with_std=with_std).fit(X)
    for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
        a, b = getattr(ours, name), getattr(peer, name)
        assert (a is None) == (b is None), name
        if a is not None:
            assert_allclose(a, b, rtol=1e-12, err_msg=name)
    assert_allclose(ours.transform(X), peer.transform(X), rtol=1e-11, atol=1e-12)
    assert_allclose(ours.inverse_transform(ours.transform(X)), X, rtol=1e-12)


def test_standardised_columns_have_mean_0_and_variance_1():
    weights = np.random.default_rng(1).uniform(0, 3, 300)
    Z = Standardizer().fit(table(), sample_weight=weights).transform(table())
    assert_allclose(weights @ Z / weights.sum(), 0, atol=1e-14)
    assert_allclose(weights @ Z**2 / weights.sum(), 1, rtol=1e-13)


def test_missing_cells_are_left_out_and_stay_missing():
    X = np.array([[1.0, np.nan], [np.nan, np.nan], [5.0, np.nan]])
    found = Standardizer().fit(X)
    assert_array_equal(found.transform(X), [[-1, np.nan], [np.nan, np.nan], [1, np.nan]])
    assert_array_equal(found.n_samples_seen_, [2, 0])


@pytest.mark.parametrize("value", [0.0, 0.1, -1e12, 1e-300, 1e300])
def test_constant_columns_are_only_centred(value):
    X = np.full((100_000, 2), value)
    found = Standardizer().fit(X)
    assert_array_equal(found.scale_, 1)
    assert_array_equal(found.var_, 0)
    assert_array_equal(found.transform(X[:5]), 0)


def test_an_offset_of_1e12_changes_nothing():
    X = np.round(np.random.default_rng(0).normal(size=(200_000, 3)) * 64) / 64  # exact at 1e12
    assert_allclose(Standardizer().fit(X + 1e12).var_, X.var(axis=0), rtol=1e-12)


@pytest.mark.parametrize("where", ["fit", "transform"])
def test_infinite_cells_are_named(where):
    X = pd.DataFrame(table(), columns=list("abcde"))
    found = Standardizer().fit(X)
    X.loc[42, "d"] = -np.inf
    with pytest.raises(DataError, match="row 43, column 'd': the value is infinite"):
        getattr(found, where)(X)


def test_bad_weights_are_refused():
    for weights in ([-1] * 300, [np.nan] * 300, [0] * 300, [1] * 299):
        with pytest.raises(WeightError):
            Standardizer().fit(table(), sample_weight=weights)


def test_single_precision_in_and_out_but_not_in_between():
    X = (np.random.default_rng(0).normal(size=(50_000, 2)) + 1000).astype(np.float32)
    found = Standardizer().fit(X)
    assert found.transform(X).dtype == np.float32
    assert_allclose(found.var_, X.astype(np.float64).var(axis=0), rtol=1e-11)


def test_same_bits_for_any_number_of_threads():
    X = table(200_000)
    fits = []
    for n_threads in (1, 2, 8):
        with asterism.engine(n_threads=n_threads):
            found = Standardizer().fit(X)
            fits.append((found.mean_, found.var_, found.transform(X)))
    for other in fits[1:]:
        for a, b in zip(other, fits[0], strict=True):
            assert_array_equal(a, b)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_a_weight_is_that_many_copies_and_weight_0_is_absent(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < 0.2] = np.nan
    weights = rng.integers(0, 4, n)
    weights[0] += 1
    a = Standardizer().fit(X, sample_weight=weights)
    b = Standardizer().fit(np.repeat(X, weights, axis=0))
    assert_allclose(a.mean_, b.mean_, rtol=1e-12, atol=1e-14)
    assert_allclose(a.scale_, b.scale_, rtol=1e-7)  # a variance of rounding is a scale of its root


def test_names_and_frames():
    X = pd.DataFrame(table(), columns=list("abcde"))
    out = Standardizer().set_output(transform="pandas").fit_transform(X)
    assert list(out.columns) == list("abcde")
    with pytest.raises(DataError, match="5 were standardised"):
        Standardizer().fit(X).inverse_transform(np.ones((2, 4)))
