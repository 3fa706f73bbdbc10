"""Dissimilarities against NumPy: zero from a row to itself, the same bits both ways, whatever cells are missing."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import assert_refused, assert_same_anywhere, lengths, placed
from hypothesis import given
from hypothesis import strategies as st

from asterism import _core

POWERS = (1.0, 1.5, 2.0, 3.0, np.inf)
DIFFER, RANGE, ASYMMETRIC = 0, 1, 2


@st.composite
def tables(draw, holes: float = 0.0):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    a, b, d = draw(lengths()), draw(st.sampled_from([0, 1, 9, 64, 255, 256, 257])), draw(lengths(most=17))
    both = rng.normal(size=(a + b, d))
    both[rng.random((a + b, d)) < holes] = np.nan
    return both[:a], both[a:]


def norms(rows, points, p=2.0, root=True, unknown=-1.0):
    out = np.empty((len(rows), len(points)))
    _core.norm_tile(rows, points, p, root, unknown, out)
    return out


def mixed(rows, points, kinds, weights, scale=1.0, unknown=-1.0):
    out = np.empty((len(rows), len(points)))
    _core.mixed_tile(rows, points, kinds, weights, scale, unknown, out)
    return out


def numpy_norms(rows, points, p, root, unknown=-1.0):
    gaps = np.abs(rows[:, None] - points)
    seen = (~np.isnan(gaps)).sum(axis=2)
    if np.isinf(p):
        found = np.nanmax(np.nan_to_num(gaps, nan=0.0), axis=2, initial=0.0)
    else:
        found = np.nansum(gaps**p, axis=2) * rows.shape[1] / np.maximum(seen, 1)
        found = found ** (1 / p) if root else found
    complete = ~np.isnan(rows).any(axis=1)[:, None] & ~np.isnan(points).any(axis=1)
    return np.where((seen > 0) | complete, found, unknown)


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("holes", [0.0, 0.3])
@given(data=st.data(), root=st.booleans())
def test_norms_are_those_of_numpy(p, holes, data, root):
    rows, points = data.draw(tables(holes))
    if rows.shape[1]:
        found = norms(rows, points, p, root)
        np.testing.assert_allclose(found, numpy_norms(rows, points, p, root or p == 1), rtol=1e-13)


@pytest.mark.parametrize("p", POWERS)
@given(table=tables(0.2))
def test_a_row_is_at_zero_from_itself_and_as_far_from_another_as_that_from_it(p, table):
    both = np.concatenate(table)
    there = norms(both, both, p)
    assert np.array_equal(there, there.T)
    some = ~np.isnan(both).all(axis=1)
    assert not there[some, some].any()


@given(table=tables(), p=st.sampled_from(POWERS), at=st.integers(0, 128))
def test_a_pair_of_complete_rows_has_the_same_bits_beside_rows_that_are_not(table, p, at):
    rows, points = table
    alone = norms(rows, points, p)
    if len(rows) and len(points) and rows.shape[1]:
        rows, points = rows.copy(), points.copy()
        rows[at % len(rows), 0] = points[at % len(points), -1] = np.nan
        beside = norms(rows, points, p)
        both = ~np.isnan(rows).any(axis=1)[:, None] & ~np.isnan(points).any(axis=1)
        assert np.array_equal(beside[both], alone[both])


@st.composite
def mixtures(draw):
    rows, points = draw(tables(0.15))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    d = rows.shape[1]
    kinds, weights = rng.integers(0, 3, d), rng.integers(0, 3, d).astype(float)
    codes = [np.where(kinds == RANGE, x, np.where(np.isnan(x), x, x > 0)) for x in (rows, points)]
    return *codes, kinds, weights


@given(mixtures())
def test_columns_of_all_kinds_are_compared_as_in_numpy(table):
    rows, points, kinds, weights = table
    x, y = rows[:, None], points[None]
    known = ~np.isnan(x) & ~np.isnan(y)
    known &= (kinds != ASYMMETRIC) | (x > 0) | (y > 0)
    gaps = np.where(kinds == RANGE, np.abs(x - y), (x != y).astype(float))
    total, whole = (np.where(known, gaps, 0.0) * weights).sum(axis=2), (known * weights).sum(axis=2)
    wanted = np.divide(3.0 * total, whole, out=np.full(total.shape, -1.0), where=whole > 0)
    np.testing.assert_allclose(mixed(rows, points, kinds, weights, 3.0), wanted, rtol=1e-13)
    there = mixed(rows, rows, kinds, weights)
    assert np.array_equal(there, there.T)


def euclidean_sums(rows, points, weights, starts, groups, root=True, k=4):
    out = np.ones((len(rows), k))
    _core.add_euclidean_sums(rows, points, root, weights, starts, groups, out)
    return out


@pytest.mark.parametrize("root", [True, False])
@given(table=tables(), seed=st.integers(0, 10**6))
def test_distances_add_up_by_group(root, table, seed):
    rows, points = table[0], table[1][: _core.PACK]
    rng = np.random.default_rng(seed)
    codes, weights = np.sort(rng.integers(0, 4, len(points))), rng.random(len(points))
    groups, starts = np.unique(codes, return_index=True)
    ends = np.append(starts, len(points)).astype(np.int64)
    wanted = np.ones((len(rows), 4))
    for o, g in enumerate(codes):
        wanted[:, g] += weights[o] * norms(rows, points[o : o + 1], 2.0, root)[:, 0]
    found = euclidean_sums(rows, points, weights, ends, groups.astype(np.int64), root)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_tiles_depend_on_nothing_but_the_numbers():
    rng = np.random.default_rng(0)
    rows, points = rng.normal(size=(9, 5)), rng.normal(size=(70, 5))
    kinds, weights = np.array([0, 1, 2, 1, 0]), np.ones(5)
    assert_same_anywhere(norms, rows, points)
    assert_same_anywhere(mixed, rows, points, kinds, weights)
    assert_refused(norms, rows, points)
    assert_refused(mixed, rows, points, kinds, weights)
    runs = (np.ones(70), np.array([0, 40, 70]), np.array([3, 0]))
    assert_same_anywhere(euclidean_sums, rows, points, *runs)
    assert_refused(euclidean_sums, rows, points, *runs)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: _core.norm_tile(x, x[:, 1:].copy(), 2.0, True, 0.0, np.empty((9, 9))),
        lambda x: _core.norm_tile(x, x, 2.0, True, 0.0, np.empty((9, 8))),
        lambda x: _core.mixed_tile(x, x, np.zeros(4, int), np.ones(5), 1.0, 0.0, np.empty((9, 9))),
        lambda x: euclidean_sums(x, x, np.ones(9), np.array([0, 10]), np.array([0])),
        lambda x: euclidean_sums(x, x, np.ones(9), np.array([0, 9]), np.array([4])),
        lambda x: euclidean_sums(x, x, np.ones(8), np.array([0, 9]), np.array([0])),
        lambda x: euclidean_sums(x, np.ones((300, 5)), np.ones(300), np.array([0, 300]), np.array([0])),
    ],
)
def test_shapes_that_do_not_go_together_are_refused(call):
    with pytest.raises(_core.ShapeError):
        call(placed(np.ones((9, 5)), 3))
