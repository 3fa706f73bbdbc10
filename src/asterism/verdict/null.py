"""Is there anything at all? Two ways to say no.

``dip_test``       does a distribution have more than one hump (Hartigan's dip against even rows, the hardest case)
``Steps``          do rows follow each other like the steps of a walk: then every stretch of it looks like a group

References
----------
1. Hartigan, Hartigan (1985), The dip test of unimodality. Annals of Statistics 13:70-84.
2. von Neumann (1941), Distribution of the ratio of the mean square successive difference to the variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from asterism import _core
from asterism.data.block import Block, Vector
from asterism.data.source import Source
from asterism.engines.reduce import reduce

# Quantiles of sqrt(n) dip of n even values, by simulation (tests/oracles/dip/generate.py). Of few rows they are a
# little smaller; these are those of many, on the safe side.
CHANCE = np.array([0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001])
SCALED = np.array([0.334, 0.377, 0.424, 0.455, 0.492, 0.518, 0.541, 0.594])
SLOPE = 2.0 * 12.0  # beyond: log p falls about so fast in units of sqrt(n) dip

WALK_RATIO, WALK_ECHO, WALK_LEAP = 0.5, -0.25, 20.0  # see ``Steps``; leap: largest step^2 in means
ENOUGH_STEPS = 50


def dip_test(values: Vector, weights: Vector) -> tuple[float, float]:
    """(p, dip): how often as many even values have a dip as large. p = 1 stands for anything above 1/2.

    >>> p, dip = dip_test(np.array([0.0, 0.1, 0.2, 0.3, 9.0, 9.1, 9.2, 9.3] * 4), np.ones(32))
    >>> p < 0.01, 0.2 < dip <= 0.25
    (True, True)
    """
    there = weights > 0
    x, place = np.unique(values[there], return_inverse=True)
    w = np.bincount(place, weights[there], len(x))
    n = float(w.sum())
    if len(x) < 2 or n <= 0:
        return 1.0, 0.0
    dip = _core.dip(x, w / n)
    return dip_chance(dip, n), dip


def dip_chance(dip: float, n: float) -> float:
    """How often n even values have a dip as large."""
    scaled = dip * np.sqrt(n)
    if scaled < SCALED[0]:
        return 1.0
    if scaled > SCALED[-1]:
        return float(CHANCE[-1] * np.exp(-SLOPE * (scaled - SCALED[-1])))
    return float(np.exp(np.interp(scaled, SCALED, np.log(CHANCE))))


# --- walks ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Steps:
    """Differences of consecutive rows, column by column; sums, so they merge. Borders of blocks are left out.

    ratio = mean squared step / (2 variance)    1 for rows in no order, near 0 for a walk
    echo  = correlation of a step with the next   -1/2 for rows in no order *or sorted by group*, 0 for a walk

    A table sorted by group has a small ratio too, but its steps go back and forth, and it leaps from group to group:
    that is what tells it from a walk. A sorted column only ever goes one way, and says nothing.
    """

    squares: Vector  # (d,) sum of step^2
    echoes: Vector  # (d,) sum of step * next step
    count: Vector  # (d,) steps
    up: Vector  # (d,) steps that go up
    down: Vector  # (d,)
    widest: Vector  # (d,) the largest step^2

    @classmethod
    def of(cls, block: Block) -> Steps:
        """The steps inside one block, of rows that count."""
        x = block.rows[block.weights > 0].astype(np.float64)
        x = x[np.r_[True, (x[1:] != x[:-1]).any(axis=1)][: len(x)]]  # a row written twice is no step
        step = np.diff(x, axis=0)
        known = np.isfinite(step)
        step = np.where(known, step, 0.0)
        return cls(
            (step**2).sum(axis=0),
            (step[1:] * step[:-1]).sum(axis=0),
            known.sum(axis=0).astype(float),
            (step > 0).sum(axis=0).astype(float),
            (step < 0).sum(axis=0).astype(float),
            (step**2).max(axis=0, initial=0.0),
        )

    def merge(self, other: Steps) -> Steps:
        """Sums add."""
        return Steps(
            self.squares + other.squares,
            self.echoes + other.echoes,
            self.count + other.count,
            self.up + other.up,
            self.down + other.down,
            np.maximum(self.widest, other.widest),
        )

    def walks(self, variance: Vector) -> bool:
        """Whether most columns that vary wander."""
        moves = (self.squares > 0) & (variance > 0) & (self.count >= ENOUGH_STEPS)
        turns = np.minimum(self.up, self.down) > 0.02 * np.maximum(self.count, 1.0)
        if not (moves & turns).any():
            return False
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.squares / np.maximum(self.count, 1.0) / (2.0 * variance)
            echo = self.echoes / self.squares
            leap = self.widest * self.count / self.squares
        wander = (ratio < WALK_RATIO) & (echo > WALK_ECHO) & (leap < WALK_LEAP) & turns
        return bool(wander[moves].mean() > 0.5)


def walks(source: Source, variance: Vector) -> bool:
    """Whether the rows of a table, in their order, are like a walk; one pass."""
    found: Steps = reduce(source, partial(Steps.of))
    return found.walks(variance)
