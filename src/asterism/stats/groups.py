"""What rows say of the centres of their groups, and which rows are far from theirs."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
        """From an (m, 2) list of squared distances and row numbers; a distance of 0 is no row."""
        if not len(rows):
            return cls.zero(len(far), rows.shape[1])
        number = far[:, 1].astype(np.int64)
        none = far[:, 0] <= 0
        number[none] = start
        values = rows[number - start].astype(np.float64)
        number[none], values[none] = -1, 0.0
        return cls(far[:, 0], number, values)

    def merge(self, other: FarthestRows) -> FarthestRows:
        """The m farthest of both."""
        distance = np.concatenate([self.distance, other.distance])
        row = np.concatenate([self.row, other.row])
        order = np.lexsort((row, -distance))[: len(self.distance)]
        return FarthestRows(distance[order], row[order], np.concatenate([self.values, other.values])[order])


def grid_of(reach: Vector, weight: float, n_rows: int) -> NDArray[np.float64]:
    """(2, columns) B and b of exact sums, for terms of at most ``reach`` a unit of weight, of a table of that weight.

    |sum| <= weight * reach < 2^e, so B = 1.5 * 2^(e + 1) keeps v + B in one binade, and multiples of ulp(B) below
    2^53 ulp(B) are exact. Low parts are at most ulp(B) / 2 each, and there are n_rows of them at the most. What is
    lost is below 2^-60 of the column's range (``src/core/exact_sums.cpp``).
    """
    with np.errstate(over="ignore"):
        exponent = np.frexp(np.where(reach > 0, reach, 1.0) * weight)[1] + 1
    low = exponent - 53 + int(n_rows).bit_length() + 1
    return np.stack([np.ldexp(1.5, exponent), np.ldexp(1.5, low)])


@dataclass(frozen=True, slots=True)
class Moves:
    """What groups gained by rows that changed their label: of all rows, from no label, or of those since a pass.

    The sums are exact: the totals of before plus these are the totals of now, to the bit.
    """

    sums: NDArray[
        np.float64
    ]  # (k, 2, d + c) high and low parts of sum w (x - reference), then of the weights
    c: int  # columns of weights: 1, that of the rows; or d, those of the observed cells
    whole: bool  # whether all rows had no label
    gain: float  # by how much sum w ||x - c||^2 fell; minus that sum itself where rows had no label
    far: FarthestRows | None  # of rows that had no label, while a group is empty; otherwise they have no use

    @classmethod
    def zero(cls, k: int, d: int, c: int = 1, *, whole: bool = True) -> Moves:
        """No row moved."""
        return cls(np.zeros((k, 2, d + c)), c, whole, 0.0, None)

    def merge(self, other: Moves) -> Moves:
        """Exact sums add. A group that is empty in the whole is empty in every part, so all parts have ``far``."""
        both = None if self.far is None or other.far is None else self.far.merge(other.far)
        moves = Moves(self.sums + other.sums, self.c, self.whole, self.gain + other.gain, both)
        return moves.with_far_if_needed()

    def with_far_if_needed(self) -> Moves:
        """Without the farthest rows if no group is empty."""
        return replace(self, far=None) if self.far is not None and not self.empty.size else self

    @property
    def totals(self) -> NDArray[np.float64]:
        """(k, d) sum w (x - reference) over observed cells."""
        return (self.sums[:, 0] + self.sums[:, 1])[:, : -self.c]

    @property
    def mass(self) -> NDArray[np.float64]:
        """(k, 1) weight of the rows, or (k, d) weight of the observed cells."""
        return self.sums[:, 0, -self.c :] + self.sums[:, 1, -self.c :]

    @property
    def empty(self) -> NDArray[np.intp]:
        """Numbers of the groups without rows."""
        return np.flatnonzero(self.mass.max(axis=1) <= 0)
