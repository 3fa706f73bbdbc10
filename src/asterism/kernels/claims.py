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
def wide_blocks(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (size,) in: of every block
    following: NDArray[np.int64],  # (1,) the number of the next block, raised by all threads
    origin: Floats,  # see ``wide.wide_block``
    panels: Floats,
    k: int,
    squares: bool,
    mode: int,
    notes: NDArray[np.float64],
    shape: NDArray[np.int64],  # (3,) in: of the sums that ``wide_block`` wants, and the column with masses
    sums: NDArray[
        np.float64
    ],  # (blocks, length) out: totals, masses, and these, of the blocks that were taken
) -> None:
    """Visit blocks until none is left."""
    n, size, begin = len(rows), len(weights), 2 + k
    while True:
        number, first, last = claim(following, size, n)
        if first == last:
            return
        line = sums[number]
        line[:] = 0.0
        moments = line[begin:].reshape((shape[0], shape[1]))
        wide_block(
            rows[first:last], weights, origin, panels, k, squares, mode, notes[first:last], moments, line[:2]
        )
        for c in range(k):
            line[2 + c] = moments[c, shape[2]]


@kernel
def wide_tied_blocks(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (size,) in: of every block
    following: NDArray[np.int64],  # (1,) the number of the next block, raised by all threads
    origin: Floats,  # see ``wide.wide_tied_block``
    factor: Floats,
    panels: Floats,
    k: int,
    mode: int,
    notes: NDArray[np.float64],
    shape: NDArray[np.int64],  # (4,) in: of the sums, the column with masses, the width of the scatter
    sums: NDArray[np.float64],  # (blocks, length) out: totals, masses, sums and scatter of the blocks taken
) -> None:
    """Visit blocks until none is left."""
    n, size, begin = len(rows), len(weights), 2 + k
    middle = begin + shape[0] * shape[1]
    while True:
        number, first, last = claim(following, size, n)
        if first == last:
            return
        line = sums[number]
        line[:] = 0.0
        moments = line[begin:middle].reshape((shape[0], shape[1]))
        scatter = line[middle:].reshape((shape[3], shape[3]))
        wide_tied_block(
            rows[first:last],
            weights,
            origin,
            factor,
            panels,
            k,
            mode,
            notes[first:last],
            moments,
            scatter,
            line[:2],
        )
        for c in range(k):
            line[2 + c] = moments[c, shape[2]]
