"""What kernels written instruction by instruction share: numbers, where the cells of an argument lie, vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.core import cgutils

SMALL = ir.IntType(32)


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


def extent(context: Any, builder: Any, signature: Any, arguments: Any, which: int, axis: int) -> Any:
    """The length of an array among the arguments along an axis."""
    array = context.make_array(signature.args[which])(context, builder, arguments[which])
    return builder.extract_value(array.shape, axis)


def order_of(places: Iterable[int], bits: int = 32) -> Any:
    """A constant vector of whole numbers."""
    places = list(places)
    return ir.Constant(ir.VectorType(ir.IntType(bits), len(places)), places)


def spread(builder: Any, value: Any, lanes: int) -> Any:
    """A number in all lanes."""
    empty = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
    first = builder.insert_element(empty, value, SMALL(0))
    return builder.shuffle_vector(first, empty, order_of([0] * lanes))


def lanes_from(builder: Any, first: Any, lanes: int) -> Any:
    """first, first + 1, ..."""
    return builder.add(spread(builder, first, lanes), order_of(range(lanes), first.type.width))


def load_some(builder: Any, place: Any, kind: Any, keep: Any) -> Any:
    """The numbers of a vector that are kept, zeros for others; memory that is not kept is not touched."""
    cell = "f64" if isinstance(kind.element, ir.DoubleType) else "f32"
    form = ir.FunctionType(kind, [place.type, SMALL, keep.type, kind])
    declare: Any = cgutils.get_or_insert_function  # it has no types
    load = declare(builder.module, form, f"llvm.masked.load.v{kind.count}{cell}.p0")
    return builder.call(load, [place, SMALL(4), keep, ir.Constant(kind, None)])
