"""Block after block of wide rows, on as many threads as there are, without coming back to Python for each.

A block of a few thousand rows takes half a millisecond, and what Python does between two of them a tenth of that, one
thread at a time. Here a thread takes the number of the next block that nobody has taken, in one instruction that no
other thread can come between, until it has some or none is left. Which thread visits a block changes nothing: blocks
are fixed, and each has sums of its own.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.instructions import numbers_and_cells
from asterism.kernels.wide import wide_block, wide_tied_block

Floats = NDArray[Any]  # float32 or float64


def _raise_by_one(typing: Any, following: Any) -> Any:  # noqa: ARG001  as Numba calls it
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        return builder.atomic_rmw("add", cell(0, number(0)), ir.IntType(64)(1), "monotonic")

    return types.int64(following), generate


_claim = cast(Any, intrinsic(_raise_by_one))  # the number before


@kernel
def claim(following: NDArray[np.int64], size: int, n: int) -> tuple[int, int, int]:
    """The number of the next block, and its first and last row; no rows if there is none left."""
    number = _claim(following)
    first = min(number * size, n)
    return number, first, min(first + size, n)


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
    following: NDArray[np.int64],  # (1,) the number of the next block, raised by all threads
    origin: Floats,  # see ``wide.wide_block``
    lines: Floats,
    squares: bool,
    plain: bool,
    mode: int,
    notes: NDArray[np.float64],
    shape: NDArray[np.int64],  # (3,) in: how many groups, and the shape of the sums that ``wide_block`` wants
    sums: NDArray[np.float64],  # (blocks, length) out: totals, masses, sums, halves of those that were taken
) -> None:
    """Visit blocks until none is left."""
    n, size, begin = len(rows), len(weights), 2 + shape[0]
    middle = begin + shape[1] * shape[2]
    while True:
        number, first, last = claim(following, size, n)
        if first == last:
            return
        line = sums[number]
        line[:] = 0.0
        moments = line[begin:middle].reshape((shape[1], shape[2]))
        wide_block(
            rows[first:last],
            weights,
            origin,
            lines,
            squares,
            plain,
            mode,
            notes[first:last],
            line[2:begin],
            moments,
            line[middle:],
            line[:2],
        )


@kernel
def wide_tied_blocks(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (size,) in: of every block
    following: NDArray[np.int64],  # (1,) the number of the next block, raised by all threads
    origin: Floats,  # see ``wide.wide_tied_block``
    factor: Floats,
    lines: Floats,
    plain: bool,
    mode: int,
    notes: NDArray[np.float64],
    shape: NDArray[np.int64],  # (4,) in: how many groups, the shape of the sums, and lines of the scatter
    sums: NDArray[np.float64],  # (blocks, length) out: totals, masses, sums, scatter of those that were taken
) -> None:
    """Visit blocks until none is left."""
    n, size, begin = len(rows), len(weights), 2 + shape[0]
    middle = begin + shape[1] * shape[2]
    while True:
        number, first, last = claim(following, size, n)
        if first == last:
            return
        line = sums[number]
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
