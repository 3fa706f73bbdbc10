"""Colours of pictures against NumPy: cells, candidates, nearest codes, and halving."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import lengths
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism import _core
from asterism.methods.palette import ColourIndex, cell_bits

channels = st.integers(1, 4)


def pixels(seed: int, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 256, (n, d)).astype(np.uint8)
    weights = rng.integers(0, 3, n) * 0.5
    rows.flags.writeable = weights.flags.writeable = False
    return rows, weights


def cells_of(rows: np.ndarray) -> np.ndarray:
    d = rows.shape[1]
    bits = cell_bits(d)
    return (rows.astype(np.int64) >> (8 - bits)) @ (1 << bits * np.arange(d - 1, -1, -1))


@given(seed=st.integers(0, 10**6), n=lengths(), d=channels)
def test_cells_hold_the_sums_of_their_colours(seed, n, d):
    rows, weights = pixels(seed, n, d)
    sums = np.zeros((1 << (cell_bits(d) * d), 1 + d))
    _core.add_colours(rows, weights, sums)
    wanted = np.zeros_like(sums)
    np.add.at(wanted, cells_of(rows), weights[:, None] * np.hstack([np.ones((n, 1)), rows]))
    np.testing.assert_array_equal(sums, wanted)


@given(seed=st.integers(0, 10**6), n=lengths(), d=channels, k=st.sampled_from([1, 2, 7, 256, 257, 300]))
@settings(max_examples=60)
def test_the_nearest_code_is_found_in_cells_seen_and_not_seen(seed, n, d, k):
    rows, weights = pixels(seed, n, d)
    codes = np.random.default_rng(seed).uniform(0, 255, (k, d)).round(1)
    index = ColourIndex.of(codes, np.unique(cells_of(rows[: n // 2])))
    labels, mass = np.empty(n, np.min_scalar_type(k - 1)), np.zeros(k)
    squares = _core.encode_colours(
        rows, weights, index.codes, index.slots, index.starts, index.lists, labels, mass
    )
    away = ((rows[:, None, :] - codes[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(labels, away.argmin(axis=1))
    np.testing.assert_allclose(mass, np.bincount(labels, weights, k))
    assert squares == pytest.approx(float(weights @ away.min(axis=1)), rel=1e-12)


@given(seed=st.integers(0, 10**6), d=channels)
@settings(max_examples=20)
def test_candidates_are_few_and_every_colour_of_a_cell_has_its_nearest_among_them(seed, d):
    rng = np.random.default_rng(seed)
    codes, bits = rng.uniform(0, 255, (40, d)), cell_bits(d)
    cells = np.unique(rng.integers(0, 1 << bits * d, 10))
    starts, lists = np.empty(len(cells) + 1, np.int32), np.empty(len(cells) * 40, np.int32)
    used = _core.list_candidates(codes, cells, bits, starts, lists)
    assert used == starts[-1] < 40 * len(cells)
    side = 1 << (8 - bits)
    for number, cell in enumerate(cells):
        corner = (cell >> bits * np.arange(d - 1, -1, -1) & ((1 << bits) - 1)) * side
        colours = corner + rng.integers(0, side, (50, d))
        nearest = ((colours[:, None] - codes[None]) ** 2).sum(axis=2).argmin(axis=1)
        assert set(nearest) <= set(lists[starts[number] : starts[number + 1]].tolist())


def test_parts_are_halved_until_points_are_single():
    points, weights = (
        np.array([[0.0, 0.0], [1.0, 0.0], [10.0, 0.0], [11.0, 0.0]]),
        np.array([1.0, 3.0, 1.0, 1.0]),
    )
    centers = np.empty((2, 2))
    assert _core.split_points(points, weights, centers) == 2
    np.testing.assert_array_equal(centers, [[0.75, 0.0], [10.5, 0.0]])
    assert _core.split_points(points, weights, np.empty((9, 2))) == 4
    assert _core.split_points(points[:0], weights[:0], np.empty((3, 2))) == 0


def test_lists_that_lead_outside_are_refused():
    rows, weights = pixels(0, 5, 1)
    codes, slots = np.zeros((3, 4)), np.zeros(256, np.int32)
    starts, lists = np.array([0, 2], np.int32), np.array([0, 2], np.int32)
    labels, mass = np.empty(5, np.uint8), np.zeros(3)

    def encode(slots=slots, starts=starts, lists=lists, codes=codes):
        _core.encode_colours(rows, weights, codes, slots, starts, lists, labels, mass)

    encode()
    for bad in (
        {"slots": slots + 1},
        {"slots": slots[:100]},
        {"starts": starts + 1},
        {"starts": starts - 1},
        {"lists": lists + 1},
        {"codes": codes[:, :3]},
    ):
        with pytest.raises((_core.ShapeError, TypeError)):
            encode(**bad)
