"""A model of groups that can be asked about new rows: which group, and how sure.

table  ->  the model's own columns (``data.like``)  ->  view (as they are, scaled, or reduced)  ->  judge
                                                                        ->  background and typicality: or none (-1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of
from asterism.data.columns import Column
from asterism.data.finite import require_finite
from asterism.data.like import Match, read_like
from asterism.data.source import ArraySource, Source
from asterism.engines.context import current
from asterism.engines.reduce import map_reduce, map_rows, reduce
from asterism.engines.threads import one_blas_thread
from asterism.explain.groups import even_sample
from asterism.explain.typicality import Typicality, mean_cell_scores, missing_scores, typicality_of
from asterism.groups.background import Background
from asterism.groups.figures import Baseline
from asterism.groups.judges import Array, Judge, Labels
from asterism.groups.layers import Layers, layers_of
from asterism.groups.numbered import numbers_of, plain_judge
from asterism.groups.strangers import note_on_strangers
from asterism.methods.posterior import Mixture
from asterism.stats.sample import RowSample
from asterism.verdict.view import View

CELL_ROWS = 64  # convention: rows a group that say what a missing cell would have added

# --- the model --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Assignment:
    """Groups of the rows of a table; ``labels, probabilities = model.assign(table)`` takes it apart."""

    labels: Labels  # (n,) -1: belongs to none
    probabilities: (
        Array  # (n, k); a row adds up to 1, less its probability of the background where there is one
    )
    match: Match = field(repr=False)  # how the table fitted the model's columns
    typicality: Vector = field(default_factory=lambda: np.zeros(0))  # (n,) within the group; NaN: not known
    strangers: str | None = None  # a warning, where more rows than expected are typical of no group

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.labels, self.probabilities))

    @property
    def notes(self) -> list[str]:
        """What a user should know about the columns, in sentences."""
        return [*self.match.notes(), *([self.strangers] if self.strangers else [])]


@dataclass(frozen=True, eq=False)
class Placed:
    """Rows of a block, placed in groups."""

    own: Labels  # (n,) the likeliest group
    labels: Labels  # (n,) the same; -1: belongs to none
    probabilities: Array  # (n, k) of the groups
    none: Vector  # (n,) probability of the background; 0 where there is none
    typicality: Vector  # (n,) within the likeliest group; NaN: not known
    parts: Array | None = None  # (n, F) probabilities of the finest parts


@dataclass(frozen=True, eq=False)
class GroupModel:
    """Groups of a table, ready for other tables with the same columns."""

    columns: tuple[Column, ...]  # of the table
    view: View
    judge: Judge
    about: Mapping[str, Any] = field(
        default_factory=dict
    )  # what else is known: names of groups, verdict, seed, ...
    typicality: Typicality | None = None  # None: a model of an earlier version
    background: Background | None = None  # of evenly spread rows, which belong to none
    least_typicality: float = 0.0  # rows below it belong to none
    baseline: Baseline | None = None  # the rows of the fit, counted; None: a model of an earlier version
    names: tuple[str, ...] = ()  # (k,) of the groups; (): a model of an earlier version
    seen: Mixture | None = None  # of more components, that the search saw: it says what parts groups have
    known_layers: tuple[Layers, Judge] | None = (
        None  # with the judge of their parts; None: made when asked for
    )

    @property
    def k(self) -> int:
        """Groups."""
        return self.judge.k

    @property
    def layers(self) -> Layers:
        """Groups of groups and parts of groups."""
        return self.layered[0]

    @cached_property
    def layered(self) -> tuple[Layers, Judge]:
        """The layers, and the judge of their finest parts."""
        if self.known_layers is not None:
            return self.known_layers
        return layers_of(plain_judge(self.judge), self.seen)

    def assign(self, table: Any, *, missing_columns: str = "refuse", level: int | None = None) -> Assignment:
        """The group of every row of a table, and the probabilities of all groups.

        ``table``            path, glob, frame, array or Source; its columns are matched by name
        ``missing_columns``  a column the table lacks: "refuse" it, or take its cells as "missing"

        ``level``            groups of the layer that labels are of (``layers``); None: the groups themselves

        Levels that the model has never seen are missing cells, columns it does not know are not used;
        ``assignment.notes`` says so.

        >>> import numpy as np, asterism
        >>> rng = np.random.default_rng(0)
        >>> X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (40, 2))])
        >>> labels, probabilities = asterism.find(X, k=2).model.assign([[0.0, 0.0], [9.0, np.nan]])
        >>> labels.tolist(), probabilities.round(2).tolist()
        ([0, 1], [[1.0, 0.0], [0.0, 1.0]])
        """
        source, match = read_like(table, self.columns, absent=missing_columns, memory=current().memory)
        found = self._map(source, _all_of, level)
        probabilities = np.ascontiguousarray(found[:, 2:])
        strange = note_on_strangers(self.baseline, found[:, 1])
        return Assignment(found[:, 0].astype(np.int32), probabilities, match, found[:, 1].copy(), strange)

    def probabilities(self, source: Source) -> Array:
        """(n, k) of a table with the model's own columns."""
        return np.asarray(self._map(source, _probabilities_of))

    def ranked(self, source: Source, level: int | None = None) -> Array:
        """(n, 5) the likeliest group and its probability, the second and its own (-1 and NaN for k = 1), typicality.

        A row that belongs to none has group -1, the probability of the background (NaN where there is none), and its
        likeliest group for the second. ``level``: of the groups of that layer; typicality stays that in the row's
        own group.
        """
        return np.asarray(self._map(source, _best_two, level))

    def labels(self, source: Source) -> Labels:
        """(n,) of a table with the model's own columns; -1: belongs to none."""
        return np.asarray(self._map(source, _labels_of))

    def own_and_labels(self, source: Source) -> tuple[Labels, Labels]:
        """(n,) the likeliest groups, and the same with -1 for rows that belong to none."""
        both = self._map(source, _own_and_labels)
        return both[:, 0].copy(), both[:, 1].copy()

    def labels_and_doubt(self, source: Source) -> tuple[Labels, Doubt]:
        """The likeliest groups, and their weight and mean certainty, in one pass; the background takes no part."""
        labels, found = map_reduce(self.rows_of(source), partial(_doubt, self.judge, source.names))
        return labels, found

    def shares(self, block: Block) -> Array:
        """(n, k) of the rows of one block of a table with the model's own columns."""
        table = self.rows_of(ArraySource(block.rows, block.weights, self.columns))
        return np.concatenate([self.judge.look(piece)[1] for piece in table.blocks()])

    def with_typicality(
        self, source: Source, own: Labels, counts: NDArray[np.bool_]
    ) -> tuple[GroupModel, Vector, Vector]:
        """The model with tables of typicality, (n,) the typicality of rows in groups ``own``, and their weights.

        Tables are made of the rows that ``counts`` names and that have weight; a row without weight has NaN. Two
        passes: a sample that says what a missing cell would have added, and the scores of all rows.
        """
        rows, k = self.rows_of(source), self.k
        labels = np.where(counts, own, -1)
        rates = 1.0 / np.maximum(np.bincount(own[counts], minlength=k), 1.0)
        sample: RowSample = reduce(rows, partial(even_sample, labels, rates, CELL_ROWS * k, 0))
        some, w = sample.estimates()
        with one_blas_thread():  # the sums of a product depend on how many threads share it
            cells = mean_cell_scores(
                self._within, np.array(some, np.float64), own[sample.row[: len(some)]], w, k
            )
        found = map_rows(rows, partial(_scored, self.judge, own, cells))
        scores, weights = found[:, 0].copy(), found[:, 1].copy()
        table = typicality_of(labels, scores, weights, k, cells)
        return replace(self, typicality=table), table.of(np.where(weights > 0, own, -1), scores), weights

    def _within(self, rows: Array, labels: Labels) -> Vector:
        return self.judge.log_density_within(block_of(np.ascontiguousarray(rows)), labels)

    def reordered(self, order: Sequence[int]) -> GroupModel:
        """The same groups with ``order[0]`` first."""
        known = None if self.typicality is None else self.typicality.reordered(order)
        counted = None if self.baseline is None else self.baseline.reordered(order)
        names = tuple(self.names[g] for g in order) if self.names else ()
        return replace(
            self,
            judge=self.judge.reordered(order),
            typicality=known,
            baseline=counted,
            names=names,
            known_layers=None,
        )

    def name_of(self, group: int) -> str:
        """The name of a group; "" where it has none."""
        return self.names[group] if 0 <= group < len(self.names) else ""

    def rows_of(self, source: Source) -> Source:
        """The rows of a table as the judge takes them."""
        return self.judge.ready(self.view.of(source))

    def _map(self, source: Source, told: Callable[[Placed], NDArray[Any]], level: int | None = None) -> Any:
        if level is not None:
            told = partial(_in_layer, told, self.layers, np.array(numbers_of(self.judge)), level)
        return map_rows(self.rows_of(source), partial(_placed, self, source.names, told, level is not None))

    def place(self, block: Block, *, with_parts: bool = False) -> Placed:
        """Groups of the rows of a block that the judge takes, and where asked for their parts."""
        own, r = self.judge.look(block)
        known = np.full(len(own), np.nan)
        if self.typicality is not None:
            scores = scores_of(self.judge, own, self.typicality.cell_scores, block)
            known = self.typicality.of(own, scores)
        none = np.zeros(len(own))
        height = None if self.background is None else self.judge.log_density(block)
        if self.background is not None and height is not None:
            none = self.background.probability(block.rows, height)
            r = r * (1.0 - none)[:, None]
        out = (none > 0.5) | (known < self.least_typicality)
        parts = None
        if with_parts:
            parts = self.layered[1].look(block)[1] * (1.0 - none)[:, None]
        return Placed(own, np.where(out, np.int32(-1), own), r, none, known, parts)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Weights of the groups, and how sure their rows are of them."""

    mass: Vector  # (k,)
    sure: Vector  # (k,) sum of w times the probability of the row's own group

    def merge(self, other: Doubt) -> Doubt:
        """Sums add."""
        return Doubt(self.mass + other.mass, self.sure + other.sure)

    @property
    def certainty(self) -> float:
        """The mean probability of a row's own group."""
        return float(self.sure.sum() / self.mass.sum())


def _checked(judge: Judge, names: tuple[str, ...], block: Block) -> tuple[Labels, Array]:
    if block.rows.shape[1] == len(names):
        require_finite(block, names, missing_ok=True)
    return judge.look(block)


def _placed(
    model: GroupModel,
    names: tuple[str, ...],
    told: Callable[[Placed], NDArray[Any]],
    with_parts: bool,
    block: Block,
) -> NDArray[Any]:
    if block.rows.shape[1] == len(names):
        require_finite(block, names, missing_ok=True)
    return told(model.place(block, with_parts=with_parts))


def _in_layer(
    told: Callable[[Placed], NDArray[Any]],
    layers: Layers,
    numbers: NDArray[np.int64],
    level: int,
    placed: Placed,
) -> NDArray[Any]:
    """Rows as a layer has them: the layer's group of the likeliest part of a row's own group, so that layers nest."""
    assert placed.parts is not None
    group_of = np.asarray(layers.at(level).group_of)
    inside = numbers[np.asarray(layers.groups)] == placed.own[:, None]
    part = np.where(inside, placed.parts, -1.0).argmax(axis=1)
    own = group_of[part].astype(np.int32)
    r = placed.parts @ np.eye(level)[group_of]
    return told(
        replace(placed, own=own, labels=np.where(placed.labels < 0, np.int32(-1), own), probabilities=r)
    )


def _all_of(placed: Placed) -> Array:
    return np.column_stack([placed.labels, placed.typicality, placed.probabilities])


def _probabilities_of(placed: Placed) -> Array:
    return placed.probabilities


def _labels_of(placed: Placed) -> Labels:
    return placed.labels


def _own_and_labels(placed: Placed) -> Labels:
    return np.column_stack([placed.own, placed.labels])


def scores_of(judge: Judge, own: Labels, cells: Array, block: Block) -> Vector:
    """(n,) of rows within their groups, missing cells filled in."""
    with np.errstate(all="ignore"):  # rows of weight 0 may hold anything
        return np.asarray(judge.log_density_within(block, own) + missing_scores(cells, own, block.rows))


def _scored(judge: Judge, labels: Labels, cells: Array, block: Block) -> Array:
    """(n, 2) scores and weights."""
    own = labels[block.start : block.start + len(block)]
    return np.column_stack([scores_of(judge, own, cells, block), block.weights])


def _doubt(judge: Judge, names: tuple[str, ...], block: Block) -> tuple[Labels, Doubt]:
    labels, r = _checked(judge, names, block)
    own = r[np.arange(len(r)), labels]
    here = block.weights > 0
    w = block.weights[here]
    mass = np.bincount(labels[here], w, judge.k).astype(np.float64)
    return labels, Doubt(mass, np.bincount(labels[here], w * own[here], judge.k).astype(np.float64))


def _best_two(placed: Placed) -> Array:
    labels, r = placed.own, placed.probabilities.copy()
    every = np.arange(len(r))
    own = r[every, labels]
    second, after = np.full(len(r), -1.0), np.full(len(r), np.nan)
    if r.shape[1] > 1:
        r[every, labels] = -1.0
        second = r.argmax(axis=1).astype(np.float64)
        after = r[every, second.astype(np.intp)]
    out = placed.labels < 0
    none = np.where(placed.none > 0, placed.none, np.nan)
    best = [
        np.where(out, -1, labels),
        np.where(out, none, own),
        np.where(out, labels, second),
        np.where(out, own, after),
    ]
    return np.column_stack([*best, placed.typicality])
