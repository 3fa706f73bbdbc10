"""Block after block of wide rows, on as many threads as there are, without coming back to Python for each.

A block of a few thousand rows takes half a millisecond, and what Python does between two of them a tenth of that, one
thread at a time; between two passes over a small table it takes as long as a third. So threads take blocks by
themselves (``kernels.turns``), and steps of round and diagonal groups too while each is as plain as can be
(``kernels.stretch``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.shares import LOOK
from asterism.kernels.stretch import ONE_LOOK, STOP, go_further
from asterism.kernels.turns import END, ENDED, Turns, is_other, open_other, open_pass, take_turn, was_last
from asterism.kernels.wide import wide_block, wide_tied_block

Floats = NDArray[Any]  # float32 or float64


@kernel
def add_up(sums: NDArray[np.float64]) -> None:
    """The sums of all blocks (blocks, length) in the first, added as ``engines.tree`` does: one left over rises."""
    apart = 1
    while apart < len(sums):
        for i in range(0, len(sums) - apart, 2 * apart):
            left, right = sums[i], sums[i + apart]
            for j in range(len(left)):
                left[j] += right[j]
        apart *= 2


@kernel
def wide_blocks(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (size,) in: of every block
    turns: Turns,
    origin: Floats,  # see ``wide.wide_block``
    lines: Floats,
    squares: bool,
    plain: bool,
    mode: int,
    notes: NDArray[np.float64],  # of a stretch: (n,) out, labels of the model it came to; or none
    shape: NDArray[np.int64],  # (3,) in: how many groups, and the shape of the sums that ``wide_block`` wants
    sums: NDArray[
        np.float64
    ],  # (blocks, length): totals, masses, sums, halves; out: of all blocks in the first
    fixed: NDArray[np.float64],  # this and what follows: see ``stretch.go_further``
    limits: NDArray[np.float64],
    shares: NDArray[np.float64],
    offsets: NDArray[np.float64],
    variances: NDArray[np.float64],
    told: NDArray[np.float64],
) -> bool:
    """Visit blocks until none is left, of one pass or of several; False where others take long to end a pass."""
    n, size, begin = len(rows), len(weights), 2 + shape[0]
    middle = begin + shape[1] * shape[2]
    while True:
        block, number = take_turn(turns, len(sums))
        if block < 0:
            return block == END
        first, last = block * size, min((block + 1) * size, n)
        line = sums[block]
        line[:] = 0.0
        moments = line[begin:middle].reshape((shape[1], shape[2]))
        looking = is_other(turns, number)
        wide_block(
            rows[first:last],
            weights,
            origin,
            lines,
            squares,
            plain,
            LOOK if looking else mode,
            notes[first:last] if looking or not len(told) else notes[:0],
            line[2:begin],
            moments,
            line[middle:],
            line[:2],
        )
        if was_last(turns, len(sums), number):
            add_up(sums)
            what = STOP
            if number < len(told) and not looking:
                what = go_further(
                    number, sums[0], shape, mode, fixed, limits, shares, offsets, variances, lines, told
                )
            if what == ONE_LOOK:
                open_other(turns, number + 1)
            else:
                open_pass(turns, ENDED if what == STOP else number + 1)


@kernel
def wide_tied_blocks(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (size,) in: of every block
    turns: Turns,  # for one pass
    origin: Floats,  # see ``wide.wide_tied_block``
    factor: Floats,
    lines: Floats,
    plain: bool,
    mode: int,
    notes: NDArray[np.float64],
    shape: NDArray[np.int64],  # (4,) in: how many groups, the shape of the sums, and lines of the scatter
    sums: NDArray[
        np.float64
    ],  # (blocks, length): totals, masses, sums, scatter; out: of all blocks in the first
) -> bool:
    """Visit blocks until none is left; False where others take long to end the pass."""
    n, size, begin = len(rows), len(weights), 2 + shape[0]
    middle = begin + shape[1] * shape[2]
    while True:
        block, number = take_turn(turns, len(sums))
        if block < 0:
            return block == END
        first, last = block * size, min((block + 1) * size, n)
        line = sums[block]
        line[:] = 0.0
        moments = line[begin:middle].reshape((shape[1], shape[2]))
        scatter = line[middle:].reshape((shape[3], shape[2]))
        wide_tied_block(
            rows[first:last],
            weights,
            origin,
            factor,
            lines,
            plain,
            mode,
            notes[first:last],
            line[2:begin],
            moments,
            scatter,
            line[:2],
        )
        if was_last(turns, len(sums), number):
            add_up(sums)
            open_pass(turns, ENDED)
