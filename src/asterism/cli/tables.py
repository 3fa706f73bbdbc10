"""The table a command was given: what it is called, and where it can be read again and again."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STDIN = "-"
PARQUET_MARK = b"PAR1"  # the first bytes of every Parquet file


def table_name(table: str) -> str:
    """What results of a table are named after: its file's name without ending, or its folder's for a glob.

    >>> table_name("data/penguins.csv"), table_name("sales/*.parquet"), table_name("-"), table_name("*.csv")
    ('penguins', 'sales', 'stdin', 'table')
    """
    if table == STDIN:
        return "stdin"
    parts = [part for part in Path(table).parts if not set(part) & set("*?[")]
    if len(parts) < len(Path(table).parts):  # a glob: the innermost folder that is surely named
        return Path(parts[-1]).name or "table" if parts else "table"
    return Path(Path(table).resolve().name.removesuffix(".gz")).stem or "table"


@contextmanager
def readable(table: str) -> Iterator[str]:
    """A path to the table. Stdin is laid down in a temporary file: methods read their rows many times."""
    if table != STDIN:
        yield table
        return
    stdin = sys.stdin.buffer
    head = stdin.read(len(PARQUET_MARK))
    ending = ".parquet" if head == PARQUET_MARK else ".csv"
    with tempfile.TemporaryDirectory(prefix="asterism-") as folder:
        path = Path(folder) / f"stdin{ending}"
        with path.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(stdin, file)
        yield str(path)
