"""How much of the dissimilarity of a table lies within the groups of a clustering C, and how much between them.

    T    = 1/2 sum_i sum_j w_i w_j d(x_i, x_j)        over all pairs of rows
    W(C) = the part of it whose two rows are of one group
    B(C) = the part whose rows are of two; W(C) + B(C) = T

T knows nothing of the groups: so to make W small is to make B large. For squared Euclidean distance W is the sum
over groups of weight times sum of squares about the mean.

References
----------
1. Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, 14.3.5. Springer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from asterism.data.block import Block
from asterism.data.source import Source
from asterism.distances.pairwise import COLUMNS, every_row, every_weight, prepared
from asterism.engines.reduce import reduce
from asterism.errors import ParameterError


@dataclass(frozen=True, slots=True)
class PairScatter:
    """Sums over pairs of rows; those of two blocks of rows against the whole table add up."""

    within: float  # W(C)
    between: float  # B(C)

    @property
    def total(self) -> float:
        """T = W + B."""
        return self.within + self.between

    def merge(self, other: PairScatter) -> PairScatter:
        """Sums add."""
        return PairScatter(self.within + other.within, self.between + other.between)


def pair_scatter(source: Source, labels: Any, metric: Any = "euclidean") -> PairScatter:
    """W(C) and B(C) of a clustering by any dissimilarity: all pairs, a tile at a time, in O(n) memory.

    >>> from asterism.data.source import ArraySource
    >>> X = np.array([[0.0], [1.0], [10.0]])
    >>> pair_scatter(ArraySource(X), [0, 0, 1], "manhattan")
    PairScatter(within=1.0, between=19.0)
    """
    z = np.unique(np.asarray(labels), return_inverse=True)[1].ravel().astype(np.int64)
    if len(z) != source.n_rows:
        raise ParameterError(f"{len(z)} labels were given for {source.n_rows} rows.", "Give one label a row.")
    fitted, ready = prepared(source, metric)
    points, weights = every_row(ready), every_weight(source)
    n = source.n_rows

    def visit(block: Block) -> PairScatter:
        from asterism.kernels.pairwise import add_scatter

        mine, sums = z[block.start : block.start + len(block)], np.zeros(2)
        for a in range(0, n, COLUMNS):
            b = min(a + COLUMNS, n)
            tile = fitted.tile(block.rows, fitted.points(points[a:b], np.arange(a, b)))
            add_scatter(tile, mine, z[a:b], block.weights, weights[a:b], sums)
        return PairScatter(0.5 * float(sums[0]), 0.5 * float(sums[1]))

    found: PairScatter = reduce(ready, visit)
    return found
