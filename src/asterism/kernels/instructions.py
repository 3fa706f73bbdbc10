"""What kernels written instruction by instruction share: numbers, and where the cells of an argument lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core import cgutils


def numbers_and_cells(
    context: Any, builder: Any, signature: Any, arguments: Any
) -> tuple[Callable[[int], Any], Callable[..., Any]]:
    """``number(value)``, and ``cell(which, *index)``: the address of a cell of an array among the arguments."""

    def number(value: int) -> Any:
        return context.get_constant(types.intp, value)

    def cell(which: int, *index: Any) -> Any:
        kind = signature.args[which]
        array = context.make_array(kind)(context, builder, arguments[which])
        find: Any = cgutils.get_item_pointer  # it has no types
        return find(context, builder, kind, array, list(index), wraparound=False)

    return number, cell
