"""What rows say of the centres of their groups, and which rows are far from theirs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Matrix, Vector


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
        distance = np.concatenate([self.distance, other.distance])
        row = np.concatenate([self.row, other.row])
        order = np.lexsort((row, -distance))[: len(self.distance)]
        return FarthestRows(distance[order], row[order], np.concatenate([self.values, other.values])[order])


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Exact sums that the threads of a process add to, each in a table of its own.

    Nothing is lost in them, so it matters to no bit which thread added what, and blocks need no sums of their own.
    """

    shape: tuple[int, int, int]  # (k, 2, columns and padding)
    width: int  # columns
    tables: dict[int, NDArray[np.float64]] = field(default_factory=dict)  # by thread

    def mine(self) -> NDArray[np.float64]:
        """(k, 2, columns and padding) what this thread adds to."""
        table = self.tables.get(threading.get_ident())
        if table is None:
            table = self.tables[threading.get_ident()] = np.zeros(self.shape)
        return table

    def total(self) -> NDArray[np.float64]:
        """(k, 2, columns) the sums, when all threads are done."""
        first, *others = self.tables.values() or [np.zeros(self.shape)]
        for table in others:
            first = first + table
        return first[:, :, : self.width]


@dataclass(frozen=True, slots=True)
class Moves:
    """Rows that came into groups and left them: all rows from nowhere, or those that changed since a pass.

    The sums are exact (``kernels.moves``): the totals of before plus these are the totals of now, to the bit.
    """

    sums: (
        NDArray[np.float64] | Tally
    )  # (k, 2, d + c) high and low parts of sum w (x - reference), then of the weights; or where all parts add to
    c: int  # columns of weights: 1, that of the rows; or d, those of the observed cells
    whole: bool  # whether all rows come from nowhere
    gain: float  # by how much sum w ||x - c||^2 fell; minus that sum itself where all rows come from nowhere
    far: (
        FarthestRows | None
    )  # of rows from nowhere, while a group has none of them; otherwise nobody needs it

    @classmethod
    def zero(cls, k: int, d: int, c: int = 1, *, whole: bool = True) -> Moves:
        """Nobody moved."""
        return cls(np.zeros((k, 2, d + c)), c, whole, 0.0, None)

    def merge(self, other: Moves) -> Moves:
        """Exact sums add. A group that is empty in the whole is empty in every part, so all parts have ``far``."""
        both = None if self.far is None or other.far is None else self.far.merge(other.far)
        gain = self.gain + other.gain
        if isinstance(self.sums, Tally) and self.sums is other.sums:  # not complete yet
            return Moves(self.sums, self.c, self.whole, gain, both)
        moves = Moves(self.table + other.table, self.c, self.whole, gain, both)
        return moves if moves.empty.size else replace(moves, far=None)

    @property
    def table(self) -> NDArray[np.float64]:
        """(k, 2, d + c) the sums themselves."""
        return self.sums.total() if isinstance(self.sums, Tally) else self.sums

    @property
    def totals(self) -> NDArray[np.float64]:
        """(k, d) sum w (x - reference) over observed cells."""
        table = self.table
        return (table[:, 0] + table[:, 1])[:, : -self.c]

    @property
    def mass(self) -> NDArray[np.float64]:
        """(k, 1) weight of the rows, or (k, d) weight of the observed cells."""
        table = self.table
        return table[:, 0, -self.c :] + table[:, 1, -self.c :]

    @property
    def empty(self) -> NDArray[np.intp]:
        """Numbers of the groups without rows."""
        return np.flatnonzero(self.mass.max(axis=1) <= 0)
