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
from asterism.kernels.vectors import FREE, Sums, load, loop, store, vector_of


def run_of(steps: int, lanes: int) -> Any:
    """A run of so many steps over up to so many lanes.

    Called with ``(cells, start, stride, some, origin, out)``: step i of lane l is cells[start + i stride + l], for l
    below ``some`` in whole vectors; origin (2 lanes,) has first and shift; out (4 lanes,) gets low, high and both sums.
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
            vector, (start, stride, some) = vector_of(signature.args[0]), arguments[1:4]
            wide = ir.VectorType(ir.DoubleType(), vector.count)

            def widened(value: Any) -> Any:
                return value if vector == wide else builder.fpext(value, wide)

            def of_lanes(lane: Any, none: Sums) -> Sums:
                place = cell(0, builder.add(start, lane))
                point = [load(builder, cell(4, builder.add(lane, number(p * lanes))), wide) for p in (0, 1)]

                def step(i: Any, sums: Sums) -> Sums:
                    low, high, *others = sums
                    for side in range(2):  # two sums each: an addition waits for the one before
                        at = builder.mul(builder.add(i, number(side)), stride)
                        x = load(builder, builder.gep(place, [at]), vector)
                        y = widened(x)
                        for p in point:
                            y = builder.fsub(y, p)
                        low = builder.select(builder.fcmp_ordered("<", x, low), x, low)
                        high = builder.select(builder.fcmp_ordered(">", x, high), x, high)
                        square = builder.fmul(y, y, flags=FREE)
                        others[side] = builder.fadd(others[side], y)
                        others[2 + side] = builder.fadd(others[2 + side], square, flags=FREE)
                    return [low, high, *others]

                bounds = [ir.Constant(vector, [bound] * vector.count) for bound in (math.inf, -math.inf)]
                low, high, *sums = loop(
                    builder, number(steps), number, step, [*bounds, *[ir.Constant(wide, None)] * 4], 2
                )
                found = [low, high, builder.fadd(*sums[:2]), builder.fadd(*sums[2:])]
                for s, value in enumerate(found):
                    to = cell(5, builder.add(lane, number(s * lanes)))
                    store(builder, widened(value) if s < 2 else value, to)
                return none

            loop(builder, some, number, of_lanes, [], vector.count)
            return context.get_dummy_value()

        whole = types.intp
        return types.void(cells, whole, whole, whole, origin, out), generate

    return cast(Any, intrinsic(emit))
