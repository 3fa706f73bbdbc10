"""A'A of a table, dense or sparse, and its few largest singular values by block Lanczos (``methods.krylov``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism.data.block import Block, Vector
from asterism.data.columns import numbered_columns
from asterism.data.source import Piece, Source
from asterism.methods.components import EPS
from asterism.methods.krylov import Krylov, leading_pairs

Array = NDArray[np.float64]
NARROW = 8  # columns of a block: a cache line of a row of Q
NARROW_BLOCKS = 24  # of V beside the vectors wanted, before it restarts
PART = 1 << 17  # stored numbers of a sparse table that are worked on at a time
FLOOR = 16 * EPS


@dataclass(frozen=True, slots=True)
class Product:
    """A'(A Q) over some rows."""

    product: Array  # (d, b)

    def merge(self, other: Product) -> Product:
        """Rows add up."""
        return Product(self.product + other.product)


class SparseRows(Source):
    """The rows of a SciPy CSR matrix, as numbers of rows: a visit finds its part by where the block starts."""

    def __init__(self, matrix: Any) -> None:
        self.n_rows = matrix.shape[0]
        self.columns, self.dtype = numbered_columns(1), np.dtype(np.float64)
        self._size = max(-(-self.n_rows * PART // max(matrix.nnz, 1)), 1)
        self.parts = [matrix[a : a + self.block_rows] for a in range(0, self.n_rows, self.block_rows)]

    @property
    def block_rows(self) -> int:
        """So many rows that a part holds about ``PART`` numbers; never a matter of threads."""
        return int(min(self._size, self.n_rows))

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """Nothing but the right number of rows."""
        for a in range(start, stop, self.block_rows):
            yield np.zeros((min(self.block_rows, stop - a), 1)), None

    def part_of(self, block: Block) -> Any:
        """The rows of a block."""
        return self.parts[block.start // self.block_rows]

    def times(self, v: Array, block: Block) -> Array:
        """A V of a block."""
        return np.asarray(self.part_of(block) @ v)


@dataclass(frozen=True)
class SquaresOperator:
    """S = A'A; row i of A is times the root of its weight."""

    source: Source
    tol: float  # |A'A v - s^2 v| / s^2
    d: int  # columns
    total: float  # the sum of all squares: it tells one table from another

    def visit(self, q: Array, block: Block) -> Product:
        """Of the rows of a block."""
        if isinstance(self.source, SparseRows):
            part = self.source.part_of(block)
            return Product(np.asarray(part.T @ (part @ q)))
        w, x = block.weights, block.rows.astype(np.float64, copy=False)
        if not w.all():
            x = np.where(w[:, None] > 0, x, 0.0)  # absent rows may hold anything, NaN included
        z = x @ q
        z *= w[:, None]
        return Product(x.T @ z)

    def image(self, q: Array, statistic: Product) -> Array:  # noqa: ARG002  one signature for all
        """The sum itself."""
        return statistic.product.copy()

    def enough(self, values: Vector, residuals: Vector) -> bool:
        """``tol``, but no more than numbers allow."""
        return bool((residuals <= self.tol * values + FLOOR * np.sqrt(self.d) * values[0]).all())

    def __repr__(self) -> str:
        return f"SquaresOperator(tol={self.tol!r}, total={self.total!r})"


def leading_singular(
    source: Source, d: int, m: int, tol: float, total: float, seed: int = 0
) -> tuple[Vector, Array]:
    """The ``m`` largest singular values of a table with ``d`` columns, and their right vectors (m, d)."""
    operator = SquaresOperator(source, tol, d, total)
    method = Krylov(operator, d, m, NARROW, NARROW_BLOCKS, "largest singular values")
    values, vectors = leading_pairs(
        method, source, seed, "Ask for fewer or more of them, or give a larger tol."
    )
    if len(values) < m:  # of a table of lower rank: any directions will do for the rest
        values = np.append(values, np.zeros(m - len(values)))
        rest = linalg.qr(np.hstack([vectors, np.zeros((d, m - vectors.shape[1]))]), mode="economic")[0]
        vectors = np.hstack([vectors, rest[:, vectors.shape[1] :]])
    return np.sqrt(np.maximum(values, 0.0)), vectors.T
