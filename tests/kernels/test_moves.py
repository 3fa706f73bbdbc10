"""Sums over groups against math.fsum, for few columns and many: rows come, go and come back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from asterism.kernels.moves import grid_of, move_rows, pitch_of

N, K = 300, 5


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3, 8, 15, 16, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_come_and_go_exactly(d, missing, dtype):
    rng = np.random.default_rng(d)
    rows, reference = rng.normal(size=(N, d)).astype(dtype), rng.normal(size=d)
    if missing:
        rows[rng.random((N, d)) < 0.2] = np.nan
    rows.flags.writeable = False
    weights = rng.integers(0, 4, N) / 3.0
    centers = rng.normal(size=(K, d))
    grid = grid_of(np.full(d + (d if missing else 1), 10.0), float(weights.sum()), N)
    table, far = np.zeros((K, 2, pitch_of(grid.shape[1]))), np.zeros((3, 2))

    def move(old, new, sums, farthest):
        moved = np.flatnonzero(old != new)
        pairs = np.stack([moved, old[moved]], axis=1).astype(np.int32)
        return move_rows(rows, weights, reference, centers, pairs, new, grid, missing, 7, sums, farthest)

    nowhere, first, second = (np.full(N, -1, np.int32), *rng.integers(K, size=(2, N)).astype(np.int32))
    squares = np.nansum((rows.astype(float)[:, None] - reference - centers) ** 2, axis=2)
    each = np.arange(N)

    gain = move(nowhere, first, table, far)
    assert_allclose(gain, -(weights @ squares[each, first]), rtol=1e-13)
    assert_array_equal(far[:, 1], 7 + np.argsort(-np.where(weights > 0, squares[each, first], 0))[:3])
    totals = table[:, 0] + table[:, 1]
    assert not table[:, :, grid.shape[1] :].any()
    seen = ~np.isnan(rows)
    for c in range(K):
        mine = first == c
        for j in range(d):
            cells = weights[mine & seen[:, j]] * (rows[mine & seen[:, j], j].astype(float) - reference[j])
            assert_allclose(totals[c, j], math.fsum(cells), rtol=0, atol=1e-15 * N)
            if missing:
                assert_allclose(totals[c, d + j], weights[mine & seen[:, j]].sum(), rtol=1e-14)
        assert missing or math.isclose(totals[c, d], weights[mine].sum(), rel_tol=1e-14)

    there = table.copy()
    gain = move(first, second, there, far.copy())
    assert_allclose(gain, weights @ (squares[each, first] - squares[each, second]), atol=1e-11)
    straight = np.zeros_like(table)
    move(nowhere, second, straight, far.copy())
    assert_array_equal(there, straight)  # to the bit, whichever way they came
    move(second, first, there, far.copy())
    assert_array_equal(there, table)
