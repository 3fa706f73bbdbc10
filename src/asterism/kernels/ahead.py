"""Kernels compiled ahead, by a second process, while the first run of ``asterism find`` compiles others.

Numba compiles one kernel at a time in a process, and on a first run nearly all time goes into that. The command
compiles what it needs when it needs it, forwards; this process takes the lists below, backwards from what is needed
last. Both keep what they have in the same folder, and Numba looks there before it compiles: where they meet,
the rest is done. If both compile one kernel at the same time, the same file is written twice, each time whole.

``python -m asterism.kernels.ahead`` reads kinds of tables from its standard input, a line each, and compiles what is
not there yet. It ends when its standard input does, whatever it is at: so it cannot outlive who started it.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

Line = tuple[str, str]  # a kernel, and its arguments

# A word is an argument: NumPy's letter for the type, the number of axes of an array (none: a number), F for columns
# side by side, r for read-only. What begins every run is left to the run itself.
ALWAYS: tuple[Line, ...] = (
    # the last first: the report, the second opinion of medoids, what all mixtures end with
    ("silhouette.add_euclidean_sums", "d2r d1 ? d1 q1 q1 d2"),
    ("swap.add_changes", "d2 i1 d1 d1 d1r d1 d2"),
    ("swap.nearest_two", "d2 i1 d1 d1"),
    ("pairwise.mixed_tile", "d2r d2 q1 d1 d d d2"),
    ("swap.add_changes", "d2r i1 d1 d1 d1r d1 d2"),
    ("swap.nearest_two", "d2F i1 d1 d1"),
    ("pairwise.mixed_tile", "d2 d2 q1 d1 d d d2"),
    ("shares.sum_scores", "d2 d1 d1 i1"),
    ("full.full_scores", "d2r d1 d2 d2 d3 d1 d2"),
    ("tied.tied_scores", "d2r d1 d2 d2 d2 d1 d2"),
    ("diagonal.diagonal_scores", "d2r d1 d2 d3 d1 d2"),
    ("normals.log_heights", "d2 q"),
)
STACKS: tuple[Line, ...] = (  # mixtures of numbers move together
    ("several.full_mixtures", "d2F d1r d2 q1 d2 d3 d1 d1 d2 d3 d2 q"),
    ("several.tied_mixtures", "d2F d1r d3 q1 d3 d2 d1 d1 d2 d3 d2 q"),
    ("several.diagonal_mixtures", "d2F d1r d3 q1 d2 d2 d1 ?1 d1 d3 d2 q"),
    ("several.spherical_mixtures", "d2F d1r d3 q1 d2 d1 d1 d1 d2 d1 d2 q"),
)
BLOCKS: tuple[Line, ...] = (  # or one by one, where cells are missing
    ("tied.tied_block", "d2r d1r d2 d2 d2 d2 q d1 d1 d2 d2 d1"),
    ("full.full_block", "d2r d1r d2 d2 d3 d1 q d1 d1 d2 d3 d1"),
    ("diagonal.diagonal_block", "d2r d1r d2 d3 d1 q d1 ? d1 d3 d1"),
    ("spherical.spherical_block", "d2r d1r d2 d2 d2 q d1 d1 d2 d1 d1"),
    ("normals.largest_square", "d2 d2"),
    ("normals.largest_growth", "d2 d2 d1"),
)
WIDE: tuple[Line, ...] = (  # the same for more columns than three (``wide_visits.FEWEST``)
    ("claims.wide_blocks", "d2r d1r q2 d2 d2 ? ? q d1 q1 d2 d2 d1 d2 d3 d3 d2"),
    ("wide_full.wide_full_block", "d2r d1r d2 d2 d3 d1 ? q d1 d1 d2 d3 d1"),
    ("claims.wide_tied_blocks", "d2r d1r q2 d2 d2 d2 ? q d1 q1 d2"),
    ("wide.write_lines", "d2 d2 d1 d2"),
    ("shares.read_notes", "d1 d1 i1 d1"),
    ("wide.bring_home", "d1 d2 d1 d2 d2 d2"),
    ("tied.bring_one_home", "d1 d2 d2 d2 d2 d2"),
    ("wide.next_groups", "d1 d2 d1 d2 d1 d d2 d2"),
)
DIP: Line = ("dip.dip_of", "d1 d1")


@dataclass(frozen=True)
class Needed:
    """What tables of a kind need besides what all do: its search begins with the first, and may meet the others."""

    certain: tuple[Line, ...] = ()
    others: tuple[Line, ...] = ()

    @property
    def urgent(self) -> tuple[Line, ...]:
        """Of four that take long, and are called one after the other, the last: the command is at the first."""
        return self.certain[:1]


KINDS = {
    "any": Needed(ALWAYS),
    "mixed": Needed(),
    "numbers": Needed(STACKS, (DIP,)),
    "gaps": Needed(BLOCKS, (DIP, *WIDE, *STACKS)),
}


def kernel(name: str) -> Any:
    """A kernel of the lists by its name."""
    module, _, function = name.partition(".")
    return getattr(import_module(f"asterism.kernels.{module}"), function)


def is_compiled(kind: str) -> bool:
    """Whether all that is certain to be called was compiled here once; what is out of date is for Numba to find."""
    return all(_on_disk(kernel(name)) for name, _ in KINDS[kind].certain)


def _on_disk(compiler: Any) -> bool:
    code = compiler.py_func.__code__
    name = f"{Path(code.co_filename).stem}.{compiler.py_func.__qualname__}-{code.co_firstlineno}.*.nbi"
    return any(Path(compiler.stats.cache_path).glob(name))  # as Numba names its indices


def arguments(words: str) -> tuple[Any, ...]:
    """Numba's types of a line of a list.

    >>> arguments("d2r i1 q")
    (Array(float64, 2, 'C', True, aligned=True), Array(int32, 1, 'C', False, aligned=True), int64)
    """
    import numpy as np
    from numba import from_dtype, types

    found: list[Any] = []
    for word in words.split():
        cell, axes = from_dtype(np.dtype(word[0])), word[1:2]
        order: Literal["F", "C"] = "F" if "F" in word else "C"
        found.append(types.Array(cell, int(axes), order, readonly="r" in word) if axes else cell)
    return tuple(found)


def compile_one(line: Line) -> None:
    """Compile a kernel, or find it on disk."""
    name, words = line
    kernel(name).compile(arguments(words))


def in_order(before: Sequence[Line], kind: str) -> list[Line]:
    """What is left to compile, once it is known what kind of table it is for."""
    needed = KINDS[kind]
    return list(dict.fromkeys([*needed.urgent, *before, *needed.certain, *needed.others]))


def _listen(told: queue.SimpleQueue[str]) -> None:
    """Kinds of tables, as they come; and the end with the end of standard input."""
    for line in sys.stdin:
        told.put(line.strip())
    os._exit(0)


if __name__ == "__main__":
    import gc

    gc.disable()  # nothing here is worth collecting
    kinds: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(kinds,), daemon=True).start()
    left: list[Line] = []
    while True:
        while not left or not kinds.empty():
            left = in_order(left, kinds.get())
        compile_one(left.pop(0))
