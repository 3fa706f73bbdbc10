"""Options that several commands have, each said once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, cast

import click

from asterism.cli.main import DEBUG
from asterism.cli.params import ColumnKind, MissingWords, NewName
from asterism.data.options import ReadKeywords

Decorator = Callable[[Any], Any]
OPENING = ReadKeywords.__optional_keys__  # names of the options of ``opening``


@dataclass(frozen=True, kw_only=True)
class Running:
    """What every command that works on a table is told: ``running``, and where results go."""

    table: str
    out: str | None
    json: bool
    threads: int | None
    memory: str | None
    force: bool
    quiet: bool


@dataclass(frozen=True, kw_only=True)
class Opening(Running):
    """The same with how the table's file is written: ``opening``."""

    sheet: str | None
    sql: str | None
    encoding: str | None
    header: int | None
    rename: tuple[tuple[str, str], ...]
    keep_totals: bool

    @property
    def how(self) -> ReadKeywords:
        """The same for ``asterism.read``."""
        return how_to_read(vars(self))


@dataclass(frozen=True, kw_only=True)
class Reading(Opening):
    """The same with what the columns are: ``reading``."""

    kind: tuple[tuple[str, str, tuple[str, ...]], ...]
    ignore: tuple[str, ...]
    na: tuple[tuple[str, tuple[str, ...]], ...]
    weights: str | None


def how_to_read(values: Mapping[str, Any]) -> ReadKeywords:
    """What was said of the table's file, of all options of a command."""
    renamed = dict(values["rename"])
    how = {name: values[name] for name in OPENING} | {"rename": renamed or None}
    return cast(
        ReadKeywords, {name: value for name, value in how.items() if value is not None and value is not False}
    )


def together(*options: Decorator) -> Decorator:
    """Options in the order in which help shows them."""
    return lambda command: reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


def _mark_debug(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    ctx.meta[DEBUG] = value


debug = click.option(
    "--debug", is_flag=True, is_eager=True, expose_value=False, callback=_mark_debug,
    help="Show where in the code an error arose.",
)  # fmt: skip
threads = click.option("--threads", type=click.IntRange(min=1), help="Threads to use.  [default: all cores]")
memory = click.option("--memory", metavar="SIZE", help="Memory to stay within, such as 2GB.")
force = click.option("--force", is_flag=True, help="Replace the results of an earlier run.")
quiet = click.option("--quiet", is_flag=True, help="No progress and no messages but warnings and errors.")
seed = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same result."
)  # fmt: skip
no_scale = click.option(
    "--no-scale", is_flag=True, help="Take columns in their own units instead of standardising them."
)

# How the table's file is written.
opening = together(
    click.option("--sheet", metavar="NAME", help="Sheet of a spreadsheet.  [default: the first with cells]"),
    click.option("--sql", metavar="QUERY", help="Table of a database, or a query of it."),
    click.option("--encoding", metavar="NAME", help="How text is written: latin-1, utf-16, ...  [default: seen]"),
    click.option("--header", metavar="LINE", type=click.IntRange(min=0),
                 help="Line that holds the names of columns; 0: none does.  [default: seen]"),
    click.option("--rename", metavar="OLD=NEW", type=NewName(), multiple=True, help="Rename a column. Repeatable."),
    click.option("--keep-totals", is_flag=True, help="Keep lines of totals and remarks below the table."),
)  # fmt: skip

# The same with what columns are, and how much rows count.
reading = together(
    opening,
    click.option("--kind", type=ColumnKind(), multiple=True, help="Say what a column is. Repeatable."),
    click.option("--ignore", metavar="COLUMN", multiple=True, help="Leave a column out. Repeatable."),
    click.option(
        "--na",
        type=MissingWords(),
        multiple=True,
        help="Cells that mean not known: WORD in all columns, or COLUMN=WORD,WORD in one, instead of what is "
        "found there (COLUMN= for none). Repeatable.",
    ),
    click.option(
        "--weights", metavar="COLUMN", help="Column of row weights: 3 counts as three rows, 0 as none."
    ),
)

# How a command works, and what it may replace.
running = together(threads, memory, force, quiet, debug)
