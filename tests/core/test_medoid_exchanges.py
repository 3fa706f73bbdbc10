"""Changes of the cost by exchanges of medoids, against the cost itself."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import assert_refused, assert_same_anywhere, lengths
from hypothesis import given
from hypothesis import strategies as st

from asterism import _core


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, k, c = draw(lengths()), draw(st.integers(1, 9)), draw(lengths(most=33))
    cells = rng.integers(0, 5, (n, k + c)).astype(float)  # equals among them
    return cells[:, :k].copy(), cells[:, k:].copy(), rng.integers(0, 3, n).astype(float)


def nearest_two(tile):
    labels, near, second = np.empty(len(tile), np.int32), np.empty(len(tile)), np.empty(len(tile))
    _core.nearest_two(tile, labels, near, second)
    return labels, near, second


def changes(tile, labels, near, second, weights, k=9):
    candidates = np.shape(tile)[-1] if np.ndim(tile) else 0
    joins, leaves = np.zeros(candidates), np.zeros((k, candidates))
    _core.add_changes(tile, labels, near, second, weights, joins, leaves)
    return joins, leaves


@given(tables())
def test_the_two_nearest_are_the_first_of_a_stable_order(table):
    labels, near, second = nearest_two(table[0])
    order = np.argsort(table[0], axis=1, kind="stable")
    ranked = np.take_along_axis(
        np.c_[table[0], np.full(len(near), np.inf)], np.c_[order, -np.ones_like(labels)], 1
    )
    assert np.array_equal(labels, order[:, 0])
    assert np.array_equal(near, ranked[:, 0])
    assert np.array_equal(second, ranked[:, 1])


def test_dissimilarities_that_are_not_known_are_never_the_nearest():
    nan, inf = np.nan, np.inf
    labels, near, second = nearest_two(np.array([[nan, 2.0], [nan, nan], [inf, nan], [3.0, nan]]))
    assert labels.tolist() == [1, -1, 0, 0]
    assert near.tolist() == [2.0, inf, inf, 3.0]
    assert second.tolist() == [inf] * 4


@given(tables())
def test_every_change_is_the_cost_after_less_the_cost_before(table):
    tile, others, weights = table
    k = tile.shape[1]
    joins, leaves = changes(others, *nearest_two(tile), weights, k)
    before = weights @ tile.min(axis=1)
    for m in range(k):
        rest = np.delete(tile, m, axis=1).min(axis=1, initial=np.inf)
        after = weights @ np.minimum(rest[:, None], others)
        np.testing.assert_allclose(joins + leaves[m], after - before, atol=1e-9)


def test_a_row_of_weight_0_says_nothing_and_an_unknown_one_cannot_be_overlooked():
    tile, others = np.array([[np.nan], [1.0]]), np.array([[np.nan, 1.0], [2.0, 2.0]])
    assert np.isfinite(changes(others, *nearest_two(tile), np.array([0.0, 1.0]))[0]).all()
    assert not np.isfinite(changes(others, *nearest_two(tile), np.array([1.0, 1.0]))[0]).any()


def test_changes_depend_on_nothing_but_the_numbers():
    rng = np.random.default_rng(0)
    tile, others = rng.random((33, 3)), rng.random((33, 17))
    assert_same_anywhere(nearest_two, tile)
    assert_refused(nearest_two, tile)
    assert_same_anywhere(changes, others, *nearest_two(tile), np.ones(33))
    assert_refused(changes, others, *nearest_two(tile), np.ones(33))
    bad = np.full(33, 9, np.int32)
    with pytest.raises(_core.ShapeError):
        changes(others, bad, *nearest_two(tile)[1:], np.ones(33))
    with pytest.raises(_core.ShapeError):
        changes(others, *nearest_two(tile), np.ones(32))
