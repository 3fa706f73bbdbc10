"""Tiles of dissimilarities between rows and rows, from the differences themselves.

Equal rows are at distance exactly 0, and d(x, y) and d(y, x) are the same bits: no matrix product, no cancellation.
The second set of rows comes packed, TILE of them side by side in vector lanes (``packed``); each row of the first
set runs over a pack while it is in the nearest cache.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel

TILE = 256  # rows of a pack

ABSOLUTE, SQUARE, LARGEST, POWER = 0, 1, 2, 3  # what is made of the differences of a pair of rows
DIFFER, RANGE, ASYMMETRIC = 0, 1, 2  # what is made of one column of a mixed table


def packed(rows: NDArray[Any], width: int) -> NDArray[np.float64]:
    """(n, d) rows -> (packs, width * TILE): cell j of row i of a pack at j * TILE + i, zeros added."""
    n, d = rows.shape
    packs = -(-n // TILE)
    lanes = np.zeros((packs, width, TILE))
    whole = n // TILE
    lanes[:whole, :d] = rows[: whole * TILE].reshape(whole, TILE, d).transpose(0, 2, 1)
    if whole < packs:
        lanes[whole, :d, : n - whole * TILE] = rows[whole * TILE :].T
    return lanes.reshape(packs, width * TILE)


def padded_width(d: int) -> int:
    """Columns that rows are given for these kernels: a multiple of four; zeros add nothing to a difference."""
    return -(-d // 4) * 4


# --- p-norms ----------------------------------------------------------------------------------------------------


@kernel
def norm_tile(
    rows: NDArray[np.float64],  # (a, width) in, NaN = missing
    packs: NDArray[np.float64],  # (packs, width * TILE) in
    how: int,  # ABSOLUTE, SQUARE, LARGEST or POWER
    power: float,  # p of POWER
    root: bool,  # whether to end with the p-th root
    d: int,  # columns without the padding; 0: no cell is missing
    unknown: float,  # what rows without a column in common get
    out: NDArray[np.float64],  # (a, b) out
) -> None:
    """(sum_j |x_j - y_j|^p)^(1/p); over the columns both rows have, times d over their number."""
    b = out.shape[1]
    total, seen = np.empty(TILE), np.empty(TILE)
    for q in range(len(packs)):
        pack = packs[q]
        first = q * TILE
        t = min(TILE, b - first)
        for i in range(len(rows)):
            total[:] = 0.0
            if d > 0:
                add_observed(rows[i], pack, how, power, total, seen)
                rescale(total, seen, how, d, rows.shape[1])
            elif how == SQUARE:
                add_squares(rows[i], pack, total)
            else:
                add_others(rows[i], pack, how, power, total)
            if root and how == SQUARE:
                for o in range(TILE):
                    total[o] = math.sqrt(total[o])
            elif root:
                for o in range(TILE):
                    total[o] = total[o] ** (1.0 / power)
            if d > 0:
                for o in range(TILE):
                    known = seen[o] > rows.shape[1] - d
                    total[o] = total[o] if known else unknown
            for o in range(t):
                out[i, first + o] = total[o]


@kernel
def add_squares(
    row: NDArray[np.float64],  # (width,) in
    pack: NDArray[np.float64],  # (width * TILE,) in
    total: NDArray[np.float64],  # (TILE,) in and out
) -> None:
    """Sum of squared differences, four columns at a time."""
    for quarter in range(len(row) // 4):
        j = 4 * quarter
        x0, x1, x2, x3 = row[j], row[j + 1], row[j + 2], row[j + 3]
        q = j * TILE
        for o in range(TILE):
            y0 = x0 - pack[q + o]
            y1 = x1 - pack[q + TILE + o]
            y2 = x2 - pack[q + 2 * TILE + o]
            y3 = x3 - pack[q + 3 * TILE + o]
            total[o] += (y0 * y0 + y1 * y1) + (y2 * y2 + y3 * y3)


@kernel
def add_others(
    row: NDArray[np.float64],  # (width,) in
    pack: NDArray[np.float64],  # (width * TILE,) in
    how: int,
    power: float,
    total: NDArray[np.float64],  # (TILE,) in and out
) -> None:
    """Sum of absolute differences, the largest of them, or the sum of their powers."""
    for j in range(len(row)):
        x, q = row[j], j * TILE
        if how == ABSOLUTE:
            for o in range(TILE):
                total[o] += abs(x - pack[q + o])
        elif how == LARGEST:
            for o in range(TILE):
                y, most = abs(x - pack[q + o]), total[o]
                total[o] = y if y > most else most
        else:
            for o in range(TILE):
                total[o] += abs(x - pack[q + o]) ** power


@kernel
def add_observed(
    row: NDArray[np.float64],  # (width,) in, NaN = missing
    pack: NDArray[np.float64],  # (width * TILE,) in, NaN = missing
    how: int,
    power: float,
    total: NDArray[np.float64],  # (TILE,) in and out
    seen: NDArray[np.float64],  # (TILE,) out: columns that both rows have, the padding among them
) -> None:
    """The same over the columns that both rows have."""
    seen[:] = 0.0
    for j in range(len(row)):
        x, q = row[j], j * TILE
        if x != x:
            continue
        for o in range(TILE):
            y = abs(x - pack[q + o])
            known = y == y
            seen[o] += 1.0 if known else 0.0
            y = y if known else 0.0
            if how == ABSOLUTE:
                total[o] += y
            elif how == SQUARE:
                total[o] += y * y
            elif how == LARGEST:
                total[o] = max(total[o], y)
            else:
                total[o] += y**power


@kernel
def rescale(
    total: NDArray[np.float64],  # (TILE,) in and out
    seen: NDArray[np.float64],  # (TILE,) in
    how: int,
    d: int,
    width: int,
) -> None:
    """As if the columns that are missing differed like those that are there."""
    padding = float(width - d)
    for o in range(TILE):
        cells = max(seen[o] - padding, 1.0)
        # Exactly 1 where nothing is missing: complete rows have the bits they have in a complete table.
        total[o] = total[o] * (1.0 if how == LARGEST else d / cells)


# --- sums over columns of every kind ------------------------------------------------------------------------------


@kernel
def mixed_tile(
    rows: NDArray[np.float64],  # (a, d) in: numbers in units of their range, codes of names; NaN = missing
    packs: NDArray[np.float64],  # (packs, d * TILE) in
    kinds: NDArray[np.int64],  # (d,) in: RANGE, DIFFER or ASYMMETRIC
    weights: NDArray[np.float64],  # (d,) in, 0 or more
    scale: float,  # of the mean: 1, or the sum of the weights
    unknown: float,  # what rows without a column that can be compared get
    out: NDArray[np.float64],  # (a, b) out
) -> None:
    """scale * sum_j w_j d_j(x_j, y_j) / sum_j w_j, over the columns that can be compared."""
    b = out.shape[1]
    total, whole = np.empty(TILE), np.empty(TILE)
    for q in range(len(packs)):
        pack = packs[q]
        first = q * TILE
        t = min(TILE, b - first)
        for i in range(len(rows)):
            total[:] = 0.0
            whole[:] = 0.0
            for j in range(len(kinds)):
                if rows[i, j] == rows[i, j]:
                    add_column(
                        rows[i, j], pack[j * TILE : (j + 1) * TILE], kinds[j], weights[j], total, whole
                    )
            for o in range(TILE):
                w = whole[o]
                mean = scale * total[o] / w if w > 0.0 else unknown
                total[o] = mean
            for o in range(t):
                out[i, first + o] = total[o]


@kernel
def add_column(
    x: float,
    lanes: NDArray[np.float64],  # (TILE,) in
    kind: int,
    weight: float,
    total: NDArray[np.float64],  # (TILE,) in and out
    whole: NDArray[np.float64],  # (TILE,) in and out
) -> None:
    """One column: w d_j to the total, w to the whole, where both rows have it."""
    if kind == RANGE:
        for o in range(TILE):
            y = abs(x - lanes[o])
            known = y == y
            total[o] += weight * (y if known else 0.0)
            whole[o] += weight if known else 0.0
    elif kind == DIFFER or x != 0.0:
        for o in range(TILE):
            y = lanes[o]
            known = y == y
            total[o] += weight if known and y != x else 0.0
            whole[o] += weight if known else 0.0
    else:  # that both rows lack something does not make them alike
        for o in range(TILE):
            one = lanes[o] > 0.0
            total[o] += weight if one else 0.0
            whole[o] += weight if one else 0.0


# --- sums of tiles ------------------------------------------------------------------------------------------------


@kernel
def add_scatter(
    tile: NDArray[np.float64],  # (a, b) in
    labels: NDArray[np.int64],  # (a,) in: groups of the rows
    others: NDArray[np.int64],  # (b,) in: groups of the points
    weights: NDArray[np.float64],  # (a,) in
    other_weights: NDArray[np.float64],  # (b,) in
    sums: NDArray[np.float64],  # (2,) in and out: within groups, between groups
) -> None:
    """sum_ij w_i w_j d_ij, pairs of one group apart from pairs of two."""
    for i in range(len(tile)):
        within, between, z = 0.0, 0.0, labels[i]
        if weights[i] == 0.0:
            continue
        for o in range(tile.shape[1]):
            w = other_weights[o]
            y = w * tile[i, o] if w > 0.0 else 0.0  # a row of weight 0 may be at any distance, infinity too
            same = others[o] == z
            within += y if same else 0.0
            between += 0.0 if same else y
        sums[0] += weights[i] * within
        sums[1] += weights[i] * between
