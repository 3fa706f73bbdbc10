"""Blocks of wide rows, for round and diagonal groups and for one matrix: everything is a product.

A row is written out so that its scores are linear in it:

    round     (x, ||x||^2 / 2)  log pi p = s^2 mu'x - s^2 ||x||^2 / 2 + (constant - s^2 ||mu||^2 / 2)
    diagonal  (x, x^2)          log pi p = sum_j s_j^2 (mu_j x_j - x_j^2 / 2) + (constant - sum_j (s_j mu_j)^2 / 2)
    tied      (y, ||y||^2 / 2)  of y = W x, as round groups of s = 1

and all that is asked of it are sums of shares times x, and x^2 or ||x||^2 / 2. Squares of what is far are subtracted
from each other, so x and mu are taken about a point g, 0 or one amid the means, and only where the means are near it
(``visits.NEAR``). From 0, rows are read where they lie.

For few columns, and where means are far apart, there are ``spherical``, ``diagonal`` and ``tied``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.carriers import view_rows
from asterism.kernels.compiled import inlined, kernel
from asterism.kernels.lanes import FEW, TILE, zeros
from asterism.kernels.products import (
    add_tile,
    carry_rows,
    few_rows,
    fours_of,
    halve_squares,
    score_slab,
    stride,
    turn_rows,
    vectors_of,
    whiten_slab,
)
from asterism.kernels.sharers import SCALE
from asterism.kernels.shares import LOOK, bring_notes, settle, share_out, take_notes
from asterism.kernels.vectors import BYTES, FOUR, SLAB

Floats = NDArray[Any]  # float32 or float64


@kernel
def wide_block(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: the reference, and g from there
    lines: Floats,  # (fours of k, columns) in: see above; their type is that of the arithmetic
    squares: bool,  # whether groups are diagonal
    plain: bool,  # whether g is 0, and rows may be taken as they are
    mode: int,
    notes: NDArray[np.float64],  # (n,) in or out, as ``mode`` has it; or none
    mass: NDArray[np.float64],  # (k,) added to: sum w r
    sums: NDArray[np.float64],  # (fours of k, columns in vectors) added to: sum w r x, or sum w r (x, x^2)
    halves: NDArray[np.float64],  # (k,) added to, of round groups: sum w r ||x||^2 / 2
    totals: NDArray[np.float64],  # (2,) added to
) -> None:
    """Read once, tile by tile: score, share out, add up."""
    d, k = rows.shape[1], len(mass)
    high, width = fours_of(d), vectors_of(d, lines.itemsize)
    lanes, some = SLAB * BYTES // lines.itemsize, few_rows(d, lines.itemsize)
    copy, turned, half = blank(some, width, lines), blank(high + 1, lanes, lines), zeros(some, lines)
    scores, work, w, here = room_for(lines, some)
    lower = False  # no literal: it would be compiled for itself
    also = np.empty(k) if squares else halves
    for first in range(0, len(rows), some):
        absent = take_weights(weights, first, len(rows), w)
        take_notes(notes, first, here)
        tile, direct = tile_at(rows, first, plain and not absent, copy)
        for at in range(0, some, lanes):  # turned rows are few enough to stay in the first cache
            bring_slab(rows, origin, first, at, w, direct, tile, turned, 0)
            score_slab(lines, turned, 0, high, scores, at, rows, min(first + at + some, len(rows) - 1))
            for i in range(lanes):
                half[at + i] = turned[high, i]
        share_out(scores, k, w, here, mode, work, totals)
        if mode == LOOK:
            bring_notes(here, first, notes)
            continue
        settle(scores, work[SCALE], half, mass, also)
        for power in range(2 if squares else 1):  # one call, so that it is compiled once
            add_tile(scores, tile, some, width, power == 1, lower, sums)
    for begin in range(0, sums.shape[1], width):
        wipe(sums, begin + d, begin + width)


@kernel
def wide_tied_block(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: the reference, and g from there
    factor: Floats,  # (fours of d, d in fours and one) in: W, lower triangular, and 0; its type is the arithmetic's
    lines: Floats,  # (fours of k, columns) in: of whitened means, see above
    plain: bool,  # whether g is 0, and rows may be taken as they are
    mode: int,
    notes: NDArray[np.float64],  # (n,) in or out, as ``mode`` has it; or none
    mass: NDArray[np.float64],  # (k,) added to: sum w r
    sums: NDArray[np.float64],  # (fours of k, columns in whole vectors) added to: sum w r x
    scatter: NDArray[np.float64],  # (fours of d, columns in vectors) added to: sum w x x', lower triangle
    totals: NDArray[np.float64],  # (2,) added to
) -> None:
    """Read once, tile by tile: whiten, score as round groups, share out, add up."""
    d, k, high, width = rows.shape[1], len(mass), len(scatter), sums.shape[1]
    lanes = SLAB * BYTES // lines.itemsize
    copy, turned, y = blank(TILE, width, lines), blank(high + 1, TILE, lines), blank(high + 1, TILE, lines)
    scores, work, w, here = room_for(lines, TILE)
    lower, all_of_it, squares = True, False, False  # no literals: each would be compiled for itself
    spare = np.empty(k)
    for number in range(-(-len(rows) // TILE)):
        first = number * TILE
        absent = take_weights(weights, first, len(rows), w)
        take_notes(notes, first, here)
        tile, direct = tile_at(rows, first, plain and not absent, copy)
        for at in range(0, TILE, lanes):
            bring_slab(rows, origin, first, at, w, direct, tile, turned, at)
            whiten_slab(factor, turned, at, high, y, at, rows, min(first + at + TILE, len(rows) - 1))
            halve_squares(y, high, high, at)
            score_slab(lines, y, at, high, scores, at, rows, 0)
        share_out(scores, k, w, here, mode, work, totals)
        if mode == LOOK:
            bring_notes(here, first, notes)
            continue
        settle(scores, work[SCALE], w, mass, spare)
        add_tile(scores, tile, TILE, width, squares, all_of_it, sums)
        if weigh_rows(turned, w, high, y):  # whitened rows have served
            add_tile(y, tile, TILE, width, squares, lower, scatter)
        else:
            add_tile(turned, tile, TILE, width, squares, lower, scatter)
    wipe(sums, d, width)
    wipe(scatter, d, width)


# --- before and after --------------------------------------------------------------------------------------------


@kernel
def write_lines(
    means: NDArray[np.float64],  # (k, d) in: mu from g
    factors: NDArray[np.float64],  # (k, d), or (k, 1) of round groups, in: s
    constants: NDArray[np.float64],  # (k,) in
    lines: Floats,  # (fours of k, columns) out: (s^2 mu | -s^2 / 2 or -s^2 | the rest), slopes and squares in fours
) -> None:
    """Lines to multiply rows with. The rest is the square's that the numbers complete as they were rounded:

    a x - p x^2 / 2  =  a^2 / (2 p) - p (x - a / p)^2 / 2
    """
    k, d = means.shape
    high, squares = fours_of(d), factors.shape[1] > 1
    for c in range(k):
        square = 0.0
        for j in range(d):
            s = factors[c, j if squares else 0]
            slope, precision = lines.dtype.type(s * s * means[c, j]), lines.dtype.type(s * s)
            lines[c, j] = slope
            square += np.float64(slope) * np.float64(slope) / np.float64(precision)
            if squares:
                lines[c, high + j] = -precision / 2
        if not squares:
            lines[c, high] = -(factors[c, 0] ** 2)
        lines[c, lines.shape[1] - 1] = constants[c] - 0.5 * square


@kernel
def bring_home(
    mass: NDArray[np.float64],  # (k,) in
    sums: NDArray[np.float64],  # (k or more, columns in whole vectors) in: as a block leaves them
    halves: NDArray[np.float64],  # (k,) in, of round groups; or none
    means: NDArray[np.float64],  # (k, d) in: the last ones, from g
    shifts: NDArray[np.float64],  # (k, d) out: the new ones from there; 0 where nobody has a share
    scatters: NDArray[np.float64],  # (k, d) out: sum w r x^2 - sum w r x mean; or (k, 1), columns together
) -> None:
    """What squares and sums say of the new means."""
    k, d = means.shape
    for c in range(k):
        total = 0.0 if len(halves) == 0 else 2.0 * halves[c]
        for j in range(d):
            mean = sums[c, j] / mass[c] if mass[c] > 0.0 else 0.0
            shifts[c, j] = mean - means[c, j] if mass[c] > 0.0 else 0.0
            if len(halves):
                total -= mean * sums[c, j]
            else:
                scatters[c, j] = max(sums[c, sums.shape[1] // 2 + j] - mean * sums[c, j], 0.0)
        if len(halves):
            scatters[c, 0] = max(total, 0.0)


@kernel
def next_groups(
    mass: NDArray[np.float64],  # (k,) in
    sums: NDArray[np.float64],  # in, as for ``bring_home``
    halves: NDArray[np.float64],
    means: NDArray[np.float64],  # (k, d) in: the last ones, from g
    least: NDArray[np.float64],  # (d,) in: a variance that a group must reach
    share: float,  # of all mass that a group must have more of
    offsets: NDArray[np.float64],  # (k, d) in: the last means from the reference; out: the new ones
    variances: NDArray[np.float64],  # (k, d) out, the same in all columns of a round group
) -> bool:
    """The M-step of round and diagonal groups; False, and nothing of use, where one has next to no rows or spread.

    mean = sum w r x / N      variance = sum w r (x - mean)^2 / N, of a round group the average of its columns
    """
    k, d = means.shape
    width = 1 if len(halves) else d
    shifts, scatters = np.empty((k, d)), np.empty((k, width))
    bring_home(mass, sums, halves, means, shifts, scatters)
    enough, lowest = share * mass.sum(), least.sum() / d
    for c in range(k):
        if not mass[c] > enough:
            return False
        for j in range(d):
            offsets[c, j] += shifts[c, j]
            variances[c, j] = scatters[c, j if width > 1 else 0] / (mass[c] * (d // width))
            if not variances[c, j] >= (lowest if len(halves) else least[j]):
                return False
    return True


# --- tiles --------------------------------------------------------------------------------------------------------


@kernel
def wipe(sums: NDArray[np.float64], first: int, last: int) -> None:
    """No sums where there is no column: vectors that reached into the next row may have brought anything."""
    for c in range(len(sums)):
        for j in range(first, last):
            sums[c, j] = 0.0


@inlined
def take_weights(weights: NDArray[np.float64], first: int, n: int, w: Floats) -> int:
    """The weights of the rows of a tile, 0 from row ``n`` of the block on; how many are 0."""
    here = weights[first : min(first + len(w), n)]
    absent = len(w) - len(here)
    for i in range(len(here)):
        w[i] = here[i]
        absent += 1 if here[i] == 0.0 else 0
    for i in range(len(here), len(w)):
        w[i] = 0.0
    return absent


@inlined
def tile_at(rows: Floats, first: int, whole: bool, copy: Floats) -> tuple[Floats, bool]:
    """Rows of a table as they lie there, if all of a tile are there and may be read so; or where to copy them to.

    Products read columns in fours and whole vectors: enough cells must follow the last, and columns come in fours.
    """
    d, some = rows.shape[1], len(copy)
    follows = (len(rows) - first - some) * d >= vectors_of(d, copy.itemsize) - d
    direct = (
        whole and first + some <= len(rows) and follows and d % FEW == 0 and rows.itemsize == copy.itemsize
    )
    tile = view_rows(rows, first, copy) if direct else copy
    return tile, direct


@inlined
def bring_slab(
    rows: Floats,  # (n, d) in
    origin: Floats,  # (2, d) in: a point among the rows, and a step from it
    first: int,
    at: int,
    w: Floats,  # (TILE,) in
    direct: bool,
    tile: Floats,  # (TILE, stride) out, unless it is ``direct``: x, or 0 if absent
    turned: Floats,  # (columns, stride) out: (x, ||x||^2 / 2), x in fours of columns
    to: int,  # from here on
) -> None:
    """Rows of a tile, x = (cell - point) - step, as lanes. These are not added up, see ``lanes.load_tile``."""
    lanes = BYTES // turned.itemsize
    if not direct:
        for four in range(SLAB * lanes // FOUR):
            i = at + FOUR * four
            carry_rows(rows, first + i, origin, w, tile, i)
    for vector in range(SLAB):
        i = at + vector * lanes
        turn_rows(tile, i, fours_of(rows.shape[1]), w, turned, to + vector * lanes)


@kernel
def blank(lines: int, width: int, like: Floats) -> Floats:
    """(lines, stride) zeros, every line of which begins with a cache line."""
    cells = stride(width, like.itemsize)
    return zeros(lines * cells, like).reshape((lines, cells))


@kernel
def room_for(lines: Floats, rows: int) -> tuple[Floats, Floats, Floats, NDArray[np.float64]]:
    """(lines, rows) scores, (4, rows) for sharing them out, and (rows,) weights and notes."""
    scores, work = zeros(len(lines) * rows, lines), zeros(4 * rows, lines)
    return scores.reshape((len(lines), rows)), work.reshape((4, rows)), zeros(rows, lines), np.zeros(rows)


@kernel
def weigh_rows(turned: Floats, w: Floats, lines: int, out: Floats) -> bool:
    """w x of every row; or nothing, if all weights are 1, or 0 of rows that are zeros anyway. Tells which."""
    others = 0
    for i in range(TILE):
        others += 1 if w[i] != 0.0 and w[i] != 1.0 else 0
    if others:
        for j in range(lines):
            for i in range(TILE):
                out[j, i] = w[i] * turned[j, i]
    return others > 0
