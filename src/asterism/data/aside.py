"""What of a table takes no part, in one sentence: it belongs at the top of every result."""

from __future__ import annotations

from collections.abc import Sequence

from asterism.data.columns import Column

# The beginning of a reason -> one column, several columns.
CAUSES = (
    ("free text", "looks like free text", "look like free text"),
    ("an identifier", "looks like an identifier", "look like identifiers"),
    ("e-mail addresses", "holds e-mail addresses", "hold e-mail addresses"),
    ("web addresses", "holds web addresses", "hold web addresses"),
    ("UUIDs", "holds UUIDs", "hold UUIDs"),
    ("phone numbers", "holds phone numbers", "hold phone numbers"),
    ("codes", "holds codes", "hold codes"),
    ("names", "holds names that hardly come again", "hold names that hardly come again"),
    ("consecutive numbers", "numbers the rows", "number the rows"),
    ("every cell is missing", "is empty", "are empty"),
    ("every cell is", "has one value only", "have one value only"),
    ("numbers in units", "has units that do not go together", "have units that do not go together"),
    ("amounts", "has amounts in several currencies", "have amounts in several currencies"),
    ("repeats", "repeats another", "repeat others"),
    ("follows from", "follows from others", "follow from others"),
)
ASKED = (
    "noise",
    "left out as asked",
    "used as row weights",
    "not among the columns asked for",
    "not a column of the model",
)


def headline(used: Sequence[Column], ignored: Sequence[Column]) -> str:
    """How many columns are used, and what the others look like; empty where only the user's own wishes set any aside.

    >>> note = Column("note", "ignored", reason="free text: every row has its own")
    >>> headline([Column("age")], [note, Column("x", "ignored", reason="odd")])
    'Used 1 of 3 columns; 1 looks like free text, 1 cannot be used.'
    """
    others = [column for column in ignored if not column.reason.startswith(ASKED)]
    if not others:
        return ""
    taken = len({source for column in used for source in column.sources})
    counts: dict[tuple[str, str], int] = {}
    for column in others:
        cause = next((cause for cause in CAUSES if column.reason.startswith(cause[0])), None)
        said = ("cannot be used", "cannot be used") if cause is None else cause[1:]
        counts[said] = counts.get(said, 0) + 1
    parts = [
        f"{count} {said[count > 1]}" for said, count in sorted(counts.items(), key=lambda item: -item[1])
    ]
    return f"Used {taken} of {taken + len(others)} columns; {', '.join(parts)}."
