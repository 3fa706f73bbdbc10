"""Where a table begins among the lines of a file: below its titles, at the row of names.

Spreadsheets and exports are made for people: a title, an empty line, the names, the rows, "Total" (``totals``).
Only lines that are surely none of the table are passed over, each is said, and the user's ``header`` overrules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from asterism.data.cells import NUMBER

Cells = Sequence[str]

MOST_TITLES = 20  # convention: lines above the names
MOST_SAID = 5  # repeated names in notes


def filled(cells: Cells) -> list[int]:
    """Places of the cells that hold something."""
    return [place for place, cell in enumerate(cells) if cell.strip()]


def usual_width(rows: Sequence[Cells]) -> int:
    """The number of cells that most rows have; of equals, the larger."""
    widths = Counter(map(len, rows))
    return max(widths, key=lambda width: (widths[width], width), default=0)


def header_place(rows: Sequence[Cells], width: int) -> int:
    """The first of these rows that is not a title above the table of this many columns.

    A title has one filled cell, or fewer than half of them, and a row of names or of nothing but numbers follows. A
    row with its first cell alone left empty is a row of names above row numbers.

    >>> header_place([["Sales 2024"], ["city", "price", "m2"], ["Ulm", "3", "4"]], 3)
    1
    """
    for place, row in enumerate(rows[: MOST_TITLES + 1]):
        if not _is_title(row, width):
            bare = _is_numbers(row) and all(len(title) < width for title in rows[:place])
            return place if len(row) == width and (is_names(row) or bare) else 0
    return 0


def _is_title(row: Cells, width: int) -> bool:
    holds = filled(row)
    if len(row) > width or width < 2 or holds == list(range(1, width)):
        return False
    return len(holds) <= 1 or 2 * len(holds) < width


def is_names(row: Cells) -> bool:
    """Whether most filled cells are words; years may be names, other numbers are not."""
    words = [cell for cell in row if cell.strip() and not re.match(NUMBER, cell.strip())]
    years = [cell for cell in row if re.fullmatch(r"\s*(19|20)\d\d\s*", cell)]
    return bool(words) and 2 * len(words) + 2 * len(years) > len(filled(row))


def _is_numbers(row: Cells) -> bool:
    return all(re.match(NUMBER, cell.strip().replace(",", ".")) for cell in row)


def is_data(header: Sequence[str], decimal: str = ".") -> bool:
    """Whether the first line is no line of names: all numbers, and not such as may be names (2007, 2008)."""
    cells = [cell.replace(decimal, ".") for cell in header]
    if not all(re.match(NUMBER, cell) for cell in cells):
        return False
    return len(set(cells)) < len(cells) or not all(cell.isdigit() for cell in cells)


def heading_notes(above: Sequence[str], found: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """What to say of titles that were passed over, and of names that had to be changed to be one each."""
    said = []
    if titles := [title for title in above if title.strip()]:
        more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
        said.append(
            f"Passed over above the names: {titles[0].strip()[:60]!r}{more} (--header for another line of names)."
        )
    twice = [name for name, count in Counter(found).items() if name and count > 1]
    for name in twice[:MOST_SAID]:
        new = [names[j] for j, old in enumerate(found) if old == name]
        said.append(f"{len(new)} columns are called {name!r}; they were named {', '.join(map(repr, new))}.")
    return tuple(said)
