"""The nearest centre of every row, certified, and the totals of each group, in one reading of the rows.

Write a row as ``y = (x - reference | seen)``: its shifted cells with zeros for missing ones, then its mask (one
column of ones when no cell of the table is missing). With ``slopes_k = (-2 c_k | c_k^2)`` (the squares summed to
one column when no cell is missing)

    ||x - c_k||^2 over observed cells  =  slopes_k . y  +  ||y||^2

so the nearest centre has the least score ``slopes_k . y``: a matrix product, with missing cells or without.

Scores are taken in float32 whatever the rows are, and a label is accepted only where the best score leads the
second by more than the rounding error of both can be. The few close calls are settled in float64 from the
differences themselves. So labels are exact, and float64 tables run at float32 speed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel, lane_sum_kernel

UNIT = 2.0**-24  # rounding of float32
TILE = 256  # rows scored together: a tile and its scores stay in the second-level cache
FEW_COLUMNS = 16  # up to here rows are vector lanes
FEW_CENTERS = 24  # up to here, on wide rows, dot products beat a general matrix product

Floats = NDArray[Any]  # float32 or float64


@kernel
def assign_block(
    rows: Floats,  # (n, d) in, NaN = missing
    weights: NDArray[np.float64],  # (n,) in
    reference: NDArray[np.float64],  # (d,) in, a point among the rows
    centers: NDArray[np.float64],  # (k, d) in, from the reference
    slopes: NDArray[np.float32],  # (k, d + c) in, scaled; c = 1, or d when cells may be missing
    scale: float,  # a power of two that brings the rows near 1: float32 cannot overflow
    start: int,  # global number of the first row
    missing: bool,  # whether cells may be missing
    labels: NDArray[np.int32],  # (n,) out
    table: NDArray[
        np.float64
    ],  # (k, d + 1 + c) added to: sum w (x - c), sum w ||x - c||^2, sum w; or no rows
    far: NDArray[np.float64],  # (m, 2) out: squared distance and number of the farthest rows, farthest first
) -> Any:
    """Label every row; add up the groups if a table is given. Returns the mark of the labels."""
    n, d = rows.shape
    k, width = slopes.shape
    lanes = d <= FEW_COLUMNS
    tile = np.ones((width, TILE) if lanes else (TILE, width), np.float32)
    scores = np.empty((k, TILE), np.float32)
    pairs = np.empty((2, 2, TILE), np.float32)  # best and second score, twice: read one, write the other
    names = np.empty((2, TILE), np.int32)
    shift = np.empty(d + 1, rows.dtype)  # reference and scale in the rows' own type
    shift[:d] = reference
    shift[d] = scale
    margin = error_margin(slopes)
    norms = np.zeros(TILE, np.float32)
    mark = np.uint64(0)
    for first in range(0, n, TILE):
        part = rows[first : first + TILE]
        label = labels[first : first + TILE]
        if lanes:
            load_lanes(part, shift, missing, tile, norms)
            score_lanes(tile, slopes, scores)
        else:
            load_rows(part, shift, missing, tile, norms)
            if k <= FEW_CENTERS:
                score_dots(tile, slopes, scores)
            else:
                np.dot(slopes, tile.T, scores)
        side = best_two(scores, pairs, names)
        label[:] = names[side, : len(part)]
        norms[:] *= margin
        settle(part, reference, centers, scores, pairs[side], norms, label)
        if len(table):
            w = weights[first : first + TILE]
            mark += mark_of(label, w, start + first)
            if missing:
                add_observed(part, w, reference, centers, label, table, far, start + first)
            else:
                add_complete(part, w, reference, centers, label, table, far, start + first)
    return mark


# --- load: y = (x - reference) * scale, and ||y||^2 with the mask's ones ---------------------------------------


@kernel
def load_lanes(
    rows: Floats,  # (t, d) in
    shift: Floats,  # (d + 1,) in: reference, scale
    missing: bool,
    tile: NDArray[np.float32],  # (d + c, TILE) out, rows as columns
    norms: NDArray[np.float32],  # (TILE,) out
) -> None:
    """A tile with rows as vector lanes."""
    t, d = rows.shape
    scale = shift[d]
    for i in range(t):
        for j in range(d):
            tile[j, i] = np.float32((rows[i, j] - shift[j]) * scale)
    norms[:] = 1.0
    for j in range(d):
        lane = tile[j]
        if missing:
            seen = tile[d + j]
            for i in range(t):
                y = lane[i]
                there = y == y
                seen[i] = np.float32(1.0) if there else np.float32(0.0)
                lane[i] = y if there else np.float32(0.0)
            for i in range(t):
                norms[i] += seen[i]
        for i in range(t):
            norms[i] += lane[i] * lane[i]


@lane_sum_kernel
def load_rows(
    rows: Floats,  # (t, d) in
    shift: Floats,  # (d + 1,) in: reference, scale
    missing: bool,
    tile: NDArray[np.float32],  # (TILE, d + c) out
    norms: NDArray[np.float32],  # (TILE,) out
) -> None:
    """A tile with rows as rows."""
    t, d = rows.shape
    scale = shift[d]
    for i in range(t):
        line = tile[i]
        for j in range(d):
            line[j] = np.float32((rows[i, j] - shift[j]) * scale)
        if missing:
            for j in range(d):
                y = line[j]
                there = y == y
                line[d + j] = np.float32(1.0) if there else np.float32(0.0)
                line[j] = y if there else np.float32(0.0)
        norm = np.float32(0.0)
        for j in range(len(line)):
            norm += line[j] * line[j]
        norms[i] = norm


# --- score: slopes . y ------------------------------------------------------------------------------------------


@kernel
def score_lanes(
    tile: NDArray[np.float32],  # (width, TILE) in
    slopes: NDArray[np.float32],  # (k, width) in
    scores: NDArray[np.float32],  # (k, TILE) out
) -> None:
    """Few columns: vector lanes run over rows, four columns at a time."""
    width, t = tile.shape
    for c in range(len(slopes)):
        s = scores[c]
        a = slopes[c]
        a0, a1 = a[0], a[1]  # there are always two: one column and its mask
        x0, x1 = tile[0], tile[1]
        for i in range(t):
            s[i] = a0 * x0[i] + a1 * x1[i]
        quads = 2 + (width - 2) // 4 * 4
        for j in range(quads, width):
            a0, x0 = a[j], tile[j]
            for i in range(t):
                s[i] += a0 * x0[i]
        for j in range(2, quads, 4):
            x0, x1, x2, x3 = tile[j], tile[j + 1], tile[j + 2], tile[j + 3]
            a0, a1, a2, a3 = a[j], a[j + 1], a[j + 2], a[j + 3]
            for i in range(t):
                s[i] += (a0 * x0[i] + a1 * x1[i]) + (a2 * x2[i] + a3 * x3[i])


@lane_sum_kernel
def score_dots(
    tile: NDArray[np.float32],  # (TILE, width) in
    slopes: NDArray[np.float32],  # (k, width) in
    scores: NDArray[np.float32],  # (k, TILE) out
) -> None:
    """Few centres, wide rows: two rows against four centres keep all sums in registers."""
    t, width = tile.shape
    k = len(slopes)
    zero = np.float32(0.0)
    for c in range(0, k, 4):
        c1, c2, c3 = min(c + 1, k - 1), min(c + 2, k - 1), min(c + 3, k - 1)  # past the end: the last again
        a0, a1, a2, a3 = slopes[c], slopes[c1], slopes[c2], slopes[c3]
        for i in range(0, t, 2):
            x, y = tile[i], tile[i + 1]
            p0, p1, p2, p3 = zero, zero, zero, zero
            q0, q1, q2, q3 = zero, zero, zero, zero
            for j in range(width):
                p0 += a0[j] * x[j]
                p1 += a1[j] * x[j]
                p2 += a2[j] * x[j]
                p3 += a3[j] * x[j]
                q0 += a0[j] * y[j]
                q1 += a1[j] * y[j]
                q2 += a2[j] * y[j]
                q3 += a3[j] * y[j]
            scores[c, i], scores[c1, i], scores[c2, i], scores[c3, i] = p0, p1, p2, p3
            scores[c, i + 1], scores[c1, i + 1], scores[c2, i + 1], scores[c3, i + 1] = q0, q1, q2, q3


# --- decide -----------------------------------------------------------------------------------------------------


@kernel
def best_two(
    scores: NDArray[np.float32],  # (k, TILE) in
    pairs: NDArray[np.float32],  # (2, 2, TILE) out: [side, best | second, row]
    names: NDArray[np.int32],  # (2, TILE) out: [side, row]
) -> int:
    """The least and second least score of each row, two centres at a time; returns the side they are on.

    Each round reads one side and writes the other: in place, the compiler would make masked stores of it,
    which cost more than all the rest.
    """
    k, t = scores.shape
    inf = np.float32(np.inf)
    pairs[0] = inf
    names[0] = 0
    side = 0
    for c in range(0, k, 2):
        last = c + 1 == k
        s, z = scores[c], scores[c if last else c + 1]
        none = inf if last else np.float32(0.0)
        name0, name1 = np.int32(c), np.int32(c + 1)
        best, second, name = pairs[side, 0], pairs[side, 1], names[side]
        side = 1 - side
        new_best, new_second, new_name = pairs[side, 0], pairs[side, 1], names[side]
        for i in range(t):
            a, b = s[i], z[i] + none
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
def settle(
    rows: Floats,  # (t, d) in
    reference: NDArray[np.float64],  # (d,) in
    centers: NDArray[np.float64],  # (k, d) in
    scores: NDArray[np.float32],  # (k, TILE) in
    pair: NDArray[np.float32],  # (2, TILE) in: best and second score
    margins: NDArray[np.float32],  # (TILE,) in: squared
    label: NDArray[np.int32],  # (t,) changed where the lead was too small
) -> None:
    """Close calls by sum (x - c)^2 in float64 over the centres within the margin; the first of equals wins."""
    for i in range(len(rows)):
        lead = pair[1, i] - pair[0, i]
        if lead * lead > margins[i]:
            continue
        limit = pair[0, i] + 2.0 * math.sqrt(margins[i])
        least = np.inf
        for c in range(len(centers)):
            if scores[c, i] > limit:
                continue
            distance = 0.0
            for j in range(rows.shape[1]):
                y = (np.float64(rows[i, j]) - reference[j]) - centers[c, j]
                if y == y:
                    distance += y * y
            if distance < least:
                least = distance
                label[i] = c


# --- add up -----------------------------------------------------------------------------------------------------


@lane_sum_kernel
def add_complete(
    rows: Floats,  # (t, d) in, no cell missing
    weights: NDArray[np.float64],  # (t,) in
    reference: NDArray[np.float64],  # (d,) in
    centers: NDArray[np.float64],  # (k, d) in
    label: NDArray[np.int32],  # (t,) in
    table: NDArray[np.float64],  # (k, d + 2) added to
    far: NDArray[np.float64],  # (m, 2) kept up to date
    start: int,
) -> None:
    """total += w (x - c), scatter += w ||x - c||^2, mass += w, all around the row's own centre."""
    t, d = rows.shape
    for i in range(t):
        w = weights[i]
        if w == 0.0:
            continue
        row, center, group = rows[i], centers[label[i]], table[label[i]]
        distance = 0.0
        for j in range(d):
            y = (np.float64(row[j]) - reference[j]) - center[j]
            group[j] += w * y
            distance += y * y
        group[d] += w * distance
        group[d + 1] += w
        if distance > far[-1, 0]:
            put_far(far, distance, start + i)


@kernel
def add_observed(
    rows: Floats,  # (t, d) in, NaN = missing
    weights: NDArray[np.float64],  # (t,) in
    reference: NDArray[np.float64],  # (d,) in
    centers: NDArray[np.float64],  # (k, d) in
    label: NDArray[np.int32],  # (t,) in
    table: NDArray[np.float64],  # (k, d + 1 + d) added to
    far: NDArray[np.float64],  # (m, 2) kept up to date
    start: int,
) -> None:
    """The same over observed cells, with a mass for each column."""
    t, d = rows.shape
    for i in range(t):
        w = weights[i]
        if w == 0.0:
            continue
        row, center, group = rows[i], centers[label[i]], table[label[i]]
        distance = 0.0
        for j in range(d):
            y = (np.float64(row[j]) - reference[j]) - center[j]
            seen = y == y
            y = y if seen else 0.0
            group[j] += w * y
            group[d + 1 + j] += w if seen else 0.0
            distance += y * y
        group[d] += w * distance
        if distance > far[-1, 0]:
            put_far(far, distance, start + i)


@kernel
def put_far(far: NDArray[np.float64], distance: float, row: int) -> None:
    """Insert into the list of farthest rows; among equals the earlier row stays ahead."""
    p = len(far) - 1
    while p > 0 and far[p - 1, 0] < distance:
        far[p] = far[p - 1]
        p -= 1
    far[p, 0] = distance
    far[p, 1] = row


@kernel
def mark_of(
    label: NDArray[np.int32],  # (t,) in
    weights: NDArray[np.float64],  # (t,) in
    start: int,
) -> Any:
    """A sum over rows of mixed bits of (row, label): equal marks mean equal labels, whatever the blocks.

    The mixer is that of splitmix64. Sums modulo 2^64 merge in any order.
    """
    total = np.uint64(0)
    for i in range(len(label)):
        z = np.uint64(start + i) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(label[i])
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        total += (z ^ (z >> np.uint64(31))) if weights[i] != 0.0 else np.uint64(0)
    return total
