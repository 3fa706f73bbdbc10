"""How tight groups are and how far apart, from the moments of each: one pass over blocks, arrays or files.

With W the sum of squares around the groups' means, B that of the means around the grand mean, T = W + B,

    sum of squares      W = sum w ||x - m_z||^2
    scatter matrices    S_W = sum w (x - m_z)(x - m_z)'   S_B = sum_k N_k (m_k - m)(m_k - m)'   S_T = S_W + S_B
    scatter ratio       Tr(S_B) / Tr(S_W) = B / W
    Calinski-Harabasz   (B / (k - 1)) / (W / (n - k))
    Davies-Bouldin      mean over k of max over l of (s_k + s_l) / ||m_k - m_l||, s_k = mean distance to m_k

n is the total weight: a row of weight w is w rows. Missing cells are left out of every sum, as in k-means.

References
----------
1. Calinski, Harabasz (1974), A dendrite method for cluster analysis. Communications in Statistics 3:1-27.
2. Davies, Bouldin (1979), A cluster separation measure. IEEE Trans. PAMI 1:224-227.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block, Vector
from asterism.data.finite import require_finite
from asterism.engines.reduce import reduce
from asterism.errors import ParameterError
from asterism.metrics.tables import Labelled, labelled, typical_row
from asterism.stats.base import Joined
from asterism.stats.scatter import GroupMoments, GroupScatter

Matrix = NDArray[np.float64]


class ScatterMatrices(NamedTuple):
    """Scatter of the rows within groups, of the groups' means, and of all rows."""

    within: Matrix  # (d, d) S_W
    between: Matrix  # (d, d) S_B
    total: Matrix  # (d, d) S_T = S_W + S_B


@dataclass(frozen=True, slots=True)
class InternalScores:
    """Everything that moments and centres say of a labelled table."""

    k: int
    sum_of_squares: float  # W
    scatter_ratio: float  # B / W
    calinski_harabasz: float
    davies_bouldin: float
    silhouette: float  # centroid form


# --- from moments -----------------------------------------------------------------------------------------------


def moments_of(table: Labelled, reference: Vector) -> GroupMoments:
    """The moments of every group, in one pass."""
    found: GroupMoments = reduce(table.source, partial(_moments, table, reference))
    return found


def _moments(table: Labelled, reference: Vector, block: Block) -> GroupMoments:
    require_finite(block, table.source.names, missing_ok=True)
    return GroupMoments.of(block, table.codes(block), table.k, reference)


def sum_of_squares(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """W = sum w ||x - mean of its group||^2: what k-means makes small.

    >>> sum_of_squares([[0.0], [2.0], [10.0]], ["a", "a", "b"])
    2.0
    """
    return _moments_of(X, labels, sample_weight).within


def scatter_ratio(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """Tr(S_B) / Tr(S_W): 0 for one group, infinite where no group has any spread.

    >>> scatter_ratio([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    25.0
    """
    moments = _moments_of(X, labels, sample_weight)
    return _ratio(moments.between, moments.within)


def calinski_harabasz_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """(B / (k - 1)) / (W / (n - k)); NaN for one group and for as many groups as rows, which it cannot compare.

    >>> calinski_harabasz_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    50.0
    """
    return _calinski(_moments_of(X, labels, sample_weight))


def calinski_harabasz(within: float, total: float, k: int, n: float) -> float | None:
    """(T - W) / (k - 1) / (W / (n - k)): infinite where the groups leave no spread within; None where undefined."""
    if k < 2 or n <= k:
        return None
    if within <= 0.0:
        return math.inf
    return (total - within) / (k - 1) / (within / (n - k))


def scatter_matrices(X: Any, labels: Any, *, sample_weight: Any = None) -> ScatterMatrices:
    """S_W, S_B and S_T = S_W + S_B of complete rows, not divided by anything, in one pass.

    >>> within, between, total = scatter_matrices([[0.0], [2.0], [10.0]], [0, 0, 1])
    >>> within.tolist(), round(float(total[0, 0]), 9)
    ([[2.0]], 56.0)
    """
    table = labelled(X, labels, sample_weight)
    found = reduce(table.source, partial(_scatter, table, typical_row(table.source)))
    within, between = found.within, found.between
    return ScatterMatrices(within, between, within + between)


def _scatter(table: Labelled, reference: Vector, block: Block) -> GroupScatter:
    require_finite(block, table.source.names)
    return GroupScatter.of(block, table.codes(block), table.k, reference)


def _moments_of(X: Any, labels: Any, sample_weight: Any) -> GroupMoments:
    table = labelled(X, labels, sample_weight)
    return moments_of(table, typical_row(table.source))


def _ratio(part: float, whole: float) -> float:
    if whole > 0:
        return part / whole
    return math.inf if part > 0 else 0.0


def _calinski(moments: GroupMoments) -> float:
    within, total = moments.within, moments.within + moments.between
    found = calinski_harabasz(within, total, len(moments.mass), float(moments.mass.sum()))
    return math.nan if found is None else found


# --- from distances to centres ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CenterSums:
    """Distances of rows to their centres, added up by group. They add."""

    table: Matrix  # (3, k): sum of w, of w a, of w (b - a) / max(a, b); a own centre, b the nearest other

    @classmethod
    def zero(cls, k: int) -> CenterSums:
        """No rows."""
        return cls(np.zeros((3, k)))

    @classmethod
    def of(cls, block: Block, codes: NDArray[Any], reference: Vector, centers: Matrix) -> CenterSums:
        """Of a block whose rows are in groups ``codes``."""
        own, values = center_silhouettes(block, codes, reference, centers)
        known = block.weights > 0
        group, w = codes[known], block.weights[known]
        parts = [w, w * own[known], w * values[known]]
        return cls(np.array([np.bincount(group, part, len(centers)) for part in parts], np.float64))

    def merge(self, other: CenterSums) -> CenterSums:
        """Sums add."""
        return CenterSums(self.table + other.table)


def center_silhouettes(
    block: Block, codes: NDArray[Any], reference: Vector, centers: Matrix
) -> tuple[Vector, Vector]:
    """(n,) a and (n,) (b - a) / max(a, b) of rows, with distances to centres (k, d) from the reference.

    0 where a row is at two centres at once; NaN for absent rows.
    """
    n, k = len(block), len(centers)
    distance = _core.squared_distances(block.rows, reference, centers)
    np.sqrt(distance, out=distance)
    rows = np.arange(n)
    group = np.maximum(codes, 0)
    own = distance[rows, group]
    distance[rows, group] = np.inf
    other = distance.min(axis=1) if k > 1 else own
    most = np.maximum(own, other)
    with np.errstate(invalid="ignore"):  # absent rows may hold anything
        values = np.divide(other - own, most, out=np.zeros(n), where=(most > 0) & np.isfinite(most))
    absent = block.weights == 0
    own[absent], values[absent] = np.nan, np.nan
    return own, values


def davies_bouldin_score(X: Any, labels: Any, *, centers: Any = None, sample_weight: Any = None) -> float:
    """mean over k of max over l of (s_k + s_l) / ||m_k - m_l||: smaller is better; NaN for one group.

    Infinite where two groups with any spread share their centre. ``centers`` (k, d), in the order of the labels, save
    the pass that finds the means.

    >>> davies_bouldin_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    0.2
    """
    table = labelled(X, labels, sample_weight)
    reference, offsets, _ = centers_of(table, centers)
    sums = reduce(table.source, partial(_center_sums, table, reference, offsets))
    return _davies_bouldin(offsets, sums)


def internal_scores(X: Any, labels: Any, *, centers: Any = None, sample_weight: Any = None) -> InternalScores:
    """W, scatter ratio, Calinski-Harabasz, Davies-Bouldin and the centroid silhouette together.

    In one pass over the table where ``centers`` (k, d) are given, in the order of the labels, as k-means knows them;
    in two where the means have to be found first.
    """
    table = labelled(X, labels, sample_weight)
    reference, offsets, moments = centers_of(table, centers)
    if moments is None:
        both = reduce(table.source, partial(_both, table, reference, offsets))
        moments, sums = both.parts
    else:
        sums = reduce(table.source, partial(_center_sums, table, reference, offsets))
    return InternalScores(
        table.k,
        moments.within,
        _ratio(moments.between, moments.within),
        _calinski(moments),
        _davies_bouldin(offsets, sums),
        mean_silhouette(sums),
    )


def mean_silhouette(sums: CenterSums) -> float:
    """The weighted mean, where groups of one row count as 0; 0 for one group."""
    mass, _, values = sums.table
    if len(mass) < 2:
        return 0.0
    return float(values[mass > 1.0].sum() / mass.sum())


def centers_of(table: Labelled, centers: Any) -> tuple[Vector, Matrix, GroupMoments | None]:
    """A reference, centres (k, d) from it, and the moments if a pass was needed to find them."""
    reference = typical_row(table.source)
    if centers is None:
        moments = moments_of(table, reference)
        return reference, moments.mean, moments
    given = np.asarray(centers, np.float64)
    if given.shape != (table.k, table.source.n_columns):
        raise ParameterError(
            f"centers has the shape {given.shape}; there are {table.k} groups and {table.source.n_columns} columns.",
            "Give one centre for every group that has rows, in the order of the labels.",
        )
    return reference, given - reference, None


def _center_sums(table: Labelled, reference: Vector, centers: Matrix, block: Block) -> CenterSums:
    require_finite(block, table.source.names, missing_ok=True)
    return CenterSums.of(block, table.codes(block), reference, centers)


def _both(table: Labelled, reference: Vector, centers: Matrix, block: Block) -> Joined:
    return Joined((_moments(table, reference, block), _center_sums(table, reference, centers, block)))


def _davies_bouldin(centers: Matrix, sums: CenterSums) -> float:
    mass, distances, _ = sums.table
    k = len(mass)
    if k < 2:
        return math.nan
    spread = np.divide(distances, mass, out=np.zeros(k), where=mass > 0)
    worst = np.zeros(k)
    for c in range(k):
        apart = np.sqrt(((centers - centers[c]) ** 2).sum(axis=1))
        both = spread + spread[c]
        touching = np.where(both > 0, np.inf, 0.0)
        ratio = np.divide(both, apart, out=touching, where=apart > 0)
        ratio[c] = 0.0
        worst[c] = ratio.max()
    return float(worst.mean())
