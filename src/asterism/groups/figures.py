"""What a model remembers of the rows it was fitted to, in numbers of which later rows have the same.

A ``Ruler`` cuts every column, the columns within every group, and the densities of rows into places. ``Figures``
count rows by place and by group, and merge; so any table can be compared with the one of the fit by counts alone,
whatever the columns are and whatever tells the groups apart.

    numbers   places between quantiles of the fit; those within a group between the group's own
    levels    one place a level

Columns are those of the view in their forms (``data.margins``), those set aside included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of
from asterism.data.columns import Column
from asterism.explain.typicality import UNUSUAL
from asterism.stats.moments import ColumnMoments

Array = NDArray[np.float64]
PLACES = 16  # convention: of a column of numbers
HEIGHTS = 64  # convention: places of the densities of rows

# --- rows in groups ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Standing:
    """Where rows stand in a model."""

    own: NDArray[np.int32]  # (n,) the likeliest group
    labels: NDArray[np.int32]  # (n,) the same; -1: belongs to none
    typicality: Vector  # (n,) within the likeliest group; NaN: not known
    height: Vector  # (n,) log density in all groups; within the likeliest where there is no such thing

    def of(self, block: Block) -> Standing:
        """Of the rows of a block."""
        at = slice(block.start, block.start + len(block))
        return Standing(self.own[at], self.labels[at], self.typicality[at], self.height[at])


# --- places -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Ruler:
    """Borders of places. A border belongs to the place below it; infinite ones bound places that are always empty."""

    columns: tuple[Column, ...]  # in their forms
    borders: Array  # (d, PLACES - 1) of all rows
    within: Array  # (k, d, PLACES - 1) of the rows of each group
    heights: Vector  # (HEIGHTS - 1,)

    @property
    def k(self) -> int:
        """Groups."""
        return len(self.within)

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """(d,) places of each column."""
        return np.array([len(column.levels) or PLACES for column in self.columns], np.int64)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(d + 1,) where the places of each column begin, side by side."""
        return np.concatenate([[0], np.cumsum(self.widths)])

    def at(self, j: int) -> slice:
        """The places of column ``j``."""
        return slice(int(self.starts[j]), int(self.starts[j + 1]))

    def counts(self, rows: NDArray[Any], weights: Vector, group: int | None) -> Vector:
        """(D,) weight of the rows in each place, by a group's own borders or by those of all; no missing cells."""
        borders = self.borders if group is None else self.within[group]
        out = np.zeros(int(self.starts[-1]))
        for j, column in enumerate(self.columns):
            there = ~np.isnan(rows[:, j])
            cells = rows[there, j].astype(np.float64)
            place = cells.astype(np.int64) if column.levels else np.searchsorted(borders[j], cells)
            out[self.at(j)] = np.bincount(place, weights[there], int(self.widths[j]))
        return out

    def reordered(self, order: Sequence[int]) -> Ruler:
        """The same with group ``order[0]`` first."""
        return replace(self, within=self.within[list(order)])


def borders_of(values: Vector, places: int) -> Vector:
    """(places - 1,) borders between places of about as many values; fewer, and infinite ones, where values repeat.

    >>> borders_of(np.array([4.0, 1.0, 3.0, 2.0]), 4).tolist(), borders_of(np.array([5.0, 5.0]), 3).tolist()
    ([1.0, 2.0, 3.0], [5.0, inf])
    """
    out = np.full(places - 1, np.inf)
    finite = np.sort(values[np.isfinite(values)])
    if len(finite):
        at = np.ceil(np.arange(1, places) / places * len(finite)).astype(np.int64) - 1
        some = np.unique(finite[np.maximum(at, 0)])
        out[: len(some)] = some
    return out


# --- figures ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figures:
    """Rows counted by a ruler. Groups come with one more at the end: rows that belong to none."""

    mass: Vector  # (k + 1,)
    overall: Vector  # (D,) rows in the places of all columns
    within: Array  # (k, D) the same of the rows of each group, by its own borders
    heights: Vector  # (HEIGHTS,)
    unusual: Vector  # (k,) rows less typical than UNUSUAL, by their likeliest group
    known: Vector  # (k,) rows whose typicality is known
    moments: tuple[ColumnMoments, ...]  # (k + 1) of the columns in their forms

    @classmethod
    def of(cls, ruler: Ruler, rows: NDArray[Any], weights: Vector, standing: Standing) -> Figures:
        """Of rows (n, d) in their forms."""
        here = weights > 0
        rows, weights = rows[here], weights[here]
        own, labels = standing.own[here], standing.labels[here]
        typicality, height = standing.typicality[here], standing.height[here]
        k, known = ruler.k, ~np.isnan(typicality)
        members = [labels == g for g in (*range(k), -1)]
        with np.errstate(invalid="ignore"):
            unusual = known & (typicality < UNUSUAL)
        width = int(ruler.starts[-1])
        return cls(
            np.array([weights[m].sum() for m in members]),
            ruler.counts(rows, weights, None),
            np.array([ruler.counts(rows[m], weights[m], g) for g, m in enumerate(members[:-1])]).reshape(
                k, width
            ),
            np.bincount(np.searchsorted(ruler.heights, height), weights, HEIGHTS).astype(np.float64),
            np.bincount(own[unusual], weights[unusual], k).astype(np.float64),
            np.bincount(own[known], weights[known], k).astype(np.float64),
            tuple(ColumnMoments.of(block_of(rows[m], weights[m])) for m in members),
        )

    def merge(self, other: Figures) -> Figures:
        """Counts add, moments merge."""
        return Figures(
            self.mass + other.mass, self.overall + other.overall, self.within + other.within,
            self.heights + other.heights, self.unusual + other.unusual, self.known + other.known,
            tuple(a.merge(b) for a, b in zip(self.moments, other.moments, strict=True)),
        )  # fmt: skip

    @property
    def total(self) -> float:
        """Weight of the rows."""
        return float(self.mass.sum())

    def all_moments(self) -> ColumnMoments:
        """The moments of all rows."""
        first, *rest = self.moments
        for part in rest:
            first = first.merge(part)
        return first

    def reordered(self, order: Sequence[int]) -> Figures:
        """The same with group ``order[0]`` first; rows of none stay last."""
        at = list(order)
        last = [*at, len(self.mass) - 1]
        return replace(
            self, mass=self.mass[last], within=self.within[at], unusual=self.unusual[at], known=self.known[at],
            moments=tuple(self.moments[g] for g in last),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Baseline:
    """The rows of the fit, counted, as rows that took no part in it would be."""

    ruler: Ruler
    figures: Figures

    def reordered(self, order: Sequence[int]) -> Baseline:
        """The same with group ``order[0]`` first."""
        return Baseline(self.ruler.reordered(order), self.figures.reordered(order))
