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

Floats = NDArray[Any]  # float32 or float64
Vector = NDArray[np.float64]
TILE = 256


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
    """Responsibilities of the rows of a block, added up about the new means."""
    k, d = offsets.shape
    mass, sums = np.zeros(k), np.zeros((k, d))
    scatters = np.zeros_like(factors)
    total = best_total = 0.0
    for a in range(0, len(rows), TILE):
        w = weights[a : a + TILE]
        x = np.where(w[:, None] > 0, rows[a : a + TILE].astype(np.float64) - reference, 0.0)
        scores = _scores(x, offsets, factors, log_weights)
        best = scores.max(axis=1)
        log_sum = best + np.log(np.exp(scores - best[:, None]).sum(axis=1))
        total += float(w @ log_sum)
        best_total += float(w @ best)
        r = np.exp(scores - log_sum[:, None])
        if assignment == "hard":
            r = np.eye(k)[scores.argmax(axis=1)]
        elif assignment == "draw" and draws is not None:
            pick = (np.cumsum(r, axis=1) <= draws[a : a + TILE, None]).sum(axis=1)
            r = np.eye(k)[np.minimum(pick, k - 1)]
        r = r * w[:, None]
        mass += r.sum(axis=0)
        for c in range(k):
            y = x - offsets[c]
            sums[c] += r[:, c] @ y
            if factors.ndim == 2:
                scatters[c] += r[:, c] @ (y * y)
            else:
                scatters[c if len(factors) > 1 else 0] += (y * r[:, c : c + 1]).T @ y
    share = np.divide(1.0, mass, out=np.zeros(k), where=mass > 0)
    shifts = sums * share[:, None]
    if factors.ndim == 2:
        scatters -= shifts * sums
    else:
        between = shifts[:, :, None] * sums[:, None, :]
        scatters -= between if len(factors) == k else between.sum(axis=0, keepdims=True)
    return GaussianTotals(mass, shifts, scatters, total, best_total)


def gaussian_log_density(rows: Floats, reference: Vector, offsets: Vector, factors: Vector) -> Vector:
    """(n, k) log p_c(x) of complete rows."""
    none = np.zeros(len(offsets))
    return _scores(rows.astype(np.float64) - reference, offsets, factors, none)


def _scores(x: Vector, offsets: Vector, factors: Vector, log_weights: Vector) -> Vector:
    k, d = offsets.shape
    out = np.empty((len(x), k))
    for c in range(k):
        if factors.ndim == 2:
            y, heights = (x - offsets[c]) * factors[c], factors[c]
        else:
            factor = factors[c if len(factors) > 1 else 0]
            y, heights = (x - offsets[c]) @ factor.T, np.diag(factor)
        constant = float(np.log(heights).sum()) - 0.5 * d * math.log(2.0 * math.pi) + log_weights[c]
        out[:, c] = constant - 0.5 * (y * y).sum(axis=1)
    return out
