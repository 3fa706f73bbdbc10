"""The few leading principal components of a table that is large both ways, pass by pass.

Each pass multiplies a block of directions ``Q`` by the scatter matrix without ever forming it:

    S Q = sum w y (y' Q),     y = x - mean

The directions of all passes span a block Krylov space; the best approximations in it (Rayleigh-Ritz) are kept
together with their images, so that residuals ``S v - value v`` cost nothing. The next directions are those
residuals. When the space grows too wide it restarts from its best directions, which loses nothing of them.

References
----------
1. Golub, Underwood (1977), The block Lanczos method for computing eigenvalues.
2. Wu, Simon (2000), Thick-restart Lanczos method for large symmetric eigenvalue problems. SIAM
   J. Matrix Anal. Appl. 22:602-616.
3. Musco, Musco (2015), Randomized block Krylov methods for stronger and faster approximate SVD. NeurIPS.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism.data.block import Block, Vector
from asterism.data.finite import infinite_cell, raise_for_bad_cell
from asterism.data.source import Source
from asterism.engines.loop import iterate
from asterism.engines.reduce import reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import NotConvergedWarning
from asterism.methods.components import EPS, Components, asked, assembled, limit
from asterism.stats.moments import ColumnMoments

MORE = 8  # directions beyond those wanted: they speed up the last of them
WIDEST = 6  # blocks in the space before it restarts
VALUE_ERROR = 1e-11  # of an eigenvalue, relative to it
VECTOR_ERROR = 1e-8  # residual of a direction, relative to the largest eigenvalue
MOST_PASSES = 500


@dataclass(frozen=True, slots=True)
class Image:
    """What the scatter matrix of some rows makes of the directions Q."""

    product: NDArray[np.float64]  # (d, b) sum of w y (y' Q)
    away: Vector  # (d,) sum of w y: 0 but for the rounding of the mean, which it corrects

    def merge(self, other: Image) -> Image:
        """Rows add up."""
        return Image(self.product + other.product, self.away + other.away)


@dataclass(frozen=True, slots=True)
class Space:
    """A space of directions, its best approximations first."""

    basis: NDArray[np.float64]  # (d, q) orthonormal Ritz vectors
    image: NDArray[np.float64]  # (d, q) S basis
    values: Vector  # (q,) Ritz values, largest first
    new: NDArray[np.float64]  # (d, b) orthonormal directions for the next pass, orthogonal to the basis
    error: float  # 1 or less: accurate enough


@dataclass(frozen=True)
class LeadingComponents:
    """Block Krylov iteration as a method of the loop: the next pass widens the space."""

    m: int
    weight: float
    mean: Vector = field(repr=False)  # (d,)
    name = "principal components"

    @property
    def width(self) -> int:
        """Directions of a pass."""
        return min(self.m + MORE, len(self.mean))

    def start(self, seed: int) -> Space:
        """Random directions."""
        d = len(self.mean)
        none = np.empty((d, 0))
        random = np.random.default_rng(seed).standard_normal((d, self.width))
        return Space(none, none, np.empty(0), np.linalg.qr(random)[0], np.inf)

    def summarize(self, model: Space, block: Block) -> Image:
        """The image of the new directions."""
        w = block.weights
        y = block.rows - self.mean
        if not w.all():
            y[w == 0] = 0.0  # absent rows may hold anything, NaN included
        z = y @ model.new
        z *= w[:, None]
        return Image(y.T @ z, w @ y)

    def update(self, model: Space, statistic: Image) -> Space:
        """Widen the space by the new directions, and find the best approximations in it."""
        away = statistic.away
        product = statistic.product - np.outer(away, away @ model.new / self.weight)
        basis, image = np.hstack([model.basis, model.new]), np.hstack([model.image, product])
        inner = basis.T @ image
        values, turn = linalg.eigh((inner + inner.T) / 2)
        values, turn = values[::-1], turn[:, ::-1]
        b = self.width
        if len(values) > (WIDEST - 1) * b:
            values, turn = values[: 2 * b], turn[:, : 2 * b]
        basis, image = basis @ turn, image @ turn
        residual = image[:, :b] - basis[:, :b] * values[:b]
        return Space(basis, image, values, _next(basis, residual), self._error(values, residual))

    def objective(self, model: Space, _statistic: Image) -> float:
        """Minus the scatter along the best directions so far."""
        return -float(model.values[: self.m].sum())

    def settled(self, _before: Space, after: Space) -> bool:
        """Whether values and directions are accurate, or the space cannot grow."""
        return after.error <= 1 or after.new.shape[1] == 0

    def pack(self, model: Space) -> Mapping[str, NDArray[Any]]:
        """All of it."""
        return {
            "basis": model.basis,
            "image": model.image,
            "values": model.values,
            "new": model.new,
            "error": np.array([model.error]),
        }

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Space:
        """And back."""
        a = arrays
        return Space(a["basis"], a["image"], a["values"], a["new"], float(a["error"][0]))

    def _error(self, values: Vector, residual: NDArray[np.float64]) -> float:
        """How far from accurate, as a multiple of what is allowed.

        There is an eigenvalue within |r| of a Ritz value, and within |r|^2 / gap where its neighbours are
        a gap away (Kato, Temple).
        """
        m = self.m
        norm = np.sqrt((residual[:, :m] ** 2).sum(axis=0))
        apart = np.abs(np.diff(values, append=0.0))
        gap = np.minimum(apart, np.append(np.inf, apart[:-1]))[:m]
        value_error = norm * np.minimum(1.0, np.divide(norm, gap, out=np.ones_like(norm), where=gap > 0))
        floor = EPS * np.sqrt(len(self.mean)) * values[0]
        allowed = np.maximum(VALUE_ERROR * values[:m], floor)
        worst_value = np.divide(value_error, allowed, out=np.zeros_like(norm), where=allowed > 0).max()
        return float(max(worst_value, norm.max() / (VECTOR_ERROR * values[0]) if values[0] > 0 else 0.0))


def _next(basis: NDArray[np.float64], residual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal directions of the residuals, outside the basis; fewer where there is nothing new."""
    room = len(basis) - basis.shape[1]
    scale = np.sqrt((residual**2).sum(axis=0))
    fresh: NDArray[Any] = residual[:, scale > 0] / scale[scale > 0]
    for _ in range(2):  # once is not enough (Kahan, Parlett)
        q, r, _order = linalg.qr(fresh - basis @ (basis.T @ fresh), mode="economic", pivoting=True)
        rank = int((np.abs(np.diag(r)) > 1e-12).sum())
        fresh = q[:, : min(rank, room)]
    return fresh


@one_blas_thread()  # small matrices: more threads only wait for each other, and round otherwise
def pca_iterative(source: Source, m: int, seed: int = 0) -> Components:
    """The ``m`` leading components, eigenvalues accurate to about 1e-10 of themselves."""
    columns: ColumnMoments = reduce(source, ColumnMoments.of)
    if columns.infinite is not None:
        raise infinite_cell(source.names, *columns.infinite)
    if columns.missing:
        raise_for_bad_cell(source)
    d, weight = source.n_columns, columns.total
    most = limit(columns.rows, weight, d)
    m = asked(m, most, columns.rows)
    method = LeadingComponents(m, weight, columns.mean)
    (run,) = iterate(method, source, [method.start(seed)], max_iter=MOST_PASSES)
    if run.status == "step limit":
        warnings.warn(
            f"The {m} leading components did not settle in {MOST_PASSES} passes: "
            "their eigenvalues lie too close. Ask for fewer or more of them.",
            NotConvergedWarning,
            stacklevel=2,
        )
    space = run.model
    total = float(columns.scatter.sum())
    return assembled(
        columns.mean, space.basis.T, space.values, d * EPS, m, total=total, weight=weight, most=most
    )
