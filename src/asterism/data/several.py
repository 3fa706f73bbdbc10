"""Several files of the same columns, one after the other, as one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from asterism.data.objects import as_type, joined_type
from asterism.data.table import Batch, Table, batch_rows
from asterism.errors import DataError


class SeveralTables(Table):
    """Rows of tables that have the same columns, in any order."""

    def __init__(self, tables: Sequence[Table], what: str) -> None:
        self.tables = list(tables)
        self.title = f"{len(tables)} {what} files"
        self.untyped, self.slow = tables[0].untyped, any(table.slow for table in tables)
        join = joined_type if self.untyped else None
        self.types = common_types([table.types for table in tables], [table.title for table in tables], join)
        self.declared = {}
        self._rows: dict[int, int] = {}  # rows of the tables that were read to their end

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]  # known when the tables have been read
        """Those of all tables, each with the name of its file."""
        found = [(table.title, note) for table in self.tables for note in table.notes]
        return tuple(note if title in note else f"{title}: {note}" for title, note in found)

    def batches(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """Those of the tables, whose rows are counted as they are read."""
        first = 0  # row at which the table begins
        for number, table in enumerate(self.tables):
            known = self._rows.get(number)
            if known is not None and first + known <= start:
                first += known
                continue
            end = None if stop is None else stop - first
            row = 0
            for batch in table.batches(names, 0, end):
                size = batch_rows(batch)
                a = min(max(start - first - row, 0), size)
                row += size
                if a < size:
                    yield {name: as_type(batch[name].slice(a), self.types[name]) for name in names}
            if end is None or row < end:
                self._rows[number] = row
            first += row
            if stop is not None and first >= stop:
                break

    def place(self, row: int) -> str:
        """The place within its own file."""
        for number, table in enumerate(self.tables):
            rows = self._rows.get(number)
            if rows is None or row < rows:
                return f"{table.place(row)} of {table.title}"
            row -= rows
        return super().place(row)


def common_types(
    files: Sequence[Mapping[str, Any]], titles: Sequence[str], join: Callable[[Any, Any], Any] | None = None
) -> dict[str, Any]:
    """The types that all files agree on; a column without a single value may have any."""
    types = dict(files[0])
    for own, title in zip(files[1:], titles[1:], strict=True):
        for name in sorted(types.keys() ^ own.keys()):
            missing, there = (title, titles[0]) if name in types else (titles[0], title)
            raise DataError(
                f"{missing} has no such column, {there} has.",
                "Files that are read together need the same columns.",
                column=name,
            )
        for name, kind in own.items():
            if pa.types.is_null(types[name]):
                types[name] = kind
            elif types[name] != kind and not pa.types.is_null(kind):
                if join is None:
                    raise DataError(
                        f"{title} holds {kind}, {titles[0]} holds {types[name]}.",
                        "Files that are read together need the same types; write one of them again.",
                        column=name,
                    )
                types[name] = join(types[name], kind)
    return types
