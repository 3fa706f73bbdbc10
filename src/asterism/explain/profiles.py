"""A profile of each group: its size, its typical values, and the columns that set it apart.

Everything follows from one pass that takes the column moments of each group, with levels opened into columns
of zeros and ones whose means are the shares of the levels (``data.encode``). A column sets a group apart by

    difference = (mean in the group - mean of all rows) / standard deviation of all rows

and missing cells are left out of both means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of
from asterism.data.columns import NUMBERS, Column
from asterism.data.encode import EncodedSource, Encoding
from asterism.data.source import Source
from asterism.engines.reduce import reduce as reduce_blocks
from asterism.stats.base import Joined
from asterism.stats.moments import ColumnMoments

Labels = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Trait:
    """What one column is like in one group."""

    column: str
    value: float | str | None  # mean, or the level that marks the group; None where no cell was observed
    share: float | None  # of rows with that level, for columns with levels
    overall: float | str | None  # the same mean over all rows; for levels the share over all rows
    difference: float  # in standard deviations of all rows; its sign says higher or lower


@dataclass(frozen=True, slots=True)
class Profile:
    """One group, described."""

    group: int
    size: int  # rows of weight > 0
    share: float  # of the total weight
    centre: dict[str, float | str | None]  # mean of numeric columns, most frequent level of the others
    apart: tuple[Trait, ...]  # one per column, those that set the group apart most first


def group_profiles(source: Source, labels: Labels, k: int) -> tuple[Profile, ...]:
    """Profiles of groups ``0 .. k-1``; a row with a negative label belongs to none of them.

    >>> from asterism.data.source import ArraySource
    >>> table = ArraySource(np.array([[1.0, 5.0], [3.0, 5.0], [9.0, 6.0]]))
    >>> first, second = group_profiles(table, np.array([0, 0, 1]), 2)
    >>> first.size, first.centre, second.apart[0].column
    (2, {'x0': 2.0, 'x1': 5.0}, 'x1')
    """
    plain = Encoding.plain(source.columns)
    joined = reduce_blocks(EncodedSource(source, plain), partial(group_moments, labels, k))
    overall = reduce(ColumnMoments.merge, joined.parts)
    return tuple(_profile(g, moments, overall, plain) for g, moments in enumerate(joined.parts))


def renumbered_profiles(profiles: Sequence[Profile], numbers: Sequence[int]) -> tuple[Profile, ...]:
    """The same profiles under these numbers, in their order.

    >>> one = Profile(0, 3, 0.5, {}, ())
    >>> [profile.group for profile in renumbered_profiles([one, one], [4, 2])]
    [2, 4]
    """
    pairs = sorted(zip(numbers, profiles, strict=True), key=lambda pair: pair[0])
    return tuple(replace(profile, group=number) for number, profile in pairs)


def group_moments(labels: Labels, k: int, block: Block) -> Joined:
    """Column moments of the rows of each group in a block."""
    mine = labels[block.start : block.start + len(block)]
    members = [mine == g for g in range(k)]
    return Joined(tuple(ColumnMoments.of(block_of(block.rows[m], block.weights[m])) for m in members))


def _profile(group: int, moments: ColumnMoments, overall: ColumnMoments, plain: Encoding) -> Profile:
    spread, shift = np.sqrt(overall.variance), moments.mean - overall.mean
    differ = np.divide(shift, spread, out=np.zeros_like(shift), where=(spread > 0) & (moments.weight > 0))
    here, everywhere = (plain.decode_centers(part.mean[None]) for part in (moments, overall))
    centre: dict[str, float | str | None] = {}
    traits = []
    for j, column in enumerate(plain.columns):
        own = plain.origins == j
        seen = bool(moments.weight[own].any())
        describe = _by_value if column.kind in (*NUMBERS, "ordinal") else _by_level
        typical, trait = describe(column, here[column.name][0], everywhere[column.name][0], differ[own])
        centre[column.name] = typical if seen else None
        traits.append(trait if seen else Trait(column.name, None, None, None, 0.0))
    traits.sort(key=lambda trait: -abs(trait.difference))
    share = moments.total / overall.total if overall.total else 0.0
    return Profile(group, moments.rows, share, centre, tuple(traits))


def _by_value(column: Column, mean: Any, overall: Any, differ: Vector) -> tuple[float | str, Trait]:
    """Numbers by their mean, ranks by the level next to their mean."""
    typical, usual = (
        column.levels[round(m)] if column.levels else column.text(float(m)) or float(m)
        for m in (mean, overall)
    )
    return typical, Trait(column.name, typical, None, usual, float(differ[0]))


def _by_level(column: Column, mean: Any, overall: Any, differ: Vector) -> tuple[str, Trait]:
    """The most frequent level; and the one the group has most more of than others.

    A level can mark a group by being absent too, but what is there reads better.
    """
    if column.kind == "boolean":  # one column of shares stands for two levels
        mean, overall = (np.array([1.0 - m, m]) for m in (mean, overall))
        differ = np.array([-differ[0], differ[0]])
    mark = int(np.argmax(differ))
    trait = Trait(
        column.name, column.levels[mark], float(mean[mark]), float(overall[mark]), float(differ[mark])
    )
    return column.levels[int(np.argmax(mean))], trait
