"""Products of a tile of rows, all sums in registers: with panels of lines, and with shares.

    score_tile   scores[c, i] = sum_j tile[i, j] lines[c, j]
    turn_tile    out[i, a]    = sum_j tile[i, j] lines[a, j]          lines of a lower triangle
    add_tile     sums[c, j]  += sum_i shares[c, i] tile[i, j]
    add_scatter  sums[a, b]  += sum_i weighed[i, a] tile[i, b]        its lower triangle

Here rows stay rows, as they lie in a table, where ``kernels.lanes`` turns them: reading them is a stream. Lanes are
groups in the first two and columns in the last two, so nothing is ever added up across lanes. A panel holds as many
lines as a vector has lanes, side by side:   panel[j] = (line 0, line 1, ...) of column j.

Twelve sums are what sixteen registers can hold besides what is multiplied, and enough to keep two units of four
cycles busy. Numba makes no such loops, so their instructions are given one by one; they are those of any processor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.instructions import numbers_and_cells
from asterism.kernels.lanes import TILE

BYTES = 32  # of a vector
FOUR = 4  # groups that are added up together
FREE = ("contract",)  # a multiply and an add may become one instruction
UNROLLED = 2  # steps of a loop that are written out

Floats = NDArray[Any]  # float32 or float64
Sums = list[Any]


def panels_of(lines: Floats, kind: np.dtype[Any]) -> Floats:
    """(panels, even m, lanes) of (k, m) lines, zeros added.

    >>> panels_of(np.arange(10.0).reshape(5, 2), np.dtype(float))[:, :, 0].tolist()
    [[0.0, 1.0], [8.0, 9.0]]
    """
    k, m = lines.shape
    lanes = BYTES // kind.itemsize
    out = np.zeros((-(-k // lanes), m + m % UNROLLED, lanes), kind)
    turned, whole_panels = out.transpose(0, 2, 1), k // lanes
    turned[:whole_panels, :, :m] = lines[: whole_panels * lanes].reshape(whole_panels, lanes, m)
    turned[whole_panels:, : k % lanes, :m] = lines[whole_panels * lanes :]
    return out


# --- instructions -------------------------------------------------------------------------------------------------


def _scorer(rows: int, panels: int, turned: bool) -> Any:
    """Instructions of a product of some rows with some panels, stored by groups (``turned``) or by rows."""

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        tile: Any,
        first: Any,  # noqa: ARG001
        table: Any,
        panel: Any,  # noqa: ARG001
        columns: Any,  # noqa: ARG001
        out: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector, zero = _vector(signature.args[0]), number(0)
            first, panel, columns = arguments[1], arguments[3], arguments[4]
            row = [cell(0, builder.add(first, number(i)), zero) for i in range(rows)]
            slope = [cell(2, builder.add(panel, number(p)), zero, zero) for p in range(panels)]

            def step(j: Any, sums: Sums) -> Sums:
                at = builder.mul(j, number(vector.count))
                slopes = [_load(builder, builder.gep(place, [at]), vector) for place in slope]
                cells = (_spread(builder, builder.gep(place, [j]), vector) for place in row)
                return _multiplied(builder, cells, slopes, sums)

            sums = _loop(builder, columns, number, step, [ir.Constant(vector, None)] * (rows * panels))
            for p in range(panels):
                lane = builder.mul(builder.add(panel, number(p)), number(vector.count))
                mine = sums[p::panels]
                if not turned:
                    for i, value in enumerate(mine):
                        _store(builder, value, cell(5, builder.add(first, number(i)), lane))
                    continue
                for i in range(0, rows, FOUR):
                    here = builder.add(first, number(i))
                    for c, value in enumerate(_turn(builder, mine[i : i + FOUR])):
                        group = builder.mul(builder.add(lane, number(c)), number(TILE))
                        _store(builder, value, cell(5, builder.add(group, here)))
            return context.get_dummy_value()

        return types.void(tile, types.intp, table, types.intp, types.intp, out), generate

    return intrinsic(emit)


def _adder(vectors: int) -> Any:
    """Instructions of a product of four lines of shares with some vectors of columns, over all rows of a tile."""

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        shares: Any,
        along: Any,  # noqa: ARG001
        across: Any,  # noqa: ARG001
        group: Any,  # noqa: ARG001
        tile: Any,
        column: Any,  # noqa: ARG001
        sums: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector = _vector(signature.args[4])
            along, across, group, column = (arguments[i] for i in (1, 2, 3, 5))
            share = [cell(0, builder.mul(builder.add(group, number(g)), across)) for g in range(FOUR)]
            table = context.make_array(signature.args[4])(context, builder, arguments[4])
            stride = builder.extract_value(table.shape, 1)
            begin = cell(4, number(0), column)

            def step(i: Any, sums: Sums) -> Sums:
                line, to = builder.gep(begin, [builder.mul(i, stride)]), builder.mul(i, along)
                places = [builder.gep(line, [number(v * vector.count)]) for v in range(vectors)]
                cells = [_load(builder, place, vector) for place in places]
                factors = (_spread(builder, builder.gep(place, [to]), vector) for place in share)
                return _multiplied(builder, factors, cells, sums)

            found = _loop(builder, number(TILE), number, step, [ir.Constant(vector, None)] * (FOUR * vectors))
            wide = ir.VectorType(ir.DoubleType(), vector.count)
            for s, value in enumerate(found):
                g, v = divmod(s, vectors)
                place = cell(6, builder.add(group, number(g)), builder.add(column, number(v * vector.count)))
                more = value if vector == wide else builder.fpext(value, wide)
                _store(builder, builder.fadd(_load(builder, place, wide), more), place)
            return context.get_dummy_value()

        whole = types.intp
        return types.void(shares, whole, whole, whole, tile, whole, sums), generate

    return intrinsic(emit)


def _carrier(squares: bool) -> Any:
    """Instructions that bring whole vectors of a row into a tile, with their squares, or with the sum of these."""

    def emit(
        typing: Any,  # noqa: ARG001  as Numba calls it
        rows: Any,
        row: Any,  # noqa: ARG001
        origin: Any,
        tile: Any,
        line: Any,  # noqa: ARG001
        vectors: Any,  # noqa: ARG001
        high: Any,  # noqa: ARG001
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, cell = numbers_and_cells(context, builder, signature, arguments)
            vector, zero = _vector(signature.args[3]), number(0)
            given = ir.VectorType(_vector(signature.args[0]).element, vector.count)
            line, vectors, high = arguments[4:7]
            places = [cell(0, arguments[1], zero), cell(2, zero, zero), cell(2, number(1), zero)]
            low, up = cell(3, line, zero), cell(3, line, high)

            def step(v: Any, sums: Sums) -> Sums:
                at = builder.mul(v, number(vector.count))
                x, point, more = (
                    _load(builder, builder.gep(place, [at]), kind)
                    for place, kind in zip(places, (given, vector, vector), strict=True)
                )
                x = x if given == vector else builder.fpext(x, vector)
                x = builder.fsub(builder.fsub(x, point), more)
                _store(builder, x, builder.gep(low, [at]))
                square = builder.fmul(x, x, flags=FREE)
                if squares:
                    _store(builder, square, builder.gep(up, [at]))
                    return sums
                return [builder.fadd(sums[0], square, flags=FREE)]

            sums = _loop(builder, vectors, number, step, [] if squares else [ir.Constant(vector, None)], 1)
            if not squares:
                builder.store(_across(builder, sums[0]), up)
            return context.get_dummy_value()

        whole = types.intp
        return types.void(rows, whole, origin, tile, whole, whole, whole), generate

    return intrinsic(emit)


def _loop(
    builder: Any,
    count: Any,
    number: Callable[[int], Any],
    step: Callable[[Any, Sums], Sums],
    start: Sums,
    unrolled: int = UNROLLED,
) -> Sums:
    """The sums after steps 0 .. count - 1, one at least and so many at a time, all of them kept in registers."""
    before = builder.block
    body, after = builder.append_basic_block("steps"), builder.append_basic_block("summed")
    builder.branch(body)
    builder.position_at_end(body)
    j = builder.phi(count.type)
    begun = [builder.phi(value.type) for value in start]
    sums = list(begun)
    for one in range(unrolled):
        sums = step(builder.add(j, number(one)), sums)
    following = builder.add(j, number(unrolled))
    builder.cbranch(builder.icmp_signed("<", following, count), body, after)
    j.add_incoming(number(0), before)
    j.add_incoming(following, body)
    for phi, first, last in zip(begun, start, sums, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(last, body)
    builder.position_at_end(after)
    return sums


def _multiplied(builder: Any, left: Iterator[Any], right: Sequence[Any], sums: Sums) -> Sums:
    """sums + left right', a line of sums for each of ``left``, which is loaded in its turn: registers are few."""
    out: Sums = []
    for a in left:
        for b in right:
            term = builder.fmul(a, b, flags=FREE)
            out.append(builder.fadd(sums[len(out)], term, flags=FREE))
    return out


def _vector(array: Any) -> Any:
    """The vector of an array's cells."""
    bits = array.dtype.bitwidth
    return ir.VectorType(ir.FloatType() if bits == 32 else ir.DoubleType(), 8 * BYTES // bits)


def _load(builder: Any, place: Any, vector: Any) -> Any:
    return builder.load(builder.bitcast(place, vector.as_pointer()), align=4)


def _store(builder: Any, value: Any, place: Any) -> None:
    builder.store(value, builder.bitcast(place, value.type.as_pointer()), align=4)


def _order(places: Sequence[int]) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(32), len(places)), list(places))


def _spread(builder: Any, place: Any, vector: Any) -> Any:
    """The number at a place, in all lanes."""
    empty = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(empty, builder.load(place), ir.IntType(32)(0))
    return builder.shuffle_vector(first, empty, _order([0] * vector.count))


def _across(builder: Any, value: Any) -> Any:
    """The sum of all lanes, by halves."""
    n = value.type.count
    while n > 1:
        n //= 2
        low, high = (_mixed(builder, value, value, range(p, p + n)) for p in (0, n))
        value = builder.fadd(low, high)
    return builder.extract_element(value, ir.IntType(32)(0))


def _turn(builder: Any, four: Sequence[Any]) -> list[Any]:
    """Four rows of all lanes, turned: a vector of four for each lane, by shuffles that stay within half vectors."""
    if four[0].type.count == FOUR:
        pairs = [
            _mixed(builder, four[i], four[i + 1], o) for o in ((0, 4, 2, 6), (1, 5, 3, 7)) for i in (0, 2)
        ]
        orders = ((0, 1, 4, 5), (2, 3, 6, 7))
        turned = [[_mixed(builder, pairs[p], pairs[p + 1], order) for p in (0, 2)] for order in orders]
        return [value for part in turned for value in part]
    steps = ((0, 8, 1, 9, 4, 12, 5, 13), (2, 10, 3, 11, 6, 14, 7, 15))
    pairs = [_mixed(builder, four[i], four[i + 1], order) for order in steps for i in (0, 2)]
    steps = ((0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15))
    both = [_mixed(builder, pairs[p], pairs[p + 1], order) for p in (0, 2) for order in steps]
    return [_mixed(builder, value, value, range(h, h + FOUR)) for h in (0, FOUR) for value in both]


def _mixed(builder: Any, a: Any, b: Any, order: Sequence[int]) -> Any:
    return builder.shuffle_vector(a, b, _order(order))


# Of ``rows`` rows of a tile from ``first`` on, and ``panels`` panels from ``panel`` on, over ``columns`` columns:
#   tile (TILE, stride)        table (panels, columns, lanes)
#   out  (groups * TILE,) by groups: out[c * TILE + i]; or (TILE, stride) by rows: out[i, a]
_score_4_3, _score_4_2, _score_8_1 = (cast(Any, _scorer(r, p, True)) for r, p in ((4, 3), (4, 2), (8, 1)))
_turn_4_3, _turn_4_2, _turn_8_1 = (cast(Any, _scorer(r, p, False)) for r, p in ((4, 3), (4, 2), (8, 1)))
# sums[group + g, column ...] += sum_i shares[i * along + (group + g) * across] tile[i, column ...], g = 0 .. 3
_add_3, _add_2, _add_1 = (cast(Any, _adder(vectors)) for vectors in (3, 2, 1))

# tile[line, ...] = (rows[row] - origin[0]) - origin[1], so many vectors of it, one at least; from tile[line, high] on
# squares, or the sum of these
carry_squares, carry_length = (cast(Any, _carrier(squares)) for squares in (True, False))


# --- tiles --------------------------------------------------------------------------------------------------------


@kernel
def whole(columns: int, lanes: int) -> int:
    """Columns in whole vectors."""
    return (columns + lanes - 1) // lanes * lanes


@kernel
def stride_of(width: int, size: int) -> int:
    """Cells from row to row of a tile: an odd number of cache lines, so that columns fill all of the first cache."""
    cells = 64 // size
    lines = (width + cells - 1) // cells
    return (lines + 1 - lines % 2) * cells


@kernel
def at_once(left: int) -> int:
    """How many vectors to take of those that are left: three, but no single one at the end if that can be helped."""
    return 3 if left > 4 or left == 3 else min(left, 2)


@kernel
def score_tile(
    tile: Floats,  # (TILE, stride) in
    panels: Floats,  # (m, columns, lanes) in
    scores: Floats,  # (m * lanes * TILE,) out: 0 for lanes without a group
) -> None:
    """Products of all rows with all groups."""
    p, columns = 0, panels.shape[1]
    while p < len(panels):
        n = at_once(len(panels) - p)
        if n == 3:
            for i in range(TILE // 4):
                _score_4_3(tile, 4 * i, panels, p, columns, scores)
        elif n == 2:
            for i in range(TILE // 4):
                _score_4_2(tile, 4 * i, panels, p, columns, scores)
        else:
            for i in range(TILE // 8):
                _score_8_1(tile, 8 * i, panels, p, columns, scores)
        p += n


@kernel
def turn_tile(
    tile: Floats,  # (TILE, stride) in
    panels: Floats,  # (m, columns, lanes) in: of a lower triangular matrix
    out: Floats,  # (TILE, stride) out: the first m * lanes columns
) -> None:
    """The matrix times every row; nothing above the diagonal but what is in a panel with it."""
    p, lanes = 0, panels.shape[2]
    while p < len(panels):
        n = at_once(len(panels) - p)
        columns = min((p + n) * lanes, panels.shape[1])
        if n == 3:
            for i in range(TILE // 4):
                _turn_4_3(tile, 4 * i, panels, p, columns, out)
        elif n == 2:
            for i in range(TILE // 4):
                _turn_4_2(tile, 4 * i, panels, p, columns, out)
        else:
            for i in range(TILE // 8):
                _turn_8_1(tile, 8 * i, panels, p, columns, out)
        p += n


@kernel
def add_tile(
    shares: Floats,  # (at least k * TILE,) in
    tile: Floats,  # (TILE, stride) in
    sums: NDArray[np.float64],  # (k, width) added to: whole fours of groups, whole vectors of columns
) -> None:
    """What the rows add up to by their shares; columns wait in the first cache while groups pass by."""
    v, lanes = 0, BYTES // tile.itemsize
    vectors = sums.shape[1] // lanes
    while v < vectors:
        n = at_once(vectors - v)
        for four in range(len(sums) // FOUR):
            _add(n, shares, 1, TILE, FOUR * four, tile, v * lanes, sums)
        v += n


@kernel
def add_scatter(
    weighed: Floats,  # (TILE * stride,) in: w x
    tile: Floats,  # (TILE, stride) in: x
    scatter: NDArray[np.float64],  # (width, width) added to: whole vectors; right up to the diagonal
) -> None:
    """sum w x x', its lower triangle."""
    v, lanes = 0, BYTES // tile.itemsize
    vectors = scatter.shape[1] // lanes
    while v < vectors:
        n = at_once(vectors - v)
        for four in range(v * lanes // FOUR, len(scatter) // FOUR):
            _add(n, weighed, tile.shape[1], 1, FOUR * four, tile, v * lanes, scatter)
        v += n


@kernel
def _add(
    n: int, shares: Floats, along: int, across: int, group: int, tile: Floats, column: int, sums: Floats
) -> None:
    if n == 3:
        _add_3(shares, along, across, group, tile, column, sums)
    elif n == 2:
        _add_2(shares, along, across, group, tile, column, sums)
    else:
        _add_1(shares, along, across, group, tile, column, sums)
