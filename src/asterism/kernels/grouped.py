"""The nearest centre of every row where centres are many, panel by panel (``kernels.panels``).

Rows are scored with the groups of centres that may hold their nearest (``kernels.group_bounds``), and with no others.
Scores and close calls are those of ``kernels.assign``, and labels too: bounds only save work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.assign import write_labels
from asterism.kernels.compiled import kernel
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

Floats = NDArray[Any]  # float32 or float64


@kernel
def assign_grouped(
    rows: Floats,  # (n, d) in, NaN = missing
    reference: NDArray[np.float64],  # (d,) in, a point among the rows
    centers: NDArray[np.float64],  # (k, d) in, from the reference
    shift: Floats,  # (d + 1,) in: the point float32 measures from, and a power of two that brings the rows near 1
    panels: NDArray[np.float32],  # (p, 1 + columns, LANES) in
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
    chunk = Chunk(
        np.zeros((most + ROWS, 2 * d if missing else d + 1), np.float32), np.zeros((2, TALL), np.float32),
        np.zeros(TALL, np.float32), np.empty(TALL, np.float32), np.full(TALL, -1, np.int32), np.zeros(TALL, np.int32),
        np.empty((2, groups, TALL), np.float32), np.zeros((groups, TALL), np.int32),
        np.empty((2, 2, TALL), np.float32), np.empty((2, TALL), np.int32), np.empty(TALL, np.int32),
    )  # fmt: skip
    pick, listed = np.arange(TALL + ROWS), np.zeros(TALL + ROWS, np.int64)
    start = np.zeros(groups + 3, np.int64)
    seen, lane = np.empty((2, TALL + ROWS), np.float32), np.empty(TALL + ROWS, np.int32)
    count = 0
    for first in range(0, n, most):
        t = size = min(most, n - first)
        part = labels[first : first + size]
        if kept:
            t = wake(chunk, part, bounds[first:], pitch, gone[:k], gone[k:], LANES * span, pick)
            if t == 0:
                continue
        awake = pick[:t]
        load_rows(rows[first : first + size], awake, awake, shift, missing, chunk.lines, chunk.norms)
        rounding(chunk, margin, panels.shape[1])
        chunk.found[:] = np.float32(np.inf)
        if kept:
            by_group(chunk.own, awake, start, listed)
            for g in range(groups):
                some, m = panels[g * span : (g + 1) * span], start[g + 1] - start[g]
                look(chunk, listed[start[g] :], m, some, g, seen, lane)
            measure_reach(chunk, awake, size)
        for g in range(groups):
            some = panels[g * span : (g + 1) * span]
            if kept:
                m = within_reach(chunk, bounds[(1 + g) * pitch + first :][:size], gone[k + g], g, listed)
                look(chunk, listed, m, some, g, seen, lane)
            else:
                look(chunk, pick, t, some, g, seen, lane)
        side = merge_groups(chunk)
        for i in awake:
            g = chunk.winner[side, i]
            chunk.name[i] = chunk.who[g, i] + g * LANES * span
        settle_close(
            chunk, side, rows[first : first + size], awake, reference, centers, panels, margin, listed
        )
        if kept:
            note_bounds(chunk, side, awake, bounds[first:], pitch, gone[:k], gone[k:], LANES * span, size)
        for p in range(t):
            lane[p] = chunk.name[pick[p]]
        count = write_labels(awake, lane, part, moved, count, first)
    return count


# --- look -------------------------------------------------------------------------------------------------------


@kernel
def look(
    chunk: Chunk,  # found, who changed
    listed: NDArray[np.int64],  # (m and up to three more,) in: rows of the chunk
    m: int,
    panels: NDArray[np.float32],  # (span, 1 + columns, LANES) in: those of group g
    g: int,
    seen: NDArray[np.float32],  # (2, at least m) for work
    lane: NDArray[np.int32],  # (at least m,) for work
) -> None:
    """The least and second least score of these rows in a group."""
    least, second, who = chunk.found[0, g], chunk.found[1, g], chunk.who[g]
    for c in range(len(panels)):
        for four in range((m + ROWS - 1) // ROWS):
            nearest_of_panel(chunk.lines, listed, ROWS * four, panels[c], seen, lane)
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
    chunk: Chunk,  # name, found changed
    side: int,
    rows: Floats,  # (size, d) in
    pick: NDArray[np.int64],  # (t,) in
    reference: NDArray[np.float64],  # (d,) in
    centers: NDArray[np.float64],  # (k, d) in
    panels: NDArray[np.float32],  # (p, 1 + columns, LANES) in
    margin: Any,
    close: NDArray[np.int64],  # for work
) -> None:
    """Rows whose two best scores are closer than rounding: scored with all centres again, and settled."""
    best, norms, m = chunk.best[side], chunk.norms[1], 0
    for i in pick:
        lead = best[1, i] - best[0, i]
        close[m] = i
        m += 0 if lead * lead > margin * norms[i] else 1
    if m == 0:
        return
    scores = np.empty(len(panels) * LANES * TILE, np.float32)
    pair, norm, name = np.empty((2, TILE), np.float32), np.empty(TILE, np.float32), np.empty(TILE, np.int32)
    for first in range(0, m, TILE):
        some = close[first : min(first + TILE, m)]
        for p in range(len(some)):
            i = some[p]
            add_scores(chunk.lines[i], panels, scores[p:])
            pair[0, p], pair[1, p], norm[p], name[p] = best[0, i], best[1, i], norms[i], chunk.name[i]
        settle(rows, some, reference, centers, scores, pair, norm, margin, name)
        for p in range(len(some)):
            i = some[p]
            chunk.name[i] = name[p]
            chunk.found[1, chunk.winner[side, i], i] = -np.float32(np.inf)  # who is second is not known
