"""Sums over groups against math.fsum, for few columns and many: rows come, go and come back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from asterism import _core
from asterism.stats.groups import grid_of

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
    core = _core.Centers(reference, centers, reference, 1.0, missing)

    def move(old, new):
        return _core.move_rows(rows, weights, core, old, new, grid, 7, 3)

    nowhere, first, second = (np.full(N, -1, np.int32), *rng.integers(K, size=(2, N)).astype(np.int32))
    squares = np.nansum((rows.astype(float)[:, None] - reference - centers) ** 2, axis=2)
    each = np.arange(N)

    table, gain, far = move(nowhere, first)
    assert_allclose(gain, -(weights @ squares[each, first]), rtol=1e-13)
    assert_array_equal(far[:, 1], 7 + np.argsort(-np.where(weights > 0, squares[each, first], 0))[:3])
    totals = table[:, 0] + table[:, 1]
    seen = ~np.isnan(rows)
    for c in range(K):
        mine = first == c
        for j in range(d):
            cells = weights[mine & seen[:, j]] * (rows[mine & seen[:, j], j].astype(float) - reference[j])
            assert_allclose(totals[c, j], math.fsum(cells), rtol=0, atol=1e-15 * N)
            if missing:
                assert_allclose(totals[c, d + j], weights[mine & seen[:, j]].sum(), rtol=1e-14)
        assert missing or math.isclose(totals[c, d], weights[mine].sum(), rel_tol=1e-14)

    change, gain, none = move(first, second)
    assert_allclose(gain, weights @ (squares[each, first] - squares[each, second]), atol=1e-11)
    assert not none.any()  # only rows from nowhere are far
    straight, _, _ = move(nowhere, second)
    assert_array_equal(table + change, straight)  # to the bit, whichever way they came
    back, _, _ = move(second, first)
    assert_array_equal(table + change + back, table)


def test_no_rows_and_no_columns_have_no_sums():
    for n, d in [(0, 3), (2, 0), (0, 0)]:
        core = _core.Centers(np.zeros(d), np.zeros((2, d)), np.zeros(d), 1.0, False)
        labels = np.zeros(n, np.int32)
        sums, gain, far = _core.move_rows(
            np.zeros((n, d)), np.ones(n), core, labels - 1, labels, np.full((2, d + 1), 1.5 * 2.0**60), 0, 1
        )
        assert sums.shape == (2, 2, d + 1)
        assert gain == 0
        assert not far[:, 0].any()


@pytest.mark.parametrize("wrong", ["label", "old label", "weights", "grid"])
def test_what_does_not_fit_together_is_refused(wrong):
    core = _core.Centers(np.zeros(2), np.zeros((3, 2)), np.zeros(2), 1.0, False)
    weights = np.ones(3 if wrong == "weights" else 4)
    before, after = np.full(4, -1, np.int32), np.zeros(4, np.int32)
    after[1] = 3 if wrong == "label" else 0
    before[1] = -2 if wrong == "old label" else 0
    grid = np.ones((2, 4 if wrong == "grid" else 3))
    with pytest.raises(_core.ShapeError):
        _core.move_rows(np.zeros((4, 2)), weights, core, before, after, grid, 0, 1)
