"""Moments of the groups of a labelled table.

``GroupMoments``  weight, mean and sum of squares of every column in every group; missing cells left out
``GroupScatter``  mean of every group and the scatter matrix within all of them; rows must be complete

Both measure from a reference that all parts share, so that means stay small beside what they differ by, and
merge by Chan's formula, group by group (``stats.moments``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block, Vector

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GroupMoments:
    """What the columns are like within each group."""

    mass: Vector  # (k,) weight of the rows
    weight: Table  # (k, d) weight of the observed cells
    mean: Table  # (k, d) from the reference; 0 where nothing was observed
    scatter: Table  # (k, d) sum of w (x - mean)^2

    @classmethod
    def zero(cls, k: int, d: int) -> GroupMoments:
        """The moments of no rows."""
        return cls(np.zeros(k), np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d)))

    @classmethod
    def of(cls, block: Block, codes: NDArray[Any], k: int, reference: Vector) -> GroupMoments:
        """Of a block whose rows are in groups ``codes``; those of absent rows may be anything."""
        table, mass = np.zeros((3, k, block.rows.shape[1])), np.zeros(k)
        rows = np.ascontiguousarray(block.rows)
        _core.group_moments(rows, block.weights, codes.astype(np.int64), reference, table, mass)
        return cls(mass, *table)

    def merge(self, other: GroupMoments) -> GroupMoments:
        """Chan's formula, cell by cell; what one part never saw is the other's, to the bit."""
        weight = self.weight + other.weight
        seen = self.weight > 0
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=seen)
        delta = np.where(share > 0, other.mean - self.mean, 0.0)
        return GroupMoments(
            self.mass + other.mass,
            weight,
            np.where(seen, self.mean + delta * share, other.mean),
            self.scatter + other.scatter + delta * delta * (self.weight * share),
        )

    @property
    def within(self) -> float:
        """W = sum w ||x - mean of its group||^2 over observed cells."""
        return float(self.scatter.sum())

    @property
    def between(self) -> float:
        """B = sum over groups and columns of weight (mean - grand mean)^2."""
        return float((self.weight * (self.mean - self.grand_mean) ** 2).sum())

    @property
    def grand_mean(self) -> Vector:
        """(d,) from the reference."""
        total = self.weight.sum(axis=0)
        sums: Vector = (self.weight * self.mean).sum(axis=0)
        mean: Vector = np.divide(sums, total, out=np.zeros_like(total), where=total > 0)
        return mean


@dataclass(frozen=True, slots=True)
class GroupScatter:
    """Means of the groups, and how rows lie around them."""

    mass: Vector  # (k,) weight of the rows
    mean: Table  # (k, d) from the reference
    within: Table  # (d, d) sum of w (x - mean of its group)(x - mean of its group)'

    @classmethod
    def zero(cls, k: int, d: int) -> GroupScatter:
        """The scatter of no rows."""
        return cls(np.zeros(k), np.zeros((k, d)), np.zeros((d, d)))

    @classmethod
    def of(cls, block: Block, codes: NDArray[Any], k: int, reference: Vector) -> GroupScatter:
        """Of a block of complete rows in groups ``codes``."""
        groups = GroupMoments.of(block, codes, k, reference)
        counted = block.weights > 0
        y = np.subtract(block.rows[counted], reference, dtype=np.float64) - groups.mean[codes[counted]]
        y *= np.sqrt(block.weights[counted])[:, None]
        return cls(groups.mass, groups.mean, y.T @ y)

    def merge(self, other: GroupScatter) -> GroupScatter:
        """Chan's formula, group by group."""
        mass = self.mass + other.mass
        seen = self.mass > 0
        share = np.divide(other.mass, mass, out=np.zeros_like(mass), where=seen)[:, None]
        delta = np.where(share > 0, other.mean - self.mean, 0.0)
        mean = np.where(seen[:, None], self.mean + delta * share, other.mean)
        spread = np.sqrt(self.mass[:, None] * share) * delta
        return GroupScatter(mass, mean, (self.within + other.within) + spread.T @ spread)

    @property
    def between(self) -> Table:
        """(d, d) S_B = sum over groups of mass (mean - grand mean)(mean - grand mean)'."""
        total = self.mass.sum()
        grand = self.mass @ self.mean / total if total > 0 else np.zeros(self.mean.shape[1])
        y: Table = np.sqrt(self.mass)[:, None] * (self.mean - grand)
        found: Table = y.T @ y
        return found
