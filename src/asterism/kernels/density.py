"""One visit of a block by a Gaussian mixture: responsibilities and what they add up to.

With y_c = W_c (x - mu_c) for a lower triangular W_c (the inverse of the Cholesky factor of a covariance)

    log p_c(x) = log det W_c - d/2 log 2 pi - ||y_c||^2 / 2
    r_c        = pi_c p_c(x) / sum_b pi_b p_b(x)

The shape of ``factors`` names the structure, and scatters come back in the same shape:

    (k, d, d)  full: a matrix a group          (1, d, d)  tied: one for all groups
    (k, d)     diagonal (spherical too): one number a column and group

Responsibilities live for a tile of rows; nothing of size n x k is kept. Scatters are taken about the means the model
has, which are near the new ones, and then moved to the new means: nothing far away is ever subtracted.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.diagonal import diagonal_block, diagonal_scores
from asterism.kernels.full import full_block, full_scores
from asterism.kernels.lanes import FEW
from asterism.kernels.shares import DRAW, HARD, SOFT
from asterism.kernels.tied import tied_block, tied_scores

Floats = NDArray[Any]  # float32 or float64
Vector = NDArray[np.float64]

MODES = {"soft": SOFT, "hard": HARD, "draw": DRAW}
LOOK = 256  # rows of a block that tell how large cells are
MOST_GROWTH = 64.0  # see ``precision``
NEAR = {np.dtype(np.float64): 100.0, np.dtype(np.float32): 8.0}  # see ``_tied``


class GaussianTotals(NamedTuple):
    """What the responsibilities of a block add up to."""

    mass: Vector  # (k,) N = sum w r
    shifts: Vector  # (k, d) new means minus the model's; 0 where nobody has a share
    scatters: Vector  # shaped as the factors: sum w r (x - new mean)(x - new mean)'
    log_likelihood: float  # sum w log sum_c pi_c p_c(x)
    best_log_likelihood: float  # sum w max_c log pi_c p_c(x): what hard assignment climbs


def gaussian_pass(
    rows: Floats,  # (n, d) complete
    weights: Vector,  # (n,)
    reference: Vector,  # (d,) a point among the rows
    offsets: Vector,  # (k, d) means - reference
    factors: Vector,  # (k, d, d), (1, d, d) or (k, d): W
    log_weights: Vector,  # (k,) log pi
    assignment: str = "soft",  # or "hard": all of a row to the likeliest group; or "draw"
    draws: Vector | None = None,  # (n,) for "draw": a number of [0, 1) a row, which picks its group
) -> GaussianTotals:
    """Responsibilities of the rows of a block, added up about the new means.

    A group whose share of a row is below 2^-64 gets none of it (``kernels.shares``).
    """
    constants = log_weights + heights(factors, offsets.shape[1])
    chances = np.empty(0) if draws is None else np.asarray(draws, np.float64)
    visit = _diagonal if factors.ndim == 2 else _full if len(factors) == len(offsets) else _tied
    return visit(rows, weights, reference, offsets, factors, constants, MODES[assignment], chances)


def heights(factors: Vector, d: int) -> Vector:
    """log det W - d/2 log 2 pi of every matrix."""
    diagonals = factors if factors.ndim == 2 else np.diagonal(factors, axis1=1, axis2=2)
    return np.asarray(np.log(diagonals).sum(axis=1) - 0.5 * d * math.log(2.0 * math.pi))


# --- the three structures ---------------------------------------------------------------------------------------


def _full(
    rows: Floats,
    weights: Vector,
    reference: Vector,
    offsets: Vector,
    factors: Vector,
    constants: Vector,
    mode: int,
    draws: Vector,
) -> GaussianTotals:
    k, d = offsets.shape
    kind = precision(rows, weights, reference, offsets, factors)
    inner = padded(factors, kind)
    mass, sums, totals = np.zeros(k), np.zeros((k, d)), np.zeros(2)
    lower = np.zeros(inner.shape)
    full_block(
        rows,
        weights,
        at(reference),
        offsets.astype(kind),
        inner,
        constants.astype(kind),
        mode,
        draws,
        mass,
        sums,
        lower,
        totals,
    )
    shifts = _over(sums, mass)
    scatters = symmetric(lower, d)
    scatters -= shifts[:, :, None] * sums[:, None, :]
    return GaussianTotals(mass, shifts, scatters, float(totals[0]), float(totals[1]))


def _tied(
    rows: Floats,
    weights: Vector,
    reference: Vector,
    offsets: Vector,
    factors: Vector,
    constants: Vector,
    mode: int,
    draws: Vector,
) -> GaussianTotals:
    """In units of the covariance, the scatter within is 1 a row in every direction and that of the means at most
    m^2, m the farthest mean's distance from the middle: taking the one from the other costs a factor 1 + m^2 of
    precision. Beyond ``NEAR``, group by group.
    """
    k, d = offsets.shape
    kind = precision(rows, weights, reference, offsets, factors)
    middle, whitened = _whitened(offsets, factors, kind)
    if float(np.abs(whitened).max()) > NEAR[kind]:
        every = np.broadcast_to(factors, (k, d, d))
        same = np.broadcast_to(constants, (k,))
        found = _full(rows, weights, reference, offsets, every, same, mode, draws)
        return found._replace(scatters=found.scatters.sum(axis=0, keepdims=True))
    inner = padded(factors, kind)
    width = inner.shape[1]
    mass, totals = np.zeros(k), np.zeros(2)
    sums, lower = np.zeros((k + k % 2, width)), np.zeros((1, width, width))
    constants = np.broadcast_to(constants, (k,)).astype(kind)
    tied_block(
        rows,
        weights,
        np.stack([reference, middle]),
        inner[0],
        whitened,
        constants,
        mode,
        draws,
        mass,
        sums,
        lower[0],
        totals,
    )
    means = _over(sums[:k, :d], mass)  # from the middle
    scatters = symmetric(lower, d)
    scatters[0] -= (means * mass[:, None]).T @ means
    shifts = np.where(mass[:, None] > 0, means - (offsets - middle), 0.0)
    return GaussianTotals(mass, shifts, scatters, float(totals[0]), float(totals[1]))


def _diagonal(
    rows: Floats,
    weights: Vector,
    reference: Vector,
    offsets: Vector,
    factors: Vector,
    constants: Vector,
    mode: int,
    draws: Vector,
) -> GaussianTotals:
    """About one point where that is precise enough, as in ``_tied``; else about each mean."""
    k, d = offsets.shape
    kind = precision(rows, weights, reference, offsets, factors)
    middle = offsets.mean(axis=0)
    apart = offsets - middle
    near = bool(np.abs(apart * factors).max() <= NEAR[kind])
    lines = scaled(apart, factors, kind)
    mass, moments, totals = np.zeros(k), np.zeros((2, k + k % 2, lines.shape[2])), np.zeros(2)
    diagonal_block(
        rows,
        weights,
        np.stack([reference, middle]),
        lines,
        constants.astype(kind),
        mode,
        draws,
        near,
        mass,
        moments,
        totals,
    )
    first, second = moments[0, :k, :d], moments[1, :k, :d]
    means = _over(first, mass)
    scatters = np.maximum(second - means * first, 0.0)
    if near:
        shifts = np.where(mass[:, None] > 0, means - apart, 0.0)
    else:
        shifts, scatters = means / factors, scatters / factors**2
    return GaussianTotals(mass, shifts, scatters, float(totals[0]), float(totals[1]))


# --- small parts ------------------------------------------------------------------------------------------------


def precision(
    rows: Floats, weights: Vector, reference: Vector, offsets: Vector, factors: Vector
) -> np.dtype[Any]:
    """float32 for float32 rows where that is enough, else float64.

    Rounding x_j and mu_j to float32 moves W z by about 2^-24 sqrt(sum_j W_j^2 (x_j^2 + mu_j^2)) standard deviations
    (roundings have all signs); where this growth is at most ``MOST_GROWTH`` (columns not nearly dependent, means not
    many standard deviations apart), by less than 4e-6.
    """
    if rows.dtype != np.float32:
        return np.dtype(np.float64)
    step = max(len(rows) // LOOK, 1)
    some = rows[::step][weights[::step] > 0] - reference
    size = np.einsum("ij,ij->j", some, some) / max(len(some), 1)
    reach = offsets * offsets + size
    if factors.ndim == 2:
        growth = np.sqrt((factors * factors * reach).max())
    elif len(factors) == len(offsets):
        growth = np.sqrt(np.einsum("cij,cij,cj->ci", factors, factors, reach).max())
    else:
        growth = np.sqrt(((factors[0] * factors[0]) @ reach.T).max())
    return np.dtype(np.float32 if growth <= MOST_GROWTH else np.float64)


def at(reference: Vector) -> Vector:
    """(2, d) the reference as a point, and no step from it."""
    return np.stack([reference, np.zeros_like(reference)])


def padded(factors: Vector, kind: np.dtype[Any]) -> Floats:
    """(k, d, d) matrices with lines and columns of zeros added, as kernels take them."""
    k, d, _ = factors.shape
    width = -(-d // FEW) * FEW
    if width == d:
        return np.ascontiguousarray(factors, kind)
    out = np.zeros((k, width, width), kind)
    out[:, :d, :d] = factors
    return out


def scaled(offsets: Vector, factors: Vector, kind: np.dtype[Any]) -> Floats:
    """(2, k, padded d) s and s mu."""
    k, d = offsets.shape
    lines = np.zeros((2, k, -(-d // FEW) * FEW), kind)
    lines[0, :, :d] = factors
    lines[1, :, :d] = factors * offsets
    return lines


def _whitened(offsets: Vector, factors: Vector, kind: np.dtype[Any]) -> tuple[Vector, Floats]:
    """The middle of the means, and (k, padded d) W (mean - middle)."""
    k, d = offsets.shape
    middle = offsets.mean(axis=0)
    lines = np.zeros((k, -(-d // FEW) * FEW), kind)
    lines[:, :d] = (offsets - middle) @ factors[0].T
    return middle, lines


def symmetric(lower: Vector, d: int) -> Vector:
    """(k, d, d) matrices from their lower triangles; what stood above is not looked at."""
    inside = lower[:, :d, :d]
    return np.where(np.tri(d, dtype=bool), inside, inside.transpose(0, 2, 1))


def _over(sums: Vector, mass: Vector) -> Vector:
    return np.divide(sums, mass[:, None], out=np.zeros_like(sums), where=mass[:, None] > 0)


def gaussian_log_density(rows: Floats, reference: Vector, offsets: Vector, factors: Vector) -> Vector:
    """(n, k) log p_c(x) of complete rows, in float64."""
    k, d = offsets.shape
    kind = np.dtype(np.float64)
    out, ones = np.empty((len(rows), k)), np.ones(len(rows))
    rows = np.ascontiguousarray(rows)
    constants = np.broadcast_to(heights(factors, d), (k,)).copy()
    if factors.ndim == 2:
        diagonal_scores(rows, ones, at(reference), scaled(offsets, factors, kind), constants, out)
    elif len(factors) == k:
        full_scores(rows, ones, at(reference), offsets, padded(factors, kind), constants, out)
    else:
        middle, whitened = _whitened(offsets, factors, kind)
        origin = np.stack([reference, middle])
        tied_scores(rows, ones, origin, padded(factors, kind)[0], whitened, constants, out)
    return out
