"""Blocks of wide rows, for round and diagonal groups and for one matrix: everything is a product.

A row is written out so that its scores, and all that is asked of it, are linear in it:

    round     (x, ||x||^2 / 2, 1)  log pi p = s^2 mu'x - s^2 ||x||^2 / 2 + (constant - s^2 ||mu||^2 / 2)
    diagonal  (x, x^2, 1)          log pi p = sum_j s_j^2 (mu_j x_j - x_j^2 / 2) + (constant - sum_j (s_j mu_j)^2 / 2)
    tied      (y, ||y||^2 / 2, 1)  of y = W x, as round groups of s = 1

and sums of shares times (x, ..., 1) are means, squares and masses at once. Squares of what is far are subtracted from
each other, so x and mu are taken about a point g amid the means, and only where the means are near it
(``visits.NEAR``). Squares begin with a whole vector.

For few columns, and where means are far apart, there are ``spherical``, ``diagonal`` and ``tied``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel, lane_sum_kernel
from asterism.kernels.lanes import TILE
from asterism.kernels.products import add_tile, carry_length, carry_squares, multiply_tile, stride_of, whole
from asterism.kernels.shares import LOOK, bring_notes, share_out, take_notes
from asterism.kernels.vectors import BYTES

Floats = NDArray[Any]  # float32 or float64


@kernel
def wide_block(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: the reference, and g from there
    panels: Floats,  # (m, columns, lanes) in: see above; their type is that of the arithmetic
    k: int,
    squares: bool,  # whether rows are written out for diagonal groups
    mode: int,
    notes: NDArray[np.float64],  # (n,) in or out, as ``mode`` has it; or none
    sums: NDArray[np.float64],  # (fours of k, columns in whole vectors) added to: sum w r (x, ..., 1)
    totals: NDArray[np.float64],  # (2,) added to
) -> None:
    """Read once, tile by tile: score, share out, add up."""
    d = rows.shape[1]
    ones = whole(d, panels.shape[2]) + d if squares else d + 1
    tile = blank_tile(sums.shape[1], ones, panels)
    scores = np.zeros(len(panels) * panels.shape[2] * TILE, panels.dtype)
    work = np.empty((4, TILE), panels.dtype)
    w, here = np.zeros(TILE, panels.dtype), np.zeros(TILE)
    for number in range(-(-len(rows) // TILE)):
        first = number * TILE
        load_rows(rows, weights, origin, first, squares, tile, w)
        take_notes(notes, first, here)
        multiply_tile(tile, panels, k, scores)
        share_out(scores, k, w, here, mode, work, totals)
        if mode == LOOK:
            bring_notes(here, first, notes)
        else:
            add_tile(scores, tile, sums)


@kernel
def wide_tied_block(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: the reference, and g from there
    factor: Floats,  # (m, columns, lanes) in: panels of W, lower triangular; their type is that of the arithmetic
    panels: Floats,  # (m, columns, lanes) in: of whitened means, see above
    k: int,
    mode: int,
    notes: NDArray[np.float64],  # (n,) in or out, as ``mode`` has it; or none
    sums: NDArray[np.float64],  # (fours of k, columns in whole vectors) added to: sum w r (x, ., 1)
    scatter: NDArray[np.float64],  # (d, d) in whole vectors, added to: sum w x x', lower triangle
    totals: NDArray[np.float64],  # (2,) added to
) -> None:
    """Read once, tile by tile: whiten, score as round groups, share out, add up."""
    d, width = rows.shape[1], sums.shape[1]
    tile, y = blank_tile(width, d + 1, panels), blank_tile(width, d + 1, panels)
    scores = np.zeros(len(panels) * panels.shape[2] * TILE, panels.dtype)
    work = np.empty((4, TILE), panels.dtype)
    w, here = np.zeros(TILE, panels.dtype), np.zeros(TILE)
    squares = False  # no literal: each would be compiled for itself
    for number in range(-(-len(rows) // TILE)):
        first = number * TILE
        load_rows(rows, weights, origin, first, squares, tile, w)
        multiply_tile(tile, factor, d, y)
        write_half_squares(y, d)
        take_notes(notes, first, here)
        multiply_tile(y, panels, k, scores)
        share_out(scores, k, w, here, mode, work, totals)
        if mode == LOOK:
            bring_notes(here, first, notes)
            continue
        add_tile(scores, tile, sums)
        weigh_rows(tile, w, y)  # whitened rows have served
        add_tile(y, tile, scatter)


@kernel
def load_rows(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: a point among the rows, and a step from it
    first: int,
    squares: bool,
    tile: Floats,  # (TILE, stride) out: (x, x^2, .), both in whole vectors, or (x, ||x||^2 / 2, .); x = 0 if absent
    w: Floats,  # (TILE,) out: 0 beyond the last row
) -> None:
    """The rows from ``first`` on, x = (cell - point) - step. These are not added up, see ``lanes.load_tile``."""
    d, there = rows.shape[1], min(TILE, len(rows) - first)
    for i in range(there):
        w[i] = weights[first + i]
    for i in range(there, TILE):
        w[i] = 0.0
    last = len(rows) - 1
    if squares:
        high = whole(d, BYTES // tile.itemsize)
        for i in range(TILE):
            carry_squares(rows, min(first + i, last), origin, w, tile, i, high)
    else:
        for i in range(TILE):
            carry_length(rows, min(first + i, last), origin, w, tile, i, d)


@kernel
def blank_tile(columns: int, ones: int, like: Floats) -> Floats:
    """(TILE, stride) zeros, and ones in a column: nobody writes there again."""
    tile = np.zeros((TILE, stride_of(columns, like.itemsize)), like.dtype)
    for i in range(TILE):
        tile[i, ones] = 1.0
    return tile


@lane_sum_kernel
def write_half_squares(tile: Floats, d: int) -> None:
    """(x, ||x||^2 / 2, 1) of every row."""
    zero = tile.dtype.type(0)
    half = (zero + 1) / 2
    for i in range(TILE):
        total = zero
        for j in range(d):
            total += tile[i, j] * tile[i, j]
        tile[i, d] = half * total
        tile[i, d + 1] = 1.0


@kernel
def weigh_rows(tile: Floats, w: Floats, out: Floats) -> None:
    """w x of every row."""
    for i in range(TILE):
        a = w[i]
        for j in range(tile.shape[1]):
            out[i, j] = a * tile[i, j]
