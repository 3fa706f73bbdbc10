"""Some rows left out of what all rows add up to: they stay in the table, in their place, with weight 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import unit_weights
from asterism.data.source import Piece, Source, part_within


class WithoutRows(Source):
    """A source in which rows of given numbers, ascending, count 0 times.

    >>> from asterism.data.source import ArraySource
    >>> next(WithoutRows(ArraySource(np.eye(3)), np.array([1])).blocks()).weights.tolist()
    [1.0, 0.0, 1.0]
    """

    def __init__(self, inner: Source, rows: NDArray[np.int64]) -> None:
        self.inner, self.rows = inner, rows
        self.columns, self.n_rows, self.dtype = inner.columns, inner.n_rows, inner.dtype

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's pieces."""
        for rows, weights in self.inner.pieces(start, stop):
            end = start + len(rows)
            first, last = np.searchsorted(self.rows, [start, end])
            own = np.array(unit_weights(len(rows)) if weights is None else weights)
            own[self.rows[first:last] - start] = 0.0
            yield rows, own
            start = end

    def part(self, first: int, last: int) -> Source:
        """The same of the inner source's part that holds these blocks."""
        inner, stop = part_within(self, self.inner, first, last)
        part = WithoutRows(inner, self.rows)
        part.n_rows = stop
        return part
