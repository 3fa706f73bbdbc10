"""``asterism report MODEL TABLE``: the report again, of the same rows or of new ones."""

from __future__ import annotations

from typing import Any

import click

from asterism.cli import options as common
from asterism.cli.messages import say, spoken_warnings
from asterism.cli.tables import table_name


@click.command(short_help="Write the report of known groups in a table.")
@click.argument("model")
@click.argument("table")
@click.option("--missing-columns", type=click.Choice(["refuse", "missing"]), default="refuse", show_default=True,
              help="Columns the table lacks: stop, or take their cells as missing.")  # fmt: skip
@common.opening
@click.option("--out", metavar="FILE", help="Where to write it.  [default: NAME-report.html]")
@common.threads
@common.memory
@click.option("--open", "show", is_flag=True, help="Open it in a browser.")
@click.option("--force", is_flag=True, help="Replace the file.")
@common.debug
def report(
    model: str,
    table: str,
    missing_columns: str,
    out: str | None,
    threads: int | None,
    memory: str | None,
    show: bool,
    force: bool,
    **written: Any,
) -> None:
    """Write the report of the groups of MODEL (a groups.asterism) in the rows of TABLE.

    \b
    Example:
      asterism report penguins-groups/groups.asterism penguins.csv --out report.html
    """
    from asterism.data.opening import opened
    from asterism.engines.context import engine
    from asterism.finding import finding_again
    from asterism.modelfile import load

    groups = load(model)
    path = out or f"{table_name(table)}-report.html"
    with spoken_warnings(), engine(n_threads=threads, memory=memory):
        rows = opened(table, **common.how_to_read(written))
        finding, match = finding_again(groups, rows, missing_columns=missing_columns)
        finding.report(path, title=table, force=force)
    for note in (*finding.notes, *match.notes()):
        say(note)
    say(f"Wrote {path}")
    if show:
        click.launch(path)
