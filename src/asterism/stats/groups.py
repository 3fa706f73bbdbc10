"""What the rows of each group say about its centre, and which rows are far from theirs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Matrix, Vector


@dataclass(frozen=True, slots=True)
class GroupTotals:
    """Moments of k groups of rows about given centres, one line of ``table`` a group.

    The line holds ``sum w (x - c)`` (d), ``sum w ||x - c||^2`` (1) and the weight: one number when no cell is
    missing, one a column otherwise. Around the same centres these add.
    """

    table: NDArray[np.float64]  # (k, d + 1 + c), c = 1 or d
    mark: int  # sum over rows of mixed bits of (row, label), modulo 2^64: equal marks, equal labels

    @classmethod
    def zero(cls, k: int, d: int, c: int = 1) -> GroupTotals:
        """The totals of no rows."""
        return cls(np.zeros((k, d + 1 + c)), 0)

    def merge(self, other: GroupTotals) -> GroupTotals:
        """Sums about the same centres add."""
        return GroupTotals(self.table + other.table, (self.mark + other.mark) % 2**64)

    def total(self, d: int) -> NDArray[np.float64]:
        """(k, d) sum of w (x - c) over observed cells."""
        return self.table[:, :d]

    def scatter(self, d: int) -> Vector:
        """(k,) sum of w ||x - c||^2 over observed cells."""
        return self.table[:, d]

    def mass(self, d: int) -> NDArray[np.float64]:
        """(k, 1) weight of the rows, or (k, d) weight of the observed cells."""
        return self.table[:, d + 1 :]

    def all_found(self, d: int) -> bool:
        """Whether every group has rows."""
        return bool((self.mass(d) > 0).any(axis=1).all())


@dataclass(frozen=True, slots=True)
class FarthestRows:
    """Up to m rows that are farthest from their centres, farthest first; the earlier row first among equals."""

    distance: Vector  # (m,) squared; 0 where there is no such row
    row: NDArray[np.int64]  # (m,) global number; -1 where there is no such row
    values: NDArray[np.float64]  # (m, d)

    @classmethod
    def zero(cls, m: int, d: int) -> FarthestRows:
        """No rows."""
        return cls(np.zeros(m), np.full(m, -1), np.zeros((m, d)))

    @classmethod
    def of(cls, rows: Matrix, start: int, far: NDArray[np.float64]) -> FarthestRows:
        """From the (m, 2) list of squared distances and row numbers that a kernel kept; 0 is nobody."""
        if not len(rows):
            return cls.zero(len(far), rows.shape[1])
        number = far[:, 1].astype(np.int64)
        nobody = far[:, 0] <= 0
        number[nobody] = start
        values = rows[number - start].astype(np.float64)
        number[nobody], values[nobody] = -1, 0.0
        return cls(far[:, 0], number, values)

    def merge(self, other: FarthestRows) -> FarthestRows:
        """The m farthest of both."""
        if self.distance[-1] > other.distance[0]:
            return self  # the usual end of it, once the farthest are known
        distance = np.concatenate([self.distance, other.distance])
        row = np.concatenate([self.row, other.row])
        order = np.lexsort((row, -distance))[: len(self.distance)]
        return FarthestRows(distance[order], row[order], np.concatenate([self.values, other.values])[order])


@dataclass(frozen=True, slots=True)
class Assigned:
    """Rows assigned to centres: the totals of the groups and, while a group has none, the farthest rows.

    A group that is empty in the whole is empty in every part, so the farthest rows are there when an empty group
    asks for one; and where there is no such group, which is usual, nobody carries rows about.
    """

    groups: GroupTotals
    far: FarthestRows | None  # None when every group has rows

    @classmethod
    def of(cls, groups: GroupTotals, rows: Matrix, start: int, far: NDArray[np.float64]) -> Assigned:
        """From what a kernel made of the rows of a block."""
        if groups.all_found(rows.shape[1]):
            return cls(groups, None)
        return cls(groups, FarthestRows.of(rows, start, far))

    def merge(self, other: Assigned) -> Assigned:
        """The totals of both, and the farthest rows if they may still be needed."""
        groups = self.groups.merge(other.groups)
        if self.far is None or other.far is None or groups.all_found(self.far.values.shape[1]):
            return Assigned(groups, None)
        return Assigned(groups, self.far.merge(other.far))
