"""What kernels written instruction by instruction share: numbers, where the cells of an argument lie, vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.core import cgutils
from numba.np import arrayobj

SMALL = ir.IntType(32)

Generate = Callable[
    [Any, Any, Any, Any], Any
]  # of context, builder, signature and arguments, as Numba calls it


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


def apart(name: str, generate: Generate) -> Generate:
    """The same instructions as a function of their own, which is not written out where it is called.

    A loop that needs all registers is best compiled alone: amid a kernel of a thousand lines it was slower by a
    twelfth, or not, with what stood beside it, whether that ran or not. Arrays are handed over as the place of their
    first cell and their shape, so a call costs next to nothing. It returns nothing.
    """

    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        flat: list[Any] = []
        for kind, value in zip(signature.args, arguments, strict=True):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, value)
                unpack: Any = cgutils.unpack_tuple  # it has no types
                flat += [array.data, *unpack(builder, array.shape, kind.ndim)]
            else:
                flat.append(value)
        full = ".".join(["asterism", name, *(str(kind) for kind in signature.args)])
        function = builder.module.globals.get(full)
        if function is None:
            form = ir.FunctionType(ir.VoidType(), [value.type for value in flat])
            function = ir.Function(builder.module, form, full)
            function.linkage = "internal"
            function.attributes.add("noinline")
            function.attributes.add("nounwind")
            inner = ir.IRBuilder(function.append_basic_block())
            generate(context, inner, signature, _handed_over(context, inner, signature, function.args))
            inner.ret_void()
        builder.call(function, flat)
        return context.get_dummy_value()

    return call


def _handed_over(context: Any, builder: Any, signature: Any, flat: Iterable[Any]) -> list[Any]:
    """Arguments of a signature from what ``apart`` hands over; arrays lie cell by cell."""
    left, found = iter(flat), []
    fill: Any = arrayobj.populate_array  # it has no types
    for kind in signature.args:
        value = next(left)
        if isinstance(kind, types.Array):
            size = context.get_constant(types.intp, kind.dtype.bitwidth // 8)
            shape, strides = [next(left) for _ in range(kind.ndim)], [size]
            for length in reversed(shape[1:]):
                strides.insert(0, builder.mul(strides[0], length))
            array = context.make_array(kind)(context, builder)
            fill(array, data=value, shape=shape, strides=strides, itemsize=size, meminfo=None)
            value = array._getvalue()
        found.append(value)
    return found


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
