"""Whose turn it is: threads that take block after block, and pass after pass, without coming back to Python.

A thread takes the number of the next block that nobody has taken, in one instruction that no other thread can come
between. Which thread visits a block changes nothing: blocks are fixed, and each has sums of its own. Whoever ends the
last block of a pass has all to itself until it opens the next one, or says that there is none.

``turns`` has a line of eight numbers, a cache line of its own, for each of: the pass that is open, or less than 0
after the end; the blocks that are done; the pass that is another than those before, or -1; and, of every pass, the
block that is next.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.instructions import numbers_and_cells

OPEN, DONE, OTHER, NEXT = 0, 1, 2, 3
WAIT, END = -1, -2  # instead of the number of a block
ENDED, FAILED = -1, -2  # instead of the number of the open pass
PATIENCE = 1 << 21  # looks at the open pass: some tenths of a millisecond

Turns = NDArray[np.int64]


def turns_for(passes: int) -> Turns:
    """(3 + passes, 8) for so many passes at most, the first of them open."""
    turns = np.zeros((NEXT + passes, 8), np.int64)
    turns[OTHER] = -1
    return turns


def passes_done(turns: Turns, blocks: int) -> int:
    """How many passes over so many blocks came to their end."""
    return int(turns[DONE, 0]) // blocks


def all_done(turns: Turns) -> bool:
    """Whether all passes came to their end. Who took part may still be on the way out."""
    return bool(turns[OPEN, 0] == ENDED)


def take_all(turns: Turns, visit: Callable[[], bool]) -> None:
    """Visit blocks until none is left; ``visit`` tells whether it is so, or others take long to end a pass."""
    try:
        while not visit():
            time.sleep(0.0)  # who is to end the pass may need this core
    except BaseException:
        turns[OPEN] = FAILED  # nobody shall wait for a block that is not done
        raise


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
    """The number of a block that is now this thread's, or END; and the pass. WAIT: others take long to end it."""
    while True:
        number = _look_at(turns, OPEN)
        if number < 0:
            return END, number
        block = _raise_by_one(turns, NEXT + number)
        if block < blocks:
            return block, number
        looks = 0  # not in Python, where to fall asleep and to wake up takes as long
        while looks < PATIENCE and _look_at(turns, OPEN) == number:
            looks += 1
        if looks == PATIENCE:
            return WAIT, number


@kernel
def was_last(turns: Turns, blocks: int, number: int) -> bool:
    """A block of a pass is done: whether it was the last of them."""
    done: int = _raise_by_one(turns, DONE) + 1
    return done == blocks * (number + 1)


@kernel
def open_pass(turns: Turns, number: int) -> None:
    """Let all begin with a pass, or end."""
    _set_to(turns, OPEN, number)


@kernel
def open_other(turns: Turns, number: int) -> None:
    """Let all begin with a pass that is another than those before."""
    turns[OTHER, 0] = number
    _set_to(turns, OPEN, number)


@kernel
def is_other(turns: Turns, number: int) -> bool:
    """Whether a pass is that one."""
    return bool(turns[OTHER, 0] == number)
