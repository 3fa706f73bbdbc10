"""Loops of the internal metrics: sums of a tile of dissimilarities by group, moments by group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel, lane_sum_kernel


@lane_sum_kernel
def add_group_sums(
    tile: NDArray[
        np.float64
    ],  # (a, b) in: dissimilarities of a rows to b points, points of a group side by side
    weights: NDArray[np.float64],  # (b,) in: of the points
    starts: NDArray[np.int64],  # (s + 1,) in: where runs of one group begin, and b
    groups: NDArray[np.int64],  # (s,) in: their groups
    out: NDArray[np.float64],  # (a, k) added to
) -> None:
    """out[i, g] += sum of w_j d(i, j) over the points j of group g."""
    for i in range(len(tile)):
        row = tile[i]
        for s in range(len(groups)):
            # Slices count from 0: an index that might be negative would keep the sum out of vector lanes.
            run, w = row[starts[s] : starts[s + 1]], weights[starts[s] : starts[s + 1]]
            total = 0.0
            for j in range(len(run)):
                total += w[j] * run[j]
            out[i, groups[s]] += total


@kernel
def group_moments(
    rows: NDArray[Any],  # (n, d) in, NaN = missing
    weights: NDArray[np.float64],  # (n,) in
    codes: NDArray[np.int64],  # (n,) in: groups; not looked at where the weight is 0
    reference: NDArray[np.float64],  # (d,) in
    table: NDArray[np.float64],  # (3, k, d) out, zeros in: weight, mean from the reference, scatter
    mass: NDArray[np.float64],  # (k,) out, zeros in
) -> None:
    """Moments of every group over observed cells: the mean first, then the squares around it."""
    n, d = rows.shape
    weight, mean, scatter = table[0], table[1], table[2]
    for i in range(n):
        w, c = weights[i], codes[i]
        if w == 0.0:
            continue
        mass[c] += w
        for j in range(d):
            y = np.float64(rows[i, j]) - reference[j]
            if y == y:
                weight[c, j] += w
                mean[c, j] += w * y
    for c in range(len(mass)):
        for j in range(d):
            if weight[c, j] > 0.0:
                mean[c, j] /= weight[c, j]
    for i in range(n):
        w, c = weights[i], codes[i]
        if w == 0.0:
            continue
        for j in range(d):
            y = (np.float64(rows[i, j]) - reference[j]) - mean[c, j]
            if y == y:
                scatter[c, j] += w * y * y
