"""A model of groups that can be asked about new rows: which group, and how sure.

table  ->  the model's own columns (``data.like``)  ->  view (as they are, scaled, or reduced)  ->  judge
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.data.columns import Column
from asterism.data.finite import require_finite
from asterism.data.like import Match, read_like
from asterism.data.source import ArraySource, Source
from asterism.engines.context import current
from asterism.engines.reduce import map_reduce, map_rows
from asterism.groups.judges import Array, Judge, Labels
from asterism.groups.view import View

# --- the model --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Assignment:
    """Groups of the rows of a table; ``labels, probabilities = model.assign(table)`` takes it apart."""

    labels: Labels  # (n,)
    probabilities: Array  # (n, k)
    match: Match = field(repr=False)  # how the table fitted the model's columns

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.labels, self.probabilities))

    @property
    def notes(self) -> list[str]:
        """What a user should know about the columns, in sentences."""
        return self.match.notes()


@dataclass(frozen=True, eq=False)
class GroupModel:
    """Groups of a table, ready for other tables with the same columns."""

    columns: tuple[Column, ...]  # of the table
    view: View
    judge: Judge
    about: Mapping[str, Any] = field(
        default_factory=dict
    )  # what else is known: names of groups, verdict, seed, ...

    @property
    def k(self) -> int:
        """Groups."""
        return self.judge.k

    def assign(self, table: Any, *, missing_columns: str = "refuse") -> Assignment:
        """The group of every row of a table, and the probabilities of all groups.

        ``table``            path, glob, frame, array or Source; its columns are matched by name
        ``missing_columns``  a column the table lacks: "refuse" it, or take its cells as "missing"

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
        both = map_rows(self._rows_of(source), partial(_both, self.judge, source.names))
        return Assignment(both[:, 0].astype(np.int32), np.ascontiguousarray(both[:, 1:]), match)

    def probabilities(self, source: Source) -> Array:
        """(n, k) of a table with the model's own columns."""
        return map_rows(self._rows_of(source), partial(_probabilities, self.judge, source.names))

    def ranked(self, source: Source) -> Array:
        """(n, 4) the likeliest group and its probability, the second and its own (-1 and NaN for k = 1)."""
        return map_rows(self._rows_of(source), partial(_best_two, self.judge, source.names))

    def labels(self, source: Source) -> Labels:
        """(n,) of a table with the model's own columns."""
        return map_rows(self._rows_of(source), partial(_labels, self.judge, source.names))

    def labels_and_doubt(self, source: Source) -> tuple[Labels, Doubt]:
        """Labels, and the weight and mean certainty of the groups, in one pass."""
        labels, found = map_reduce(self._rows_of(source), partial(_doubt, self.judge, source.names))
        return labels, found

    def shares(self, block: Block) -> Array:
        """(n, k) of the rows of one block of a table with the model's own columns."""
        table = self._rows_of(ArraySource(block.rows, block.weights, self.columns))
        return np.concatenate([self.judge.look(piece)[1] for piece in table.blocks()])

    def reordered(self, order: Sequence[int]) -> GroupModel:
        """The same groups with ``order[0]`` first."""
        return replace(self, judge=self.judge.reordered(order))

    def _rows_of(self, source: Source) -> Source:
        return self.judge.ready(self.view.of(source))


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


def _both(judge: Judge, names: tuple[str, ...], block: Block) -> Array:
    labels, r = _checked(judge, names, block)
    return np.column_stack([labels, r])


def _probabilities(judge: Judge, names: tuple[str, ...], block: Block) -> Array:
    return _checked(judge, names, block)[1]


def _labels(judge: Judge, names: tuple[str, ...], block: Block) -> Labels:
    return _checked(judge, names, block)[0]


def _doubt(judge: Judge, names: tuple[str, ...], block: Block) -> tuple[Labels, Doubt]:
    labels, r = _checked(judge, names, block)
    own = r[np.arange(len(r)), labels]
    here = block.weights > 0
    w = block.weights[here]
    mass = np.bincount(labels[here], w, judge.k).astype(np.float64)
    return labels, Doubt(mass, np.bincount(labels[here], w * own[here], judge.k).astype(np.float64))


def _best_two(judge: Judge, names: tuple[str, ...], block: Block) -> Array:
    labels, r = _checked(judge, names, block)
    every = np.arange(len(r))
    own = r[every, labels].copy()
    if judge.k == 1:
        return np.column_stack([labels, own, np.full(len(r), -1.0), np.full(len(r), np.nan)])
    r = r.copy()
    r[every, labels] = -1.0
    second = r.argmax(axis=1)
    return np.column_stack([labels, own, second, r[every, second]])
