"""Counts: what independent columns have to say to the components of a mixture. Sums of weights, so they add."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CellTotals:
    """Sums over the known cells of every column, for every component."""

    mass: Array  # (k,) sum of w r over rows
    seen: Array  # (k, d) sum of w r over rows whose cell is known
    total: Array  # (k, d) sum of w r x over the same

    @classmethod
    def zero(cls, k: int, d: int) -> CellTotals:
        """The totals of no rows."""
        return cls(np.zeros(k), np.zeros((k, d)), np.zeros((k, d)))

    @classmethod
    def of(cls, x: Array, known: Array | None, mass: Array) -> CellTotals:
        """Of rows (n, d) with 0 in unknown cells, ``known`` (n, d) of 0 and 1 (None: all), ``mass`` (n, k).

        >>> CellTotals.of(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]]), np.array([[0.5]])).total
        array([[0.5, 0. ]])
        """
        own = mass.sum(axis=0)
        seen = np.repeat(own[:, None], x.shape[1], axis=1) if known is None else mass.T @ known
        return cls(own, seen, mass.T @ x)

    def merge(self, other: CellTotals) -> CellTotals:
        """Sums add."""
        return CellTotals(self.mass + other.mass, self.seen + other.seen, self.total + other.total)


@dataclass(frozen=True, slots=True)
class LevelCounts:
    """How often each level of every column occurs in every component."""

    mass: Array  # (k,) sum of w r over rows
    counts: Array  # (k, D) sum of w r over rows that have the level; D levels of all columns, side by side

    @classmethod
    def zero(cls, k: int, levels: int) -> LevelCounts:
        """The counts of no rows."""
        return cls(np.zeros(k), np.zeros((k, levels)))

    def merge(self, other: LevelCounts) -> LevelCounts:
        """Sums add."""
        return LevelCounts(self.mass + other.mass, self.counts + other.counts)
