"""The few largest singular values of a table of any size, dense or sparse, by block Lanczos on A'A.

    A'A V = V T + Q R e'         V orthonormal, T = V' A'A V, Q the next block, R its coupling to the last

Every pass over A multiplies one narrow block: A'(A Q). T is small, and its eigenpairs (t, y) tell all: the Ritz value
t is s^2, the vector V y, and |A'A V y - t V y| = |R y_last|, so accuracy costs nothing to know. When V is full it
restarts from its best vectors; the next block couples to them by itself, since it is made orthogonal to all of V.

``methods.krylov`` does the same for the scatter about a mean, with wide blocks and their images kept: that is for
tables where a pass costs more than everything else. Here blocks are narrow, for sparse tables whose pass is cheap.

References
----------
1. Golub, Luk, Overton (1981), A block Lanczos method for computing the singular values and corresponding singular
   vectors of a matrix. ACM TOMS 7:149-169.
2. Wu, Simon (2000), Thick-restart Lanczos method for large symmetric eigenvalue problems. SIAM
   J. Matrix Anal. Appl. 22:602-616.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism.data.block import Block, Vector
from asterism.data.columns import numbered_columns
from asterism.data.source import Piece, Source
from asterism.engines.reduce import reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import NotConvergedWarning

Array = NDArray[np.float64]
NARROW = 8  # columns of a block: a cache line of a row of Q
BLOCKS = 24  # blocks of V beside the vectors wanted, before it restarts
PART = 1 << 17  # stored numbers of a sparse table that are worked on at a time
MOST_PASSES = 1000
ROUNDING = 1e-13
EPS = 16 * float(np.finfo(np.float64).eps)


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

    def multiply(self, q: Array, block: Block) -> Product:
        """A'(A Q) of a part."""
        part = self.parts[block.start // self.block_rows]
        return Product(np.asarray(part.T @ (part @ q)))

    def times(self, v: Array, block: Block) -> Array:
        """A V of a part."""
        return np.asarray(self.parts[block.start // self.block_rows] @ v)


def multiply_rows(q: Array, block: Block) -> Product:
    """A'(A Q) of dense rows, each times its weight."""
    w, x = block.weights, block.rows.astype(np.float64, copy=False)
    if not w.all():
        x = np.where(w[:, None] > 0, x, 0.0)  # absent rows may hold anything, NaN included
    z = x @ q
    z *= w[:, None]
    return Product(x.T @ z)


@one_blas_thread()  # the sums of a product depend on how many threads share it
def leading_singular(source: Source, d: int, m: int, tol: float, seed: int = 0) -> tuple[Vector, Array]:
    """The ``m`` largest singular values of a table with ``d`` columns, and their right vectors (m, d)."""
    visit = source.multiply if isinstance(source, SparseRows) else multiply_rows

    def times(q: Array) -> Array:
        found: Product = reduce(source, partial(visit, q))
        return found.product

    values, vectors, settled = lanczos(times, d, m, tol, seed)
    if not settled:
        warnings.warn(
            f"The {m} largest singular values did not settle in {MOST_PASSES} passes: they lie too close. "
            "Ask for fewer or more of them, or give a larger tol.",
            NotConvergedWarning,
            stacklevel=3,
        )
    return np.sqrt(np.maximum(values, 0.0)), vectors.T


def lanczos(
    times: Callable[[Array], Array], d: int, m: int, tol: float, seed: int
) -> tuple[Vector, Array, bool]:
    """The ``m`` largest eigenvalues of a symmetric operator, their vectors (d, m), and whether all are accurate.

    Accurate: |A'A v - t v| <= tol t.
    """
    b, full = min(NARROW, d), min(m + BLOCKS * NARROW, d)
    v, t = np.empty((d, full + b), order="F"), np.zeros((full + b, full + b))
    q, r = linalg.qr(np.random.default_rng(seed).standard_normal((d, b)), mode="economic")
    near = have = 0
    for _ in range(MOST_PASSES):
        b = q.shape[1]
        v[:, have : have + b] = q
        z = times(np.asarray(q, np.float64))
        top = have + b
        # The large parts of z lie along the last two blocks, or along all after a restart. Then once more along
        # all: what one such step leaves behind would grow fourfold with every block.
        for first in (near, 0):
            inner = v[:, first:top].T @ z
            z -= v[:, first:top] @ inner
            t[first:top, have:top] += inner
        t[have:top, :top] = t[:top, have:top].T
        values, y = linalg.eigh(t[:top, :top])
        values, y = values[::-1], y[:, ::-1]
        q, r = _next(np.asarray(z, np.float64), d - top, float(values[0]))
        error = np.sqrt(((r @ y[have:top, :m]) ** 2).sum(axis=0))
        allowed = tol * values[:m] + EPS * np.sqrt(d) * values[0]
        near, have = have, top
        if (have >= m and (error <= allowed).all()) or not q.shape[1]:
            return values[:m], v[:, :have] @ y[:, :m], True
        if have + q.shape[1] > full:
            near, have = 0, min(m + NARROW, have)
            v[:, :have] = v[:, :top] @ y[:, :have]
            t[:] = 0.0
            t[:have, :have] = np.diag(values[:have])
    return values[:m], v[:, :top] @ y[:, :m], False


def _next(z: Array, room: int, largest: float) -> tuple[Array, Array]:
    """Q R = Z, without the columns of Q that would be rounding."""
    q, r = linalg.qr(z, mode="economic", check_finite=False)
    if room >= len(r) and np.abs(np.diag(r)).min() > ROUNDING * largest:
        return np.asarray(q, np.float64), np.asarray(r, np.float64)
    q, r, order = linalg.qr(z, mode="economic", pivoting=True, check_finite=False)
    keep = min(int((np.abs(np.diag(r)) > ROUNDING * largest).sum()), room)
    back = np.empty(r.shape)
    back[:, order] = r
    return np.asarray(q[:, :keep], np.float64), back
