"""The same table in longer blocks, for statistics whose merging costs as much as their making.

Every block costs its merge, and a score of small array operations, between which threads wait for each other at the
interpreter. Where a block is one matrix product, four times as many rows a block halve the time of a pass.
"""

from __future__ import annotations

from collections.abc import Iterator

from asterism.data.block import MOST_ROWS
from asterism.data.source import ArraySource, Piece, Source

MOST_BYTES = 8 << 20  # of a longer block, counted at 8 bytes a cell
FEWEST = 16  # blocks of a table: enough that all threads end at about the same time


def in_longer_blocks(source: Source) -> Source:
    """The same rows in the longest blocks of up to 8 MB that leave the table in at least 16 of them.

    >>> import numpy as np
    >>> source = ArraySource(np.zeros((200_000, 100), np.float32))
    >>> source.block_rows, in_longer_blocks(source).block_rows
    (2048, 8192)
    """
    rows = source.block_rows
    most = min(MOST_BYTES // (8 * source.n_columns), MOST_ROWS, source.n_rows // FEWEST)
    while 2 * rows <= most:
        rows *= 2
    return source if rows == source.block_rows else LongerBlocks(source, rows)


class LongerBlocks(Source):
    """A source in blocks of ``block_rows`` rows, a multiple of its own."""

    block_rows: int = 0

    def __init__(self, inner: Source, block_rows: int) -> None:
        self.inner, self.block_rows = inner, block_rows
        self.columns, self.n_rows, self.dtype = inner.columns, inner.n_rows, inner.dtype
        self.ignored = inner.ignored

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's pieces; of an array that needs no converting a single one, so that none are joined."""
        inner = self.inner
        if not (isinstance(inner, ArraySource) and inner.array.dtype == self.dtype):
            yield from inner.pieces(start, stop)
            return
        here = slice(start - inner.start, stop - inner.start)
        yield inner.array[here], None if inner.weights is None else inner.weights[here]

    def part(self, first: int, last: int) -> Source:
        """The inner source's part that holds these blocks."""
        times = self.block_rows // self.inner.block_rows
        inner = self.inner.part(first * times, last * times)
        return self if inner is self.inner else LongerBlocks(inner, self.block_rows)
