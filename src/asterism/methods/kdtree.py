"""A table split again and again at the median of one column: every cluster is a rule that people can read.

The leaf that is split next, and the column, are those of the largest gain:

    separating   share of a column's variance in the table that the two halves' means explain (Gini's for levels)
    widest       the leaf of most weight, at the column that reaches farthest within it, in the columns' own units

Numbers, ranks and yes/no are split between two values that occur, near the median, at the shortest number that lies
between them. Levels without an order are split into the most frequent ones, near half of the weight, and the rest.
Rows that lack the cell go with the heavier side, and the rule says so.

Reference: Bentley (1975), Multidimensional binary search trees used for associative searching. CACM 18:509-517.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Matrix, Vector
from asterism.data.columns import NUMBERS, Column
from asterism.errors import ParameterError, TooFewRowsError

How = Literal["separating", "widest"]
DIGITS = 12  # after the point, of shares of a column's variance
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Split:
    """Which rows go left."""

    column: int
    at: float  # numbers up to this go left; not used for levels without an order
    levels: frozenset[int]  # codes that go left; empty unless the column is categorical
    missing_left: bool  # where rows that lack the cell go
    gain: float

    def left(self, rows: Matrix) -> Mask:
        """(n,) whether each row goes left."""
        cells = rows[:, self.column]
        known = np.isin(cells, sorted(self.levels)) if self.levels else cells <= self.at
        return np.where(np.isnan(cells), self.missing_left, known)


@dataclass(frozen=True)
class Node:
    """A cluster at some stage: reached by ``path``, split by ``split`` into nodes ``first`` and ``first + 1``."""

    path: tuple[tuple[Split, bool], ...]  # splits on the way, and whether it is on their left
    weight: float
    split: Split | None = None
    first: int = -1

    @property
    def depth(self) -> int:
        """Splits on the way."""
        return len(self.path)


@dataclass(frozen=True)
class SplitTree:
    """All splits, in the order they were made: the first k - 1 of them give k clusters."""

    columns: tuple[Column, ...]
    nodes: tuple[Node, ...] = field(repr=False)  # the root first, then pairs in the order of their splits

    @property
    def n_leaves(self) -> int:
        """Clusters if nothing is cut."""
        return (len(self.nodes) + 1) // 2

    def leaves(self, k: int | None = None, depth: int | None = None) -> list[int]:
        """Nodes that are clusters of the cut into k, or at a depth; from left to right."""
        last = len(self.nodes) if k is None else 2 * k - 1
        found, waiting = [], [0]
        while waiting:
            i = waiting.pop()
            node = self.nodes[i]
            whole = node.first < 0 or node.first >= last or (depth is not None and node.depth >= depth)
            if whole:
                found.append(i)
            else:
                waiting += [node.first + 1, node.first]
        return found

    def labels(self, rows: Matrix, k: int | None = None, depth: int | None = None) -> NDArray[np.int32]:
        """(n,) the cluster of each row, by following the splits."""
        leaves = {node: label for label, node in enumerate(self.leaves(k, depth))}
        out = np.empty(len(rows), np.int32)
        waiting = [(0, np.arange(len(rows)))]
        while waiting:
            i, mine = waiting.pop()
            if i in leaves:
                out[mine] = leaves[i]
                continue
            split = self.nodes[i].split
            assert split is not None, "an inner node has a split"
            left = split.left(rows[mine])
            waiting += [(self.nodes[i].first, mine[left]), (self.nodes[i].first + 1, mine[~left])]
        return out

    def merged(self, k: int | None = None, depth: int | None = None) -> NDArray[np.int32]:
        """(n_leaves,) the cluster of a cut that each leaf is in."""
        out = np.empty(self.n_leaves, np.int32)
        number = {node: place for place, node in enumerate(self.leaves())}
        for label, top in enumerate(self.leaves(k, depth)):
            waiting = [top]
            while waiting:
                i = waiting.pop()
                if i in number:
                    out[number[i]] = label
                else:
                    waiting += [self.nodes[i].first, self.nodes[i].first + 1]
        return out

    def rules(self, k: int | None = None, depth: int | None = None) -> list[str]:
        """What the rows of each cluster have in common, and no others."""
        return [rule_of(self.nodes[i].path, self.columns) for i in self.leaves(k, depth)]


def grow(
    rows: Matrix, weights: Vector, columns: tuple[Column, ...], k: int | None, depth: int | None, how: How
) -> SplitTree:
    """Split until there are ``k`` clusters, or none above ``depth`` can be split."""
    scale = _scales(rows, weights, columns)
    nodes = [Node((), float(weights.sum()))]
    members = {0: np.arange(len(rows))}
    splits: dict[int, Split | None] = {0: best_split(rows, weights, columns, scale, how)}
    while k is None or len(members) < k:
        ready = [i for i in members if splits[i] is not None and (depth is None or nodes[i].depth < depth)]
        if not ready:
            break
        i = max(ready, key=lambda i: (_urgency(nodes[i], splits[i], how), -i))
        split, mine = splits.pop(i), members.pop(i)
        assert split is not None, "only those that can be split are ready"
        left = split.left(rows[mine])
        nodes[i] = Node(nodes[i].path, nodes[i].weight, split, len(nodes))
        for side in (True, False):
            part = mine[left == side]
            members[len(nodes)] = part
            splits[len(nodes)] = best_split(rows[part], weights[part], columns, scale, how)
            nodes.append(Node((*nodes[i].path, (split, side)), float(weights[part].sum())))
    if k is not None and depth is None and len(members) < k:
        raise TooFewRowsError(
            f"{k} clusters were asked for, but the table has n_samples={len(members)} distinct rows.",
            f"Ask for at most {len(members)}.",
        )
    return SplitTree(columns, tuple(nodes))


def _urgency(node: Node, split: Split | None, how: How) -> float:
    return node.weight if how == "widest" or split is None else split.gain


def _scales(rows: Matrix, weights: Vector, columns: tuple[Column, ...]) -> Vector:
    """(d,) total weighted squares of each column in the table: what gains are shares of."""
    return np.array([_scatter(rows[:, j], weights, column) for j, column in enumerate(columns)])


def best_split(
    rows: Matrix, weights: Vector, columns: tuple[Column, ...], scale: Vector, how: How
) -> Split | None:
    """The column to split these rows by; None where they are all alike."""
    found = [
        _split(rows[:, j].astype(np.float64), weights, column, j, float(scale[j]), how)
        for j, column in enumerate(columns)
    ]
    usable = [split for split in found if split is not None]
    return max(usable, key=lambda split: (split.gain, -split.column), default=None)


def _split(cells: Vector, weights: Vector, column: Column, j: int, scale: float, how: How) -> Split | None:
    seen = ~np.isnan(cells)
    x, w = cells[seen], weights[seen]
    values, inverse = np.unique(x, return_inverse=True)
    if len(values) < 2:
        return None  # rows that differ only in whether the cell is there are not told apart by its value
    mass: Vector = np.bincount(inverse, weights=w).astype(np.float64)
    levels: frozenset[int] = frozenset()
    if column.kind == "categorical":
        order = np.argsort(-mass, kind="stable")
        cut = _nearest_half(mass[order])
        levels, at = frozenset(int(v) for v in values[order[: cut + 1]]), np.nan
        left = np.isin(x, sorted(levels))
    else:
        cut = _nearest_half(mass)
        at = short_number(float(values[cut]), float(values[cut + 1]))
        left = x <= at
    heavier_left = float(w[left].sum()) >= float(w[~left].sum())
    if how == "widest":
        gain = _reach(values, column)
    else:
        within = _scatter(x[left], w[left], column) + _scatter(x[~left], w[~left], column)
        gain = (_scatter(x, w, column) - within) / scale if scale > 0 else 0.0
        gain = round(
            gain, DIGITS
        )  # or rounding would choose between equal columns, and otherwise for copies of rows
    return Split(j, at, levels, heavier_left, gain)


def _nearest_half(mass: Vector) -> int:
    """The place after which to cut, so that both sides weigh nearly the same; never after the last."""
    below = np.cumsum(mass)[:-1]
    return int(np.argmin(np.abs(below - mass.sum() / 2)))


def _scatter(cells: Vector, weights: Vector, column: Column) -> float:
    """Weighted squares about the mean; of levels, of their indicator columns together."""
    seen = ~np.isnan(cells)
    x, w = cells[seen].astype(np.float64), weights[seen]
    total = float(w.sum())
    if not total > 0:
        return 0.0
    if column.kind == "categorical":
        share = np.bincount(x.astype(np.intp), weights=w) / total
        return total * float(1.0 - (share**2).sum())
    return float((w * (x - np.average(x, weights=w)) ** 2).sum())


def _reach(values: Vector, column: Column) -> float:
    """How far a column reaches: numbers in their unit, ranks from 0 to 1, levels 1."""
    if column.kind in NUMBERS:
        return float(values[-1] - values[0])
    if column.kind == "ordinal":
        return float(values[-1] - values[0]) / max(len(column.levels) - 1, 1)
    return 1.0


def short_number(low: float, high: float) -> float:
    """The number of fewest digits with low <= number < high, near their middle.

    >>> short_number(2.13, 2.87), short_number(41.0, 42.0), short_number(0.1, 0.1000001)
    (2.5, 41.5, 0.1)
    """
    middle = low + (high - low) / 2
    for digits in range(1, 17):
        short = float(f"{middle:.{digits}g}")
        if low <= short < high:
            return short
    return low


def rule_of(path: Sequence[tuple[Split, bool]], columns: tuple[Column, ...]) -> str:
    """The conditions of a path in words, one a column.

    >>> age = Split(0, 41.5, frozenset(), True, 1.0)
    >>> rule_of([(age, False)], (Column("age"),))
    'age > 41.5'
    """
    if not path:
        return "all rows"
    texts = []
    for j in dict.fromkeys(split.column for split, _ in path):
        mine = [(split, left) for split, left in path if split.column == j]
        missing = all(split.missing_left == left for split, left in mine)
        said = (
            _levels_text(mine, columns[j])
            if columns[j].kind not in NUMBERS
            else _range_text(mine, columns[j])
        )
        texts.append(f"{said} or missing" if missing else said)
    if len(texts) == 1:
        return texts[0]
    return " and ".join(f"({text})" if text.endswith(" or missing") else text for text in texts)


def _range_text(mine: Sequence[tuple[Split, bool]], column: Column) -> str:
    above = [split.at for split, left in mine if not left]
    below = [split.at for split, left in mine if left]
    if above and below:
        return f"{_number(max(above))} < {column.name} <= {_number(min(below))}"
    return f"{column.name} > {_number(max(above))}" if above else f"{column.name} <= {_number(min(below))}"


def _levels_text(mine: Sequence[tuple[Split, bool]], column: Column) -> str:
    """The levels that are left, by name; ordinal and boolean codes are numbered in their order."""
    left_over = []
    for code, level in enumerate(column.levels):
        cell = np.array([[float(code)]])
        if all(_goes_left(split, cell) == left for split, left in mine):
            left_over.append(level)
    if len(left_over) == 1:
        return f"{column.name} is {left_over[0]}"
    return f"{column.name} is one of {', '.join(left_over)}"


def _goes_left(split: Split, cell: Matrix) -> bool:
    value = float(cell[0, 0])
    return value in split.levels if split.levels else value <= split.at


def _number(x: float) -> str:
    return repr(int(x)) if x == int(x) and abs(x) < 1e15 else repr(float(x))


def check_how(how: Any) -> How:
    """A ``ParameterError`` unless it is one of ours."""
    if how not in ("separating", "widest"):
        raise ParameterError(f"split is {how!r}.", "Choose 'separating' or 'widest'.")
    return how  # type: ignore[no-any-return]
