"""Merges and splits of few points against SciPy and plain loops; what tiles of points refuse."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import assert_refused, frozen, lengths, placed
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

from asterism import _core

ROWS = st.tuples(st.sampled_from([1, 2, 3, 31, 32, 33, 65, 129]), lengths(1, 9), st.integers(0, 10**6))


def points_of(size):
    n, d, seed = size
    return np.random.default_rng(seed).normal(size=(n, d))


def no_merges(n):
    return np.empty((n - 1, 2), np.int64), np.empty(n - 1)


def in_order(pairs, heights, n):
    """Heights of the tree, lowest first."""
    order = np.argsort(heights, kind="stable")
    tree = np.empty((n - 1, 4))
    _core.label_merges(pairs[order], heights[order], np.ones(n), tree)
    return tree


def assert_same_tree(tree, wanted):
    np.testing.assert_allclose(tree[:, 2:], wanted[:, 2:], rtol=1e-9, atol=1e-12)


def linked(points, method):
    return hierarchy.linkage(points, method) if len(points) > 1 else np.empty((0, 4))


@given(ROWS, st.integers(0, 129))
def test_the_nearest_point_is_that_of_all_and_the_first_of_equals(size, seed):
    points = np.round(points_of(size))  # many equals
    rows = np.round(np.random.default_rng(seed).normal(size=(17, points.shape[1])), 1)
    out = np.empty(17, np.int64)
    _core.PointTiles(frozen(points)).nearest_points(frozen(rows), out)
    exact = np.round(10 * rows[:, None]) - 10 * points  # whole numbers: equals are equal
    squares = (exact**2).sum(axis=2)
    np.testing.assert_array_equal(squares[np.arange(17), out], squares.min(axis=1))
    whole = np.empty(len(points), np.int64)
    _core.PointTiles(points).nearest_points(points, whole)
    first = np.unique(points, axis=0, return_index=True, return_inverse=True)
    assert np.array_equal(whole, first[1][first[2].ravel()])


@pytest.mark.parametrize("cell", [0.0, 1e30, 1e300, np.inf, np.nan])
def test_however_far_a_row_is_it_has_a_nearest_point_if_there_is_any(cell):
    for n in (0, 1, 40):
        out = np.empty(2, np.int64)
        _core.PointTiles(np.ones((n, 3))).nearest_points(np.full((2, 3), cell), out)
        assert (out < n).all()
        assert (out >= (0 if n and cell < np.inf else -1)).all()


@given(ROWS, st.booleans())
def test_the_spanning_tree_is_single_linkage_whether_neighbours_were_found_before_or_not(size, before):
    points = points_of(size)
    tiles = _core.PointTiles(points)
    if before:
        tiles.find_nearest(0, tiles.places)
    pairs, squares = no_merges(len(points))
    _core.spanning_tree(tiles, pairs, squares)
    assert_same_tree(in_order(pairs, np.sqrt(squares), len(points)), linked(points, "single"))


@given(ROWS)
def test_chains_among_centroids_make_the_tree_of_ward(size):
    points = points_of(size)
    n, done = len(points), 0
    pairs, squares = no_merges(n)
    tiles, sizes = _core.PointTiles(points), np.ones(n)
    while done < n - 1:
        done += _core.ward_chain(tiles, sizes, (n - done) // 2, pairs[done:], squares[done:])
        tiles.repack()
    assert_same_tree(in_order(pairs, np.sqrt(squares), n), linked(points, "ward"))


@pytest.mark.parametrize("linkage", ["centroid", "median"])
@given(size=ROWS)
def test_the_nearest_centroids_merge_though_heights_may_fall(linkage, size):
    points = points_of(size)
    pairs, squares = no_merges(len(points))
    made = _core.merge_nearest(
        _core.PointTiles(points), np.ones(len(points)), 1, linkage == "median", pairs, squares
    )
    assert made == len(points) - 1
    np.testing.assert_allclose(np.sqrt(squares), linked(points, linkage)[:, 2], rtol=1e-9)


@pytest.mark.parametrize("linkage", ["complete", "average", "weighted"])
@given(size=ROWS, share=st.integers(1, 8))
def test_members_and_lists_of_pairs_make_the_same_tree(linkage, size, share):
    points = points_of(size)
    n, code = len(points), getattr(_core.Linkage, linkage)
    pairs, heights = no_merges(n)
    tiles, members = _core.PointTiles(points), _core.Members(points, np.ones(n), code)
    done, allowed = members.merge(tiles, n // share, 10**9, pairs, heights)
    assert done == n - max(n // share, 1)
    assert allowed <= 10**9
    names, sizes = members.left(tiles)
    distances = np.empty(len(names) * (len(names) - 1) // 2)
    members.measure(names, 0, len(names), distances)
    _core.chain_of_pairs(distances, sizes, code, pairs[done:], heights[done:])
    pairs[done:] = names[pairs[done:]]
    heights = np.sqrt(heights) if linkage == "complete" else heights
    assert_same_tree(in_order(pairs, heights, n), linked(points, linkage))
    if n > 1:
        _core.chain_of_pairs(pdist(points), np.ones(n), code, pairs, heights)
        assert_same_tree(in_order(pairs, heights, n), linked(points, linkage))


def split(rows, far):
    """DIANA's split of one cluster, with plain loops."""
    left: list[int] = []
    stay = list(rows)
    while len(stay) > 1:
        gains = [far[i, stay].sum() / (len(stay) - 1) - (far[i, left].mean() if left else 0.0) for i in stay]
        best = int(np.argmax(gains))
        if left and gains[best] <= 0:
            break
        left.append(stay.pop(best))
    return stay, left


@given(ROWS)
def test_splinter_groups_leave_as_in_plain_loops(size):
    points = points_of(size)
    far, n = squareform(pdist(points)) if len(points) > 1 else np.zeros((1, 1)), len(points)
    pairs, diameters = no_merges(n)
    _core.split_all(frozen(far), np.ones(n), pairs, diameters)
    wanted, waiting = [], [list(range(n))]
    while waiting:
        rows = waiting.pop()
        if len(rows) > 1:
            wanted.append(far[np.ix_(rows, rows)].max())
            waiting += split(rows, far)
    np.testing.assert_allclose(np.sort(diameters), np.sort(wanted))


def test_trees_depend_on_nothing_but_the_numbers():
    points = points_of((65, 3, 0))
    far, pairs, heights = squareform(pdist(points)), *no_merges(65)

    def spanning(x):
        _core.spanning_tree(_core.PointTiles(x), pairs, heights)
        return pairs.copy(), heights.copy()

    def splinter(x, weights):
        _core.split_all(x, weights, pairs, heights)
        return pairs.copy(), heights.copy()

    for offset in (1, 7):
        for a, b in zip(spanning(points), spanning(placed(points, offset)), strict=True):
            assert np.array_equal(a, b)
        for a, b in zip(splinter(far, np.ones(65)), splinter(placed(far, offset), np.ones(65)), strict=True):
            assert np.array_equal(a, b)
    assert_refused(_core.PointTiles, points)
    assert_refused(splinter, far, np.ones(65))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
def test_points_that_float32_cannot_hold_are_refused(bad):
    with pytest.raises(_core.ShapeError):
        _core.PointTiles(np.array([[0.0, 1.0], [bad, 1.0]]))


@pytest.mark.parametrize(
    "call",
    [
        lambda tiles, pairs, heights: _core.spanning_tree(tiles, pairs[1:], heights[1:]),
        lambda tiles, pairs, heights: _core.ward_chain(tiles, np.ones(8), 1, pairs, heights),
        lambda tiles, pairs, heights: _core.merge_nearest(tiles, np.ones(10), 1, False, pairs, heights),
        lambda tiles, pairs, heights: tiles.find_nearest(0, tiles.places + 1),
        lambda tiles, pairs, heights: tiles.nearest_points(np.ones((3, 3)), np.empty(3, np.int64)),
        lambda tiles, pairs, heights: _core.label_merges(pairs + 9, heights, np.ones(9), np.empty((8, 4))),
        lambda tiles, pairs, heights: _core.split_all(np.ones((9, 8)), np.ones(9), pairs, heights),
        lambda tiles, pairs, heights: _core.chain_of_pairs(
            np.ones(35), np.ones(9), _core.Linkage.average, pairs, heights
        ),
        lambda tiles, pairs, heights: _core.Members(
            np.ones((9, 2)), np.ones(9), _core.Linkage.average
        ).measure(np.array([0, 9]), 0, 2, np.empty(1)),
    ],
)
def test_shapes_that_do_not_go_together_are_refused(call):
    with pytest.raises(_core.ShapeError):
        call(_core.PointTiles(np.arange(18.0).reshape(9, 2)), np.zeros((8, 2), np.int64), np.zeros(8))


def test_rows_that_are_all_alike_merge_at_zero():
    for n, make in ((40, np.zeros), (300, np.ones)):
        pairs, squares = no_merges(n)
        _core.ward_chain(_core.PointTiles(make((n, 2))), np.ones(n), 1, pairs, squares)
        assert not squares.any()
        assert len(np.unique(pairs)) == n
