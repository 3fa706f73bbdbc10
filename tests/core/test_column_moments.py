"""Moments of columns against NumPy, for every way rows fill vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism import _core

WIDTHS = st.sampled_from([1, 2, 3, 7, 8, 9, 31, 33, 63, 64, 65, 100, 129])
HEIGHTS = st.sampled_from([0, 1, 2, 15, 64, 127, 129, 1000, 2100])


def expected(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(7, d) by masked arrays."""
    x = x.astype(np.float64)
    seen = np.isfinite(x) & (w > 0)[:, None]
    mass, cells = np.where(seen, w[:, None], 0.0), np.where(seen, x, 0.0)
    weight = mass.sum(axis=0)
    middle = np.where(weight > 0, np.where(seen, x, np.inf).min(axis=0, initial=np.inf), 0.0)
    mean = middle + (mass * (cells - middle)).sum(axis=0) / np.where(weight > 0, weight, 1.0)
    scatter = (mass * (cells - mean) ** 2).sum(axis=0)
    low = np.where(seen, x, np.inf).min(axis=0, initial=np.inf)
    high = np.where(seen, x, -np.inf).max(axis=0, initial=-np.inf)
    return np.array([weight, mean, np.zeros_like(mean), scatter, low, high, seen.sum(axis=0)])


@given(n=HEIGHTS, d=WIDTHS, holes=st.booleans(), weighted=st.booleans(), seed=st.integers(0, 1000))
@settings(max_examples=120, deadline=None)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments_are_those_of_numpy(dtype, n, d, holes, weighted, seed):
    rng = np.random.default_rng(seed)
    x = (rng.normal(size=(n, d)) * rng.choice([1e-2, 1.0, 50.0], d) + rng.choice([0.0, 300.0], d)).astype(
        dtype
    )
    if holes:
        x[rng.random((n, d)) < 0.2] = np.nan
    w = rng.integers(0, 3, n) * 0.7 if weighted else np.ones(n)
    x.flags.writeable = w.flags.writeable = False
    table = np.empty((7, d))
    rows, *bad = _core.column_moments(x, w, table)
    wanted = expected(x, w)
    assert (rows, *bad) == ((w > 0).sum(), -1, -1)
    np.testing.assert_array_equal(table[4:], wanted[4:])
    np.testing.assert_allclose(table[0], wanted[0], rtol=1e-12)
    size = np.abs(np.where(np.isfinite(x), x, 0.0)).max(axis=0, initial=1.0)
    assert (np.abs(table[1] - wanted[1]) <= 1e-13 * size).all()
    np.testing.assert_allclose(table[3], wanted[3], rtol=1e-11, atol=1e-20)


def test_first_rows_that_are_not_typical_cost_no_digits():
    x = np.concatenate([np.full(4000, 1e9), np.random.default_rng(0).integers(-512, 512, 60_000) / 1024])[
        :, None
    ]
    table = np.empty((7, 1))
    _core.column_moments(x, np.concatenate([np.full(4000, 1e-18), np.ones(60_000)]), table)
    wanted = expected(x, np.concatenate([np.full(4000, 1e-18), np.ones(60_000)]))
    np.testing.assert_allclose(table[3], wanted[3], rtol=1e-12)


@pytest.mark.parametrize("d", [1, 5, 70])
def test_the_first_infinite_cell_is_found_and_rows_of_weight_0_may_hold_anything(d):
    x, w = np.ones((300, d)), np.ones(300)
    x[250, 0], x[200, d - 1], x[100, 0], w[100] = np.inf, -np.inf, np.inf, 0.0
    table = np.empty((7, d))
    assert _core.column_moments(x, w, table) == (299, 200, d - 1)
    assert not table[3].any()


def test_bits_do_not_depend_on_where_the_array_lies():
    rng = np.random.default_rng(0)
    room = rng.normal(size=4001 * 5)
    tables = []
    for shift in (0, 1, 3):
        room[shift : shift + 4000] = np.random.default_rng(1).normal(size=4000)
        x = room[shift : shift + 4000].reshape(800, 5)
        tables.append(np.empty((7, 5)))
        _core.column_moments(x, np.ones(800), tables[-1])
    assert tables[0].tobytes() == tables[1].tobytes() == tables[2].tobytes()


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(_core.ShapeError, match="one length"):
        _core.column_moments(np.ones((3, 2)), np.ones(2), np.empty((7, 2)))
    with pytest.raises(_core.ShapeError, match="table"):
        _core.column_moments(np.ones((3, 2)), np.ones(3), np.empty((7, 3)))
    with pytest.raises(TypeError):
        _core.column_moments(np.ones((3, 2), int), np.ones(3), np.empty((7, 2)))
