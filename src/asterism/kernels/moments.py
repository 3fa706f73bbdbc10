"""Moments of the columns of a block.

Cells go through in LANES vector lanes: as many whole rows as fit where columns are few, else LANES columns of one
row. Which cells are there is a matter of masks, not of branches, so everything stays in vector registers.

Sums are taken over runs of RUN steps, and the sums of runs are added with what rounding takes from each addition
(Neumaier). So the error does not grow with the number of rows: a few units in the last place.

Nearly all runs have all their cells, and equal weights. A run is first taken as if it had (``kernels.runs``); where
that gives no number, once more with masks.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import exact_kernel, kernel
from asterism.kernels.prefetch import prefetch_rows
from asterism.kernels.runs import run_of
from asterism.kernels.turns import END, ENDED, Turns, open_pass, take_turn, was_last

RUN = 64
LANES = 128
SOME = 64  # lanes that whole rows fill: steps farther apart would meet in a few places of the first cache
HEAD = 128  # rows that tell where the mean is, or a sixteenth of them

Floats = NDArray[np.float64]

_add_run = run_of(RUN, LANES)


@kernel
def moments_of_blocks(
    rows: NDArray[Any],  # (n, d) in
    weights: Floats,  # (size,) in: of every block
    turns: Turns,  # for one pass
    tables: Floats,  # (blocks, 7, d) out: see ``column_moments``; of all blocks in the first
    counts: NDArray[np.int64],  # (blocks, 3) out, from 0 on
) -> bool:
    """The moments of blocks of a table, until none is left; False where others take long to end the pass."""
    size = len(weights)
    while True:
        block, number = take_turn(turns, len(tables))
        if block < 0:
            return block == END
        first, last = block * size, min((block + 1) * size, len(rows))
        found = column_moments(rows[first:last], weights[: last - first], counts[block])
        for line in range(7):
            for j in range(rows.shape[1]):
                tables[block, line, j] = found[line, j]
        if was_last(turns, len(tables), number):
            merge_moments(tables)
            open_pass(turns, ENDED)


@exact_kernel
def merge_moments(tables: Floats) -> None:  # (blocks, 7, d)
    """The moments of all blocks in the first, merged as ``engines.tree`` does: one left over rises."""
    apart = 1
    while apart < len(tables):
        for i in range(0, len(tables) - apart, 2 * apart):
            merge_into(tables[i], tables[i + apart])
        apart *= 2


@exact_kernel
def merge_into(left: Floats, right: Floats) -> None:  # (7, d) changed, (7, d) in
    """Chan's formula, column by column; a column that one part never saw is the other's, to the bit.

    delta = mean_b - mean_a    mean = mean_a + delta w_b / w    scatter = scatter_a + scatter_b + delta^2 w_a w_b / w
    """
    for j in range(left.shape[1]):
        a, b = left[0, j], right[0, j]
        if a > 0.0 and b > 0.0:
            share = b / (a + b)
            delta = (right[1, j] - left[1, j]) + (right[2, j] - left[2, j])
            left[1, j], left[2, j] = two_sum(left[1, j], left[2, j] + delta * share)
            left[3, j] = left[3, j] + right[3, j] + delta * delta * (a * share)
        elif b > 0.0:
            left[1, j], left[2, j], left[3, j] = right[1, j], right[2, j], right[3, j]
        left[0, j] = a + b
        left[4, j], left[5, j] = min(left[4, j], right[4, j]), max(left[5, j], right[5, j])
        left[6, j] += right[6, j]


@kernel
def column_moments(
    rows: NDArray[Any],  # (n, d) in, NaN = missing
    weights: Floats,  # (n,) in
    counts: NDArray[np.int64],  # (3,) out: rows of weight > 0; row and column + 1 of the first infinite cell
) -> Floats:
    """Weight, mean, rest of the mean, scatter, low, high and number of the finite cells: a (7, d) table.

    first   = the first finite value               so that sums stay small
    shift   = sum w (x - first) / sum w            over the first rows: near the mean is near enough
    left    = sum w (x - first - shift) / sum w
    mean    = first + shift + left                 as a number and the rest that did not fit into it
    scatter = sum w (x - first - shift)^2 - left^2 sum w

    Where the first rows were not typical and the last term would cancel digits, once more around the mean.
    """
    n, d = rows.shape
    out = np.zeros((7, d))
    first, shift = first_values(rows, weights), np.zeros(d)
    for i in range(n):
        counts[0] += 1 if weights[i] != 0.0 else 0
    for a in range(0, d, LANES):
        part, looks, near = max(n // 16, min(n, HEAD)), 0, False
        while looks < 2 or not near:  # at the first rows, then at all; one call, so that it is compiled once
            sums = lane_sums(rows[:part], weights[:part], first, shift, a)
            near = write_columns(sums, a, first, shift, out)
            part, looks = n, looks + 1
            if looks < 2 or not near:
                move_shift(sums, a, shift)
        for j in range(a, min(a + LANES, d)):
            if out[6, j] < counts[0]:
                find_infinite(rows, weights, j, counts)
    return out


@kernel
def write_columns(
    sums: Floats,  # (6, chunk) in
    a: int,  # the first column of the chunk
    first: Floats,  # (d,) in
    shift: Floats,  # (d,) in
    out: Floats,  # (7, d) out: the columns of the chunk
) -> bool:
    """The moments these sums tell; whether the shifts were near enough to the means."""
    near = True
    for j in range(a, a + sums.shape[1]):
        w = sums[0, j - a]
        out[4, j], out[5, j], out[6, j] = sums[3, j - a], sums[4, j - a], sums[5, j - a]
        if w > 0.0:
            left = sums[1, j - a] / w
            out[0, j] = w
            out[1, j], out[2, j] = two_sum(first[j], shift[j] + left)
            out[3, j] = max(sums[2, j - a] - left * left * w, 0.0)
            if left * left * w > out[3, j] and shift[j] + left != shift[j]:
                near = False
    return near


@kernel
def move_shift(sums: Floats, a: int, shift: Floats) -> None:
    """Move the shifts of a chunk of columns to the means these sums tell."""
    for j in range(sums.shape[1]):
        if sums[0, j] > 0.0:
            shift[a + j] += sums[1, j] / sums[0, j]


@kernel
def lane_sums(
    rows: NDArray[Any],  # (n, d) in
    weights: Floats,  # (n,) in
    first: Floats,  # (d,) in
    shift: Floats,  # (d,) in
    a: int,  # the first column of the chunk
) -> Floats:
    """(6, chunk) sums of w, w y and w y^2, low, high and number of the finite cells, y = (x - first) - shift."""
    n, d = rows.shape
    chunk = min(LANES, d - a)
    group = max(SOME // d, 1)  # whole rows in a step
    x, w, origin = np.empty(LANES), np.empty(LANES), np.zeros(2 * LANES)
    for lane in range(group * chunk):
        origin[lane], origin[LANES + lane] = first[a + lane % chunk], shift[a + lane % chunk]
    sums, lost, run = np.zeros(3 * LANES), np.zeros(3 * LANES), np.zeros(3 * LANES)
    number = np.zeros(LANES)
    bounds = np.empty((2, 2 * LANES))  # low and high, twice: read one, write the other
    for lane in range(LANES):
        x[lane], w[lane] = np.nan, weights[0] if n else 0.0  # a lane without a cell holds NaN
        for side in range(2):
            bounds[side, lane], bounds[side, LANES + lane] = np.inf, -np.inf
    cells = rows.reshape(n * d)  # flat: whole rows lie side by side
    even = all_equal(weights)
    # All lanes are loaded at once there, also those without a cell: not at the end of the table.
    whole = max(n * d - LANES - a, 0) // (RUN * group * d) if even else 0
    coming = np.empty(RUN, np.int64)
    fast = np.zeros(4 * LANES)  # a whole run
    for r in range(-(-n // (RUN * group))):
        begin = r * RUN
        if d > LANES:  # a strip of a wide table: every row is on another page
            for i in range(RUN):
                coming[i] = begin + RUN + i
            prefetch_rows(rows, coming[: max(min(RUN, n - begin - RUN), 0)], a, a + chunk)
        if r < whole and add_whole_run(cells, begin * group * d + a, group * d, group * chunk, origin, fast):
            take_whole_run(fast, weights[0], group * chunk, run, bounds, number)
        else:
            for step in range(begin, min(begin + RUN, -(-n // group))):
                i = step * group
                here = min(group, n - i)
                load_lanes(cells, i * d + a, here * chunk, x)
                if not even:
                    weigh_lanes(weights[i : i + here], chunk, x, w)
                add_lanes(x, w, origin, run)
                bound_lanes(x, bounds[step % 2], bounds[1 - step % 2], number)
        flush_run(run, group * chunk, sums, lost)
    return joined_lanes(sums, lost, bounds, number, group, chunk)


@kernel
def add_whole_run(
    cells: NDArray[Any],  # (n * d,) in
    start: int,  # the first cell
    stride: int,  # from one step to the next
    lanes: int,  # lanes that have a cell
    origin: Floats,  # (2 * LANES,) in: first, shift
    fast: Floats,  # (4 * LANES,) out: low, high, sum of y and sum of y^2
) -> bool:
    """A run of RUN steps without weights or masks; returns whether all its sums are numbers.

    Lanes without a cell hold those of others, or nothing new: nobody asks for them.
    """
    _add_run(cells, start, stride, lanes, origin, fast)
    bad = 0
    for lane in range(lanes):
        square = fast[3 * LANES + lane]
        bad += 0 if square - square == 0.0 else 1
    return bad == 0


@kernel
def take_whole_run(
    fast: Floats,  # (4 * LANES,) in: low, high, sum of y, sum of y^2
    weight: float,  # of every row
    lanes: int,  # that have a cell
    run: Floats,  # (3 * LANES,) out: sums of w, w y, w y^2
    bounds: Floats,  # (2, 2 * LANES) widened, on both sides
    number: Floats,  # (LANES,) added to
) -> None:
    """What a whole run gave."""
    for lane in range(lanes):
        run[lane] = weight * RUN
        run[LANES + lane] = weight * fast[2 * LANES + lane]
        run[2 * LANES + lane] = weight * fast[3 * LANES + lane]
        number[lane] += RUN
        for side in range(2):
            bounds[side, lane] = min(bounds[side, lane], fast[lane])
            bounds[side, LANES + lane] = max(bounds[side, LANES + lane], fast[LANES + lane])


@kernel
def load_lanes(
    cells: NDArray[Any],  # (n * d,) in
    start: int,
    count: int,
    x: Floats,  # (LANES,) out; lanes without a cell hold NaN
) -> None:
    """The cells of this step."""
    part = cells[start : start + count]
    if count == LANES:
        for lane in range(LANES):
            x[lane] = part[lane]
    else:
        for lane in range(count):
            x[lane] = part[lane]
        for lane in range(count, LANES):
            x[lane] = np.nan


@kernel
def weigh_lanes(
    weights: Floats,  # (rows of this step,) in
    chunk: int,  # lanes of a row
    x: Floats,  # (LANES,) changed: cells of absent rows are missing, so that whatever they hold is not seen
    w: Floats,  # (LANES,) out
) -> None:
    """The weights of this step."""
    for g in range(len(weights)):
        for lane in range(g * chunk, (g + 1) * chunk):
            w[lane] = weights[g]
            if weights[g] == 0.0:
                x[lane] = np.nan


@kernel
def all_equal(weights: Floats) -> bool:
    """Whether all rows count, and equally: the usual case, all 1."""
    same = 0
    for i in range(len(weights)):
        same += 1 if weights[i] == weights[0] else 0
    return 0 < same == len(weights) and weights[0] > 0.0


@kernel
def add_lanes(
    x: Floats,  # (LANES,) in
    w: Floats,  # (LANES,) in
    origin: Floats,  # (2 * LANES,) in: first, shift
    run: Floats,  # (3 * LANES,) added to: sums of w, w y, w y^2
) -> None:
    """One step of all lanes. x - x is 0 for a finite x and NaN for any other."""
    for lane in range(LANES):
        cell, mass, first, shift = x[lane], w[lane], origin[lane], origin[LANES + lane]
        seen = cell - cell == 0.0
        y = (cell - first) - shift
        y = y if seen else 0.0
        mass = mass if seen else 0.0
        run[lane] += mass
        run[LANES + lane] += mass * y
        run[2 * LANES + lane] += mass * y * y


@kernel
def bound_lanes(
    x: Floats,  # (LANES,) in
    old: Floats,  # (2 * LANES,) in: low, high
    new: Floats,  # (2 * LANES,) out; in place, the compiler would make slow masked stores of it
    number: Floats,  # (LANES,) added to
) -> None:
    """Extremes and number of the finite cells."""
    for lane in range(LANES):
        cell, low, high = x[lane], old[lane], old[LANES + lane]
        seen = cell - cell == 0.0
        less, more = cell if seen else low, cell if seen else high
        new[lane] = less if less < low else low
        new[LANES + lane] = more if more > high else high
        number[lane] += 1.0 if seen else 0.0


@kernel
def flush_run(run: Floats, lanes: int, sums: Floats, lost: Floats) -> None:
    """Add the sums of a run to those before it, and keep what rounding took."""
    for begin in range(0, 3 * LANES, LANES):
        for s in range(begin, begin + lanes):
            sums[s], rounded = two_sum(sums[s], run[s])
            lost[s] += rounded
            run[s] = 0.0


@kernel
def joined_lanes(
    sums: Floats,  # (3 * LANES,) in
    lost: Floats,  # (3 * LANES,) in
    bounds: Floats,  # (2, 2 * LANES) in: the later of the two has the wider bounds
    number: Floats,  # (LANES,) in
    group: int,
    chunk: int,
) -> Floats:
    """(6, chunk) the lanes of each column together."""
    out, rest = np.zeros((6, chunk)), np.zeros(3)
    for j in range(chunk):
        out[3, j], out[4, j] = np.inf, -np.inf
        for lane in range(j, chunk * group, chunk):
            for s in range(3):
                out[s, j], rounded = two_sum(out[s, j], sums[s * LANES + lane])
                rest[s] += rounded + lost[s * LANES + lane]
            out[3, j] = min(out[3, j], bounds[0, lane], bounds[1, lane])
            out[4, j] = max(out[4, j], bounds[0, LANES + lane], bounds[1, LANES + lane])
            out[5, j] += number[lane]
        for s in range(3):
            out[s, j] += rest[s]
            rest[s] = 0.0
    return out


@kernel
def first_values(rows: NDArray[Any], weights: Floats) -> Floats:
    """(d,) the first finite value of each column among rows that count, 0 where there is none."""
    n, d = rows.shape
    first = np.zeros(d)
    for j in range(d):
        for i in range(n):
            x = np.float64(rows[i, j])
            if weights[i] != 0.0 and math.isfinite(x):
                first[j] = x
                break
    return first


@kernel
def find_infinite(rows: NDArray[Any], weights: Floats, j: int, counts: NDArray[np.int64]) -> None:
    """The first infinite cell of column j, if it comes before the one that is known."""
    for i in range(len(rows)):
        if counts[2] and i >= counts[1]:
            return
        if weights[i] != 0.0 and math.isinf(rows[i, j]):
            counts[1], counts[2] = i, j + 1
            return


@kernel
def two_sum(a: float, b: float) -> tuple[float, float]:
    """The rounded sum, and exactly what rounding took from it (Knuth)."""
    total = a + b
    c = total - a
    return total, (a - (total - c)) + (b - c)
