"""Moments by group against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import assert_refused, assert_same_anywhere, lengths
from hypothesis import given
from hypothesis import strategies as st

from asterism import _core

GROUPS = 3


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d = draw(lengths()), draw(lengths(most=17))
    rows = rng.normal(size=(n, d))
    rows[rng.random((n, d)) < 0.1] = np.nan
    return rows, rng.integers(0, 3, n).astype(float), rng.integers(0, GROUPS, n), rng.normal(size=d)


def moments(rows, weights, codes, reference):
    table, mass = np.zeros((3, GROUPS, rows.shape[1])), np.zeros(GROUPS)
    _core.group_moments(rows, weights, codes, reference, table, mass)
    return table, mass


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(table=tables())
def test_weight_mean_and_scatter_are_those_of_numpy(dtype, table):
    rows, weights, codes, reference = table
    rows = rows.astype(dtype)
    found, mass = moments(rows, weights, codes, reference)
    for g in range(GROUPS):
        y, w = rows[codes == g] - reference, weights[codes == g][:, None]
        weight = np.where(np.isnan(y), 0.0, w).sum(axis=0)
        mean = np.divide(np.nansum(w * y, axis=0), weight, out=np.zeros(len(weight)), where=weight > 0)
        np.testing.assert_allclose(
            found[:, g], [weight, mean, np.nansum(w * (y - mean) ** 2, axis=0)], atol=1e-12
        )
        assert mass[g] == w.sum()


def test_rows_of_weight_0_may_be_in_no_group_and_others_may_not():
    rows, codes = np.ones((2, 1)), np.array([0, -1])
    assert moments(rows, np.array([1.0, 0.0]), codes, np.zeros(1))[1].tolist() == [1.0, 0.0, 0.0]
    for bad in (-1, GROUPS):
        with pytest.raises(_core.ShapeError):
            moments(rows, np.ones(2), np.array([0, bad]), np.zeros(1))


def test_moments_depend_on_nothing_but_the_numbers():
    rng = np.random.default_rng(0)
    rows, weights, codes = rng.normal(size=(33, 9)), np.ones(33), rng.integers(0, GROUPS, 33)
    assert_same_anywhere(moments, rows, weights, codes, np.zeros(9))
    assert_same_anywhere(moments, rows.astype(np.float32), weights, codes, np.zeros(9))
    with pytest.raises(_core.ShapeError):
        moments(rows, weights[1:], codes, np.zeros(9))
    assert_refused(lambda *last: moments(rows, *last), weights, codes, np.zeros(9))
