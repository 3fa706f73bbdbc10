"""``asterism check MODEL TABLE``: has the table drifted from the one the model was made of?"""

from __future__ import annotations

import json as json_text
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from asterism.cli import options as common
from asterism.cli.messages import say, spoken_warnings
from asterism.errors import DataError

if TYPE_CHECKING:
    from asterism.data.options import ReadKeywords
    from asterism.follow.drift import Check

DRIFTED = (
    DataError.exit_code
)  # the table is not what the model was made for: bad data, but of a kind that can be read
MOST = 20  # differences shown


@dataclass(frozen=True)
class Options:
    """The command line of one call."""

    model: str
    table: str
    json: bool
    threads: int | None
    memory: str | None
    quiet: bool
    how: ReadKeywords


@click.command(short_help="Tell whether a table has drifted from a model's.")
@click.argument("model")
@click.argument("table")
@click.option("--json", is_flag=True, help="Print every comparison as JSON.")
@common.opening
@common.threads
@common.memory
@common.quiet
@common.debug
@click.pass_context
def check(ctx: click.Context, /, **options: Any) -> None:
    """Tell whether TABLE has drifted from the one that MODEL, a groups.asterism, was made of.

    Compared are shares of the groups, how likely and how typical rows are, every column over all rows and within
    groups, missing cells, new levels and missing columns. Of fresh tables of the same source at most 5% are said to
    have drifted, all comparisons taken together.

    Exit code: 0 if the table has not drifted; 3, as for other bad data, if it has, or cannot be read.

    \b
    Examples:
      asterism check penguins-groups/groups.asterism new.csv && echo as before
      asterism check penguins-groups/groups.asterism new.csv --json
    """
    how = common.how_to_read(options)
    known = {name: value for name, value in options.items() if name not in common.OPENING}
    ctx.exit(run(Options(**known, how=how)))


def run(options: Options) -> int:
    """Do the work; the exit code."""
    from asterism.data.opening import opened
    from asterism.engines.context import engine
    from asterism.follow.drift import check as checked

    with spoken_warnings(), engine(n_threads=options.threads, memory=options.memory):
        found = checked(options.model, opened(options.table, **options.how))
    if options.json:
        click.echo(json_text.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        click.echo(check_text(found, options.table), nl=False)
    if not options.quiet:
        for note in found.notes:
            say(note)
    return DRIFTED if found.drifted else 0


def check_text(found: Check, table: str) -> str:
    """The page."""
    from asterism.cli.summary import _lines, shown

    before = (
        "" if found.rows_before is None else f" beside {found.rows_before:,.0f} that the model was made of"
    )
    parts = [[f"{shown(table)}: {found.rows:,} rows{before}"], [found.verdict]]
    alarms = [d for d in found.differences if d.counts]
    if alarms:
        more = [f"  and {len(alarms) - MOST} more (--json shows all)"] if len(alarms) > MOST else []
        lines = [f"  {shown(d.sentence)} {_chance(d.p_of_all)}".rstrip() for d in alarms[:MOST]]
        parts.append(["Beyond chance", *lines, *more])
    if found.shares:
        head: tuple[str, ...] = ("group", "name", "before", "now")
        body = [
            ("none" if s.group < 0 else str(s.group), shown(s.name), f"{s.before:.1%}", f"{s.now:.1%}")
            for s in found.shares
        ]
        parts.append(["Groups", *_lines(head, body, right=(0, 2, 3))])
    rows = [d for d in found.differences if d.about in ("density", "untypical")]
    if rows:
        parts.append(["Rows", *(f"  {d.sentence}" for d in rows)])
    columns = _columns(found)
    if columns:
        head = ("column", "shift (sd)", "p", "within groups (sd)", "p")
        parts.append(
            [
                "Columns (p: by chance, all comparisons taken together)",
                *_lines(head, columns, right=(1, 2, 3, 4)),
            ]
        )
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _columns(found: Check) -> list[tuple[str, ...]]:
    from asterism.cli.summary import shown

    names = list(
        dict.fromkeys(d.column for d in found.differences if d.about in ("mean", "within") and d.column)
    )
    own = {(d.about, d.column): d for d in found.differences}

    def cells(about: str, name: str) -> tuple[str, str]:
        one = own.get((about, name))
        return ("", "") if one is None else (f"{one.size:+.2f}", _p(one.p_of_all))

    return [(shown(name), *cells("mean", name), *cells("within", name)) for name in names]


def _chance(p: float) -> str:
    return f"p {_p(p)}" if p > 0 else ""


def _p(p: float) -> str:
    return "<0.0001" if p < 1e-4 else f"{p:.2g}"
