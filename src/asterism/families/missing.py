"""Normal components and rows with missing cells, exactly.

For a row with observed cells ``o`` and missing ones ``m``

    log p(x_o)   = log N(x_o; mu_o, S_oo)                        the E-step
    E[x_m | x_o] = mu_m + B (x_o - mu_o),    B = S_mo S_oo^-1    what the statistic takes for x_m ...
    V[x_m | x_o] = S_mm - B S_om                                 ... and adds to the scatter, once a row

Rows that miss the same cells share all this algebra (``Conditional``). Where cells are missing at random, nearly
every row has a pattern of its own: then all that miss equally many are taken together, by what they miss (``Rare``).
With S^-1 = W'W, W_m = Q R its columns of missing cells, and z the row about the mean, 0 where a cell is missing:

    V[x_m | x_o] = (R'R)^-1      E[x_m | x_o] = mu_m - R^-1 Q'W z
    log p(x_o)   = log det W - log |det R| - ||W z - Q Q'W z||^2 / 2 - o/2 log 2 pi

which squares nothing that is nearly singular.

References
----------
1. Ghahramani, Jordan (1994), Supervised learning from incomplete data via an EM approach. NIPS 6:120-127.
2. Little, Rubin (2019), Statistical Analysis with Missing Data, chapter 11.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.families.base import Array
from asterism.families.gaussian_pass import GaussianParams

MANY = 32  # rows of a pattern that are worth an algebra of their own
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


class View(ABC):
    """All components, seen through the cells that some rows have. ``c`` is k, or 1 where all share one covariance."""

    observed: int  # cells that a row has
    heights: Array  # (n or 1, c) log det S_oo^-1 / 2

    @abstractmethod
    def squares(self, y: Array) -> Array:
        """(n, k) squared Mahalanobis distances of the cells that are there."""

    @abstractmethod
    def deviations(self, y: Array) -> Array:
        """(k, n, d) rows minus means, missing cells by their conditional means."""

    @abstractmethod
    def spread(self, mass: Array) -> Array:
        """(k, d, d) what the missing cells of rows of some mass (n, k) add to the scatters."""

    def log_density(self, y: Array) -> Array:
        """(n, k) log N(x_o; mu_o, S_oo)."""
        return np.asarray(self.heights - 0.5 * self.squares(y) - 0.5 * self.observed * LOG_2_PI)


def views(params: GaussianParams, y: Array) -> Iterator[tuple[View, NDArray[np.intp]]]:
    """Rows, not too many at a time, and how components are seen by them."""
    k, d = params.means.shape
    rare = []
    for seen, rows in patterns(y):
        if len(rows) < MANY:
            rare.append(rows)
            continue
        view = Conditional.of(params.means, params.matrices, seen)
        for part in chunks(len(rows), k * d):
            yield view, rows[part]
    if not rare:
        return
    left = np.sort(np.concatenate(rare))
    missing = np.isnan(y[left]).sum(axis=1)
    for m in np.unique(missing):
        rows = left[missing == m]
        for part in chunks(len(rows), k * d * (int(m) + 1)):
            yield Rare.of(params.means, params.whiteners, y[rows[part]]), rows[part]


@dataclass(frozen=True)
class Conditional(View):
    """As any rows of one pattern see them."""

    means: Array  # (k, d)
    seen: NDArray[np.bool_]  # (d,)
    whitener: Array  # (c, o, o) inverse of the Cholesky factor of S_oo
    slopes: Array  # (c, m, o) B
    rest: Array  # (c, m, m) V[x_m | x_o]
    observed: int
    heights: Array  # (1, c)

    @classmethod
    def of(cls, means: Array, covariances: Array, seen: NDArray[np.bool_]) -> Conditional:
        """The algebra of one pattern; ``covariances`` is (k, d, d) or (1, d, d)."""
        s_oo = covariances[:, seen][:, :, seen]
        s_mo = covariances[:, ~seen][:, :, seen]
        s_mm = covariances[:, ~seen][:, :, ~seen]
        # A part of a positive definite matrix is positive definite.
        whitener = np.linalg.inv(np.linalg.cholesky(s_oo)) if seen.any() else s_oo
        slopes = (s_mo @ whitener.transpose(0, 2, 1)) @ whitener
        rest = _symmetric(s_mm - slopes @ s_mo.transpose(0, 2, 1))
        return cls(means, seen, whitener, slopes, rest, int(seen.sum()), _log_diagonals(whitener)[None])

    def squares(self, y: Array) -> Array:
        """(n, k), of whitened rows."""
        z = self._deviations(y) @ self.whitener.transpose(0, 2, 1)
        return np.asarray(np.einsum("kno,kno->nk", z, z))

    def deviations(self, y: Array) -> Array:
        """(k, n, d), by B."""
        about_o = self._deviations(y)
        full = np.empty((len(self.means), len(y), len(self.seen)))
        full[:, :, self.seen] = about_o
        full[:, :, ~self.seen] = about_o @ self.slopes.transpose(0, 2, 1)
        return full

    def spread(self, mass: Array) -> Array:
        """(k, d, d), one V for all rows."""
        d = len(self.seen)
        out = np.zeros((mass.shape[1], d, d))
        m = np.flatnonzero(~self.seen)
        out[:, m[:, None], m] = mass.sum(axis=0)[:, None, None] * self.rest
        return out

    def _deviations(self, y: Array) -> Array:
        return np.asarray(y[None, :, self.seen] - self.means[:, None, self.seen])


@dataclass(frozen=True)
class Rare(View):
    """As certain rows see them: each misses cells of its own, all of them equally many. It knows these rows."""

    about: Array  # (k, n, d) deviations
    gone: NDArray[np.intp]  # (n, m) columns that a row misses
    rest: Array  # (c, n, m, m) V[x_m | x_o]
    far: Array  # (n, k) squared distances
    observed: int
    heights: Array  # (n, c)

    @classmethod
    def of(cls, means: Array, whiteners: Array, y: Array) -> Rare:
        """``whiteners`` is (k, d, d) or (1, d, d)."""
        missing = np.isnan(y)
        gone = np.nonzero(missing)[1].reshape(len(y), -1)
        q, r = np.linalg.qr(whiteners[:, :, gone].transpose(0, 2, 1, 3))  # (c, n, d, m), (c, n, m, m)
        about = np.where(missing, 0.0, y - means[:, None, :])
        white = about @ whiteners.transpose(0, 2, 1)
        along = q.swapaxes(-1, -2) @ white[..., None]  # (k, n, m, 1)
        left = white - (q @ along)[..., 0]
        back = np.asarray(np.linalg.inv(r), np.float64)
        at = np.broadcast_to(gone, (len(means), *gone.shape))
        np.put_along_axis(about, at, -(back @ along)[..., 0], axis=2)
        scales = np.log(np.abs(np.diagonal(r, axis1=2, axis2=3))).sum(axis=2)  # (c, n)
        rest, far = back @ back.swapaxes(-1, -2), np.einsum("knd,knd->nk", left, left)
        return cls(about, gone, rest, far, y.shape[1] - gone.shape[1], _log_diagonals(whiteners) - scales.T)

    def squares(self, y: Array) -> Array:  # noqa: ARG002  it knows them
        """(n, k), of what is left of a row where missing cells are free."""
        return self.far

    def deviations(self, y: Array) -> Array:  # noqa: ARG002  it knows them
        """(k, n, d)."""
        return self.about

    def spread(self, mass: Array) -> Array:
        """(k, d, d), a V of every row's own."""
        k, d = mass.shape[1], self.about.shape[2]
        cells = self.gone[:, :, None] * d + self.gone[:, None, :]
        values = mass.T[:, :, None, None] * self.rest
        places = cells + np.arange(k)[:, None, None, None] * (d * d)
        return np.asarray(np.bincount(places.ravel(), values.ravel(), k * d * d), np.float64).reshape(k, d, d)


def _symmetric(matrices: Array) -> Array:
    return np.asarray(0.5 * (matrices + matrices.swapaxes(-1, -2)))


def _log_diagonals(factors: Array) -> Vector:
    """(c,) log determinants of triangular matrices."""
    return np.asarray(np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1))


@dataclass
class Gathered:
    """Sums about the model's means while rows are visited."""

    mass: Vector  # (k,)
    sums: Array  # (k, d) sum of mass times deviation
    scatters: Array  # (k, d, d) about the model's means

    @classmethod
    def empty(cls, k: int, d: int) -> Gathered:
        """Nothing yet."""
        return cls(np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d)))

    def add(self, view: View, y: Array, mass: Array) -> None:
        """Take in the rows of a view; ``mass`` is (n, k)."""
        about = view.deviations(y)
        weighted = about * mass.T[:, :, None]
        self.mass += mass.sum(axis=0)
        self.sums += weighted.sum(axis=1)
        self.scatters += weighted.transpose(0, 2, 1) @ about
        self.scatters += view.spread(mass)

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
