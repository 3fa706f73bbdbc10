"""Information of tables and of chance against their definitions, and greedy matching against a plain loop."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from arrays import assert_refused, assert_same_anywhere
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy

from asterism import _core


def some_table(seed: int, k: int, m: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.integers(0, 9, (k, m)) * (rng.random((k, m)) < 0.7)).astype(np.float64)


def information(table: np.ndarray) -> float:
    row, column = map(np.ascontiguousarray, np.nonzero(table))
    sums = table.sum(axis=1), table.sum(axis=0)
    return _core.table_information(row, column, table[row, column], *sums, float(table.sum()))


@given(seed=st.integers(0, 10**6), k=st.integers(1, 9), m=st.integers(1, 9))
def test_information_is_its_definition(seed, k, m):
    table = some_table(seed, k, m)
    total = max(table.sum(), 1.0)
    chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    wanted = (xlogy(table, table) - xlogy(table, chance)).sum()
    assert information(table) == pytest.approx(wanted, rel=1e-12, abs=1e-11 * total)


def test_information_of_nearly_independent_labels_keeps_its_digits():
    table = np.full((2, 2), 1e6) + np.array([[1.0, -1.0], [-1.0, 1.0]])
    t = 1e-6  # N MI = sum mu ((1 + t) log(1 + t) - t) over t = +-1e-6, twice each
    assert information(table) == pytest.approx(4e6 * (t**2 / 2 + t**4 / 12), rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [([3, 2], [2, 2, 1]), ([4, 1], [1, 4]), ([2, 2, 2], [3, 3])])
def test_chance_is_the_mean_over_all_labelings(a, b):
    one, other = np.repeat(np.arange(len(a)), a), np.repeat(np.arange(len(b)), b)

    def of(labels: tuple[int, ...]) -> float:
        table = np.zeros((len(a), len(b)))
        np.add.at(table, (one, list(labels)), 1.0)
        return information(table)

    wanted = np.mean([of(labels) for labels in permutations(other.tolist())])
    sizes = (
        *np.unique(np.array(a, float), return_counts=True),
        *np.unique(np.array(b, float), return_counts=True),
    )
    found = _core.chance_information(*(np.asarray(part, float) for part in sizes), float(sum(a)))
    assert found == pytest.approx(wanted, rel=1e-12)


@given(seed=st.integers(0, 10**6), cells=st.integers(0, 30))
def test_the_first_free_cell_is_matched(seed, cells):
    rng = np.random.default_rng(seed)
    row, column = rng.integers(0, 5, cells), rng.integers(0, 7, cells)
    of_row, of_column = np.full(5, -1), np.full(7, -1)
    _core.greedy_match(row, column, of_row, of_column)
    rows: dict[int, int] = {}
    for i, j in zip(row.tolist(), column.tolist(), strict=True):
        if i not in rows and j not in rows.values():
            rows[i] = j
    assert {i: j for i, j in enumerate(of_row.tolist()) if j >= 0} == rows
    assert {i: j for j, i in enumerate(of_column.tolist()) if i >= 0} == rows


def test_cells_outside_the_table_and_foreign_arrays_are_refused():
    for row, column in ([5], [0]), ([0], [-1]):
        with pytest.raises(_core.ShapeError, match="outside"):
            _core.greedy_match(np.array(row), np.array(column), np.full(5, -1), np.full(7, -1))
    cells, sums = (np.array([0, 1]), np.array([1, 0]), np.array([2.0, 3.0])), (np.array([2.0, 3.0]),) * 2
    assert_refused(lambda *arrays: _core.table_information(*arrays, 5.0), *cells, *sums)
    assert_same_anywhere(lambda *arrays: _core.table_information(*arrays, 5.0), *cells, *sums)
