"""``asterism assign MODEL TABLE``: groups for new rows."""

from __future__ import annotations

import io
import json as json_text
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from asterism.cli import options as common
from asterism.cli.messages import say, spoken_warnings
from asterism.errors import OutputExistsError

NO_TYPICALITY = (
    "The model is of an earlier version and knows no typicality: find the groups again to have it."
)


@dataclass(frozen=True, kw_only=True)
class Options(common.Opening):
    """The command line of one call."""

    model: str
    missing_columns: str
    id: str | None
    level: int | None


@click.command(short_help="Give new rows to known groups.")
@click.argument("model")
@click.argument("table")
@click.option("--missing-columns", type=click.Choice(["refuse", "missing"]), default="refuse", show_default=True,
              help="Columns the table lacks: stop, or take their cells as missing.")  # fmt: skip
@common.opening
@click.option(
    "--id", metavar="COLUMN", help="Column of TABLE that names the rows, to be copied into the labels."
)
@click.option("--level", type=click.IntRange(min=1), metavar="GROUPS",
              help="Labels of the layer of so many groups: groups of groups, or parts of groups.")  # fmt: skip
@click.option("--out", metavar="FILE", help="Write the labels there.  [default: stdout]")
@click.option("--json", is_flag=True, help="Print a summary as JSON instead of labels (or beside --out).")
@common.threads
@common.memory
@click.option("--force", is_flag=True, help="Replace FILE.")
@common.quiet
@common.debug
def assign(**options: Any) -> None:
    """Give every row of TABLE to a group of MODEL, the groups.asterism that `asterism find` wrote.

    Columns are matched by name; columns the model does not know are not used, levels it has never seen count as
    missing, and both are said. Labels go to stdout as CSV: row, group, probability, next_group, next_probability,
    typicality (the share of its group that is as unusual or more). Group -1: the row belongs to none.

    \b
    Examples:
      asterism assign penguins-groups/groups.asterism new.csv > labels.csv
      asterism assign penguins-groups/groups.asterism new.parquet --out labels.csv --id name
    """
    run(Options(**options))


def run(options: Options) -> None:
    """Do the work."""
    from asterism.cli.output import with_column, write_labels
    from asterism.data.like import read_like
    from asterism.data.opening import opened
    from asterism.data.source import places_in
    from asterism.data.whole import write_whole
    from asterism.engines.context import current, engine
    from asterism.explain.typicality import UNUSUAL
    from asterism.finding import ranked_table
    from asterism.groups.strangers import note_on_strangers
    from asterism.modelfile import load

    if options.out and os.path.lexists(options.out) and not options.force:
        raise OutputExistsError(f"{options.out!r} is there already.", "Give --force to replace it.")
    model = load(options.model)
    if options.level is not None:
        model.layers.at(options.level)  # before the work
    with spoken_warnings(), engine(n_threads=options.threads, memory=options.memory):
        table = opened(options.table, **options.how)
        source, match = read_like(
            table, model.columns, absent=options.missing_columns, memory=current().memory
        )
        with places_in(source):
            ranked = model.ranked(source, options.level)
    k = model.k if options.level is None else options.level
    notes = [*source.notes, *match.notes(), *([NO_TYPICALITY] if model.typicality is None else [])]
    strange = note_on_strangers(model.baseline, ranked[:, 4])
    notes += [strange] if strange else []
    frame = ranked_table(ranked)
    if options.id is not None:
        frame = with_column(frame, table, options.id)
    text = io.BytesIO()
    write_labels(frame, text)
    if options.out:
        target = Path(options.out)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, text.getvalue())
    if options.json:
        sizes: list[int] = [int((ranked[:, 0] == g).sum()) for g in range(k)]
        told = {
            "version": 1, "k": k, "rows": len(ranked), "sizes": sizes,
            "outliers": int((ranked[:, 0] < 0).sum()), "unusual": int((ranked[:, 4] < UNUSUAL).sum()),
            "notes": notes,
        }  # fmt: skip
        click.echo(json_text.dumps(told, indent=2, ensure_ascii=False))
    elif not options.out:
        click.echo(text.getvalue(), nl=False)
    if not options.quiet:
        for note in notes:
            say(note)
        if options.out:
            say(f"Wrote {options.out}")
