"""What options say, turned into values: numbers of groups and kinds of columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any

import click

from asterism.data.columns import KINDS

KIND = re.compile(rf"(?P<column>.+?)=(?P<kind>{'|'.join(KINDS)})(?::(?P<levels>.*))?", re.DOTALL)


class NumberOfGroups(click.ParamType[Any]):
    """``3``, or ``1:12`` for all numbers from 1 to 12."""

    name = "K|LOW:HIGH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | range:
        """An int, or a range that includes its upper end."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]  # click converts a default a second time
        found = re.fullmatch(r"\s*(\d+)\s*(?::\s*(\d+)\s*)?", value)
        if not found:
            self.fail(
                f"{value!r} is not a number of groups. Write --k 3, or --k 2:10 to try a range.", param, ctx
            )
        low = int(found[1])
        high = int(found[2]) if found[2] else low
        if low < 1:
            self.fail(f"{value!r} asks for {low} groups. The least is 1.", param, ctx)
        if high < low:
            self.fail(f"{value!r} is empty. Write the smaller number first: --k {high}:{low}.", param, ctx)
        return range(low, high + 1) if found[2] else low


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
                f"{value!r} is not of the form column=kind. Kinds are {', '.join(KINDS)}; for example "
                "size=ordinal:low,mid,high.",
                param,
                ctx,
            )
        levels = tuple(next(csv.reader([found["levels"]]))) if found["levels"] else ()
        return found["column"], found["kind"], levels


def kinds_of(given: Iterable[tuple[str, str, tuple[str, ...]]], ignored: Iterable[str]) -> dict[str, Any]:
    """``--kind`` and ``--ignore`` as ``find`` takes them."""
    kinds: dict[str, Any] = {column: (kind, levels) if levels else kind for column, kind, levels in given}
    return kinds | dict.fromkeys(ignored, "ignored")
