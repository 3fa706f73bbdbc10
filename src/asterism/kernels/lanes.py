"""Rows as vector lanes, a tile of them at a time, and sums over them.

A tile holds cell j of row i at ``j * TILE + i``: flat, with a constant stride, so that the compiler sees that nothing
overlaps, and every loop over i runs in vector lanes. Columns are padded with zeros to a multiple of four.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel, lane_sum_kernel

TILE = 128  # rows: few enough that a tile stays in the second cache, enough that adding up lanes costs little
FEW = 4  # columns are padded to a multiple of this
LINE = 64  # bytes that a cache reads and writes together
LINES = 16  # of a triangular matrix, multiplied together

Floats = NDArray[Any]  # float32 or float64


@kernel
def zeros(cells: int, like: Floats) -> Floats:
    """(cells,) zeros that begin with a cache line: vectors that lie in two of them take twice as long."""
    room = np.zeros(cells + LINE // like.itemsize, like.dtype)
    begin = -room.ctypes.data % LINE // like.itemsize
    return room[begin : begin + cells]


@kernel
def load_tile(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: a point among the rows, and a step from it
    first: int,
    tile: Floats,  # (padded d * TILE,) out: (x - point) - step; 0 for absent rows
    w: Floats,  # (TILE,) out: 0 beyond the last row
) -> None:
    """The rows from ``first`` on.

    Point and step are not added up: where a table is far from 0, their sum would be rounded. In float32 both must be
    numbers that float32 holds: then rounding moves a cell by no more than 2^-24 of what it differs from them.
    """
    d = rows.shape[1]
    t = min(TILE, len(rows) - first)
    absent = 0
    for i in range(t):
        w[i] = weights[first + i]
        absent += 1 if weights[first + i] == 0.0 else 0
    if t < TILE:
        w[t:] = 0.0
        tile[:] = 0.0
    for quarter in range(d // 4):  # four neighbours at a time: half the time of one
        j = 4 * quarter
        a0, a1, a2, a3 = origin[0, j], origin[0, j + 1], origin[0, j + 2], origin[0, j + 3]
        b0, b1, b2, b3 = origin[1, j], origin[1, j + 1], origin[1, j + 2], origin[1, j + 3]
        p = j * TILE
        for i in range(t):
            x0, x1, x2, x3 = (
                rows[first + i, j],
                rows[first + i, j + 1],
                rows[first + i, j + 2],
                rows[first + i, j + 3],
            )
            tile[p + i] = (x0 - a0) - b0
            tile[p + TILE + i] = (x1 - a1) - b1
            tile[p + 2 * TILE + i] = (x2 - a2) - b2
            tile[p + 3 * TILE + i] = (x3 - a3) - b3
    for j in range(d // 4 * 4, d):
        for i in range(t):
            tile[j * TILE + i] = (rows[first + i, j] - origin[0, j]) - origin[1, j]
    if absent:
        for i in range(t):
            if weights[first + i] == 0.0:
                for j in range(d):
                    tile[j * TILE + i] = 0.0  # whatever it held, NaN perhaps


@kernel
def unload_tile(
    scores: Floats,  # (k * TILE,) in
    first: int,
    out: Floats,  # (n, k) out: lines from ``first`` on
) -> None:
    """Lanes back into rows."""
    k = out.shape[1]
    for i in range(min(TILE, len(out) - first)):
        for c in range(k):
            out[first + i, c] = scores[c * TILE + i]


@kernel
def shift_tile(
    tile: Floats,  # (padded d * TILE,) in
    offset: Floats,  # (d,) in
    z: Floats,  # (padded d * TILE,) out
) -> None:
    """z = tile - offset."""
    for j in range(len(offset)):
        a, p = offset[j], j * TILE
        for i in range(TILE):
            z[p + i] = tile[p + i] - a


@kernel
def multiply_lines(
    z: Floats,  # (padded d * TILE,) in
    factor: Floats,  # (padded d, padded d) in: W, lower triangular
    first: int,  # a multiple of FEW
    n: int,  # lines, an even number
    y: Floats,  # (at least n * TILE,) out: lines first .. first + n of W z
) -> None:
    """Two lines against four columns at a time, nothing above the diagonal; the columns are read once for all lines.

    Sums are chains of multiply-adds: products added in pairs would be one addition more for every two of them.
    """
    y[: n * TILE] = 0.0
    for quarter in range((first + n) // 4):
        j = 4 * quarter
        q = j * TILE
        for half in range(max(j - first, 0) // 2, n // 2):
            a, p = first + 2 * half, 2 * half * TILE
            a0, a1, a2, a3 = factor[a, j], factor[a, j + 1], factor[a, j + 2], factor[a, j + 3]
            b0, b1 = factor[a + 1, j], factor[a + 1, j + 1]
            b2, b3 = factor[a + 1, j + 2], factor[a + 1, j + 3]
            for i in range(TILE):
                x0, x1, x2, x3 = z[q + i], z[q + TILE + i], z[q + 2 * TILE + i], z[q + 3 * TILE + i]
                u, v = y[p + i], y[p + TILE + i]
                u = a0 * x0 + u
                v = b0 * x0 + v
                u = a1 * x1 + u
                v = b1 * x1 + v
                u = a2 * x2 + u
                v = b2 * x2 + v
                u = a3 * x3 + u
                v = b3 * x3 + v
                y[p + i] = u
                y[p + TILE + i] = v


@kernel
def gather_tile(
    tile: Floats,  # (padded d * TILE,) in
    offset: Floats,  # (d,) in
    pick: NDArray[np.int64],  # (m,) in
    z: Floats,  # (padded d * TILE,) out: the first m lanes of every column
) -> None:
    """z = tile - offset for some of the rows, side by side."""
    for j in range(len(offset)):
        a, p = offset[j], j * TILE
        for i in range(len(pick)):
            z[p + i] = tile[p + pick[i]] - a


@lane_sum_kernel
def weigh_tile(
    z: Floats,  # (padded d * TILE,) in
    r: Floats,  # (m,) in
    p: Floats,  # (padded d * TILE,) out: r z
    sums: NDArray[np.float64],  # (d,) added to: sum r z
) -> None:
    """r z of every column, and their sums."""
    m = len(r)
    zero = z.dtype.type(0)
    for j in range(len(sums)):
        a = z[j * TILE : j * TILE + m]
        b = p[j * TILE : j * TILE + m]
        total = zero
        for i in range(m):
            y = r[i] * a[i]
            b[i] = y
            total += y
        sums[j] += total


@lane_sum_kernel
def add_products(
    p: Floats,  # (padded d * TILE,) in
    z: Floats,  # (padded d * TILE,) in
    m: int,  # lanes in use
    scatter: NDArray[np.float64],  # (padded d, padded d) added to: p z', right up to the diagonal
) -> None:
    """The lower triangle of p z', two lines against four columns at a time: all sums stay in registers."""
    zero = z.dtype.type(0)
    for half in range(len(scatter) // 2):
        a = 2 * half
        p0, p1 = p[a * TILE : a * TILE + m], p[(a + 1) * TILE : (a + 1) * TILE + m]
        for quarter in range((a + 5) // 4):
            b = 4 * quarter
            z0, z1 = z[b * TILE : b * TILE + m], z[(b + 1) * TILE : (b + 1) * TILE + m]
            z2, z3 = z[(b + 2) * TILE : (b + 2) * TILE + m], z[(b + 3) * TILE : (b + 3) * TILE + m]
            s0, s1, s2, s3, t0, t1, t2, t3 = zero, zero, zero, zero, zero, zero, zero, zero
            for i in range(m):
                s0 += p0[i] * z0[i]
                s1 += p0[i] * z1[i]
                s2 += p0[i] * z2[i]
                s3 += p0[i] * z3[i]
                t0 += p1[i] * z0[i]
                t1 += p1[i] * z1[i]
                t2 += p1[i] * z2[i]
                t3 += p1[i] * z3[i]
            scatter[a, b] += s0
            scatter[a, b + 1] += s1
            scatter[a, b + 2] += s2
            scatter[a, b + 3] += s3
            scatter[a + 1, b] += t0
            scatter[a + 1, b + 1] += t1
            scatter[a + 1, b + 2] += t2
            scatter[a + 1, b + 3] += t3


@kernel
def scale_tile(
    tile: Floats,  # (padded d * TILE,) in
    w: Floats,  # (TILE,) in
    out: Floats,  # (padded d * TILE,) out
) -> None:
    """w x of every column."""
    for j in range(len(tile) // TILE):
        p = j * TILE
        for i in range(TILE):
            out[p + i] = w[i] * tile[p + i]


@lane_sum_kernel
def add_cross_products(
    r: Floats,  # (even k * TILE,) in
    z: Floats,  # (padded d * TILE,) in
    sums: NDArray[np.float64],  # (even k, padded d) added to: r z'
) -> None:
    """sum r z of every group and column, two groups against four columns at a time."""
    zero = z.dtype.type(0)
    for half in range(len(sums) // 2):
        c = 2 * half
        p0, p1 = r[c * TILE : (c + 1) * TILE], r[(c + 1) * TILE : (c + 2) * TILE]
        for quarter in range(sums.shape[1] // 4):
            b = 4 * quarter
            z0, z1 = z[b * TILE : (b + 1) * TILE], z[(b + 1) * TILE : (b + 2) * TILE]
            z2, z3 = z[(b + 2) * TILE : (b + 3) * TILE], z[(b + 3) * TILE : (b + 4) * TILE]
            s0, s1, s2, s3, t0, t1, t2, t3 = zero, zero, zero, zero, zero, zero, zero, zero
            for i in range(TILE):
                s0 += p0[i] * z0[i]
                s1 += p0[i] * z1[i]
                s2 += p0[i] * z2[i]
                s3 += p0[i] * z3[i]
                t0 += p1[i] * z0[i]
                t1 += p1[i] * z1[i]
                t2 += p1[i] * z2[i]
                t3 += p1[i] * z3[i]
            sums[c, b] += s0
            sums[c, b + 1] += s1
            sums[c, b + 2] += s2
            sums[c, b + 3] += s3
            sums[c + 1, b] += t0
            sums[c + 1, b + 1] += t1
            sums[c + 1, b + 2] += t2
            sums[c + 1, b + 3] += t3
