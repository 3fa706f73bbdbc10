"""Principal components of few rows and many columns, from the n x n Gram matrix.

With rows ``y = sqrt(w) (x - mean)`` and ``G = Y Y' = U diag(s^2) U'``, the directions are ``V = Y' U / s``.
``G`` is a sum over columns, so it is a statistic of blocks of columns: the table is read as its transpose.

Deviations are taken from a row, not from the mean: one pass over the cells instead of three. Centring comes after,
on n x n numbers: with ``A`` the Gram matrix around that row, ``r = A w / weight`` and ``g = r'w / weight``

    G_ij = sqrt(w_i w_j) (A_ij - r_i - r_j + g)

``Y' U`` is needed anyway and has the singular values once more, far more exactly than the square roots of
the eigenvalues of ``G``: its own small decomposition is what is returned. So ``A`` need not be exact, only its
leading vectors good: of large float32 tables it is made in float32, at half the cost (``SINGLE``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism.data.block import Block, Vector, unit_weights
from asterism.data.finite import raise_for_bad_cell
from asterism.data.source import ArraySource, Source
from asterism.engines.context import current
from asterism.engines.reduce import map_rows, reduce
from asterism.engines.threads import one_blas_thread
from asterism.methods.components import (
    CLEAR,
    EPS,
    MANY_CELLS,
    SAFE,
    Components,
    asked,
    assembled,
    leading,
    limit,
)

ROOM = 4 << 30  # bytes of rows that are brought into memory where no budget was given
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class Columns(ArraySource):
    """An array as a table of its columns: (c, n) blocks that are views of it, never turned round in memory."""

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Block]:
        """Blocks whose rows are columns of the array; not C-contiguous, alone among blocks."""
        size = self.block_rows
        stop = self.n_rows if last is None else min(last * size, self.n_rows)
        for a in range(first * size, stop, size):
            b = min(a + size, stop)
            yield Block(self.array[a - self.start : b - self.start], unit_weights(b - a), a)

    def part(self, first: int, last: int) -> Source:
        """Only these columns."""
        a, b = first * self.block_rows, min(last * self.block_rows, self.n_rows)
        piece = Columns(self.array[a - self.start : b - self.start], None, None, start=a)
        piece.n_rows = b
        return piece


@dataclass(frozen=True, slots=True)
class Gram:
    """Inner products of rows around one of them, over some of the columns."""

    product: NDArray[np.float64]  # (n, n) sum over columns of y y'

    def merge(self, other: Gram) -> Gram:
        """Columns add up; where float32 did not hold their squares, to no number: whoever asks looks for that."""
        with np.errstate(invalid="ignore"):
            return Gram(self.product + other.product)


@dataclass(frozen=True, slots=True)
class Deviations:
    """Rows minus the row that counts most.

    That row is within ``sqrt(n)`` standard deviations of the mean in every direction, so centring afterwards
    cancels no more than log2(n) bits, whatever the rows and weights. Equal rows differ by exactly 0, however far off.
    """

    weights: Vector  # (n,)

    def of(self, block: Block, dtype: np.dtype[Any] = DOUBLE) -> tuple[NDArray[Any], NDArray[Any]]:
        """(n, c) deviations in ``c`` columns, and (c,) the row they are from."""
        x = block.rows.T
        row = x[self.weights.argmax()].astype(dtype)
        y = np.subtract(x, row, dtype=dtype, order="C")
        if not self.weights.all():
            y[self.weights == 0] = 0.0  # absent rows may hold anything, NaN included
        return y, row

    def gram(self, dtype: np.dtype[Any], block: Block) -> Gram:
        """Their Gram matrix over these columns, multiplied in ``dtype``."""
        with np.errstate(invalid="ignore", over="ignore"):
            y, _ = self.of(block, dtype)
            return Gram((y @ y.T).astype(np.float64, copy=False))

    def loadings(self, left: NDArray[np.float64], block: Block) -> NDArray[np.float64]:
        """(c, 1 + m) mean of each column, and its row of Y'U for ``left`` = U (n, m)."""
        y, row = self.of(block)
        w = self.weights
        rooted = np.sqrt(w)[:, None] * left
        both: NDArray[np.float64] = y.T @ np.column_stack([w / w.sum(), rooted])
        shift = both[:, 0].copy()  # of the mean from the row
        both[:, 1:] -= np.outer(shift, rooted.sum(axis=0))
        both[:, 0] = row + shift
        return both


def centred(around: NDArray[np.float64], weights: Vector) -> NDArray[np.float64]:
    """(n, n) the Gram matrix of centred weighted rows, from that around any point."""
    root, share = np.sqrt(weights), weights / weights.sum()
    r = around @ share
    return np.asarray((around - r[:, None] - r + share @ r) * root[:, None] * root)


@one_blas_thread()  # small matrices: more threads only wait for each other, and round otherwise
def pca_dual(table: ArraySource, m: int | None) -> Components:
    """The ``m`` leading components (None: all) by way of the Gram matrix."""
    n, d = table.array.shape
    weights = np.ones(n) if table.weights is None else table.weights
    rows = int(np.count_nonzero(weights))
    m = asked(m, limit(rows, float(weights.sum()), d), rows)
    if table.dtype == SINGLE and n * d >= MANY_CELLS and (weights == 1).all():
        model = _in_dtype(table, weights, m, SINGLE)
        if model is not None:
            return model
    model = _in_dtype(table, weights, m, DOUBLE)
    return raise_for_bad_cell(table) if model is None else model


def _in_dtype(table: ArraySource, weights: Vector, m: int, dtype: np.dtype[Any]) -> Components | None:
    """The components by way of a Gram matrix multiplied in ``dtype``; None where that does not give them."""
    n, d = table.array.shape
    columns, deviations = Columns(table.array.T), Deviations(weights)
    around = reduce(columns, partial(deviations.gram, dtype)).product
    if not np.isfinite(around).all():
        return None
    gram = centred(around, weights)
    total, weight = float(np.trace(gram)), float(weights.sum())
    if dtype == SINGLE and not _fair(float(np.trace(around)), total):
        return None
    values, left = leading(gram, min(m, n))
    if dtype == SINGLE and not (values[-1] > CLEAR * values[0] and total - values.sum() > CLEAR * total):
        return None
    loadings = map_rows(columns, partial(deviations.loadings, left))
    values, directions = decomposed(loadings[:, 1:])
    most = limit(int(np.count_nonzero(weights)), weight, d)
    floor = (max(n, d) * EPS) ** 2
    return assembled(loadings[:, 0], directions, values, floor, m, total=total, weight=weight, most=most)


def _fair(around: float, total: float) -> bool:
    """Whether float32 held the squares, and centring (which halves their sum on average) cancelled few digits."""
    return SAFE < total < 1.0 / SAFE and around < 4.0 * total


def decomposed(loadings: NDArray[np.float64]) -> tuple[Vector, NDArray[np.float64]]:
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
