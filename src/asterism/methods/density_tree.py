"""The tree of density: regions of rows that are parted by valleys, at one scale of smoothing.

The height of a row is minus the log of its radius (``distances.neighbours``). Rising through the levels

    level of an edge i - j = max(radius_i, radius_j, |x_i - x_j|)

of a spanning tree, regions grow from their peaks and merge at saddles. For both sides of a merge, in m local
dimensions, at mass k:

    prominence  m sqrt(k) (log saddle - least log radius)        how high its peak stands above the saddle
    contrast    m sqrt(k) (log saddle - mean log radius)         how high all of it does

The lesser side counts. Without a valley, prominence is a maximum over about n / k independent places and grows with
sqrt(2 log(n / k)); contrast shrinks with the size of a region from two dimensions up, where a long border has a way
round. ``expected_prominence`` and ``expected_contrast`` are 99% points of both over tables without groups, so a
valley is clear where ``evidence``, the greater of the two ratios, is above 1.

References
----------
1. Hartigan (1975), Clustering Algorithms, ch. 11: trees of high-density regions.
2. Chaudhuri, Dasgupta (2010), Rates of convergence for the cluster tree. NIPS 23.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import minimum_spanning_tree

from asterism.distances.neighbours import Neighbours
from asterism.methods.even_linkage import cut

Array = NDArray[np.float64]
Index = NDArray[np.int64]
SCALES = (3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200)  # convention: steps of about 1.5
EDGES = 32  # convention: neighbours that an edge may lead to; the spanning tree joins what is left
DIMENSION_ROWS = 10  # convention: weight of the table's dimension in that of a region
SEVERAL_SCALES = 1.2  # measured: what the largest of all scales is above the 99% point of one
PEAK_ROWS = 8  # convention: rows that stand for a region, from its peak down to its middle


@dataclass(frozen=True)
class Valley:
    """Where two regions merge."""

    merge: int  # its place among the edges of the tree
    sizes: tuple[float, float]  # weight of the lesser and of the greater side
    prominence: float
    contrast: float
    evidence: float  # above 1: deeper than chance makes one in a hundred tables without groups
    peaks: Index  # (2, PEAK_ROWS) rows that stand for either side


@dataclass(frozen=True, eq=False)
class DensityTree:
    """Regions of density at one scale."""

    scale: int  # mass within the radius
    log_radius: Array  # (n,)
    edges: Index  # (n - 1, 2) of the spanning tree, in the order of their levels
    log_levels: Array  # (n - 1,) rising
    valleys: tuple[Valley, ...]  # merges of regions of enough weight

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.log_radius)

    def regions(self, evidence: float) -> Index:
        """(n,) the regions that clearer valleys than that part; rows between them go with the denser side."""
        keep = np.ones(len(self.edges), bool)
        keep[[valley.merge for valley in self.valleys if valley.evidence > evidence]] = False
        return cut(self.edges, self.n, keep)


def grow_tree(near: Neighbours, scale: int, least: float) -> DensityTree:
    """The tree at a scale; valleys are those of regions of at least ``least`` weight."""
    n = len(near.rows)
    log_radius = near.log_radius(scale)
    if n == 1:
        return DensityTree(scale, log_radius, np.empty((0, 2), np.int64), np.empty(0), ())
    a, b, length = near.edges(min(max(scale, 8), EDGES))
    levels = np.maximum(np.maximum(log_radius[a], log_radius[b]), np.log(length))
    # Of equal levels the shorter edge; an edge of weight 0 would be none to SciPy.
    key = np.exp(levels - levels.min()) + 1e-6 * length / max(float(length.max()), 1e-300)
    spanning = minimum_spanning_tree(coo_matrix((key, (a, b)), shape=(n, n)).tocsr()).tocoo()
    order = np.argsort(spanning.data, kind="stable")
    edges = np.column_stack([spanning.row[order], spanning.col[order]]).astype(np.int64)
    lengths = np.linalg.norm(near.rows[edges[:, 0]] - near.rows[edges[:, 1]], axis=1)
    log_levels = np.maximum(log_radius[edges].max(axis=1), np.log(np.maximum(lengths, 1e-300)))
    judge = _Judge(near, scale, log_radius)
    found = [
        judge.valley(merge, log_levels[merge], lesser, greater)
        for merge, lesser, greater in _merges(edges, near.weights, least)
    ]
    return DensityTree(scale, log_radius, edges, log_levels, tuple(found))


def scales_of(n: float) -> list[int]:
    """Scales for so many rows: a quarter of them at most."""
    return [k for k in SCALES if k <= max(n / 4.0, 3.0)]


def least_size(total: float) -> float:
    """Least weight of a group worth a name in a table of this weight."""
    return float(max(4.0, np.ceil(total**0.5 / 4.0)))  # convention


def _merges(edges: Index, weights: Array, least: float) -> list[tuple[int, Index, Index]]:
    """Merges of two regions of enough weight: place, rows of the lesser, rows of the greater."""
    parent, members = list(range(len(weights))), [[i] for i in range(len(weights))]
    mass, found = weights.tolist(), []
    for merge, (a, b) in enumerate(edges.tolist()):
        while parent[a] != a:
            parent[a] = a = parent[parent[a]]
        while parent[b] != b:
            parent[b] = b = parent[parent[b]]
        if (mass[a], len(members[a])) < (mass[b], len(members[b])):
            a, b = b, a
        if mass[b] >= least:
            found.append((merge, np.array(members[b]), np.array(members[a])))
        parent[b] = a
        mass[a] += mass[b]
        members[a] += members[b]
        members[b] = []
    return found


class _Judge:
    """Evidence of valleys at one scale."""

    def __init__(self, near: Neighbours, scale: int, log_radius: Array) -> None:
        self.near, self.scale, self.log_radius = near, scale, log_radius
        self.total, self.columns = float(near.weights.sum()), near.rows.shape[1]
        self.slopes: dict[int, tuple[Array, float]] = {}
        self.dimension = float(np.clip(1.0 / self._inverse_dimension(scale, None, 0.0), 1.0, self.columns))
        # derived: the log density has standard deviation 1 / sqrt(scale); measured: 1 + 1 / scale for its tail
        self.noise = SEVERAL_SCALES * (1.0 + 1.0 / scale) / np.sqrt(scale)

    def valley(self, merge: int, log_saddle: float, lesser: Index, greater: Index) -> Valley:
        measured = [self._side(log_saddle, rows) for rows in (lesser, greater)]
        prominence, contrast, evidence = (min(side[j] for side in measured) for j in range(3))
        sizes = float(self.near.weights[lesser].sum()), float(self.near.weights[greater].sum())
        peaks = np.array([self._peak(rows) for rows in (lesser, greater)])
        return Valley(merge, sizes, prominence, contrast, evidence, peaks)

    def _side(self, log_saddle: float, rows: Index) -> tuple[float, float, float]:
        heights, weights = self.log_radius[rows], self.near.weights[rows]
        mass = float(weights.sum())
        at_scale = self._dimension_of(rows, self.scale)
        # A thin ring is two-dimensional among 5 neighbours and a line among 100: chance is that of a line.
        own = int(np.clip(mass / 2.0, self.scale, self.near.width))
        shape = min(at_scale, self._dimension_of(rows, own)) if own > self.scale else at_scale
        above_peak = log_saddle - float(heights.min())
        above_mean = log_saddle - float(np.average(heights, weights=weights))
        evidence = max(
            above_peak / expected_prominence(self.total / self.scale, shape),
            above_mean / expected_contrast(mass, shape),
        )
        unit = at_scale * np.sqrt(self.scale)
        return above_peak * unit, above_mean * unit, evidence * at_scale / self.noise

    def _peak(self, rows: Index) -> Index:
        order = rows[np.argsort(self.log_radius[rows], kind="stable")]
        return np.asarray(order[np.linspace(0, len(order) // 2, PEAK_ROWS).astype(np.int64)])

    def _dimension_of(self, rows: Index, scale: int) -> float:
        return float(
            np.clip(1.0 / self._inverse_dimension(scale, rows, 1.0 / self.dimension), 1.0, self.columns)
        )

    def _inverse_dimension(self, scale: int, rows: Index | None, prior: float) -> float:
        """Mean of log(radius at k / radius at k / 2) over its mean in one dimension, H(k - 1) - H(k / 2 - 1)."""
        if scale not in self.slopes:
            half = scale // 2 if scale > 3 else scale - 1
            slope = self.near.log_radius(scale) - self.near.log_radius(half)
            self.slopes[scale] = slope, float((1.0 / np.arange(half, scale)).sum())
        slope, expected = self.slopes[scale]
        weights = self.near.weights if rows is None else self.near.weights[rows]
        slope = slope if rows is None else slope[rows]
        more = 0.0 if rows is None else float(DIMENSION_ROWS)
        mean = (float(weights @ slope) / expected + more * prior) / (float(weights.sum()) + more)
        return max(mean, 1e-9)


def expected_prominence(places: float, dimension: float) -> float:
    """99% point of the greatest chance prominence over so many independent places."""
    s = np.sqrt(2.0 * np.log(max(places, 1.5)))  # derived: growth of a maximum of normals
    # measured: 4 families of tables without groups, 100 to 5,000 rows, scales 3 to 135
    return float(np.interp(dimension, [1, 2, 3], [1.77 * s + 0.4, 1.86 * s - 1.1, max(2.0 * s - 2.3, 1.2)]))


def expected_contrast(mass: float, dimension: float) -> float:
    """99% point of the chance contrast of a region of that weight."""
    shrink = (1.0 + mass / 16.0) ** -0.75  # measured, as above: a long border has a way round
    return float(np.interp(dimension, [1, 2, 3], [2.8, 1.0 + 1.8 * shrink, 0.8 + 1.4 * shrink]))
