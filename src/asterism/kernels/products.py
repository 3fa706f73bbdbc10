"""Products of a tile of rows, all sums in registers: of lines with turned rows, and of shares with rows.

    score_slab  out[c, i]   = sum_j lines[c, j] turned[j, i] + constant[c]
    add_tile    sums[c, j] += sum_i shares[c, i] tile[i, j]

Rows are taken as they lie in a table, and turned, so that both are the same product: a line of numbers, each in all
lanes, times lines that are read as they lie. Lanes are rows in the first and columns in the second, and nothing is
added up across lanes. Lines come in fours, columns in whole vectors, and turned rows a slab at a time, which waits in
the first cache while lines pass by.

The instructions are those of ``kernels.registers`` and ``kernels.carriers``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.carriers import carrier, turner
from asterism.kernels.compiled import inlined, kernel
from asterism.kernels.lanes import TILE
from asterism.kernels.registers import HALVES, LOWER, SQUARES, halver, normer, scorer, summer
from asterism.kernels.vectors import BYTES, FOUR, MANY

LONG = 256  # bytes of a row from which on half a tile is taken at a time
SOON, LATER = 2, 4  # columns after which a cache line of the next rows is asked for
MANY_LINES = 16  # from which on all are asked for in time, if later: fewer are on their way at once

Floats = NDArray[Any]  # float32 or float64

_score_lower, _score_squares = scorer(LOWER, SOON), scorer(SQUARES, SOON)
_score_few, _score_many = scorer(HALVES, SOON), scorer(HALVES, LATER)
_add_many, _add_four = summer(MANY), summer(FOUR)
_norm, halve_squares = normer(), halver()
carry_rows, turn_rows, turn_weighed = carrier(), turner(weighed=False), turner(weighed=True)


def whole_fours(lines: int) -> int:
    """Lines in whole fours."""
    return (lines + FOUR - 1) // FOUR * FOUR


def whole_vectors(columns: int, size: int) -> int:
    """Columns, of so many bytes a cell, in whole vectors."""
    lanes = BYTES // size
    return (columns + lanes - 1) // lanes * lanes


def stride_of(width: int, size: int) -> int:
    """Cells from line to line of a tile: an odd number of cache lines, so that columns fill all of the cache."""
    cells = 64 // size
    lines = (width + cells - 1) // cells
    return (lines + 1 - lines % 2) * cells


@kernel
def few_rows(d: int, size: int) -> int:
    """As many rows as stay in the first cache while groups pass by: a tile, or half of one where they are long."""
    return TILE // 2 if d * size >= LONG else TILE


fours_of, vectors_of, stride = kernel(whole_fours), kernel(whole_vectors), kernel(stride_of)


@inlined
def score_slab(
    lines: Floats,  # (fours of lines, columns) in: slopes, numbers for half squares or squares, constants
    turned: Floats,  # (depth and half squares, a slab or more) in
    first: int,  # row of the slab
    depth: int,  # columns in fours
    out: Floats,  # (fours of lines, TILE or more) out
    to: int,  # from here on
    rows: Floats,  # (n, d) to be asked for meanwhile
    ahead: int,  # from here on
) -> None:
    """Products of all lines with a slab of rows."""
    if lines.shape[1] > depth + 2:
        _score_squares(lines, turned, first, depth, out, to, rows, ahead)
    elif len(lines) < MANY_LINES:
        _score_few(lines, turned, first, depth, out, to, rows, ahead)
    else:
        _score_many(lines, turned, first, depth, out, to, rows, ahead)


@inlined
def whiten_slab(
    factor: Floats,  # (fours of d, d in fours, and constants) in: a lower triangle; others as for ``score_slab``
    turned: Floats,
    first: int,
    depth: int,
    out: Floats,
    to: int,
    rows: Floats,
    ahead: int,
) -> None:
    """Products of a triangle with a slab of rows: nothing right of the diagonal is multiplied, but in its four."""
    _score_lower(factor, turned, first, depth, out, to, rows, ahead)


@kernel
def norm_slab(
    lines: Floats,  # (fours of d, d in fours, and constants) in: a lower triangle
    turned: Floats,  # (d in fours, a slab) in
    out: Floats,  # (TILE,) less by half the sum of squares of all lines
    to: int,  # from here on
) -> None:
    """out - ||W x + constant||^2 / 2 of a slab of rows."""
    for four in range(len(lines) // FOUR):
        _norm(lines, FOUR * four, turned, 0, FOUR * (four + 1), out, to)


@kernel
def at_once(left: int) -> int:
    """How many of the vectors that are left to take: three at most, and about as many each time."""
    times = (left + 2) // 3
    return (left + times - 1) // times


@inlined
def add_tile(
    shares: Floats,  # (fours of groups, TILE or more) in
    tile: Floats,  # (TILE, columns, or more) in; whole vectors of them may reach into the next row
    depth: int,  # rows, in fours
    width: int,  # columns in whole vectors
    squares: bool,
    lower: bool,  # whether only the lower triangle of a square matrix is asked for; others are right in part
    sums: NDArray[np.float64],  # (fours of groups, width) added to; of squares, twice the width
) -> None:
    """What the rows add up to by their shares, or their squares, after these. Columns wait while groups pass by."""
    lanes, further = BYTES // tile.itemsize, width if squares else 0
    some = few_rows(tile.shape[1], tile.itemsize)
    for first in range(0, depth, some):
        last, column = min(first + some, depth), 0
        while column < width:
            n = at_once((width - column) // lanes)
            line = column // FOUR * FOUR if lower else 0
            while MANY > FOUR and line + MANY <= len(sums):
                _add_many(shares, line, tile, column, first, last, n, squares, sums, further + column)
                line += MANY
            while line < len(sums):
                _add_four(shares, line, tile, column, first, last, n, squares, sums, further + column)
                line += FOUR
            column += n * lanes
