"""More columns of mixtures whose densities are known: recorded coarsely, depending on each other, sharing a total.

They are ``Part`` of ``bench/mixed_parts.py``: dependence inside a group, limits and sums are what its parts lack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln
from scipy.stats import multivariate_normal, norm, rv_discrete

from bench.choose_pieces import Array, Labels, Rng
from bench.mixed_parts import Cells, Part

LEAST = 1e-300  # convention: a probability that underflows
EDGE = 1e-12  # convention: of ranks, so that normal scores are finite


@dataclass(frozen=True)
class Recorded:
    """One number rounded to a multiple of ``step``, and to ``low`` or ``high`` beyond them: masses at both ends."""

    name: str
    of: Sequence[Any]  # a continuous distribution of SciPy a group
    step: float
    low: float = -np.inf
    high: float = np.inf
    family: str = "recorded"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        x = np.zeros(len(groups))
        for g, distribution in enumerate(self.of):
            x[groups == g] = distribution.rvs(np.count_nonzero(groups == g), random_state=rng)
        return {self.name: np.round(np.clip(np.round(x / self.step) * self.step, self.low, self.high), 6)}

    def log_density(self, cells: Cells) -> Array:
        x = cells[self.name]
        above = np.where(x > self.high - self.step / 4, np.inf, x + self.step / 2)
        below = np.where(x < self.low + self.step / 4, -np.inf, x - self.step / 2)
        found = np.column_stack(
            [distribution.cdf(above) - distribution.cdf(below) for distribution in self.of]
        )
        return np.where(np.isnan(x)[:, None], 0.0, np.log(np.maximum(found, LEAST)))


@dataclass(frozen=True)
class Given:
    """The columns of a part, and one that depends on the column ``on`` of it, which has no missing cells."""

    first: Part
    on: str
    name: str
    of: Callable[
        [int, Array], Any
    ]  # group and cells (n,) of ``on`` -> a distribution of SciPy with n parameters
    family: str = "given another column"

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.first.names, self.name)

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        cells = self.first.draw(rng, groups)
        y = np.zeros(len(groups))
        for g in np.unique(groups):
            mine = groups == g
            y[mine] = self.of(int(g), cells[self.on][mine]).rvs(np.count_nonzero(mine), random_state=rng)
        return cells | {self.name: y}

    def log_density(self, cells: Cells) -> Array:
        found = self.first.log_density(cells)
        known = ~np.isnan(cells[self.name])
        x, y = cells[self.on][known], cells[self.name][known]
        if np.isnan(x).any():
            raise ValueError(f"{self.on!r} must have all its cells: {self.name!r} depends on it")
        for g in range(found.shape[1]):
            distribution = self.of(g, x)
            counts = isinstance(distribution.dist, rv_discrete)
            with np.errstate(divide="ignore"):
                found[known, g] += distribution.logpmf(y) if counts else distribution.logpdf(y)
        return found


@dataclass(frozen=True)
class Copula:
    """Numbers of any continuous margins, ``of[g][j]``, whose normal scores have correlations (k, d, d)."""

    names: tuple[str, ...]
    of: Sequence[Sequence[Any]]
    correlations: Array
    family: str = "copula"

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        roots = np.linalg.cholesky(self.correlations)[groups]
        u = norm.cdf(np.einsum("nij,nj->ni", roots, rng.normal(size=(len(groups), len(self.names)))))
        x = np.zeros_like(u)
        for g, margins in enumerate(self.of):
            for j, margin in enumerate(margins):
                x[groups == g, j] = margin.ppf(u[groups == g, j])
        return dict(zip(self.names, x.T, strict=True))

    def log_density(self, cells: Cells) -> Array:
        x = np.column_stack([cells[name] for name in self.names])
        known = ~np.isnan(x)
        found = np.zeros((len(x), len(self.of)))
        for g, margins in enumerate(self.of):
            u = np.column_stack([margin.cdf(column) for margin, column in zip(margins, x.T, strict=True)])
            z = norm.ppf(np.clip(u, EDGE, 1 - EDGE))
            own = np.column_stack(
                [margin.logpdf(column) for margin, column in zip(margins, x.T, strict=True)]
            )
            found[:, g] = np.where(known, own - norm.logpdf(z), 0.0).sum(axis=1)
            for pattern in np.unique(known, axis=0):
                if pattern.any():
                    rows = (known == pattern).all(axis=1)
                    joint = multivariate_normal(cov=self.correlations[g][np.ix_(pattern, pattern)])
                    found[rows, g] += joint.logpdf(z[np.ix_(rows, pattern)])
        return found


@dataclass(frozen=True)
class Pair:
    """Two columns of categories with joint probabilities (k, A, B)."""

    first: str
    second: str
    probabilities: Array
    family: str = "pair of categories"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.first, self.second)

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        k, _, b = self.probabilities.shape
        ends = self.probabilities.reshape(k, -1).cumsum(axis=1)[groups]
        u = rng.uniform(size=(len(groups), 1)) * ends[:, -1:]
        both = (u > ends[:, :-1]).sum(axis=1)
        return {self.first: (both // b).astype(float), self.second: (both % b).astype(float)}

    def log_density(self, cells: Cells) -> Array:
        p = self.probabilities
        k, a, b = p.shape
        # a level more on both sides stands for a missing cell: what is summed over it
        whole = np.zeros((k, a + 1, b + 1))
        whole[:, :a, :b], whole[:, a, :b], whole[:, :a, b] = p, p.sum(axis=1), p.sum(axis=2)
        whole[:, a, b] = 1.0
        x, y = cells[self.first], cells[self.second]
        at = np.where(np.isnan(x), a, x).astype(int), np.where(np.isnan(y), b, y).astype(int)
        return np.log(np.maximum(whole[:, at[0], at[1]].T, LEAST))


@dataclass(frozen=True)
class SharedTotal:
    """Counts that share a total, a Dirichlet multinomial: totals (k) of SciPy, alphas (k, m). None is missing."""

    names: tuple[str, ...]
    totals: Sequence[Any]
    alphas: Array
    family: str = "counts of one total"

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        x = np.zeros((len(groups), len(self.names)))
        for g, total in enumerate(self.totals):
            mine = groups == g
            sizes = total.rvs(np.count_nonzero(mine), random_state=rng)
            x[mine] = rng.multinomial(sizes, rng.dirichlet(self.alphas[g], len(sizes)))
        return dict(zip(self.names, x.T, strict=True))

    def log_density(self, cells: Cells) -> Array:
        x = np.column_stack([cells[name] for name in self.names])
        total = x.sum(axis=1)
        found = np.zeros((len(x), len(self.totals)))
        for g, (of, alpha) in enumerate(zip(self.totals, self.alphas, strict=True)):
            each = gammaln(x + alpha) - gammaln(alpha) - gammaln(x + 1)
            both = gammaln(alpha.sum()) + gammaln(total + 1) - gammaln(total + alpha.sum())
            found[:, g] = of.logpmf(total) + both + each.sum(axis=1)
        return found


@dataclass(frozen=True)
class Shares:
    """Percentages of a whole, Dirichlet: alphas (k, m). None is missing."""

    names: tuple[str, ...]
    alphas: Array
    family: str = "percentages of a whole"

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        x = np.zeros((len(groups), len(self.names)))
        for g, alpha in enumerate(self.alphas):
            x[groups == g] = 100 * rng.dirichlet(alpha, np.count_nonzero(groups == g))
        return dict(zip(self.names, x.T, strict=True))

    def log_density(self, cells: Cells) -> Array:
        x = np.column_stack([cells[name] for name in self.names]) / 100
        constant = gammaln(self.alphas.sum(axis=1)) - gammaln(self.alphas).sum(axis=1)
        return np.asarray(np.log(np.maximum(x, LEAST)) @ (self.alphas - 1).T + constant)
