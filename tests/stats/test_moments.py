"""Moments against NumPy's own, and what becomes of cells that are missing or infinite."""

from __future__ import annotations

import numpy as np
import pytest

from asterism.data.block import block_of
from asterism.stats.moments import ColumnMoments, Moments


@pytest.fixture(params=[np.float32, np.float64])
def rows(request):
    rng = np.random.default_rng(0)
    return (rng.normal(size=(1000, 4)) * [1, 10, 0.1, 3] + [0, 5, -2, 100]).astype(request.param)


@pytest.fixture(params=["none", "whole", "broken"])
def weights(request):
    rng = np.random.default_rng(1)
    return {"none": np.ones(1000), "whole": rng.integers(0, 4, 1000) * 1.0, "broken": rng.random(1000)}[
        request.param
    ]


def test_moments_are_those_of_numpy(rows, weights):
    m = Moments.of(block_of(rows, weights))
    x = rows.astype(np.float64)
    assert m.weight == pytest.approx(weights.sum(), rel=1e-14)
    np.testing.assert_allclose(m.mean, np.average(x, axis=0, weights=weights), rtol=1e-13)
    np.testing.assert_allclose(
        m.scatter / m.weight, np.cov(x.T, ddof=0, aweights=weights), rtol=1e-9, atol=1e-12
    )
    assert np.array_equal(m.scatter, m.scatter.T)


def test_column_moments_are_those_of_numpy(rows, weights):
    m = ColumnMoments.of(block_of(rows, weights))
    x = rows.astype(np.float64)
    np.testing.assert_allclose(m.mean, np.average(x, axis=0, weights=weights), rtol=1e-13)
    np.testing.assert_allclose(m.variance, np.cov(x.T, ddof=0, aweights=weights).diagonal(), rtol=1e-12)
    counted = x[weights > 0]
    assert np.array_equal(m.low, counted.min(axis=0))
    assert np.array_equal(m.high, counted.max(axis=0))
    assert m.rows == len(counted)
    assert not m.missing


def test_missing_cells_are_left_out_of_their_column_alone(rows):
    holed = rows.copy()
    holed[np.random.default_rng(2).random(rows.shape) < 0.3] = np.nan
    m = ColumnMoments.of(block_of(holed))
    x = holed.astype(np.float64)
    np.testing.assert_allclose(m.mean, np.nanmean(x, axis=0), rtol=1e-13)
    np.testing.assert_allclose(m.variance, np.nanvar(x, axis=0), rtol=1e-12)
    assert np.array_equal(m.observed, (~np.isnan(x)).sum(axis=0))
    assert m.missing
    assert m.infinite is None


@pytest.mark.parametrize("row", [0, 1, 9])
def test_an_infinite_cell_is_named_and_spoils_nothing(row):
    x = np.arange(20.0).reshape(10, 2)
    x[row, 1] = -np.inf
    m = ColumnMoments.of(block_of(x, None, start=100))
    assert m.infinite == (100 + row, 1)
    rest = np.delete(x[:, 1], row)
    assert m.mean[1] == pytest.approx(rest.mean())
    assert m.scatter[1] == pytest.approx(((rest - rest.mean()) ** 2).sum())
    assert m.low[1] == rest.min()


def test_the_first_infinite_cell_of_all_blocks_is_named():
    bad = np.array([[1.0, np.inf]])
    late, early = (ColumnMoments.of(block_of(bad, None, start)) for start in (7, 3))
    assert late.merge(early).infinite == early.merge(late).infinite == (3, 1)


def test_a_column_without_any_value_says_so():
    m = ColumnMoments.of(block_of(np.array([[np.nan, 1.0], [np.nan, 2.0]])))
    assert (m.weight[0], m.mean[0], m.variance[0], m.low[0], m.high[0]) == (0, 0, 0, np.inf, -np.inf)


def test_a_constant_column_does_not_vary_at_all():
    x = np.full((5000, 2), 1e8 + 0.1)
    for m in (ColumnMoments.of(block_of(x)), Moments.of(block_of(x))):
        merged = m.merge(m).merge(m)
        assert np.array_equal(merged.mean, x[0])
        assert not merged.scatter.any()


def test_large_offsets_cost_no_digits_however_rows_are_split():
    deviations = np.random.default_rng(0).integers(-512, 512, size=(4096, 2)) / 1024  # exact beside 2**40
    exact = np.cov(deviations.T, ddof=0) * 4096
    for statistic, expected in ((Moments, exact), (ColumnMoments, exact.diagonal())):
        parts = [statistic.of(block_of(deviations[i : i + 64] + 2.0**40)) for i in range(0, 4096, 64)]
        merged = parts[0]
        for part in parts[1:]:
            merged = merged.merge(part)
        np.testing.assert_allclose(merged.scatter, expected, rtol=1e-12, atol=1e-12 * exact[0, 0])


def test_rows_at_an_odd_address_are_copied_and_give_the_same_bits():
    rows = np.random.default_rng(0).normal(size=(4096, 20))
    odd = np.frombuffer(b"abc" + rows.tobytes(), np.float64, rows.size, 3).reshape(rows.shape)
    assert not odd.flags.aligned
    block, other = block_of(rows), block_of(odd)
    assert other.rows.flags.aligned
    assert np.shares_memory(block.rows, rows)
    assert np.array_equal(Moments.of(block).scatter, Moments.of(other).scatter)
