"""Proposals: partitions of the rows that may be its groups. They come from three sides; one judge compares them.

linkage   single linkage that keeps sizes even: groups of any shape with gaps between them
mixture   normal components, and those of the best mixture brought together: convex groups, also overlapping ones
density   regions parted by valleys, at several scales: groups of any shape, also in noise
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from asterism.data.source import ArraySource
from asterism.distances.neighbours import Neighbours
from asterism.families.gaussian import GaussianFamily
from asterism.methods.cells import Cell, Cells
from asterism.methods.density_tree import SCALES, DensityTree, grow_tree, scales_of
from asterism.methods.even_linkage import cut, join_evenly
from asterism.methods.path import fit_path
from asterism.methods.posterior import Mixture, shares_of

Array = NDArray[np.float64]
Index = NDArray[np.int64]

UNEVENNESS = {0.1: 15, 0.3: 60, 0.5: 15}  # convention: Gini thresholds, and the most clusters of each
SMOOTHED, SMOOTHED_MOST = 5, 20  # convention: mass of the radii that edges are held to, against noise
CLEARNESS = (0.5, 0.7, 1.0, 1.5)  # convention: evidence from which on a valley parts
STRUCTURES = (
    "VVV",
    "VVI",
    "EEE",
    "VII",
    "EII",
)  # convention: own, own along the columns, common, and round ones
MOST_COMPONENTS = 60
PATIENCE = 3  # convention: numbers in a row that BIC likes less, after which no larger ones are tried
ROWS_A_PARAMETER = 2.5  # convention
MIXTURE_ROWS = 2000  # convention: rows that mixtures are fitted to
MERGED_MIXTURES = 2  # convention: of the best mixtures, components are brought together


@dataclass(frozen=True, eq=False)
class Proposal:
    """A partition, and the mixture it comes from if there is one."""

    side: str  # "one", "linkage", "mixture" or "density"
    labels: Index  # (n,) from 0, in the order of their first rows
    mixture: Mixture | None = None
    group_of: Index | None = None  # (components,) group of each

    @property
    def k(self) -> int:
        """Groups."""
        return int(self.labels.max()) + 1


@dataclass(frozen=True, eq=False)
class Field:
    """Rows as they are seen, and what is found in them once for all proposals."""

    near: Neighbours
    least: float  # weight of the smallest group worth a name
    trees: tuple[DensityTree, ...]
    cells: Cells

    @classmethod
    def of(cls, rows: Array, weights: Array, most: int) -> Field:
        """Neighbours, trees and mixtures of rows (n, d); weights are taken as 1 in the mean."""
        weights = weights / weights.mean()
        total = float(weights.sum())
        least = max(4.0, np.ceil(total**0.5 / 4.0))  # convention
        near = Neighbours.of(rows, weights, int(min(SCALES[-1], max(total // 4, 3))))
        trees = tuple(grow_tree(near, scale, least) for scale in scales_of(total) if scale <= near.width)
        return cls(near, least, trees, _mixtures(rows, weights, most))

    @property
    def best(self) -> Cell:
        """The mixture of the least BIC."""
        return min(self.cells.values(), key=lambda cell: cell.bic)


def _mixtures(rows: Array, weights: Array, most: int) -> Cells:
    n, d = rows.shape

    def within(name: str, k: int) -> bool:
        spread = {"VVV": k * d * (d + 1) / 2, "EEE": d * (d + 1) / 2, "VVI": k * d, "VII": k, "EII": 1}[name]
        return k == 1 or k * (d + 1) - 1 + spread <= min(n, MIXTURE_ROWS) / ROWS_A_PARAMETER

    step = -(-n // MIXTURE_ROWS)  # rows are in an order of their values: every other one is an even sample
    return fit_path(
        ArraySource(np.ascontiguousarray(rows[::step]), weights[::step]),
        {name: GaussianFamily(name) for name in STRUCTURES},
        range(1, min(most, n - 1) + 1),
        within=within,
        patience=PATIENCE,
        passes=1,
    )


def propose(field: Field, most: int) -> list[Proposal]:
    """All distinct partitions into 1 to ``most`` groups of enough weight; of equal ones that with a mixture."""
    n = len(field.near.rows)
    everything = [
        Proposal("one", np.zeros(n, np.int64)),
        *_by_mixtures(field),
        *_by_linkage(field),
        *_by_density(field),
    ]
    distinct: dict[bytes, Proposal] = {}
    for proposal in everything:
        enough = proposal.k == 1 or np.bincount(proposal.labels, field.near.weights).min() >= field.least
        if proposal.k <= most and enough:
            distinct.setdefault(proposal.labels.astype(np.int32).tobytes(), proposal)
    return list(distinct.values())


def _by_linkage(field: Field) -> Iterator[Proposal]:
    near, n = field.near, len(field.near.rows)
    pairs, lengths = near.tree
    sizes = np.maximum(np.rint(near.weights), 1).astype(np.int64)
    runs = [(pairs, join_evenly(pairs, lengths, sizes, gini), k) for gini, k in UNEVENNESS.items()]
    runs += [
        (tree.edges, join_evenly(tree.edges, tree.log_levels, sizes, 0.3), SMOOTHED_MOST)
        for tree in field.trees
        if tree.scale == SMOOTHED
    ]
    for edges, order, most in runs:
        for k in range(2, min(most, int(near.weights.sum() / field.least), n - 1) + 1):
            yield Proposal("linkage", with_enough(field, cut(edges, n, order[: n - k])))


def _by_mixtures(field: Field) -> Iterator[Proposal]:
    rows = ArraySource(field.near.rows, field.near.weights)
    cells = sorted(field.cells.values(), key=lambda cell: cell.bic)
    several = [(cell, shares_of(cell.mixture, rows)) for cell in cells if cell.k > 1]
    for cell, shares in several:
        yield proposed(cell.mixture, shares, np.arange(cell.k))
    for cell, shares in several[:MERGED_MIXTURES]:
        for group_of in brought_together(shares, field.near.weights):
            yield proposed(cell.mixture, shares, group_of)


def proposed(mixture: Mixture, shares: Array, group_of: Index) -> Proposal:
    """The partition that a mixture makes whose components have these groups, by their shares (n, components)."""
    labels = (shares @ np.eye(int(group_of.max()) + 1)[group_of]).argmax(axis=1)
    names = -np.ones(int(group_of.max()) + 1, np.int64)
    ordered = in_order(labels)
    names[labels] = ordered
    for empty in np.flatnonzero(names < 0):  # a group that no row likes best goes where its shares go
        into = shares[:, group_of == empty].sum(axis=1) @ np.eye(len(names))[labels]
        names[empty] = names[int(into.argmax())]
    return Proposal("mixture", ordered, mixture, names[group_of])


def brought_together(shares: Array, weights: Array, least_shared: float = 0.0) -> Iterator[Index]:
    """Components of one mixture joined one after another, those first that share most rows; two groups in the end.

    ``least_shared``  a pair that shares less of the smaller one's rows is not joined
    """
    group_of = np.arange(shares.shape[1])
    shares = shares.copy()
    while shares.shape[1] > 2:
        mass = weights @ shares
        shared = (shares * weights[:, None]).T @ shares / np.minimum.outer(mass, mass).clip(1e-300)
        np.fill_diagonal(shared, -1.0)
        if shared.max() < least_shared:
            return
        a, b = sorted(divmod(int(shared.argmax()), len(mass)))
        shares[:, a] += shares[:, b]
        shares = np.delete(shares, b, axis=1)
        group_of = np.where(group_of == b, a, group_of - (group_of > b))
        yield group_of


def _by_density(field: Field) -> Iterator[Proposal]:
    for tree in field.trees:
        for evidence in CLEARNESS:
            if any(valley.evidence > evidence for valley in tree.valleys):
                yield Proposal("density", with_enough(field, tree.regions(evidence)))


def with_enough(field: Field, labels: Index) -> Index:
    """Rows of groups below the least weight go with the nearest row of another."""
    mass = np.bincount(labels, field.near.weights)
    enough = mass[labels] >= field.least
    if enough.any() and not enough.all():
        nearest = cKDTree(field.near.rows[enough]).query(field.near.rows[~enough])[1]
        labels = labels.copy()
        labels[~enough] = labels[enough][nearest]
    return in_order(labels)


def in_order(labels: Index) -> Index:
    """The same partition, its groups numbered in the order of their first rows.

    >>> in_order(np.array([7, 3, 3, 7, 0])).tolist()
    [0, 1, 1, 0, 2]
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse])
