"""Rows from anywhere against a panel of sixteen centres: the product that bounds leave over.

A panel holds its centres side by side, so that vector lanes are centres:

    panel = (constants | slopes of column 0 | slopes of column 1 | ...)        each of LANES numbers

Four rows at a time are multiplied with it. A row's cell goes to all lanes, so rows need not be next to each other and
nothing is gathered; all eight sums stay in registers. Numba makes no vectors of such a loop, so its instructions are
given here one by one; they are those of any processor, which the compiler turns into what it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.instructions import numbers_and_cells
from asterism.kernels.scores import TILE

LANES = 16  # centres of a panel
ROWS = 4  # that are multiplied together
HALF = 8  # lanes of a vector, two of which are a panel
COLUMNS = 2  # taken in one round
FREE = ("contract",)  # a multiply and an add may become one instruction


def panels_of(slopes: NDArray[np.float32], missing: bool, lanes: int = LANES) -> NDArray[np.float32]:
    """(panels, 1 + columns, lanes) of (k, d + 1) slopes, the constants last, or of (k, 2 d) without constants.

    The number of columns is even, zeros added. Lanes without a centre are infinitely far away.
    """
    k, width = slopes.shape
    d = width if missing else width - 1
    out = np.zeros((-(-k // lanes), 1 + d + d % COLUMNS, lanes), np.float32)
    lines, constants = np.zeros((len(out) * lanes, d), np.float32), np.full(len(out) * lanes, np.inf)
    lines[:k], constants[:k] = slopes[:, :d], 0.0 if missing else slopes[:, d]
    out[:, 0] = constants.reshape(-1, lanes)
    out[:, 1 : d + 1] = lines.reshape(-1, lanes, d).transpose(0, 2, 1)
    return out


def _emit(
    typing: Any,  # noqa: ARG001  as Numba calls it
    lines: Any,
    listed: Any,
    first: Any,  # noqa: ARG001
    panel: Any,
    scores: Any,
    names: Any,
) -> Any:
    """Instructions of ``nearest_of_panel``: sums over columns, then the least and second least of each row."""
    whole = types.intp

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        zero, first = number(0), arguments[2]
        table = context.make_array(signature.args[3])(context, builder, arguments[3])
        width = builder.sub(builder.extract_value(table.shape, 0), number(1))
        rows = [cell(0, builder.load(cell(1, builder.add(first, number(i)))), zero) for i in range(ROWS)]
        sums = _sum_columns(builder, rows, cell(3, zero, zero), width, number)
        best, second, name = least_two(builder, [v for half in range(2) for v in turn(builder, sums, half)])
        places = cell(4, zero, first), cell(4, number(1), first), cell(5, first)
        for value, place in zip((best, second, name), places, strict=True):
            builder.store(value, builder.bitcast(place, value.type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(lines, listed, whole, panel, scores, names), generate


def _sum_columns(
    builder: Any, row: Sequence[Any], slope: Any, width: Any, number: Callable[[int], Any]
) -> Any:
    """sums[i][half] = constants + sum_j y_ij slopes_j, as a loop with all sums in registers."""
    vector = ir.VectorType(ir.FloatType(), HALF)

    def lanes(line: Any, half: int) -> Any:
        place = builder.gep(slope, [builder.add(builder.mul(line, number(LANES)), number(half * HALF))])
        return builder.load(builder.bitcast(place, vector.as_pointer()), align=4)

    start = [lanes(number(0), half) for half in range(2)]
    before = builder.block
    body, after = builder.append_basic_block("columns"), builder.append_basic_block("summed")
    builder.branch(body)
    builder.position_at_end(body)
    j = builder.phi(width.type)
    begun = [[builder.phi(vector) for _ in range(2)] for _ in row]
    sums = [list(line) for line in begun]
    for step in range(COLUMNS):
        column = builder.add(j, number(step))
        slopes = [lanes(builder.add(column, number(1)), half) for half in range(2)]
        for i, cells in enumerate(row):
            y = _spread(builder, builder.load(builder.gep(cells, [column])), vector)
            for half in range(2):
                term = builder.fmul(y, slopes[half], flags=FREE)
                sums[i][half] = builder.fadd(sums[i][half], term, flags=FREE)
    following = builder.add(j, number(COLUMNS))
    builder.cbranch(builder.icmp_signed("<", following, width), body, after)
    j.add_incoming(number(0), before)
    j.add_incoming(following, body)
    for i in range(len(row)):
        for half in range(2):
            begun[i][half].add_incoming(start[half], before)
            begun[i][half].add_incoming(sums[i][half], body)
    builder.position_at_end(after)
    return sums


def _order(places: Iterable[int]) -> Any:
    places = list(places)
    return ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)


def _spread(builder: Any, value: Any, vector: Any) -> Any:
    """A number in all lanes."""
    empty = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(empty, value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, empty, _order([0] * HALF))


def turn(builder: Any, sums: Sequence[Sequence[Any]], half: int) -> list[Any]:
    """Eight centres of four rows, turned: vector c has centre c of all four rows, then centre c + 4 of them."""
    four = [line[half] for line in sums]
    pairs = [
        builder.shuffle_vector(four[i], four[i + 1], _order(order))
        for i in (0, 2)
        for order in ((0, 8, 1, 9, 4, 12, 5, 13), (2, 10, 3, 11, 6, 14, 7, 15))
    ]
    return [
        builder.shuffle_vector(pairs[p], pairs[p + 2], _order(order))
        for p in (0, 1)
        for order in ((0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15))
    ]


def least_two(builder: Any, turned: Sequence[Any]) -> Any:
    """The least score of each of four rows, the second least, and which was least: a knock-out of two and two."""

    def less(a: Any, b: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", a, b), a, b)

    def more(a: Any, b: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", a, b), a, b)

    def meet(a: Any, b: Any) -> Any:
        name = builder.select(builder.fcmp_ordered("<", b[0], a[0]), b[2], a[2])
        loser = more(b[0], a[0])
        second = loser if a[1] is None else less(loser, less(b[1], a[1]))
        return less(b[0], a[0]), second, name

    def half(v: Any, h: int) -> Any:
        return builder.shuffle_vector(v, v, _order(range(h, h + ROWS)))

    field = []
    for which, score in enumerate(turned):
        c = which // ROWS * HALF + which % ROWS
        field.append((score, None, _order([c] * ROWS + [c + ROWS] * ROWS)))
    while len(field) > 1:
        field = [meet(a, b) for a, b in zip(field[::2], field[1::2], strict=True)]
    left, right = (tuple(half(v, h) for v in field[0]) for h in (0, ROWS))
    return meet(left, right)


# Of the four rows listed[first : first + 4]: scores[:, first : first + 4] the least and second least score with the
# centres of a panel, names[first : first + 4] the lane of the least.
#   lines  (rows, columns) float32        listed  (m,) int64             panel  (1 + columns, LANES) float32
#   scores (2, m) float32                 names   (m,) int32
nearest_of_panel = cast(Callable[[Any, Any, int, Any, Any, Any], None], intrinsic(_emit))


def _emit_scores(typing: Any, line: Any, panel: Any, scores: Any) -> Any:  # noqa: ARG001  as Numba calls it
    """Instructions of ``scores_of_panel``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        zero = number(0)
        table = context.make_array(signature.args[1])(context, builder, arguments[1])
        width = builder.sub(builder.extract_value(table.shape, 0), number(1))
        [sums] = _sum_columns(builder, [cell(0, zero)], cell(1, zero, zero), width, number)
        for half, value in enumerate(sums):
            place = cell(2, number(half * HALF))
            builder.store(value, builder.bitcast(place, value.type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(line, panel, scores), generate


# scores (LANES,) float32 of a row, line (columns,) float32, with the centres of a panel.
scores_of_panel = cast(Callable[[Any, Any, Any], None], intrinsic(_emit_scores))


@kernel
def add_scores(
    line: NDArray[np.float32],  # (columns,) in: y of a row
    panels: NDArray[np.float32],  # (p, 1 + columns, LANES) in
    scores: NDArray[np.float32],  # (p LANES, TILE) as they lie: the first column out
) -> None:
    """All scores of a row, for the few rows that need them."""
    total = np.empty(LANES, np.float32)
    for g in range(len(panels)):
        scores_of_panel(line, panels[g], total)
        for c in range(LANES):
            scores[(g * LANES + c) * TILE] = total[c]
