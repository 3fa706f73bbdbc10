"""A new table read like an old one: columns matched by name, names of levels to the old codes.

A model knows the columns it was made of. Whatever else a new table has is passed over; what it lacks is a missing
cell, and so is a level nobody had seen; both are told (``Match``), never silent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import pyarrow.compute as pc

from asterism.data.block import Matrix
from asterism.data.cells import plain, spelled
from asterism.data.columns import NUMBERS, WITH_LEVELS, Column
from asterism.data.frames import array_table
from asterism.data.memory import memory_to_keep
from asterism.data.opening import opened
from asterism.data.source import ArraySource, Piece, Source, in_memory, places_in
from asterism.data.table import Batch, Table, TableSource, batch_rows, cells_of, sources_of
from asterism.errors import DataError, ParameterError

SHOWN = 5  # names in a message


@dataclass(frozen=True)
class Match:
    """How a new table fits the columns of an old one."""

    absent: tuple[str, ...]  # columns the new table lacks: all their cells are missing
    extra: tuple[str, ...]  # columns of the new table that are not used
    unseen: dict[
        str, tuple[int, tuple[str, ...]]
    ]  # column -> cells with a new level, and some of these levels

    def notes(self) -> list[str]:
        """What a user should know, in sentences."""
        said = []
        if self.absent:
            said.append(f"The table has no column {_some(self.absent)}: every cell there counts as missing.")
        for name, (cells, levels) in self.unseen.items():
            many, one = "s" * (cells != 1), "s" * (cells == 1)
            said.append(
                f"{cells:,} cell{many} of {name!r} hold{one} a level that the model has never seen "
                f"({_some(levels)}) and count{one} as missing."
            )
        if self.extra:
            said.append(f"Not used: {_some(self.extra)}.")
        return said


def read_like(
    table: Any, columns: Sequence[Column], *, absent: str = "refuse", memory: int | None = None
) -> tuple[Source, Match]:
    """A table with the columns of another one, in their order and with their codes.

    ``absent``  what to do about columns it lacks: "refuse", or "missing" (their cells are)

    >>> import pyarrow
    >>> old = (Column("kg"), Column("says", "categorical", ("meow", "woof")))
    >>> new = pyarrow.table({"says": ["woof", "moo"], "kg": [30.0, 500.0], "legs": [4, 4]})
    >>> source, match = read_like(new, old)
    >>> next(source.blocks()).rows.tolist(), match.unseen, match.extra
    ([[30.0, 1.0], [500.0, nan]], {'says': (1, ('moo',))}, ('legs',))
    """
    if absent not in ("refuse", "missing"):
        raise ParameterError(f"missing_columns is {absent!r}.", "Give 'refuse' or 'missing'.")
    if isinstance(table, Source):
        if table.columns == tuple(columns):
            return table, Match((), tuple(c.name for c in table.ignored), {})
        table = _table_of(table)
    found = _named(table)
    with places_in(found):
        source = LikeSource(_renamed(found, columns), tuple(columns), absent)
        keep = memory_to_keep() if memory is None else memory
        return in_memory(source, keep) if found.slow else source, source.match


# --- the source -------------------------------------------------------------------------------------------------


class LikeSource(TableSource):
    """Rows of a table under the columns of another. One pass at the start counts rows and new levels."""

    def __init__(self, table: Table, columns: tuple[Column, ...], absent: str) -> None:
        there = [column for column in columns if set(column.sources) <= table.types.keys()]
        wanted = sources_of(columns)
        gone = tuple(name for name in wanted if name not in table.types)
        if gone and (absent == "refuse" or not there):
            raise _lacks(table, gone)
        extra = tuple(name for name in table.types if name not in wanted)
        n_rows, unseen = _looked(table, there)
        if n_rows == 0:
            raise DataError(f"{table.title} has no rows.", "A table needs at least one row.")
        self.match = Match(gone, extra, unseen)
        self.there = tuple(sources_of(there))
        super().__init__(table, tuple(there), n_rows)
        self.columns = columns
        self._lookups = {name: _Lenient(codes) for name, codes in self._lookups.items()}

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """One piece a batch of the table."""
        row = start
        for batch in self.table.batches(self.there, start, stop) if start < stop else ():
            yield self._rows(batch, row), None
            row += batch_rows(batch)

    def _rows(self, batch: Batch, row: int) -> Matrix:
        out = np.full((batch_rows(batch), self.n_columns), np.nan, self.dtype)
        for j, column in enumerate(self.columns):
            if not set(column.sources) <= batch.keys():
                continue
            cells = cells_of(column, batch, row, self._lookups.get(column.name, {}))
            out[:, j] = np.where(cells == _UNSEEN, np.nan, cells) if column.kind in WITH_LEVELS else cells
        return out


_UNSEEN = 1 << 40  # no column has so many levels


class _Lenient(dict[str, int]):
    """Codes of levels, and one for all that are new."""

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ARG002  an unknown level has a code
        return super().get(key, _UNSEEN)


def _looked(table: Table, columns: Sequence[Column]) -> tuple[int, dict[str, tuple[int, tuple[str, ...]]]]:
    """Rows, and for columns with levels how many cells hold new ones, and which."""
    unseen: dict[str, tuple[int, tuple[str, ...]]] = {}
    known = {column.name: set(column.levels) for column in columns if column.kind in WITH_LEVELS}
    row = 0
    for batch in table.batches(sources_of(columns)):
        for column in columns:
            if column.name not in known:
                continue
            name, levels = column.name, known[column.name]
            cells = batch[name] if column.reading is None else column.reading.cells(batch, name, row)
            new = {level: count for level, count in _levels_of(cells).items() if level not in levels}
            if new:
                cells, some = unseen.get(name, (0, ()))
                some = tuple(dict.fromkeys((*some, *new)))[: SHOWN + 1]
                unseen[name] = cells + sum(new.values()), some
        row += batch_rows(batch)
    return row, unseen


def _levels_of(cells: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for item in pc.value_counts(plain(cells)).to_pylist():
        name = spelled(item["values"])
        if name is not None:
            counts[name] = counts.get(name, 0) + item["counts"]
    return counts


def _lacks(table: Table, gone: tuple[str, ...]) -> DataError:
    close = get_close_matches(gone[0], list(table.types), 3) or list(table.types)[:8]
    return DataError(
        f"{table.title} has no column {_some(gone)}, which the model was made of. Columns close to the first: "
        f"{', '.join(map(repr, close))}.",
        "Rename the column, or take its cells as missing: missing_columns='missing' "
        "(--missing-columns missing on the command line).",
    )


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names[:SHOWN])) + (" and others" if len(names) > SHOWN else "")


# --- opening ----------------------------------------------------------------------------------------------------


def _named(table: Any) -> Table:
    """The table; the columns of a bare array are x0, x1, ..."""
    found = opened(table)
    if found is not None:
        return found
    array = np.asarray(table)
    if array.dtype.kind not in "OUS":
        ArraySource(array)  # what it refuses, we refuse
    return array_table(array)


def _table_of(source: Source) -> Table:
    """A source of other columns as a table again, so that its levels get their names back."""
    if isinstance(source, TableSource):
        return source.table
    if isinstance(source, ArraySource) and all(column.kind in NUMBERS for column in source.columns):
        table = array_table(source.array)
        names = dict(zip(table.types, source.names, strict=True))
        return _with_names(table, names)
    raise ParameterError(
        "The table is a Source whose columns are not those of the model.",
        "Give the file, frame or array itself: its columns are then matched by name.",
    )


def _renamed(table: Table, columns: Sequence[Column]) -> Table:
    """An array has no names: its columns are taken for the model's, where there are as many."""
    bare = getattr(table, "title", "") == "the array" and list(table.types) == [
        f"x{j}" for j in range(len(table.types))
    ]
    names = sources_of(columns)
    if not bare or list(table.types) == names:
        return table
    if len(table.types) != len(names):
        raise DataError(
            f"The array has {len(table.types)} columns without names; the model was made of {len(names)}.",
            f"Give {len(names)} columns, or a table with names.",
        )
    return _with_names(table, dict(zip(table.types, names, strict=True)))


def _with_names(table: Any, names: dict[str, str]) -> Table:
    from asterism.data.frames import MemoryTable

    return MemoryTable({names[old]: column for old, column in table.columns.items()}, table.title)
