"""What of a table can be used: rows with all their cells, numbers of groups that it has rows for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.data.columns import Column
from asterism.data.complete import CompleteRows
from asterism.data.finite import missing_cell
from asterism.data.source import Piece, Source
from asterism.engines.reduce import reduce
from asterism.errors import DataError, ParameterError, TooFewRowsError
from asterism.stats.moments import ColumnMoments

USUAL_K = range(1, 11)


def rows_to_use(source: Source, missing: str) -> tuple[Source, list[int]]:
    """The rows that take part, and the missing cells of each column."""
    moments = reduce(source, ColumnMoments.of)
    holes: list[int] = (moments.rows - moments.observed).tolist()
    if not moments.missing or missing == "keep":
        return source, holes
    if missing == "refuse":
        raise _first_missing(source)
    complete = CompleteRows(source)
    if reduce(complete, ColumnMoments.of).total == 0:
        name = source.names[int(np.argmax(holes))]
        raise DataError(
            f"Every row has a missing cell, most of them in {name!r}, so that none is left.",
            'Ignore the columns that are mostly missing, or keep the rows (missing="keep").',
        )
    return complete, holes


def _first_missing(source: Source) -> DataError:
    for block in source.blocks():
        holes = np.isnan(block.rows) & (block.weights > 0)[:, None]
        if holes.any():
            row, column = divmod(int(holes.argmax()), source.n_columns)
            return missing_cell(source.names, block.start + row, column)
    raise AssertionError("no cell is missing")


def numbers_to_try(k: int | Iterable[int] | None, encoded: Source) -> list[int]:
    """The numbers of groups to try, none of them more than there are distinct rows."""
    if k is None:
        # A group for every row is no grouping, whatever a criterion says of it.
        most = min(_distinct_rows(encoded, USUAL_K.stop), encoded.n_rows - 1)
        return [number for number in USUAL_K if number <= most] or [1]
    given = list(k) if isinstance(k, Iterable) else [k]
    whole = all(isinstance(number, int | np.integer) and not isinstance(number, bool) for number in given)
    if not given or not whole or min(given) < 1:
        raise ParameterError(f"k is {k!r}.", "Give a whole number, 1 or more, or several to choose from.")
    numbers = sorted({int(number) for number in given})
    there = _distinct_rows(encoded, numbers[-1])
    if there < numbers[-1]:
        raise TooFewRowsError(
            f"{numbers[-1]} groups were asked for, but the table has {there} distinct rows that count.",
            f"Ask for {there} or fewer.",
        )
    return numbers


def _distinct_rows(source: Source, enough: int) -> int:
    """The number of distinct rows of weight > 0, counted no further than ``enough``."""
    seen: set[bytes] = set()
    for block in source.blocks():
        rows = block.rows[block.weights > 0] + 0.0  # -0.0 becomes 0.0: equal rows, equal bytes
        for first in range(0, len(rows), 4096):
            seen.update(map(bytes, rows[first : first + 4096]))
            if len(seen) >= enough:
                return enough
    return len(seen)


def holes_of(block: Block) -> NDArray[np.bool_]:
    """(n,) whether a row lacks a cell."""
    return np.asarray(np.isnan(block.rows).any(axis=1))


# --- few whole numbers ------------------------------------------------------------------------------------------


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
    found: dict[int, NDArray[np.float64] | None] = {
        j: np.zeros(0)
        for j, column in enumerate(source.columns)
        if column.kind == "numeric" and column.reason and column.name not in told
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


FEW = 7  # whole numbers that are rather levels than measurements


class Ranked(Source):
    """A source in which some columns of numbers are codes of ordered levels."""

    def __init__(self, inner: Source, levels: dict[int, NDArray[np.float64]]) -> None:
        self.inner, self.levels = inner, levels
        self.n_rows, self.dtype, self.ignored = inner.n_rows, inner.dtype, inner.ignored
        self.columns = tuple(
            Column(
                c.name, "ordinal", tuple(str(int(v)) for v in levels[j]), f"{len(levels[j])} whole numbers"
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
