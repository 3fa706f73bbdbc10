"""A covariance matrix a group: scores and scatters of the rows of a block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.lanes import (
    TILE,
    add_products,
    gather_tile,
    load_tile,
    shift_tile,
    unload_tile,
    weigh_tile,
)
from asterism.kernels.shares import lane_mass, pick_rows, share_out

GATHER_COLUMNS = 16  # from so many columns on, products are dearer than putting rows side by side
LANES = 16  # gathered rows are padded to a multiple of this

Floats = NDArray[Any]  # float32 or float64


@kernel
def full_block(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: NDArray[np.float64],  # (2, d) in: the reference, and zeros
    offsets: Floats,  # (k, d) in; their type is that of the arithmetic
    factors: Floats,  # (k, padded d, padded d) in: W, lower triangular
    constants: Floats,  # (k,) in: log pi + log det W - d/2 log 2 pi
    mode: int,
    draws: NDArray[np.float64],  # (n,) in; or none
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
    work = np.empty((4, TILE), offsets.dtype)
    w, r = np.zeros(TILE, offsets.dtype), np.zeros(TILE, offsets.dtype)
    chance = np.zeros(TILE)
    pick = np.empty(TILE + 1, np.int64)
    for number in range(-(-len(rows) // TILE)):
        first = number * TILE
        load_tile(rows, weights, origin, first, tile, w)
        if len(draws):
            chance[: min(TILE, len(rows) - first)] = draws[first : first + TILE]
        for c in range(k):
            shift_tile(tile, offsets[c], z)
            score_full(z, factors[c], constants[c], work, scores[c * TILE : (c + 1) * TILE])
        share_out(scores, k, w, chance, mode, work, totals)
        for c in range(k):
            mine = scores[c * TILE : (c + 1) * TILE]
            share = lane_mass(mine)
            if share == 0.0:
                continue
            mass[c] += share
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
    origin: NDArray[np.float64],  # (2, d) in: the reference, and zeros
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
    work, w = np.empty((4, TILE), offsets.dtype), np.zeros(TILE, offsets.dtype)
    for number in range(-(-len(rows) // TILE)):
        load_tile(rows, weights, origin, number * TILE, tile, w)
        for c in range(k):
            shift_tile(tile, offsets[c], z)
            score_full(z, factors[c], constants[c], work, scores[c * TILE : (c + 1) * TILE])
        unload_tile(scores, number * TILE, out)


@kernel
def score_full(
    z: Floats,  # (padded d * TILE,) in: x - mean
    factor: Floats,  # (padded d, padded d) in
    constant: Any,
    work: Floats,  # (4, TILE)
    scores: Floats,  # (TILE,) out: constant - ||W z||^2 / 2
) -> None:
    """Two lines of W against four columns at a time; lines of z beyond the diagonal meet zeros."""
    zero = z[0] - z[0]
    u, v, half_of = work[0], work[1], zero - (zero + 1) / 2
    scores[:] = constant
    for half in range(len(factor) // 2):
        a = 2 * half
        u[:] = zero
        v[:] = zero
        for quarter in range((a + 5) // 4):
            j = 4 * quarter
            a0, a1, a2, a3 = factor[a, j], factor[a, j + 1], factor[a, j + 2], factor[a, j + 3]
            b0, b1, b2, b3 = (
                factor[a + 1, j],
                factor[a + 1, j + 1],
                factor[a + 1, j + 2],
                factor[a + 1, j + 3],
            )
            q = j * TILE
            for i in range(TILE):
                x0, x1, x2, x3 = z[q + i], z[q + TILE + i], z[q + 2 * TILE + i], z[q + 3 * TILE + i]
                u[i] += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)
                v[i] += (b0 * x0 + b1 * x1) + (b2 * x2 + b3 * x3)
        for i in range(TILE):
            scores[i] += half_of * (u[i] * u[i] + v[i] * v[i])
