"""Columns of a few whole numbers (years, marks, ratings) as ordered levels."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from asterism.data.columns import Column
from asterism.data.source import Piece, Source

FEWEST_ROWS = 20  # of a table in which repeated numbers say anything
FEW = 7  # whole numbers that are rather levels than measurements


def with_ranks(source: Source, told: Collection[str]) -> Source:
    """The table with columns of a few whole numbers (years, marks, ratings) as ordered levels.

    A normal curve can shrink onto one of three numbers, and a mixture would take each for a group. Columns of an
    array, and those of which the user has said what they are (``told``), stay as they are.

    >>> from asterism.data.read import read
    >>> import pyarrow
    >>> years = read(pyarrow.table({"year": [2007, 2008, 2009] * 9, "kg": [i / 7 for i in range(27)]}))
    >>> [(c.name, c.kind, c.levels) for c in with_ranks(years, ()).columns]
    [('year', 'ordinal', ('2007', '2008', '2009')), ('kg', 'numeric', ())]
    """
    if source.n_rows < FEWEST_ROWS:
        return source
    found: dict[int, NDArray[np.float64] | None] = {
        j: np.zeros(0)
        for j, column in enumerate(source.columns)
        if column.kind == "numeric" and column.reason and column.name not in told and column.text(0.0) is None
    }
    for block in source.blocks():
        for j in [j for j, values in found.items() if values is not None]:
            cells = block.rows[block.weights > 0, j].astype(np.float64)
            new = np.union1d(found[j], cells[~np.isnan(cells)])  # type: ignore[arg-type]
            whole = len(new) <= FEW and bool((new == np.floor(new)).all()) and bool((abs(new) < 2**53).all())
            found[j] = new if whole else None
        if all(values is None for values in found.values()):
            return source
    levels = {j: values for j, values in found.items() if values is not None and len(values) > 1}
    return Ranked(source, levels) if levels else source


def _beside(column: Column) -> str:
    """What is taken for missing, which was said of the numbers."""
    first, _, rest = column.reason.partition(";")
    return f"; {rest.split('; ')[-1].strip()}" if "taken for missing" in rest and first else ""


class Ranked(Source):
    """A source in which some columns of numbers are codes of ordered levels."""

    def __init__(self, inner: Source, levels: dict[int, NDArray[np.float64]]) -> None:
        self.inner, self.levels = inner, levels
        self.n_rows, self.dtype, self.ignored = inner.n_rows, inner.dtype, inner.ignored
        self.columns = tuple(
            replace(
                c,
                kind="ordinal",
                levels=tuple(str(int(v)) for v in levels[j]),
                reason=f"{len(levels[j])} whole numbers{_beside(c)}",
            )
            if j in levels
            else c
            for j, c in enumerate(inner.columns)
        )

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's pieces, recoded."""
        for rows, weights in self.inner.pieces(start, stop):
            out = rows.copy()
            for j, values in self.levels.items():
                codes = np.searchsorted(values, rows[:, j]).astype(rows.dtype)
                out[:, j] = np.where(np.isnan(rows[:, j]), np.nan, codes)
            yield out, weights

    def part(self, first: int, last: int) -> Source:
        """The same of the inner source's part."""
        return Ranked(self.inner.part(first, last), self.levels)
