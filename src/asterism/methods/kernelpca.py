"""Kernel PCA: principal components of rows that a kernel has mapped elsewhere, and the way back.

With K_ij = k(x_i, x_j), weights w and H = I - 1 w'/sum(w) the kernel is centred, C = H K H', and

    diag(w)^(1/2) C diag(w)^(1/2) = U diag(l) U'
    coordinates of row i   z_i = sqrt(l) U_i / sqrt(w_i)
    of a new row x         z = (centred k(x, .))' diag(w)^(1/2) U / sqrt(l)

Pre-images are learnt: ridge regression, in the kernel of the coordinates, from z back to x,

    x(z) = k(z, Z) (k(Z, Z) + alpha diag(1/w))^-1 X

n x n numbers are kept: this is for thousands of rows, not millions.

References
----------
1. Scholkopf, Smola, Muller (1998), Nonlinear component analysis as a kernel eigenvalue problem. Neural Computation
   10:1299-1319.
2. Bakir, Weston, Scholkopf (2004), Learning to find pre-images. NIPS 16.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.spatial.distance import cdist

from asterism.data.block import Block, Vector
from asterism.data.finite import require_finite
from asterism.data.source import ArraySource, Source
from asterism.engines.context import current
from asterism.engines.reduce import map_rows
from asterism.engines.threads import one_blas_thread
from asterism.errors import MemoryBudgetError, ParameterError

Array = NDArray[np.float64]
KERNELS = ("linear", "poly", "rbf", "sigmoid", "cosine", "precomputed")
ROOM = 4 << 30  # bytes of a kernel matrix where no budget was given


@dataclass(frozen=True)
class Kernel:
    """k(x, y); scikit-learn's formulas and names."""

    name: str | Callable[[Array, Array], float]
    gamma: float = 1.0
    degree: float = 3.0
    shift: float = 1.0  # coef0

    def between(self, x: Array, y: Array) -> Array:
        """(n, p) k of all pairs of rows; rows of "precomputed" are k already."""
        if callable(self.name):
            return np.array([[float(self.name(a, b)) for b in y] for a in x]).reshape(len(x), len(y))
        if self.name == "precomputed":
            return x
        if self.name == "rbf":
            return np.asarray(np.exp(-self.gamma * cdist(x, y, "sqeuclidean")))
        if self.name == "cosine":
            return _unit(x) @ _unit(y).T
        inner = x @ y.T
        if self.name == "poly":
            return np.asarray((self.gamma * inner + self.shift) ** self.degree)
        return np.asarray(np.tanh(self.gamma * inner + self.shift)) if self.name == "sigmoid" else inner


def _unit(x: Array) -> Array:
    size = np.sqrt((x * x).sum(axis=1))
    return np.asarray(x / np.where(size > 0, size, 1.0)[:, None])


@dataclass(frozen=True)
class KernelComponents:
    """A fitted kernel PCA."""

    kernel: Kernel
    rows: Array  # (n, d) those that count
    weights: Vector  # (n,)
    column_means: Vector  # (n,) weighted means of K's columns
    grand_mean: float
    values: Vector  # (m,) l, largest first
    vectors: Array  # (n, m) U

    @property
    def coordinates(self) -> Array:
        """(n, m) z of the rows that count."""
        return np.asarray(self.vectors * np.sqrt(self.values) / np.sqrt(self.weights)[:, None])

    def project(self, names: tuple[str, ...], block: Block) -> Array:
        """(n, m) z of any rows; directions that do not vary give 0."""
        require_finite(block, names)
        k = self.kernel.between(block.rows.astype(np.float64), self.rows)
        means = k @ self.weights / self.weights.sum()
        centred = k - self.column_means - means[:, None] + self.grand_mean
        scale = np.divide(1.0, np.sqrt(self.values), out=np.zeros_like(self.values), where=self.values > 0)
        return np.asarray(centred @ (np.sqrt(self.weights)[:, None] * self.vectors * scale))


@one_blas_thread()
def fit_kernel_pca(source: Source, m: int | None, kernel: Kernel) -> KernelComponents:
    """``m`` components, or for None all that vary."""
    rows, weights = _rows_of(source)
    n = len(rows)
    if kernel.name == "precomputed":
        rows = _precomputed(source, rows)
    if m is not None and not (isinstance(m, int | np.integer) and m >= 1):
        raise ParameterError(f"n_components={m!r}.", "Give a whole number, 1 or more, or None for all.")
    k = kernel.between(rows, rows)
    share = weights / weights.sum()
    column_means = share @ k
    grand = float(column_means @ share)
    roots = np.sqrt(weights)
    centred = (k - column_means - column_means[:, None] + grand) * np.outer(roots, roots)
    low = n - min(n, m) if m is not None else 0
    values, vectors = linalg.eigh(0.5 * (centred + centred.T), subset_by_index=(low, n - 1))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    values[values <= n * np.finfo(np.float64).eps * values[0]] = 0.0
    if m is None:
        keep = max(int((values > 0).sum()), 1)
        values, vectors = values[:keep], vectors[:, :keep]
    top = np.abs(vectors).argmax(axis=0)
    signs = np.where(vectors[top, np.arange(len(values))] < 0, -1.0, 1.0)
    return KernelComponents(kernel, rows, weights, column_means, grand, values, vectors * signs)


def _rows_of(source: Source) -> tuple[Array, Vector]:
    n = source.n_rows
    if 8 * n * n > (current().memory or ROOM):
        raise MemoryBudgetError(
            f"The kernel matrix of {n} rows takes {8 * n * n / 1e9:.1f} GB.",
            "Fit a sample of the rows and transform the rest, or allow more memory.",
        )
    rows, weights = np.empty((n, source.n_columns)), np.empty(n)
    for block in source.blocks():
        require_finite(block, source.names)
        at = slice(block.start, block.start + len(block))
        rows[at], weights[at] = block.rows, block.weights
    here = weights > 0
    return rows[here], weights[here]


def _precomputed(source: Source, rows: Array) -> Array:
    if source.n_columns != source.n_rows or len(rows) != source.n_rows:
        raise ParameterError(
            f"A precomputed kernel of shape {(source.n_rows, source.n_columns)} cannot be used.",
            "Give a square matrix, and no row of weight 0.",
        )
    return rows


def project_rows(model: KernelComponents, source: Source) -> Array:
    """(n, m) coordinates of every row."""
    return map_rows(source, partial(model.project, source.names))


# ---- the way back


@dataclass(frozen=True)
class PreImage:
    """Ridge regression from coordinates to rows."""

    kernel: Kernel
    points: Array  # (n, m) Z
    slopes: Array  # (n, d) (k(Z, Z) + alpha diag(1/w))^-1 X

    @classmethod
    def of(cls, model: KernelComponents, alpha: float) -> PreImage:
        """Learnt from the rows the model was fitted to."""
        if model.kernel.name == "precomputed":
            raise ParameterError(
                "There is no way back from a precomputed kernel.", "Give the rows and a kernel."
            )
        z = model.coordinates
        k = model.kernel.between(z, z)
        k[np.diag_indices_from(k)] += alpha / model.weights
        return cls(model.kernel, z, np.asarray(linalg.solve(k, model.rows, assume_a="sym")))

    def rows(self, z: Any) -> Array:
        """(n, d) rows that have these coordinates (n, m)."""
        return map_rows(ArraySource(np.asarray(z, np.float64)), self._visit)

    def _visit(self, block: Block) -> Array:
        return self.kernel.between(block.rows.astype(np.float64), self.points) @ self.slopes
