"""One visit of a block by a Gaussian mixture: responsibilities and what they add up to.

With y_c = W_c (x - mu_c) for a lower triangular W_c (the inverse of the Cholesky factor of a covariance)

    log p_c(x) = log det W_c - d/2 log 2 pi - ||y_c||^2 / 2
    r_c        = pi_c p_c(x) / sum_b pi_b p_b(x)

The shape of ``factors`` names the structure, and scatters come back in the same shape:

    (k, d, d)  full: a matrix a group          (1, d, d)  tied: one for all groups
    (k, d)     diagonal: one number a column and group
    (k, 1)     spherical: one number a group, and the sum over columns of its scatter

Responsibilities live for a tile of rows; nothing of size n x k is kept. Scatters are taken about the means the model
has, which are near the new ones, and then moved to the new means: nothing far away is ever subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.diagonal import diagonal_block, diagonal_scores
from asterism.kernels.full import full_block, full_scores
from asterism.kernels.lanes import FEW
from asterism.kernels.shares import DRAW, HARD, SOFT
from asterism.kernels.spherical import spherical_block
from asterism.kernels.tied import tied_block, tied_scores

Floats = NDArray[Any]  # float32 or float64
Vector = NDArray[np.float64]
Kind = np.dtype[Any]  # of the arithmetic

MODES = {"soft": SOFT, "hard": HARD, "draw": DRAW}
LOOK = 256  # rows of a block that tell how large cells are
MOST_GROWTH = 64.0  # see ``precision``
DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)
NEAR = {DOUBLE: 100.0, SINGLE: 8.0}  # see ``_tied``


class GaussianTotals(NamedTuple):
    """What the responsibilities of a block add up to."""

    mass: Vector  # (k,) N = sum w r
    shifts: Vector  # (k, d) new means minus the model's; 0 where nobody has a share
    scatters: Vector  # shaped as the factors: sum w r (x - new mean)(x - new mean)'
    log_likelihood: float  # sum w log sum_c pi_c p_c(x); NaN where a row misses a cell
    best_log_likelihood: float  # sum w max_c log pi_c p_c(x): what hard assignment climbs


# --- components, ready for kernels ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Normals:
    """k normal components, and what kernels want of them: made at the first block, kept for all others."""

    offsets: Vector  # (k, d) means - reference
    factors: Vector  # (k, d, d), (1, d, d), (k, d) or (k, 1): W
    _made: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, name: str, kind: Kind, make: Callable[[], Any]) -> Any:
        """What ``make`` makes; two threads may both make it, and it is the same."""
        key = name, kind
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @cached_property
    def heights(self) -> Vector:
        """(k,) log det W - d/2 log 2 pi."""
        k, d = self.offsets.shape
        f = self.factors
        logs = np.log(f if f.ndim == 2 else np.diagonal(f, axis1=1, axis2=2)).sum(axis=1)
        logs = logs * d if f.shape[1] == 1 else logs
        return np.asarray(np.broadcast_to(logs - 0.5 * d * math.log(2.0 * math.pi), (k,)))

    @cached_property
    def middle(self) -> Vector:
        """(d,) amid the means."""
        return np.asarray(self.offsets.mean(axis=0))

    @cached_property
    def apart(self) -> Vector:
        """(k, d) means from the middle."""
        return np.asarray(self.offsets - self.middle)

    @cached_property
    def whitened(self) -> Vector:
        """(k, d) W (mean - middle), of one matrix, or of a number a group."""
        if self.factors.ndim == 2:
            return np.asarray(self.apart * self.factors)
        return np.asarray(self.apart @ self.factors[0].T)

    @cached_property
    def reach(self) -> float:
        """Standard deviations from the middle to the farthest mean."""
        return float(np.sqrt((self.whitened**2).sum(axis=1).max()))

    @cached_property
    def squared_factors(self) -> Vector:
        """W with every number squared."""
        return np.asarray(self.factors * self.factors)

    @cached_property
    def own_growth(self) -> Vector:
        """sum_j W_j^2 mu_j^2 of every line of W and group, (lines, k) for one matrix."""
        squares = self.offsets * self.offsets
        if self.factors.ndim == 2:
            return np.asarray(self.squared_factors * squares)
        if len(self.factors) == len(self.offsets):
            return np.asarray((self.squared_factors @ squares[:, :, None])[:, :, 0])
        return np.asarray(self.squared_factors[0] @ squares.T)

    def growth(self, size: Vector) -> float:
        """sqrt(max sum_j W_j^2 (mu_j^2 + size_j)) over lines of W and groups."""
        if self.factors.ndim == 2:
            return math.sqrt(float((self.own_growth + self.squared_factors * size).max()))
        if len(self.factors) == len(self.offsets):
            return math.sqrt(float((self.own_growth + self.squared_factors @ size).max()))
        return math.sqrt(float((self.own_growth + (self.squared_factors[0] @ size)[:, None]).max()))


def gaussian_pass(
    rows: Floats,  # (n, d) complete
    weights: Vector,  # (n,)
    reference: Vector,  # (d,) a point among the rows
    normals: Normals,  # k components, about the reference
    log_weights: Vector,  # (k,) log pi
    assignment: str = "soft",  # or "hard": all of a row to the likeliest group; or "draw"
    draws: Vector | None = None,  # (n,) for "draw": a number of [0, 1) a row, which picks its group
) -> GaussianTotals:
    """Responsibilities of the rows of a block, added up about the new means.

    A group whose share of a row is below 2^-57 (float32: 2^-36) gets none of it (``kernels.shares``).
    """
    constants = log_weights + normals.heights
    chances = np.empty(0) if draws is None else np.asarray(draws, np.float64)
    kind = precision(rows, weights, reference, normals)
    visit = _visit_of(normals.factors, *normals.offsets.shape)
    return visit(rows, weights, reference, normals, constants, kind, MODES[assignment], chances)


Visit = Callable[[Floats, Vector, Vector, Normals, Vector, Kind, int, Vector], GaussianTotals]


def _visit_of(factors: Vector, k: int, d: int) -> Visit:
    if factors.ndim == 2:
        return _spherical if factors.shape[1] == 1 and d > 1 else _diagonal
    return _full if len(factors) == k else _tied


# --- the four structures ----------------------------------------------------------------------------------------


def _full(
    rows: Floats,
    weights: Vector,
    reference: Vector,
    normals: Normals,
    constants: Vector,
    kind: Kind,
    mode: int,
    draws: Vector,
) -> GaussianTotals:
    k, d = normals.offsets.shape
    inner = normals.once("factors", kind, lambda: padded(normals.factors, kind))
    offsets = normals.offsets.astype(kind, copy=False)
    mass, sums, totals = np.zeros(k), np.zeros((k, d)), np.zeros(2)
    lower = np.zeros(inner.shape)
    full_block(
        rows, weights, at(reference), offsets, inner, constants.astype(kind), mode, draws, mass, sums, lower, totals
    )  # fmt: skip
    shifts = _over(sums, mass)
    scatters = symmetric(lower, d)
    scatters -= shifts[:, :, None] * sums[:, None, :]
    return GaussianTotals(mass, shifts, scatters, float(totals[0]), float(totals[1]))


def _tied(
    rows: Floats,
    weights: Vector,
    reference: Vector,
    normals: Normals,
    constants: Vector,
    kind: Kind,
    mode: int,
    draws: Vector,
) -> GaussianTotals:
    """In units of the covariance, the scatter within is 1 a row in every direction and that of the means at most
    m^2, m the farthest mean's distance from the middle: taking the one from the other costs a factor 1 + m^2 of
    precision, and so do scores from products. Beyond ``NEAR``, group by group.
    """
    k, d = normals.offsets.shape
    if normals.reach > NEAR[kind]:
        every = normals.once("every", DOUBLE, lambda: _one_each(normals))
        found = _full(rows, weights, reference, every, constants, kind, mode, draws)
        return found._replace(scatters=found.scatters.sum(axis=0, keepdims=True))
    inner = normals.once("factors", kind, lambda: padded(normals.factors, kind))
    centers, heights = normals.once("centers", kind, lambda: _centers(normals.whitened, np.ones(k), kind))
    width = inner.shape[1]
    mass, totals = np.zeros(k), np.zeros(2)
    sums, lower = np.zeros(centers.shape), np.zeros((1, width, width))
    lines = np.stack([np.ones(k), constants + heights]).astype(kind, copy=False)
    origin = np.stack([reference, normals.middle])
    tied_block(rows, weights, origin, inner[0], centers, lines, mode, draws, mass, sums, lower[0], totals)
    means = _over(sums[:k, :d], mass)  # from the middle
    scatters = symmetric(lower, d)
    scatters[0] -= (means * mass[:, None]).T @ means
    shifts = np.where(mass[:, None] > 0, means - normals.apart, 0.0)
    return GaussianTotals(mass, shifts, scatters, float(totals[0]), float(totals[1]))


def _diagonal(
    rows: Floats,
    weights: Vector,
    reference: Vector,
    normals: Normals,
    constants: Vector,
    kind: Kind,
    mode: int,
    draws: Vector,
) -> GaussianTotals:
    """About one point where that is precise enough, as in ``_tied``; else about each mean."""
    k, d = normals.offsets.shape
    near = normals.once("near", kind, lambda: bool(np.abs(normals.whitened).max() <= NEAR[kind]))
    lines = normals.once("lines", kind, lambda: scaled(normals.apart, normals.factors, kind))
    mass, moments, totals = np.zeros(k), np.zeros((2, k + k % 2, lines.shape[2])), np.zeros(2)
    origin = np.stack([reference, normals.middle])
    diagonal_block(
        rows, weights, origin, lines, constants.astype(kind), mode, draws, near, mass, moments, totals
    )
    first, second = moments[0, :k, :d], moments[1, :k, :d]
    means = _over(first, mass)
    scatters = np.maximum(second - means * first, 0.0)
    if near:
        shifts = np.where(mass[:, None] > 0, means - normals.apart, 0.0)
    else:
        shifts, scatters = means / normals.factors, scatters / normals.squared_factors
    return GaussianTotals(mass, shifts, scatters, float(totals[0]), float(totals[1]))


def _spherical(
    rows: Floats,
    weights: Vector,
    reference: Vector,
    normals: Normals,
    constants: Vector,
    kind: Kind,
    mode: int,
    draws: Vector,
) -> GaussianTotals:
    """From products where the means are near enough, as in ``_tied``; else column by column."""
    k, d = normals.offsets.shape
    if normals.reach > NEAR[kind]:
        every = normals.once("every", DOUBLE, lambda: _one_each(normals))
        found = _diagonal(rows, weights, reference, every, constants, kind, mode, draws)
        return found._replace(scatters=found.scatters.sum(axis=1, keepdims=True))
    precisions = normals.squared_factors[:, 0]
    centers, heights = normals.once("centers", kind, lambda: _centers(normals.apart, precisions, kind))
    mass, squares, totals, sums = np.zeros(k), np.zeros(k), np.zeros(2), np.zeros(centers.shape)
    lines = np.stack([precisions, constants + heights]).astype(kind, copy=False)
    origin = np.stack([reference, normals.middle])
    spherical_block(rows, weights, origin, centers, lines, mode, draws, mass, sums, squares, totals)
    first = sums[:k, :d]
    means = _over(first, mass)
    scatters = np.maximum(2.0 * squares - (means * first).sum(axis=1), 0.0)[:, None]
    shifts = np.where(mass[:, None] > 0, means - normals.apart, 0.0)
    return GaussianTotals(mass, shifts, scatters, float(totals[0]), float(totals[1]))


# --- small parts ------------------------------------------------------------------------------------------------


def precision(rows: Floats, weights: Vector, reference: Vector, normals: Normals) -> Kind:
    """float32 for float32 rows where that is enough, else float64.

    Rounding x_j and mu_j to float32 moves W z by about 2^-24 sqrt(sum_j W_j^2 (x_j^2 + mu_j^2)) standard deviations
    (roundings have all signs); where this growth is at most ``MOST_GROWTH`` (columns not nearly dependent, means not
    many standard deviations apart), by less than 4e-6.
    """
    if rows.dtype != np.float32:
        return DOUBLE
    step = max(len(rows) // LOOK, 1)
    some = rows[::step][weights[::step] > 0] - reference
    size = np.einsum("ij,ij->j", some, some) / max(len(some), 1)
    return SINGLE if normals.growth(size) <= MOST_GROWTH else DOUBLE


def at(reference: Vector) -> Vector:
    """(2, d) the reference as a point, and no step from it."""
    return np.stack([reference, np.zeros_like(reference)])


def padded(factors: Vector, kind: Kind) -> Floats:
    """(k, d, d) matrices with lines and columns of zeros added, as kernels take them."""
    k, d, _ = factors.shape
    width = -(-d // FEW) * FEW
    if width == d:
        return np.ascontiguousarray(factors, kind)
    out = np.zeros((k, width, width), kind)
    out[:, :d, :d] = factors
    return out


def scaled(offsets: Vector, factors: Vector, kind: Kind) -> Floats:
    """(2, k, padded d) s and s mu."""
    k, d = offsets.shape
    lines = np.zeros((2, k, -(-d // FEW) * FEW), kind)
    lines[0, :, :d] = factors
    lines[1, :, :d] = factors * offsets
    return lines


def _centers(points: Vector, precisions: Vector, kind: Kind) -> tuple[Floats, Vector]:
    """(even k, padded d) points, and (k,) -s^2 ||point||^2 / 2 of them as they were rounded."""
    k, d = points.shape
    lines = np.zeros((k + k % 2, -(-d // FEW) * FEW), kind)
    lines[:k, :d] = points
    squares = (lines[:k].astype(np.float64) ** 2).sum(axis=1)
    return lines, np.asarray(-0.5 * precisions * squares)


def _one_each(normals: Normals) -> Normals:
    """The same components with a matrix, or a line of numbers, for every group."""
    k, d = normals.offsets.shape
    shape = (k, d) if normals.factors.ndim == 2 else (k, d, d)
    return Normals(normals.offsets, np.ascontiguousarray(np.broadcast_to(normals.factors, shape)))


def symmetric(lower: Vector, d: int) -> Vector:
    """(k, d, d) matrices from their lower triangles; what stood above is not looked at."""
    inside = lower[:, :d, :d]
    return np.where(np.tri(d, dtype=bool), inside, inside.transpose(0, 2, 1))


def _over(sums: Vector, mass: Vector) -> Vector:
    return np.divide(sums, mass[:, None], out=np.zeros_like(sums), where=mass[:, None] > 0)


def gaussian_log_density(rows: Floats, reference: Vector, normals: Normals) -> Vector:
    """(n, k) log p_c(x) of complete rows, in float64 and from differences, however far apart groups are."""
    k = len(normals.offsets)
    offsets, factors = normals.offsets, normals.factors
    out, ones = np.empty((len(rows), k)), np.ones(len(rows))
    rows, constants = np.ascontiguousarray(rows), np.ascontiguousarray(normals.heights)
    if factors.ndim == 2:
        lines = normals.once("plain lines", DOUBLE, lambda: scaled(offsets, factors, DOUBLE))
        diagonal_scores(rows, ones, at(reference), lines, constants, out)
    elif len(factors) == k:
        inner = normals.once("factors", DOUBLE, lambda: padded(factors, DOUBLE))
        full_scores(rows, ones, at(reference), offsets, inner, constants, out)
    else:
        inner = normals.once("factors", DOUBLE, lambda: padded(factors, DOUBLE))
        centers, _ = normals.once("centers", DOUBLE, lambda: _centers(normals.whitened, np.ones(k), DOUBLE))
        origin = np.stack([reference, normals.middle])
        tied_scores(rows, ones, origin, inner[0], centers[:k], constants, out)
    return out
