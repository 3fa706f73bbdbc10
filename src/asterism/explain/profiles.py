"""A profile of each group: its size, its typical values, and the columns that set it apart.

Everything follows from one pass that takes the column moments of each group. A numeric column is one feature;
an ordinal one is its ranks; every level of a categorical or boolean column is a feature of zeros and ones,
whose mean is the share of that level. How far a feature sets a group apart is

    difference = (mean in the group - mean of all rows) / standard deviation of all rows

and missing cells are left out of both means.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Matrix, Vector, block_of
from asterism.data.columns import Column
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
    features = _features(source.columns)
    joined = reduce_blocks(source, partial(_group_moments, features, labels, k))
    overall = reduce(ColumnMoments.merge, joined.parts)
    return tuple(
        _profile(g, moments, overall, source.columns, features) for g, moments in enumerate(joined.parts)
    )


# ------------------------------------------------------------------------------------------------ features

Feature = tuple[int, int]  # column, and the code of a level or -1 for the cell's own value


def _features(columns: tuple[Column, ...]) -> list[Feature]:
    by_level = ("categorical", "boolean")
    return [
        (j, code)
        for j, column in enumerate(columns)
        for code in (range(len(column.levels)) if column.kind in by_level else (-1,))
    ]


def _group_moments(features: list[Feature], labels: Labels, k: int, block: Block) -> Joined:
    mine = labels[block.start : block.start + len(block)]
    wide = _expanded(features, block.rows)
    members = [mine == g for g in range(k)]
    return Joined(tuple(ColumnMoments.of(block_of(wide[m], block.weights[m])) for m in members))


def _expanded(features: list[Feature], rows: Matrix) -> Matrix:
    wide = np.empty((len(rows), len(features)))
    for f, (j, code) in enumerate(features):
        cells = rows[:, j]
        wide[:, f] = cells if code < 0 else np.where(np.isnan(cells), np.nan, cells == code)
    return wide


# ------------------------------------------------------------------------------------------------ profiles


def _profile(
    group: int,
    moments: ColumnMoments,
    overall: ColumnMoments,
    columns: tuple[Column, ...],
    features: list[Feature],
) -> Profile:
    spread = np.sqrt(overall.variance)
    shift = moments.mean - overall.mean
    differ = np.divide(shift, spread, out=np.zeros_like(shift), where=(spread > 0) & (moments.weight > 0))
    centre: dict[str, float | str | None] = {}
    traits = []
    for j, column in enumerate(columns):
        mine = np.array([f for f, (owner, _) in enumerate(features) if owner == j], np.int64)
        # A level can mark a group by being there or by being absent; what is there reads better.
        strongest = int(mine[np.argmax(differ[mine])])
        largest = int(mine[np.argmax(moments.mean[mine])])
        if column.kind in ("categorical", "boolean"):
            centre[column.name] = _level(column, features[largest][1], moments, largest)
            traits.append(_level_trait(column, features[strongest], moments, overall, differ, strongest))
        else:
            centre[column.name] = _value(column, moments, largest)
            typical, everywhere = _value(column, moments, largest), _value(column, overall, largest)
            traits.append(Trait(column.name, typical, None, everywhere, float(differ[largest])))
    traits.sort(key=lambda trait: -abs(trait.difference))
    share = moments.total / overall.total if overall.total else 0.0
    return Profile(group, moments.rows, share, centre, tuple(traits))


def _value(column: Column, moments: ColumnMoments, f: int) -> float | str | None:
    if not moments.weight[f]:
        return None
    mean = float(moments.mean[f])
    return column.levels[round(mean)] if column.kind == "ordinal" else mean


def _level(column: Column, code: int, moments: ColumnMoments, f: int) -> str | None:
    return column.levels[code] if moments.weight[f] else None


def _level_trait(
    column: Column, feature: Feature, moments: ColumnMoments, overall: ColumnMoments, differ: Vector, f: int
) -> Trait:
    level = _level(column, feature[1], moments, f)
    share = float(moments.mean[f]) if level is not None else None
    return Trait(column.name, level, share, float(overall.mean[f]), float(differ[f]))
