"""Groups within groups: what the clear valleys of a density tree part, as a tree of layers.

Clear valleys are edges of the spanning tree. Without them it falls into groups; put back from the densest saddle up,
each joins two layers, so k groups make k - 1 layers above them. A row of a group stands

    strength = (log saddle - log radius) / (log saddle - least log radius of the group),    held to 0 .. 1

above the first saddle that leads out of its group: 1 at the peak, 0 at the saddle and below.

A new row is joined as the tree joins rows: with the nearest row within its radius that is at least as dense as
itself, or, if there is none, with the nearest row. A row that is known already stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from asterism.distances.neighbours import Neighbours
from asterism.methods.density_tree import DensityTree

Array = NDArray[np.float64]
Index = NDArray[np.int64]
MOST_NEIGHBOURS = 400  # convention: twice the largest scale, for weights below 1
USUAL_GAP = 0.25  # convention: quantile of distances to the nearest distinct row; shorter ones are not seen


class Layer(NamedTuple):
    """A group, or what two layers make together."""

    parent: int  # place in the list of layers; -1: none, it is the whole table
    children: tuple[int, ...]  # places of the two it falls into, the heavier first; none: it is a group
    size: float  # weight of its rows
    evidence: float  # of the valley between its children; 0 for a group
    log_level: float  # log radius at the saddle between its children, or at the peak of a group


@dataclass(frozen=True, eq=False)
class Layers:
    """Groups of a tree and the layers above them."""

    labels: Index  # (n,) groups from the heaviest down; of equal weight, that of the first row
    layers: tuple[Layer, ...]  # k groups, by label; then k - 1 merges, from the densest saddle up
    saddles: Array  # (k,) log radius where each group meets another
    peaks: Array  # (k,) least log radius of each group

    @property
    def k(self) -> int:
        """Groups."""
        return len(self.peaks)

    def strengths(self, log_radius: Array, labels: Index) -> Array:
        """(n,) how high rows of these radii and groups stand between saddle and peak, 0 .. 1."""
        above, range_ = self.saddles[labels] - log_radius, (self.saddles - self.peaks)[labels]
        flat = range_ <= 0.0  # all rows as dense as the saddle
        return np.where(flat, 1.0, np.clip(above / np.where(flat, 1.0, range_), 0.0, 1.0))


def clearest(trees: Sequence[DensityTree], evidence: float) -> DensityTree:
    """The tree whose valleys exceed ``evidence`` by most in sum; if none does, that of the largest scale."""

    def excess(tree: DensityTree) -> float:
        return sum(max(valley.evidence - evidence, 0.0) for valley in tree.valleys)

    return max(reversed(trees), key=excess)


def layers_of(tree: DensityTree, weights: Array, evidence: float) -> Layers:
    """Groups that valleys clearer than ``evidence`` part, and how they merge."""
    labels = _from_heaviest(tree.regions(evidence), weights)
    sizes = np.bincount(labels, weights)
    k = len(sizes)
    peaks = np.full(k, np.inf)
    np.minimum.at(peaks, labels, tree.log_radius)
    highest = float(tree.log_levels.max(initial=tree.log_radius.max()))
    saddles = np.full(k, highest)
    layers = [Layer(-1, (), float(size), 0.0, float(peak)) for size, peak in zip(sizes, peaks, strict=True)]
    top = list(range(k))  # the layer each group is in so far
    for valley in sorted((v for v in tree.valleys if v.evidence > evidence), key=lambda v: v.merge):
        level = float(tree.log_levels[valley.merge])
        a, b = (int(labels[row]) for row in tree.edges[valley.merge])
        saddles[[a, b]] = np.minimum(saddles[[a, b]], level)
        heavier, lighter = sorted((top[a], top[b]), key=lambda place: (-layers[place].size, place))
        children = heavier, lighter
        size = sum(layers[child].size for child in children)
        for child in children:
            layers[child] = layers[child]._replace(parent=len(layers))
        top = [len(layers) if layer in children else layer for layer in top]
        layers.append(Layer(-1, children, size, float(valley.evidence), level))
    return Layers(labels, tuple(layers), saddles, peaks)


def _from_heaviest(labels: Index, weights: Array) -> Index:
    _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.lexsort((first, -np.bincount(labels, weights)))] = np.arange(len(first))
    return np.asarray(number[labels])


# --- rows -------------------------------------------------------------------------------------------------------


def distinct(rows: Array, weights: Array) -> tuple[Array, Array]:
    """Distinct rows in the order of their values, and their weights: the order of the table is gone.

    >>> [array.tolist() for array in distinct(np.array([[2.0], [1.0], [2.0]]), np.array([1.0, 1.0, 3.0]))]
    [[[1.0], [2.0]], [1.0, 4.0]]
    """
    rows, place = np.unique(rows, axis=0, return_inverse=True)
    # Sums must not depend on the order of the table either.
    order = np.lexsort((weights, place.ravel()))
    return rows, np.bincount(place.ravel()[order], weights[order]).astype(np.float64)


def neighbours_of(rows: Array, weights: Array, mass: float) -> Neighbours:
    """Neighbours of distinct rows as far as this mass, or ``MOST_NEIGHBOURS``; weights are taken as 1 in the mean.

    Copies are no evidence: a table written twice is the same table, and 1,000 ages are the 60 that occur. A heavy row
    would be a peak of infinite density, so distances below the usual one between rows are not seen.
    """
    weights = weights / weights.mean()
    most = min(np.ceil(mass / min(float(np.median(weights)), 1.0)), max(MOST_NEIGHBOURS, mass))
    near = Neighbours.of(rows, weights, int(most))
    if near.width and float(np.ptp(weights)) > 0.0:
        step = float(np.quantile(near.distances[:, 1], USUAL_GAP))
        near = replace(near, distances=np.maximum(near.distances, step))
    return near


@dataclass(frozen=True, eq=False)
class Known:
    """Rows whose groups are known, to which new ones are joined."""

    near: Neighbours
    tree: DensityTree
    layers: Layers

    @cached_property
    def _search_tree(self) -> cKDTree:
        return cKDTree(self.near.rows)

    def join(self, rows: Array) -> tuple[Index, Array]:
        """Groups (n,) and strengths (n,) of rows (n, d)."""
        known = self.near
        m = min(known.width + 1, len(known.rows))
        distances, indices = map(np.asarray, self._search_tree.query(rows, k=np.arange(1, m + 1)))
        shortest = float(known.distances.min())
        mass = np.cumsum(known.weights[indices], axis=1)
        place = np.minimum((mass < self.tree.scale - 1e-9).sum(axis=1), m - 1)
        at = np.arange(len(rows))
        log_radius = np.log(np.maximum(distances[at, place], shortest))
        denser = (self.tree.log_radius[indices] <= log_radius[:, None]) & (np.arange(m) <= place[:, None])
        joined = indices[at, denser.argmax(axis=1)]  # the first, where none is denser
        same = distances[:, 0] == 0.0
        joined[same] = indices[same, 0]
        log_radius[same] = self.tree.log_radius[joined[same]]
        labels = self.layers.labels[joined]
        return labels, self.layers.strengths(log_radius, labels)
