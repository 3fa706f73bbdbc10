"""Products of a tile of rows, all sums in registers: with panels of lines, and with shares.

    multiply_tile  out[c, i] or out[i, c] = sum_j tile[i, j] lines[c, j]
    add_tile       sums[c, j] += sum_i factors[c, i] tile[i, j]   or factors[i, c]

Here rows stay rows, as they lie in a table, where ``kernels.lanes`` turns them: reading them is a stream. Lanes are
lines in the first and columns in the second, so nothing is added up across lanes until the end. A panel holds
as many lines as a vector has lanes, side by side:

    panel[j] = (line 0, line 1, ...) of column j

where lines are few, or the last ones fill no more than half a panel, it is made of halves (``halves_of``), one after
the other, in which columns come in pairs:

    half[j] = (line 0 of column 2 j, of column 2 j + 1, line 1 of column 2 j, of column 2 j + 1, ...)

The instructions are those of ``kernels.registers``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.lanes import TILE
from asterism.kernels.registers import adder, carrier, multiplier
from asterism.kernels.vectors import BYTES, FOUR, PAIR

Floats = NDArray[Any]  # float32 or float64

# Of so many rows and panels
_multiply_4_3, _multiply_4_2, _multiply_4_2_half = (
    multiplier(4, 3),
    multiplier(4, 2),
    multiplier(4, 2, halves=1),
)
_multiply_8_half, _multiply_4_halves = multiplier(8, 0, halves=1), multiplier(4, 0, halves=2)
_add_3, _add_2, _add_1 = (adder(vectors) for vectors in (3, 2, 1))
carry_squares, carry_length = (carrier(squares) for squares in (True, False))


def halves_of(lines: int, lanes: int) -> int:
    """How many halves of the last panel come in pairs: all of few lines, and half a panel after two or more."""
    half = lanes // 2
    if lines <= lanes:
        return (lines + half - 1) // half
    return 1 if 0 < lines % lanes <= half and lines > 2 * lanes else 0


_halves_of = kernel(halves_of)


def panels_of(lines: Floats, kind: np.dtype[Any]) -> Floats:
    """(panels, even m, lanes) of (k, m) lines, zeros added.

    >>> panels_of(np.arange(14.0).reshape(7, 2), np.dtype(float)).tolist()
    [[[0.0, 2.0, 4.0, 6.0], [1.0, 3.0, 5.0, 7.0]], [[8.0, 10.0, 12.0, 0.0], [9.0, 11.0, 13.0, 0.0]]]
    >>> panels_of(np.arange(6.0).reshape(3, 2), np.dtype(float)).tolist()
    [[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 0.0, 0.0]]]
    """
    k, m = lines.shape
    lanes = BYTES // kind.itemsize
    out = np.zeros((-(-k // lanes), m + m % PAIR, lanes), kind)
    turned, whole_panels = out.transpose(0, 2, 1), k // lanes
    turned[:whole_panels, :, :m] = lines[: whole_panels * lanes].reshape(whole_panels, lanes, m)
    turned[whole_panels:, : k % lanes, :m] = lines[whole_panels * lanes :]
    if halves_of(k, lanes):
        pairs = out[-1].reshape(-1, PAIR, 2, lanes // 2)  # column, which of a pair, which half, line
        out[-1] = pairs.transpose(2, 0, 3, 1).reshape(-1, lanes)
    return out


@kernel
def whole(columns: int, lanes: int) -> int:
    """Columns in whole vectors."""
    return (columns + lanes - 1) // lanes * lanes


@kernel
def stride_of(width: int, size: int) -> int:
    """Cells from row to row of a tile: an odd number of cache lines, so that columns fill all of the first cache."""
    cells = 64 // size
    lines = (width + cells - 1) // cells
    return (lines + 1 - lines % 2) * cells


@kernel
def at_once(left: int) -> int:
    """How many vectors to take of those that are left: three, but no single one at the end if that can be helped."""
    return 3 if left > 4 or left == 3 else min(left, 2)


@kernel
def multiply_tile(
    tile: Floats,  # (TILE, stride) in
    panels: Floats,  # (m, columns, lanes) in
    k: int,  # lines in the panels
    out: Floats,  # (m * lanes * TILE,) out: by lines; or (TILE, stride) out: by rows, of a lower triangle
) -> None:
    """Products of all rows with all lines; what is no line's is 0, or stays as it was.

    Of a triangle nothing is multiplied right of the diagonal but what is in a panel with it.
    """
    m, columns, lanes = panels.shape
    halves = _halves_of(k, lanes)
    last = 0 if halves == 0 else (1 if m < 3 or m == 4 else 3)  # panels that go with the halves
    p = 0
    while p < m - last:
        n = at_once(m - last - p)
        until = min((p + n) * lanes, columns) if out.ndim == 2 else columns
        if n == 3:
            for i in range(TILE // 4):
                _multiply_4_3(tile, 4 * i, panels, p, until, out)
        else:
            for i in range(TILE // 4):
                _multiply_4_2(tile, 4 * i, panels, p, until, out)
        p += n
    if last == 3:
        for i in range(TILE // 4):
            _multiply_4_2_half(tile, 4 * i, panels, p, columns, out)
    elif halves == 1:
        for i in range(TILE // 8):
            _multiply_8_half(tile, 8 * i, panels, p, columns, out)
    elif halves == 2:
        for i in range(TILE // 4):
            _multiply_4_halves(tile, 4 * i, panels, p, columns, out)


@kernel
def add_tile(
    factors: Floats,  # (at least k * TILE,) in: shares by groups; or (TILE, stride) in: by rows, as many as columns
    tile: Floats,  # (TILE, stride) in
    sums: NDArray[np.float64],  # (k, width) added to: whole fours of groups, whole vectors of columns
) -> None:
    """What the rows add up to by their shares; of a square matrix its lower triangle, others are right in part.

    Columns wait in the first cache while groups pass by.
    """
    v, lanes = 0, BYTES // tile.itemsize
    vectors, fours = sums.shape[1] // lanes, len(sums) // FOUR
    while v < vectors:
        n = at_once(vectors - v)
        first = v * lanes // FOUR if factors.ndim == 2 else 0
        if n == 3:
            for four in range(first, fours):
                _add_3(factors, FOUR * four, tile, v * lanes, sums)
        elif n == 2:
            for four in range(first, fours):
                _add_2(factors, FOUR * four, tile, v * lanes, sums)
        else:
            for four in range(first, fours):
                _add_1(factors, FOUR * four, tile, v * lanes, sums)
        v += n
