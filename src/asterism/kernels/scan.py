"""Few columns: rows as vector lanes, past all centres, with the best two scores in registers.

A tile has its columns one under the other, so that eight rows lie side by side in each:

    ``turn_eight``   eight rows from anywhere become lanes, eight columns at a time
    ``scan_rows``    sixteen rows against all centres, four at a time; nothing is written but who is nearest

Numba would write all scores down and read them again, so the instructions are given here one by one, as in
``kernels.panels``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic

from asterism.kernels.instructions import lanes_from, load_some, numbers_and_cells, order_of, spread

LANES = 8  # of a vector
ROWS = 2 * LANES  # that pass by together
CENTERS = 4  # that they pass at a time
COLUMNS = 2  # taken in one round
FREE = ("contract",)  # a multiply and an add may become one instruction

FLOATS = ir.VectorType(ir.FloatType(), LANES)
WHOLES = ir.VectorType(ir.IntType(32), LANES)


# --- turn -------------------------------------------------------------------------------------------------------


def _emit_turn(
    typing: Any,  # noqa: ARG001  as Numba calls it
    rows: Any,
    pick: Any,
    first: Any,  # noqa: ARG001
    shift: Any,
    tile: Any,
    pitch: Any,  # noqa: ARG001
) -> Any:
    """Instructions of ``turn_eight``: a loop over eight columns, and those that are left."""
    whole = types.intp

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        zero, first, pitch = number(0), arguments[2], arguments[5]
        shape = context.make_array(signature.args[0])(context, builder, arguments[0]).shape
        d = builder.extract_value(shape, 1)
        row = [cell(0, builder.load(cell(1, builder.add(first, number(i)))), zero) for i in range(LANES)]
        origin, scale = cell(3, zero), spread(builder, builder.load(cell(3, d)), LANES)
        out = cell(4, first)

        def turn(j: Any, keep: Any = None) -> None:
            def eight(place: Any) -> Any:
                place = builder.gep(place, [j])
                kind = ir.VectorType(place.type.pointee, LANES)
                place = builder.bitcast(place, kind.as_pointer())
                return builder.load(place, align=4) if keep is None else load_some(builder, place, kind, keep)

            start, lines = eight(origin), []
            for place in row:
                y = builder.fmul(builder.fsub(eight(place), start), scale)
                lines.append(y if y.type == FLOATS else builder.fptrunc(y, FLOATS))
            for c, column in enumerate(_turned(builder, lines)):
                place = builder.gep(out, [builder.mul(builder.add(j, number(c)), pitch)])
                builder.store(column, builder.bitcast(place, FLOATS.as_pointer()), align=4)

        before = builder.block
        body, tail, left, done = (
            builder.append_basic_block(name) for name in ("eights", "tail", "left", "turned")
        )
        most = builder.and_(d, number(-LANES))
        builder.cbranch(builder.icmp_signed(">", most, zero), body, tail)
        builder.position_at_end(body)
        j = builder.phi(d.type)
        turn(j)
        following = builder.add(j, number(LANES))
        j.add_incoming(zero, before)
        j.add_incoming(following, body)
        builder.cbranch(builder.icmp_signed("<", following, most), body, tail)
        builder.position_at_end(tail)
        builder.cbranch(builder.icmp_signed("<", most, d), left, done)
        builder.position_at_end(left)
        turn(most, builder.icmp_signed("<", lanes_from(builder, most, LANES), spread(builder, d, LANES)))
        builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.void(rows, pick, whole, shift, tile, whole), generate


def _turned(builder: Any, lines: Sequence[Any]) -> list[Any]:
    """Eight lines of eight as eight columns."""

    def pairs(some: Sequence[Any], apart: int, orders: Sequence[Sequence[int]]) -> list[Any]:
        """Lines that are so far apart, two and two."""
        out: list[Any] = [None] * LANES
        for i in range(LANES):
            if not i & apart:
                for k, order in enumerate(orders):
                    out[i + k * apart] = builder.shuffle_vector(some[i], some[i + apart], order_of(order))
        return out

    lines = pairs(lines, 1, ((0, 8, 2, 10, 4, 12, 6, 14), (1, 9, 3, 11, 5, 13, 7, 15)))
    lines = pairs(lines, 2, ((0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)))
    return pairs(lines, 4, ((0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)))


# --- scan -------------------------------------------------------------------------------------------------------


def _emit_scan(
    typing: Any,  # noqa: ARG001  as Numba calls it
    tile: Any,
    pitch: Any,  # noqa: ARG001
    first: Any,  # noqa: ARG001
    panels: Any,
    pair: Any,
    names: Any,
) -> Any:
    """Instructions of ``scan_rows``: a loop over panels around a loop over columns."""
    whole = types.intp

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        zero, pitch, first = number(0), arguments[1], arguments[2]
        shape = context.make_array(signature.args[3])(context, builder, arguments[3]).shape
        count, width = (
            builder.extract_value(shape, 0),
            builder.sub(builder.extract_value(shape, 1), number(1)),
        )
        infinite = ir.Constant(FLOATS, [ir.Constant(ir.FloatType(), float("inf"))] * LANES)
        before = builder.block
        panel = builder.append_basic_block("panels")
        builder.branch(panel)
        builder.position_at_end(panel)
        g = builder.phi(count.type)
        best, second = ([builder.phi(FLOATS) for _ in range(2)] for _ in range(2))
        name = [builder.phi(WHOLES) for _ in range(2)]
        sums = _sum_columns(builder, number, cell(0, first), pitch, cell(3, g, zero, zero), width)
        after = builder.block
        state = [best, second, name]
        base = builder.trunc(builder.mul(g, number(CENTERS)), ir.IntType(32))
        for c in range(CENTERS):
            who = spread(builder, builder.add(base, ir.IntType(32)(c)), LANES)
            state = _meet(builder, state, sums[c], who)
        following = builder.add(g, number(1))
        g.add_incoming(zero, before)
        g.add_incoming(following, after)
        starts = (infinite, infinite, ir.Constant(WHOLES, None))
        for phis, now, start in zip((best, second, name), state, starts, strict=True):
            for phi, value in zip(phis, now, strict=True):
                phi.add_incoming(start, before)
                phi.add_incoming(value, after)
        done = builder.append_basic_block("scanned")
        builder.cbranch(builder.icmp_signed("<", following, count), panel, done)
        builder.position_at_end(done)
        places = cell(4, zero, first), cell(4, number(1), first), cell(5, first)
        for now, place in zip(state, places, strict=True):
            for half, value in enumerate(now):
                there = builder.gep(place, [number(half * LANES)])
                builder.store(value, builder.bitcast(there, value.type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(tile, whole, whole, panels, pair, names), generate


def _sum_columns(
    builder: Any, number: Callable[[int], Any], tile: Any, pitch: Any, panel: Any, width: Any
) -> list[list[Any]]:
    """sums[c][half] = constant_c + sum_j slope_cj y_j, as a loop with all sums in registers."""

    def slopes(line: Any) -> list[Any]:
        first = builder.mul(line, number(CENTERS))
        places = [builder.gep(panel, [builder.add(first, number(c))]) for c in range(CENTERS)]
        return [spread(builder, builder.load(place), LANES) for place in places]

    start = slopes(number(0))
    before = builder.block
    body, after = builder.append_basic_block("columns"), builder.append_basic_block("summed")
    builder.branch(body)
    builder.position_at_end(body)
    j = builder.phi(width.type)
    begun = [[builder.phi(FLOATS) for _ in range(2)] for _ in range(CENTERS)]
    sums = [list(line) for line in begun]
    for step in range(COLUMNS):
        column = builder.add(j, number(step))
        at = builder.gep(tile, [builder.mul(column, pitch)])
        places = [builder.gep(at, [number(half * LANES)]) for half in range(2)]
        y = [builder.load(builder.bitcast(place, FLOATS.as_pointer()), align=4) for place in places]
        for c, slope in enumerate(slopes(builder.add(column, number(1)))):
            for half in range(2):
                term = builder.fmul(slope, y[half], flags=FREE)
                sums[c][half] = builder.fadd(sums[c][half], term, flags=FREE)
    following = builder.add(j, number(COLUMNS))
    builder.cbranch(builder.icmp_signed("<", following, width), body, after)
    j.add_incoming(number(0), before)
    j.add_incoming(following, body)
    for c in range(CENTERS):
        for half in range(2):
            begun[c][half].add_incoming(start[c], before)
            begun[c][half].add_incoming(sums[c][half], body)
    builder.position_at_end(after)
    return sums


def _meet(builder: Any, state: Sequence[Sequence[Any]], scores: Sequence[Any], who: Any) -> list[list[Any]]:
    """The best and second score and the name of the best, after one more centre; the first of equals stays."""
    out: list[list[Any]] = [[], [], []]
    for best, second, name, score in zip(*state, scores, strict=True):
        wins = builder.fcmp_ordered("<", score, best)
        loser = builder.select(builder.fcmp_ordered("<", best, score), score, best)
        out[0].append(builder.select(wins, score, best))
        out[1].append(builder.select(builder.fcmp_ordered("<", loser, second), loser, second))
        out[2].append(builder.select(wins, who, name))
    return out


# Rows pick[first : first + 8] become lanes first : first + 8 of the tile: (x - origin) * scale of column j at
# tile[j * pitch], and zeros up to the next eighth column.
#   rows (n, d) float32 or float64     pick (m,) int64     shift (d + 1,) as rows     tile (columns * pitch,) float32
turn_eight = cast(Callable[[Any, Any, int, Any, Any, int], None], intrinsic(_emit_turn))

# Of lanes first : first + 16 of the tile: pair[:, first : first + 16] the least and second least score, names the
# centre that has the least.
#   tile (columns * pitch,) float32    panels (p, 1 + columns, CENTERS) float32, columns even
#   pair (2, m) float32                names (m,) int32
scan_rows = cast(Callable[[Any, int, int, Any, Any, Any], None], intrinsic(_emit_scan))
