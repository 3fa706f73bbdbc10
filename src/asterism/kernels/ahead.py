"""Kernels compiled ahead, by a second process, while the first run of ``asterism find`` compiles others.

Numba compiles one kernel at a time in a process, and on a first run nearly all time goes into that. The command
compiles what it needs when it needs it, forwards; this process takes the list below, backwards from what is needed
last. Both keep what they have in the same folder, and Numba looks there before it compiles: where they meet, the
rest is done. If both compile one kernel at the same time, the same file is written twice, each time whole.

``python -m asterism.kernels.ahead`` compiles what is not there yet, and ends early when its standard input does: so
it cannot outlive who started it.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any, Literal

# What takes long before what does not, and of the rest the last first, so that the command seldom arrives at a kernel
# that is being compiled here. A word is an argument: NumPy's letter for the type, the number of axes of an array
# (none: a number), F for columns side by side, r for read-only. Kernels that begin a run are left to the run itself.
NEEDED = (
    ("full.full_block", "d2r d1r d2 d2 d3 d1 q d1 d1 d2 d3 d1"),  # the report's steps of EM
    ("moves.move_rows", "d2r d1r d1 d2 i2 i1 d2 ? q d3 d2"),  # k-means, where mixtures start
    ("moves.scatter_rows", "d2r d1r d1 d2 i1 d1"),
    ("diagonal.diagonal_scores", "d2r d1 d2 d3 d1r d2"),  # mixtures
    ("levels.add_level_counts", "d2r d2 d1r q1 d2"),
    ("levels.add_level_scores", "d2r d1r q1 d2 d2"),
    ("silhouette.add_euclidean_sums", "d2r d1 ? d1 q1 q1 d2"),
    ("swap.add_changes", "d2 i1 d1 d1 d1r d1 d2"),  # the second opinion of medoids
    ("swap.nearest_two", "d2 i1 d1 d1"),
    ("pairwise.mixed_tile", "d2r d2 q1 d1 d d d2"),
    ("swap.add_changes", "d2r i1 d1 d1 d1r d1 d2"),
    ("swap.nearest_two", "d2F i1 d1 d1"),
    ("pairwise.mixed_tile", "d2 d2 q1 d1 d d d2"),
    ("shares.sum_scores", "d2 d1 d1 i1"),  # mixtures again
    ("tied.tied_scores", "d2r d1 d2 d2 d2 d1 d2"),
    ("full.full_scores", "d2r d1 d2 d2 d3 d1r d2"),
    ("dip.dip_of", "d1 d1"),  # tables of complete numbers only
)


def kernels() -> dict[str, Any]:
    """The kernels of the list by their names."""
    from asterism.kernels import diagonal, dip, full, levels, moves, pairwise, shares, silhouette, swap, tied

    modules = (diagonal, dip, full, levels, moves, pairwise, shares, silhouette, swap, tied)
    short = {module.__name__.rpartition(".")[2]: module for module in modules}
    names = dict.fromkeys(name for name, _ in NEEDED)
    return {name: getattr(short[name.partition(".")[0]], name.partition(".")[2]) for name in names}


def is_first_run() -> bool:
    """Whether some kernel of the list was never compiled here; what is out of date is for Numba to find."""
    return not all(_on_disk(kernel) for kernel in kernels().values())


def _on_disk(kernel: Any) -> bool:
    code = kernel.py_func.__code__
    name = f"{Path(code.co_filename).stem}.{kernel.py_func.__qualname__}-{code.co_firstlineno}.*.nbi"
    return any(Path(kernel.stats.cache_path).glob(name))  # as Numba names its indices


def arguments(words: str) -> tuple[Any, ...]:
    """Numba's types of a line of the list.

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


def compile_all() -> None:
    """Compile the list, as far as it is not on disk."""
    compilers = kernels()
    for name, words in NEEDED:
        compilers[name].compile(arguments(words))


def _end_with_standard_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    import gc

    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    gc.disable()  # nothing here is worth collecting
    compile_all()
