"""Sparse tables: blocks whose rows are SciPy CSR, never made dense.

A cell that is not stored is 0, and no cell is missing. A block stores about 3 MB, whatever the number of threads.
What works on sparse rows asks ``is_sparse(block.rows)`` and multiplies by SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from asterism.data.block import Block, Vector, block_of, is_sparse
from asterism.data.columns import Column, numbered_columns
from asterism.data.source import Piece, Source, checked_weights
from asterism.errors import DataError

STORED = 1 << 18  # cells of a block: 3 MB, at 8 bytes a value and 4 its column
STORED_A_COLUMN = (
    4  # convention: and of wide tables so many, or to merge what columns say takes as long as to find it
)


class SparseSource(Source):
    """A SciPy sparse matrix: never copied whole but to CSR, or where cells are stored twice.

    >>> source = SparseSource(csr_array([[0.0, 2.0], [0.0, 0.0], [1.0, 0.0]]))
    >>> block = next(source.blocks())
    >>> source.n_rows, source.n_columns, block.rows.nnz, len(block)
    (3, 2, 2, 3)
    """

    sparse = True

    def __init__(self, matrix: Any, weights: Any = None, columns: tuple[Column, ...] | None = None) -> None:
        if matrix.dtype.kind not in "fiub":
            raise DataError(f"A matrix of {matrix.dtype} holds something other than real numbers.")
        rows = csr_array(matrix)
        if not rows.has_canonical_format:  # a cell stored twice is the sum of both
            rows = rows.copy()
            rows.sum_duplicates()
        self.matrix = rows
        self.n_rows = rows.shape[0]
        self.dtype = np.dtype(np.float32 if rows.dtype == np.float32 else np.float64)
        self.weights = None if weights is None else checked_weights(weights, self.n_rows)
        self.start = 0  # global number of the first row: not 0 in a part sent to a worker
        self._rewrite: Callable[[Any], Any] | None = None
        self._columns = columns  # None: numbered, when they are asked for
        wanted = max(STORED, STORED_A_COLUMN * rows.shape[1])
        self._block_rows: int = int(
            min(max(wanted * self.n_rows // max(rows.nnz, 1), 1), max(self.n_rows, 1))
        )

    @property
    def block_rows(self) -> int:
        """Rows of every logical block but the last."""
        return self._block_rows

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.matrix.shape[1])

    @property
    def cells_a_row(self) -> int:
        """Numbers that a row takes on average: a value and its column for each stored cell."""
        return max(2 * int(self.matrix.nnz) // max(int(self.matrix.shape[0]), 1), 1)

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]  # numbered when asked
        """The columns, x0, x1, ... where the matrix came without names."""
        if self._columns is None:
            self._columns = numbered_columns(self.n_columns)
        return self._columns

    @cached_property
    def names(self) -> tuple[str, ...]:  # kept: a text has 50,000
        """Names of the columns."""
        if self._columns is None:
            return tuple([f"x{j}" for j in range(self.n_columns)])
        return tuple(column.name for column in self._columns)

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """One piece a logical block; its rows are CSR, views of the matrix where the type fits."""
        for a in range(start, stop, self.block_rows):
            at = slice(a - self.start, min(a + self.block_rows, stop) - self.start)
            rows: Any = self.matrix[at]
            rows = rows if rows.dtype == self.dtype else rows.astype(self.dtype)
            weights = None if self.weights is None else self.weights[at]
            yield rows if self._rewrite is None else self._rewrite(rows), weights

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Block]:
        """Logical blocks ``first:last`` in order."""
        start = first * self.block_rows
        stop = self.n_rows if last is None else min(last * self.block_rows, self.n_rows)
        for rows, weights in self.pieces(start, stop):
            yield block_of(rows, weights, start)
            start += rows.shape[0]

    def part(self, first: int, last: int) -> Source:
        """Only the rows of these blocks."""
        a, b = first * self.block_rows, min(last * self.block_rows, self.n_rows)
        piece = copy(self)
        piece.matrix, piece.n_rows, piece.start = self.matrix[a - self.start : b - self.start], b, a
        if self.weights is not None:
            piece.weights = self.weights[a - self.start : b - self.start]
        return piece

    def weighted(self, weights: Any) -> SparseSource:
        """The same rows, each counting ``weights`` times what it did."""
        factor, other = checked_weights(weights, self.n_rows), copy(self)
        other.weights = factor if self.weights is None else factor * self.weights
        return other

    def rewritten(self, rewrite: Callable[[Any], Any]) -> SparseSource:
        """The same table with ``rewrite(rows)`` (CSR to CSR of the same shape) for the rows of every block."""
        other = copy(self)
        other._rewrite = rewrite
        return other


def row_numbers(rows: Any) -> NDArray[np.intp]:
    """(nnz,) the row of every stored cell."""
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))


def row_sums(rows: Any, values: Any) -> Vector:
    """(n,) sums by row of numbers (nnz,), one for each stored cell."""
    sums = np.zeros(rows.shape[0])
    some = np.flatnonzero(np.diff(rows.indptr))
    if len(some):
        sums[some] = np.add.reduceat(values, rows.indptr[some])
    return sums


def squared_lengths(rows: Any) -> Vector:
    """(n,) sum of squares of each row."""
    return row_sums(rows, np.square(rows.data, dtype=np.float64))


def cells_above(threshold: float, rows: Any) -> Any:
    """1 where a stored cell is above a threshold of 0 or more, 0 elsewhere; what is not finite stays."""
    cells = np.where(np.isfinite(rows.data), rows.data > threshold, rows.data)
    return csr_array((cells.astype(rows.dtype), rows.indices, rows.indptr), rows.shape)


def column_sums(rows: Any, values: Any, weights: Vector) -> Vector:
    """(d,) sums by column of numbers (nnz,), one for each stored cell, times the weights (n,) of their rows."""
    return np.asarray(csr_array((values, rows.indices, rows.indptr), rows.shape).T @ weights, np.float64)


def distinct_rows(rows: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """One place (m,) of each different row, in an order of their values alone; and (n,) which of them each row is."""
    clean = rows.copy()
    clean.eliminate_zeros()
    clean.sort_indices()
    ends = clean.indptr.tolist()
    keys = [
        clean.indices[a:b].astype(np.int64).tobytes() + clean.data[a:b].astype(np.float64).tobytes()
        for a, b in pairwise(ends)
    ]
    _, first, group = np.unique(np.array(keys, dtype=object), return_index=True, return_inverse=True)
    return first, group


def stacked_rows(parts: Sequence[Any]) -> Any:
    """Rows under rows: arrays, or CSR."""
    return csr_array(vstack(parts, format="csr")) if is_sparse(parts[0]) else np.concatenate(parts)
