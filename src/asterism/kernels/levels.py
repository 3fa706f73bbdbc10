"""Cells that are codes of levels: looked up in a table of scores, and counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel


@kernel
def add_level_scores(
    rows: NDArray[Any],  # (n, d) in: codes 0 .. L_j - 1, NaN = missing
    weights: NDArray[np.float64],  # (n,) in
    offsets: NDArray[np.int64],  # (d + 1,) in: where the levels of column j begin among all D levels
    scores: NDArray[np.float64],  # (D, k) in
    out: NDArray[np.float64],  # (n, k) added to
) -> int:
    """out_i += sum over known cells j of scores[level x_ij]. Returns i d + j of a cell that is no code, or -1.

    In a row of weight 0 anything may stand: what is no code there is missing.
    """
    n, d = rows.shape
    k = scores.shape[1]
    for i in range(n):
        for j in range(d):
            v = np.float64(rows[i, j])
            if v != v:
                continue
            if not (0.0 <= v < offsets[j + 1] - offsets[j] and v == np.floor(v)):
                if weights[i] > 0.0:
                    return int(i * d + j)
                continue
            level = offsets[j] + np.int64(v)
            for c in range(k):
                out[i, c] += scores[level, c]
    return -1


@kernel
def add_level_counts(
    rows: NDArray[Any],  # (n, d) in: codes, NaN = missing
    mass: NDArray[np.float64],  # (n, k) in: w r
    weights: NDArray[np.float64],  # (n,) in
    offsets: NDArray[np.int64],  # (d + 1,) in
    counts: NDArray[np.float64],  # (D, k) added to
) -> int:
    """counts[level x_ij] += mass_i over known cells; returns as ``add_level_scores``."""
    n, d = rows.shape
    k = counts.shape[1]
    for i in range(n):
        if weights[i] == 0.0:
            continue
        for j in range(d):
            v = np.float64(rows[i, j])
            if v != v:
                continue
            if not (0.0 <= v < offsets[j + 1] - offsets[j] and v == np.floor(v)):
                return int(i * d + j)
            level = offsets[j] + np.int64(v)
            for c in range(k):
                counts[level, c] += mass[i, c]
    return -1
