"""A variance a column and group: scores, sums and squares of the rows of a block.

    log pi p = constant - 1/2 sum_j (s_j x_j - s_j mu_j)^2            s_j = 1 / standard deviation

Differences are taken before squares, so a table may lie anywhere; one multiply-add makes a difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel, lane_sum_kernel
from asterism.kernels.lanes import TILE, load_tile, unload_tile
from asterism.kernels.shares import lane_mass, share_out

Floats = NDArray[Any]  # float32 or float64


@kernel
def diagonal_block(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    reference: NDArray[np.float64],  # (d,) in
    lines: Floats,  # (2, k, padded d) in: s and s mu; their type is that of the arithmetic
    constants: Floats,  # (k,) in: log pi + sum log s - d/2 log 2 pi
    mode: int,
    draws: NDArray[np.float64],  # (n,) in; or none
    mass: NDArray[np.float64],  # (k,) added to
    moments: NDArray[np.float64],  # (2, k, padded d) added to: sums of w r u and w r u^2, u = s (x - mu)
    totals: NDArray[np.float64],  # (2,) added to
) -> None:
    """Read once, tile by tile: score, share out, add up."""
    k, width = lines.shape[1], lines.shape[2]
    tile = np.zeros(width * TILE, lines.dtype)
    scores = np.empty(k * TILE, lines.dtype)
    work = np.empty((4, TILE), lines.dtype)
    w, chance = np.zeros(TILE, lines.dtype), np.zeros(TILE)
    for number in range(-(-len(rows) // TILE)):
        first = number * TILE
        load_tile(rows, weights, reference, first, tile, w)
        if len(draws):
            chance[: min(TILE, len(rows) - first)] = draws[first : first + TILE]
        for c in range(k):
            score_diagonal(tile, lines[0, c], lines[1, c], constants[c], scores[c * TILE : (c + 1) * TILE])
        share_out(scores, k, w, chance, mode, work, totals)
        for c in range(k):
            mine = scores[c * TILE : (c + 1) * TILE]
            share = lane_mass(mine)
            if share > 0.0:
                mass[c] += share
                add_moments(tile, mine, lines[0, c], lines[1, c], moments[0, c], moments[1, c])


@kernel
def diagonal_scores(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    reference: NDArray[np.float64],  # (d,) in
    lines: Floats,  # (2, k, padded d) in: s and s mu
    constants: Floats,  # (k,) in
    out: Floats,  # (n, k) out
) -> None:
    """constant - sum (s x - s mu)^2 / 2 of every row and group."""
    k, width = lines.shape[1], lines.shape[2]
    tile = np.zeros(width * TILE, lines.dtype)
    scores, w = np.empty(k * TILE, lines.dtype), np.zeros(TILE, lines.dtype)
    for number in range(-(-len(rows) // TILE)):
        load_tile(rows, weights, reference, number * TILE, tile, w)
        for c in range(k):
            score_diagonal(tile, lines[0, c], lines[1, c], constants[c], scores[c * TILE : (c + 1) * TILE])
        unload_tile(scores, number * TILE, out)


@kernel
def score_diagonal(
    tile: Floats,  # (padded d * TILE,) in
    scale: Floats,  # (padded d,) in: s
    shift: Floats,  # (padded d,) in: s mu
    constant: Any,
    scores: Floats,  # (TILE,) out: constant - sum (s x - s mu)^2 / 2
) -> None:
    """Four columns at a time."""
    zero = tile[0] - tile[0]
    half_of = zero - (zero + 1) / 2
    scores[:] = zero
    for quarter in range(len(scale) // 4):
        j = 4 * quarter
        a0, a1, a2, a3 = scale[j], scale[j + 1], scale[j + 2], scale[j + 3]
        b0, b1, b2, b3 = shift[j], shift[j + 1], shift[j + 2], shift[j + 3]
        q = j * TILE
        for i in range(TILE):
            x0, x1, x2, x3 = tile[q + i], tile[q + TILE + i], tile[q + 2 * TILE + i], tile[q + 3 * TILE + i]
            u0, u1, u2, u3 = a0 * x0 - b0, a1 * x1 - b1, a2 * x2 - b2, a3 * x3 - b3
            scores[i] += (u0 * u0 + u1 * u1) + (u2 * u2 + u3 * u3)
    for i in range(TILE):
        scores[i] = constant + half_of * scores[i]


@lane_sum_kernel
def add_moments(
    tile: Floats,  # (padded d * TILE,) in
    r: Floats,  # (TILE,) in
    scale: Floats,  # (padded d,) in
    shift: Floats,  # (padded d,) in
    first: NDArray[np.float64],  # (padded d,) added to: sum r u
    second: NDArray[np.float64],  # (padded d,) added to: sum r u^2
) -> None:
    """Four columns at a time: eight sums in registers."""
    zero = tile[0] - tile[0]
    for quarter in range(len(scale) // 4):
        j = 4 * quarter
        a0, a1, a2, a3 = scale[j], scale[j + 1], scale[j + 2], scale[j + 3]
        b0, b1, b2, b3 = shift[j], shift[j + 1], shift[j + 2], shift[j + 3]
        x0, x1 = tile[j * TILE : (j + 1) * TILE], tile[(j + 1) * TILE : (j + 2) * TILE]
        x2, x3 = tile[(j + 2) * TILE : (j + 3) * TILE], tile[(j + 3) * TILE : (j + 4) * TILE]
        s0, s1, s2, s3, t0, t1, t2, t3 = zero, zero, zero, zero, zero, zero, zero, zero
        for i in range(TILE):
            u0, u1, u2, u3 = a0 * x0[i] - b0, a1 * x1[i] - b1, a2 * x2[i] - b2, a3 * x3[i] - b3
            v0, v1, v2, v3 = r[i] * u0, r[i] * u1, r[i] * u2, r[i] * u3
            s0 += v0
            s1 += v1
            s2 += v2
            s3 += v3
            t0 += v0 * u0
            t1 += v1 * u1
            t2 += v2 * u2
            t3 += v3 * u3
        first[j] += s0
        first[j + 1] += s1
        first[j + 2] += s2
        first[j + 3] += s3
        second[j] += t0
        second[j + 1] += t1
        second[j + 2] += t2
        second[j + 3] += t3
