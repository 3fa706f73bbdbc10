"""Rows with a missing cell, left out: they stay in the table, in their place, with weight 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from asterism.data.block import unit_weights
from asterism.data.source import Piece, Source


class CompleteRows(Source):
    """A source in which a row that has a missing cell counts 0 times.

    >>> from asterism.data.source import ArraySource
    >>> source = CompleteRows(ArraySource(np.array([[1.0, 2.0], [3.0, np.nan]])))
    >>> next(source.blocks()).weights.tolist()
    [1.0, 0.0]
    """

    def __init__(self, inner: Source) -> None:
        self.inner = inner
        self.columns, self.n_rows, self.dtype = inner.columns, inner.n_rows, inner.dtype

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's pieces."""
        for rows, weights in self.inner.pieces(start, stop):
            own = unit_weights(len(rows)) if weights is None else weights
            yield rows, np.where(np.isnan(rows).any(axis=1), 0.0, own)

    def part(self, first: int, last: int) -> Source:
        """The same of the inner source's part."""
        return CompleteRows(self.inner.part(first, last))
