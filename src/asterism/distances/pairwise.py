"""All pairs of rows, a tile at a time, on threads; as one matrix only where it is asked for and fits.

``square(source, metric)``     (n, n)
``condensed(source, metric)``  (n (n - 1) / 2,) the upper triangle, line by line, as SciPy's ``pdist``
``sums(source, metric)``       (n,) the weighted sum of each row's dissimilarities to all rows; O(n) memory
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.data.memory import available_memory, parse_bytes
from asterism.data.source import Source
from asterism.distances.base import Fitted, ReadySource, dissimilarity
from asterism.engines.context import current
from asterism.engines.gather import Stacked
from asterism.engines.reduce import require_rows
from asterism.engines.threads import ThreadEngine
from asterism.errors import MemoryBudgetError

COLUMNS = 2048  # of a tile


def square(
    source: Source, metric: Any = "euclidean", *, memory: str | int | None = None
) -> NDArray[np.float64]:
    """(n, n) all dissimilarities, refused where they do not fit the memory.

    >>> from asterism.data.source import ArraySource
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> square(ArraySource(X))
    array([[ 0.,  5., 10.],
           [ 5.,  0.,  5.],
           [10.,  5.,  0.]])
    """
    n = source.n_rows
    require_memory(8 * n * n, f"A matrix of all {n} x {n} dissimilarities", memory)
    fitted, ready = prepared(source, metric)
    out = np.empty((n, n))
    points = every_row(ready)

    def fill(block: Block) -> None:
        mine = slice(block.start, block.start + len(block))
        for a in range(block.start if fitted.costly else 0, n, COLUMNS):
            b = min(a + COLUMNS, n)
            tile = fitted.tile(block.rows, fitted.points(points[a:b], np.arange(a, b)))
            out[mine, a:b] = tile
            if fitted.costly:  # the other triangle is the same: dearer to measure than to copy
                out[a:b, mine] = tile.T

    on_threads(ready, fill)
    return out


def condensed(source: Source, metric: Any = "euclidean", *, memory: str | int | None = None) -> Vector:
    """(n (n - 1) / 2,) every pair once, refused where they do not fit the memory.

    >>> from asterism.data.source import ArraySource
    >>> condensed(ArraySource(np.array([[0.0], [1.0], [5.0]])), "manhattan")
    array([1., 5., 4.])
    """
    n = source.n_rows
    require_memory(4 * n * (n - 1), f"A list of all {n * (n - 1) // 2} pairs of {n} rows", memory)
    fitted, ready = prepared(source, metric)
    out = np.empty(n * (n - 1) // 2)
    points = every_row(ready)

    def fill(block: Block) -> None:
        for a in range(block.start, n, COLUMNS):
            b = min(a + COLUMNS, n)
            tile = fitted.tile(block.rows, fitted.points(points[a:b], np.arange(a, b)))
            for i in range(block.start, min(block.start + len(block), b - 1)):
                left = max(a, i + 1)
                begin = i * n - i * (i + 1) // 2 + left - i - 1
                out[begin : begin + b - left] = tile[i - block.start, left - a :]

    on_threads(ready, fill)
    return out


def sums(source: Source, metric: Any = "euclidean") -> Vector:
    """(n,) sum_j w_j d(x_i, x_j), without a matrix.

    >>> from asterism.data.source import ArraySource
    >>> sums(ArraySource(np.array([[0.0], [1.0], [5.0]]), weights=[1, 1, 2])).tolist()
    [11.0, 9.0, 9.0]
    """
    fitted, ready = prepared(source, metric)
    points, weights = every_row(ready), every_weight(source)
    n = source.n_rows
    out = np.empty(n)

    def add(block: Block) -> None:
        total = np.zeros(len(block))
        for a in range(0, n, COLUMNS):
            b = min(a + COLUMNS, n)
            tile = fitted.tile(block.rows, fitted.points(points[a:b], np.arange(a, b)))
            total += tile @ weights[a:b]
        out[block.start : block.start + len(block)] = total

    on_threads(ready, add)
    return out


def prepared(source: Source, metric: Any) -> tuple[Fitted, ReadySource]:
    """The dissimilarity that is meant, told of the table; and the table's rows as it takes them."""
    require_rows(source)
    fitted = metric if isinstance(metric, Fitted) else dissimilarity(metric).prepare(source)
    return fitted, ReadySource(source, fitted)


def every_row(ready: ReadySource) -> NDArray[np.float64]:
    """(n, width) all rows, as the dissimilarity takes them."""
    pieces = [rows for rows, _ in ready.pieces(0, ready.n_rows)]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def every_weight(source: Source) -> Vector:
    """(n,) the weights of all rows."""
    parts = [np.ones(len(rows)) if w is None else w for rows, w in source.pieces(0, source.n_rows)]
    return np.concatenate(parts)


def on_threads(source: Source, work: Callable[[Block], None]) -> None:
    """``work`` on every block: always in this process, into whose memory it writes."""

    def visit(block: Block) -> NDArray[np.bool_]:
        work(block)
        return np.empty((len(block), 0), np.bool_)

    ThreadEngine(current().n_threads).walk(source, visit, Stacked)


def memory_budget(memory: str | int | None = None) -> int:
    """Bytes that may be taken: as said here, as the engine was told, or half of what is free."""
    told = parse_bytes(memory) or current().memory
    return told if told is not None else available_memory() // 2


def require_memory(size: int, what: str, memory: str | int | None = None) -> None:
    """A ``MemoryBudgetError`` that names the bytes, where they are too many."""
    budget = memory_budget(memory)
    if size > budget:
        raise MemoryBudgetError(
            f"{what} takes {size} bytes ({size / 1e9:.3g} GB), and {budget} may be used.",
            "Allow more with asterism.engine(memory=...), use fewer rows, or a method that needs no matrix.",
        )
