"""Everything there is to say of the groups of a table, from the table and the labels alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from asterism.data.block import Block, Vector
from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.explain.effects import Carrier, Effect, carriers, effects, group_cells
from asterism.explain.names import sentence, suggested_names
from asterism.explain.profiles import Labels, Profile, group_profiles, renumbered_profiles
from asterism.explain.rows import NotableRow, Places, Shares, group_places, notable_rows
from asterism.explain.rules import Condition, Rule, counted, find_rule
from asterism.stats.sample import RowSample

SAMPLE = 4000  # rows that rules are looked for in
LOOKED_AT = 12  # columns that a rule may use: those that set the group apart most
CLOSE = 0.5  # a margin below this is worth a look


@dataclass(frozen=True, slots=True)
class Group:
    """One group, explained."""

    profile: Profile  # size, share, centre
    name: str  # a suggestion
    sentence: str
    effects: tuple[Effect, ...]  # one per column, the strongest first
    typical: tuple[NotableRow, ...]
    borderline: tuple[NotableRow, ...]  # nearest to the border first
    rule: Rule | None  # None where no condition helps


@dataclass(frozen=True, eq=False)
class Explanation:
    """All groups, and what they have in common."""

    groups: tuple[Group, ...]
    carriers: tuple[Carrier, ...]  # columns, those that carry the grouping most first
    places: Places  # the groups' means in standardised columns

    def named(self, names: Mapping[int, str]) -> Explanation:
        """With given names of some groups in place of those that were suggested."""
        groups = (replace(group, name=names.get(g, group.name)) for g, group in enumerate(self.groups))
        return replace(self, groups=tuple(groups))


def explain(
    source: Source, labels: Labels, k: int, *, shares: Shares | None = None, rows: int = 5, seed: int = 0
) -> Explanation:
    """Explain groups ``0 .. k-1``; rows with a negative label belong to none.

    ``shares``  responsibilities of the rows of a block of ``source``, (n, k), where a method has them
    ``rows``    typical and borderline rows to name of each group

    >>> from asterism.data.source import ArraySource
    >>> table = ArraySource(np.array([[1.0, 5.0], [2.0, 7.0], [8.0, 6.0], [9.0, 5.0]]))
    >>> first = explain(table, np.array([0, 0, 1, 1]), 2).groups[0]
    >>> str(first.rule), first.rule.precision
    ('x0 ≤ 5', 1.0)
    """
    profiles = group_profiles(source, labels, k)
    cells = group_cells(source, labels, k)
    told = [effects(cells, g) for g in range(k)]
    places = group_places(source, labels, k)
    typical, borderline = notable_rows(source, labels, places, rows, shares)
    names = suggested_names(told)
    rules = _rules(source, labels, profiles, told, seed)
    groups = tuple(
        Group(
            profiles[g],
            names[g],
            sentence(told[g], profiles[g].size, profiles[g].share),
            told[g],
            typical.of_group(g),
            tuple(row for row in borderline.of_group(g) if row.margin < CLOSE),
            rules[g],
        )
        for g in range(k)
    )
    return Explanation(groups, carriers(cells), places)


def names_of(source: Source, labels: Labels, k: int) -> tuple[str, ...]:
    """Suggested names of groups ``0 .. k-1``, as ``explain`` has them."""
    cells = group_cells(source, labels, k)
    return tuple(suggested_names([effects(cells, g) for g in range(k)]))


def renumbered(groups: tuple[Group, ...], numbers: Sequence[int]) -> tuple[Group, ...]:
    """The same groups under these numbers, rising ones."""
    profiles = renumbered_profiles([group.profile for group in groups], numbers)
    return tuple(replace(g, profile=profile) for g, profile in zip(groups, profiles, strict=True))


def _rules(
    source: Source, labels: Labels, profiles: tuple[Profile, ...], told: list[tuple[Effect, ...]], seed: int
) -> list[Rule | None]:
    k = len(profiles)
    if k < 2:
        return [None] * k
    sizes = np.array([max(profile.size, 1) for profile in profiles], np.float64)
    sample: RowSample = reduce(source, partial(even_sample, labels, 1.0 / sizes, SAMPLE, seed))
    rows, weights = sample.estimates()
    mine = labels[sample.row[: len(rows)]]
    place = {name: j for j, name in enumerate(source.names)}
    found: list[tuple[Condition, ...]] = []
    for g in range(k):
        look = [place[effect.column] for effect in told[g][:LOOKED_AT] if effect.strength > 0]
        found.append(find_rule(rows, weights, mine == g, source.columns, look))
    return [rule if rule.conditions else None for rule in counted(source, labels, found)]


def even_sample(labels: Labels, rates: Vector, size: int, seed: int, block: Block) -> RowSample:
    """Rows of small groups are as likely to be drawn as those of large ones, taken together."""
    mine = labels[block.start : block.start + len(block)]
    rate = np.where((mine >= 0) & (block.weights > 0), rates[np.maximum(mine, 0)], 0.0)
    return RowSample.of(block, rate, size, seed)
