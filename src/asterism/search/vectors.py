"""Vectors (embeddings, spectra) as a few columns: 768 numbers must not outvote 5 columns.

A vector of d numbers becomes its principal directions with more spread than chance gives (Marchenko and
Pastur: noise of one variance has no eigenvalue above ``(1 + sqrt(d / n))^2`` times it), 1 to 5 of them, each
one column. Columns count alike in the search, so that a vector counts like as many columns as it has
directions. Numbers of a vector are taken in their own units: they are of one kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Matrix
from asterism.data.columns import Column
from asterism.data.complete import CompleteRows
from asterism.data.select import SelectedColumns
from asterism.data.source import Piece, Source, part_within
from asterism.data.vectors import Along
from asterism.engines.reduce import reduce
from asterism.stats.moments import Moments

MOST = 5  # convention: columns that a vector counts like, at most


def with_directions(source: Source) -> Source:
    """The table with the directions of its vectors instead of their numbers.

    >>> import pyarrow
    >>> from asterism.data.read import read
    >>> far = pyarrow.array([[float(i), 0.01 * (i % 3), 0.0] for i in range(30)])
    >>> source = with_directions(read(pyarrow.table({"word": far, "kg": [i % 7 / 2 for i in range(30)]})))
    >>> source.names
    ('word: direction 1', 'kg')
    """
    places = _vectors(source)
    if not places:
        return source
    found: dict[int, tuple[Column, ...]] = {}
    for name, mine in places.items():
        found[mine[0]] = _directions(source, name, mine)
    return Directed(source, found, {j for mine in places.values() for j in mine})


def _vectors(source: Source) -> dict[str, list[int]]:
    """The places of the numbers of each vector."""
    places: dict[str, list[int]] = {}
    for j, column in enumerate(source.columns):
        if isinstance(column.reading, Along) and not column.reading.axis:
            places.setdefault(column.reading.column, []).append(j)
    return {name: mine for name, mine in places.items() if len(mine) > 1}


def _directions(source: Source, name: str, mine: list[int]) -> tuple[Column, ...]:
    others = {column.name: "" for j, column in enumerate(source.columns) if j not in set(mine)}
    rows = CompleteRows(SelectedColumns(source, others))
    moments: Moments = reduce(rows, Moments.of)
    d, n = len(mine), max(float(moments.weight), 1.0)
    values, axes = np.linalg.eigh(moments.scatter / n)
    noise = values.mean() * (1.0 + np.sqrt(d / n)) ** 2
    m = int(np.clip((values > noise).sum(), 1, min(MOST, d)))
    total = max(float(values.sum()), np.finfo(float).tiny)
    first = source.columns[mine[0]].reading
    assert isinstance(first, Along)
    columns = []
    for j in range(1, m + 1):
        axis = axes[:, -j] * (1.0 if axes[np.abs(axes[:, -j]).argmax(), -j] > 0 else -1.0)
        reading = replace(first, place=0, center=tuple(moments.mean.tolist()), axis=tuple(axis.tolist()))
        why = f"direction {j} of {m} of a vector of {d} numbers, {values[-j] / total:.0%} of its spread"
        columns.append(Column(f"{name}: direction {j}", reason=why, reading=reading))
    return tuple(columns)


class Directed(Source):
    """A source in which the numbers of vectors are replaced by their lengths along some axes."""

    def __init__(self, inner: Source, found: dict[int, tuple[Column, ...]], taken: set[int]) -> None:
        self.inner, self.found, self.taken = inner, found, taken
        self.n_rows, self.dtype, self.ignored = inner.n_rows, inner.dtype, inner.ignored
        columns: list[Column] = []
        self.parts: list[tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]] | int] = []
        for j, column in enumerate(inner.columns):
            if j in found:
                columns += found[j]
                readings = [column.reading for column in found[j]]
                axes = np.array([reading.axis for reading in readings if isinstance(reading, Along)])
                center = np.array(readings[0].center if isinstance(readings[0], Along) else ())
                mine = [i for i in sorted(taken) if inner.columns[i].sources == column.sources]
                self.parts.append((np.array(mine), center, axes))
            elif j not in taken:
                columns.append(column)
                self.parts.append(j)
        self.columns = tuple(columns)

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's pieces, narrower."""
        for rows, weights in self.inner.pieces(start, stop):
            yield self._narrow(rows), weights

    def _narrow(self, rows: Matrix) -> Matrix:
        out = [
            rows[:, part, None] if isinstance(part, int) else (rows[:, part[0]] - part[1]) @ part[2].T
            for part in self.parts
        ]
        return np.concatenate(out, axis=1).astype(rows.dtype, copy=False)

    def part(self, first: int, last: int) -> Source:
        """The same of the inner source's part that holds these blocks."""
        inner, stop = part_within(self, self.inner, first, last)
        part = Directed(inner, self.found, self.taken)
        part.n_rows = stop
        return part
