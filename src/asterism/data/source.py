"""A source: a table that gives its rows as fixed logical blocks, as often as one asks.

A new kind of table is one class with ``pieces``; everything else follows from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from asterism.data.block import Block, Matrix, Vector, block_of, rows_per_block
from asterism.data.columns import Column, numbered_columns
from asterism.errors import DataError, WeightError, row_name

Piece = tuple[Matrix, Vector | None]


class HasPlaces(Protocol):
    """A table or source."""

    def place(self, row: int) -> str:
        """Where a person finds the row of this index."""
        ...


class Source(ABC):
    """A table of ``n_rows`` x ``len(columns)`` cells that can be read again and again.

    Reading is thread-safe in the sense that every call of ``blocks`` has its own position.
    Sources can be pickled, so that a worker of a cluster reads its own rows.
    """

    columns: tuple[Column, ...]
    n_rows: int
    dtype: np.dtype[Any]  # float32 or float64: what blocks carry
    ignored: tuple[Column, ...] = ()  # columns of the table that are not used, each with its reason
    notes: tuple[str, ...] = ()  # what the user should know of how the table was read
    origin: Source | None = None  # the table that these rows were copied from: it knows their places
    sparse: bool = False  # whether rows of blocks are CSR (``data.sparse``)

    @abstractmethod
    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """Rows ``start:stop`` with their weights (None: all one), in order, in pieces of any size."""

    def place(self, row: int) -> str:
        """Where a person finds the row of this index: "line 10" of a text file, "row 9" of other tables."""
        return row_name(row) if self.origin is None else self.origin.place(row)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def cells_a_row(self) -> int:
        """Numbers that a row takes in memory."""
        return self.n_columns

    @property
    def block_rows(self) -> int:
        """Rows of every logical block but the last."""
        return rows_per_block(self.n_columns)

    @property
    def n_blocks(self) -> int:
        """Number of logical blocks."""
        return -(-self.n_rows // self.block_rows)

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Block]:
        """Logical blocks ``first:last`` in order."""
        size = self.block_rows
        start = first * size
        stop = self.n_rows if last is None else min(last * size, self.n_rows)
        waiting: list[Piece] = []
        have = 0
        for rows, weights in self.pieces(start, stop):
            while len(rows):
                take = min(size - have, len(rows))
                waiting.append((rows[:take], None if weights is None else weights[:take]))
                rows = rows[take:]
                weights = None if weights is None else weights[take:]
                have += take
                if have == size:
                    yield _joined(waiting, start)
                    start, waiting, have = start + have, [], 0
        if have:
            yield _joined(waiting, start)

    def part(self, first: int, last: int) -> Source:  # noqa: ARG002  for those who can do better
        """What a worker needs to read blocks ``first:last``: this source, where it can be sent cheaply."""
        return self


def _joined(pieces: list[Piece], start: int) -> Block:
    rows = pieces[0][0] if len(pieces) == 1 else np.concatenate([p[0] for p in pieces])
    if pieces[0][1] is None:
        return block_of(rows, None, start)
    return block_of(rows, np.concatenate([p[1] for p in pieces if p[1] is not None]), start)


def part_within(outer: Source, inner: Source, first: int, last: int) -> tuple[Source, int]:
    """The part of a source that holds these blocks of another one of the same rows, and where those end.

    Their blocks may differ in size: a wider table has shorter ones.
    """
    stop = min(last * outer.block_rows, outer.n_rows)
    size = inner.block_rows
    return inner.part(first * outer.block_rows // size, -(-stop // size)), stop


class ArraySource(Source):
    """A NumPy array (float or integer, C or F order, read-only, memory-mapped): never copied whole.

    >>> source = ArraySource(np.arange(6.0).reshape(3, 2))
    >>> source.n_rows, source.names, next(source.blocks()).rows.shape
    (3, ('x0', 'x1'), (3, 2))
    """

    def __init__(
        self, array: Matrix, weights: Any = None, columns: tuple[Column, ...] | None = None, start: int = 0
    ) -> None:
        if array.ndim != 2:
            raise DataError(
                f"Expected 2D array, got {array.ndim}D array instead.",
                "Reshape your data: reshape(-1, 1) for one column, reshape(1, -1) for one row.",
            )
        if array.dtype.kind not in "fiub":
            raise DataError(
                f"An array of {array.dtype} holds something other than real numbers.",
                "Give numbers, or a data frame whose text columns can be encoded.",
            )
        self.array = array
        self.n_rows = array.shape[0]
        self._columns = columns  # None: numbered, when they are asked for (20,000 of them take 25 ms)
        self.dtype = np.dtype(np.float32 if array.dtype == np.float32 else np.float64)
        self.weights = None if weights is None else checked_weights(weights, self.n_rows)
        self.start = start  # global number of our first row: not 0 in a part sent to a worker

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.array.shape[1])

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]  # set once, in the constructor
        """The columns, x0, x1, ... where the array came without names."""
        if self._columns is None:
            self._columns = numbered_columns(self.n_columns)
        return self._columns

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """One piece a logical block, so that nothing larger than a block is ever converted."""
        size = self.block_rows
        for a in range(start, stop, size):
            b = min(a + size, stop)
            rows = self.array[a - self.start : b - self.start]
            weights = None if self.weights is None else self.weights[a - self.start : b - self.start]
            yield rows if rows.dtype == self.dtype else rows.astype(self.dtype), weights

    def part(self, first: int, last: int) -> Source:
        """Only the rows of these blocks (a memory map is sent as its path by ``npy.NpySource``)."""
        a = first * self.block_rows
        b = min(last * self.block_rows, self.n_rows)
        weights = None if self.weights is None else self.weights[a - self.start : b - self.start]
        piece = ArraySource(self.array[a - self.start : b - self.start], None, self._columns, start=a)
        piece.n_rows, piece.weights = b, weights
        return piece


def checked_weights(weights: Any, n: int) -> Vector:
    """Row weights as float64, or a ``WeightError`` that names the first bad row."""
    try:
        array = np.asarray(weights, np.float64)
    except (TypeError, ValueError) as bad:
        raise WeightError("Weights must be numbers.", "Give one number a row, 0 or more.") from bad
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.ndim != 1:
        raise WeightError("Sample weights must be 1D array or scalar.", "Give one number a row.")
    if len(array) != n:
        raise WeightError(
            f"{len(array)} weights were given for {n} rows (sample_weight.shape == {array.shape}, "
            f"expected {(n,)}).",
            "Give one weight a row.",
        )
    bad_rows = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if len(bad_rows):
        row = int(bad_rows[0])
        raise WeightError(
            f"the weight is {array[row]}.",
            "Weights must be finite and 0 or more; 0 leaves a row out.",
            row=row,
        )
    if n and not array.any():
        raise WeightError("All weights are zero.", "At least one row must count.")
    return array


def in_memory(source: Source, memory: int) -> Source:
    """The same table as one array, where that takes at most ``memory`` bytes; else the source as it is.

    >>> source = ArraySource(np.arange(6).reshape(3, 2))  # whole numbers: converted at every pass
    >>> in_memory(source, 1000).array.dtype, in_memory(source, 10) is source
    (dtype('float64'), True)
    """
    n, d = source.n_rows, source.n_columns
    if n * d * source.dtype.itemsize > memory:
        return source
    array = np.empty((n, d), source.dtype)
    weights: Vector | None = None
    row = 0
    for rows, w in source.pieces(0, n):
        array[row : row + len(rows)] = rows
        if w is not None:
            weights = np.empty(n) if weights is None else weights
            weights[row : row + len(rows)] = w
        row += len(rows)
    kept = ArraySource(array, weights, source.columns)
    kept.ignored, kept.notes, kept.origin = source.ignored, source.notes, source
    return kept


@contextmanager
def places_in(table: HasPlaces) -> Iterator[None]:
    """An error inside that knows its row learns where a person finds it."""
    try:
        yield
    except DataError as bad:
        if bad.row is not None and bad.place is None:
            bad.place = table.place(bad.row)
        raise
