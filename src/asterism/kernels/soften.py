"""Responsibilities from distances, and the totals they give, in one reading of the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel

TILE = 256


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

    The least distance is taken out before exp, so nothing under- or overflows however stiff b is.
    """
    n, d = rows.shape
    k = len(slopes)
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
            energy += w * share_out(squares[:, i], stiffness)
            if i < t and w > 0.0:
                norm = 0.0
                for j in range(d):
                    norm += y[i, j] * y[i, j]
                energy += w * norm
            if len(shares) and i < t:
                shares[first + i] = squares[:, i]
            for c in range(k):
                squares[c, i] *= w
            if w == 0.0:
                y[i] = 0.0  # an absent row may hold anything, even infinity
        np.dot(squares, y, part)
        table += part
    return energy


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
