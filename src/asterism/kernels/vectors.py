"""Vectors in kernels written instruction by instruction: loops that keep sums in registers, loads, shuffles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types

from asterism.kernels.instructions import SMALL, order_of

BYTES = 32  # of a vector
FOUR = 4  # rows, or groups, that are taken together
PAIR = 2  # columns that are taken together
FREE = ("contract",)  # a multiply and an add may become one instruction

Sums = list[Any]


def loop(
    builder: Any,
    count: Any,
    number: Callable[[int], Any],
    step: Callable[[Any, Sums], Sums],
    start: Sums,
    by: int,
) -> Sums:
    """The sums after steps 0, by, 2 by, ... below ``count``, one at least, all of them kept in registers."""
    before = builder.block
    body, after = builder.append_basic_block("steps"), builder.append_basic_block("summed")
    builder.branch(body)
    builder.position_at_end(body)
    j = builder.phi(count.type)
    begun = [builder.phi(value.type) for value in start]
    sums = step(j, list(begun))
    following = builder.add(j, number(by))
    builder.cbranch(builder.icmp_signed("<", following, count), body, after)
    j.add_incoming(number(0), before)
    j.add_incoming(following, body)
    for phi, first, last in zip(begun, start, sums, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(last, body)
    builder.position_at_end(after)
    return sums


def multiplied(builder: Any, left: Iterator[Any], right: Sequence[Any], sums: Sums) -> Sums:
    """sums + left right', a line of sums for each of ``left``, which is loaded in its turn: registers are few."""
    out: Sums = []
    for a in left:
        for b in right:
            term = builder.fmul(a, b, flags=FREE)
            out.append(builder.fadd(sums[len(out)], term, flags=FREE))
    return out


def vector_of(array: Any) -> Any:
    """The vector of an array's cells."""
    bits = array.dtype.bitwidth
    return ir.VectorType(ir.FloatType() if bits == 32 else ir.DoubleType(), 8 * BYTES // bits)


def load(builder: Any, place: Any, vector: Any) -> Any:
    """A vector from a place."""
    return builder.load(builder.bitcast(place, vector.as_pointer()), align=4)


def store(builder: Any, value: Any, place: Any) -> None:
    """A vector to a place."""
    builder.store(value, builder.bitcast(place, value.type.as_pointer()), align=4)


def spread_from(builder: Any, place: Any, vector: Any, some: int = 1) -> Any:
    """Some numbers at a place, one after the other in all lanes."""
    few = load(builder, place, ir.VectorType(vector.element, some))
    return mixed(builder, few, few, [lane % some for lane in range(vector.count)])


def mixed(builder: Any, a: Any, b: Any, order: Sequence[int]) -> Any:
    """Lanes of two vectors, those of the second counted on."""
    return builder.shuffle_vector(a, b, order_of(order))


def folded(builder: Any, value: Any) -> Any:
    """Sums of pairs of neighbours."""
    n = value.type.count
    return builder.fadd(*(mixed(builder, value, value, range(e, n, PAIR)) for e in range(PAIR)))


def across(builder: Any, value: Any) -> Any:
    """The sum of all lanes, by halves."""
    n = value.type.count
    while n > 1:
        n //= 2
        value = builder.fadd(*(mixed(builder, value, value, range(p, p + n)) for p in (0, n)))
    return builder.extract_element(value, SMALL(0))


def turned(builder: Any, four: Sequence[Any]) -> list[Any]:
    """Four rows of all lanes, turned: a vector of four for each lane, by shuffles that stay within half vectors."""
    if four[0].type.count == FOUR:
        pairs = [
            mixed(builder, four[i], four[i + 1], o) for o in ((0, 4, 2, 6), (1, 5, 3, 7)) for i in (0, 2)
        ]
        orders = ((0, 1, 4, 5), (2, 3, 6, 7))
        turned = [[mixed(builder, pairs[p], pairs[p + 1], order) for p in (0, 2)] for order in orders]
        return [value for part in turned for value in part]
    steps = ((0, 8, 1, 9, 4, 12, 5, 13), (2, 10, 3, 11, 6, 14, 7, 15))
    pairs = [mixed(builder, four[i], four[i + 1], order) for order in steps for i in (0, 2)]
    steps = ((0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15))
    both = [mixed(builder, pairs[p], pairs[p + 1], order) for p in (0, 2) for order in steps]
    return [mixed(builder, value, value, range(h, h + FOUR)) for h in (0, FOUR) for value in both]


def turned_pairs(builder: Any, four: Sequence[Any]) -> list[Any]:
    """Four rows of pairs to be added, turned: a vector of four for each pair."""
    n = four[0].type.count
    # of two rows: pair 0 of the one and of the other, pair 1 of both, ...
    parts = [[(lane // PAIR * PAIR) + e + n * (lane % PAIR) for lane in range(n)] for e in range(PAIR)]
    sums = [builder.fadd(*(mixed(builder, four[i], four[i + 1], part) for part in parts)) for i in (0, 2)]
    return [mixed(builder, sums[0], sums[1], [p, p + 1, n + p, n + p + 1]) for p in range(0, n, PAIR)]
