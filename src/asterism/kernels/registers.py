"""Instructions of products of a few rows, all sums in registers, and of bringing rows into a tile.

Twelve sums are what sixteen registers can hold besides what is multiplied, and enough to keep two units of four
cycles busy. Numba makes no such loops, so their instructions are given one by one; they are those of any processor.

``multiplier``, ``adder`` and ``carrier`` return functions for kernels to call.
"""

from __future__ import annotations

from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic

from asterism.kernels.instructions import SMALL, numbers_and_cells, order_of, spread
from asterism.kernels.lanes import TILE
from asterism.kernels.vectors import (
    FOUR,
    FREE,
    PAIR,
    Sums,
    across,
    folded,
    load,
    loop,
    multiplied,
    spread_from,
    store,
    turned,
    turned_pairs,
    vector_of,
)


def multiplier(rows: int, panels: int, halves: int = 0) -> Any:
    """A product of some rows with some panels, and some halves of one more.

    Called with ``(tile, first, table, panel, columns, out)``: of the rows of a tile (TILE, stride) from ``first`` on,
    and the panels of ``table`` (panels, columns, lanes) from ``panel`` on, over an even number of columns;
    ``out`` is (lines * TILE,) by lines, out[c * TILE + i], or (TILE, stride) by rows, out[i, c].
    """

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        tile: Any,
        first: Any,  # noqa: ARG001
        table: Any,
        panel: Any,  # noqa: ARG001
        columns: Any,  # noqa: ARG001
        out: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector, zero = vector_of(signature.args[0]), number(0)
            by_rows = signature.args[5].ndim == 2
            first, panel, columns = arguments[1], arguments[3], arguments[4]
            row = [cell(0, builder.add(first, number(i)), zero) for i in range(rows)]
            slope = [cell(2, builder.add(panel, number(p)), zero, zero) for p in range(panels)]
            half = [
                cell(
                    2,
                    builder.add(panel, number(panels)),
                    builder.udiv(builder.mul(columns, number(h)), number(PAIR)),
                    zero,
                )
                for h in range(halves)
            ]

            def step(j: Any, sums: Sums) -> Sums:
                solid, pairs = sums[: rows * panels], sums[rows * panels :]
                for one in range(PAIR):
                    column = builder.add(j, number(one))
                    at = builder.mul(column, number(vector.count))
                    slopes = [load(builder, builder.gep(place, [at]), vector) for place in slope]
                    cells = (spread_from(builder, builder.gep(place, [column]), vector) for place in row)
                    solid = multiplied(builder, cells, slopes, solid)
                if halves:
                    at = builder.mul(builder.udiv(j, number(PAIR)), number(vector.count))
                    slopes = [load(builder, builder.gep(place, [at]), vector) for place in half]
                    cells = (spread_from(builder, builder.gep(place, [j]), vector, PAIR) for place in row)
                    pairs = multiplied(builder, cells, slopes, pairs)
                return solid + pairs

            empty = [ir.Constant(vector, None)] * (rows * (panels + halves))
            sums = loop(builder, columns, number, step, empty, PAIR)
            solid, pairs = sums[: rows * panels], sums[rows * panels :]
            found = [(p * vector.count, solid[p::panels], turned) for p in range(panels)]
            if by_rows:
                pairs = [folded(builder, value) for value in pairs]
            for h in range(halves):
                line = panels * vector.count + h * vector.count // 2
                found.append((line, pairs[h::halves], turned_pairs))
            begin = builder.mul(panel, number(vector.count))
            for line, values, turn in found:
                if by_rows:
                    for i, value in enumerate(values):
                        to = cell(5, builder.add(first, number(i)), builder.add(begin, number(line)))
                        store(builder, value, to)
                    continue
                for i in range(0, rows, FOUR):
                    for c, value in enumerate(turn(builder, values[i : i + FOUR])):
                        to = builder.mul(builder.add(begin, number(line + c)), number(TILE))
                        store(builder, value, cell(5, builder.add(to, builder.add(first, number(i)))))
            return context.get_dummy_value()

        return types.void(tile, types.intp, table, types.intp, types.intp, out), generate

    return cast(Any, intrinsic(emit))


def adder(vectors: int) -> Any:
    """A product of four lines of factors with some vectors of columns, over all rows of a tile.

    Called with ``(factors, group, tile, column, sums)``, for g = group .. group + 3:
    sums[g, column ...] += sum_i factors[g * TILE + i] tile[i, column ...], or, if they are a tile, factors[i, g].
    """

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        factors: Any,
        group: Any,  # noqa: ARG001
        tile: Any,
        column: Any,  # noqa: ARG001
        sums: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector, by_rows = vector_of(signature.args[2]), signature.args[0].ndim == 2
            group, column = arguments[1], arguments[3]
            table = context.make_array(signature.args[2])(context, builder, arguments[2])
            stride = builder.extract_value(table.shape, 1)
            groups = [builder.add(group, number(g)) for g in range(FOUR)]
            first = [
                cell(0, number(0), g) if by_rows else cell(0, builder.mul(g, number(TILE))) for g in groups
            ]
            begin = cell(2, number(0), column)

            def step(i: Any, sums: Sums) -> Sums:
                for one in range(PAIR):
                    row = builder.add(i, number(one))
                    along = builder.mul(row, stride)
                    line, to = builder.gep(begin, [along]), along if by_rows else row
                    places = [builder.gep(line, [number(v * vector.count)]) for v in range(vectors)]
                    cells = [load(builder, place, vector) for place in places]
                    factors = (spread_from(builder, builder.gep(place, [to]), vector) for place in first)
                    sums = multiplied(builder, factors, cells, sums)
                return sums

            empty = [ir.Constant(vector, None)] * (FOUR * vectors)
            found = loop(builder, number(TILE), number, step, empty, PAIR)
            wide = ir.VectorType(ir.DoubleType(), vector.count)
            for s, value in enumerate(found):
                g, v = divmod(s, vectors)
                place = cell(4, groups[g], builder.add(column, number(v * vector.count)))
                more = value if vector == wide else builder.fpext(value, wide)
                store(builder, builder.fadd(load(builder, place, wide), more), place)
            return context.get_dummy_value()

        return types.void(factors, types.intp, tile, types.intp, sums), generate

    return cast(Any, intrinsic(emit))


def carrier(squares: bool) -> Any:
    """A row into a tile, with its squares, or with half the sum of these.

    Called with ``(rows, row, origin, w, tile, line, high)``:
    tile[line] = (rows[row] - origin[0]) - origin[1], or zeros where w[line] is 0, whatever stands in the row;
    from tile[line, high] on squares, or half the sum of these.

    Columns are more than a vector's. The last vector ends with the last column, and part of it may come twice.
    """

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        rows: Any,
        row: Any,  # noqa: ARG001
        origin: Any,
        w: Any,
        tile: Any,
        line: Any,  # noqa: ARG001
        high: Any,  # noqa: ARG001
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector, zero = vector_of(signature.args[4]), number(0)
            given = ir.VectorType(vector_of(signature.args[0]).element, vector.count)
            nothing, lanes = ir.Constant(vector, None), number(vector.count)
            line, high = arguments[5], arguments[6]
            places = [cell(0, arguments[1], zero), cell(2, zero, zero), cell(2, number(1), zero)]
            low, up = cell(4, line, zero), cell(4, line, high)
            there = builder.fcmp_unordered("!=", spread_from(builder, cell(3, line), vector), nothing)

            def step(j: Any, sums: Sums, new: Any = None) -> Sums:
                x, point, more = (
                    load(builder, builder.gep(place, [j]), kind)
                    for place, kind in zip(places, (given, vector, vector), strict=True)
                )
                x = x if given == vector else builder.fpext(x, vector)
                x = builder.select(there, builder.fsub(builder.fsub(x, point), more), nothing)
                store(builder, x, builder.gep(low, [j]))
                if squares:
                    store(builder, builder.fmul(x, x), builder.gep(up, [j]))
                    return sums
                x = x if new is None else builder.select(new, x, nothing)
                return [builder.fadd(sums[0], builder.fmul(x, x, flags=FREE), flags=FREE)]

            shape = context.make_array(signature.args[0])(context, builder, arguments[0]).shape
            last = builder.sub(builder.extract_value(shape, 1), lanes)
            sums = loop(builder, last, number, step, [] if squares else [nothing], vector.count)
            again = builder.trunc(
                builder.urem(builder.neg(last), lanes), SMALL
            )  # lanes of the last that came before
            new = builder.icmp_signed(
                ">=", order_of(range(vector.count)), spread(builder, again, vector.count)
            )
            sums = step(last, sums, new)
            if not squares:
                half = ir.Constant(vector.element, 0.5)
                builder.store(builder.fmul(half, across(builder, sums[0])), up)
            return context.get_dummy_value()

        whole = types.intp
        return types.void(rows, whole, origin, w, tile, whole, whole), generate

    return cast(Any, intrinsic(emit))
