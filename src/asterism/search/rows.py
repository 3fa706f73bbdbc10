"""What of a table can be used: rows with all their cells, numbers of groups that it has rows for."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.data.complete import CompleteRows
from asterism.data.finite import missing_cell
from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.errors import DataError, ParameterError, TooFewRowsError
from asterism.stats.moments import ColumnMoments
from asterism.verdict.numbers import numbers_from

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


def numbers_to_try(k: str | int | Iterable[int] | None, encoded: Source) -> list[int]:
    """The numbers of groups to try, none of them more than there are distinct rows."""
    k = numbers_from(k) if isinstance(k, str) else k
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
