"""Asking for memory before it is needed.

A loop that computes as long as memory takes to arrive waits for both in turn, unless somebody asks for the next
rows in time: the processor guesses well along one array, and badly where rows are taken four at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.instructions import numbers_and_cells

LINE = 64  # bytes that come together
READ, SECOND_CACHE, DATA = 0, 2, 1  # the first cache is full of the rows at hand


@kernel
def prefetch_rows(
    rows: NDArray[Any],  # (n, d) in
    pick: NDArray[np.int64],  # in: which of them
    first: int,
    last: int,
) -> None:
    """Ask for the columns ``first:last`` of these rows."""
    step = LINE // rows.itemsize
    for i in range(len(pick)):
        for j in range(first, last, step):
            _prefetch(rows, pick[i], j)


def _emit(typing: Any, array: Any, row: Any, column: Any) -> Any:  # noqa: ARG001  as Numba calls it
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, cell = numbers_and_cells(context, builder, signature, arguments)
        ask_for(builder, after(builder, cell(0, *arguments[1:]), ir.IntType(64)(0)))
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate


_prefetch = cast(Callable[[Any, int, int], None], intrinsic(_emit))


def after(builder: Any, place: Any, lines: Any) -> Any:
    """So many lines after a place."""
    bytes_from = builder.bitcast(place, ir.IntType(8).as_pointer())
    return builder.gep(bytes_from, [builder.mul(lines, lines.type(LINE))])


def ask_for(builder: Any, place: Any) -> None:
    """One instruction that asks for the line of a byte, waits for nothing, and may be for a line that is nowhere."""
    number = ir.IntType(32)
    form = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
    ask = builder.module.declare_intrinsic("llvm.prefetch", (place.type,), form)
    builder.call(ask, [place, number(READ), number(SECOND_CACHE), number(DATA)])
