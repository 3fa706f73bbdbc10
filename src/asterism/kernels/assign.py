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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.decide import any_close, best_two, measure_leads, settle
from asterism.kernels.scan import CENTERS, LANES, ROWS, scan_rows, turn_eight
from asterism.kernels.scores import (
    TILE,
    add_constants,
    load_rows,
    score_four,
    square_lanes,
)

ROUND_DOWN = 1.0 - 2.0**-22  # so that a lead is never overstated
AHEAD = 11  # rows that are asked for before their turn, and three to fill up a four
LEAST = 2.0**-40  # down to here, and up to its inverse, float32 holds squares of cells

Floats = NDArray[Any]  # float32 or float64


class Tile(NamedTuple):
    """What is known of the rows scored together."""

    scores: NDArray[np.float32]  # (k and padding) * TILE
    pairs: NDArray[np.float32]  # (2, 2, TILE) best and second score, twice: read one, write the other
    names: NDArray[np.int32]  # (2, TILE) whose the best is
    norms: NDArray[np.float32]  # (2, TILE) ||y||^2 of the cells, and with the masks
    pick: NDArray[np.int64]  # (TILE + AHEAD,) which rows they are, and which come next


# Two ways to score a tile, each compiled when a table first needs it; what surrounds them is below.


@kernel
def assign_lanes(
    rows: Floats,  # (n, d) in, NaN = missing
    reference: NDArray[np.float64],  # (d,) in, a point among the rows
    centers: NDArray[np.float64],  # (k, d) in, from the reference
    shift: Floats,  # (d + 1,) in: the point float32 measures from (the reference, or 0); a power of two that
    #                 brings the rows near 1, so that float32 cannot overflow
    panels: NDArray[np.float32],  # (p, 1 + columns, CENTERS) in: see ``panels.panels_of``
    missing: bool,  # whether cells may be missing
    margin: Any,  # squared, by which a score must lead, per unit of ||y||^2 (``decide.error_margin``)
    drift: NDArray[np.float64],  # (k,) in: how far a group's own centre and the fastest have gone, scaled
    labels: NDArray[np.int32],  # (n,) in: groups before, -1: none; out: groups now
    leads: NDArray[np.float32],  # (n,) in and out: the drift up to which a row keeps its group; or none
    moved: NDArray[np.int32],  # (n, 2) out: rows that changed their group, and which they left; or none
) -> int:
    """Label every row with its nearest centre, the first of equally near ones; rows with a lead are left alone.

    For few columns: rows are vector lanes. Returns how many rows changed their group.
    """
    n, d = rows.shape
    width = panels.shape[1] - 1
    y = np.zeros((width + LANES) * TILE, np.float32)  # columns are turned by eight
    norms, pair = np.zeros((2, TILE), np.float32), np.zeros((2, TILE), np.float32)
    name, pick = np.zeros(TILE, np.int32), np.zeros(TILE, np.int64)
    first: Any = np.int64(0)  # a plain 0 is a literal: what is given it would be compiled twice
    count: Any = first
    while first < n:
        first, t = pick_rows(labels, leads, drift, n, first, pick)
        for eight in range(-(-t // LANES)):  # rows of the tile before fill it up
            turn_eight(rows, pick, LANES * eight, shift, y, TILE)
        square_lanes(y, d, missing, norms)
        for some in range(-(-t // ROWS)):
            scan_rows(y, TILE, ROWS * some, panels, pair, name)
        if any_close(pair, norms[1], margin, t):
            settle_lanes(rows, pick[:t], reference, centers, y, panels, pair, norms[1], margin, name)
        if len(leads):
            measure_leads(pair, norms, margin, width)
            for i in range(t):
                leads[pick[i]] = np.float32((pair[0, i] + drift[name[i]]) * ROUND_DOWN)
        count = write_labels(pick[:t], name, labels, moved, count, 0)
    return int(count)


@kernel
def settle_lanes(
    rows: Floats, pick: NDArray[np.int64], reference: NDArray[np.float64], centers: NDArray[np.float64],
    y: NDArray[np.float32], panels: NDArray[np.float32], pair: NDArray[np.float32], norms: NDArray[np.float32],
    margin: Any, name: NDArray[np.int32],
) -> None:  # fmt: skip
    """Close calls of a tile: the few rows that need all their scores get them, and are settled."""
    close, k = np.empty(TILE, np.int64), len(centers)
    m = 0
    for i in range(len(pick)):
        lead = pair[1, i] - pair[0, i]
        close[m] = i
        m += 0 if lead * lead > margin * norms[i] else 1
    scores = np.empty(k * TILE, np.float32)
    who, best, norm, found = (
        close.copy(),
        np.empty((2, TILE), np.float32),
        np.empty(TILE, np.float32),
        name.copy(),
    )
    for p in range(m):
        i = close[p]
        who[p], best[0, p], best[1, p], norm[p], found[p] = pick[i], pair[0, i], pair[1, i], norms[i], name[i]
        for c in range(k):
            panel, lane = divmod(c, CENTERS)
            score = panels[panel, 0, lane]
            for j in range(panels.shape[1] - 1):
                score += panels[panel, 1 + j, lane] * y[j * TILE + i]
            scores[c * TILE + p] = score
    settle(rows, who[:m], reference, centers, scores, best, norm, margin, found)
    for p in range(m):
        name[close[p]] = found[p]


@kernel
def assign_fours(
    rows: Floats, reference: NDArray[np.float64], centers: NDArray[np.float64], shift: Floats,
    slopes: NDArray[np.float32], missing: bool, margin: Any, drift: NDArray[np.float64],
    labels: NDArray[np.int32], leads: NDArray[np.float32], moved: NDArray[np.int32],
) -> int:  # fmt: skip
    """As ``assign_lanes``, for many columns: four rows at a time, where they lie if nothing need be done to them."""
    n, d = rows.shape
    width, scale = slopes.shape[1], shift[d]
    plain = rows.itemsize == 4 and not missing and not shift[:d].any() and LEAST < scale < 1.0 / LEAST
    tile, lines = empty_tile(slopes), np.zeros((TILE, width), np.float32)
    first: Any = np.int64(0)
    count: Any = first
    table, pick, norms = tile.scores.reshape((len(slopes), TILE)), tile.pick, tile.norms
    every, unit, unused = np.arange(TILE), np.float32(scale), np.empty(4, np.float32)
    while first < n:
        first, t = pick_rows(labels, leads, drift, n, first, pick)
        for i in range(AHEAD):  # to fill up a four; and these will come next, most likely
            pick[t + i] = min(first + i, n - 1)
        for i in range(0, t, 4):
            four, coming = pick[i : i + 4], pick[i + 8 : i + 12]
            if plain:
                score_four(rows, four, slopes, table[:, i : i + 4], norms[0, i : i + 4], rows, coming)
            else:
                load_rows(rows, four, every[:4], shift, missing, lines[i : i + 4], norms[:, i : i + 4])
                score_four(lines, every[i : i + 4], slopes, table[:, i : i + 4], unused, rows, coming)
        if plain:
            add_constants(slopes, d, unit, table, norms)
        count = decide_tile(
            tile, t, rows, reference, centers, slopes, margin, drift, labels, leads, moved, count
        )
    return int(count)


def assign_block(rows: Floats, *rest: Any) -> int:
    """``assign_lanes`` or ``assign_fours``, whichever suits the columns and masks."""
    slopes = rest[3]
    return (assign_lanes if slopes.ndim == 3 else assign_fours)(rows, *rest)


@kernel
def empty_tile(slopes: NDArray[np.float32]) -> Tile:
    """Room for a tile."""
    return Tile(
        np.empty(len(slopes) * TILE, np.float32), np.empty((2, 2, TILE), np.float32), np.empty((2, TILE), np.int32),
        np.zeros((2, TILE), np.float32), np.zeros(TILE + AHEAD, np.int64),
    )  # fmt: skip


@kernel
def decide_tile(
    tile: Tile, t: int, rows: Floats, reference: NDArray[np.float64], centers: NDArray[np.float64],
    slopes: NDArray[np.float32], margin: Any, drift: NDArray[np.float64], labels: NDArray[np.int32],
    leads: NDArray[np.float32], moved: NDArray[np.int32], count: int,
) -> int:  # fmt: skip
    """From scores to labels and leads; returns how many rows have changed their group so far."""
    pick, norms = tile.pick, tile.norms
    side = best_two(tile.scores, len(centers), tile.pairs, tile.names)
    name, pair = tile.names[side], tile.pairs[side]
    if any_close(pair, norms[1], margin, t):
        settle(rows, pick[:t], reference, centers, tile.scores, pair, norms[1], margin, name)
    if len(leads):
        measure_leads(pair, norms, margin, slopes.shape[1])
        for i in range(t):
            leads[pick[i]] = np.float32((pair[0, i] + drift[name[i]]) * ROUND_DOWN)
    return write_labels(pick[:t], name, labels, moved, count, 0)


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
    return int(count)


def padded(slopes: NDArray[Any]) -> NDArray[np.float32]:
    """(k, d + c) slopes as kernels take them: an even number of lines, columns a multiple of four, zeros added."""
    k, width = slopes.shape
    out = np.zeros((k + k % 2, -(-width // 4) * 4), np.float32)
    out[:k, :width] = slopes
    return out
