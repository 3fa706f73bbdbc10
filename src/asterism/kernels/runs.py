"""Instructions of what a run of steps adds up to, lane by lane, all sums in registers.

    low = min x    high = max x    sum of y    sum of y^2        y = (x - first) - shift, in float64

``run_of`` returns a function for kernels to call.
"""

from __future__ import annotations

import math
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic

from asterism.kernels.instructions import numbers_and_cells
from asterism.kernels.prefetch import LINE, after, ask_for
from asterism.kernels.vectors import BYTES, FREE, Sums, load, loop, store, vector_of


def run_of(steps: int, lanes: int) -> Any:
    """A run of so many steps over up to so many lanes.

    Called with ``(cells, start, stride, some, origin, out)``: step i of lane l is cells[start + i stride + l], for l
    below ``some`` in whole lines; origin (2 lanes,) has first and shift; out (4 lanes,) gets low, high and both sums.
    A cell that is no number is neither low nor high, and its sums are no numbers.
    """

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        cells: Any,
        start: Any,  # noqa: ARG001
        stride: Any,  # noqa: ARG001
        some: Any,  # noqa: ARG001
        origin: Any,
        out: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            start, stride, some = arguments[1:4]
            # As many lanes as a cache line holds: each is read once, wherever steps lie.
            part = vector_of(signature.args[0])
            vector = ir.VectorType(part.element, LINE * part.count // BYTES)
            wide = ir.VectorType(ir.DoubleType(), vector.count)

            def widened(value: Any) -> Any:
                return value if vector == wide else builder.fpext(value, wide)

            def of_lanes(lane: Any, none: Sums) -> Sums:
                place = cell(0, builder.add(start, lane))
                point = [load(builder, cell(4, builder.add(lane, number(p * lanes))), wide) for p in (0, 1)]

                def step(i: Any, sums: Sums) -> Sums:
                    low, high, total, squares = sums
                    x = load(builder, builder.gep(place, [builder.mul(i, stride)]), vector)
                    further = builder.mul(builder.add(i, number(steps)), stride)
                    ask_for(builder, after(builder, builder.gep(place, [further]), ir.IntType(64)(0)))
                    y = widened(x)
                    for p in point:
                        y = builder.fsub(y, p)
                    return [
                        builder.select(builder.fcmp_ordered("<", x, low), x, low),
                        builder.select(builder.fcmp_ordered(">", x, high), x, high),
                        builder.fadd(total, y),
                        builder.fadd(squares, builder.fmul(y, y, flags=FREE), flags=FREE),
                    ]

                bounds = [ir.Constant(vector, [bound] * vector.count) for bound in (math.inf, -math.inf)]
                empty = [*bounds, *[ir.Constant(wide, None)] * 2]
                found = loop(builder, number(steps), number, step, empty, 1)
                for s, value in enumerate(found):
                    to = cell(5, builder.add(lane, number(s * lanes)))
                    store(builder, widened(value) if s < 2 else value, to)
                return none

            loop(builder, some, number, of_lanes, [], vector.count)
            return context.get_dummy_value()

        whole = types.intp
        return types.void(cells, whole, whole, whole, origin, out), generate

    return cast(Any, intrinsic(emit))
