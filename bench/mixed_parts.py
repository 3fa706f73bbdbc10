"""Columns of mixtures whose every density is known: numbers, counts, zeros beside a continuum, categories, a trait.

A part makes the cells of one or several columns from the group of each row, and gives the log density of cells in
every group, so that Bayes' rule with the true parameters can label rows: no method does better. Cells are numbers;
``nan`` is a missing cell, which is integrated out. Normal cells may be shown to users through a monotone function
(``exp`` makes incomes): its Jacobian is the same in every group and changes no label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.stats import multivariate_normal, norm, rv_discrete

from bench.choose_pieces import Array, Labels, Rng

Cells = Mapping[str, Array]
NODES = 41  # convention: of the quadrature over a trait


class Part(Protocol):
    """Columns that depend on each other, given the group, and on no other column."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of its columns."""

    @property
    def family(self) -> str:
        """What its columns are, given the group."""

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        """Cells (n,) of its columns for rows of groups (n,) 0 .. k - 1."""

    def log_density(self, cells: Cells) -> Array:
        """(n, k), up to what all groups have in common."""


@dataclass(frozen=True)
class Normals:
    """Correlated numbers: means (k, d) and covariances (k, d, d)."""

    names: tuple[str, ...]
    means: Array
    covariances: Array
    family: str = "normal"

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        roots = np.linalg.cholesky(self.covariances)
        z = rng.normal(size=(len(groups), len(self.names)))
        x = self.means[groups] + np.einsum("nij,nj->ni", roots[groups], z)
        return dict(zip(self.names, x.T, strict=True))

    def log_density(self, cells: Cells) -> Array:
        x = np.column_stack([cells[name] for name in self.names])
        found = np.zeros((len(x), len(self.means)))
        known = ~np.isnan(x)
        for pattern in np.unique(known, axis=0):
            if pattern.any():
                rows = (known == pattern).all(axis=1)
                for g, (mean, covariance) in enumerate(zip(self.means, self.covariances, strict=True)):
                    part = multivariate_normal(mean[pattern], covariance[np.ix_(pattern, pattern)])
                    found[rows, g] = part.logpdf(x[np.ix_(rows, pattern)])
        return found


@dataclass(frozen=True)
class Margin:
    """One column of numbers or counts: a frozen distribution of SciPy and a share of additional zeros a group."""

    name: str
    of: Sequence[Any]
    zeros: Array  # (k,)
    family: str

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        x = np.zeros(len(groups))
        for g, distribution in enumerate(self.of):
            mine = groups == g
            x[mine] = distribution.rvs(np.count_nonzero(mine), random_state=rng)
        x[rng.uniform(size=len(x)) < self.zeros[groups]] = 0.0
        return {self.name: x}

    def log_density(self, cells: Cells) -> Array:
        x = cells[self.name]
        found = np.zeros((len(x), len(self.of)))
        for g, (distribution, zero) in enumerate(zip(self.of, self.zeros, strict=True)):
            counts = isinstance(distribution.dist, rv_discrete)
            with np.errstate(divide="ignore", invalid="ignore"):
                density = np.log1p(-zero) + (distribution.logpmf(x) if counts else distribution.logpdf(x))
                if zero > 0:
                    of_zero = zero + (1 - zero) * distribution.pmf(0) if counts else zero
                    density = np.where(x == 0, np.log(of_zero), density)
            found[:, g] = density
        found[np.isnan(x)] = 0.0
        return found


@dataclass(frozen=True)
class Levels:
    """One column of categories 0 .. L - 1 with probabilities (k, L)."""

    name: str
    probabilities: Array
    family: str = "categorical"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        ends = self.probabilities.cumsum(axis=1)[groups]
        u = rng.uniform(size=(len(groups), 1)) * ends[:, -1:]
        return {self.name: (u > ends[:, :-1]).sum(axis=1).astype(float)}

    def log_density(self, cells: Cells) -> Array:
        return _log_of_levels(np.log(np.maximum(self.probabilities, 1e-300)), cells[self.name])


def _log_of_levels(log_probabilities: Array, x: Array) -> Array:
    """(n, k) of codes (n,) from (k, L); 0 where a cell is missing."""
    known = ~np.isnan(x)
    found = np.zeros((len(x), len(log_probabilities)))
    found[known] = log_probabilities.T[x[known].astype(np.int64)]
    return found


@dataclass(frozen=True)
class Trait:
    """Answers on a scale that one trait moves inside every group: a graded response model.

    An answer to item j in group g exceeds level l with probability ``Phi(shifts[g, j] + loadings[j] t - cuts[j, l])``
    where the row's trait t is standard normal. Shifts (k, m), loadings (m,), cuts (m, L - 1) rising.
    """

    names: tuple[str, ...]
    shifts: Array
    loadings: Array
    cuts: Array
    family: str = "ordinal, one trait"

    def _probabilities(self, trait: Array, group: int, item: int) -> Array:
        """(n, L) of the levels for traits (n,)."""
        place = self.shifts[group, item] + self.loadings[item] * trait
        above = norm.cdf(place[:, None] - self.cuts[item])
        return -np.diff(above, axis=1, prepend=1.0, append=0.0)

    def draw(self, rng: Rng, groups: Labels) -> dict[str, Array]:
        trait = rng.normal(size=len(groups))
        found = {}
        for j, name in enumerate(self.names):
            noisy = self.shifts[groups, j] + self.loadings[j] * trait + rng.normal(size=len(groups))
            found[name] = (noisy[:, None] > self.cuts[j]).sum(axis=1).astype(float)
        return found

    def log_density(self, cells: Cells) -> Array:
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        found = []
        for g in range(len(self.shifts)):
            sums = np.log(weights / weights.sum())[None, :]
            for j, name in enumerate(self.names):
                levels = np.log(np.maximum(self._probabilities(nodes, g, j), 1e-300))
                sums = sums + _log_of_levels(levels, cells[name])
            found.append(np.logaddexp.reduce(sums, axis=1))
        return np.column_stack(found)
