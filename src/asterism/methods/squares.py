"""A'A of a table, dense or sparse, and its few largest singular values by block Lanczos (``methods.krylov``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism.data.block import Block, Vector, present
from asterism.data.source import Source
from asterism.methods.components import EPS
from asterism.methods.krylov import Krylov, leading_pairs

Array = NDArray[np.float64]
NARROW = 8  # columns of a block: a cache line of a row of Q
NARROW_BLOCKS = 24  # of V beside the vectors wanted, before it restarts
FLOOR = 16 * EPS


@dataclass(frozen=True, slots=True)
class Product:
    """A'(A Q) over some rows."""

    product: Array  # (d, b)

    def merge(self, other: Product) -> Product:
        """Rows add up."""
        return Product(self.product + other.product)


@dataclass(frozen=True)
class SquaresOperator:
    """S = A'A; row i of A is times the root of its weight."""

    tol: float  # |A'A v - s^2 v| / s^2
    d: int  # columns
    total: float  # the sum of all squares: it tells one table from another

    def visit(self, q: Array, block: Block) -> Product:
        """Of the rows of a block."""
        here = present(block)  # absent rows may hold anything, NaN included
        w, x = here.weights, here.rows.astype(np.float64, copy=False)
        z = x @ q
        z *= w[:, None]
        return Product(np.asarray(x.T @ z))

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
    operator = SquaresOperator(tol, d, total)
    method = Krylov(operator, d, m, NARROW, NARROW_BLOCKS, "largest singular values")
    values, vectors = leading_pairs(
        method, source, seed, "Ask for fewer or more of them, or give a larger tol."
    )
    if len(values) < m:  # of a table of lower rank: any directions will do for the rest
        values = np.append(values, np.zeros(m - len(values)))
        rest = linalg.qr(np.hstack([vectors, np.zeros((d, m - vectors.shape[1]))]), mode="economic")[0]
        vectors = np.hstack([vectors, rest[:, vectors.shape[1] :]])
    return np.sqrt(np.maximum(values, 0.0)), vectors.T
