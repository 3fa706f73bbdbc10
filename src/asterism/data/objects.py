"""Tables whose cells are Python objects, of no common type until all were seen: JSON, spreadsheets, SQLite.

A look at all rows gives every column the narrowest Arrow type that holds its cells: numbers, truth values, dates,
lists of numbers; text where they differ. Small tables are kept from that look, larger ones read again.
"""

from __future__ import annotations

import datetime
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from asterism.data.cells import is_number, is_text, spelled
from asterism.data.table import Batch, Table, batch_rows
from asterism.errors import DataError

KEPT_BYTES = 64 << 20  # convention: Arrow cells of a table that is not read again
OBJECT_ROWS = 1 << 13  # rows that are Python objects at a time
MOST_COLUMNS = 20_000  # convention: more are keys that differ from record to record


class ObjectTable(Table):
    """A table that comes as rows of Python objects, in order, as often as asked."""

    untyped = slow = True

    @abstractmethod
    def columns(self) -> Iterator[Mapping[str, list[Any]]]:
        """All rows in pieces of about OBJECT_ROWS; a column that a piece lacks is missing there."""

    def look(self) -> None:
        """Find the columns and their types; keep the cells if they are few. Call it at the end of the constructor."""
        self.types, self.declared = {}, {}
        kept: list[tuple[int, dict[str, Any]]] | None = []
        size = 0
        for piece in self.columns():
            cells = {name: as_cells(column) for name, column in piece.items()}
            for name, array in cells.items():
                self.types[name] = joined_type(self.types.get(name, pa.null()), array.type)
            if len(self.types) > MOST_COLUMNS:
                raise DataError(f"{self.title} has more than {MOST_COLUMNS:,} columns.", "Name fewer things.")
            size += sum(array.nbytes for array in cells.values())
            kept = None if kept is None or size > KEPT_BYTES else [*kept, (batch_rows(cells), cells)]
        self._kept = kept

    def batches(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """Cells of the types that all rows agreed on."""
        row = 0
        for size, cells in self._pieces(names):
            a = min(max(start - row, 0), size)
            b = size if stop is None else min(stop - row, size)
            row += size
            if a < b:
                yield {name: self._of(cells, name, size).slice(a, b - a) for name in names}
            if stop is not None and row >= stop:
                break

    def _pieces(self, names: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        if self._kept is not None:
            yield from self._kept
            return
        for piece in self.columns():
            yield batch_rows(piece), {name: as_cells(piece[name]) for name in names if name in piece}

    def _of(self, cells: Mapping[str, Any], name: str, size: int) -> Any:
        kind = self.types[name]
        found = cells.get(name)
        cell = pa.nulls(size, kind) if found is None else as_type(found, kind)
        return without_missing(cell) if is_text(kind) else cell


def as_cells(column: list[Any]) -> Any:
    """Python objects as an Arrow array: of one type if they have one, else of text.

    >>> as_cells([1, 2.5, None]).type, as_cells([1, "a"]).to_pylist(), as_cells([[1, 2], [3, 4]]).type
    (DataType(double), ['1', 'a'], FixedSizeListType(fixed_size_list<item: double>[2]))
    """
    if any(isinstance(cell, datetime.datetime) for cell in column):
        column = [_midnight(cell) for cell in column]
    try:
        array = pa.array(column)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return pa.array([spelled(cell) for cell in column], pa.string())
    return _vectors(array) if pa.types.is_list(array.type) else array


def _midnight(cell: Any) -> Any:
    """A date among moments is its first."""
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return datetime.datetime(cell.year, cell.month, cell.day)
    return cell


def _vectors(array: Any) -> Any:
    """Lists of numbers that are all of one length as vectors; others as they are."""
    lengths = pc.unique(pc.drop_null(pc.list_value_length(array)))
    if not is_number(array.type.value_type) or len(lengths) != 1 or not lengths[0].as_py():
        return array
    return array.cast(pa.list_(pa.float64())).cast(pa.list_(pa.float64(), lengths[0].as_py()))


def joined_type(a: Any, b: Any) -> Any:
    """The type of cells of either."""
    if a == b or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    if is_number(a) and is_number(b):
        return pa.float64()
    moments = [pa.types.is_date(kind) or pa.types.is_timestamp(kind) for kind in (a, b)]
    return pa.timestamp("us") if all(moments) else pa.string()


def as_type(cells: Any, kind: Any) -> Any:
    """Cells as cells of a type that ``joined_type`` found for them."""
    if cells.type == kind:
        return cells
    if is_text(kind) and not pa.types.is_null(cells.type):
        return pa.array([spelled(cell) for cell in cells.to_pylist()], pa.string())
    return cells.cast(kind, safe=False)  # whole numbers beyond 2^53 are rounded


def without_missing(text: Any) -> Any:
    """Text without blanks around it; null where it is one of the spellings of a missing cell."""
    from asterism.data.formats.csv import MISSING

    text = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.is_in(text, value_set=pa.array(MISSING)), pa.scalar(None, pa.string()), text)
