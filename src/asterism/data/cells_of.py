"""The cells of one column of a table, which takes no part in the groups."""

from __future__ import annotations

from typing import Any

from asterism.data.cells import plain, spelled
from asterism.data.columns import require_known
from asterism.data.like import _named, _table_of
from asterism.data.source import Source


def cells_of(table: Any, name: str, purpose: str) -> list[str | None]:
    """One a row, as text; None where it is missing. ``purpose``: what the column was given for, in errors.

    >>> import pyarrow
    >>> cells_of(pyarrow.table({"group": ["a", None, "b"]}), "group", "known")
    ['a', None, 'b']
    """
    opened = _table_of(table) if isinstance(table, Source) else _named(table)
    require_known([name], list(opened.types), purpose)
    return [spelled(cell) for batch in opened.batches([name]) for cell in plain(batch[name]).to_pylist()]
