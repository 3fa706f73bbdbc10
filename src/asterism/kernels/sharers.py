"""Instructions of sharing out some rows among groups, in vectors as long as the processor has them.

    best = max_c s_c        e_c = exp(s_c - best), 0 below CUT        total = sum_c e_c        w r_c = e_c w / total

The polynomials are those of ``kernels.exponential``, where their constants are said, in fewer steps: log 2 is
subtracted in one part, as rounding it moves a share of 2^-n by n half roundings, and n is added to the exponent. A
compiler left to itself takes vectors of half the length, and reads every score once more for each of the four.

``sharer`` returns a function for kernels to call; ``sum_lanes`` is one.
"""

from __future__ import annotations

import math
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic

from asterism.kernels import exponential as e
from asterism.kernels.instructions import numbers_and_cells
from asterism.kernels.lanes import TILE
from asterism.kernels.vectors import FREE, Sums, across, load, loop, store, vector_of

BEST, TOTAL = 0, 2  # lines of the work


def sharer(vectors: int) -> Any:
    """Some vectors of rows, shared out.

    Called with ``(scores, k, row, w, whole, work)``: scores[c * TILE + i] of rows i from ``row`` on become e_c, or
    w r_c if not ``whole``; work[BEST, i] and work[TOTAL, i] are as above. The best group's e is 1.
    """

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        scores: Any,
        k: Any,  # noqa: ARG001
        row: Any,  # noqa: ARG001
        w: Any,
        whole: Any,  # noqa: ARG001
        work: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector, (k, row) = vector_of(signature.args[0]), arguments[1:3]
            rows = [builder.add(row, number(v * vector.count)) for v in range(vectors)]
            first = [cell(0, i) for i in rows]

            def at(c: Any) -> list[Any]:
                return [builder.gep(place, [builder.mul(c, number(TILE))]) for place in first]

            def larger(c: Any, best: Sums) -> Sums:
                here = [load(builder, place, vector) for place in at(c)]
                return [
                    builder.select(builder.fcmp_ordered(">", b, a), b, a)
                    for a, b in zip(best, here, strict=True)
                ]

            def share(c: Any, total: Sums) -> Sums:
                for v, place in enumerate(at(c)):
                    x = builder.fsub(load(builder, place, vector), best[v])
                    shared = share_of(builder, x)
                    store(builder, shared, place)
                    total[v] = builder.fadd(total[v], shared)
                return total

            def scale(c: Any, scales: Sums) -> Sums:
                for v, place in enumerate(at(c)):
                    store(builder, builder.fmul(load(builder, place, vector), scales[v]), place)
                return scales

            nothing = ir.Constant(vector, None)
            least = ir.Constant(vector, [float("-inf")] * vector.count)
            best = loop(builder, k, number, larger, [least] * vectors, 1)
            total = loop(builder, k, number, share, [nothing] * vectors, 1)
            for line, values in ((BEST, best), (TOTAL, total)):
                for i, value in zip(rows, values, strict=True):
                    store(builder, value, cell(5, number(line), i))
            with builder.if_then(builder.not_(arguments[4])):
                weights = [load(builder, cell(3, i), vector) for i in rows]
                scales = [builder.fdiv(a, b) for a, b in zip(weights, total, strict=True)]
                loop(builder, k, number, scale, scales, 1)
            return context.get_dummy_value()

        whole_number = types.intp
        return types.void(scores, whole_number, whole_number, w, types.boolean, work), generate

    return cast(Any, intrinsic(emit))


def share_of(builder: Any, x: Any) -> Any:
    """exp(x) of x at most 0, and 0 below CUT, in all lanes."""
    single = isinstance(x.type.element, ir.FloatType)
    names = ("CUT", "FLIP", "SHIFT")
    cut, flip, shift = (getattr(e, name + ("32" if single else "64")) for name in names)
    short, long = (e.R4, e.R3, e.R2, e.R1, e.R0), (e.Q9, e.Q8, e.Q7, e.Q6, e.Q5, e.Q4, e.Q3, e.Q2, e.Q1, e.Q0)

    def of(value: Any) -> Any:
        return ir.Constant(x.type, [float(value)] * x.type.count)

    def more(a: Any, b: Any, c: Any) -> Any:
        return builder.fadd(builder.fmul(a, b, flags=FREE), c, flags=FREE)

    below = builder.fcmp_ordered("<", x, of(cut))
    y = builder.select(below, of(cut), x)
    t = more(y, of(e.PER_LOG2), of(flip))
    n = builder.fsub(t, of(flip))
    f = more(n, of(-math.log(2.0)), y)
    first, *others = short if single else long
    p = of(first)
    for constant in (*others, 1.0, 1.0):
        p = more(p, f, of(constant))
    whole = ir.VectorType(ir.IntType(32 if single else 64), x.type.count)
    power = builder.shl(builder.bitcast(t, whole), ir.Constant(whole, [int(shift)] * x.type.count))
    share = builder.bitcast(builder.add(builder.bitcast(p, whole), power), x.type)
    return builder.select(below, ir.Constant(x.type, None), share)


def _sum_lanes(typing: Any, shares: Any, group: Any, factors: Any) -> Any:  # noqa: ARG001  as Numba calls it
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        vector, double = vector_of(signature.args[0]), ir.DoubleType()
        begin, beside = cell(0, arguments[1], number(0)), cell(2, number(0))

        def step(i: Any, sums: Sums) -> Sums:
            for v in range(2):
                at = builder.add(i, number(v * vector.count))
                r, x = (load(builder, builder.gep(place, [at]), vector) for place in (begin, beside))
                sums[v] = builder.fadd(sums[v], r)
                sums[2 + v] = builder.fadd(sums[2 + v], builder.fmul(r, x, flags=FREE), flags=FREE)
            return sums

        sums = loop(builder, number(TILE), number, step, [ir.Constant(vector, None)] * 4, 2 * vector.count)
        found = [across(builder, builder.fadd(a, b)) for a, b in (sums[:2], sums[2:])]
        if vector.element != double:
            found = [builder.fpext(value, double) for value in found]
        return context.make_tuple(builder, signature.return_type, found)

    pair: Any = types.UniTuple  # it has no types
    return pair(types.float64, 2)(shares, types.intp, factors), generate


# sum_lanes(shares, group, factors): the sums of a line of shares (k, TILE), and of this times factors (TILE or more,)
sum_lanes = cast(Any, intrinsic(_sum_lanes))
