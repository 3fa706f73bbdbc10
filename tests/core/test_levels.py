"""Scores and counts of levels against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import assert_refused, assert_same_anywhere, frozen, lengths
from hypothesis import given
from hypothesis import strategies as st

from asterism import _core


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d, k = draw(lengths()), draw(st.integers(0, 5)), draw(st.sampled_from([0, 1, 3, 8, 9]))
    levels = rng.integers(1, 5, d)
    rows = np.floor(rng.random((n, d)) * levels)
    rows[rng.random((n, d)) < 0.1] = np.nan
    offsets = np.concatenate([[0], np.cumsum(levels)]).astype(np.int64)
    return (
        rows,
        rng.integers(0, 3, n).astype(float),
        offsets,
        rng.random((n, k)),
        rng.random((levels.sum(), k)),
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(table=tables())
def test_scores_and_counts_are_those_of_numpy(dtype, table):
    rows, weights, offsets, mass, scores = table
    wanted_scores, wanted_counts = np.ones_like(mass), np.ones_like(scores)
    for j in range(rows.shape[1]):
        known = ~np.isnan(rows[:, j])
        level = offsets[j] + rows[known, j].astype(int)
        wanted_scores[known] += scores[level]
        there = known & (weights > 0)
        np.add.at(wanted_counts, offsets[j] + rows[there, j].astype(int), mass[there])
    rows, out, counts = frozen(rows.astype(dtype)), np.ones_like(mass), np.ones_like(scores)
    assert _core.add_level_scores(rows, weights, offsets, scores, out) == -1
    assert _core.add_level_counts(rows, weights, offsets, mass, counts) == -1
    np.testing.assert_allclose(out, wanted_scores, rtol=1e-13)
    np.testing.assert_allclose(counts, wanted_counts, rtol=1e-13)


@pytest.mark.parametrize("bad", [-1.0, 3.0, 0.5, np.inf, -np.inf, 1e300])
def test_the_first_cell_that_is_no_code_is_named_unless_its_row_is_absent(bad):
    rows, weights, offsets = np.zeros((4, 2)), np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 3, 6])
    rows[1, 0] = rows[2, 1] = rows[3, 0] = bad
    assert _core.add_level_scores(rows, weights, offsets, np.ones((6, 2)), np.zeros((4, 2))) == 5
    assert _core.add_level_counts(rows, weights, offsets, np.ones((4, 2)), np.zeros((6, 2))) == 5


def test_levels_outside_the_tables_are_refused():
    rows, weights = np.zeros((4, 2)), np.ones(4)
    for offsets in ([0, 3, 7], [-1, 3, 6], [0, 7, 6], [0, 3]):
        with pytest.raises(_core.ShapeError):
            _core.add_level_scores(rows, weights, np.array(offsets), np.ones((6, 2)), np.zeros((4, 2)))
        with pytest.raises(_core.ShapeError):
            _core.add_level_counts(rows, weights, np.array(offsets), np.ones((4, 2)), np.zeros((6, 2)))


def test_bits_are_the_same_anywhere():
    rng = np.random.default_rng(0)
    arrays = np.floor(rng.random((9, 2)) * 3), np.ones(9), np.array([0, 3, 6]), rng.random((6, 5))

    def scores(*given):
        out = np.zeros((9, 5))
        return _core.add_level_scores(*given, out), out

    assert_same_anywhere(scores, *arrays)
    # float32 rows are another kernel's, not foreign
    assert_refused(lambda *given: scores(arrays[0], *given), *arrays[1:])
