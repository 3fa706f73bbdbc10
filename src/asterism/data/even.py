"""The same table in blocks of nearly equal size, a power of two of them.

Thirteen blocks on two threads take as long as fourteen, and the last is often short: for a method that goes over a
table ten times, and does little else, a sixth of its time. How many blocks there are depends on the table alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from asterism.data.columns import Column
from asterism.data.source import ArraySource, Piece, Source

RUN = 128  # blocks have a multiple of so many rows: kernels take tiles of them


def in_even_blocks(source: Source) -> Source:
    """The same rows in 4, 8, 16, ... blocks, at most half as long again as the source's own.

    >>> import numpy as np
    >>> source = ArraySource(np.zeros((100_000, 32)))
    >>> [(each.n_blocks, each.block_rows) for each in (source, in_even_blocks(source))]
    [(13, 8192), (16, 6272)]
    """
    n = source.n_blocks
    if n < 3:
        return source
    count = 1 << (n.bit_length() - 1)
    count = count if 2 * n < 3 * count else 2 * count
    rows = -(-source.n_rows // (count * RUN)) * RUN
    return source if rows == source.block_rows else EvenBlocks(source, rows)


class EvenBlocks(Source):
    """A source in blocks of ``block_rows`` rows, any number."""

    block_rows: int = 0

    def __init__(self, inner: Source, block_rows: int) -> None:
        self.inner, self.block_rows = inner, block_rows
        self.n_rows, self.dtype, self.ignored = inner.n_rows, inner.dtype, inner.ignored

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]  # an array numbers them when asked
        """The inner source's."""
        return self.inner.columns

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.inner.n_columns

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
        size = self.inner.block_rows
        stop = min(last * self.block_rows, self.n_rows)
        inner = self.inner.part(first * self.block_rows // size, -(-stop // size))
        return self if inner is self.inner else EvenBlocks(inner, self.block_rows)
