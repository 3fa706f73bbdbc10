"""``asterism export MODEL``: the model as a query, as Python that needs only NumPy, or as JSON."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from asterism.cli import options as common
from asterism.cli.messages import say
from asterism.errors import OutputExistsError, ParameterError

DATABASES = ("duckdb", "postgres", "bigquery", "snowflake", "sqlite")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The command line of one call."""

    model: str
    sql: str | None
    as_python: bool
    as_json: bool
    table: str
    keep: tuple[str, ...]
    complete: bool
    out: str | None
    force: bool
    quiet: bool


@click.command(short_help="Write a model as SQL, Python or JSON.")
@click.argument("model")
@click.option("--sql", type=click.Choice(DATABASES), help="A query for this database.")
@click.option("--python", "as_python", is_flag=True, help="A Python file that needs only NumPy.")
@click.option("--json", "as_json", is_flag=True, help="A description in JSON, to write one's own from.")
@click.option(
    "--table", metavar="NAME", default="your_table", show_default=True, help="Table the query reads."
)
@click.option("--keep", metavar="COLUMN", multiple=True,
              help="Column to copy into the result, such as a key. Repeatable.  [default: the model's]")  # fmt: skip
@click.option("--complete", is_flag=True, help="A short query for rows that lack no cell; others get NULL.")
@click.option("--out", metavar="FILE", help="Write it there.  [default: stdout]")
@click.option("--force", is_flag=True, help="Replace FILE.")
@common.quiet
@common.debug
def export(**options: Any) -> None:
    """Write MODEL, the groups.asterism of `asterism find`, as something that runs without Asterism.

    A query gives every row of a table its group and the probabilities of all groups, as `asterism assign` does. The
    Python file has a function assign(columns) and takes a CSV file on its command line.

    \b
    Examples:
      asterism export penguins-groups/groups.asterism --sql duckdb --table penguins --keep id > groups.sql
      asterism export penguins-groups/groups.asterism --python --out groups.py
    """
    run(Options(**options))


def run(options: Options) -> None:
    """Do the work."""
    from asterism.data.whole import write_whole

    out = options.out
    if out and os.path.lexists(out) and not options.force:
        raise OutputExistsError(f"{out!r} is there already.", "Give --force to replace it.")
    if (options.sql is not None) + options.as_python + options.as_json != 1:
        raise ParameterError(
            "It is not clear what to write.", "Give one of --sql DATABASE, --python and --json."
        )
    text = _text(options)
    if out is None:
        click.echo(text, nl=False)
        return
    target = Path(out)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, text.encode())
    if not options.quiet:
        say(f"Wrote {out}")


def _text(options: Options) -> str:
    from asterism.export import to_json, to_python, to_sql

    if options.sql is not None:
        short = {"patterns": 1} if options.complete else {}
        return to_sql(options.model, options.sql, table=options.table, keep=options.keep, **short)
    return to_python(options.model) if options.as_python else to_json(options.model)
