"""Principal components of few rows and many columns, from the n x n Gram matrix.

With rows ``y = sqrt(w) (x - mean)`` and ``G = Y Y' = U diag(s^2) U'``, the directions are ``V = Y' U / s``.
``G`` is a sum over columns, so it is a statistic of blocks of columns: the table is read as its transpose.

``Y' U`` is needed anyway and has the singular values once more, far more exactly than the square roots of
the eigenvalues of ``G``: its own small decomposition is what is returned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism.data.block import Block, Vector
from asterism.data.finite import raise_for_bad_cell
from asterism.data.source import ArraySource, Source
from asterism.engines.context import current
from asterism.engines.reduce import map_rows, reduce
from asterism.engines.threads import one_blas_thread
from asterism.methods.components import EPS, Components, asked, assembled, leading, limit

ROOM = 4 << 30  # bytes of rows that are brought into memory where no budget was given


@dataclass(frozen=True, slots=True)
class Gram:
    """Inner products of centred rows, over some of the columns."""

    product: NDArray[np.float64]  # (n, n) sum over columns of y y'

    def merge(self, other: Gram) -> Gram:
        """Columns add up."""
        return Gram(self.product + other.product)


@dataclass(frozen=True, slots=True)
class Centring:
    """Columns minus their means, times the roots of the row weights. Here the rows of a block are columns."""

    weights: Vector  # (n,)

    def columns(self, block: Block) -> tuple[NDArray[np.float64], Vector]:
        """(c, n) weighted deviations and (c,) means of ``c`` columns."""
        w, x = self.weights, block.rows
        weight = w.sum()
        with np.errstate(invalid="ignore", over="ignore"):
            first = x[:, np.argmax(w > 0)].astype(np.float64)  # deviations from it are exact, however far off
            y = np.subtract(x, first[:, None], dtype=np.float64)
            if not w.all():
                y[:, w == 0] = 0.0  # absent rows may hold anything, NaN included
            shift = y @ w / weight
            y -= shift[:, None]
            rest = y @ w / weight
            if (w != 1.0).any():
                y *= np.sqrt(w)
        return y, first + (shift + rest)

    def gram(self, block: Block) -> Gram:
        """The Gram matrix over these columns."""
        y, _ = self.columns(block)
        with np.errstate(invalid="ignore", over="ignore"):
            return Gram(y.T @ y)


@dataclass(frozen=True, slots=True)
class _Loading:
    """Means and loadings of columns."""

    centring: Centring
    left: NDArray[np.float64]  # (n, m) U

    def __call__(self, block: Block) -> NDArray[np.float64]:
        """(c, 1 + m) mean of each column, and its row of Y'U."""
        y, mean = self.centring.columns(block)
        return np.column_stack([mean, y @ self.left])


@one_blas_thread()  # small matrices: more threads only wait for each other, and round otherwise
def pca_dual(table: ArraySource, m: int | None) -> Components:
    """The ``m`` leading components (None: all) by way of the Gram matrix."""
    n, d = table.array.shape
    weights = np.ones(n) if table.weights is None else table.weights
    rows, weight = int(np.count_nonzero(weights)), float(weights.sum())
    most = limit(rows, weight, d)
    m = asked(m, most, rows)
    columns = ArraySource(table.array.T)
    gram = reduce(columns, Centring(weights).gram).product
    if not np.isfinite(gram).all():
        raise_for_bad_cell(table)
    _, left = leading(gram, min(m, n))
    loadings = map_rows(columns, _Loading(Centring(weights), left))
    values, directions = _decomposed(loadings[:, 1:])
    floor = (max(n, d) * EPS) ** 2
    total = float(np.trace(gram))
    return assembled(loadings[:, 0], directions, values, floor, m, total=total, weight=weight, most=most)


def _decomposed(loadings: NDArray[np.float64]) -> tuple[Vector, NDArray[np.float64]]:
    """Squared singular values (m,) and right directions (m, d) of ``Y' U`` (d, m).

    Householder's QR keeps them orthonormal, however small some values are.
    """
    q, r = linalg.qr(loadings, mode="economic", check_finite=False)
    inner, values, _ = linalg.svd(r, check_finite=False)
    return values**2, (q @ inner).T


def in_memory(source: Source) -> ArraySource | None:
    """The rows as an array, or None where they do not fit the memory budget."""
    if isinstance(source, ArraySource):
        return source
    if source.n_rows * source.n_columns * source.dtype.itemsize > (current().memory or ROOM) // 2:
        return None
    rows = np.empty((source.n_rows, source.n_columns), source.dtype)
    weights = np.empty(source.n_rows)
    for block in source.blocks():
        rows[block.start : block.start + len(block)] = block.rows
        weights[block.start : block.start + len(block)] = block.weights
    return ArraySource(rows, weights, source.columns)
