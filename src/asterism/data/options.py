"""How a file is to be read, where the guess is wrong: in the same words everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, TypedDict

from asterism.errors import ParameterError


class ReadKeywords(TypedDict, total=False):
    """``ReadOptions`` as keywords of a call."""

    sheet: str | None
    sql: str | None
    encoding: str | None
    header: int | None
    rename: Mapping[str, str] | None
    keep_totals: bool


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user says of a file.

    ``sheet``        name of a sheet of a spreadsheet
    ``sql``          name of a table of a database, or a query: ``"select * from visits where year > 2020"``
    ``encoding``     of text: "latin-1", "cp1252", "utf-16", or another that Python knows
    ``header``       number of the line (of a spreadsheet, the row) that holds the names; 0: none does
    ``rename``       new names of columns: ``{"old": "new"}``
    ``keep_totals``  keep lines of totals and remarks below the table
    """

    sheet: str | None = None
    sql: str | None = None
    encoding: str | None = None
    header: int | None = None
    rename: Mapping[str, str] | None = None
    keep_totals: bool = False

    @classmethod
    def of(cls, keywords: Mapping[str, Any]) -> ReadOptions:
        """Keywords of a call, checked.

        >>> ReadOptions.of({"sheet": "May"}).given
        ('sheet',)
        """
        known = [field.name for field in fields(cls)]
        for name in keywords:
            if name not in known:
                close = get_close_matches(name, known, 1)
                meant = f"Did you mean {close[0]!r}? " if close else ""
                raise ParameterError(
                    f"There is no option {name!r}.", f"{meant}Options are {', '.join(known)}."
                )
        header = keywords.get("header")
        if header is not None and (isinstance(header, bool) or not isinstance(header, int) or header < 0):
            raise ParameterError(
                f"header is {header!r}.", "Give the number of the line that holds the names; 0 for none."
            )
        return cls(**keywords)

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the options that say something."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return tuple(name for name, value in values.items() if value is not None and value is not False)

    def require_of_use(self, takes: frozenset[str], title: str, what: str) -> None:
        """A ``ParameterError`` for an option that this table has no use for."""
        for name in self.given:
            if name not in takes and name != "rename":
                raise ParameterError(
                    f"{name} says nothing of {title}, which is {what}.",
                    f"Leave {name} out; it is for {USES[name]}.",
                )


USES = {
    "sheet": "spreadsheets",
    "sql": "databases",
    "encoding": "text files",
    "header": "text files and spreadsheets",
    "keep_totals": "text files and spreadsheets",
}
