"""The nearest centre of every row where centres are many, panel by panel (``kernels.panels``).

Rows are scored with the groups of centres that may hold their nearest (``kernels.group_bounds``), and with no others.
Scores and close calls are those of ``kernels.assign``, and labels too: bounds only save work.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.assign import write_labels
from asterism.kernels.compiled import kernel, lane_sum_kernel
from asterism.kernels.decide import settle
from asterism.kernels.group_bounds import (
    CELLS,
    TALL,
    Chunk,
    by_group,
    measure_reach,
    note_bounds,
    rounding,
    wake,
    within_reach,
)
from asterism.kernels.panels import LANES, ROWS, add_scores, nearest_of_panel
from asterism.kernels.scores import TILE, load_rows
from asterism.kernels.wholes import LONGEST, nearest_of_wholes

FEW = 8  # of so many rows one may be a close call of whole numbers

Floats = NDArray[Any]  # float32 or float64


@kernel
def assign_grouped(
    rows: Floats,  # (n, d) in, NaN = missing
    reference: NDArray[np.float64],  # (d,) in, a point among the rows
    centers: NDArray[np.float64],  # (k, d) in, from the reference
    shift: Floats,  # (d + 1,) in: the point float32 measures from, and a power of two that brings the rows near 1
    panels: NDArray[np.float32],  # (p, 1 + columns, LANES) in
    wholes: NDArray[
        np.int16
    ],  # (p, column pairs, 2 LANES) in: the same in whole numbers (``kernels.wholes``); or none
    scale: NDArray[np.float32],  # (3,) in: of the whole numbers
    missing: bool,  # whether cells may be missing
    margin: Any,  # squared, by which a score must lead, per unit of ||y||^2
    gone: NDArray[np.float32],  # (k + groups,) in: how far centres have gone, and the fastest of each group
    labels: NDArray[np.int32],  # (n,) in: groups before, -1: none; out: groups now
    bounds: NDArray[np.float32],  # in and out, a line of rows each: reach of the own centre, groups; or none
    pitch: int,  # from line to line
    moved: NDArray[np.int32],  # (n, 2) out: rows that changed their group, and which they left; or none
) -> int:
    """``kernels.assign.assign_block`` for many centres. Returns how many rows changed their group."""
    n, d = rows.shape
    k, kept = len(centers), len(bounds) > 0
    groups = len(gone) - k if kept else len(panels)
    span = -(-len(panels) // groups)
    most = min(TALL, max(CELLS // panels.shape[1], ROWS))
    whole = len(wholes) > 0
    chunk = Chunk(
        np.zeros((most + ROWS, 2 * d if missing else d + 1), np.float32),
        np.zeros((most + ROWS if whole else 0, 2 * wholes.shape[1]), np.int16), np.zeros(TALL, np.float32),
        np.zeros((2, TALL), np.float32), np.zeros(TALL, np.float32), np.zeros(TALL, np.float32),
        np.empty(TALL, np.float32), np.full(TALL, -1, np.int32), np.zeros(TALL, np.int32),
        np.empty((2, groups, TALL), np.float32), np.zeros((groups, TALL), np.int32),
        np.empty((2, 2, TALL), np.float32), np.empty((2, TALL), np.int32), np.empty(TALL, np.int32),
    )  # fmt: skip
    pick, listed = np.arange(TALL + ROWS), np.zeros(TALL + ROWS, np.int64)
    start = np.zeros(groups + 3, np.int64)
    seen, lane = np.empty((2, TALL + ROWS), np.float32), np.empty(TALL + ROWS, np.int32)
    count, looked, close = 0, 0, 0
    for first in range(0, n, most):
        t = size = min(most, n - first)
        part = labels[first : first + size]
        if kept:
            t = wake(chunk, part, bounds[first:], pitch, gone[:k], gone[k:], LANES * span, pick)
            if t == 0:
                continue
        awake = pick[:t]
        load_rows(rows[first : first + size], awake, awake, shift, missing, chunk.lines, chunk.norms)
        if whole:
            to_wholes(chunk, awake, 2 * d if missing else d, missing, scale)
        rounding(chunk, margin, panels.shape[1])
        chunk.found[:] = np.float32(np.inf)
        if kept:
            by_group(chunk.own, awake, start, listed)
            for g in range(groups):
                m = start[g + 1] - start[g]
                look(chunk, listed[start[g] :], m, panels, wholes, whole, g, span, seen, lane)
            measure_reach(chunk, awake, size)
        for g in range(groups):
            if kept:
                m = within_reach(chunk, bounds[(1 + g) * pitch + first :][:size], gone[k + g], g, listed)
                look(chunk, listed, m, panels, wholes, whole, g, span, seen, lane)
            else:
                look(chunk, pick, t, panels, wholes, whole, g, span, seen, lane)
        side = merge_groups(chunk)
        for i in awake:
            g = chunk.winner[side, i]
            chunk.name[i] = chunk.who[g, i] + g * LANES * span
        looked += t
        close += settle_close(
            chunk, side, rows[first : first + size], awake, reference, centers, panels, margin, whole, listed
        )
        if kept:
            note_bounds(chunk, side, awake, bounds[first:], pitch, gone[:k], gone[k:], LANES * span, size)
        for p in range(t):
            lane[p] = chunk.name[pick[p]]
        count = write_labels(awake, lane, part, moved, count, first)
        if whole and close > ROWS + looked // FEW:  # whole numbers tell too few of these rows apart
            whole = False
            chunk.error[:] = np.float32(0.0)
    return count


# --- look -------------------------------------------------------------------------------------------------------


@kernel
def look(
    chunk: Chunk,  # found, who changed
    listed: NDArray[np.int64],  # (m and up to three more,) in: rows of the chunk
    m: int,
    panels: NDArray[np.float32],  # (p, 1 + columns, LANES) in
    wholes: NDArray[np.int16],  # (p, column pairs, 2 LANES) in; or none
    whole: bool,
    g: int,
    span: int,
    seen: NDArray[np.float32],  # (2, at least m) for work
    lane: NDArray[np.int32],  # (at least m,) for work
) -> None:
    """The least and second least score of these rows in a group."""
    least, second, who = chunk.found[0, g], chunk.found[1, g], chunk.who[g]
    for c in range(min(span, len(panels) - g * span)):
        panel = g * span + c
        if whole:
            for four in range((m + ROWS - 1) // ROWS):
                nearest_of_wholes(
                    chunk.wholes,
                    chunk.units,
                    listed,
                    ROWS * four,
                    wholes[panel],
                    panels[panel, 0],
                    seen,
                    lane,
                )
        else:
            for four in range((m + ROWS - 1) // ROWS):
                nearest_of_panel(chunk.lines, listed, ROWS * four, panels[panel], seen, lane)
        if c == 0:
            for p in range(m):
                i = listed[p]
                least[i], second[i], who[i] = seen[0, p], seen[1, p], lane[p]
            continue
        for p in range(m):
            i, new, next_new, name = listed[p], seen[0, p], seen[1, p], lane[p] + LANES * c
            old, old_second, old_name = least[i], second[i], who[i]
            wins = new < old
            loser, rival = old if wins else new, next_new if wins else old_second
            second[i] = loser if loser < rival else rival
            least[i] = new if wins else old
            who[i] = name if wins else old_name


@kernel
def merge_groups(chunk: Chunk) -> int:
    """The least and second least score of all groups; returns the side they are on, as ``decide.best_two``."""
    chunk.best[0] = np.float32(np.inf)
    chunk.winner[0] = 0
    side = 0
    for g in range(chunk.found.shape[1]):
        low, high, name = chunk.found[0, g], chunk.found[1, g], np.int32(g)
        best, second, group = chunk.best[side, 0], chunk.best[side, 1], chunk.winner[side]
        side = 1 - side
        new_best, new_second, new_group = chunk.best[side, 0], chunk.best[side, 1], chunk.winner[side]
        for i in range(TALL):
            new, next_new, old, old_second, old_group = low[i], high[i], best[i], second[i], group[i]
            wins = new < old
            loser, rival = old if wins else new, next_new if wins else old_second
            new_second[i] = loser if loser < rival else rival
            new_best[i] = new if wins else old
            new_group[i] = name if wins else old_group
    return side


@kernel
def settle_close(
    chunk: Chunk,  # name, found, best changed
    side: int,
    rows: Floats,  # (size, d) in
    pick: NDArray[np.int64],  # (t,) in
    reference: NDArray[np.float64],  # (d,) in
    centers: NDArray[np.float64],  # (k, d) in
    panels: NDArray[np.float32],  # (p, 1 + columns, LANES) in
    margin: Any,
    whole: bool,
    close: NDArray[np.int64],  # for work
) -> int:
    """Rows whose two best scores are closer than rounding: scored with all centres again, and settled.

    First in float32, if they have not been. Returns how many were close.
    """
    best, norms, m = chunk.best[side], chunk.norms[1], 0
    for i in pick:
        lead = best[1, i] - best[0, i] - np.float32(2.0) * chunk.error[i]
        close[m] = i
        m += 0 if lead > np.float32(0.0) and lead * lead > margin * norms[i] else 1
    if m == 0:
        return 0
    pair, norm, name = np.empty((2, TILE), np.float32), np.empty(TILE, np.float32), np.empty(TILE, np.int32)
    seen, lane = np.empty((2, TILE + ROWS), np.float32), np.empty(TILE + ROWS, np.int32)
    scores, some = np.empty(len(panels) * LANES * TILE, np.float32), np.empty(TILE + ROWS, np.int64)
    for first in range(0, m, TILE):
        t = min(TILE, m - first)
        for p in range(-(-t // ROWS) * ROWS):
            i = close[first + min(p, t - 1)]
            some[p] = i
            if p < t:
                pair[0, p], pair[1, p], norm[p], name[p] = best[0, i], best[1, i], norms[i], chunk.name[i]
                # Whose it was and who is second is no longer known.
                own = chunk.winner[side, i]
                chunk.found[0, own, i] = chunk.found[1, own, i] = -np.float32(np.inf)
        if whole:
            pair[:] = np.float32(np.inf)
            for panel in range(len(panels)):
                for four in range(-(-t // ROWS)):
                    nearest_of_panel(chunk.lines, some, ROWS * four, panels[panel], seen, lane)
                for p in range(t):
                    new, next_new, old, old_second = seen[0, p], seen[1, p], pair[0, p], pair[1, p]
                    wins = new < old
                    loser, rival = old if wins else new, next_new if wins else old_second
                    pair[0, p], pair[1, p] = new if wins else old, loser if loser < rival else rival
                    name[p] = lane[p] + LANES * panel if wins else name[p]
        left = 0
        for p in range(t):
            i = some[p]
            chunk.name[i] = name[p]
            lead = pair[1, p] - pair[0, p]
            some[left], pair[0, left], pair[1, left] = i, pair[0, p], pair[1, p]
            norm[left], name[left] = norm[p], name[p]
            left += 0 if lead * lead > margin * norms[i] else 1
        for p in range(left):
            add_scores(chunk.lines[some[p]], panels, scores[p:])
        settle(rows, some[:left], reference, centers, scores, pair, norm, margin, name)
        for p in range(left):
            chunk.name[some[p]] = name[p]
    return m


@lane_sum_kernel
def to_wholes(
    chunk: Chunk,  # wholes, units, error out
    pick: NDArray[np.int64],  # (t,) in
    columns: int,
    missing: bool,
    scale: NDArray[np.float32],  # (3,) in
) -> None:
    """Rows in whole numbers, as long as these can be, and what their scores may be wrong by."""
    unit, longest, rest, one = scale[0], scale[1], scale[2], np.float32(1.0)
    blur = np.float32(2.0**-8) * np.float32(math.sqrt(columns))  # of quotients in float32
    for i in pick:
        line, out = chunk.lines[i], chunk.wholes[i]
        length = np.float32(math.sqrt(chunk.norms[1 if missing else 0, i]))
        grain = length / np.float32(LONGEST)
        factor = one / grain if grain > np.float32(0.0) else np.float32(0.0)
        left = np.float32(0.0)
        for j in range(columns):
            y = line[j] * factor
            p = np.rint(y)
            out[j] = np.int16(p)
            left += (y - p) * (y - p)
        chunk.units[i] = grain * unit
        lost = grain * (np.float32(math.sqrt(left)) + blur)
        chunk.error[i] = (lost * longest + (length + lost) * rest) * np.float32(1.0001)
