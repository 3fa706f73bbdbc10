"""Normal components and rows with missing cells, exactly.

Rows that miss the same cells share all the algebra. For a pattern with observed cells ``o`` and missing ones ``m``

    log p(x_o)   = log N(x_o; mu_o, S_oo)                        the E-step
    E[x_m | x_o] = mu_m + B (x_o - mu_o),    B = S_mo S_oo^-1    what the statistic takes for x_m ...
    V[x_m | x_o] = S_mm - B S_om                                 ... and adds to the scatter, once a row

References
----------
1. Ghahramani, Jordan (1994), Supervised learning from incomplete data via an EM approach. NIPS 6:120-127.
2. Little, Rubin (2019), Statistical Analysis with Missing Data, chapter 11.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.families.base import Array

CHUNK = 1 << 19  # cells times components that are worked on at a time
LOG_2_PI = float(np.log(2.0 * np.pi))


def gappy(rows: NDArray[Any]) -> NDArray[np.bool_] | None:
    """(n,) which rows miss a cell; None where none does, which is quick to see: NaN survives every sum.

    >>> gappy(np.array([[1.0, np.nan], [2.0, 3.0]])), gappy(np.ones((2, 2)))
    (array([ True, False]), None)
    """
    with np.errstate(all="ignore"):
        if not np.isnan(np.add.reduce(rows, axis=None)):
            return None
    gaps = np.isnan(rows).any(axis=1)
    return gaps if gaps.any() else None


def patterns(y: Array) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.intp]]]:
    """Which cells are seen, and the rows that see just these; in an order that depends on values alone.

    >>> y = np.array([[1.0, np.nan], [2.0, 3.0], [4.0, np.nan]])
    >>> [(seen.tolist(), rows.tolist()) for seen, rows in patterns(y)]
    [([True, False], [0, 2]), ([True, True], [1])]
    """
    if not len(y):
        return
    seen = ~np.isnan(y)
    codes = np.packbits(seen, axis=1)
    keys = np.ascontiguousarray(codes).view(np.dtype((np.void, codes.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))
    for f, rows in zip(first, np.split(order, ends[:-1]), strict=True):
        yield seen[f], rows


@dataclass(frozen=True)
class Conditional:
    """All components, seen through one pattern. ``c`` is k, or 1 where all share one covariance."""

    means: Array  # (k, d)
    seen: NDArray[np.bool_]  # (d,)
    whitener: Array  # (c, o, o) inverse of the Cholesky factor of S_oo
    slopes: Array  # (c, m, o) B
    rest: Array  # (c, m, m) V[x_m | x_o]

    @classmethod
    def of(cls, means: Array, covariances: Array, seen: NDArray[np.bool_]) -> Conditional:
        """The algebra of one pattern; ``covariances`` is (k, d, d) or (1, d, d)."""
        s_oo = covariances[:, seen][:, :, seen]
        s_mo = covariances[:, ~seen][:, :, seen]
        s_mm = covariances[:, ~seen][:, :, ~seen]
        # A part of a positive definite matrix is positive definite.
        whitener = np.linalg.inv(np.linalg.cholesky(s_oo)) if seen.any() else s_oo
        slopes = (s_mo @ whitener.transpose(0, 2, 1)) @ whitener
        rest = s_mm - slopes @ s_mo.transpose(0, 2, 1)
        return cls(means, seen, whitener, slopes, 0.5 * (rest + rest.transpose(0, 2, 1)))

    def log_density(self, y: Array) -> Array:
        """(n, k) log N(x_o; mu_o, S_oo)."""
        z = self._deviations(y) @ self.whitener.transpose(0, 2, 1)
        heights = np.log(np.diagonal(self.whitener, axis1=1, axis2=2)).sum(axis=1)  # (c,)
        squares = np.einsum("kno,kno->kn", z, z)
        density: Array = (heights[:, None] - 0.5 * squares - 0.5 * int(self.seen.sum()) * LOG_2_PI).T
        return density

    def deviations(self, y: Array) -> Array:
        """(k, n, d) rows minus means, missing cells by their conditional means."""
        about_o = self._deviations(y)
        full = np.empty((len(self.means), len(y), len(self.seen)))
        full[:, :, self.seen] = about_o
        full[:, :, ~self.seen] = about_o @ self.slopes.transpose(0, 2, 1)
        return full

    def spread(self, counts: Vector) -> Array:
        """(k, d, d) what the missing cells of ``counts`` rows add to the scatters."""
        d = len(self.seen)
        out = np.zeros((len(counts), d, d))
        m = np.flatnonzero(~self.seen)
        out[:, m[:, None], m] = counts[:, None, None] * self.rest
        return out

    def _deviations(self, y: Array) -> Array:
        return np.asarray(y[None, :, self.seen] - self.means[:, None, self.seen])


@dataclass
class Gathered:
    """Sums about the model's means while patterns are visited."""

    mass: Vector  # (k,)
    sums: Array  # (k, d) sum of mass times deviation
    scatters: Array  # (k, d, d) about the model's means

    @classmethod
    def empty(cls, k: int, d: int) -> Gathered:
        """Nothing yet."""
        return cls(np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d)))

    def add(self, conditional: Conditional, y: Array, mass: Array) -> None:
        """Take in rows of one pattern; ``mass`` is (n, k)."""
        for rows in chunks(len(y), mass.shape[1] * y.shape[1]):
            about = conditional.deviations(y[rows])
            weighted = about * mass[rows].T[:, :, None]
            self.sums += weighted.sum(axis=1)
            self.scatters += weighted.transpose(0, 2, 1) @ about
        counts = mass.sum(axis=0)
        self.mass += counts
        self.scatters += conditional.spread(counts)

    def add_complete(self, means: Array, y: Array, mass: Array) -> None:
        """Take in rows without gaps; a row without mass in a component costs nothing there."""
        for c, center in enumerate(means):
            mine = np.flatnonzero(mass[:, c])
            about = y[mine] - center
            weighted = about * mass[mine, c, None]
            self.mass[c] += mass[mine, c].sum()
            self.sums[c] += weighted.sum(axis=0)
            self.scatters[c] += weighted.T @ about


def chunks(n: int, width: int) -> Iterator[slice]:
    """Slices of n rows, each of ``width`` numbers, that stay in the cache."""
    step = max(CHUNK // max(width, 1), 1)
    for a in range(0, n, step):
        yield slice(a, min(a + step, n))
