"""Principal components of sparse tables, centred in the products alone: no row is ever made dense.

    S = sum w (x - mean)(x - mean)' = X'WX - W mean mean'        W the total weight

``moments``    d up to 2048: X'WX as d x d numbers
``dual``       n up to 2048: X X' as n x n numbers, centred there (``methods.dual``)
``iterative``  else: S Q = X'W(XQ) - W mean (mean'Q), pass by pass (``methods.krylov``); only for so many components

Where a mean is large beside the spread of its column, X'WX has lost the digits that centring takes; such columns have
no zeros to speak of, and are better given dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from asterism.data.block import Block, Vector, present
from asterism.data.finite import raise_for_bad_cell
from asterism.data.source import Source
from asterism.data.sparse import stacked_rows
from asterism.engines.reduce import reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import ParameterError
from asterism.methods.components import EPS, Components, asked, assembled, leading, limit
from asterism.methods.dual import centred, decomposed
from asterism.methods.krylov import pca_iterative
from asterism.stats.moments import ColumnMoments

Array = NDArray[np.float64]
LARGE = 2048  # as of dense tables: up to here a full decomposition takes seconds


@dataclass(frozen=True, slots=True)
class Squares:
    """X'WX of some rows."""

    product: Array  # (d, d)

    def merge(self, other: Squares) -> Squares:
        """Rows add up."""
        return Squares(self.product + other.product)


@one_blas_thread()
def pca_sparse(source: Source, m: int | None, seed: int = 0) -> Components:
    """The ``m`` leading components (None: all) of a table whose rows are CSR."""
    n, d = source.n_rows, source.n_columns
    if min(n, d) > LARGE:
        if m is None:
            raise ParameterError(
                f"All components of a sparse table of {n} x {d} are too many to keep.",
                "Give n_components, a whole number.",
            )
        return pca_iterative(source, m, seed)
    columns: ColumnMoments = reduce(source, ColumnMoments.of)
    if columns.infinite is not None:
        raise_for_bad_cell(source)
    m = asked(m, limit(columns.rows, columns.total, d), columns.rows)
    return _from_columns(source, columns, m) if d <= LARGE else _from_rows(source, columns, m)


def _from_columns(source: Source, columns: ColumnMoments, m: int) -> Components:
    """By the d x d scatter matrix."""
    d, weight, mean = source.n_columns, columns.total, columns.mean
    scatter = reduce(source, _squares).product - weight * np.outer(mean, mean)
    values, vectors = leading(scatter, m)
    total = float(columns.scatter.sum())
    # what centring took is rounding of X'WX, not of what is left
    floor = d * EPS * (total + weight * float(mean @ mean)) / max(float(values[0]), np.finfo(float).tiny)
    most = limit(columns.rows, weight, d)
    return assembled(mean, vectors.T, values, floor, m, total=total, weight=weight, most=most)


def _squares(block: Block) -> Squares:
    here = present(block)
    x: Any = here.rows.astype(np.float64, copy=False)
    weighted = csr_array((x.data * np.repeat(here.weights, np.diff(x.indptr)), x.indices, x.indptr), x.shape)
    return Squares(np.asarray((x.T @ weighted).toarray()))


def _from_rows(source: Source, columns: ColumnMoments, m: int) -> Components:
    """By the n x n products of rows."""
    blocks = [present(block) for block in source.blocks()]
    x, w = (
        stacked_rows([b.rows for b in blocks]).astype(np.float64),
        np.concatenate([b.weights for b in blocks]),
    )
    gram = centred((x @ x.T).toarray(), w)
    n, d = x.shape
    _, left = leading(gram, min(m, n))
    loadings = _loadings(x, w, columns.mean, left)
    values, directions = decomposed(loadings)
    total, weight = float(columns.scatter.sum()), columns.total
    floor = (max(n, d) * EPS) ** 2
    most = limit(columns.rows, weight, d)
    return assembled(columns.mean, directions, values, floor, m, total=total, weight=weight, most=most)


def _loadings(x: csr_array, w: Vector, mean: Vector, left: Array) -> Array:
    """(d, m) Y'U of the centred rows y = sqrt(w) (x - mean)."""
    rooted = np.sqrt(w)[:, None] * left
    return np.asarray(x.T @ rooted - np.outer(mean, rooted.sum(axis=0)))
