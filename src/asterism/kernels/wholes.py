"""Panels in whole numbers: products of 16 bits, two columns at a time, in two thirds of the time of float32.

With y ~ (||y|| / M) p and slopes ~ unit q, p and q whole numbers of at most 15 bits,

    slopes . y  ~  (||y|| / M) unit (q . p)        wrong by at most

    (||y|| / M) ||rest of y|| ||slopes||  +  ||rest of slopes|| ||y||

where the rests are what rounding left. Sums of 32 bits hold q . p, as ||p|| ||q|| < 2^31. So every row has a margin
of its own, some ten times that of float32; rows whose best two scores are closer are scored again in float32, one in
fifty where groups overlap. Labels are the same, sooner.

Processors without such products (``quick_here``) have no use for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from numpy.typing import NDArray

from asterism.kernels.instructions import numbers_and_cells, order_of, spread
from asterism.kernels.panels import FREE, HALF, LANES, ROWS, least_two, turn

LONGEST = 32_700.0  # M: of a row; no cell is longer than its row
LONGEST_SLOPES = 64_000.0
LARGEST = 32_700.0  # cell of slopes
COLUMNS = 2  # of a product

PAIRS = ir.VectorType(ir.IntType(16), 2 * HALF)
SUMS = ir.VectorType(ir.IntType(32), HALF)
FLOATS = ir.VectorType(ir.FloatType(), HALF)
NO_WHOLES = np.empty((0, 0, 2 * LANES), np.int16), np.zeros(3, np.float32)


@cache
def quick_here() -> bool:
    """Whether this processor has the products."""
    return _has_products(cpu_target.target_context)


def _has_products(context: Any) -> bool:
    return "+avx2" in context.codegen()._tm_features  # nobody else knows


def whole_panels(slopes: NDArray[np.float32], missing: bool) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
    """(panels, column pairs, 2 LANES) of (k, d + 1) slopes, or of (k, 2 d); and unit, longest slopes and rest."""
    k, width = slopes.shape
    d = width if missing else width - 1
    if not quick_here() or not np.isfinite(slopes).all():
        return NO_WHOLES
    cells = slopes[:, :d].astype(np.float64)
    longest = float(np.sqrt(np.einsum("kd,kd->k", cells, cells).max()))
    unit = max(longest / LONGEST_SLOPES, float(np.abs(cells).max()) / LARGEST)
    if not 1e-30 < unit < 1e30:
        return NO_WHOLES
    whole = np.rint(cells / unit)
    cells -= whole * unit
    rest = float(np.sqrt(np.einsum("kd,kd->k", cells, cells).max()))
    pairs, count = -(-d // COLUMNS), -(-k // LANES)
    lines = np.zeros((count * LANES, pairs * COLUMNS), np.int16)
    lines[:k, :d] = whole
    panels = (
        lines.reshape(count, LANES, pairs, COLUMNS).transpose(0, 2, 1, 3).reshape(count, pairs, 2 * LANES)
    )
    return np.ascontiguousarray(panels), np.array([unit, longest, rest]).astype(np.float32)


def _emit(
    typing: Any,  # noqa: ARG001  as Numba calls it
    lines: Any,
    units: Any,
    listed: Any,
    first: Any,  # noqa: ARG001
    panel: Any,
    constants: Any,
    scores: Any,
    names: Any,
) -> Any:
    """Instructions of ``nearest_of_wholes``, as those of ``panels.nearest_of_panel``."""
    whole = types.intp

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        zero, first = number(0), arguments[3]
        table = context.make_array(signature.args[4])(context, builder, arguments[4])
        width = builder.extract_value(table.shape, 0)
        index = [builder.load(cell(2, builder.add(first, number(i)))) for i in range(ROWS)]
        pair = ir.IntType(32).as_pointer()
        rows = [builder.bitcast(cell(0, i, zero), pair) for i in index]
        sums = _sum_pairs(context, builder, number, rows, cell(4, zero, zero), width)
        fixed = [
            builder.load(builder.bitcast(cell(5, number(half * HALF)), FLOATS.as_pointer()), align=4)
            for half in range(2)
        ]
        totals = []
        for i, mine in zip(index, sums, strict=True):
            unit = spread(builder, builder.load(cell(1, i)), HALF)
            products = [builder.fmul(builder.sitofp(s, FLOATS), unit, flags=FREE) for s in mine]
            totals.append([builder.fadd(p, c, flags=FREE) for p, c in zip(products, fixed, strict=True)])
        best, second, name = least_two(builder, [v for half in range(2) for v in turn(builder, totals, half)])
        places = cell(6, zero, first), cell(6, number(1), first), cell(7, first)
        for value, place in zip((best, second, name), places, strict=True):
            builder.store(value, builder.bitcast(place, value.type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(lines, units, listed, whole, panel, constants, scores, names), generate


def _sum_pairs(context: Any, builder: Any, number: Any, rows: Any, slope: Any, width: Any) -> Any:
    """sums[i][half] = sum_j p_ij q_j, as a loop with all sums in registers."""

    def lanes(pair: Any, half: int) -> Any:
        place = builder.gep(slope, [builder.add(builder.mul(pair, number(2 * LANES)), number(half * LANES))])
        return builder.load(builder.bitcast(place, PAIRS.as_pointer()), align=2)

    before = builder.block
    body, after = builder.append_basic_block("pairs"), builder.append_basic_block("summed")
    builder.branch(body)
    builder.position_at_end(body)
    j = builder.phi(width.type)
    begun = [[builder.phi(SUMS) for _ in range(2)] for _ in rows]
    slopes, sums = [lanes(j, half) for half in range(2)], []
    for mine, cells in zip(begun, rows, strict=True):
        y = builder.bitcast(spread(builder, builder.load(builder.gep(cells, [j]), align=2), HALF), PAIRS)
        products = [_products(context, builder, y, s) for s in slopes]
        sums.append([builder.add(s, p) for s, p in zip(mine, products, strict=True)])
    following = builder.add(j, number(1))
    builder.cbranch(builder.icmp_signed("<", following, width), body, after)
    j.add_incoming(number(0), before)
    j.add_incoming(following, body)
    for mine, now in zip(begun, sums, strict=True):
        for phi, value in zip(mine, now, strict=True):
            phi.add_incoming(ir.Constant(SUMS, None), before)
            phi.add_incoming(value, body)
    builder.position_at_end(after)
    return sums


def _products(context: Any, builder: Any, a: Any, b: Any) -> Any:
    """a_0 b_0 + a_1 b_1, a_2 b_2 + a_3 b_3, ...: one instruction where there is one."""
    if _has_products(context):
        declare: Any = cgutils.get_or_insert_function  # it has no types
        form = ir.FunctionType(SUMS, [PAIRS, PAIRS])
        return builder.call(declare(builder.module, form, "llvm.x86.avx2.pmadd.wd"), [a, b])
    terms = []
    for side in range(COLUMNS):
        order = order_of(range(side, 2 * HALF, COLUMNS))
        x, y = (builder.sext(builder.shuffle_vector(v, v, order), SUMS) for v in (a, b))
        terms.append(builder.mul(x, y))
    return builder.add(*terms)


# As ``panels.nearest_of_panel``, in whole numbers.
#   lines  (rows, 2 pairs) int16          units     (rows,) float32      listed (m,) int64
#   panel  (pairs, 2 LANES) int16         constants (LANES,) float32
#   scores (2, m) float32                 names     (m,) int32
nearest_of_wholes = cast(Callable[..., None], intrinsic(_emit))
