"""What a column is: its name, its kind, and its levels.

A kind is one of

* ``numeric``      numbers, where differences mean something
* ``categorical``  names without an order; cells are codes 0..L-1 into ``levels``
* ``ordinal``      names with an order; cells are codes 0..L-1 into ``levels``, lowest first
* ``boolean``      two names; cells are 0 and 1
* ``count``        whole numbers from 0 on: visits, children, faults
* ``ignored``      not used (an identifier, free text, a constant), and ``reason`` says why
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Literal, cast

from asterism.data.reading import Reading
from asterism.errors import ParameterError

Kind = Literal["numeric", "categorical", "ordinal", "boolean", "count", "ignored"]
KINDS: tuple[Kind, ...] = ("numeric", "categorical", "ordinal", "boolean", "count", "ignored")
WITH_LEVELS: tuple[Kind, ...] = ("categorical", "ordinal", "boolean")
NUMBERS: tuple[Kind, ...] = ("numeric", "count")  # cells are numbers, not codes of levels

OPTIONS: dict[str, tuple[str, ...]] = {  # what may stand after a kind, beside levels
    "date": ("day-first", "month-first", "year-first", "trend", "hour", "weekday", "month"),
    "numeric": ("decimal-comma", "decimal-point"),
    "count": ("decimal-comma", "decimal-point"),
}
ASKED = (*KINDS, "date")  # kinds that a user may ask for: dates become columns of other kinds


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    kind: Kind = "numeric"
    levels: tuple[str, ...] = ()  # names of the codes, for the kinds of WITH_LEVELS
    reason: str = ""  # why this kind was inferred or why the column is ignored
    reading: Reading | None = None  # how cells of the table become its cells; None: they are that already

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns of the table that it is read from."""
        return (self.reading.sources if self.reading is not None else ()) or (self.name,)

    def to_dict(self) -> dict[str, Any]:
        """Its name, kind, levels and reason."""
        return {"name": self.name, "kind": self.kind, "levels": self.levels, "reason": self.reason}

    def text(self, value: float) -> str | None:
        """A number of the column in the user's own units, where those are no number (a date); else None."""
        return None if self.reading is None or self.levels else self.reading.text(value)


@lru_cache(maxsize=8)  # every fit of a bare array asks for them
def numbered_columns(d: int) -> tuple[Column, ...]:
    """Names for the columns of a bare array, in scikit-learn's manner: x0, x1, ..."""
    return tuple(Column(f"x{j}") for j in range(d))


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user says a column is."""

    kind: Kind | Literal["date"]
    levels: tuple[str, ...] = ()  # none: those found in the table
    known: bool = False  # the column was read before: an unremarkable column stays as it is
    options: tuple[str, ...] = ()  # those of OPTIONS


def wishes(kinds: Mapping[str, Any] | Sequence[Column] | None) -> dict[str, Wish]:
    """What the user says of each column, checked.

    >>> wishes({"size": "ordinal:S,M,L", "note": "ignored"})["size"].levels
    ('S', 'M', 'L')
    """
    if kinds is None:
        return {}
    if isinstance(kinds, Mapping):
        return {str(name): _wish(str(name), value) for name, value in kinds.items()}
    if isinstance(kinds, Sequence) and all(isinstance(column, Column) for column in kinds):
        return {column.name: _wish(column.name, column) for column in kinds}
    raise ParameterError(
        f"kinds is {kinds!r}.", "Give a dict such as {'age': 'numeric', 'size': 'ordinal:S,M,L'}."
    )


def _wish(name: str, value: Any) -> Wish:
    if isinstance(value, Column):
        return Wish(value.kind, value.levels, known=True)
    levels: tuple[str, ...] = ()
    if isinstance(value, tuple | list) and len(value) == 2:
        kind, levels = value[0], tuple(str(level) for level in value[1])
    else:
        kind, _, rest = str(value).partition(":")
        levels = tuple(level.strip() for level in rest.split(",")) if rest else ()
    if kind not in ASKED:
        close = get_close_matches(str(kind), ASKED, 1)
        meant = f"Did you mean {close[0]!r}? " if close else ""
        raise ParameterError(
            f"The kind of column {name!r} is {value!r}.", f"{meant}Kinds are {', '.join(ASKED)}."
        )
    if levels and set(levels) <= set(OPTIONS.get(kind, ())):
        return Wish(cast(Kind, kind), options=levels)
    if len(set(levels)) < len(levels) or "" in levels:
        raise ParameterError(
            f"The levels of column {name!r} are {', '.join(map(repr, levels))}.", "Name each level once."
        )
    if levels and kind not in WITH_LEVELS:
        raise ParameterError(
            f"Column {name!r} is {kind} and has levels.",
            f"Only the other kinds have levels. {_may_have(kind)}".rstrip(),
        )
    return Wish(cast(Kind, kind), levels)


def _may_have(kind: str) -> str:
    options = OPTIONS.get(kind, ())
    return f"What may stand there is {', '.join(options)}." if options else ""


def require_known(names: Sequence[str], known: Sequence[str], what: str) -> None:
    """A ``ParameterError`` for the first name that the table does not have, with names close to it."""
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, 3) or list(known[:8])
            dots = ", ..." if len(close) == 8 < len(known) else ""
            raise ParameterError(
                f"{what} names the column {name!r}, which the table does not have.",
                f"Close to it: {', '.join(map(repr, close))}{dots}.",
            )


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names as they are, but one each: an empty one becomes its place, a repeated one is numbered.

    >>> unique_names(["", "x", "x", "x_2"])
    ('column_1', 'x', 'x_3', 'x_2')
    """
    taken, seen, out = {name for name in names if name}, set(), []
    for place, name in enumerate(names, start=1):
        new, number = name or f"column_{place}", 1
        while new in seen or (number > 1 and new in taken) or (not name and new in taken):
            number += 1
            new = f"{name or f'column_{place}'}_{number}"
        seen.add(new)
        out.append(new)
    return tuple(out)
