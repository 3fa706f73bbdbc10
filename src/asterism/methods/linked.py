"""What is known of the groups of a table before they are looked for, and which of it contradicts itself.

* some rows have labels: rows of one label are of one group, rows of two labels are not
* two rows belong together, or are apart
* a group has at least and at most so many rows

Rows that belong together make a chunk (a chunklet in the literature), rows of the same row included by way of
others: the transitive closure. A chunk is of one group, so it is chunks that are apart.

References
----------
1. Wagstaff, Cardie, Rogers, Schroedl (2001), Constrained k-means clustering with background knowledge. ICML.
2. Shental, Bar-Hillel, Hertz, Weinshall (2004), Computing Gaussian mixture models with EM using equivalence
   constraints. NIPS 16.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from asterism.errors import DataError, ParameterError

Pairs = NDArray[np.int64]  # (m, 2)
Labels = NDArray[np.int32]
UNKNOWN = ("", None)  # cells that say nothing


# --- what was said ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of ``n_rows`` rows, checked row by row; rows are counted from 0.

    >>> known = Known.of(5, labels=["a", None, "a", "b", None], together=[(1, 4)], apart=[(3, 4)])
    >>> known.labels.tolist(), known.names, known.chunks.numbers.tolist()
    ([0, -1, 0, 1, -1], ('a', 'b'), [0, 1, 2, 3, 1])
    """

    n_rows: int
    labels: Labels  # (n,) place in ``names``; -1: not known
    names: tuple[str, ...] = ()
    together: Pairs = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    apart: Pairs = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    least: int = 0  # rows of a group
    most: int | None = None

    @classmethod
    def of(
        cls,
        n_rows: int,
        *,
        labels: Any = None,
        together: Any = (),
        apart: Any = (),
        min_size: int | None = None,
        max_size: int | None = None,
    ) -> Known:
        """Labels (None, NaN or "": not known), pairs of row numbers, sizes; or an error for the first bad one."""
        codes, names = _labels(labels, n_rows)
        least, most = _size("min_size", min_size, 0), _size("max_size", max_size, None)
        if least is not None and most is not None and least > most:
            raise ParameterError(
                f"min_size is {least} and max_size {most}.", "Give a min_size of at most max_size."
            )
        links = _pairs("together", together, n_rows)
        links = links[links[:, 0] != links[:, 1]]
        barred = _pairs("apart", apart, n_rows)
        same = np.flatnonzero(barred[:, 0] == barred[:, 1])
        if len(same):
            raise DataError(
                f"{rows_in_words([int(barred[same[0], 0])])} is to be apart from itself.",
                "Take that pair out of those that are apart.",
            )
        return cls(n_rows, codes, names, links, barred, least or 0, most)

    @property
    def says_something(self) -> bool:
        """Whether anything is known."""
        return bool(self.names) or len(self.together) + len(self.apart) > 0 or self.sized

    @property
    def sized(self) -> bool:
        """Whether groups have sizes to keep."""
        return self.least > 0 or (self.most is not None and self.most < self.n_rows)

    @cached_property
    def chunks(self) -> Chunks:
        """The closure; an error names rows of which two things are said that cannot both be."""
        return _closure(self)


@dataclass(frozen=True, eq=False)
class Chunks:
    """Rows that belong together, as one. A row of which nothing is said is a chunk of its own."""

    numbers: NDArray[np.int64]  # (n,) chunk of every row, in the order of their first rows
    labels: Labels  # (chunks,) known label; -1
    apart: Pairs  # pairs of chunks, the smaller first, each once

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(chunks,) rows."""
        return np.bincount(self.numbers, minlength=len(self.labels))

    @cached_property
    def bound(self) -> NDArray[np.bool_]:
        """(n,) rows of which something is said: they have a label, or belong to a pair."""
        mine = (self.labels >= 0) | (self.sizes > 1)
        mine[self.apart.ravel()] = True
        return np.asarray(mine[self.numbers])


def rows_in_words(rows: Sequence[int]) -> str:
    """Rows as messages count them, from 1, given from 0.

    >>> rows_in_words([0]), rows_in_words([2, 0, 11])
    ('row 1', 'rows 3, 1 and 12')
    """
    *others, last = (str(row + 1) for row in rows)
    return f"rows {', '.join(others)} and {last}" if others else f"row {last}"


# --- checking ---------------------------------------------------------------------------------------------------


def _labels(given: Any, n: int) -> tuple[Labels, tuple[str, ...]]:
    if given is None:
        return np.full(n, -1, np.int32), ()
    cells = list(given.tolist() if hasattr(given, "tolist") else given)
    if len(cells) != n:
        raise ParameterError(
            f"{len(cells)} known labels were given for {n} rows.",
            "Give one a row, None where it is not known.",
        )
    words = [None if cell in UNKNOWN or cell != cell else _spelled(cell) for cell in cells]
    names = tuple(sorted({word for word in words if word is not None}))
    if not names:
        raise DataError("No row has a known label.", "Give labels of some rows, or none at all.")
    place: dict[str | None, int] = {name: i for i, name in enumerate(names)} | {None: -1}
    return np.array([place[word] for word in words], np.int32), names


def _spelled(cell: Any) -> str:
    """3.0 is the label 3: a column with empty cells has no whole numbers in many tables."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _pairs(name: str, given: Any, n: int) -> Pairs:
    pairs = np.asarray(given if len(given) else np.zeros((0, 2), np.int64))
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ParameterError(f"{name} is not a list of pairs of row numbers.", "Give pairs such as [(0, 7)].")
    outside = np.flatnonzero(((pairs < 0) | (pairs >= n)).any(axis=1))
    if len(outside):
        i, j = pairs[outside[0]].tolist()
        raise DataError(
            f"pair {int(outside[0]) + 1} of {name} is ({i}, {j}), but the table has {n:,} rows.",
            f"Rows of pairs are counted from 0: give numbers from 0 to {n - 1}.",
        )
    return pairs.astype(np.int64)


def _size(name: str, given: Any, otherwise: int | None) -> int | None:
    if given is None:
        return otherwise
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1:
        raise ParameterError(f"{name} is {given!r}.", "Give a whole number of rows, 1 or more.")
    return int(given)


# --- closure ----------------------------------------------------------------------------------------------------


def _closure(known: Known) -> Chunks:
    n, links = known.n_rows, known.together
    graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(n, n))
    _, found = connected_components(graph, directed=False)
    _, first, numbers = np.unique(found, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # chunks in the order of their first rows
    numbers = order[numbers].astype(np.int64)
    labels = np.full(len(first), -1, np.int32)
    there = np.flatnonzero(known.labels >= 0)
    labels[numbers[there]] = known.labels[there]
    other = there[labels[numbers[there]] != known.labels[there]]
    if len(other):
        raise _two_labels(known, numbers, labels, int(other[0]))
    pairs = np.sort(numbers[known.apart], axis=1)
    for place in np.flatnonzero(pairs[:, 0] == pairs[:, 1])[:1]:
        raise _apart_in_chunk(known, *known.apart[place].tolist())
    said = labels[pairs]
    for place in np.flatnonzero((said[:, 0] == said[:, 1]) & (said[:, 0] >= 0))[:1]:
        raise _apart_in_label(known.apart[place].tolist(), known.names[int(said[place, 0])])
    return Chunks(numbers, labels, np.unique(pairs, axis=0))


def _two_labels(known: Known, numbers: Any, labels: Labels, row: int) -> DataError:
    rows = np.flatnonzero((numbers == numbers[row]) & (known.labels == labels[numbers[row]]))
    way = _way(known.together, *sorted([int(rows[0]), row]))
    a, b = (known.names[known.labels[each]] for each in (way[0], way[-1]))
    return DataError(
        f"{rows_in_words(way)} are to be together, {_in_a_chain(way)}but the first is known as {a!r} and the last as "
        f"{b!r}.",
        "Change a label, or take a pair out of those that are together.",
    )


def _apart_in_chunk(known: Known, i: int, j: int) -> DataError:
    way = _way(known.together, i, j)
    return DataError(
        f"{rows_in_words([i, j])} are to be apart, but they are to be together as well"
        + (f": {rows_in_words(way)} are, each with the next." if len(way) > 2 else "."),
        "Take one of these pairs out.",
    )


def _apart_in_label(rows: list[int], name: str) -> DataError:
    return DataError(
        f"{rows_in_words(rows)} are to be apart, but both are known as {name!r}, or are together with rows that are.",
        "Change a label, or take the pair out of those that are apart.",
    )


def _in_a_chain(way: list[int]) -> str:
    return "each with the next, " if len(way) > 2 else ""


def _way(links: Pairs, start: int, end: int) -> list[int]:
    """Rows from one to another, each together with the next; as few as there can be."""
    near: dict[int, list[int]] = {}
    for a, b in links.tolist():
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    before, queue = {start: start}, deque([start])
    while queue and end not in before:
        here = queue.popleft()
        for there in sorted(near.get(here, ())):
            if there not in before:
                before[there] = here
                queue.append(there)
    way = [end]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]
