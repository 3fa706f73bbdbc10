"""Distances from the differences themselves: no cancellation, for results people read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel, lane_sum_kernel


@kernel
def distances_block(
    rows: NDArray[Any],  # (n, d) in, NaN = missing
    reference: NDArray[np.float64],  # (d,) in
    centers: NDArray[np.float64],  # (k, d) in, from the reference
    out: NDArray[Any],  # (n, k) out
) -> None:
    """||x - c|| over observed cells."""
    d = rows.shape[1]
    for i in range(len(rows)):
        for c in range(len(centers)):
            total = 0.0
            for j in range(d):
                y = (np.float64(rows[i, j]) - reference[j]) - centers[c, j]
                total += y * y if y == y else 0.0
            out[i, c] = math.sqrt(total)


@lane_sum_kernel
def squared_distances_block(
    rows: NDArray[Any],  # (n, d) in, NaN = missing
    reference: NDArray[np.float64],  # (d,) in
    scale: float,
    out: NDArray[np.float64],  # (n,) out
) -> None:
    """||(x - reference) * scale||^2 over observed cells."""
    d = rows.shape[1]
    for i in range(len(rows)):
        row = rows[i]
        total = 0.0
        for j in range(d):
            y = (np.float64(row[j]) - reference[j]) * scale
            total += y * y if y == y else 0.0
        out[i] = total
