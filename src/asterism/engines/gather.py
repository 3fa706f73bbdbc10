"""Bringing together what was made of the parts of a table, in whatever order it arrives.

A part is a block, or on a cluster an aligned run of blocks. Gatherings nest: rows of rows are rows, and a
merge tree over the results of aligned merge trees is one merge tree. So a worker gathers its run of blocks
and sends one result, the driver gathers those, and not a bit differs from gathering the blocks themselves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.engines.tree import MergeTree


@dataclass(frozen=True, slots=True)
class Parts:
    """Consecutive rows, cut into parts of equal size (the last may be shorter).

    >>> Parts(n_rows=10, size=4).count
    3
    """

    n_rows: int
    size: int  # rows of a part

    @property
    def count(self) -> int:
        """How many parts there are."""
        return -(-self.n_rows // self.size)


class Gathering(Protocol):
    """Takes the results of parts ``0 .. count - 1`` in any order and from any thread."""

    def add(self, number: int, result: Any) -> None:
        """Put in the result of one part."""
        ...

    def result(self) -> Any:
        """The result of all parts; asked for when every part is in."""
        ...


Visit = Callable[[Block], Any]
Gather = Callable[[Parts], Gathering]


def merged(parts: Parts) -> MergeTree:
    """Statistics become one statistic."""
    return MergeTree(parts.count)


class Stacked:
    """Rows out become one array, made when the first of them tell its shape and type."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._array: NDArray[Any] | None = None
        self._lock = threading.Lock()

    def add(self, number: int, result: NDArray[Any]) -> None:
        """Put the rows of one part in their place."""
        with self._lock:
            if self._array is None:
                self._array = np.empty((self._parts.n_rows, *result.shape[1:]), result.dtype)
        start = number * self._parts.size
        self._array[start : start + self._parts.size] = result

    def result(self) -> NDArray[Any]:
        """(n, ...) all rows."""
        assert self._array is not None, "no part was added"
        return self._array


class StackedAndMerged:
    """Both at once: results are pairs of rows out and a statistic."""

    def __init__(self, parts: Parts) -> None:
        self._rows, self._tree = Stacked(parts), merged(parts)

    def add(self, number: int, result: tuple[NDArray[Any], Any]) -> None:
        """Rows to the rows, the statistic to the tree."""
        self._rows.add(number, result[0])
        self._tree.add(number, result[1])

    def result(self) -> tuple[NDArray[Any], Any]:
        """(n, ...) all rows, and the statistic of all of them."""
        return self._rows.result(), self._tree.result()
