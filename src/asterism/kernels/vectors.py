"""Vectors in kernels written instruction by instruction: loops that keep sums in registers, loads, shuffles.

A vector is as long as the processor's: 64 bytes where it has AVX-512 and thirty-two registers of that length, else 32
bytes and sixteen registers. So many sums are kept in them that two units of four cycles are always busy, and that
reading is no bottleneck: of ``FOUR`` lines and ``SLAB`` vectors, or of ``MANY`` lines and up to three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba.core.registry import cpu_target

from asterism.kernels.instructions import SMALL, order_of

FOUR = 4  # lines that are taken together
QUARTER = 16  # bytes: of the part of a vector within which shuffles are quick
FREE = ("contract",)  # a multiply and an add may become one instruction

Sums = list[Any]


def _longest() -> int:
    """Bytes of a vector that Numba compiles for, which need not be this processor's longest."""
    features = cpu_target.target_context.codegen()._tm_features  # nobody else knows
    return 64 if "+avx512vl" in features else 32


BYTES = _longest()
SLAB = 4 if BYTES == 64 else 2  # vectors of rows that are scored together
MANY = 8 if BYTES == 64 else 4  # lines whose sums are taken together


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
    following, ended = builder.add(j, number(by)), builder.block
    builder.cbranch(builder.icmp_signed("<", following, count), body, after)
    j.add_incoming(number(0), before)
    j.add_incoming(following, ended)
    for phi, first, last in zip(begun, start, sums, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(last, ended)
    builder.position_at_end(after)
    return sums


def loop_from(
    builder: Any, first: Any, last: Any, by: Any, step: Callable[[Any, Sums], Sums], start: Sums
) -> Sums:
    """The sums after steps first, first + by, ... below ``last``, which may be none."""
    before = builder.block
    body, after = builder.append_basic_block("some"), builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed("<", first, last), body, after)
    builder.position_at_end(body)
    length = builder.sub(last, first)
    sums = loop(builder, length, length.type, lambda j, s: step(builder.add(first, j), s), start, by)
    ended = builder.block
    builder.branch(after)
    builder.position_at_end(after)
    out = [builder.phi(value.type) for value in start]
    for phi, none, found in zip(out, start, sums, strict=True):
        phi.add_incoming(none, before)
        phi.add_incoming(found, ended)
    return out


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


def vectors_at(builder: Any, place: Any, some: int, vector: Any) -> list[Any]:
    """Some vectors, one after the other, from a place."""
    offsets = (ir.IntType(64)(v * vector.count) for v in range(some))
    return [load(builder, builder.gep(place, [offset]), vector) for offset in offsets]


def spread_from(builder: Any, place: Any, at: Any, vector: Any) -> Any:
    """The number so far from a place, in all lanes."""
    one = load(builder, builder.gep(place, [at]), ir.VectorType(vector.element, 1))
    return mixed(builder, one, one, [0] * vector.count)


def mixed(builder: Any, a: Any, b: Any, order: Sequence[int]) -> Any:
    """Lanes of two vectors, those of the second counted on."""
    return builder.shuffle_vector(a, b, order_of(order))


def joined(builder: Any, parts: Sequence[Any]) -> Any:
    """Short vectors, one after the other."""
    while len(parts) > 1:
        n = parts[0].type.count
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [mixed(builder, a, b, range(2 * n)) for a, b in pairs]
    return parts[0]


def across(builder: Any, value: Any) -> Any:
    """The sum of all lanes, by halves."""
    while value.type.count > 1:
        value = builder.fadd(*halves(builder, value))
    return builder.extract_element(value, SMALL(0))


def halves(builder: Any, value: Any) -> list[Any]:
    """The first lanes of a vector, and the others."""
    n = value.type.count // 2
    return [mixed(builder, value, value, range(p, p + n)) for p in (0, n)]


def turned(builder: Any, lines: Sequence[Any]) -> list[Any]:
    """As many vectors as a quarter has lanes, turned in every quarter: lane c of line r goes to lane r of line c.

    Lines are shuffled like cards, each with the one half the pack away: what takes one instruction a line and round.
    """
    few, n = len(lines), lines[0].type.count
    quarters, half = range(0, n, few), few // 2
    orders = [
        [lane for q in quarters for p in range(q + low, q + low + half) for lane in (p, n + p)]
        for low in (0, half)
    ]
    for _ in range(few.bit_length() - 1):
        pairs = [(lines[r], lines[r + half]) for r in range(half)]
        lines = [mixed(builder, a, b, order) for a, b in pairs for order in orders]
    return list(lines)
