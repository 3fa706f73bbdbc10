"""One row leaves a group and comes into another: both exact sums, and both distances, in one reading.

Vector lanes are columns. Four of them are taken through everything there is to do, so that nothing is written down on
the way; Numba makes loops of its own for short rows, which take longer than the work in them. So the instructions are
given here one by one, as in ``kernels.panels``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic

from asterism.kernels.instructions import lanes_from, load_some, numbers_and_cells, spread

LANES = 4  # of a vector
FREE = ("contract",)  # a multiply and an add may become one instruction

VECTOR = ir.VectorType(ir.DoubleType(), LANES)
NOTHING = ir.Constant(VECTOR, None)


def _emitter(leaving: bool) -> Any:
    """What Numba asks for the instructions of ``enter``, or of ``change``."""

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        row: Any,
        weight: Any,  # noqa: ARG001
        reference: Any,
        centers: Any,
        old: Any,  # noqa: ARG001
        new: Any,  # noqa: ARG001
        grid: Any,
        table: Any,
        one: Any,  # noqa: ARG001
    ) -> Any:
        whole, real = types.intp, types.float64

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            zero = number(0)
            shape = context.make_array(signature.args[0])(context, builder, arguments[0]).shape
            d = builder.extract_value(shape, 0)

            groups = [arguments[5], arguments[4]][: 1 + leaving]
            return _sum_columns(
                builder,
                number,
                d,
                arguments[8],
                cell(0, zero),
                arguments[1],
                cell(2, zero),
                [cell(3, g, zero) for g in groups],
                [cell(6, number(i), zero) for i in range(2)],
                [[cell(7, g, number(part), zero) for part in range(2)] for g in groups],
            )

        return real(row, real, reference, centers, whole, whole, grid, table, whole), generate

    return emit


def _sum_columns(
    builder: Any, number: Callable[[int], Any], d: Any, one: Any, row: Any, weight: Any, reference: Any,
    centers: list[Any], grid: list[Any], sums: list[list[Any]],
) -> Any:  # fmt: skip
    """Columns four by four, as a loop, and those that are left; the sum of what they give."""
    w = spread(builder, weight, LANES)

    def four(place: Any, j: Any, keep: Any) -> Any:
        """Four numbers from column j on, in float64; those not kept are 0."""
        place = builder.gep(place, [j])
        kind = ir.VectorType(place.type.pointee, LANES)
        place = builder.bitcast(place, kind.as_pointer())
        value = builder.load(place, align=4) if keep is None else load_some(builder, place, kind, keep)
        return value if kind == VECTOR else builder.fpext(value, VECTOR)

    def add(total: Any, j: Any, keep: Any = None, count: Any = None) -> Any:
        y = builder.fsub(four(row, j, keep), four(reference, j, keep))
        seen = builder.fcmp_ordered("ord", y, y)
        for which, center in enumerate(centers):
            z = builder.select(seen, builder.fsub(y, four(center, j, keep)), NOTHING)
            square = builder.fmul(z, z, flags=FREE)
            put = builder.fadd if which == len(centers) - 1 else builder.fsub
            total = put(total, square, flags=FREE)
        v = builder.select(seen, builder.fmul(w, y), NOTHING)
        if keep is not None:
            v, keep = builder.select(count, w, v), builder.or_(keep, count)
        coarse, fine = (four(line, j, keep) for line in grid)
        high = builder.fsub(builder.fadd(v, coarse), coarse)
        low = builder.fsub(builder.fadd(builder.fsub(v, high), fine), fine)
        for places, put in zip(sums, (builder.fadd, builder.fsub), strict=False):
            for place, part in zip(places, (high, low), strict=True):
                place = builder.bitcast(builder.gep(place, [j]), VECTOR.as_pointer())
                builder.store(put(builder.load(place, align=8), part), place, align=8)
        return total

    before = builder.block
    body, last = (builder.append_basic_block(name) for name in ("columns", "last"))
    whole = builder.and_(d, number(-LANES))
    builder.cbranch(builder.icmp_signed(">", whole, number(0)), body, last)
    builder.position_at_end(body)
    j, begun = builder.phi(d.type), builder.phi(VECTOR)
    total = add(begun, j)
    following = builder.add(j, number(LANES))
    builder.cbranch(builder.icmp_signed("<", following, whole), body, last)
    for phi, values in ((j, (number(0), following)), (begun, (NOTHING, total))):
        for value, block in zip(values, (before, body), strict=True):
            phi.add_incoming(value, block)
    builder.position_at_end(last)
    most = builder.phi(VECTOR)
    most.add_incoming(NOTHING, before)
    most.add_incoming(total, body)
    lane = lanes_from(builder, whole, LANES)
    keep, count = (
        builder.icmp_signed(how, lane, spread(builder, column, LANES))
        for how, column in (("<", d), ("==", one))
    )
    return _across(builder, add(most, whole, keep, count))


def _across(builder: Any, value: Any) -> Any:
    """The sum of all lanes."""
    lanes = [builder.extract_element(value, ir.IntType(32)(i)) for i in range(LANES)]
    return builder.fadd(builder.fadd(lanes[0], lanes[2]), builder.fadd(lanes[1], lanes[3]))


# A row comes into the group ``new``, or leaves ``old`` for it: w (x - reference) of its cells, and w in the column
# ``one`` (-1: nowhere), on both grids, are added to the sums of ``new`` and taken from those of ``old``.
# Returns ||x - c_new||^2, or ||x - c_old||^2 less that.
#   row   (d,) float32 or float64      reference (d,)      centers (k, d)      grid (2, width)
#   table (k, 2, width or more, whole vectors) high and low parts of each group
enter = cast(Callable[..., float], intrinsic(_emitter(leaving=False)))
change = cast(Callable[..., float], intrinsic(_emitter(leaving=True)))
