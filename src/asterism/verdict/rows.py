"""Rows in memory to compare candidates on: the table itself where it is small, else an even sample of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.data.source import ArraySource, Source
from asterism.engines.reduce import reduce
from asterism.families.base import Array
from asterism.families.gaussian import GaussianFamily
from asterism.methods.mixture import Settings, fit_mixture
from asterism.methods.posterior import imputed
from asterism.stats.sample import RowSample


@dataclass(frozen=True, eq=False)
class Rows:
    """Complete rows and their weights."""

    x: Array  # (m, d)
    weights: Vector  # (m,) more than 0

    def __len__(self) -> int:
        return len(self.x)

    @property
    def source(self) -> Source:
        """As a table."""
        return ArraySource(self.x, self.weights)

    @property
    def total(self) -> float:
        """Sum of weights."""
        return float(self.weights.sum())

    @cached_property
    def mean(self) -> Vector:
        """(d,)"""
        return np.asarray(np.average(self.x, axis=0, weights=self.weights))

    @cached_property
    def spread(self) -> Vector:
        """(d,) standard deviations."""
        return np.asarray(np.sqrt(np.average((self.x - self.mean) ** 2, axis=0, weights=self.weights)))

    def take(self, chosen: NDArray[np.intp] | NDArray[np.bool_]) -> Rows:
        """Some of the rows."""
        return Rows(self.x[chosen], self.weights[chosen])

    def some(self, most: int, rng: np.random.Generator) -> Rows:
        """At most so many rows, drawn without replacement; weights are kept."""
        if len(self) <= most:
            return self
        return self.take(np.sort(rng.choice(len(self), most, replace=False)))


@dataclass(frozen=True)
class Drawn:
    """A sample of a table."""

    x: Array  # (m, d) NaN = missing
    weights: Vector  # (m,) of the table where it is whole, else about 1 each
    whole: bool  # every row that counts is in


def draw(source: Source, most: int, seed: int) -> Drawn:
    """At most ``most`` rows, each with a chance in proportion to its weight, in the order of the table."""
    sample = reduce(source, partial(_sample, most, seed))
    x, weights = sample.estimates()
    order = np.argsort(sample.row[: len(x)], kind="stable")
    x, weights = x[order].astype(np.float64), weights[order]
    if not sample.whole:
        weights = weights * (len(weights) / weights.sum())
    return Drawn(x, weights, sample.whole)


def _sample(most: int, seed: int, block: Block) -> RowSample:
    return RowSample.of(block, block.weights, most, seed)


def filled(drawn: Drawn) -> Rows:
    """The rows without holes: missing cells are what one normal group expects there."""
    if not np.isnan(drawn.x).any():
        return Rows(drawn.x, drawn.weights)
    table = ArraySource(drawn.x, drawn.weights)
    one = fit_mixture(table, GaussianFamily("VVV"), 1, Settings(max_iter=10)).mixture
    return Rows(imputed(one, table), drawn.weights)
