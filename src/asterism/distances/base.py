"""A dissimilarity, and a dissimilarity that knows its table.

``Dissimilarity.prepare(source)`` learns in one pass what it needs of the table (ranges, a covariance) and gives a
``Fitted`` one, whose ``between(A, B)`` measures rows against rows, in tiles. A new dissimilarity is one class with
``prepare``, and one with ``ready`` and ``tile``.

>>> import numpy as np
>>> from asterism.distances.base import dissimilarity
>>> from asterism.data.source import ArraySource
>>> X = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, np.nan]])
>>> dissimilarity("euclidean").prepare(ArraySource(X)).between(X[:1], X[:2])
array([[0., 5.]])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Matrix, Vector, block_of
from asterism.data.finite import require_finite
from asterism.data.source import Piece, Source
from asterism.errors import ParameterError

Tile = NDArray[np.float64]  # (a, b) dissimilarities of a rows to b rows


class Dissimilarity(ABC):
    """How unlike two rows are; what it needs to know of the table it has yet to be told."""

    takes_kinds: ClassVar[bool] = False  # whether it goes by the kinds of columns, or calculates with numbers

    @abstractmethod
    def prepare(self, source: Source) -> Fitted:
        """Learn what is needed of the table, in one pass at the most."""


class Fitted(ABC):
    """A dissimilarity that can be measured. Symmetric, and exactly 0 from a row to itself.

    ``between(A, B)`` takes rows as they are in the table. Those who measure the same rows again and again
    make them ``ready`` once, make ``points`` of the others, and ask for ``tile(ready rows, points)``.
    """

    names: tuple[str, ...]  # of the table's columns
    unknown: float = np.nan  # the dissimilarity of rows that have no cell in common
    missing_ok: bool = True  # whether rows may lack cells
    by_number: bool = False  # whether points are rows' numbers in the fitted table, and nothing else
    costly: bool = False  # whether a pair costs so much that it is better remembered than measured again

    @abstractmethod
    def ready(self, rows: Matrix) -> NDArray[np.float64]:
        """(n, d) rows of the table -> (n, width) rows as ``tile`` takes them."""

    @abstractmethod
    def tile(self, ready: NDArray[np.float64], points: Any) -> Tile:
        """(a, width) rows, and b points -> (a, b)."""

    def points(self, ready: NDArray[np.float64], numbers: Any = None) -> Any:  # noqa: ARG002  for precomputed
        """What ``tile`` takes for its second set of rows; ``numbers`` are their places in the fitted table."""
        return ready

    def between(self, a: Matrix, b: Matrix) -> Tile:
        """(a, d) and (b, d) rows of a table -> (a, b) dissimilarities."""
        return self.tile(self.checked(a), self.points(self.checked(b)))

    def checked(self, rows: Matrix, weights: Vector | None = None, start: int = 0) -> NDArray[np.float64]:
        """Ready rows, once it is known that those that count can be measured; ``start`` is the first one's number."""
        require_finite(block_of(rows, weights, start), self.names, missing_ok=self.missing_ok)
        return self.ready(rows)


class ReadySource(Source):
    """The rows of a table as a dissimilarity wants them, in blocks small enough that all threads have one."""

    MOST_ROWS = 4096
    LEAST_ROWS = 128
    PARTS = 8  # that a small table is cut into, at the least

    def __init__(self, source: Source, fitted: Fitted) -> None:
        self.source, self.fitted = source, fitted
        self.columns, self.n_rows, self.ignored = source.columns, source.n_rows, source.ignored
        self.dtype = np.dtype(np.float64)

    @property
    def block_rows(self) -> int:
        """A power of two that depends on the size of the table alone."""
        aim = min(max(self.n_rows // self.PARTS, self.LEAST_ROWS), self.MOST_ROWS, self.source.block_rows)
        return 1 << (int(aim).bit_length() - 1)

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """Pieces of the table, made ready no more than a block at a time."""
        size, row = self.block_rows, start
        for rows, weights in self.source.pieces(start, stop):
            for a in range(0, len(rows), size):
                part = rows[a : a + size]
                count = None if weights is None else weights[a : a + size]
                yield self.fitted.checked(part, count, row), count
                row += len(part)

    def part(self, first: int, last: int) -> Source:
        """The part of the table that holds these blocks."""
        stop = min(last * self.block_rows, self.n_rows)
        inner = self.source.block_rows
        part = ReadySource(self.source.part(first * self.block_rows // inner, -(-stop // inner)), self.fitted)
        part.n_rows = stop
        return part


def dissimilarity(metric: Any) -> Dissimilarity:
    """The dissimilarity that is meant: its name, one as it is, or a function of two rows.

    >>> dissimilarity("manhattan")
    PNorm(p=1.0)
    >>> dissimilarity("euclidian")
    Traceback (most recent call last):
    asterism.errors.ParameterError: metric is 'euclidian'. Did you mean 'euclidean'? Known are ...
    """
    from asterism.distances.given import Precomputed, UserFunction
    from asterism.distances.mixed import BY_NAME as MIXED
    from asterism.distances.numeric import BY_NAME as NUMERIC

    if isinstance(metric, Dissimilarity):
        return metric
    if callable(metric) and not isinstance(metric, type):
        return UserFunction(metric)
    known: dict[str, Dissimilarity] = {**NUMERIC, **MIXED, "precomputed": Precomputed()}
    if isinstance(metric, str) and metric in known:
        return known[metric]
    close = get_close_matches(str(metric), known, 1)
    meant = f"Did you mean {close[0]!r}? " if close else ""
    raise ParameterError(
        f"metric is {metric!r}.", f"{meant}Known are {', '.join(known)}, and any function of two rows."
    )
