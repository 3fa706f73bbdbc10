"""Instructions of sharing out a tile of rows among groups, in vectors as long as the processor has them.

    best = max_c s_c        e_c = exp(s_c - best), 0 below CUT        total = sum_c e_c        w r_c = e_c w / total

The polynomials are those of ``kernels.exponential``, where their constants are said, in fewer steps: log 2 is
subtracted in one part, as rounding it moves a share of 2^-n by n half roundings, and n is added to the exponent. A
compiler left to itself takes vectors of half the length, and reads every score once more for each of the four.

``settler`` returns a function for kernels to call; ``share_rows`` and ``tile_totals`` are such.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic

from asterism.kernels import exponential as e
from asterism.kernels.instructions import extent, numbers_and_cells
from asterism.kernels.vectors import FOUR, FREE, Sums, across, halves, load, loop, loop_from, store, vector_of

BEST, SCALE, TOTAL = 0, 1, 2  # lines of the work
TOGETHER = 2  # vectors of rows: a cache line of a score is read, and written, at once


def _share(typing: Any, scores: Any, k: Any, row: Any, w: Any, work: Any) -> Any:  # noqa: ARG001  as Numba calls it
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        vector, (k, row) = vector_of(signature.args[0]), arguments[1:3]
        begin, stride = cell(0, number(0), row), extent(context, builder, signature, arguments, 0, 1)
        in_twos = builder.mul(builder.udiv(k, number(2)), number(2))
        beside = [number(v * vector.count) for v in range(TOGETHER)]

        def over_groups(step: Callable[[list[Any], Sums], Sums], start: Any) -> Sums:
            """``step(places, found)`` of two groups at a time, then of the last: group by group, vector by vector."""

            def some(groups: int) -> Callable[[Any, Sums], Sums]:
                def take(c: Any, found: Sums) -> Sums:
                    lines = [builder.mul(builder.add(c, number(g)), stride) for g in range(groups)]
                    return step(
                        [builder.gep(begin, [builder.add(a, v)]) for a in lines for v in beside], found
                    )

                return take

            found = loop_from(builder, number(0), in_twos, 2, some(2), [start] * TOGETHER)
            return loop_from(builder, in_twos, k, 1, some(1), found)

        def larger(places: list[Any], top: Sums) -> Sums:
            for i, place in enumerate(places):
                here, v = load(builder, place, vector), i % TOGETHER
                top[v] = builder.select(builder.fcmp_ordered(">", here, top[v]), here, top[v])
            return top

        def share(places: list[Any], total: Sums) -> Sums:
            here = [load(builder, place, vector) for place in places]
            less = [builder.fsub(best[i % TOGETHER], score) for i, score in enumerate(here)]
            for i, (value, place) in enumerate(zip(shares_of(builder, less), places, strict=True)):
                store(builder, value, place)
                total[i % TOGETHER] = builder.fadd(total[i % TOGETHER], value)
            return total

        best = over_groups(larger, ir.Constant(vector, [float("-inf")] * vector.count))
        totals = over_groups(share, ir.Constant(vector, None))
        for v, (top, total) in enumerate(zip(best, totals, strict=True)):
            at = builder.add(row, beside[v])
            scale = builder.fdiv(load(builder, cell(3, at), vector), total)
            for line, value in ((BEST, top), (SCALE, scale), (TOTAL, total)):
                store(builder, value, cell(4, number(line), at))
        return context.get_dummy_value()

    return types.void(scores, types.intp, types.intp, w, work), generate


# share_rows(scores, k, row, w, work): scores[c, i] of TOGETHER vectors of rows i from ``row`` on become e_c; best,
# w / total and total are in the lines of the work. The best group's e is 1.
share_rows = cast(Any, intrinsic(_share))


def shares_of(builder: Any, z: Sums) -> Sums:
    """exp(-z) of z at least 0, and 0 from -CUT on, or a rounding of n before it, in all lanes of some vectors."""
    kind = z[0].type
    single = isinstance(kind.element, ir.FloatType)
    names = ("CUT", "FLIP", "SHIFT")
    cut, flip, shift = (getattr(e, name + ("32" if single else "64")) for name in names)
    short, long = (e.R4, e.R3, e.R2, e.R1, e.R0), (e.Q9, e.Q8, e.Q7, e.Q6, e.Q5, e.Q4, e.Q3, e.Q2, e.Q1, e.Q0)
    whole = ir.VectorType(ir.IntType(32 if single else 64), kind.count)

    def of(value: Any) -> Any:
        return ir.Constant(kind, [float(value)] * kind.count)

    def more(a: Any, b: Any, c: Any) -> Any:
        return builder.fadd(builder.fmul(a, b, flags=FREE), c, flags=FREE)

    t = [more(a, of(-e.PER_LOG2), of(flip)) for a in z]
    n = [builder.fsub(a, of(flip)) for a in t]
    g = [more(a, of(math.log(2.0)), b) for a, b in zip(n, z, strict=True)]  # -f: every second sign turns
    constants = (*(short if single else long), 1.0, 1.0)
    first, *others = (-c if (len(constants) - i) % 2 == 0 else c for i, c in enumerate(constants))
    p = [of(first)] * len(z)
    for constant in others:
        p = [more(a, b, of(constant)) for a, b in zip(p, g, strict=True)]
    places = ir.Constant(whole, [int(shift)] * kind.count)
    power = [builder.shl(builder.bitcast(a, whole), places) for a in t]
    shares = [
        builder.bitcast(builder.add(builder.bitcast(a, whole), b), kind)
        for a, b in zip(p, power, strict=True)
    ]
    # Beyond the cut, where n no longer fits an exponent, a share is anything: it is told by n, and taken away.
    least = of(float(flip) + math.ceil(float(cut) * e.PER_LOG2 + 0.5))
    kept = [builder.fcmp_ordered(">=", a, least) for a in t]
    return [builder.select(a, b, ir.Constant(kind, None)) for a, b in zip(kept, shares, strict=True)]


def settler(groups: int) -> Any:
    """Some lines of shares, settled.

    Called with ``(shares, group, scales, factors, mass, sums)``: lines c of shares from ``group`` on become
    themselves times scales (m,); mass[c] is larger by their sum, and sums[c] by that of them times factors.
    """

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        shares: Any,
        group: Any,  # noqa: ARG001
        scales: Any,
        factors: Any,
        mass: Any,
        sums: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector, double = vector_of(signature.args[0]), ir.DoubleType()
            own = [builder.add(arguments[1], number(c)) for c in range(groups)]
            lines = [cell(0, c, number(0)) for c in own]
            beside = [cell(a, number(0)) for a in (2, 3)]
            rows = extent(context, builder, signature, arguments, 2, 0)

            def step(i: Any, sums: Sums) -> Sums:
                scale, x = (load(builder, builder.gep(place, [i]), vector) for place in beside)
                for c, line in enumerate(lines):
                    place = builder.gep(line, [i])
                    r = builder.fmul(load(builder, place, vector), scale)
                    store(builder, r, place)
                    more = builder.fmul(r, x, flags=FREE)
                    sums[2 * c : 2 * c + 2] = (
                        builder.fadd(sums[2 * c], r), builder.fadd(sums[2 * c + 1], more, flags=FREE)
                    )  # fmt: skip
                return sums

            empty = [ir.Constant(vector, None)] * (2 * groups)
            for s, value in enumerate(loop(builder, rows, number, step, empty, vector.count)):
                place = cell(4 + s % 2, own[s // 2])
                total = across(builder, value)
                total = total if vector.element == double else builder.fpext(total, double)
                builder.store(builder.fadd(builder.load(place), total), place)
            return context.get_dummy_value()

        return types.void(shares, types.intp, scales, factors, mass, sums), generate

    return cast(Any, intrinsic(emit))


def _totals(typing: Any, best: Any, total: Any, w: Any) -> Any:  # noqa: ARG001  as Numba calls it
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        vector = vector_of(signature.args[0])
        wide = ir.VectorType(ir.DoubleType(), vector.count)
        one, begin = ir.Constant(wide, [1.0] * wide.count), [cell(a, number(0)) for a in range(3)]

        def step(i: Any, sums: Sums) -> Sums:
            here = [load(builder, builder.gep(place, [i]), vector) for place in begin]
            top, more, mass = here if vector == wide else [builder.fpext(value, wide) for value in here]
            off = builder.fsub(mass, one)
            return [
                builder.fadd(sums[0], builder.fmul(mass, top)),
                builder.fmul(sums[1], more),
                builder.fadd(sums[2], builder.fmul(off, off)),
            ]

        nothing = ir.Constant(wide, None)
        rows = extent(context, builder, signature, arguments, 2, 0)
        sums = loop(builder, rows, number, step, [nothing, one, nothing], vector.count)
        product = sums[1]
        while product.type.count > FOUR:
            product = builder.fmul(*halves(builder, product))
        four = [builder.extract_element(product, ir.IntType(32)(c)) for c in range(FOUR)]
        found = [across(builder, sums[0]), across(builder, sums[2]), *four]
        return context.make_tuple(builder, signature.return_type, found)

    several: Any = types.UniTuple  # it has no types
    return several(types.float64, 2 + FOUR)(best, total, w), generate


# tile_totals(best, total, w): of a tile, sum w best; 0 if all weights are 1, else more; and the product of all totals
# in four parts, none below 1 or above k^32. The order of sums is written down: left to choose it, the compiler
# chose another one in another process, by what else was compiled there.
tile_totals = cast(Any, intrinsic(_totals))
