"""A covariance matrix a group: scores and scatters of the rows of a block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.lanes import (
    LINES,
    TILE,
    add_products,
    gather_tile,
    load_tile,
    multiply_lines,
    shift_tile,
    unload_tile,
    weigh_tile,
)
from asterism.kernels.sharers import SCALE
from asterism.kernels.shares import LOOK, bring_notes, pick_rows, settle, share_out, take_notes

GATHER_COLUMNS = 16  # from so many columns on, products are dearer than putting rows side by side
LANES = 16  # gathered rows are padded to a multiple of this

Floats = NDArray[Any]  # float32 or float64


@kernel
def full_block(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: the reference, and zeros
    offsets: Floats,  # (k, d) in; their type is that of the arithmetic
    factors: Floats,  # (k, padded d, padded d) in: W, lower triangular
    constants: Floats,  # (k,) in: log pi + log det W - d/2 log 2 pi
    mode: int,
    notes: NDArray[np.float64],  # (n,) in or out, as ``mode`` has it; or none
    mass: NDArray[np.float64],  # (k,) added to
    sums: NDArray[np.float64],  # (k, d) added to: sum w r (x - mean)
    scatters: NDArray[np.float64],  # (k, padded d, padded d) added to: sum w r (x - mean)(x - mean)', lower
    totals: NDArray[np.float64],  # (2,) added to
) -> None:
    """Read once, tile by tile: score, share out, add up."""
    k, width = len(offsets), factors.shape[1]
    tile = np.zeros(width * TILE, offsets.dtype)
    z = np.zeros(width * TILE, offsets.dtype)
    p = np.zeros(width * TILE, offsets.dtype)
    scores = np.empty(k * TILE, offsets.dtype)
    y, work = np.empty(LINES * TILE, offsets.dtype), np.empty((4, TILE), offsets.dtype)
    w, r = np.zeros(TILE, offsets.dtype), np.zeros(TILE, offsets.dtype)
    here, shared, spare = np.zeros(TILE), np.empty(k), np.empty(k)
    pick = np.empty(TILE + 1, np.int64)
    for number in range(-(-len(rows) // TILE)):
        first = number * TILE
        load_tile(rows, weights, origin, first, tile, w)
        take_notes(notes, first, here)
        for c in range(k):
            shift_tile(tile, offsets[c], z)
            score_full(z, factors[c], constants[c], y, scores[c * TILE : (c + 1) * TILE])
        share_out(scores.reshape((-1, TILE)), k, w, here, mode, work, totals)
        if mode == LOOK:
            bring_notes(here, first, notes)
            continue
        shared[:] = 0.0
        settle(scores.reshape((-1, TILE)), work[SCALE], w, shared, spare)
        mass += shared
        for c in range(k):
            if shared[c] == 0.0:
                continue
            mine = scores[c * TILE : (c + 1) * TILE]
            m = pick_rows(mine, pick) if width >= GATHER_COLUMNS else TILE
            if 2 * m <= TILE:
                gather_tile(tile, offsets[c], pick[:m], z)
                full = (m + LANES - 1) // LANES * LANES
                for i in range(m):
                    r[i] = mine[pick[i]]
                for i in range(m, full):
                    r[i] = 0.0  # what the lanes beyond hold does not count, as it is finite
                weigh_tile(z, r[:full], p, sums[c])
                add_products(p, z, full, scatters[c])
            else:
                shift_tile(tile, offsets[c], z)
                weigh_tile(z, mine, p, sums[c])
                add_products(p, z, TILE, scatters[c])


@kernel
def full_scores(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: the reference, and zeros
    offsets: Floats,  # (k, d) in
    factors: Floats,  # (k, padded d, padded d) in
    constants: Floats,  # (k,) in
    out: Floats,  # (n, k) out
) -> None:
    """constant - ||W (x - mean)||^2 / 2 of every row and group."""
    k, width = len(offsets), factors.shape[1]
    tile = np.zeros(width * TILE, offsets.dtype)
    z = np.zeros(width * TILE, offsets.dtype)
    scores = np.empty(k * TILE, offsets.dtype)
    y, w = np.empty(LINES * TILE, offsets.dtype), np.zeros(TILE, offsets.dtype)
    for number in range(-(-len(rows) // TILE)):
        load_tile(rows, weights, origin, number * TILE, tile, w)
        for c in range(k):
            shift_tile(tile, offsets[c], z)
            score_full(z, factors[c], constants[c], y, scores[c * TILE : (c + 1) * TILE])
        unload_tile(scores, number * TILE, out)


@kernel
def score_full(
    z: Floats,  # (padded d * TILE,) in: x - mean
    factor: Floats,  # (padded d, padded d) in
    constant: Any,
    y: Floats,  # (LINES * TILE,): W z of some lines
    scores: Floats,  # (TILE,) out: constant - ||W z||^2 / 2
) -> None:
    """Some lines of W at a time: what they add up to stays in the first cache while columns pass by."""
    zero = z.dtype.type(0)
    half_of = zero - (zero + 1) / 2
    scores[:] = constant
    for some in range(-(-len(factor) // LINES)):
        first = some * LINES
        n = min(LINES, len(factor) - first)
        multiply_lines(z, factor, first, n, y)
        for half in range(n // 2):
            p = 2 * half * TILE
            for i in range(TILE):
                u, v = y[p + i], y[p + TILE + i]
                scores[i] += half_of * (u * u + v * v)
