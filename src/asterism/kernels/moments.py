"""Moments of the columns of a block.

Sums are taken over runs of RUN rows, and the sums of runs are added with what rounding takes from each
addition (Neumaier). So the error does not grow with the number of rows: a few units in the last place.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel

RUN = 32


@kernel
def column_moments(
    rows: NDArray[np.float64],  # (n, d) in, NaN = missing
    weights: NDArray[np.float64],  # (n,) in
    counts: NDArray[np.int64],  # (3,) out: rows of weight > 0; row and column + 1 of the first infinite cell
) -> NDArray[np.float64]:
    """Weight, mean, rest of the mean, scatter, low, high and number of the finite cells: a (7, d) table.

    shift   = sum w (x - first) / sum w            first: the first finite value, so that sums stay small
    left    = sum w (x - first - shift) / sum w    what rounding left: corrects both moments
    mean    = first + shift + left                 as a number and the rest that did not fit into it
    scatter = sum w (x - first - shift)^2 - left^2 sum w
    """
    d = rows.shape[1]
    out = np.zeros((7, d))
    first = _first_and_extremes(rows, weights, counts, out[4:])
    shift, left = np.zeros(d), np.zeros(d)
    sums = _weighted_sums(rows, weights, first, shift)
    for j in range(d):
        if sums[0, j] > 0.0:
            shift[j] = sums[1, j] / sums[0, j]
    sums = _weighted_sums(rows, weights, first, shift)
    for j in range(d):
        if sums[0, j] > 0.0:
            left[j] = sums[1, j] / sums[0, j]
            out[0, j] = sums[0, j]
            out[1, j], out[2, j] = _two_sum(first[j], shift[j] + left[j])
            out[3, j] = max(sums[2, j] - left[j] * left[j] * sums[0, j], 0.0)
    return out


@kernel
def _first_and_extremes(
    rows: NDArray[np.float64],  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    counts: NDArray[np.int64],  # (3,) out, as above
    extremes: NDArray[np.float64],  # (3, d) out: low, high and number of the finite cells
) -> NDArray[np.float64]:
    """(d,) the first finite value of each column, 0 where there is none."""
    n, d = rows.shape
    first = np.zeros(d)
    low, high, observed = extremes[0], extremes[1], extremes[2]
    low[:] = np.inf
    high[:] = -np.inf
    for i in range(n):
        if weights[i] == 0.0:
            continue
        counts[0] += 1
        for j in range(d):
            x = np.float64(rows[i, j])
            if math.isfinite(x):
                if observed[j] == 0.0:
                    first[j] = x
                low[j] = min(low[j], x)
                high[j] = max(high[j], x)
                observed[j] += 1.0
            elif math.isinf(x) and counts[2] == 0:
                counts[1], counts[2] = i, j + 1
    return first


@kernel
def _weighted_sums(
    rows: NDArray[np.float64],  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    first: NDArray[np.float64],  # (d,) in
    shift: NDArray[np.float64],  # (d,) in
) -> NDArray[np.float64]:
    """(3, d) sums of w, w y and w y^2 over the finite cells, y = (x - first) - shift."""
    n, d = rows.shape
    total, lost, run = np.zeros((3, d)), np.zeros((3, d)), np.zeros((3, d))
    for start in range(0, n, RUN):
        run[:] = 0.0
        for i in range(start, min(start + RUN, n)):
            w = weights[i]
            if w == 0.0:
                continue
            for j in range(d):
                x = np.float64(rows[i, j])
                if math.isfinite(x):
                    y = (x - first[j]) - shift[j]
                    run[0, j] += w
                    run[1, j] += w * y
                    run[2, j] += w * y * y
        for s in range(3):
            for j in range(d):
                total[s, j], rounded = _two_sum(total[s, j], run[s, j])
                lost[s, j] += rounded
    return total + lost


@kernel
def _two_sum(a: float, b: float) -> tuple[float, float]:
    """The rounded sum, and exactly what rounding took from it (Knuth)."""
    total = a + b
    c = total - a
    return total, (a - (total - c)) + (b - c)
