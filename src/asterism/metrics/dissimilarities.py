"""W, B and T of any dissimilarity: how much of it lies within groups, between them, and in all.

    W = 1/2 sum over pairs of rows of one group of w_i w_j d(i, j)
    B = 1/2 sum over pairs of rows of different groups            T = W + B, whatever the groups are

So what makes W small makes B large. For squared Euclidean distances W is the sum over groups of weight times sum of
squares, which one pass over the table gives; other dissimilarities are taken in tiles of pairs.

References
----------
1. Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, 14.3.5.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from asterism.data.block import Block
from asterism.data.finite import require_finite
from asterism.distances.pairwise import on_threads, prepared
from asterism.metrics.internal import moments_of
from asterism.metrics.silhouette import NUMERIC, add_sums, all_points, require_comparable
from asterism.metrics.tables import Labelled, labelled, typical_row, weights_of


class WithinBetweenTotal(NamedTuple):
    """Dissimilarity of all pairs of rows, every pair once."""

    within: float  # W
    between: float  # B
    total: float  # T = W + B


def within_between_total(
    X: Any, labels: Any, *, metric: Any = "sqeuclidean", sample_weight: Any = None
) -> WithinBetweenTotal:
    """W, B and T = W + B of a labelled table, for any dissimilarity of ``silhouette_samples``.

    >>> within_between_total([[0.0], [1.0], [5.0]], ["a", "a", "b"], metric="euclidean")
    WithinBetweenTotal(within=1.0, between=9.0, total=10.0)
    """
    table = labelled(X, labels, sample_weight, mixed=metric not in NUMERIC)
    within, between = _squares(table) if metric == "sqeuclidean" else _tiles(table, metric)
    return WithinBetweenTotal(within, between, within + between)


def _squares(table: Labelled) -> tuple[float, float]:
    """Within a group of weight N_g, sum_ij w_i w_j ||x_i - x_j||^2 / 2 = N_g SS_g with SS_g its sum of squares.

    Between g and h it is N_h SS_g + N_g SS_h + N_g N_h ||m_g - m_h||^2; summed over all pairs of groups,
    B = sum_g (N - N_g) SS_g + N sum_g N_g ||m_g - m||^2: no difference of large numbers.
    """
    moments = moments_of(table, typical_row(table.source))
    if not (moments.weight == moments.mass[:, None]).all():
        for block in table.source.blocks():  # pairs need complete rows: name the first that is not
            require_finite(block, table.source.names)
    mass, squares = moments.mass, moments.scatter.sum(axis=1)
    total = float(mass.sum())
    within = float(mass @ squares)
    between = float((total - mass) @ squares) + total * moments.between
    return within, between


def _tiles(table: Labelled, metric: Any) -> tuple[float, float]:
    fitted, ready = prepared(table.source, metric)
    everyone = all_points(table, fitted, ready)
    weights = weights_of(table.source)
    own, other = np.zeros((2, table.source.n_rows))

    def visit(block: Block) -> None:
        sums = np.zeros((len(block), table.k))
        for points in everyone:
            add_sums(fitted, block.rows, points, sums)
        codes = table.codes(block)
        counted = codes >= 0
        require_comparable(sums[counted], block.start)
        place = slice(block.start, block.start + len(block))
        rows = np.flatnonzero(counted)
        own[place][rows] = sums[rows, codes[rows]]
        sums[rows, codes[rows]] = 0.0
        other[place][rows] = sums[rows].sum(axis=1)

    on_threads(ready, visit)
    if weights is not None:
        own, other = own * weights, other * weights
    return float(own.sum() / 2), float(other.sum() / 2)
