"""A variance a column and group: scores, sums and squares of the rows of a block.

    log pi p = constant - 1/2 sum_j (s_j x_j - s_j mu_j)^2            s_j = 1 / standard deviation

Differences are taken before squares, so a table may lie anywhere; one multiply-add makes a difference. Sums and
squares are taken about one point g for all groups where the means are near it, else about each mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel, lane_sum_kernel
from asterism.kernels.lanes import TILE, load_tile, unload_tile
from asterism.kernels.sharers import SCALE
from asterism.kernels.shares import LOOK, bring_notes, settle, share_out, take_notes

GROUPS = 8  # scored together: their scores stay in the first cache while columns pass by

Floats = NDArray[Any]  # float32 or float64


@kernel
def diagonal_block(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: the reference, and g from there
    lines: Floats,  # (2, k, padded d) in: s and s (mu - g); their type is that of the arithmetic
    constants: Floats,  # (k,) in: log pi + sum log s - d/2 log 2 pi
    mode: int,
    notes: NDArray[np.float64],  # (n,) in or out, as ``mode`` has it; or none
    near: bool,  # whether moments are about g
    mass: NDArray[np.float64],  # (k,) added to
    moments: NDArray[np.float64],  # (2, even k, padded d) added to: sums of w r y and w r y^2
    totals: NDArray[np.float64],  # (2,) added to
) -> None:
    """Read once, tile by tile: score, share out, add up; y = x - g if near, else s (x - mu)."""
    k, width = lines.shape[1], lines.shape[2]
    tile = np.zeros(width * TILE, lines.dtype)
    scores = np.zeros(moments.shape[1] * TILE, lines.dtype)
    work = np.empty((4, TILE), lines.dtype)
    w, here, spare = np.zeros(TILE, lines.dtype), np.zeros(TILE), np.empty(k)
    for number in range(-(-len(rows) // TILE)):
        first = number * TILE
        load_tile(rows, weights, origin, first, tile, w)
        take_notes(notes, first, here)
        score_diagonal(tile, lines, constants, scores)
        share_out(scores.reshape((-1, TILE)), k, w, here, mode, work, totals)
        if mode == LOOK:
            bring_notes(here, first, notes)
            continue
        settle(scores.reshape((-1, TILE)), work[SCALE], w, mass, spare)
        if near:
            add_squares(scores, tile, moments[0], moments[1])
            continue
        for c in range(k):
            mine = scores[c * TILE : (c + 1) * TILE]
            add_moments(tile, mine, lines[0, c], lines[1, c], moments[0, c], moments[1, c])


@kernel
def diagonal_scores(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: the reference, and zeros
    lines: Floats,  # (2, k, padded d) in: s and s mu
    constants: Floats,  # (k,) in
    out: Floats,  # (n, k) out
) -> None:
    """constant - sum (s x - s mu)^2 / 2 of every row and group."""
    k, width = lines.shape[1], lines.shape[2]
    tile = np.zeros(width * TILE, lines.dtype)
    scores, w = np.empty(k * TILE, lines.dtype), np.zeros(TILE, lines.dtype)
    for number in range(-(-len(rows) // TILE)):
        load_tile(rows, weights, origin, number * TILE, tile, w)
        score_diagonal(tile, lines, constants, scores)
        unload_tile(scores, number * TILE, out)


@kernel
def score_diagonal(
    tile: Floats,  # (padded d * TILE,) in
    lines: Floats,  # (2, k, padded d) in: s and s mu
    constants: Floats,  # (k,) in
    scores: Floats,  # (at least k * TILE,) out: constant - sum (s x - s mu)^2 / 2
) -> None:
    """Some groups at a time, and four columns: the columns are read once for all of these groups."""
    k = lines.shape[1]
    zero = tile.dtype.type(0)
    half_of = zero - (zero + 1) / 2
    scores[: k * TILE] = zero
    for some in range(-(-k // GROUPS)):
        c0 = some * GROUPS
        for quarter in range(lines.shape[2] // 4):
            j = 4 * quarter
            q = j * TILE
            for g in range(min(GROUPS, k - c0)):
                c = c0 + g
                p = c * TILE
                a0, a1, a2, a3 = lines[0, c, j], lines[0, c, j + 1], lines[0, c, j + 2], lines[0, c, j + 3]
                b0, b1, b2, b3 = lines[1, c, j], lines[1, c, j + 1], lines[1, c, j + 2], lines[1, c, j + 3]
                for i in range(TILE):
                    x0, x1 = tile[q + i], tile[q + TILE + i]
                    x2, x3 = tile[q + 2 * TILE + i], tile[q + 3 * TILE + i]
                    u0, u1, u2, u3 = a0 * x0 - b0, a1 * x1 - b1, a2 * x2 - b2, a3 * x3 - b3
                    s = scores[p + i]
                    s = u0 * u0 + s  # a chain of multiply-adds: pairs would be additions besides
                    s = u1 * u1 + s
                    s = u2 * u2 + s
                    s = u3 * u3 + s
                    scores[p + i] = s
    for c in range(k):
        p = c * TILE
        a = constants[c]
        for i in range(TILE):
            scores[p + i] = a + half_of * scores[p + i]


@lane_sum_kernel
def add_squares(
    r: Floats,  # (even k * TILE,) in
    z: Floats,  # (padded d * TILE,) in
    sums: NDArray[np.float64],  # (even k, padded d) added to: sum r z
    squares: NDArray[np.float64],  # (even k, padded d) added to: sum r z^2
) -> None:
    """Two groups against two columns at a time: eight sums in registers."""
    zero = z.dtype.type(0)
    for pair in range(sums.shape[1] // 2):
        b = 2 * pair
        z0, z1 = z[b * TILE : (b + 1) * TILE], z[(b + 1) * TILE : (b + 2) * TILE]
        for half in range(len(sums) // 2):
            c = 2 * half
            p0, p1 = r[c * TILE : (c + 1) * TILE], r[(c + 1) * TILE : (c + 2) * TILE]
            s0, s1, s2, s3, t0, t1, t2, t3 = zero, zero, zero, zero, zero, zero, zero, zero
            for i in range(TILE):
                x0, x1 = z0[i], z1[i]
                y0, y1 = x0 * x0, x1 * x1
                s0 += p0[i] * x0
                s1 += p0[i] * x1
                s2 += p1[i] * x0
                s3 += p1[i] * x1
                t0 += p0[i] * y0
                t1 += p0[i] * y1
                t2 += p1[i] * y0
                t3 += p1[i] * y1
            sums[c, b] += s0
            sums[c, b + 1] += s1
            sums[c + 1, b] += s2
            sums[c + 1, b + 1] += s3
            squares[c, b] += t0
            squares[c, b + 1] += t1
            squares[c + 1, b] += t2
            squares[c + 1, b + 1] += t3


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
    zero = tile.dtype.type(0)
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
