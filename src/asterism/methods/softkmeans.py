"""Soft k-means: every row belongs to every centre, the near ones more.

    r_ic = exp(-b ||x_i - c||^2) / sum_c' exp(-b ||x_i - c'||^2)        b: the stiffness
    c    = sum_i w_i r_ic x_i / sum_i w_i r_ic

Both steps lower the free energy ``F = -1/b sum_i w_i log sum_c exp(-b ||x_i - c||^2)``. As b grows, r becomes 0 or 1
and F becomes the J of k-means: soft k-means with stiffness 1/eps tends to k-means as eps tends to 0.

References
----------
1. MacKay (2003), Information Theory, Inference, and Learning Algorithms, chapter 20.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.data.finite import require_finite
from asterism.data.source import Source
from asterism.engines.loop import Run, Status, iterate
from asterism.engines.reduce import map_reduce, map_rows
from asterism.errors import ParameterError
from asterism.methods.frame import survey
from asterism.methods.kmeans import check_settings, inertia_of, starting_centers
from asterism.methods.lloyd import Centers, labels_of, moved, pack_centers, unpack_centers
from asterism.stats.moments import ColumnMoments

Array = NDArray[np.float64]

TILE_ROWS = 1024  # measured: the shares of so many rows stay in the cache
ROUNDING = 2.0**-52
CLOSE_ENOUGH = 1e-11  # relative error of a share that rounding may cause


@dataclass(frozen=True, slots=True)
class SoftTotals:
    """What responsibilities give: sums about the frame's reference, and the free energy. They add."""

    table: NDArray[np.float64]  # (k, 2d): sum w r (x - reference), sum w r, over observed cells
    energy: float  # F

    @classmethod
    def zero(cls, k: int, d: int) -> SoftTotals:
        """The totals of no rows."""
        return cls(np.zeros((k, 2 * d)), 0.0)

    def merge(self, other: SoftTotals) -> SoftTotals:
        """Sums add."""
        return SoftTotals(self.table + other.table, self.energy + other.energy)


@dataclass(frozen=True)
class Soft:
    """The method; ``tol`` as for k-means."""

    stiffness: float
    tol: float = 0.0
    name: str = "soft k-means"

    def summarize(self, model: Centers, block: Block) -> SoftTotals:
        """Responsibilities of a block, added up."""
        totals = SoftTotals.zero(*model.offsets.shape)
        for rows in _tiles(len(block)):
            w = block.weights[rows]
            y, seen = _deviations(model, block.rows[rows])
            if not w.all():
                y[w == 0] = 0.0  # absent rows may hold anything, infinity included
            r, energy = _share_out(self.stiffness, model.offsets, y, seen)
            r *= w
            table = np.hstack([r @ y, r @ seen])
            totals = totals.merge(SoftTotals(table, float(w @ energy)))
        return totals

    def update(self, model: Centers, statistic: SoftTotals) -> Centers:
        """c = sum w r x / sum w r; a coordinate nobody has a share in stays."""
        d = model.offsets.shape[1]
        total, mass = statistic.table[:, :d], statistic.table[:, d:]
        return replace(model, offsets=np.divide(total, mass, out=model.offsets.copy(), where=mass > 0))

    def objective(self, model: Centers, statistic: SoftTotals) -> float:  # noqa: ARG002  the loop's signature
        """F."""
        return statistic.energy

    def settled(self, before: Centers, after: Centers) -> bool:
        """The centres hardly moved."""
        return moved(before, after) <= self.tol

    def pack(self, model: Centers) -> Mapping[str, NDArray[Any]]:
        """Arrays for a checkpoint."""
        return pack_centers(model)

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Centers:
        """From a checkpoint."""
        return unpack_centers(arrays)


def _tiles(n: int) -> list[slice]:
    """Rows whose shares stay in the cache."""
    return [slice(i, min(i + TILE_ROWS, n)) for i in range(0, n, TILE_ROWS)]


def _deviations(model: Centers, rows: NDArray[Any]) -> tuple[Array, Array]:
    """(n, d) ``x - reference``, 0 where a cell is missing; (n, d) 1 where it is observed."""
    y = rows - model.frame.reference
    seen = ~np.isnan(y)
    y[~seen] = 0.0
    return y, seen.astype(np.float64)


def _share_out(stiffness: float, centers: Array, y: Array, seen: Array) -> tuple[Array, Array]:
    """(k, n) r, and (n,) ``-1/b log sum_c exp(-b ||y - c||^2)``, over observed cells.

    The least distance is taken out before exp, so nothing under- or overflows however stiff b is. Squared distances
    come from products, ``||y||^2 - 2 c y + c^2 seen``, which rounds like ``(||y|| + ||c||)^2``; rows for which that
    would show (a far group with a fine structure) have them from the differences.
    """
    squares = (-2.0 * centers) @ y.T
    squares += centers**2 @ seen.T
    norms = np.einsum("ij,ij->i", y, y)
    reach = np.sqrt((centers**2).sum(axis=1).max())
    far = np.flatnonzero(stiffness * ROUNDING * (np.sqrt(norms) + reach) ** 2 > CLOSE_ENOUGH)
    if len(far):
        for c, center in enumerate(centers):
            squares[c, far] = ((y[far] - seen[far] * center) ** 2).sum(axis=1)
        norms[far] = 0.0
    least = squares.min(axis=0)
    squares -= least
    squares *= -stiffness
    r = np.exp(squares, out=squares)
    total = r.sum(axis=0)
    r /= total
    return r, norms + least - np.log(total) / stiffness


def responsibilities(stiffness: float, model: Centers, source: Source) -> NDArray[np.float64]:
    """(n, k) r of every row."""
    return map_rows(source, partial(_shares_of, stiffness, model, source.names))


def _shares_of(stiffness: float, model: Centers, names: tuple[str, ...], block: Block) -> NDArray[np.float64]:
    require_finite(block, names, missing_ok=True)
    shares = np.empty((len(block), len(model.offsets)))
    for rows in _tiles(len(block)):
        shares[rows] = _share_out(stiffness, model.offsets, *_deviations(model, block.rows[rows]))[0].T
    return shares


@dataclass(frozen=True)
class SoftFit:
    """A finished soft k-means; labels and F are those of the centres it returns."""

    model: Centers
    stiffness: float
    labels: NDArray[np.int32]  # (n,) the centre with the largest share: the nearest
    energy: float  # F
    history: list[float]  # F before every step, then the last
    n_iter: int
    status: Status


def fit_soft_kmeans(
    source: Source,
    k: int,
    *,
    stiffness: Any = "auto",
    init: str | NDArray[Any] = "k-means++",
    n_init: int = 1,
    max_iter: int = 300,
    tol: float = 1e-4,
    seed: int | None = None,
) -> SoftFit:
    """The best of ``n_init`` starts.

    ``"auto"`` sets ``1/(2 s^2)`` with s^2 the variance per coordinate around the starting centres, so that the
    responsibilities are those of round normal groups of that size.
    """
    check_settings([k], n_init, max_iter, tol)
    auto = isinstance(stiffness, str) and stiffness == "auto"
    if not (auto or (isinstance(stiffness, int | float | np.number) and 0 < stiffness < np.inf)):
        raise ParameterError(f"stiffness is {stiffness!r}.", "Give a number above 0, or 'auto'.")
    frame, moments = survey(source)
    starts = starting_centers(source, frame, moments, k, init, n_init, seed)
    stiff = _auto_stiffness(source, starts[0], moments) if auto else float(stiffness)
    method = Soft(stiff, tol * float(moments.variance.mean()))
    runs = iterate(method, source, starts, max_iter=max_iter)
    return _finish(source, method, min(runs, key=lambda run: run.objective))


def _auto_stiffness(source: Source, start: Centers, moments: ColumnMoments) -> float:
    within = inertia_of(start, source) / float(moments.weight.sum())
    # A start on every distinct row has no spread: very stiff then, as the table's own spread goes.
    within = max(within, np.finfo(np.float64).eps * float(moments.variance.mean()))
    return 0.5 / within if within > 0 else 1.0


def _finish(source: Source, method: Soft, run: Run[Centers]) -> SoftFit:
    """Labels and F of the centres that are returned, in one last pass."""
    labels, totals = map_reduce(source, partial(_look_back, method, run.model))
    history = [*run.history, totals.energy]
    return SoftFit(run.model, method.stiffness, labels, totals.energy, history, run.steps, run.status)


def _look_back(method: Soft, model: Centers, block: Block) -> tuple[NDArray[np.int32], SoftTotals]:
    return labels_of(model, block), method.summarize(model, block)
