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
    rows, weights = every_row(ready), every_weight(source)
    counted = np.flatnonzero(weights > 0)  # a row of weight 0 may be at any distance, infinity too
    order = counted[np.argsort(z[counted], kind="stable")]  # rows of one group side by side

    def visit(block: Block) -> PairScatter:
        here = np.flatnonzero(block.weights > 0)
        mine, within, between = z[block.start + here], np.zeros(len(here)), np.zeros(len(here))
        for a in range(0, len(order), COLUMNS):
            others = order[a : a + COLUMNS]
            tile = fitted.tile(block.rows[here], fitted.points(rows[others], others))
            starts = np.flatnonzero(np.diff(z[others], prepend=-1))
            sums = np.add.reduceat(tile * weights[others], starts, axis=1)
            same = mine[:, None] == z[others[starts]]
            within += np.where(same, sums, 0.0).sum(axis=1)
            between += np.where(same, 0.0, sums).sum(axis=1)
        w = 0.5 * block.weights[here]
        return PairScatter(float(w @ within), float(w @ between))

    found: PairScatter = reduce(ready, visit)
    return found
