"""Moments of the columns of a block."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel


@kernel
def column_moments(
    rows: NDArray[np.float64],  # (n, d) in, NaN = missing
    weights: NDArray[np.float64],  # (n,) in
    counts: NDArray[np.int64],  # (3,) out: rows of weight > 0; row and column + 1 of the first infinite cell
) -> NDArray[np.float64]:
    """Weight, mean, scatter, low, high and number of the observed cells: a (6, d) table.

    mean    = first + sum w (x - first) / sum w        first: the first observed value, so sums stay small
    scatter = sum w (x - mean)^2 - (sum w (x - mean))^2 / sum w      the last term is rounding's rest
    """
    n, d = rows.shape
    first = np.full(d, np.nan)
    out = np.zeros((6, d))
    weight, shift, low, high, observed = out[0], out[1], out[3], out[4], out[5]
    low[:] = np.inf
    high[:] = -np.inf
    for i in range(n):
        w = weights[i]
        if w == 0.0:
            continue
        counts[0] += 1
        for j in range(d):
            x = np.float64(rows[i, j])
            if math.isnan(x):
                continue
            if math.isnan(first[j]):
                first[j] = x
            if math.isinf(x):
                if counts[2] == 0:
                    counts[1], counts[2] = i, j + 1
                continue
            weight[j] += w
            shift[j] += w * (x - first[j])
            low[j] = min(low[j], x)
            high[j] = max(high[j], x)
            observed[j] += 1.0
    rest = np.zeros(d)
    for j in range(d):
        if weight[j] > 0.0:
            shift[j] /= weight[j]
    for i in range(n):
        w = weights[i]
        if w == 0.0:
            continue
        for j in range(d):
            y = (np.float64(rows[i, j]) - first[j]) - shift[j]
            if math.isfinite(y):
                rest[j] += w * y
                out[2, j] += w * y * y
    for j in range(d):
        if weight[j] > 0.0:
            rest[j] /= weight[j]
            out[2, j] = max(out[2, j] - rest[j] * rest[j] * weight[j], 0.0)
            shift[j] = first[j] + (shift[j] + rest[j])
    return out
