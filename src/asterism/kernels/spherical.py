"""One variance a group: scores, sums and squares of the rows of a block, from products alone.

    log pi p = constant - s^2 ||x - mu||^2 / 2  =  (constant - s^2 ||mu||^2 / 2) + s^2 (mu'x - ||x||^2 / 2)

One multiply-add a cell and group instead of two, here and in the sums: all that a round group asks of its rows are
N, sum w r x and sum w r ||x||^2. Squares of what is far are subtracted from each other, so x and mu are taken about a
point g amid the means, and only where the means are near it (``density.NEAR``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.lanes import TILE, add_cross_products, load_tile
from asterism.kernels.sharers import SCALE
from asterism.kernels.shares import LOOK, bring_notes, settle, share_out, take_notes

Floats = NDArray[Any]  # float32 or float64


@kernel
def spherical_block(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: the reference, and g from there
    centers: Floats,  # (even k, padded d) in: mu - g; their type is that of the arithmetic
    lines: Floats,  # (2, k) in: s^2, and constant - s^2 ||mu - g||^2 / 2
    mode: int,
    notes: NDArray[np.float64],  # (n,) in or out, as ``mode`` has it; or none
    mass: NDArray[np.float64],  # (k,) added to
    sums: NDArray[np.float64],  # (even k, padded d) added to: sum w r (x - g)
    squares: NDArray[np.float64],  # (k,) added to: sum w r ||x - g||^2 / 2
    totals: NDArray[np.float64],  # (2,) added to
) -> None:
    """Read once, tile by tile: score, share out, add up."""
    k, width = lines.shape[1], centers.shape[1]
    tile = np.zeros(width * TILE, centers.dtype)
    halves = np.zeros(TILE, centers.dtype)
    scores = np.zeros(len(centers) * TILE, centers.dtype)
    work = np.empty((4, TILE), centers.dtype)
    w, here = np.zeros(TILE, centers.dtype), np.zeros(TILE)
    for number in range(-(-len(rows) // TILE)):
        first = number * TILE
        load_tile(rows, weights, origin, first, tile, w)
        take_notes(notes, first, here)
        half_squares(tile, halves)
        score_spherical(tile, halves, centers, lines, scores)
        share_out(scores.reshape((-1, TILE)), k, w, here, mode, work, totals)
        if mode == LOOK:
            bring_notes(here, first, notes)
            continue
        settle(scores.reshape((-1, TILE)), work[SCALE], halves, mass, squares)
        add_cross_products(scores, tile, sums)


@kernel
def half_squares(
    tile: Floats,  # (padded d * TILE,) in
    halves: Floats,  # (TILE,) out: ||x||^2 / 2
) -> None:
    """Four columns at a time."""
    zero = tile.dtype.type(0)
    half = (zero + 1) / 2
    halves[:] = zero
    for quarter in range(len(tile) // (4 * TILE)):
        q = 4 * quarter * TILE
        for i in range(TILE):
            x0, x1, x2, x3 = tile[q + i], tile[q + TILE + i], tile[q + 2 * TILE + i], tile[q + 3 * TILE + i]
            halves[i] += (x0 * x0 + x1 * x1) + (x2 * x2 + x3 * x3)
    for i in range(TILE):
        halves[i] *= half


@kernel
def score_spherical(
    tile: Floats,  # (padded d * TILE,) in
    halves: Floats,  # (TILE,) in: ||x||^2 / 2
    centers: Floats,  # (even k, padded d) in
    lines: Floats,  # (2, k) in: s^2, and what does not depend on x
    scores: Floats,  # (even k * TILE,) out; 0 for a group that only makes k even
) -> None:
    """Two groups against four columns at a time; the columns are read once for all groups."""
    scores[:] = 0.0
    for quarter in range(centers.shape[1] // 4):
        j = 4 * quarter
        q = j * TILE
        for half in range(len(centers) // 2):
            c = 2 * half
            p = c * TILE
            a0, a1, a2, a3 = centers[c, j], centers[c, j + 1], centers[c, j + 2], centers[c, j + 3]
            b0, b1 = centers[c + 1, j], centers[c + 1, j + 1]
            b2, b3 = centers[c + 1, j + 2], centers[c + 1, j + 3]
            for i in range(TILE):
                x0, x1 = tile[q + i], tile[q + TILE + i]
                x2, x3 = tile[q + 2 * TILE + i], tile[q + 3 * TILE + i]
                u, v = scores[p + i], scores[p + TILE + i]
                # One after the other: each is one multiply-add, and pairs of products would be one more addition.
                u = a0 * x0 + u
                v = b0 * x0 + v
                u = a1 * x1 + u
                v = b1 * x1 + v
                u = a2 * x2 + u
                v = b2 * x2 + v
                u = a3 * x3 + u
                v = b3 * x3 + v
                scores[p + i] = u
                scores[p + TILE + i] = v
    for c in range(lines.shape[1]):
        p = c * TILE
        slope, height = lines[0, c], lines[1, c]
        for i in range(TILE):
            scores[p + i] = height + slope * (scores[p + i] - halves[i])
