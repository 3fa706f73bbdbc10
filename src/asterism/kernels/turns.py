"""Whose turn it is: threads that take block after block, and pass after pass, without coming back to Python.

A thread takes the number of the next block that nobody has taken, in one instruction that no other thread can come
between. Which thread visits a block changes nothing: blocks are fixed, and each has sums of its own. Whoever ends the
last block of a pass has all to itself until it opens the next one, or says that there is none.

``turns`` has a line of eight numbers, a cache line of its own, for each of: the pass that is open, or -1 after the
end; the blocks that are done; the last pass there may be; and, of every pass, the block that is next.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.instructions import numbers_and_cells

OPEN, DONE, LAST, NEXT = 0, 1, 2, 3
WAIT, END = -1, -2  # instead of the number of a block
PATIENCE = 1 << 21  # looks at the open pass: some tenths of a millisecond

Turns = NDArray[np.int64]


def turns_for(passes: int) -> Turns:
    """(3 + passes, 8) for so many passes at most, the first of them open."""
    turns = np.zeros((NEXT + passes, 8), np.int64)
    turns[LAST] = passes - 1
    return turns


def passes_done(turns: Turns, blocks: int) -> int:
    """How many passes over so many blocks came to their end."""
    return int(turns[DONE, 0]) // blocks


def _raise(typing: Any, turns: Any, line: Any) -> Any:  # noqa: ARG001  as Numba calls it
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        return builder.atomic_rmw("add", cell(0, arguments[1], number(0)), ir.IntType(64)(1), "acq_rel")

    return types.int64(turns, types.intp), generate


def _read(typing: Any, turns: Any, line: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        return builder.load_atomic(cell(0, arguments[1], number(0)), "acquire", 8)

    return types.int64(turns, types.intp), generate


def _write(typing: Any, turns: Any, line: Any, value: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, cell = numbers_and_cells(context, builder, signature, arguments)
        builder.store_atomic(arguments[2], cell(0, arguments[1], number(0)), "release", 8)
        return context.get_dummy_value()

    return types.void(turns, types.intp, types.int64), generate


_raise_by_one = cast(Any, intrinsic(_raise))  # the number before
_look_at, _set_to = cast(Any, intrinsic(_read)), cast(Any, intrinsic(_write))


@kernel
def take_turn(turns: Turns, blocks: int) -> tuple[int, int]:
    """The number of a block that is now this thread's, or what to do instead; and the pass."""
    number = _look_at(turns, OPEN)
    if number < 0:
        return END, number
    block = _raise_by_one(turns, NEXT + number)
    if block < blocks:
        return block, number
    return END if number == turns[LAST, 0] else WAIT, number


@kernel
def wait_for_pass(turns: Turns, number: int) -> bool:
    """Whether a pass has ended before patience did."""
    looks = 0
    while looks < PATIENCE and _look_at(turns, OPEN) == number:
        looks += 1
    return looks < PATIENCE


@kernel
def was_last(turns: Turns, blocks: int, number: int) -> bool:
    """A block of a pass is done: whether it was the last of them."""
    done: int = _raise_by_one(turns, DONE) + 1
    return done == blocks * (number + 1)


@kernel
def open_pass(turns: Turns, number: int) -> None:
    """Let all begin with a pass, or end at -1."""
    _set_to(turns, OPEN, number)
