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


@dataclass(frozen=True, slots=True)
class CountHistogram:
    """How often each count occurs in every column of every component.

    Small counts, 0 up to the top of a column, have a place of their own; the others are a list of those that occur.
    """

    mass: Array  # (k,) sum of w r over rows
    counts: Array  # (k, D) sum of w r over rows with each small count; those of all columns side by side
    columns: NDArray[np.int64]  # (t,) of the others: in which column, rising
    values: Array  # (t,) which count, rising in a column
    beyond: Array  # (k, t) sum of w r

    @classmethod
    def zero(cls, k: int, places: int) -> CountHistogram:
        """The histogram of no rows."""
        none = np.zeros(0)
        return cls(np.zeros(k), np.zeros((k, places)), none.astype(np.int64), none, np.zeros((k, 0)))

    def merge(self, other: CountHistogram) -> CountHistogram:
        """Sums add, and lists are joined."""
        mass, counts = self.mass + other.mass, self.counts + other.counts
        if not len(self.values) or not len(other.values):
            more = self if len(self.values) else other
            return CountHistogram(mass, counts, more.columns, more.values, more.beyond)
        columns, values = (
            np.concatenate([getattr(h, name) for h in (self, other)]) for name in ("columns", "values")
        )
        return CountHistogram(
            mass, counts, *gathered(columns, values, np.hstack([self.beyond, other.beyond]))
        )


def gathered(
    columns: NDArray[np.int64], values: Array, masses: Array
) -> tuple[NDArray[np.int64], Array, Array]:
    """Masses (k, n) of pairs of a column and a value (n,), summed over equal pairs, which come in order.

    >>> masses = np.array([[1.0, 2.0, 3.0]])
    >>> [a.tolist() for a in gathered(np.array([1, 0, 1]), np.array([9.0, 7.0, 9.0]), masses)]
    [[0, 1], [7.0, 9.0], [[2.0, 4.0]]]
    """
    if not len(values):
        return columns, values, masses
    order = np.lexsort((values, columns))
    columns, values, masses = columns[order], values[order], masses[:, order]
    new = np.append(True, (np.diff(columns) != 0) | (np.diff(values) != 0))
    return columns[new], values[new], np.add.reduceat(masses, np.flatnonzero(new), axis=1)
