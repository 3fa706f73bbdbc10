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
from asterism.engines.loop import Run, iterate
from asterism.engines.reduce import map_rows
from asterism.errors import ParameterError
from asterism.methods.frame import survey
from asterism.methods.kmeans import Centers, Lloyd, inertia_of, starting_centers


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
        return _visit(self.stiffness, model, block, np.empty((0, len(model.offsets))))

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
        return float(((after.offsets - before.offsets) ** 2).sum()) <= self.tol

    def pack(self, model: Centers) -> Mapping[str, NDArray[Any]]:
        """Arrays for a checkpoint."""
        return Lloyd().pack(model)

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Centers:
        """From a checkpoint."""
        return Lloyd().unpack(arrays)


def _visit(stiffness: float, model: Centers, block: Block, shares: NDArray[np.float64]) -> SoftTotals:
    from asterism.kernels.soften import soften_block

    c = model.offsets
    table = SoftTotals.zero(*c.shape).table
    slopes = np.hstack([-2.0 * c, c**2])
    energy = soften_block(block.rows, block.weights, model.frame.reference, slopes, stiffness, table, shares)
    return SoftTotals(table, float(energy))


def responsibilities(stiffness: float, model: Centers, source: Source) -> NDArray[np.float64]:
    """(n, k) r of every row."""
    return map_rows(source, partial(_shares_of, stiffness, model, source.names))


def _shares_of(stiffness: float, model: Centers, names: tuple[str, ...], block: Block) -> NDArray[np.float64]:
    require_finite(block, names, missing_ok=True)
    shares = np.empty((len(block), len(model.offsets)))
    _visit(stiffness, model, block, shares)
    return shares


def fit_soft_kmeans(
    source: Source,
    k: int,
    *,
    stiffness: float | str = "auto",
    init: str | NDArray[Any] = "k-means++",
    n_init: int = 1,
    max_iter: int = 300,
    tol: float = 1e-4,
    seed: int | None = None,
) -> tuple[Run[Centers], Soft]:
    """The best of ``n_init`` starts, and the method with the stiffness it used.

    ``"auto"`` sets ``1/(2 s^2)`` with s^2 the variance per coordinate around the starting centres, so that the
    responsibilities are those of round normal groups of that size.
    """
    frame, moments = survey(source)
    starts = starting_centers(source, frame, moments, k, init, n_init, seed)
    stiff = (
        _auto_stiffness(source, starts[0], float(moments.weight.sum())) if stiffness == "auto" else stiffness
    )
    if isinstance(stiff, str) or not 0 < stiff < np.inf:
        raise ParameterError(f"stiffness is {stiffness!r}.", "Give a number above 0, or 'auto'.")
    method = Soft(float(stiff), tol * float(moments.variance.mean()))
    runs = iterate(method, source, starts, max_iter=max_iter)
    return min(runs, key=lambda run: run.objective), method


def _auto_stiffness(source: Source, start: Centers, cells: float) -> float:
    within = inertia_of(start, source) / cells
    return 0.5 / within if within > 0 else 1.0 / np.finfo(np.float64).eps
