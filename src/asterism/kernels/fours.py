"""Four rows against two centres: the product of wide rows with few centres, and their squares.

Vector lanes are columns. All sums stay in registers, and while they are taken one of the rows that come next is asked
for, a cache line at a time: memory that is asked for in bursts is late. Numba makes no such loop, so its instructions
are given here one by one, as in ``kernels.panels``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic

from asterism.kernels.instructions import numbers_and_cells
from asterism.kernels.prefetch import DATA, LINE, READ, SECOND_CACHE

ROWS, CENTERS = 4, 2
LANES = 8  # of a vector
STEP = 2 * LANES  # columns of a round: a cache line of float32
FREE = ("contract",)  # a multiply and an add may become one instruction

Sums = list[list[Any]]  # of a row: with both centres, and perhaps with itself


def _emitter(squares: bool) -> Any:
    """What Numba asks for the instructions of ``dot_four``, or with the rows' squares, of ``dot_and_square_four``."""

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        lines: Any,
        four: Any,
        slopes: Any,
        center: Any,  # noqa: ARG001
        scores: Any,
        norms: Any,
        rows: Any,
        coming: Any,  # noqa: ARG001
    ) -> Any:
        whole = types.intp

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            zero, first = number(0), arguments[3]
            table = context.make_array(signature.args[0])(context, builder, arguments[0])
            row = [cell(0, builder.load(cell(1, number(i))), zero) for i in range(ROWS)]
            slope = [cell(2, builder.add(first, number(c)), zero) for c in range(CENTERS)]
            byte = ir.IntType(8).as_pointer()
            ahead = builder.bitcast(cell(6, arguments[7], zero), byte)
            lines_a_step = STEP * signature.args[6].dtype.bitwidth // (8 * LINE)
            width = builder.extract_value(table.shape, 1)
            sums = _sum_columns(builder, row, slope, ahead, lines_a_step, width, number, squares)
            for i, mine in enumerate(sums):
                places = [cell(4, builder.add(first, number(c)), number(i)) for c in range(CENTERS)]
                for total, place in zip(mine, [*places, cell(5, number(i))], strict=False):
                    builder.store(_across(builder, total), place)
            return context.get_dummy_value()

        return types.void(lines, four, slopes, whole, scores, norms, rows, whole), generate

    return emit


def _sum_columns(
    builder: Any, row: Sequence[Any], slope: Sequence[Any], ahead: Any, lines: int, width: Any,
    number: Callable[[int], Any], squares: bool,
) -> Sums:  # fmt: skip
    """Sums over all columns, as a loop over steps, and a last step for the columns that are left."""
    vector = ir.VectorType(ir.FloatType(), LANES)
    nothing = ir.Constant(vector, None)
    kinds = CENTERS + squares

    def eight(place: Any, column: Any) -> Any:
        cells = builder.gep(place, [column])
        kind = ir.VectorType(cells.type.pointee, LANES)
        value = builder.load(builder.bitcast(cells, kind.as_pointer()), align=4)
        return value if kind == vector else builder.fptrunc(value, vector)

    def add(sums: Sums, column: Any, keep: Any = None) -> Sums:
        def kept(value: Any) -> Any:
            return value if keep is None else builder.select(keep, value, nothing)

        factors, out = [kept(eight(place, column)) for place in slope], []
        for mine, place in zip(sums, row, strict=True):
            y = eight(place, column)
            with_what = [*factors, kept(y)][:kinds]
            terms = [builder.fmul(y, other, flags=FREE) for other in with_what]
            out.append([builder.fadd(s, term, flags=FREE) for s, term in zip(mine, terms, strict=True)])
        return out

    def phis() -> Sums:
        return [[builder.phi(vector) for _ in range(kinds)] for _ in row]

    def join(into: Sums, sums: Sums, block: Any) -> None:
        for mine, theirs in zip(into, sums, strict=True):
            for phi, value in zip(mine, theirs, strict=True):
                phi.add_incoming(value, block)

    before = builder.block
    body, left, done = (builder.append_basic_block(name) for name in ("columns", "left", "summed"))
    whole_steps = builder.and_(width, number(-STEP))
    builder.branch(body)
    builder.position_at_end(body)
    j, begun = builder.phi(width.type), phis()
    sums = add(begun, j)
    for line in range(lines):
        at = builder.add(builder.mul(j, number(lines * LINE // STEP)), number(line * LINE))
        _ask_for(builder, builder.gep(ahead, [at]))
    sums = add(sums, builder.add(j, number(LANES)))
    following = builder.add(j, number(STEP))
    more = builder.icmp_signed("<", following, whole_steps)
    tail = builder.append_basic_block("tail")
    builder.cbranch(more, body, tail)
    j.add_incoming(number(0), before)
    j.add_incoming(following, body)
    join(begun, [[nothing] * kinds for _ in row], before)
    join(begun, sums, body)
    builder.position_at_end(tail)
    builder.cbranch(builder.icmp_signed("<", whole_steps, width), left, done)
    # The last step ends with the last column: of its lanes those count that no step has had.
    builder.position_at_end(left)
    last, rest = builder.sub(width, number(STEP)), sums
    for half in range(2):
        start = builder.add(last, number(half * LANES))
        lane = builder.add(_spread(builder, start), _order(range(LANES), 64))
        keep = builder.icmp_signed(">=", lane, _spread(builder, whole_steps))
        rest = add(rest, start, keep)
    builder.branch(done)
    builder.position_at_end(done)
    total = phis()
    join(total, sums, tail)
    join(total, rest, left)
    return total


def _ask_for(builder: Any, place: Any) -> None:
    number = ir.IntType(32)
    form = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
    ask = builder.module.declare_intrinsic("llvm.prefetch", (place.type,), form)
    builder.call(ask, [place, number(READ), number(SECOND_CACHE), number(DATA)])


def _order(places: Any, bits: int = 32) -> Any:
    places = list(places)
    return ir.Constant(ir.VectorType(ir.IntType(bits), len(places)), places)


def _spread(builder: Any, value: Any) -> Any:
    """A number in all lanes."""
    empty = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    first = builder.insert_element(empty, value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, empty, _order([0] * LANES))


def _across(builder: Any, value: Any) -> Any:
    """The sum of all lanes, by halves."""
    n = LANES
    while n > 1:
        n //= 2
        low, high = (builder.shuffle_vector(value, value, _order(range(p, p + n))) for p in (0, n))
        value = builder.fadd(low, high)
    return builder.extract_element(value, ir.IntType(32)(0))


# Of the four rows ``lines[four]``: scores[center] and scores[center + 1], their products with these slopes, over as
# many columns as lines have, 16 at the least. Meanwhile rows[coming] arrives.
#   lines  (n, width) float32 or float64      four  (4,) int64           slopes (k, width or more) float32
#   scores (k, 4) float32                     norms (4,) float32         rows   (n, d)
dot_four = cast(Callable[..., None], intrinsic(_emitter(squares=False)))
# As well: norms, their products with themselves.
dot_and_square_four = cast(Callable[..., None], intrinsic(_emitter(squares=True)))
