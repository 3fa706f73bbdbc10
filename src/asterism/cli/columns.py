"""``asterism columns TABLE``: what every column is taken for, before anything is fitted."""

from __future__ import annotations

import json as json_text
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from asterism.cli import options as common
from asterism.cli.messages import spoken_warnings
from asterism.cli.params import absent_of, kinds_of

if TYPE_CHECKING:
    from asterism.data.columns import Column

NARROW, WIDE = 60, 140  # characters of a line
MOST_NAME = 32  # characters of a name that stand beside its reason
MOST_LEVELS = 12  # levels that are listed


@click.command(short_help="Say what every column of a table is taken for.")
@click.argument("table")
@common.reading
@click.option("--json", is_flag=True, help="Print the columns as JSON.")
@common.memory
@common.debug
def columns(**options: Any) -> None:
    """Say what every column of TABLE is taken for, and why others are set aside. Nothing is fitted or written.

    Use --kind, --ignore and --na to overrule it; `asterism find` takes the same options.

    \b
    Examples:
      asterism columns survey.csv
      asterism columns survey.csv --kind size=ordinal:S,M,L --na q1=99 --na income=
    """
    click.echo(run(options), nl=False)


def run(options: Mapping[str, Any]) -> str:
    """What the command prints."""
    from asterism.cli.summary import shown
    from asterism.data.aside import headline
    from asterism.data.opening import opened
    from asterism.engines.context import engine
    from asterism.search.task import looked_at

    table, how = options["table"], common.how_to_read(options)
    with spoken_warnings(), engine(memory=options["memory"]):
        source = looked_at(
            opened(table, **how) if how else table,
            kinds=kinds_of(options["kind"], options["ignore"]),
            weights=options["weights"],
            na=absent_of(options["na"]),
        )
    said = headline(source.columns, source.ignored)
    if options["json"]:
        told = {
            "version": 1,
            "table": table,
            "rows": source.n_rows,
            "headline": said,
            "notes": list(source.notes),
            "columns": [{**c.to_dict(), "sources": list(c.sources)} for c in source.columns],
            "ignored": [c.to_dict() for c in source.ignored],
        }
        return json_text.dumps(told, indent=2, ensure_ascii=False) + "\n"
    head = [
        f"{shown(table)}: {source.n_rows:,} rows",
        *map(shown, source.notes),
        said or "All columns are used.",
    ]
    return _text(head, source.columns, source.ignored)


def _text(head: Sequence[str], used: Sequence[Column], ignored: Sequence[Column]) -> str:
    from asterism.cli.summary import shown

    width = min(max(shutil.get_terminal_size((100, 24)).columns, NARROW), WIDE)
    lines = [line for part in head for line in textwrap.wrap(part, width)]
    every = (*used, *ignored)
    name_width = min(max(len(shown(column.name)) for column in every), MOST_NAME)
    for title, some in (("Used", used), ("Set aside", ignored)):
        if some:
            lines += ["", title, *(line for column in some for line in _lines(column, name_width, width))]
    return "\n".join(lines) + "\n"


def _lines(column: Column, name_width: int, width: int) -> list[str]:
    """Name, kind and reason, wrapped below each other; a name too long for its place stands on a line of its own."""
    from asterism.cli.summary import shown

    name, kind = shown(column.name), "" if column.kind == "ignored" else column.kind
    why = shown(column.reason)
    if column.levels and column.kind in ("categorical", "boolean"):
        more = ", ..." if len(column.levels) > MOST_LEVELS else ""
        why += f" ({shown(', '.join(column.levels[:MOST_LEVELS]))}{more})"
    elif column.kind == "ordinal" and " < " not in why:
        why += f" ({shown(' < '.join(column.levels[:MOST_LEVELS]))})"
    place = f"  {name:<{name_width}}  {kind:<11}  "
    if len(name) > name_width:
        place = f"  {'':<{name_width}}  {kind:<11}  "
    body = textwrap.wrap(why, max(width - len(place), 20), break_on_hyphens=False) or [""]
    lines = [place + body[0], *(" " * len(place) + line for line in body[1:])]
    above = textwrap.wrap(name, width - 2) if len(name) > name_width else []
    return [*(f"  {line}" for line in above), *(line.rstrip() for line in lines)]
