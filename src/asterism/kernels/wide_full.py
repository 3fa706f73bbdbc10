"""Blocks of wide rows, a covariance matrix a group: scores and scatters in products of tiles.

    log pi p = constant - ||W x - W mu||^2 / 2        scatter = sum w r (x - mu)(x - mu)'

x and mu are taken about a point from which means are near (``visits.NEAR``), or the difference of products would be
rounding. Scatters are about the means. Where few rows of a tile matter to a group they wait, less its mean, until
they fill a tile of the group's own, and are multiplied then: it costs nothing that only few groups matter to a row.

For few columns, and where means are far apart, there is ``full``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.carriers import move_row
from asterism.kernels.compiled import kernel
from asterism.kernels.lanes import TILE, zeros
from asterism.kernels.products import add_tile, fours_of, norm_slab, turn_weighed
from asterism.kernels.sharers import SCALE
from asterism.kernels.shares import LOOK, bring_notes, pick_rows, settle, share_out, take_notes
from asterism.kernels.vectors import BYTES, SLAB
from asterism.kernels.wide import blank, bring_slab, room_for, take_weights, tile_at, wipe

MOST_WAITING = 4 << 20  # bytes of rows that wait, of one thread

Floats = NDArray[Any]  # float32 or float64


@kernel
def wide_full_block(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: the reference, and the point from there
    means: Floats,  # (fours of k, columns in whole vectors) in: mu from the point
    factors: Floats,  # (k, fours of d, d in fours and one) in: W, and -W mu; their type is that of the arithmetic
    constants: Floats,  # (k,) in
    plain: bool,  # whether the point is 0, and rows may be taken as they are
    mode: int,
    notes: NDArray[np.float64],  # (n,) in or out, as ``mode`` has it; or none
    mass: NDArray[np.float64],  # (k,) added to: sum w r
    sums: NDArray[np.float64],  # (fours of k, columns in whole vectors) added to: sum w r x
    scatters: NDArray[np.float64],  # (k, fours of d, columns in whole vectors) added to, lower triangles
    totals: NDArray[np.float64],  # (2,) added to
) -> None:
    """Read once, tile by tile: score, share out, add up."""
    k, high, width = len(mass), scatters.shape[1], sums.shape[1]
    lanes = SLAB * BYTES // means.itemsize
    copy, turned = blank(TILE, width, means), blank(high + 1, lanes, means)
    scores, work, w, here = room_for(means, TILE)
    moved, weighed = blank(TILE, width, means), blank(high, TILE, means)
    share, pick = zeros(TILE, means), np.empty(TILE + 1, np.int64)
    cells = TILE * moved.shape[1]
    places = k if k * cells * means.itemsize <= MOST_WAITING else 0
    waiting = zeros(places * cells, means).reshape((places, TILE, moved.shape[1]))
    shares, counts = np.zeros((places, TILE), means.dtype), np.zeros(places, np.int64)
    spare, lower, squares = np.empty(k), False, False  # no literals: each would be compiled for itself
    for number in range(-(-len(rows) // TILE)):
        first = number * TILE
        absent = take_weights(weights, first, len(rows), w)
        take_notes(notes, first, here)
        tile, direct = tile_at(rows, first, plain and not absent, copy)
        for at in range(0, TILE, lanes):
            bring_slab(rows, origin, first, at, w, direct, tile, turned, 0)
            for c in range(k):
                scores[c, at : at + lanes] = constants[c]
                norm_slab(factors[c], turned, scores[c], at)
        share_out(scores, k, w, here, mode, work, totals)
        if mode == LOOK:
            bring_notes(here, first, notes)
            continue
        settle(scores, work[SCALE], w, mass, spare)
        add_tile(scores, tile, TILE, width, squares, lower, sums)
        for c in range(k):
            m = pick_rows(scores[c], pick)
            if 2 * m > TILE or not places:
                move_rows(tile, means, c, pick[:m], scores[c], moved, share, 0)
                add_scatter(moved, share, m, weighed, scatters[c])
                continue
            if counts[c] + m > TILE:
                add_scatter(waiting[c], shares[c], counts[c], weighed, scatters[c])
                counts[c] = 0
            move_rows(tile, means, c, pick[:m], scores[c], waiting[c], shares[c], counts[c])
            counts[c] += m
    for c in range(places):
        add_scatter(waiting[c], shares[c], counts[c], weighed, scatters[c])
    wipe(sums, rows.shape[1], width)
    for c in range(k):
        wipe(scatters[c], rows.shape[1], width)


@kernel
def move_rows(
    tile: Floats,  # (TILE, stride) in
    means: Floats,  # (k or more, columns in whole vectors) in
    c: int,
    pick: NDArray[np.int64],  # (m,) in: rows of the tile
    r: Floats,  # (TILE,) in: w r of all
    out: Floats,  # (TILE, stride) out, from ``first`` on: x - mu
    shares: Floats,  # (TILE,) out, from ``first`` on: w r
    first: int,
) -> None:
    """Some rows, from the mean of their group."""
    for i in range(len(pick)):
        move_row(tile, pick[i], means, c, out, first + i)
        shares[first + i] = r[pick[i]]


@kernel
def add_scatter(
    waiting: Floats,  # (TILE, stride) in: rows from the mean of their group
    shares: Floats,  # (TILE,) in: w r; 0 from there on to the next four
    n: int,  # how many
    weighed: Floats,  # (fours of d or more, TILE or more): w r times rows, turned
    scatter: NDArray[np.float64],  # (fours of d, columns in whole vectors) added to, right up to the diagonal
) -> None:
    """sum w r z z' of the rows that wait."""
    lanes = BYTES // waiting.itemsize
    shares[n : fours_of(n)] = 0.0
    for vector in range((n + lanes - 1) // lanes):
        turn_weighed(waiting, vector * lanes, len(scatter), shares, weighed, vector * lanes)
    lower, squares = True, False  # no literals: each would be compiled for itself
    if n:
        add_tile(weighed, waiting, fours_of(n), scatter.shape[1], squares, lower, scatter)
