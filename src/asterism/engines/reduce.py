"""The two verbs, on whichever engine is current.

``reduce(source, summarize)``  one statistic of all rows
``map_rows(source, f)``        one row out per row in
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.data.source import Source
from asterism.engines.context import current
from asterism.engines.tree import MergeTree
from asterism.errors import DataError


def reduce(source: Source, summarize: Callable[[Block], Any]) -> Any:
    """Merge ``summarize(block)`` over all blocks, in the fixed tree."""
    require_rows(source)
    settings = current()
    tree = MergeTree(source.n_blocks)
    settings.runner().walk(source, summarize, lambda i, _block, statistic: tree.add(i, statistic))
    return tree.result()


def map_rows(source: Source, f: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
    """``f(block)`` for all blocks, one under the other."""
    require_rows(source)
    out = _Rows(source.n_rows)
    current().runner().walk(source, f, lambda _i, block, rows: out.put(block.start, rows))
    return out.array


def map_reduce(source: Source, f: Callable[[Block], tuple[NDArray[Any], Any]]) -> tuple[NDArray[Any], Any]:
    """Both in one pass: ``f(block)`` gives rows out and a statistic."""
    require_rows(source)
    out, tree = _Rows(source.n_rows), MergeTree(source.n_blocks)

    def collect(i: int, block: Block, result: tuple[NDArray[Any], Any]) -> None:
        out.put(block.start, result[0])
        tree.add(i, result[1])

    current().runner().walk(source, f, collect)
    return out.array, tree.result()


def require_rows(source: Source) -> None:
    """A table without rows or columns has no statistic."""
    if source.n_rows == 0 or source.n_columns == 0:
        raise DataError(
            f"The table is empty: 0 sample(s) or 0 feature(s) (shape=({source.n_rows}, {source.n_columns})) "
            "while a minimum of 1 is required.",
            "Give at least one row and one usable column.",
        )


class _Rows:
    """The result of a map, made when the first rows tell their shape and type."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.array: NDArray[Any] = np.empty(0)

    def put(self, start: int, rows: NDArray[Any]) -> None:
        if not len(self.array):
            # Two threads may both come first; setdefault keeps one array for both.
            self.array = self.__dict__.setdefault("_made", np.empty((self.n, *rows.shape[1:]), rows.dtype))
        self.array[start : start + len(rows)] = rows
