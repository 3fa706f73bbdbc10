"""Rows as the scoring of centres wants them, and the scores: a matrix product in two shapes.

    score_k = slopes_k . y         y = ((x - origin) * scale | seen), see ``kernels.assign``

Few columns      rows are vector lanes
Few centres      dot products of four rows with two centres, straight from the table where that can be
Many centres     panels, in a file of their own (``kernels.panels``)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel, lane_sum_kernel
from asterism.kernels.fours import dot_and_square_four, dot_four
from asterism.kernels.prefetch import prefetch_rows

TILE = 128  # rows scored together: a tile and its scores stay in the first caches
NARROW = 24  # columns below which cells are better loaded column by column

Floats = NDArray[Any]  # float32 or float64


# --- load: y = (x - reference) * scale, and ||y||^2 with the mask's ones ---------------------------------------


@kernel
def load_lanes(
    rows: Floats,  # (n, d) in
    pick: NDArray[np.int64],  # (t,) in: which of them
    shift: Floats,  # (d + 1,) in: origin, scale
    missing: bool,
    tile: NDArray[np.float32],  # (width * TILE,) out: cell j of row i at j * TILE + i, then masks
    norms: NDArray[np.float32],  # (2, TILE) out: ||y||^2 of the cells, and with the masks
) -> None:
    """A tile with rows as vector lanes."""
    t, d = len(pick), rows.shape[1]
    scale = shift[d]
    one, zero = np.float32(1.0), np.float32(0.0)
    if d < NARROW:
        cells = rows.reshape(rows.size)
        at = np.empty(TILE, np.uint64)  # unsigned: known not to count from the end
        for i in range(t):
            at[i] = np.uint64(pick[i] * d)
        for j in range(d):
            column, origin = cells[j:], shift[j]
            for i in range(t):
                tile[j * TILE + i] = np.float32((column[at[i]] - origin) * scale)
    else:
        for i in range(t):
            row = rows[pick[i]]
            for j in range(d):
                tile[j * TILE + i] = np.float32((row[j] - shift[j]) * scale)
    squares, seen_cells = norms[0], norms[1]
    squares[:] = zero
    seen_cells[:] = zero if missing else one
    if not missing:
        tile[d * TILE : (d + 1) * TILE] = one
    for j in range(d):
        if missing:
            for i in range(TILE):
                y = tile[j * TILE + i]
                seen = y == y
                tile[(d + j) * TILE + i] = one if seen else zero
                tile[j * TILE + i] = y if seen else zero
            for i in range(TILE):
                seen_cells[i] += tile[(d + j) * TILE + i]
        for i in range(TILE):
            squares[i] += tile[j * TILE + i] * tile[j * TILE + i]
    for i in range(TILE):
        norms[1, i] += norms[0, i]


@lane_sum_kernel
def load_rows(
    rows: Floats,  # (n, d) in
    pick: NDArray[np.int64],  # (t,) in: which of them
    place: NDArray[np.int64],  # (t,) in: where in the tile they go
    shift: Floats,  # (d + 1,) in: origin, scale
    missing: bool,
    tile: NDArray[np.float32],  # (TILE, width) out
    norms: NDArray[np.float32],  # (2, TILE) out: ||y||^2 of the cells, and with the masks
) -> None:
    """A tile with rows as rows."""
    t, d = len(pick), rows.shape[1]
    scale = shift[d]
    one, zero = np.float32(1.0), np.float32(0.0)
    for i in range(t):
        row, at = rows[pick[i]], place[i]
        square, cells = zero, zero
        if missing:
            for j in range(d):
                y = np.float32((row[j] - shift[j]) * scale)
                seen = y == y
                mask = one if seen else zero
                y = y if seen else zero
                tile[at, j] = y
                tile[at, d + j] = mask
                square += y * y
                cells += mask
        else:
            for j in range(d):
                y = np.float32((row[j] - shift[j]) * scale)
                tile[at, j] = y
                square += y * y
            tile[at, d] = one
            cells = one
        norms[0, at], norms[1, at] = square, square + cells


# --- score: slopes . y ------------------------------------------------------------------------------------------


@kernel
def score_lanes(
    tile: NDArray[np.float32],  # (width * TILE,) in
    slopes: NDArray[np.float32],  # (even, width) in
    scores: NDArray[np.float32],  # (even * TILE,) out
) -> None:
    """Few columns: vector lanes run over rows, two centres against four columns at a time.

    The arrays are flat and TILE is a constant, so the compiler sees that nothing overlaps. It also has to see
    that no index is negative, which it does not where a range has a step: hence the halves and quarters.
    """
    for half in range(len(slopes) // 2):
        c = 2 * half
        p = c * TILE
        for i in range(2 * TILE):
            scores[p + i] = np.float32(0.0)
        for quarter in range(slopes.shape[1] // 4):
            j = 4 * quarter
            a0, a1, a2, a3 = slopes[c, j], slopes[c, j + 1], slopes[c, j + 2], slopes[c, j + 3]
            b0, b1, b2, b3 = (
                slopes[c + 1, j],
                slopes[c + 1, j + 1],
                slopes[c + 1, j + 2],
                slopes[c + 1, j + 3],
            )
            q = j * TILE
            for i in range(TILE):
                x0, x1, x2, x3 = (
                    tile[q + i],
                    tile[q + TILE + i],
                    tile[q + 2 * TILE + i],
                    tile[q + 3 * TILE + i],
                )
                scores[p + i] += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)
                scores[p + TILE + i] += (b0 * x0 + b1 * x1) + (b2 * x2 + b3 * x3)


@kernel
def score_four(
    lines: Floats,  # (n, width) in: tiles with masks, or rows of the table themselves
    four: NDArray[np.int64],  # (4,) in: which of them
    slopes: NDArray[np.float32],  # (even, width or more) in
    scores: NDArray[np.float32],  # (even, 4) out
    norms: NDArray[np.float32],  # (4,) out: squares of the lines
    rows: Floats,  # (n, d) in: the table
    coming: NDArray[np.int64],  # (4,) in: rows that will be wanted soon
) -> None:
    """Few centres, wide rows: four rows, which stay in the first cache, against two centres at a time."""
    halves = len(slopes) // 2
    dot_and_square_four(lines, four, slopes, 0, scores, norms, rows, coming[0])
    for half in range(1, halves):
        dot_four(lines, four, slopes, 2 * half, scores, norms, rows, coming[min(half, 3)])
    prefetch_rows(rows, coming[halves:], 0, rows.shape[1])


@kernel
def add_constants(
    slopes: NDArray[np.float32],  # (even, more than d) in
    d: int,
    scale: Any,  # what cells are yet to be multiplied with
    scores: NDArray[np.float32],  # (even, TILE) changed
    norms: NDArray[np.float32],  # (2, TILE) the first line changed, the second out
) -> None:
    """What the scale and a column of ones would have given, for rows that were taken as they are."""
    for c in range(len(slopes)):
        for i in range(TILE):
            scores[c, i] = scores[c, i] * scale + slopes[c, d]
    for i in range(TILE):
        square = norms[0, i] * (scale * scale)
        norms[0, i], norms[1, i] = square, square + np.float32(1.0)
