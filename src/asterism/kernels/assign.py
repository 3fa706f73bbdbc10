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

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel, lane_sum_kernel
from asterism.kernels.scores import (
    TILE,
    add_constants,
    load_lanes,
    load_rows,
    score_four,
    score_lanes,
    square_norms,
)

UNIT = 2.0**-24  # rounding of float32
ROUND_DOWN = 1.0 - 2.0**-22  # so that a lead is never overstated
FEW_COLUMNS = 48  # up to so many columns and masks, rows are vector lanes
LEAST = 2.0**-40  # down to here, and up to its inverse, float32 holds squares of cells
FEW_CENTERS = 24  # up to here, on wide rows, dot products beat a general matrix product

Floats = NDArray[Any]  # float32 or float64


@kernel
def assign_block(
    rows: Floats,  # (n, d) in, NaN = missing
    reference: NDArray[np.float64],  # (d,) in, a point among the rows
    centers: NDArray[np.float64],  # (k, d) in, from the reference
    origin: NDArray[np.float64],  # (d,) in, what float32 measures from: the reference, or 0
    slopes: NDArray[np.float32],  # scaled: see ``padded``
    scale: float,  # a power of two that brings the rows near 1: float32 cannot overflow
    missing: bool,  # whether cells may be missing
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
    plain = rows.itemsize == 4 and not missing and not origin.any() and LEAST < scale < 1.0 / LEAST
    tile = np.zeros(width * TILE, np.float32)  # y, as (width, TILE) in lanes, else as (TILE, width)
    scores = np.empty(len(slopes) * TILE, np.float32)  # (k, TILE)
    table = scores.reshape((len(slopes), TILE))
    pairs = np.empty((2, 2, TILE), np.float32)  # best and second score, twice: read one, write the other
    names = np.empty((2, TILE), np.int32)
    norms = np.zeros((2, TILE), np.float32)  # ||y||^2 of the cells, and with the masks
    shift = np.empty(d + 1, rows.dtype)  # origin and scale in the rows' own type
    for j in range(d):
        shift[j] = origin[j]
    shift[d] = scale
    margin = error_margin(slopes)
    pick = np.zeros(TILE + 3, np.int64)  # the rows of a tile, and room to fill up a four
    every, unit = np.arange(TILE), np.float32(scale)
    first = count = 0
    while first < n:
        first, t = pick_rows(labels, leads, drift, n, first, pick)
        if lanes:
            load_lanes(rows, pick[:t], shift, missing, tile, norms)
            score_lanes(tile, slopes, scores)
        elif k <= FEW_CENTERS:
            lines = tile.reshape((TILE, width))
            pick[t : t + 3] = pick[t - 1] if t else 0
            for i in range(0, t, 4):
                four, coming = pick[i : i + 4], pick[i + 4 : min(i + 8, t)]
                if plain:
                    square_norms(rows, four, unit, norms[:, i : i + 4])
                    score_four(rows, four, slopes, table[:, i : i + 4], rows, coming)
                else:
                    load_rows(rows, four, shift, missing, lines[i : i + 4], norms[:, i : i + 4])
                    score_four(lines, every[i : i + 4], slopes, table[:, i : i + 4], rows, coming)
            if plain:
                add_constants(slopes, d, unit, table)
        else:
            lines = tile.reshape((TILE, width))
            load_rows(rows, pick[:t], shift, missing, lines, norms)
            np.dot(slopes, lines.T, table)
        side = best_two(scores, k, pairs, names)
        name, pair = names[side], pairs[side]
        if any_close(pair, norms[1], margin, t):
            settle(rows, pick[:t], reference, centers, scores, pair, norms[1], margin, name)
        if len(leads):
            measure_leads(pair, norms, margin, width)
            for i in range(t):
                leads[pick[i]] = np.float32((pair[0, i] + drift[name[i]]) * ROUND_DOWN)
        count = write_labels(pick[:t], name, labels, moved, count)
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
        moved[count, 0], moved[count, 1] = row, old
        count += old != new
    return count


@kernel
def measure_leads(
    pair: NDArray[np.float32],  # (2, TILE) in: best and second score; out: the lead in the first line
    norms: NDArray[np.float32],  # (2, TILE) in
    margin: Any,  # squared, per unit of norms
    width: int,
) -> None:
    """By how much the second nearest centre is farther away than the nearest, at the least.

    Squared distances are scores + ||y||^2; ``slip`` bounds what rounding did to both.
    """
    zero = np.float32(0.0)
    for i in range(TILE):
        slip = (
            np.float32(math.sqrt(margin * norms[1, i])) + np.float32(2.0 * (width + 8) * UNIT) * norms[1, i]
        )
        near = pair[0, i] + norms[0, i] + slip
        next_near = pair[1, i] + norms[0, i] - slip
        near = near if near > zero else zero
        next_near = next_near if next_near > zero else zero
        pair[0, i] = np.float32(math.sqrt(next_near)) - np.float32(math.sqrt(near))


def padded(slopes: NDArray[Any]) -> NDArray[np.float32]:
    """(k, d + c) slopes as kernels take them: an even number of lines, columns a multiple of four, zeros added."""
    k, width = slopes.shape
    out = np.zeros((k + k % 2, -(-width // 4) * 4), np.float32)
    out[:k, :width] = slopes
    return out


# --- decide -----------------------------------------------------------------------------------------------------


@kernel
def best_two(
    scores: NDArray[np.float32],  # (at least k * TILE,) in
    k: int,
    pairs: NDArray[np.float32],  # (2, 2, TILE) out: [side, best | second, row]
    names: NDArray[np.int32],  # (2, TILE) out: [side, row]
) -> int:
    """The least and second least score of each row, two centres at a time; returns the side they are on.

    Each round reads one side and writes the other: in place, the compiler would make masked stores of it,
    which cost more than all the rest.
    """
    inf = np.float32(np.inf)
    pairs[0] = inf
    names[0] = 0
    side = 0
    for half in range((k + 1) // 2):
        c = 2 * half
        p = c * TILE
        q = p if c + 1 == k else p + TILE
        none = inf if c + 1 == k else np.float32(0.0)
        name0, name1 = np.int32(c), np.int32(c + 1)
        best, second, name = pairs[side, 0], pairs[side, 1], names[side]
        side = 1 - side
        new_best, new_second, new_name = pairs[side, 0], pairs[side, 1], names[side]
        for i in range(TILE):
            a, b = scores[p + i], scores[q + i] + none
            old, old_second, old_name = (
                best[i],
                second[i],
                name[i],
            )  # loads inside a branch would be masked too
            first = a <= b
            low = a if first else b
            high = b if first else a
            who = name0 if first else name1
            wins = low < old
            loser = old if wins else low
            high = high if high < loser else loser
            new_second[i] = high if high < old_second else old_second
            new_best[i] = low if wins else old
            new_name[i] = who if wins else old_name
    return side


@kernel
def error_margin(slopes: NDArray[np.float32]) -> Any:
    """Squared margin by which a score must lead, per unit of ||y||^2.

    Rounding y and slopes to float32 and a sum of p products in any order change a score by at most
    (p + 2) u ||slopes|| ||y|| to first order; two scores differ by twice that. The rest is for the margin itself.
    """
    p = slopes.shape[1]
    most = 0.0
    for c in range(len(slopes)):
        norm = 0.0
        for j in range(p):
            norm += np.float64(slopes[c, j]) * slopes[c, j]
        most = max(most, norm)
    margin = 2.0 * (p + 8) * UNIT
    return np.float32(margin * margin * most)


@kernel
def any_close(
    pair: NDArray[np.float32],  # (2, TILE) in: best and second score
    norms: NDArray[np.float32],  # (TILE,) in
    margin: Any,  # squared, per unit of norms
    t: int,
) -> bool:
    """Whether any of the first t rows is a close call: mostly not, and this is quick."""
    count = 0
    for i in range(t):
        lead = pair[1, i] - pair[0, i]
        count += 0 if lead * lead > margin * norms[i] else 1
    return count > 0


@lane_sum_kernel
def settle(
    rows: Floats,  # (n, d) in
    pick: NDArray[np.int64],  # (t,) in: which of them
    reference: NDArray[np.float64],  # (d,) in
    centers: NDArray[np.float64],  # (k, d) in
    scores: NDArray[np.float32],  # (at least k * TILE,) in
    pair: NDArray[np.float32],  # (2, TILE) in: best and second score
    norms: NDArray[np.float32],  # (TILE,) in
    margin: Any,  # squared, per unit of norms
    name: NDArray[np.int32],  # (TILE,) changed where the lead was too small
) -> None:
    """Close calls by sum (x - c)^2 in float64 over the centres within the margin; the first of equals wins."""
    for i in range(len(pick)):
        lead = pair[1, i] - pair[0, i]
        if lead * lead > margin * norms[i]:
            continue
        row = rows[pick[i]]
        limit = pair[0, i] + 2.0 * math.sqrt(margin * norms[i])
        least = np.inf
        for c in range(len(centers)):
            if scores[c * TILE + i] > limit:
                continue
            distance = 0.0
            for j in range(len(row)):
                y = (np.float64(row[j]) - reference[j]) - centers[c, j]
                distance += y * y if y == y else 0.0
            if distance < least:
                least = distance
                name[i] = c
