"""SQLite: a table, a view or a query of a database file, which is opened for reading only. (Python's own library.)"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from asterism.data.columns import unique_names
from asterism.data.database import query_of, refused_query
from asterism.data.files import Head, file_errors, require_unchanged, state_of
from asterism.data.formats.base import Format
from asterism.data.objects import OBJECT_ROWS, ObjectTable
from asterism.data.options import ReadOptions

WHAT = "an SQLite database"
DAMAGED = ("malformed", "not a database", "disk I/O")  # how SQLite's errors call a file that is not whole
NAMES = "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%' order by name"


class SqliteTable(ObjectTable):
    """Rows of a query, in the order in which the database gives them."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path.absolute()
        self.state = state_of(self.path)
        with file_errors(self.path, WHAT), self._connected() as database:
            tables = [name for (name,) in database.execute(NAMES)]
        self.query, self.title = query_of(options.sql, tables, path.name)
        self.tables = tables
        self.look()

    def columns(self) -> Iterator[Mapping[str, list[Any]]]:
        """Some thousand rows at a time."""
        require_unchanged(self.path, self.state)
        with file_errors(self.path, WHAT), self._connected() as database:
            try:
                cursor = database.execute(self.query)
                names = unique_names([column[0] for column in cursor.description or ()])
                rows = cursor.fetchmany(OBJECT_ROWS)
                yield {
                    name: [row[j] for row in rows] for j, name in enumerate(names)
                }  # the names, if there are no rows
                while rows := cursor.fetchmany(OBJECT_ROWS):
                    yield {name: [row[j] for row in rows] for j, name in enumerate(names)}
            except (sqlite3.Error, sqlite3.Warning) as bad:
                if any(word in str(bad) for word in DAMAGED):
                    raise
                raise refused_query(self.query, bad, self.tables) from bad

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True)) as database:
                database.text_factory = lambda text: text.decode("utf-8", "replace")
                database.execute("pragma query_only = on")
                database.set_authorizer(_only_this_file)
                yield database
        except sqlite3.DatabaseError as bad:
            raise ValueError(str(bad)) from bad  # for file_errors


def _only_this_file(action: int, *_: Any) -> int:
    return (
        sqlite3.SQLITE_DENY if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH) else sqlite3.SQLITE_OK
    )


def _is_sqlite(head: Head) -> bool:
    return head.start.startswith(b"SQLite format 3\0")


FORMAT = Format(
    name="SQLite",
    what=WHAT,
    endings=(".sqlite", ".sqlite3", ".db"),
    claims=_is_sqlite,
    opened=SqliteTable,
    takes=frozenset({"sql"}),
)
