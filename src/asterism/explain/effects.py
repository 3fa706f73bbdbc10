"""What sets a group apart, and which columns carry the grouping.

One pass takes the column moments of every group, with levels opened into columns of zeros and ones
(``data.encode``): their means are shares, so counts of levels come with them. A column speaks in its own measure,

    numbers   d = (mean here - mean elsewhere) / standard deviation within the two
    ranks     P(a row here is higher than one elsewhere) - P(lower), ties count for neither
    levels    share here - share elsewhere, of the level that marks the group

and is ranked beside columns of other kinds by one number between 0 and 1, its correlation with membership:
point-biserial for numbers, the same on mid-ranks for ranks, Cramer's V = sqrt(chi^2 / n) for levels. For a column of
two levels all three are the same number.

A column carries the grouping by the share of its spread that lies between groups: eta^2 for numbers, eta^2 of
mid-ranks for ranks, Goodman and Kruskal's tau for levels. Missing cells are left out everywhere.

References
----------
1. Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, 2nd ed.
2. Cliff (1993), Dominance statistics. Psychological Bulletin 114:494-509.
3. Goodman, Kruskal (1954), Measures of association for cross classifications. JASA 49:732-764.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np

from asterism.data.block import Vector
from asterism.data.columns import Column, Kind
from asterism.data.encode import EncodedSource, Encoding
from asterism.data.source import Source
from asterism.engines.reduce import reduce as reduce_blocks
from asterism.explain.profiles import Labels, group_moments
from asterism.stats.moments import ColumnMoments

LARGEST = 99.0  # a difference between groups that do not vary at all has no unit


@dataclass(frozen=True, slots=True)
class Effect:
    """What one column is like in one group, beside all other rows."""

    column: str
    kind: Kind
    size: float  # signed, in the measure of the kind
    strength: float  # 0 .. 1, comparable between kinds
    value: float | str | None  # mean; or the level that marks the group (the middle one, for ranks)
    elsewhere: float | str | None  # the same elsewhere; for levels the most frequent one
    share: float | None  # of the marking level here, for columns with levels
    share_elsewhere: float | None


@dataclass(frozen=True, slots=True)
class Carrier:
    """How much of the grouping shows in one column."""

    column: str
    share: float  # 0 .. 1, of its spread that lies between groups


@dataclass(frozen=True, eq=False)
class GroupCells:
    """Moments of the opened columns, group by group."""

    columns: tuple[Column, ...]
    encoding: Encoding  # every column that has levels opened into all of them
    groups: tuple[ColumnMoments, ...]
    overall: ColumnMoments

    def places(self, j: int) -> slice:
        """Where column ``j`` lies among the opened ones."""
        own = np.flatnonzero(self.encoding.origins == j)
        return slice(int(own[0]), int(own[-1]) + 1)


def group_cells(source: Source, labels: Labels, k: int) -> GroupCells:
    """One pass; rows with a negative label belong to no group."""
    opened = tuple(Column(c.name, "categorical", c.levels) if c.levels else c for c in source.columns)
    encoding = Encoding.plain(opened)
    joined = reduce_blocks(EncodedSource(source, encoding), partial(group_moments, labels, k))
    return GroupCells(source.columns, encoding, joined.parts, reduce(ColumnMoments.merge, joined.parts))


def effects(cells: GroupCells, group: int) -> tuple[Effect, ...]:
    """One per column, the strongest first; columns equally strong in their own order.

    >>> from asterism.data.source import ArraySource
    >>> rows = np.array([[1.0, 5.0], [2.0, 5.0], [8.0, 6.0], [9.0, 5.0]])
    >>> first = effects(group_cells(ArraySource(rows), np.array([0, 0, 1, 1]), 2), 0)[0]
    >>> first.column, first.value, first.elsewhere, first.size
    ('x0', 1.5, 8.5, -14.0)
    """
    here = cells.groups[group]
    others = [part for g, part in enumerate(cells.groups) if g != group]
    rest = reduce(ColumnMoments.merge, others, ColumnMoments.zero(cells.encoding.width))
    found = []
    for j, column in enumerate(cells.columns):
        at = cells.places(j)
        compare = _COMPARE.get(column.kind, _levels)
        found.append(compare(column, _Cell.of(here, at), _Cell.of(rest, at)))
    return tuple(sorted(found, key=lambda effect: -effect.strength))


def carriers(cells: GroupCells) -> tuple[Carrier, ...]:
    """All columns, those that carry the grouping most first."""
    found = []
    for j, column in enumerate(cells.columns):
        at = cells.places(j)
        parts = [_Cell.of(part, at) for part in cells.groups]
        found.append(Carrier(column.name, _between(column, parts)))
    return tuple(sorted(found, key=lambda carrier: -carrier.share))


# --- one column, some rows --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Cell:
    weight: float  # of the observed cells
    mean: Vector  # (1,) of numbers, (L,) shares of levels
    scatter: Vector  # the same shape

    @classmethod
    def of(cls, moments: ColumnMoments, at: slice) -> _Cell:
        return cls(float(moments.weight[at.start]), moments.mean[at], moments.scatter[at])

    @property
    def counts(self) -> Vector:
        return self.weight * self.mean


def _numbers(column: Column, here: _Cell, rest: _Cell) -> Effect:
    """d, and the point-biserial correlation."""
    if not here.weight or not rest.weight:
        return _nothing(
            column, *(None if v is None else column.text(v) or v for v in (_mean(here), _mean(rest)))
        )
    a, b = _mean(here), _mean(rest)
    assert a is not None
    assert b is not None
    n = here.weight + rest.weight
    within = float(here.scatter[0] + rest.scatter[0])
    between = here.weight * rest.weight / n * (a - b) ** 2
    strength = float(np.sqrt(between / (between + within))) if between > 0 else 0.0
    deviation = float(np.sqrt(within / n))
    size = (a - b) / deviation if deviation > 0 else np.inf * (a - b) if a != b else 0.0
    size = float(np.clip(size, -LARGEST, LARGEST))
    shown, other = (column.text(v) or v for v in (a, b))
    return Effect(column.name, column.kind, size, strength, shown, other, None, None)


def _ranks(column: Column, here: _Cell, rest: _Cell) -> Effect:
    """Cliff's delta, and the correlation of mid-ranks with membership."""
    middle, other = _middle(column, here), _middle(column, rest)
    if not here.weight or not rest.weight:
        return _nothing(column, middle, other)
    a, b = np.clip(here.mean, 0, 1), np.clip(rest.mean, 0, 1)
    below = np.cumsum(b) - b  # share of the others that is lower
    delta = float(a @ below - a @ (1.0 - below - b))
    ranks = _mid_ranks(here.counts + rest.counts)
    strength = float(np.sqrt(_rank_share(ranks, [here, rest])))
    return Effect(column.name, column.kind, delta, strength, middle, other, None, None)


def _levels(column: Column, here: _Cell, rest: _Cell) -> Effect:
    """Cramer's V; and the level that the group has most more of than others.

    A level can mark a group by being absent too, but what is there reads better.
    """
    if not here.weight or not rest.weight:
        return _nothing(column, _mode(column, here), _mode(column, rest))
    both = here.counts + rest.counts
    n = here.weight + rest.weight
    chi = 0.0
    for part in (here, rest):
        expected = both * (part.weight / n)
        seen = expected > 0
        chi += float(((part.counts - expected)[seen] ** 2 / expected[seen]).sum())
    gap = here.mean - rest.mean
    mark = int(np.argmax(gap))
    return Effect(
        column.name,
        column.kind,
        float(gap[mark]),
        float(np.sqrt(min(chi / n, 1.0))),
        column.levels[mark],
        _mode(column, rest),
        float(np.clip(here.mean[mark], 0, 1)),
        float(np.clip(rest.mean[mark], 0, 1)),
    )


_COMPARE: dict[Kind, Callable[[Column, _Cell, _Cell], Effect]] = {
    "numeric": _numbers,
    "count": _numbers,
    "ordinal": _ranks,
}


def _nothing(column: Column, here: float | str | None, rest: float | str | None) -> Effect:
    """A column without cells on one side tells nothing."""
    return Effect(column.name, column.kind, 0.0, 0.0, here, rest, None, None)


def _mean(cell: _Cell) -> float | None:
    return float(cell.mean[0]) if cell.weight else None


def _mode(column: Column, cell: _Cell) -> str | None:
    return column.levels[int(np.argmax(cell.mean))] if cell.weight else None


def _middle(column: Column, cell: _Cell) -> str | None:
    """The median level: the first that at least half of the weight reaches."""
    if not cell.weight:
        return None
    return column.levels[min(int(np.searchsorted(np.cumsum(cell.mean), 0.5 - 1e-12)), len(column.levels) - 1)]


def _mid_ranks(counts: Vector) -> Vector:
    """(L,) the mean rank of the rows of each level."""
    return np.cumsum(counts) - counts / 2


def _rank_share(ranks: Vector, parts: list[_Cell]) -> float:
    """eta^2 of values ``ranks`` that the levels stand for."""
    n = sum(part.weight for part in parts)
    mean = sum(float(part.counts @ ranks) for part in parts) / n
    total = sum(float(part.counts @ (ranks - mean) ** 2) for part in parts)
    between = sum(
        part.weight * float(part.counts @ (ranks - mean) / part.weight) ** 2 for part in parts if part.weight
    )
    return min(max(between / total, 0.0), 1.0) if total > 0 else 0.0


def _between(column: Column, parts: list[_Cell]) -> float:
    """The share of a column's spread that lies between groups: all its opened columns together."""
    n = sum(part.weight for part in parts)
    if not n:
        return 0.0
    if column.kind == "ordinal":
        return _rank_share(_mid_ranks(np.sum([part.counts for part in parts], axis=0)), parts)
    mean = np.sum([part.counts for part in parts], axis=0) / n
    between = float(sum(part.weight * ((part.mean - mean) ** 2).sum() for part in parts))
    total = between + float(sum(part.scatter.sum() for part in parts))
    return between / total if total > 0 else 0.0
