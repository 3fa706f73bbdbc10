"""What ``labels.csv`` holds: the group of every row, how sure, and the row itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asterism.cli.messages import say
from asterism.cli.output import text_column, with_column
from asterism.explain.labelled import NAME, free_name

if TYPE_CHECKING:
    from asterism.finding import Finding

MOST_CELLS = 10_000_000  # convention: a longer table is not written a second time
IDENTIFIERS = ("an identifier", "consecutive numbers")  # how reasons of columns that name rows begin


def labels_frame(finding: Finding, table: Any, name: str | None, *, quiet: bool = False) -> Any:
    """Labels, names of groups, columns that name the rows, and the columns that were used.

    ``name``  of a column to stand before all others
    """
    cells = len(finding.labels) * len(finding.columns)
    whole = cells <= MOST_CELLS
    frame = finding.to_frame(columns=whole)
    if whole:
        place = frame.column_names.index(NAME) + 1
        for column in reversed([c for c in finding.ignored if c.reason.startswith(IDENTIFIERS)]):
            frame = frame.add_column(
                place, free_name(column.name, frame.column_names), text_column(table, column.name)
            )
    if not whole and not quiet:
        say(
            f"The table has {cells:,} cells: labels.csv holds no columns of it. Join them by row, or give --id."
        )
    return frame if name is None else with_column(frame, table, name)
