"""How much weight two labelings share: the cells of their contingency table that are not empty.

    n_ij = sum of w over rows with label i in the one and j in the other
    a_i  = sum_j n_ij        b_j = sum_i n_ij        N = sum_ij n_ij

Only cells with weight are kept, in the order of the table: there are never more of them than rows, however many
labels there are. Everything said of two labelings (information, pairs, matchings) is a function of this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector

DENSE = 1 << 22  # cells of a table that may be counted directly
PER_ROW = 8  # or so many for every row


def totals(groups: NDArray[Any], weights: Vector | None, k: int) -> Vector:
    """(k,) weight of every group."""
    return np.bincount(groups, weights, k).astype(np.float64)


@dataclass(frozen=True)
class Contingency:
    """Weights of the cells of a (k, l) table.

    >>> c = Contingency.of(np.array([0, 0, 1]), np.array([2, 2, 0]), None, (2, 3))
    >>> c.dense().tolist()
    [[0.0, 0.0, 2.0], [1.0, 0.0, 0.0]]
    """

    shape: tuple[int, int]  # k, l
    cell: NDArray[np.int64]  # (m,) i * l + j, ascending
    weight: Vector  # (m,) above 0

    @classmethod
    def zero(cls, shape: tuple[int, int]) -> Contingency:
        """The table of no rows."""
        return cls(shape, np.zeros(0, np.int64), np.zeros(0))

    @classmethod
    def of(
        cls,
        rows: NDArray[Any],  # (n,) whole numbers 0 .. k - 1
        columns: NDArray[Any],  # (n,) 0 .. l - 1
        weights: Vector | None,  # (n,) None: all one
        shape: tuple[int, int],
    ) -> Contingency:
        """Count; the labels of rows of weight 0 may be anything."""
        if weights is not None and not weights.all():
            counted = weights > 0
            rows, columns, weights = rows[counted], columns[counted], weights[counted]
        cell = rows.astype(np.int64) * shape[1] + columns
        if shape[0] * shape[1] <= max(PER_ROW * len(cell), DENSE):
            table = np.bincount(cell, weights, shape[0] * shape[1])
            found = np.flatnonzero(table)
            return cls(shape, found, table[found].astype(np.float64))
        found, place = np.unique(cell, return_inverse=True)
        return cls(shape, found, totals(place, weights, len(found)))

    def merge(self, other: Contingency) -> Contingency:
        """Cells add."""
        if not len(self.cell) or not len(other.cell):
            return self if len(self.cell) else other
        found, place = np.unique(np.concatenate([self.cell, other.cell]), return_inverse=True)
        weight = totals(place, np.concatenate([self.weight, other.weight]), len(found))
        return Contingency(self.shape, found, weight)

    @cached_property
    def row(self) -> NDArray[np.int64]:
        """(m,) i of every cell."""
        return self.cell // max(self.shape[1], 1)

    @cached_property
    def column(self) -> NDArray[np.int64]:
        """(m,) j of every cell."""
        return self.cell % max(self.shape[1], 1)

    @cached_property
    def rows(self) -> Vector:
        """(k,) a."""
        return totals(self.row, self.weight, self.shape[0])

    @cached_property
    def columns(self) -> Vector:
        """(l,) b."""
        return totals(self.column, self.weight, self.shape[1])

    @cached_property
    def total(self) -> float:
        """N."""
        return float(self.weight.sum())

    @cached_property
    def whole(self) -> bool:
        """Whether every cell is a whole number: the counts of rows, or of copies of them."""
        return bool((self.weight == np.rint(self.weight)).all()) and self.total < 2.0**53

    def dense(self) -> NDArray[np.float64]:
        """(k, l) the table."""
        table = np.zeros(self.shape[0] * self.shape[1])
        table[self.cell] = self.weight
        return table.reshape(self.shape)
