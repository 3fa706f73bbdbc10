"""A finding in three lines, for those who print one."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

WIDTH = 110  # characters of a line
SHOWN = 12  # sizes of groups in a line


def three_lines(verdict: str, sizes: Sequence[int], rows: int) -> str:
    """The verdict, the sizes of the groups, and where more is to be had.

    >>> print(three_lines("2 groups (confidence 90%). They are far apart.", [60, 38], 100))
    2 groups (confidence 90%). They are far apart.
    rows of each: 60, 38; 100 rows, of which 2 are in no group
    more: .verdict, .profiles, .to_frame(), .report("report.html"), .save("groups.asterism")
    """
    of_each = ", ".join(f"{size:,}" for size in sizes[:SHOWN]) + (", ..." if len(sizes) > SHOWN else "")
    none = rows - sum(sizes)
    beside = f", of which {none:,} are in no group" if none else ""
    return "\n".join(
        [
            textwrap.shorten(verdict, WIDTH, placeholder=" ..."),
            f"rows of each: {of_each}; {rows:,} rows{beside}",
            'more: .verdict, .profiles, .to_frame(), .report("report.html"), .save("groups.asterism")',
        ]
    )
