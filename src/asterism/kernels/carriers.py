"""Instructions of bringing rows into a tile, and of turning it.

``carrier`` and ``turner`` return functions for kernels to call; ``move_row`` and ``view_rows`` are such functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj

from asterism.kernels.instructions import extent, lanes_from, load_some, numbers_and_cells, spread
from asterism.kernels.lanes import TILE
from asterism.kernels.vectors import (
    FOUR,
    FREE,
    QUARTER,
    Sums,
    joined,
    load,
    loop,
    spread_from,
    store,
    turned,
    vector_of,
)


def carrier() -> Any:
    """Four rows into a tile.

    Called with ``(rows, row, origin, w, tile, line)``, for i = 0 .. 3:
    tile[line + i] = (rows[row + i] - origin[0]) - origin[1], or zeros where w[line + i] is 0, whatever the row holds.
    Beyond the last row it is taken again. What follows the last column in its vector is 0, and is not read.
    """

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        rows: Any,
        row: Any,  # noqa: ARG001
        origin: Any,
        w: Any,
        tile: Any,
        line: Any,  # noqa: ARG001
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector, zero = vector_of(signature.args[4]), number(0)
            given = ir.VectorType(vector_of(signature.args[0]).element, vector.count)
            nothing = ir.Constant(vector, None)
            row, line = arguments[1], arguments[5]
            n, d = (extent(context, builder, signature, arguments, 0, axis) for axis in (0, 1))
            origins = [cell(2, zero, zero), cell(2, number(1), zero)]
            places = []
            for i in range(FOUR):
                at, last = builder.add(row, number(i)), builder.sub(n, number(1))
                at = builder.select(builder.icmp_signed("<", at, last), at, last)
                own = builder.add(line, number(i))
                there = builder.fcmp_unordered(
                    "!=", spread_from(builder, cell(3, zero), own, vector), nothing
                )
                places.append((cell(0, at, zero), cell(4, own, zero), there))

            def bring(j: Any, take: Callable[[Any, Any], Any]) -> None:
                point, more = (take(builder.gep(place, [j]), vector) for place in origins)
                for row, to, there in places:
                    x = take(builder.gep(row, [j]), given)
                    x = x if given == vector else builder.fpext(x, vector)
                    x = builder.select(there, builder.fsub(builder.fsub(x, point), more), nothing)
                    store(builder, x, builder.gep(to, [j]))

            def step(j: Any, sums: Sums) -> Sums:
                bring(j, lambda place, kind: load(builder, place, kind))
                return sums

            lanes = number(vector.count)
            last = builder.mul(
                builder.udiv(builder.sub(d, number(1)), lanes), lanes
            )  # where the last vector begins
            with builder.if_then(builder.icmp_signed(">", last, number(0))):
                loop(builder, last, number, step, [], vector.count)
            here = builder.icmp_signed(
                "<", lanes_from(builder, last, vector.count), spread(builder, d, vector.count)
            )
            bring(last, lambda place, kind: load_some(builder, place, kind, here))
            return context.get_dummy_value()

        whole = types.intp
        return types.void(rows, whole, origin, w, tile, whole), generate

    return cast(Any, intrinsic(emit))


def turner(weighed: bool) -> Any:
    """As many rows as a vector has lanes, turned, and half the sums of their squares; or times their weights.

    Called with ``(tile, row, columns, w, out, to)``, for i below the lanes: out[j, to + i] = tile[row + i, j] for j
    below ``columns``, which come in fours, and out[columns, to + i] is half the sum of their squares; or, if they
    are ``weighed``, out[j, to + i] = w[row + i] tile[row + i, j].
    """

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        tile: Any,
        row: Any,  # noqa: ARG001
        columns: Any,  # noqa: ARG001
        w: Any,
        out: Any,
        to: Any,  # noqa: ARG001
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector, (row, columns), to = vector_of(signature.args[0]), arguments[1:3], arguments[5]
            few = QUARTER * 8 // signature.args[0].dtype.bitwidth  # lanes of a quarter
            part = ir.VectorType(vector.element, few)
            stride = extent(context, builder, signature, arguments, 4, 1)
            begin = [cell(0, builder.add(row, number(i)), number(0)) for i in range(vector.count)]
            low, mass = cell(4, number(0), to), load(builder, cell(3, row), vector)

            def step(j: Any, sums: Sums) -> Sums:
                for one in range(0, FOUR, few):
                    at = builder.add(j, number(one))
                    parts = [load(builder, builder.gep(place, [at]), part) for place in begin]
                    for c, x in enumerate(
                        turned(builder, [joined(builder, parts[r::few]) for r in range(few)])
                    ):
                        place = builder.gep(low, [builder.mul(builder.add(at, number(c)), stride)])
                        store(builder, builder.fmul(x, mass) if weighed else x, place)
                        square = builder.fmul(x, x, flags=FREE)
                        sums[one + c] = builder.fadd(sums[one + c], square, flags=FREE)
                return sums

            sums = loop(builder, columns, number, step, [ir.Constant(vector, None)] * FOUR, FOUR)
            if not weighed:
                pairs = [builder.fadd(a, b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
                half = ir.Constant(vector, [0.5] * vector.count)
                store(builder, builder.fmul(half, builder.fadd(*pairs)), cell(4, columns, to))
            return context.get_dummy_value()

        whole = types.intp
        return types.void(tile, whole, whole, w, out, whole), generate

    return cast(Any, intrinsic(emit))


def _move(typing: Any, tile: Any, row: Any, offsets: Any, group: Any, out: Any, to: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        vector = vector_of(signature.args[0])
        x, offset, place = (cell(i, arguments[i + 1], number(0)) for i in (0, 2, 4))

        def step(j: Any, sums: Sums) -> Sums:
            a, b = (load(builder, builder.gep(begin, [j]), vector) for begin in (x, offset))
            store(builder, builder.fsub(a, b), builder.gep(place, [j]))
            return sums

        loop(builder, extent(context, builder, signature, arguments, 2, 1), number, step, [], vector.count)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(tile, whole, offsets, whole, out, whole), generate


# move_row(tile, row, offsets, group, out, to): out[to] = tile[row] - offsets[group], as many cells as offsets have,
# in whole vectors; those of the tile may reach into the next row
move_row = cast(Any, intrinsic(_move))


def _view(typing: Any, rows: Any, first: Any, like: Any) -> Any:  # noqa: ARG001  as Numba calls it
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        array = context.make_array(like)(context, builder)
        size = number(like.dtype.bitwidth // 8)
        d = extent(context, builder, signature, arguments, 0, 1)
        fill: Any = arrayobj.populate_array  # it has no types
        fill(
            array,
            data=builder.bitcast(cell(0, arguments[1], number(0)), array.data.type),
            shape=[number(TILE), d],
            strides=[builder.mul(d, size), size],
            itemsize=size,
            meminfo=None,
        )
        return array._getvalue()

    return like(rows, types.intp, like), generate


# view_rows(rows, first, like): TILE rows of a table as an array like ``like``, whose cells must be of the same type
view_rows = cast(Any, intrinsic(_view))
