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
from asterism.kernels.products import (
    BYTES,
    add_scatter,
    add_tile,
    carry_length,
    carry_squares,
    score_tile,
    stride_of,
    turn_tile,
    whole,
)
from asterism.kernels.shares import LOOK, bring_notes, share_out, take_notes

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
    tile = np.zeros((TILE, stride_of(sums.shape[1], panels.itemsize)), panels.dtype)
    scores = np.zeros(len(panels) * panels.shape[2] * TILE, panels.dtype)
    work = np.empty((4, TILE), panels.dtype)
    w, here = np.zeros(TILE, panels.dtype), np.zeros(TILE)
    for number in range(-(-len(rows) // TILE)):
        first = number * TILE
        load_rows(rows, weights, origin, first, squares, tile, w)
        take_notes(notes, first, here)
        score_tile(tile, panels, scores)
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
    d, stride = rows.shape[1], stride_of(sums.shape[1], panels.itemsize)
    tile, y = np.zeros((TILE, stride), panels.dtype), np.zeros((TILE, stride), panels.dtype)
    weighed = y.reshape(TILE * stride)  # whitened rows have served when weights come
    scores = np.zeros(len(panels) * panels.shape[2] * TILE, panels.dtype)
    work = np.empty((4, TILE), panels.dtype)
    w, here = np.zeros(TILE, panels.dtype), np.zeros(TILE)
    squares = False  # no literal: each would be compiled for itself
    for number in range(-(-len(rows) // TILE)):
        first = number * TILE
        load_rows(rows, weights, origin, first, squares, tile, w)
        turn_tile(tile, factor, y)
        write_half_squares(y, d)
        take_notes(notes, first, here)
        score_tile(y, panels, scores)
        share_out(scores, k, w, here, mode, work, totals)
        if mode == LOOK:
            bring_notes(here, first, notes)
            continue
        add_tile(scores, tile, sums)
        weigh_rows(tile, w, y)
        add_scatter(weighed, tile, scatter)


@kernel
def load_rows(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: a point among the rows, and a step from it
    first: int,
    squares: bool,
    tile: Floats,  # (TILE, stride) out: (x, x^2, 1), both in whole vectors, or (x, ||x||^2 / 2, 1); x = 0 if absent
    w: Floats,  # (TILE,) out: 0 beyond the last row
) -> None:
    """The rows from ``first`` on, x = (cell - point) - step. These are not added up, see ``lanes.load_tile``."""
    d, lanes = rows.shape[1], BYTES // tile.itemsize
    high = whole(d, lanes) if squares else d
    last = high + d if squares else d + 1
    half = (w[0] - w[0] + 1) / 2
    for i in range(TILE):
        w[i] = weights[first + i] if first + i < len(rows) else 0.0
        if w[i] == 0.0:
            for j in range(tile.shape[1]):
                tile[i, j] = 0.0  # whatever it held, NaN perhaps
        elif squares:
            carry_squares(rows, first + i, origin, tile, i, d // lanes, high)
            for j in range(d // lanes * lanes, d):
                x = (rows[first + i, j] - origin[0, j]) - origin[1, j]
                tile[i, j], tile[i, high + j] = x, x * x
        else:
            carry_length(rows, first + i, origin, tile, i, d // lanes, high)
            total = tile[i, high]
            for j in range(d // lanes * lanes, d):
                x = (rows[first + i, j] - origin[0, j]) - origin[1, j]
                tile[i, j] = x
                total += x * x
            tile[i, high] = half * total
        tile[i, last] = 1.0


@lane_sum_kernel
def write_half_squares(tile: Floats, d: int) -> None:
    """(x, ||x||^2 / 2, 1) of every row."""
    zero = tile[0, 0] - tile[0, 0]
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
