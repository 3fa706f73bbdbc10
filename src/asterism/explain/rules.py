"""A short rule for a group: at most three conditions on the table's own columns.

A rule is the path to one leaf of a decision tree of depth three at most. The tree is grown for this one group, best
path first (a beam of a few), and a condition is judged by what the rule is for, not by purity:

    precision = rows that the rule takes and are of the group / rows that it takes
    recall    = the same rows / rows of the group
    F1        = 2 * the same rows / (rows that it takes + rows of the group)

A condition must raise F1 by a hundredth to be worth reading. Thresholds are the shortest numbers that divide the rows
the same way. A missing cell meets no condition. The search looks at a bounded sample; precision and recall are then
counted over the whole table.

References
----------
1. Breiman, Friedman, Olshen, Stone (1984), Classification and Regression Trees.
2. Clark, Niblett (1989), The CN2 induction algorithm. Machine Learning 3:261-283 (beams).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.data.columns import NUMBERS, Column
from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.explain.profiles import Labels
from asterism.explain.words import exact_text, listed
from asterism.methods.kdtree import short_number

DEPTH = 3
BEAM = 6  # paths followed at a time
WORTH = 0.01  # what a condition must add to F1
MOST_LEVELS = 3  # that a condition lists

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Condition:
    """One column within a range, or one of some levels."""

    column: Column
    place: int  # of the column in the source
    low: float = -np.inf  # cells are above it
    high: float = np.inf  # and at most this
    levels: frozenset[int] | None = None  # codes it allows, for columns without an order

    def met_by(self, rows: NDArray[Any]) -> Mask:
        """(n,) which rows (n, d) meet it; a missing cell does not."""
        cells = rows[:, self.place]
        if self.levels is not None:
            return np.isin(cells, sorted(self.levels))
        with np.errstate(invalid="ignore"):
            return np.asarray((cells > self.low) & (cells <= self.high))

    def __str__(self) -> str:
        name = self.column.name
        if self.levels is not None:
            return self._of_levels(name)
        if self.column.kind == "ordinal":
            return self._of_ranks(name)
        if np.isinf(self.low):
            return f"{name} ≤ {self._bound(self.high)}"
        if np.isinf(self.high):
            return f"{name} > {self._bound(self.low)}"
        return f"{self._bound(self.low)} < {name} ≤ {self._bound(self.high)}"

    def _bound(self, value: float) -> str:
        return self.column.text(value) or exact_text(value)

    def _of_levels(self, name: str) -> str:
        assert self.levels is not None
        known = self.column.levels
        if len(self.levels) > len(known) / 2 and len(known) > 2:
            return f"{name} is not {listed([v for c, v in enumerate(known) if c not in self.levels], 'or')}"
        return f"{name} is {listed([known[c] for c in sorted(self.levels)], 'or')}"

    def _of_ranks(self, name: str) -> str:
        known = self.column.levels
        first = 0 if np.isinf(self.low) else int(self.low) + 1
        last = len(known) - 1 if np.isinf(self.high) else int(self.high)
        if first == last:
            return f"{name} is {known[first]}"
        if np.isinf(self.low):
            return f"{name} is at most {known[last]}"
        if np.isinf(self.high):
            return f"{name} is at least {known[first]}"
        return f"{name} is {known[first]} to {known[last]}"


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions that are all met, and how well they describe a group."""

    conditions: tuple[Condition, ...]
    precision: float
    recall: float

    def met_by(self, rows: NDArray[Any]) -> Mask:
        """(n,) which rows (n, d) meet every condition."""
        met = np.ones(len(rows), bool)
        for condition in self.conditions:
            met &= condition.met_by(rows)
        return met

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))


# --- search -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Path:
    conditions: tuple[Condition, ...]
    mask: Mask  # (m,) rows of the sample it takes
    f1: float

    @property
    def key(self) -> tuple[Any, ...]:
        return (-self.f1, len(self.conditions), tuple(map(str, self.conditions)))


def find_rule(
    rows: NDArray[Any], weights: Vector, members: Mask, columns: Sequence[Column], places: Sequence[int]
) -> tuple[Condition, ...]:
    """Conditions that tell ``members`` (m,) from the other rows (m, d), looking at columns ``places`` only.

    >>> rows = np.array([[1.0], [2.0], [8.0], [9.0]])
    >>> found = find_rule(rows, np.ones(4), rows[:, 0] > 5, (Column("age"),), [0])
    >>> [str(condition) for condition in found]
    ['age > 5']
    """
    orders = {
        j: np.argsort(rows[:, j], kind="stable") for j in places if columns[j].kind in (*NUMBERS, "ordinal")
    }
    inside = np.where(members, weights, 0.0)
    start = _Path(
        (), np.ones(len(rows), bool), _f1(float(inside.sum()), float(weights.sum()), float(inside.sum()))
    )
    beam, best = [start], start
    for _ in range(DEPTH):
        longer: dict[tuple[Condition, ...], _Path] = {}
        for path in beam:
            for condition in _extensions(path, rows, weights, inside, columns, places, orders):
                new = _extended(path, condition, rows, weights, inside)
                if new.f1 > path.f1 + 1e-12:
                    longer.setdefault(new.conditions, new)
        beam = sorted(longer.values(), key=lambda path: path.key)[:BEAM]
        if beam and beam[0].f1 >= best.f1 + WORTH:
            best = beam[0]
    return best.conditions


def _f1(hits: float, taken: float, there: float) -> float:
    return 2.0 * hits / (taken + there) if taken + there > 0 else 0.0


def _extended(path: _Path, new: Condition, rows: NDArray[Any], weights: Vector, inside: Vector) -> _Path:
    mask = path.mask & new.met_by(rows)
    f1 = _f1(float(inside[mask].sum()), float(weights[mask].sum()), float(inside.sum()))
    others = []
    for old in path.conditions:
        if old.place != new.place:
            others.append(old)
        elif new.levels is not None and old.levels is not None:
            new = replace(new, levels=new.levels & old.levels)
        else:
            new = replace(new, low=max(new.low, old.low), high=min(new.high, old.high))
    return _Path(tuple(sorted([*others, new], key=lambda c: c.place)), mask, f1)


def _extensions(
    path: _Path,
    rows: NDArray[Any],
    weights: Vector,
    inside: Vector,
    columns: Sequence[Column],
    places: Sequence[int],
    orders: dict[int, NDArray[np.intp]],
) -> Iterator[Condition]:
    """The best conditions of every column, for the rows that a path has left."""
    w, hit = np.where(path.mask, weights, 0.0), np.where(path.mask, inside, 0.0)
    there = float(inside.sum())
    for j in places:
        if j in orders:
            yield from _thresholds(columns[j], j, rows[orders[j], j], w[orders[j]], hit[orders[j]], there)
        else:
            yield from _level_sets(columns[j], j, rows[:, j], w, hit, there)


def _thresholds(
    column: Column, j: int, cells: NDArray[Any], w: Vector, hit: Vector, there: float
) -> Iterator[Condition]:
    """The best ``x <= t`` and the best ``x > t``; cells are in order, missing ones last."""
    known = int(np.searchsorted(np.isnan(cells), True))
    kept = np.flatnonzero(w[:known] > 0)
    cells, taken, hits = cells[kept].astype(np.float64), np.cumsum(w[kept]), np.cumsum(hit[kept])
    cuts = np.flatnonzero(cells[1:] > cells[:-1])  # a cut after each of these
    if not len(cuts):
        return
    for at_most in (True, False):
        h = hits[cuts] if at_most else hits[-1] - hits[cuts]
        t = taken[cuts] if at_most else taken[-1] - taken[cuts]
        cut = int(cuts[int(np.argmax(2.0 * h / (t + there)))])
        value = float(cells[cut]) if column.levels else short_number(float(cells[cut]), float(cells[cut + 1]))
        yield Condition(column, j, high=value) if at_most else Condition(column, j, low=value)


def _level_sets(
    column: Column, j: int, cells: NDArray[Any], w: Vector, hit: Vector, there: float
) -> Iterator[Condition]:
    """The best few levels, those with most members first; and all levels but one."""
    seen = ~np.isnan(cells) & (w > 0)
    codes, size = cells[seen].astype(np.intp), len(column.levels)
    taken = np.bincount(codes, w[seen], size)
    hits = np.bincount(codes, hit[seen], size)
    present = np.flatnonzero(taken > 0)
    if len(present) < 2:
        return
    purest = present[np.argsort(-hits[present] / taken[present], kind="stable")]
    most = min(MOST_LEVELS, len(present) - 1)
    scores = 2.0 * np.cumsum(hits[purest][:most]) / (np.cumsum(taken[purest][:most]) + there)
    yield Condition(column, j, levels=frozenset(purest[: int(np.argmax(scores)) + 1].tolist()))
    if len(present) > 2:
        yield Condition(column, j, levels=frozenset(range(size)) - {int(purest[-1])})


# --- over the whole table ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Hits:
    """Weights of rows, rule by rule."""

    taken: Vector  # (k,) that the rule of a group takes
    hits: Vector  # (k,) and are of the group
    there: Vector  # (k,) of the group

    def merge(self, other: _Hits) -> _Hits:
        return _Hits(self.taken + other.taken, self.hits + other.hits, self.there + other.there)


def counted(source: Source, labels: Labels, rules: Sequence[tuple[Condition, ...]]) -> tuple[Rule, ...]:
    """The rule of every group with its precision and recall over all rows; one pass."""
    plain = tuple(Rule(conditions, 0.0, 0.0) for conditions in rules)
    found: _Hits = reduce(source, partial(_hits, plain, labels))
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall = np.nan_to_num(found.hits / found.taken), np.nan_to_num(found.hits / found.there)
    return tuple(
        replace(rule, precision=float(p), recall=float(r))
        for rule, p, r in zip(plain, precision, recall, strict=True)
    )


def _hits(rules: tuple[Rule, ...], labels: Labels, block: Block) -> _Hits:
    mine = labels[block.start : block.start + len(block)]
    w = np.where(mine >= 0, block.weights, 0.0)
    taken, hits, there = (np.zeros(len(rules)) for _ in range(3))
    for g, rule in enumerate(rules):
        met, own = rule.met_by(block.rows), mine == g
        taken[g], hits[g], there[g] = w[met].sum(), w[met & own].sum(), w[own].sum()
    return _Hits(taken, hits, there)
