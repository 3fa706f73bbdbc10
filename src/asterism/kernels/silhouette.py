"""Loops of the internal metrics: sums of a tile of dissimilarities by group, moments by group."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel, lane_sum_kernel
from asterism.kernels.pairwise import TILE, add_squares


@kernel
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
        add_runs(tile[i], weights, starts, groups, out[i])


@kernel
def add_euclidean_sums(
    rows: NDArray[np.float64],  # (a, width) in: complete, width a multiple of four
    pack: NDArray[np.float64],  # (width * TILE,) in: up to TILE points side by side in lanes
    root: bool,  # whether distances are meant, or their squares
    weights: NDArray[np.float64],  # (b,) in
    starts: NDArray[np.int64],  # (s + 1,) in
    groups: NDArray[np.int64],  # (s,) in
    out: NDArray[np.float64],  # (a, k) added to
) -> None:
    """The same for ||x - y|| or its square: distances are used while they are in the nearest cache."""
    # The last columns stay in registers and go together with the root, which is slow and overlaps.
    first = rows.shape[1] - (8 if rows.shape[1] >= 8 else 4)
    total, distance = np.zeros(TILE), np.empty(TILE)
    for i in range(len(rows)):
        if first > 0:
            total[:] = 0.0
            add_squares(rows[i, :first], pack, total)
        if rows.shape[1] >= 8:
            last_eight(rows[i, first:], pack[first * TILE :], total, distance)
        else:
            last_four(rows[i, first:], pack[first * TILE :], total, distance)
        if not root:
            for o in range(TILE):
                distance[o] *= distance[o]
        add_runs(distance, weights, starts, groups, out[i])


@kernel
def last_four(
    row: NDArray[np.float64],  # (4,) in
    pack: NDArray[np.float64],  # (4 * TILE,) in
    total: NDArray[np.float64],  # (TILE,) in
    out: NDArray[np.float64],  # (TILE,) out
) -> None:
    """The root of the sum of squared differences, the last four of which are added here."""
    x0, x1, x2, x3 = row[0], row[1], row[2], row[3]
    for o in range(TILE):
        y0 = x0 - pack[o]
        y1 = x1 - pack[TILE + o]
        y2 = x2 - pack[2 * TILE + o]
        y3 = x3 - pack[3 * TILE + o]
        out[o] = math.sqrt(total[o] + ((y0 * y0 + y1 * y1) + (y2 * y2 + y3 * y3)))


@kernel
def last_eight(
    row: NDArray[np.float64],  # (8,) in
    pack: NDArray[np.float64],  # (8 * TILE,) in
    total: NDArray[np.float64],  # (TILE,) in
    out: NDArray[np.float64],  # (TILE,) out
) -> None:
    """The same with the last eight."""
    x0, x1, x2, x3, x4, x5, x6, x7 = row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]
    for o in range(TILE):
        y0 = x0 - pack[o]
        y1 = x1 - pack[TILE + o]
        y2 = x2 - pack[2 * TILE + o]
        y3 = x3 - pack[3 * TILE + o]
        y4 = x4 - pack[4 * TILE + o]
        y5 = x5 - pack[5 * TILE + o]
        y6 = x6 - pack[6 * TILE + o]
        y7 = x7 - pack[7 * TILE + o]
        near = (y0 * y0 + y1 * y1) + (y2 * y2 + y3 * y3)
        far = (y4 * y4 + y5 * y5) + (y6 * y6 + y7 * y7)
        out[o] = math.sqrt(total[o] + (near + far))


@lane_sum_kernel
def add_runs(
    row: NDArray[np.float64],  # (b,) in
    weights: NDArray[np.float64],  # (b,) in
    starts: NDArray[np.int64],  # (s + 1,) in
    groups: NDArray[np.int64],  # (s,) in
    out: NDArray[np.float64],  # (k,) added to
) -> None:
    """out[g] += sum of w d over each run of one group."""
    for s in range(len(groups)):
        # Slices count from 0: an index that might be negative would keep the sum out of vector lanes.
        run, w = row[starts[s] : starts[s + 1]], weights[starts[s] : starts[s + 1]]
        total = 0.0
        for j in range(len(run)):
            total += w[j] * run[j]
        out[groups[s]] += total


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
