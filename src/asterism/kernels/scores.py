"""Rows as the scoring of centres wants them, and the scores: a matrix product in two shapes.

    score_k = slopes_k . y         y = ((x - origin) * scale | seen), see ``kernels.assign``

Few columns      rows are vector lanes, in a file of their own (``kernels.scan``)
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

Floats = NDArray[Any]  # float32 or float64


# --- load: y = (x - reference) * scale, and ||y||^2 with the mask's ones ---------------------------------------


@kernel
def square_lanes(
    tile: NDArray[
        np.float32
    ],  # (at least width * TILE,) in: column j at j * TILE; changed where cells are missing
    d: int,
    missing: bool,
    norms: NDArray[np.float32],  # (2, TILE) out: ||y||^2 of the cells, and with the masks
) -> None:
    """Squares of a tile with rows as vector lanes; where cells may be missing, their masks follow the cells."""
    one, zero = np.float32(1.0), np.float32(0.0)
    squares, seen_cells = norms[0], norms[1]
    squares[:] = zero
    seen_cells[:] = zero if missing else one
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
