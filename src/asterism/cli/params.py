"""What options say, turned into values: numbers of groups and kinds of columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any

import click

from asterism.data.columns import ASKED
from asterism.errors import ParameterError
from asterism.verdict.numbers import numbers_from

KIND = re.compile(rf"(?P<column>.+?)=(?P<kind>{'|'.join(ASKED)})(?::(?P<levels>.*))?", re.DOTALL)


class NumberOfGroups(click.ParamType[Any]):
    """``3``, or ``1:12`` for all numbers from 1 to 12."""

    name = "K|LOW:HIGH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | range:
        """An int, or a range that includes its upper end."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]  # click converts a default a second time
        try:
            return numbers_from(value)
        except ParameterError as bad:
            self.fail(str(bad), param, ctx)


class ColumnKind(click.ParamType[Any]):
    """``column=kind``, and for levels in order ``column=ordinal:low,mid,high``."""

    name = "COLUMN=KIND"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str, tuple[str, ...]]:
        """Column, kind, levels (none for most kinds)."""
        found = KIND.fullmatch(value)
        if not found:
            self.fail(
                f"{value!r} is not of the form column=kind. Kinds are {', '.join(ASKED)}; for example "
                "size=ordinal:low,mid,high.",
                param,
                ctx,
            )
        levels = tuple(next(csv.reader([found["levels"]]))) if found["levels"] else ()
        return found["column"], found["kind"], levels


class NewName(click.ParamType[Any]):
    """``old=new``."""

    name = "OLD=NEW"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """The old name and the new one."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]  # click converts a default a second time
        old, sign, new = value.partition("=")
        if not (old and sign and new):
            self.fail(f"{value!r} is not of the form old=new.", param, ctx)
        return old, new


class MissingWords(click.ParamType[Any]):
    """``word`` for all columns, or ``column=word,word``."""

    name = "[COLUMN=]WORD,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, tuple[str, ...]]:
        """Column ("*" for all) and words."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]  # click converts a default a second time
        column, found, words = value.rpartition("=")
        if found and not column:
            self.fail(f"{value!r} names no column. Write --na WORD, or --na COLUMN=WORD.", param, ctx)
        return column or "*", tuple(next(csv.reader([words]), ()))


def absent_of(given: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]] | None:
    """``--na`` as ``find`` takes it."""
    found: dict[str, tuple[str, ...]] = {}
    for column, words in given:
        found[column] = (*found.get(column, ()), *words)
    return found or None


def kinds_of(given: Iterable[tuple[str, str, tuple[str, ...]]], ignored: Iterable[str]) -> dict[str, Any]:
    """``--kind`` and ``--ignore`` as ``find`` takes them."""
    kinds: dict[str, Any] = {column: (kind, levels) if levels else kind for column, kind, levels in given}
    return kinds | dict.fromkeys(ignored, "ignored")
