"""Further columns of mixtures whose densities are known: hours of a day, questions asked of some, ranks, steps, times
that a study cut off, counts of one cause, columns of any family that one trait moves, heaped and far-tailed numbers.

They are ``Part`` of ``bench/mixed_parts.py``. Missing cells are integrated out where a part does not say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import multivariate_t, rv_discrete, vonmises

from bench.choose_pieces import Array, Labels, Rng
from bench.mixed_fresh_parts import LEAST
from bench.mixed_parts import NODES, Cells, Part

DAY = 24.0


@dataclass(frozen=True)
class Clock:
    """An hour of the day, 0 to 24: von Mises with peaks (k,) in hours and concentrations (k,)."""

    name: str
    peaks: Array
    concentrations: Array
    family: str = "hour of a day"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        turn = rng.vonmises(0.0, self.concentrations[groups])
        return {self.name: (self.peaks[groups] + turn * DAY / (2 * np.pi)) % DAY}

    def log_density(self, cells: Cells) -> Array:
        turn = (cells[self.name][:, None] - self.peaks) * 2 * np.pi / DAY
        found = vonmises.logpdf(turn, np.maximum(self.concentrations, 1e-9)) + np.log(2 * np.pi / DAY)
        return np.where(np.isnan(turn), 0.0, found)


@dataclass(frozen=True)
class Asked:
    """A question of no or yes, 0 or 1, and columns that have cells only where it is yes. No other cell is missing."""

    name: str
    yes: Array  # (k,)
    then: Part
    family: str = "asked if yes"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.then.names)

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        said = rng.uniform(size=len(groups)) < self.yes[groups]
        cells = self.then.draw(rng, groups)
        return {self.name: said.astype(float)} | {
            name: np.where(said, x, np.nan) for name, x in cells.items()
        }

    def log_density(self, cells: Cells) -> Array:
        # a cell that was not asked for is missing, and adds nothing
        said = cells[self.name][:, None] > 0
        return np.where(said, np.log(self.yes), np.log1p(-self.yes)) + self.then.log_density(cells)


@dataclass(frozen=True)
class Ranks:
    """Ranks 1 .. m of m things: the next is chosen by worths (k, m) among those left (Plackett and Luce)."""

    names: tuple[str, ...]
    worths: Array
    family: str = "ranks"

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        keys = np.log(self.worths[groups]) + rng.gumbel(size=(len(groups), len(self.names)))
        ranks = 1.0 + np.argsort(np.argsort(-keys, axis=1), axis=1)
        return dict(zip(self.names, ranks.T, strict=True))

    def log_density(self, cells: Cells) -> Array:
        order = np.argsort(np.column_stack([cells[name] for name in self.names]), axis=1)
        worths = self.worths[:, order]  # (k, n, m), the first chosen first
        left = worths[..., ::-1].cumsum(axis=-1)[..., ::-1]
        return np.asarray((np.log(worths) - np.log(left)).sum(axis=-1).T)


@dataclass(frozen=True)
class Steps:
    """Categories one after another, a Markov chain: ``first`` (k, S), ``moves`` (k, S, S) from row to column."""

    names: tuple[str, ...]
    first: Array
    moves: Array
    family: str = "steps"

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        found = {}
        p = self.first[groups]
        for name in self.names:
            state = (rng.uniform(size=(len(groups), 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
            found[name] = state.astype(float)
            p = self.moves[groups, state]
        return found

    def log_density(self, cells: Cells) -> Array:
        states = [cells[name].astype(int) for name in self.names]
        found = np.log(self.first[:, states[0]])
        for one, two in pairwise(states):
            found = found + np.log(self.moves[:, one, two])
        return np.asarray(found.T)


@dataclass(frozen=True)
class Followed:
    """Time until an event and whether it was seen, 0 or 1: rows are followed for times that tell of no group."""

    time: str
    event: str
    of: Sequence[Any]  # a continuous distribution of SciPy a group
    until: Any
    family: str = "time until an event"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.time, self.event)

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        happens = np.zeros(len(groups))
        for g, distribution in enumerate(self.of):
            happens[groups == g] = distribution.rvs(np.count_nonzero(groups == g), random_state=rng)
        ends = self.until.rvs(len(groups), random_state=rng)
        return {self.time: np.minimum(happens, ends), self.event: (happens <= ends).astype(float)}

    def log_density(self, cells: Cells) -> Array:
        x, seen = cells[self.time], cells[self.event] > 0
        return np.column_stack([np.where(seen, of.logpdf(x), of.logsf(x)) for of in self.of])


@dataclass(frozen=True)
class OneCause:
    """Poisson counts with means (k, m) times one gamma number a row, of mean 1 and variance ``1 / sizes[g]``."""

    names: tuple[str, ...]
    means: Array
    sizes: Array
    family: str = "counts of one cause"

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        sizes = self.sizes[groups]
        x = rng.poisson(self.means[groups] * rng.gamma(sizes, 1 / sizes)[:, None])
        return dict(zip(self.names, x.T.astype(float), strict=True))

    def log_density(self, cells: Cells) -> Array:
        """Negative multinomial; a missing count drops out of all sums."""
        x = np.column_stack([cells[name] for name in self.names])
        known = ~np.isnan(x)
        x = np.where(known, x, 0.0)
        total, size = x.sum(axis=1)[:, None], self.sizes
        scale = size + known @ self.means.T  # (n, k)
        found = gammaln(size + total) - gammaln(size) + size * np.log(size) - (size + total) * np.log(scale)
        return np.asarray(found + x @ np.log(self.means).T - gammaln(x + 1).sum(axis=1)[:, None])


@dataclass(frozen=True)
class Moved:
    """Columns of any families that one standard normal trait moves: ``of[j](g, t)`` is that of column j given traits
    t (q,), a distribution of SciPy with q parameters."""

    names: tuple[str, ...]
    of: Sequence[Callable[[int, Array], Any]]
    k: int
    family: str = "moved by one trait"

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        trait = rng.normal(size=len(groups))
        found = {name: np.zeros(len(groups)) for name in self.names}
        for g in np.unique(groups):
            mine = groups == g
            for name, of in zip(self.names, self.of, strict=True):
                size = np.count_nonzero(mine)
                found[name][mine] = of(int(g), trait[mine]).rvs(size=size, random_state=rng)
        return found

    def log_density(self, cells: Cells) -> Array:
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        found = []
        for g in range(self.k):
            sums = np.log(weights / weights.sum())[None, :]
            for name, of in zip(self.names, self.of, strict=True):
                x, distribution = cells[name][:, None], of(g, nodes)
                counts = isinstance(distribution.dist, rv_discrete)
                density = distribution.logpmf(x) if counts else distribution.logpdf(x)
                sums = sums + np.where(np.isnan(x), 0.0, density)
            found.append(logsumexp(sums, axis=1))
        return np.column_stack(found)


@dataclass(frozen=True)
class Heaped:
    """A number rounded to ``step``, or, with probability ``heaps[g]``, to ``coarse``, a multiple of it."""

    name: str
    of: Sequence[Any]  # a continuous distribution of SciPy a group
    heaps: Array  # (k,)
    step: float
    coarse: float
    family: str = "heaped"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        x = np.zeros(len(groups))
        for g, distribution in enumerate(self.of):
            x[groups == g] = distribution.rvs(np.count_nonzero(groups == g), random_state=rng)
        unit = np.where(rng.uniform(size=len(x)) < self.heaps[groups], self.coarse, self.step)
        return {self.name: np.round(x / unit) * unit}

    def log_density(self, cells: Cells) -> Array:
        x = cells[self.name]
        round_one = np.abs(x / self.coarse - np.round(x / self.coarse)) < 1e-6

        def mass(of: Any, unit: float) -> Array:
            return np.asarray(of.cdf(x + unit / 2) - of.cdf(x - unit / 2))

        found = np.column_stack(
            [
                (1 - heap) * mass(of, self.step) + heap * round_one * mass(of, self.coarse)
                for of, heap in zip(self.of, self.heaps, strict=True)
            ]
        )
        return np.where(np.isnan(x)[:, None], 0.0, np.log(np.maximum(found, LEAST)))


@dataclass(frozen=True)
class Cloud:
    """Numbers whose far rows are far in all columns: multivariate Student with means (k, d) and shapes (k, d, d)."""

    names: tuple[str, ...]
    means: Array
    shapes: Array
    freedom: float
    family: str = "multivariate Student"

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        n = len(groups)
        z = np.einsum(
            "nij,nj->ni", np.linalg.cholesky(self.shapes)[groups], rng.normal(size=(n, len(self.names)))
        )
        x = self.means[groups] + z * np.sqrt(self.freedom / rng.chisquare(self.freedom, n))[:, None]
        return dict(zip(self.names, x.T, strict=True))

    def log_density(self, cells: Cells) -> Array:
        x = np.column_stack([cells[name] for name in self.names])
        known = ~np.isnan(x)
        found = np.zeros((len(x), len(self.means)))
        for pattern in np.unique(known, axis=0):
            if pattern.any():
                rows = (known == pattern).all(axis=1)
                for g, (mean, shape) in enumerate(zip(self.means, self.shapes, strict=True)):
                    of = multivariate_t(mean[pattern], shape[np.ix_(pattern, pattern)], self.freedom)
                    found[rows, g] = of.logpdf(x[np.ix_(rows, pattern)])
        return found
