"""Some columns of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from asterism.data.columns import Column
from asterism.data.source import Piece, Source, part_within


class SelectedColumns(Source):
    """A table without some of its columns, which are ignored for the reasons given.

    >>> from asterism.data.source import ArraySource
    >>> two = SelectedColumns(ArraySource(np.arange(6.0).reshape(2, 3)), {"x1": "not wanted"})
    >>> next(two.blocks()).rows.tolist(), two.names, two.ignored[0].reason
    ([[0.0, 2.0], [3.0, 5.0]], ('x0', 'x2'), 'not wanted')
    """

    def __init__(self, inner: Source, aside: Mapping[str, str]) -> None:
        self.inner, self.aside = inner, dict(aside)
        self.kept = np.array([j for j, name in enumerate(inner.names) if name not in aside], np.intp)
        self.columns = tuple(inner.columns[j] for j in self.kept)
        more = (Column(c.name, "ignored", reason=aside[c.name]) for c in inner.columns if c.name in aside)
        self.ignored = (*inner.ignored, *more)
        self.n_rows, self.dtype = inner.n_rows, inner.dtype

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's pieces, narrower."""
        for rows, weights in self.inner.pieces(start, stop):
            yield np.take(rows, self.kept, axis=1), weights  # in C order, as the whole table's rows are

    def part(self, first: int, last: int) -> Source:
        """The same of the inner source's part that holds these blocks."""
        inner, stop = part_within(self, self.inner, first, last)
        part = SelectedColumns(inner, self.aside)
        part.n_rows = stop
        return part
