"""Responsibilities from distances, and the totals they give, in one reading of the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel, lane_sum_kernel

TILE = 256
ROUNDING = 2.0**-52
CLOSE_ENOUGH = 1e-11  # relative error of a share that rounding may cause


@kernel
def soften_block(
    rows: NDArray[Any],  # (n, d) in, NaN = missing
    weights: NDArray[np.float64],  # (n,) in
    reference: NDArray[np.float64],  # (d,) in
    slopes: NDArray[np.float64],  # (k, 2d) in: (-2 c | c^2), from the reference
    stiffness: float,
    table: NDArray[np.float64],  # (k, 2d) added to: sum w r (x - reference), sum w r, over observed cells
    shares: NDArray[np.float64],  # (n, k) out: r; or no rows
) -> float:
    """r_ic = exp(-b d_ic^2) / sum_c' exp(-b d_ic'^2); returns -1/b sum w log sum_c exp(-b d_ic^2).

    The least distance is taken out before exp, so nothing under- or overflows however stiff b is. Squared
    distances come from a product, ``||y||^2 + slopes . y``, which rounds like ``(||y|| + ||c||)^2``; rows for which
    that would show (a far group with a fine structure) have them from the differences.
    """
    n, d = rows.shape
    k = len(slopes)
    reach = 0.0  # the largest ||c||
    for c in range(k):
        reach = max(reach, math.sqrt(slopes[c, d:].sum()))
    y = np.zeros((TILE, 2 * d))
    squares = np.empty((k, TILE))
    part = np.empty((k, 2 * d))
    energy = 0.0
    for first in range(0, n, TILE):
        t = min(TILE, n - first)
        if t < TILE:
            y[t:] = 0.0
        for i in range(t):
            for j in range(d):
                v = np.float64(rows[first + i, j]) - reference[j]
                seen = v == v
                y[i, j] = v if seen else 0.0
                y[i, d + j] = 1.0 if seen else 0.0
        np.dot(slopes, y.T, squares)
        for i in range(TILE):
            w = weights[first + i] if i < t else 0.0
            if w == 0.0 and not (len(shares) and i < t):
                y[i] = 0.0  # an absent row may hold anything, even infinity
                squares[:, i] = 0.0
                continue
            norm = 0.0
            for j in range(d):
                norm += y[i, j] * y[i, j]
            if stiffness * ROUNDING * (math.sqrt(norm) + reach) ** 2 > CLOSE_ENOUGH:
                squares_from_differences(y[i], slopes, squares[:, i])
                norm = 0.0
            energy += w * (norm + share_out(squares[:, i], stiffness))
            if len(shares):
                shares[first + i] = squares[:, i]
            squares[:, i] *= w
        np.dot(squares, y, part)
        table += part
    return energy


@lane_sum_kernel
def squares_from_differences(
    y: NDArray[np.float64],  # (2d,) in: cells from the reference, then their mask
    slopes: NDArray[np.float64],  # (k, 2d) in: (-2 c | c^2)
    squares: NDArray[np.float64],  # (k,) out
) -> None:
    """||x - c||^2 over observed cells, to the last digit."""
    d = len(y) // 2
    for c in range(len(slopes)):
        total = 0.0
        for j in range(d):
            difference = y[d + j] * (y[j] + 0.5 * slopes[c, j])
            total += difference * difference
        squares[c] = total


@kernel
def share_out(squares: NDArray[np.float64], stiffness: float) -> float:
    """Turn squared distances into shares in place; returns -1/b log sum exp(-b d^2)."""
    least = np.inf
    for c in range(len(squares)):
        least = min(least, squares[c])
    total = 0.0
    for c in range(len(squares)):
        squares[c] = math.exp(-stiffness * (squares[c] - least))
        total += squares[c]
    for c in range(len(squares)):
        squares[c] /= total
    return least - math.log(total) / stiffness
