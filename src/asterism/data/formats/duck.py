"""DuckDB: a table, a view or a query of a database file, which is opened for reading only (extra ``sql``).

Queries run on one thread, so that rows come in the same order each time, and cannot reach other files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asterism.data.columns import unique_names
from asterism.data.database import query_of, refused_query
from asterism.data.files import Head, file_errors, first_line, require_unchanged, state_of
from asterism.data.formats.base import Format
from asterism.data.options import ReadOptions
from asterism.data.table import BATCH_ROWS, Batch, Table
from asterism.errors import FileError, ParameterError

WHAT = "a DuckDB database"
SAFE: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "enable_external_access": False,
    "autoload_known_extensions": False,
}
NAMES = "select table_name from information_schema.tables where table_schema = 'main' order by table_name"


class DuckTable(Table):
    """Rows of a query, typed as the database has them."""

    slow = True

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path.absolute()
        self.state = state_of(self.path)
        with self._connected() as database:
            self.tables = [name for (name,) in database.execute(NAMES).fetchall()]
        self.query, self.title = query_of(options.sql, self.tables, path.name)
        self.declared = {}
        with self._reader() as reader:
            names = unique_names(reader.schema.names)
            self.types = dict(zip(names, reader.schema.types, strict=True))

    def batches(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """Rows ``start:stop``; those before are passed over."""
        require_unchanged(self.path, self.state)
        places = {name: place for place, name in enumerate(self.types)}
        row = 0
        with self._reader() as reader:
            for batch in reader:
                a = max(start - row, 0)
                b = batch.num_rows if stop is None else min(stop - row, batch.num_rows)
                row += batch.num_rows
                if a < b:
                    yield {name: batch.column(places[name]).slice(a, b - a) for name in names}
                if stop is not None and row >= stop:
                    break

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        import duckdb

        with self._connected() as database:
            try:
                found = database.sql(self.query)
                if found is None:
                    raise ParameterError(
                        f"The query {self.query[:80]!r} gives no rows.", "Give one that selects some."
                    )
                known = hasattr(found, "to_arrow_reader")  # earlier versions call it otherwise
                yield (found.to_arrow_reader if known else found.fetch_arrow_reader)(BATCH_ROWS)
            except duckdb.Error as bad:
                raise refused_query(self.query, bad, self.tables) from bad

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        try:
            import duckdb
        except ImportError:
            raise ParameterError(
                f"{self.path.name!r} is {WHAT}, and duckdb, which reads it, is not installed.",
                "Install it: pip install 'asterism[sql]'; or export the table as Parquet.",
            ) from None
        with file_errors(self.path, WHAT):
            try:
                database = duckdb.connect(str(self.path), read_only=True, config=SAFE)
            except duckdb.Error as bad:
                raise FileError(
                    f"{self.path.name!r} cannot be opened: {first_line(bad)}",
                    "Close other programs that use it; or export the table as Parquet.",
                ) from bad
        with database:
            yield database


def _is_duck(head: Head) -> bool:
    return head.start[8:12] == b"DUCK"


FORMAT = Format(
    name="DuckDB",
    what=WHAT,
    endings=(".duckdb", ".ddb"),
    claims=_is_duck,
    opened=DuckTable,
    takes=frozenset({"sql"}),
)
