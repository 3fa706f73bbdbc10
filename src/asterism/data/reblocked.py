"""The same table in blocks of another length, as a method goes over it best."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from asterism.data.block import Block, Matrix
from asterism.data.columns import Column
from asterism.data.source import ArraySource, Piece, Source


class Reblocked(Source):
    """A source in blocks of ``block_rows`` rows, any number."""

    inner: Source
    block_rows: int = 0

    def __init__(self, inner: Source, block_rows: int) -> None:
        self.inner, self.block_rows = inner.inner if isinstance(inner, Reblocked) else inner, block_rows
        self.n_rows, self.dtype, self.ignored = inner.n_rows, inner.dtype, inner.ignored

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]  # an array numbers them when asked
        """The inner source's."""
        return self.inner.columns

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.inner.n_columns

    def __reduce__(self) -> tuple[Any, ...]:
        return Reblocked, (self.inner, self.block_rows)  # without the blocks that are kept

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Block]:
        """Logical blocks ``first:last`` in order; kept where they are but views, as a method asks again and again."""
        return super().blocks(first, last) if self._views is None else iter(self._views[first:last])

    @cached_property
    def _views(self) -> list[Block] | None:
        array = self._array
        return list(super().blocks()) if array is not None and array.flags.c_contiguous else None

    @property
    def _array(self) -> Matrix | None:
        """The array that rows come from, where they need no converting."""
        inner = self.inner
        return inner.array if isinstance(inner, ArraySource) and inner.array.dtype == self.dtype else None

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's pieces; of an array that needs no converting a single one, so that none are joined."""
        inner = self.inner
        if not isinstance(inner, ArraySource) or self._array is None:
            yield from inner.pieces(start, stop)
            return
        here = slice(start - inner.start, stop - inner.start)
        yield inner.array[here], None if inner.weights is None else inner.weights[here]

    def part(self, first: int, last: int) -> Source:
        """The inner source's part that holds these blocks."""
        size = self.inner.block_rows
        stop = min(last * self.block_rows, self.n_rows)
        inner = self.inner.part(first * self.block_rows // size, -(-stop // size))
        return self if inner is self.inner else Reblocked(inner, self.block_rows)
