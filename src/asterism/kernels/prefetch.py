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
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel

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
    """One instruction that asks for a cell's line and waits for nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        cells = context.make_array(kind)(context, builder, arguments[0])
        place: Any = cgutils.get_item_pointer  # it has no types either
        cell = place(context, builder, kind, cells, [arguments[1], arguments[2]], wraparound=False)
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        form = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        ask = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), form)
        how = [number(READ), number(SECOND_CACHE), number(DATA)]
        builder.call(ask, [builder.bitcast(cell, pointer), *how])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate


_prefetch = cast(Callable[[Any, int, int], None], intrinsic(_emit))
