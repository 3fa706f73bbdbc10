"""``asterism choose TABLE``: the table of criteria against k, and the verdict."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from asterism.cli import options as common
from asterism.cli.messages import progress_bar, say, spoken_warnings
from asterism.cli.params import NumberOfGroups, kinds_of
from asterism.cli.tables import table_name

if TYPE_CHECKING:
    from asterism.verdict.choice import Choice

FILES = ("criteria.csv", "criteria.html", "labels.csv", "choice.json")
SHOWN = ("k", "structure", "bic", "icl", "mdl", "cross_validation", "silhouette", "gap", "stability")


@dataclass(frozen=True, kw_only=True)
class Options(common.Reading):
    """The command line of one call."""

    k: int | range | None
    model: str
    no_scale: bool
    seed: int


@click.command(short_help="Say how many groups a table has, and why.")
@click.argument("table")
@click.option("--k", type=NumberOfGroups(), help="Numbers of groups to choose from.  [default: 1:10]")
@click.option("--model", type=click.Choice(["gaussian", "student", "kmeans"]), default="gaussian",
              show_default=True, help="What groups are taken to look like.")  # fmt: skip
@common.reading
@common.no_scale
@click.option(
    "--out", metavar="DIR", help="Folder to write criteria, picture and labels into.  [default: none]"
)
@click.option("--json", is_flag=True, help="Print everything as JSON.")
@common.seed
@common.running
@click.pass_context
def choose(ctx: click.Context, /, **options: Any) -> None:
    """Say how many groups TABLE has, how sure that is, and why.

    TABLE is a CSV, Parquet or .npy file, a folder or glob of Parquet files, or - for CSV on stdin. Columns that are
    names without an order are left out: they have no places between them.

    Prints every criterion against k, a * where each has its own choice, and the verdict. With --out, writes
    criteria.csv, criteria.html (the picture), labels.csv and choice.json.

    \b
    Examples:
      asterism choose penguins.csv
      asterism choose survey.csv --k 1:20 --ignore id --out survey-choice
    """
    ctx.exit(run(Options(**options)))


def run(options: Options) -> int:
    """Do the work; the exit code."""
    from asterism.cli.output import refuse_overwrite, whole_folder

    target = None if options.out is None else Path(options.out).resolve()
    if target is not None:
        refuse_overwrite(target, options.force, FILES)  # before the work, not after it
    with spoken_warnings():
        choice = _chosen(options)
        text = json.dumps({"table": options.table, **choice.to_dict()}, indent=1)
        if target is not None:
            with whole_folder(target, options.force, FILES) as folder:
                _write(choice, text, folder)
    click.echo(text if options.json else told(choice, table_name(options.table)))
    if target is not None and not options.quiet:
        say(f"Wrote {', '.join(FILES)} into {options.out}/")
    return 0


def _chosen(options: Options) -> Choice:
    from asterism.data.encode import EncodedSource
    from asterism.data.read import read
    from asterism.engines.context import engine
    from asterism.methods.encoding import standard_encoding
    from asterism.verdict.choose import choose_k

    with (
        progress_bar(options.quiet) as progress,
        engine(n_threads=options.threads, memory=options.memory, progress=progress),
    ):
        kinds = kinds_of(options.kind, options.ignore)
        source = read(options.table, kinds=kinds, weights=options.weights, **options.how)
        names = [column.name for column in source.columns if column.kind == "categorical"]
        if names and options.table != "-":
            if not options.quiet:
                say(f"Left out, names without an order: {', '.join(map(repr, names))}.")
            source = read(
                options.table,
                kinds=kinds | dict.fromkeys(names, "ignored"),
                weights=options.weights,
                **options.how,
            )
        ks = range(1, 11) if options.k is None else options.k
        if not options.no_scale and all(column.kind == "numeric" for column in source.columns):
            return choose_k(
                source, options.model, ks, random_state=options.seed
            )  # scaled there, in their forms
        encoded = EncodedSource(source, standard_encoding(source, scale=not options.no_scale))
        return choose_k(encoded, options.model, ks, random_state=options.seed)


def told(choice: Choice, name: str) -> str:
    """The table with every criterion's own choice marked, then the verdict."""
    columns = [column for column in SHOWN if column == "k" or choice.table.column(column)]
    lines = [[_heading(column) for column in columns]]
    lines += [[_cell(choice, column, row) for column in columns] for row in choice.table]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    table = [
        "  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines
    ]
    return "\n".join(
        [f"{name}: criteria against k, * marks the choice of each", "", *table, "", choice.verdict]
    )


def _heading(column: str) -> str:
    return {"cross_validation": "held-out", "bic": "BIC", "icl": "ICL", "mdl": "bits"}.get(
        column, column
    ) + " "


def _cell(choice: Choice, column: str, row: dict[str, Any]) -> str:
    value = row[column]
    if value is None:
        return "- "
    text = str(value)
    if isinstance(value, float):
        text = f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    mine = choice.k if column == "k" else choice.picks.get(column)
    return text + ("*" if mine == row["k"] else " ")


def _write(choice: Choice, text: str, folder: Path) -> None:
    from pyarrow import csv

    csv.write_csv(choice.table.to_frame(), str(folder / "criteria.csv"))
    choice.plot().write_html(folder / "criteria.html", include_plotlyjs=True)
    lines = ["row,group\n"] + [f"{i},{g if g >= 0 else ''}\n" for i, g in enumerate(choice.labels.tolist())]
    (folder / "labels.csv").write_text("".join(lines), encoding="utf-8")
    (folder / "choice.json").write_text(text + "\n", encoding="utf-8")
