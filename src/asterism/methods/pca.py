"""Principal components: the orthogonal directions in which weighted rows vary most.

Three ways to the same answer; the shape of the table decides between them (``route``):

``moments``    the scatter matrix from one pass over rows, then its eigenvectors: d x d numbers
``dual``       the Gram matrix of centred rows, from passes over columns: n x n numbers (``methods.dual``)
``iterative``  only the m leading ones, from several passes: d x few numbers (``methods.krylov``)

References
----------
1. Jolliffe (2002), Principal Component Analysis, 2nd ed.
2. Tipping, Bishop (1999), Probabilistic principal component analysis. JRSS B 61:611-622 (noise, likelihood).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from asterism.data.block import Block
from asterism.data.finite import raise_for_bad_cell
from asterism.data.longer import in_longer_blocks
from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import ParameterError
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
from asterism.methods.dual import in_memory, pca_dual
from asterism.methods.krylov import pca_iterative
from asterism.methods.sparse_pca import pca_sparse
from asterism.stats.base import Joined
from asterism.stats.moments import Moments

Route = Literal["moments", "dual", "iterative"]
LARGE = 2048  # up to here a full decomposition takes seconds, however many components are wanted


def fit_pca(source: Source, n_components: float | None = None, *, seed: int = 0) -> Components:
    """The principal components of a table: ``n_components`` of them, or all for None.

    A number between 0 and 1 asks for the fewest components that hold that share of the variance.

    >>> from asterism.data.source import ArraySource
    >>> rows = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> found = fit_pca(ArraySource(rows), 1)
    >>> found.mean.tolist(), found.directions.round(3).tolist(), found.variances.round(3).tolist()
    ([2.0, 2.0], [[0.707, 0.707]], [2.0])
    """
    n, d = source.n_rows, source.n_columns
    m = _whole(n_components, d)
    if source.sparse:
        return _kept(pca_sparse(source, m, seed), n_components)
    way = route(n, d, m)
    if way == "dual":
        if (table := in_memory(source)) is not None:
            return _kept(pca_dual(table, m), n_components)
        way = "iterative" if m is not None else "moments"
    if way == "iterative" and m is not None:
        return pca_iterative(source, m, seed)
    if m is not None and (model := _in_single(source, m)) is not None:
        return model
    moments, count = reduce(in_longer_blocks(source), partial(_moments_and_count, Moments.of)).parts
    if not np.isfinite(moments.scatter).all():
        raise_for_bad_cell(source)
    return _kept(pca_from_moments(moments, m, count.rows), n_components)


def _in_single(source: Source, m: int) -> Components | None:
    """The components of many float32 cells from products in float32, where these are good enough; else None.

    They are where the smallest variance told of, along the last component or the mean of those left out, is well
    above the rounding of the largest. Where it is not, somebody may want to know that it is 0.
    """
    if source.dtype != np.float32 or source.n_rows * source.n_columns < MANY_CELLS:
        return None
    moments, count = reduce(in_longer_blocks(source), partial(_moments_and_count, Moments.of_single)).parts
    if not (np.isfinite(moments.scatter).all() and SAFE < np.trace(moments.scatter) < 1.0 / SAFE):
        return None
    model = pca_from_moments(moments, m, count.rows)
    least = model.variances[-1] if m == model.most else min(model.variances[-1], model.noise)
    return model if least >= CLEAR * model.variances[0] else None


def route(n: int, d: int, m: int | None) -> Route:
    """The cheapest way for ``n`` rows, ``d`` columns and ``m`` components (None: all of them).

    A full decomposition costs n d min(n, d). An iterative one takes about 20 passes of 4 n d m, and wins when
    few of very many components are wanted.

    >>> route(200_000, 100, 10), route(500, 20_000, 10), route(50_000, 5_000, 10)
    ('moments', 'dual', 'iterative')
    """
    small = min(n, d)
    if m is not None and small > LARGE and 64 * m <= small:
        return "iterative"
    return "moments" if n >= d else "dual"


@one_blas_thread()  # small matrices: more threads only wait for each other, and round otherwise
def pca_from_moments(moments: Moments, m: int | None = None, rows: int | None = None) -> Components:
    """The ``m`` leading components (None: all) of rows with these moments.

    ``rows`` is how many rows they are of, where it is known: n rows have no more than n components.
    """
    d, weight = len(moments.mean), moments.weight
    most = d if rows is None else limit(rows, weight, d)
    m = asked(m, most, d if rows is None else rows)
    values, vectors = leading(moments.scatter, m)
    total = max(float(np.trace(moments.scatter)), 0.0)
    return assembled(moments.mean, vectors.T, values, d * EPS, m, total=total, weight=weight, most=most)


@dataclass(frozen=True, slots=True)
class _Count:
    """How many rows count."""

    rows: int  # of weight > 0

    def merge(self, other: _Count) -> _Count:
        return _Count(self.rows + other.rows)


def _moments_and_count(moments_of: Callable[[Block], Moments], block: Block) -> Joined:
    return Joined((moments_of(block), _Count(int(np.count_nonzero(block.weights)))))


def _whole(n_components: float | None, d: int) -> int | None:
    """Components to compute; None for all of them, of which a share is kept later."""
    if n_components is None:
        return None
    whole = isinstance(n_components, int | np.integer) and not isinstance(n_components, bool)
    if whole and 1 <= n_components <= d:
        return int(n_components)
    if not whole and isinstance(n_components, float | np.floating) and 0 < n_components < 1:
        return None
    raise ParameterError(
        f"n_components={n_components!r} for {d} columns.",
        f"Give a whole number from 1 to {d}, a share between 0 and 1, or None for all.",
    )


def _kept(model: Components, n_components: float | None) -> Components:
    """The fewest components whose share of the variance reaches ``n_components``, where that is a share."""
    if n_components is None or n_components >= 1:
        return model
    reached = (
        np.cumsum(model.ratios) >= n_components - len(model.mean) * EPS
    )  # equal but for rounding: reached
    return model.first(int(reached.argmax()) + 1 if reached.any() else model.most)
