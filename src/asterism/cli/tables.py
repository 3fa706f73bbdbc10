"""The table a command was given: what results are named after."""

from __future__ import annotations

from pathlib import Path

STDIN = "-"


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
