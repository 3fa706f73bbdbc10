"""The nearest centre of every row, certified.

Write a row as ``y = (x - origin | seen)``: its shifted cells with zeros for missing ones, then its mask (one
column of ones when no cell of the table is missing). With ``slopes_k = (-2 c_k | c_k^2)`` (the squares summed to
one column when no cell is missing)

    ||x - c_k||^2 over observed cells  =  slopes_k . y  +  ||y||^2

so the nearest centre has the least score ``slopes_k . y``: a matrix product, with missing cells or without.

Scores are taken in float32 whatever the rows are, and a label is accepted only where the best score leads the
second by more than the rounding error of both can be. The few close calls are settled in float64 from the
differences themselves. So labels are exact, and float64 tables run at float32 speed.

A row keeps its group while its lead, by which the second nearest centre was farther away than the nearest, exceeds
what its own centre and the fastest centre have gone since: such rows need not be looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.decide import any_close, best_two, measure_leads, settle
from asterism.kernels.scores import (
    TILE,
    add_constants,
    load_lanes,
    load_rows,
    score_four,
    score_lanes,
    square_norms,
)

ROUND_DOWN = 1.0 - 2.0**-22  # so that a lead is never overstated
FEW_COLUMNS = 48  # up to so many columns and masks, rows are vector lanes
LEAST = 2.0**-40  # down to here, and up to its inverse, float32 holds squares of cells

Floats = NDArray[Any]  # float32 or float64


@kernel
def assign_block(
    rows: Floats,  # (n, d) in, NaN = missing
    reference: NDArray[np.float64],  # (d,) in, a point among the rows
    centers: NDArray[np.float64],  # (k, d) in, from the reference
    shift: Floats,  # (d + 1,) in: the point float32 measures from (the reference, or 0); a power of two that
    #                 brings the rows near 1, so that float32 cannot overflow
    slopes: NDArray[np.float32],  # scaled: see ``padded``
    missing: bool,  # whether cells may be missing
    margin: Any,  # squared, by which a score must lead, per unit of ||y||^2 (``decide.error_margin``)
    drift: NDArray[np.float64],  # (k,) in: how far a group's own centre and the fastest have gone, scaled
    labels: NDArray[np.int32],  # (n,) in: groups before, -1: none; out: groups now
    leads: NDArray[np.float32],  # (n,) in and out: the drift up to which a row keeps its group; or none
    moved: NDArray[np.int32],  # (n, 2) out: rows that changed their group, and which they left; or none
) -> int:
    """Label every row with its nearest centre, the first of equally near ones; rows with a lead are left alone.

    Returns how many rows changed their group.
    """
    n, d = rows.shape
    k, width = len(centers), slopes.shape[1]
    lanes = width <= FEW_COLUMNS
    scale = shift[d]
    plain = rows.itemsize == 4 and not missing and not shift[:d].any() and LEAST < scale < 1.0 / LEAST
    tile = np.zeros(width * TILE, np.float32)  # y, as (width, TILE) in lanes, else as (TILE, width)
    scores = np.empty(len(slopes) * TILE, np.float32)  # (k, TILE)
    table = scores.reshape((len(slopes), TILE))
    pairs = np.empty((2, 2, TILE), np.float32)  # best and second score, twice: read one, write the other
    names = np.empty((2, TILE), np.int32)
    norms = np.zeros((2, TILE), np.float32)  # ||y||^2 of the cells, and with the masks
    pick = np.zeros(TILE + 3, np.int64)  # the rows of a tile, and room to fill up a four
    every, unit = np.arange(TILE), np.float32(scale)
    first = count = 0
    while first < n:
        first, t = pick_rows(labels, leads, drift, n, first, pick)
        if lanes:
            load_lanes(rows, pick[:t], shift, missing, tile, norms)
            score_lanes(tile, slopes, scores)
        else:
            lines = tile.reshape((TILE, width))
            pick[t : t + 3] = pick[t - 1] if t else 0
            for i in range(0, t, 4):
                four, coming = pick[i : i + 4], pick[i + 4 : min(i + 8, t)]
                if plain:
                    square_norms(rows, four, unit, norms[:, i : i + 4])
                    score_four(rows, four, slopes, table[:, i : i + 4], rows, coming)
                else:
                    load_rows(rows, four, every[:4], shift, missing, lines[i : i + 4], norms[:, i : i + 4])
                    score_four(lines, every[i : i + 4], slopes, table[:, i : i + 4], rows, coming)
            if plain:
                add_constants(slopes, d, unit, table)
        side = best_two(scores, k, pairs, names)
        name, pair = names[side], pairs[side]
        if any_close(pair, norms[1], margin, t):
            settle(rows, pick[:t], reference, centers, scores, pair, norms[1], margin, name)
        if len(leads):
            measure_leads(pair, norms, margin, width)
            for i in range(t):
                leads[pick[i]] = np.float32((pair[0, i] + drift[name[i]]) * ROUND_DOWN)
        count = write_labels(pick[:t], name, labels, moved, count, 0)
    return count


@kernel
def pick_rows(
    labels: NDArray[np.int32],  # (n,) in
    leads: NDArray[np.float32],  # (n,) in; or none
    drift: NDArray[np.float64],  # (k,) in
    n: int,
    first: int,
    pick: NDArray[np.int64],  # (at least TILE,) out
) -> tuple[int, int]:
    """The next rows that need a look: all, or those whose lead the centres' drift has used up.

    Nobody can guess which rows these are, a processor neither: so there is no branch, and every row is written down,
    over the one before if that needs no look.
    """
    t = 0
    if len(leads) == 0:
        t = min(TILE, n - first)
        for i in range(t):
            pick[i] = first + i
        return first + t, t
    while first < n and t < TILE:
        label = labels[first]
        new = label < 0
        ahead = leads[first] > drift[0 if new else label]
        pick[t] = first
        t += 1 - (ahead & (not new))
        first += 1
    return first, t


@kernel
def write_labels(
    pick: NDArray[np.int64],  # (t,) in
    name: NDArray[np.int32],  # (TILE,) in
    labels: NDArray[np.int32],  # (n,) changed
    moved: NDArray[np.int32],  # (n, 2) out: added to; or none
    count: int,
    first: int,  # what numbers of rows in ``moved`` count from
) -> int:
    """Labels of the rows of a tile; those that change are written down, without a branch as in ``pick_rows``."""
    if len(moved) == 0:
        for i in range(len(pick)):
            labels[pick[i]] = name[i]
        return 0
    for i in range(len(pick)):
        row, new = pick[i], name[i]
        old = labels[row]
        labels[row] = new
        moved[count, 0], moved[count, 1] = first + row, old
        count += old != new
    return count


def padded(slopes: NDArray[Any]) -> NDArray[np.float32]:
    """(k, d + c) slopes as kernels take them: an even number of lines, columns a multiple of four, zeros added."""
    k, width = slopes.shape
    out = np.zeros((k + k % 2, -(-width // 4) * 4), np.float32)
    out[:k, :width] = slopes
    return out
