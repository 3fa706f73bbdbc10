"""The singular value decomposition A = U diag(s) V', and what it tells of a table.

    rank         how many s are above rounding
    range        the span of the first ``rank`` columns of U; the null space that of the last rows of V'
    closest      of all matrices of rank m, U_m diag(s_m) V_m' is nearest to A:
                 |A - A_m|_2 = s_{m+1},      |A - A_m|_F = sqrt(s_{m+1}^2 + s_{m+2}^2 + ...)
    users x items  s are the strengths of concepts, U how much users are drawn to each, V how much items are about it

Three ways to the few largest of them (``leading_factors``), as for PCA but about 0 instead of the mean: from A'A
where d is small, from the full decomposition where A is, and by Lanczos (``methods.squares``) where it is large both
ways, or sparse.

References
----------
1. Eckart, Young (1936), The approximation of one matrix by another of lower rank. Psychometrika 1:211-218.
2. Golub, Van Loan (2013), Matrix Computations, 4th ed., 2.4 and 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism.data.block import Block, Vector, is_sparse
from asterism.data.finite import raise_for_bad_cell, require_finite
from asterism.data.source import ArraySource, Source
from asterism.engines.context import current
from asterism.engines.reduce import map_rows, reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import MemoryBudgetError, ParameterError
from asterism.methods.components import EPS, signed
from asterism.methods.dual import ROOM
from asterism.methods.squares import Product, leading_singular
from asterism.stats.moments import ColumnMoments

Array = NDArray[np.float64]
LARGE = 2048  # columns up to which A'A is taken whole


# ---- all factors


@dataclass(frozen=True)
class Factors:
    """U, s, V' of a matrix (n, d); p = min(n, d)."""

    left: Array  # (n, p) orthonormal columns
    values: Vector  # (p,) largest first
    right: Array  # (p, d) orthonormal rows; the entry of largest size in each is positive

    @property
    def rank(self) -> int:
        """Singular values above max(n, d) eps s_1, as NumPy and MATLAB count them."""
        size = max(len(self.left), self.right.shape[1])
        return int((self.values > size * EPS * self.values.max(initial=0.0)).sum())

    @property
    def range(self) -> Array:
        """(n, rank) an orthonormal basis of all A x."""
        return self.left[:, : self.rank]

    @property
    def null(self) -> Array:
        """(d, d - rank) an orthonormal basis of all x with A x = 0."""
        rank = self.rank
        basis = linalg.qr(self.right[:rank].T)[0] if rank else np.eye(self.right.shape[1])
        return np.asarray(basis[:, rank:], np.float64)

    def concepts(self, m: int | None = None) -> Concepts:
        """Users (rows), items (columns) and the ``m`` strongest concepts between them; None: as many as the rank."""
        m = self.rank if m is None else self._checked(m)
        return Concepts(self.values[:m], self.left[:, :m], self.right[:m].T)

    def closest(self, m: int) -> Closest:
        """The nearest matrix of rank ``m`` or less."""
        m = self._checked(m)
        matrix = (self.left[:, :m] * self.values[:m]) @ self.right[:m]
        rest = self.values[m:]
        return Closest(matrix, float(rest[0]) if len(rest) else 0.0, float(np.sqrt(rest @ rest)))

    def _checked(self, m: int) -> int:
        if not (isinstance(m, int | np.integer) and 0 <= m <= len(self.values)):
            raise ParameterError(f"m is {m!r}.", f"Give a whole number from 0 to {len(self.values)}.")
        return int(m)


@dataclass(frozen=True)
class Concepts:
    """A table of users (rows) and items (columns) as a few concepts: A ~ users diag(strengths) items'."""

    strengths: Array  # (m,) singular values
    users: Array  # (n, m) how much each user is drawn to each concept
    items: Array  # (d, m) how much each item is about each concept


@dataclass(frozen=True)
class Closest:
    """A matrix of lower rank, and how far it is from the one it stands for."""

    matrix: Array  # (n, d)
    spectral: float  # the largest singular value of the difference
    frobenius: float  # the root of the sum of its squared entries


@one_blas_thread()
def full_svd(matrix: Any) -> Factors:
    """All factors of a matrix that fits in memory.

    >>> found = full_svd(np.array([[3.0, 0.0], [4.0, 0.0]]))
    >>> found.values.tolist(), found.rank, found.null.round(6).tolist()
    ([5.0, 0.0], 1, [[0.0], [1.0]])
    """
    a = np.asarray(matrix, np.float64)
    if not np.isfinite(a).all():
        raise_for_bad_cell(ArraySource(a))
    left, values, right = linalg.svd(a, full_matrices=False, check_finite=False)
    turned = signed(right)
    same = np.einsum("pd,pd->p", turned, right)  # 1 or -1
    return Factors(left * np.sign(same), values, turned)


# ---- the largest


@dataclass(frozen=True)
class Leading:
    """The m largest singular values."""

    values: Vector  # (m,)
    right: Array  # (m, d) V'
    total: float  # squared Frobenius norm of A: the sum of all s^2

    @property
    def residual(self) -> float:
        """|A - A_m|_F."""
        return float(np.sqrt(max(self.total - float(self.values @ self.values), 0.0)))


@one_blas_thread()
def leading_factors(source: Source, d: int, m: int, tol: float = 0.0, seed: int = 0) -> Leading:
    """The ``m`` largest singular values of a table, row i of it times the root of its weight.

    ``tol`` matters to Lanczos alone: |A'A v - s^2 v| <= tol s^2. 0 is as accurate as numbers allow.
    """
    most = min(source.n_rows, d)
    if not (isinstance(m, int | np.integer) and 1 <= m <= most):
        raise ParameterError(f"n_components={m!r}.", f"Give a whole number from 1 to {most}.")
    columns: ColumnMoments = reduce(source, ColumnMoments.of)
    if columns.missing or columns.infinite is not None:
        raise_for_bad_cell(source)
    total = float((columns.scatter + columns.weight * columns.mean**2).sum())
    if isinstance(source, ArraySource) and source.weights is None and min(source.array.shape) <= LARGE < d:
        found = full_svd(source.array)
        return Leading(found.values[:m], found.right[:m], total)
    if d <= LARGE and not source.sparse:
        product = reduce(source, _squares).product
        values, vectors = linalg.eigh(product, subset_by_index=(d - m, d - 1))
        return Leading(np.sqrt(np.maximum(values[::-1], 0.0)), signed(vectors[:, ::-1].T), total)
    values, right = leading_singular(source, d, int(m), tol, total, seed)
    return Leading(values, signed(right), total)


def _squares(block: Block) -> Product:
    """A'A of a block."""
    w, x = block.weights, block.rows.astype(np.float64, copy=False)
    if (w != 1).any():
        x = np.where(w[:, None] > 0, x, 0.0) * np.sqrt(w)[:, None]
    return Product(x.T @ x)


def rows_in_memory(source: Source) -> Array:
    """(n, d) all rows, each times the root of its weight, where they fit."""
    n, d = source.n_rows, source.n_columns
    if 8 * n * d > (current().memory or ROOM) // 2:
        raise MemoryBudgetError(
            f"All factors of {n} x {d} numbers take more memory than is allowed.",
            "Ask TruncatedSVD for the largest of them.",
        )
    rows = np.empty((n, d))
    for block in source.blocks():
        some: Any = block.rows
        dense = some.toarray() if is_sparse(some) else some
        root = np.sqrt(block.weights)[:, None]
        rows[block.start : block.start + len(block)] = np.where(root > 0, dense, 0.0) * root
    return rows


# ---- using them


def coordinates(source: Source, right: Array) -> Array:
    """(n, m) A V of every row."""
    return map_rows(source, partial(_coordinates, right, source.names))


def _coordinates(right: Array, names: tuple[str, ...], block: Block) -> NDArray[Any]:
    with np.errstate(invalid="ignore", over="ignore"):
        z = block.rows @ right.T
    if not np.isfinite(z).all():
        require_finite(block, names)
    return z.astype(block.rows.dtype, copy=False)
