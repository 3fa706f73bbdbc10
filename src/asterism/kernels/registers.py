"""Instructions of products with all sums in registers.

Numba makes no such loops, so their instructions are given one by one; they are those of any processor, in vectors as
long as it has (``kernels.vectors``).

``scorer``, ``halver``, ``normer`` and ``summer`` return functions for kernels to call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic

from asterism.kernels.instructions import apart, extent, numbers_and_cells
from asterism.kernels.prefetch import after, ask_for
from asterism.kernels.vectors import (
    FOUR,
    FREE,
    SLAB,
    Sums,
    load,
    loop,
    multiplied,
    spread_from,
    store,
    vector_of,
    vectors_at,
)

# What a line has for a row: slopes, not all of them, or something besides.
PLAIN, LOWER, HALVES, SQUARES = 0, 1, 2, 3


def scorer(form: int, often: int) -> Any:
    """Products of all lines with a slab of turned rows.

    Called with ``(lines, turned, row, depth, out, to, rows, ahead)``, for all lines c, rows i of a slab:
    out[c, to + i] = sum over j < depth of lines[c, j] turned[j, row + i], more by the last cell of the line; with
    HALVES also by lines[c, depth] turned[depth, row + i], with SQUARES by lines[c, depth + j] turned[j, row + i]^2;
    with LOWER there is nothing right of the diagonal but in its four. Columns come in fours, and so do lines.

    After every so many columns (``often``) it asks for a cache line of the rows from ``ahead`` on, so that they come
    while there is much to do: the processor sees no pattern in how rows are turned, and waiting for them took a tenth
    of the time. A slab of rows is as many cache lines as it has columns.
    """

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        lines: Any,
        turned: Any,
        row: Any,  # noqa: ARG001
        depth: Any,  # noqa: ARG001
        out: Any,
        to: Any,  # noqa: ARG001
        rows: Any,
        ahead: Any,  # noqa: ARG001
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            row, depth, to, ahead = (arguments[i] for i in (2, 3, 5, 7))
            vector, next_rows = vector_of(signature.args[1]), cell(6, ahead, number(0))
            high, length, stride = (
                extent(context, builder, signature, arguments, *which) for which in ((0, 0), (0, 1), (1, 1))
            )
            begin = cell(1, number(0), row)

            def four(line: Any, asked: Sums) -> Sums:
                columns = builder.add(line, number(FOUR)) if form == LOWER else depth
                asking = _Asking(after(builder, next_rows, asked[0]), often)
                first = [cell(0, builder.add(line, number(c)), number(0)) for c in range(FOUR)]
                found = _times_slab(builder, first, length, begin, stride, columns, vector, form, asking)
                for s, value in enumerate(found):
                    c, v = divmod(s, SLAB)
                    at = builder.add(to, number(v * vector.count))
                    store(builder, value, cell(4, builder.add(line, number(c)), at))
                return [builder.add(asked[0], builder.udiv(columns, number(often)))]

            loop(builder, high, number, four, [number(0)], FOUR)
            return context.get_dummy_value()

        whole = types.intp
        kinds = lines, turned, whole, whole, out, whole, rows, whole
        return types.void(*kinds), apart(f"score{form}{often}", generate)

    return cast(Any, intrinsic(emit))


class _Asking(NamedTuple):
    """Cache lines that are asked for during a product."""

    place: Any  # from here on
    often: int  # after so many columns


def halver() -> Any:
    """Half the squares of a slab of turned rows.

    Called with ``(turned, depth, to, at)``, for the rows i of a slab: turned[to, at + i] = sum over j < depth of
    turned[j, at + i]^2 / 2. Columns come in fours.
    """

    def emit(typing: Any, turned: Any, depth: Any, to: Any, at: Any) -> Any:  # noqa: ARG001  as Numba calls it
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector, (depth, to, at) = vector_of(signature.args[0]), arguments[1:]
            stride, begin = extent(context, builder, signature, arguments, 0, 1), cell(0, number(0), at)

            def step(j: Any, sums: Sums) -> Sums:
                lines = [builder.mul(builder.add(j, number(c)), stride) for c in range(FOUR)]
                x = [v for a in lines for v in vectors_at(builder, builder.gep(begin, [a]), SLAB, vector)]
                terms = [builder.fmul(value, value, flags=FREE) for value in x]
                return [builder.fadd(s, term, flags=FREE) for s, term in zip(sums, terms, strict=True)]

            nothing, half = ir.Constant(vector, None), ir.Constant(vector, [0.5] * vector.count)
            sums = loop(builder, depth, number, step, [nothing] * (FOUR * SLAB), FOUR)
            for v in range(SLAB):
                total = builder.fadd(
                    builder.fadd(sums[v], sums[v + SLAB]),
                    builder.fadd(sums[v + 2 * SLAB], sums[v + 3 * SLAB]),
                )
                place = cell(0, to, builder.add(at, number(v * vector.count)))
                store(builder, builder.fmul(half, total), place)
            return context.get_dummy_value()

        whole = types.intp
        return types.void(turned, whole, whole, whole), generate

    return cast(Any, intrinsic(emit))


def normer() -> Any:
    """Squares of a product of four lines with a slab of turned rows, taken from what is there.

    Called with ``(lines, line, turned, row, depth, out, to)``, for the rows i of a slab: out[to + i] -= sum over
    c = 0 .. 3 of y^2 / 2, y = sum over j < depth of lines[line + c, j] turned[j, row + i], more by the last cell of
    the line.
    """

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        lines: Any,
        line: Any,  # noqa: ARG001
        turned: Any,
        row: Any,  # noqa: ARG001
        depth: Any,  # noqa: ARG001
        out: Any,
        to: Any,  # noqa: ARG001
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector, (line, row, depth) = vector_of(signature.args[2]), (arguments[i] for i in (1, 3, 4))
            length, stride = (extent(context, builder, signature, arguments, which, 1) for which in (0, 2))
            first = [cell(0, builder.add(line, number(c)), number(0)) for c in range(FOUR)]
            found = _times_slab(builder, first, length, cell(2, number(0), row), stride, depth, vector)
            half = ir.Constant(vector, [-0.5] * vector.count)
            for v in range(SLAB):
                place = cell(5, builder.add(arguments[6], number(v * vector.count)))
                total = builder.fmul(found[v], found[v], flags=FREE)
                for value in found[v + SLAB :: SLAB]:
                    total = builder.fadd(total, builder.fmul(value, value, flags=FREE), flags=FREE)
                less = builder.fmul(half, total, flags=FREE)
                store(builder, builder.fadd(load(builder, place, vector), less, flags=FREE), place)
            return context.get_dummy_value()

        whole = types.intp
        return types.void(lines, whole, turned, whole, whole, out, whole), generate

    return cast(Any, intrinsic(emit))


def _times_slab(
    builder: Any,
    lines: Sequence[Any],  # where four of them begin
    length: Any,  # their cells
    begin: Any,  # of the slab
    stride: Any,  # from column to column of it
    depth: Any,  # columns, in fours
    vector: Any,
    form: int = PLAIN,
    asking: _Asking | None = None,
) -> Sums:
    """Four lines times a slab, line by line: see ``scorer``."""
    number = depth.type

    def rows_of(j: Any) -> list[Any]:
        return vectors_at(builder, builder.gep(begin, [builder.mul(j, stride)]), SLAB, vector)

    def times(j: Any, x: list[Any], sums: Sums) -> Sums:
        return multiplied(builder, (spread_from(builder, line, j, vector) for line in lines), x, sums)

    def column(j: Any, sums: Sums) -> Sums:
        x = rows_of(j)
        sums = times(j, x, sums)
        if form != SQUARES:
            return sums
        return times(builder.add(j, depth), [builder.fmul(value, value) for value in x], sums)

    several = 2 if form == SQUARES else FOUR  # columns, written one after the other

    def step(j: Any, sums: Sums) -> Sums:
        for c in range(several):
            here = builder.add(j, number(c))
            if asking is not None and c % asking.often == 0:
                ask_for(builder, after(builder, asking.place, builder.udiv(here, number(asking.often))))
            sums = column(here, sums)
        return sums

    last = builder.sub(length, number(1))
    starts = [spread_from(builder, line, last, vector) for line in lines]
    sums = [start for start in starts for _ in range(SLAB)]
    if form == HALVES:
        sums = times(depth, rows_of(depth), sums)
    return loop(builder, depth, number, step, sums, several)


def summer(lines: int) -> Any:
    """A product of some lines of shares with one to three vectors of columns, over some rows of a tile.

    Called with ``(shares, line, tile, column, first, last, vectors, squares, sums, to)``, for c below ``lines`` and
    as many columns as the vectors have: sums[line + c, to ...] += sum over i from first to last of
    shares[line + c, i] times tile[i, column ...], or times squares of these. Rows come in fours.
    """

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        shares: Any,
        line: Any,  # noqa: ARG001
        tile: Any,
        column: Any,  # noqa: ARG001
        first: Any,  # noqa: ARG001
        last: Any,  # noqa: ARG001
        vectors: Any,  # noqa: ARG001
        squares: Any,  # noqa: ARG001
        sums: Any,
        to: Any,  # noqa: ARG001
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector, (line, column, to) = vector_of(signature.args[2]), (arguments[i] for i in (1, 3, 9))
            stride = extent(context, builder, signature, arguments, 2, 1)
            own = [builder.add(line, number(c)) for c in range(lines)]
            lines_of = [cell(0, c, arguments[4]) for c in own]
            begin, depth = cell(2, arguments[4], column), builder.sub(arguments[5], arguments[4])
            wide = ir.VectorType(ir.DoubleType(), vector.count)

            def add(vectors: int, squares: bool) -> None:
                def row(i: Any, sums: Sums) -> Sums:
                    x = vectors_at(builder, builder.gep(begin, [builder.mul(i, stride)]), vectors, vector)
                    x = [builder.fmul(value, value) for value in x] if squares else x
                    factors = (spread_from(builder, place, i, vector) for place in lines_of)
                    return multiplied(builder, factors, x, sums)

                def step(i: Any, sums: Sums) -> Sums:
                    for more in range(FOUR):
                        sums = row(builder.add(i, number(more)), sums)
                    return sums

                empty = [ir.Constant(vector, None)] * (lines * vectors)
                for s, value in enumerate(loop(builder, depth, number, step, empty, FOUR)):
                    c, v = divmod(s, vectors)
                    place = cell(8, own[c], builder.add(to, number(v * vector.count)))
                    value = value if vector == wide else builder.fpext(value, wide)
                    store(builder, builder.fadd(load(builder, place, wide), value), place)

            for some in (1, 2, 3):
                here = builder.icmp_signed("==", arguments[6], number(some))
                for squares, there in ((True, arguments[7]), (False, builder.not_(arguments[7]))):
                    with builder.if_then(builder.and_(here, there)):
                        add(some, squares)
            return context.get_dummy_value()

        whole = types.intp
        return types.void(shares, whole, tile, *[whole] * 4, types.boolean, sums, whole), generate

    return cast(Any, intrinsic(emit))
