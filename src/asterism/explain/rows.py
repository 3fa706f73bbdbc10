"""Rows worth looking at: the most typical of each group, and those that could be in another one.

Typical rows are nearest to the mean of their group in standardised columns; a missing cell counts as one standard
deviation, for a row of which little is known is not typical of anything. Borderline rows have the smallest margin,

    margin = r_own - r_second                 where responsibilities r are known
    margin = 1 - distance_own / distance_second   otherwise

0 on the border, 1 far from it, below 0 where a row is nearer to another group than to its own. Both kinds are kept
by a statistic that merges, so that all rows of a table of any size are looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Matrix, Vector
from asterism.data.encode import EncodedSource, Encoding
from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.explain.profiles import Labels, group_moments
from asterism.methods.encoding import standard_encoding
from asterism.stats.base import Joined

Shares = Callable[[Block], NDArray[np.float64]]  # rows of a block of the source -> (n, k) responsibilities


@dataclass(frozen=True, slots=True)
class NotableRow:
    """A row of the table."""

    row: int  # global number, from 0
    second: int | None  # the group it would go to next; None where there is only one
    margin: float  # 0 on the border to it, 1 far away


@dataclass(frozen=True, slots=True)
class FirstRows:
    """Up to m rows of every group with the smallest ranks; the earlier row first among equals."""

    most: int  # m
    group: NDArray[np.int64]  # (p,) in order
    rank: Vector  # (p,)
    row: NDArray[np.int64]  # (p,) global number
    second: NDArray[np.int64]  # (p,) -1: none
    margin: Vector  # (p,)

    @classmethod
    def zero(cls, most: int) -> FirstRows:
        """No rows."""
        none, whole = np.zeros(0), np.zeros(0, np.int64)
        return cls(most, whole, none, whole, whole, none)

    @classmethod
    def of(cls, most: int, group: Any, rank: Vector, row: Any, second: Any, margin: Vector) -> FirstRows:
        """The first of these rows."""
        order = np.lexsort((row, rank, group))
        sizes = np.unique(group[order], return_counts=True)[1]
        place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        keep = order[place < most]
        return cls(most, group[keep], rank[keep], row[keep], second[keep], margin[keep])

    def merge(self, other: FirstRows) -> FirstRows:
        """The first of both."""
        names = ("group", "rank", "row", "second", "margin")
        both = (np.concatenate([getattr(self, name), getattr(other, name)]) for name in names)
        return FirstRows.of(self.most, *both)

    def of_group(self, group: int) -> tuple[NotableRow, ...]:
        """In order of rank."""
        return tuple(
            NotableRow(
                int(self.row[i]), int(self.second[i]) if self.second[i] >= 0 else None, float(self.margin[i])
            )
            for i in np.flatnonzero(self.group == group)
        )


@dataclass(frozen=True, eq=False)
class Places:
    """The groups' means in standardised columns, to measure rows from."""

    encoding: Encoding
    centers: Matrix  # (k, D)

    def distances(self, rows: Matrix) -> tuple[NDArray[np.float64], Vector]:
        """(n, k) squared, over the observed cells; and (n,) how many standard deviations are unknown."""
        z = self.encoding.encode(np.asarray(rows, np.float64))
        lost = np.isnan(z)
        each = np.empty((len(z), len(self.centers)))
        for g, center in enumerate(self.centers):
            each[:, g] = np.where(lost, 0.0, (z - center) ** 2).sum(axis=1)
        one = self.encoding.origins
        first = np.flatnonzero(np.diff(one, prepend=-1))  # levels of one column are missing together
        return each, lost[:, first].sum(axis=1).astype(np.float64)


def group_places(source: Source, labels: Labels, k: int) -> Places:
    """Two passes: the standard deviations, the means."""
    encoding = standard_encoding(source)
    joined = reduce(EncodedSource(source, encoding), partial(group_moments, labels, k))
    return Places(encoding, np.array([part.mean for part in joined.parts]))


def margins(
    places: Places, block: Block, own: Labels, shares: Shares | None
) -> tuple[Vector, NDArray[np.int64], Vector]:
    """(n,) margin, second choice (-1: none) and squared distance to the own mean, of rows that have a group."""
    each, unknown = places.distances(block.rows)
    every = np.arange(len(own))
    mine = each[every, own] + unknown
    if each.shape[1] < 2:
        return np.ones(len(own)), np.full(len(own), -1), mine
    if shares is not None:
        r = np.array(shares(block), np.float64)
        best = r[every, own]
        r[every, own] = -np.inf
        second = r.argmax(axis=1)
        return best - r[every, second], second, mine
    near = each[every, own].copy()
    each[every, own] = np.inf
    second = each.argmin(axis=1)
    far = each[every, second]
    ratio = np.divide(near, far, out=np.ones_like(near), where=far > 0)
    return 1.0 - np.sqrt(ratio), second, mine


def notable_rows(
    source: Source, labels: Labels, places: Places, most: int, shares: Shares | None = None
) -> tuple[FirstRows, FirstRows]:
    """The most typical rows of every group, and its borderline rows; one pass."""
    joined = reduce(source, partial(_notable, labels, places, most, shares))
    return joined.parts[0], joined.parts[1]


def _notable(labels: Labels, places: Places, most: int, shares: Shares | None, block: Block) -> Joined:
    mine = labels[block.start : block.start + len(block)]
    counts = (mine >= 0) & (block.weights > 0)
    own = np.maximum(mine, 0)
    margin, second, distance = margins(places, block, own, shares)
    row = block.start + np.arange(len(block))

    def first(rank: Vector, keep: NDArray[np.bool_]) -> FirstRows:
        parts: tuple[NDArray[Any], ...] = (own.astype(np.int64), rank, row, second.astype(np.int64), margin)
        return FirstRows.of(most, *(part[keep] for part in parts))

    return Joined((first(distance, counts), first(margin, counts & (second >= 0))))
