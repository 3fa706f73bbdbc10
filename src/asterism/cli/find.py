"""``asterism find TABLE``: the main job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from asterism.cli import options as common
from asterism.cli.main import INTERRUPTED
from asterism.cli.messages import progress_bar, say, spoken_warnings
from asterism.cli.params import NumberOfGroups, kinds_of
from asterism.cli.tables import table_name
from asterism.errors import NotConvergedError

if TYPE_CHECKING:
    from asterism.finding import Finding

FILES = ("labels.csv", "summary.txt", "summary.json")


@dataclass(frozen=True)
class Options:
    """The command line of one call."""

    table: str
    k: int | range | None
    kind: tuple[tuple[str, str, tuple[str, ...]], ...]
    ignore: tuple[str, ...]
    weights: str | None
    missing: Literal["keep", "drop", "refuse"]
    out: str | None
    json: bool
    seed: int
    threads: int | None
    memory: str | None
    force: bool
    quiet: bool
    strict: bool


@click.command(short_help="Find the groups in a table.")
@click.argument("table")
@click.option(
    "--k", type=NumberOfGroups(), help="Number of groups, or a range to choose from.  [default: 2:10]"
)
@common.reading
@click.option("--missing", type=click.Choice(["keep", "drop", "refuse"]), default="keep", show_default=True,
              help="Rows with missing cells: use them, leave them out of all groups, or stop.")  # fmt: skip
@click.option("--out", metavar="DIR", help="Folder of results.  [default: NAME-groups in the current folder]")
@click.option("--json", is_flag=True, help="Print the summary as JSON.")
@common.seed
@common.threads
@common.memory
@common.force
@common.quiet
@click.option("--strict", is_flag=True, help="Exit with 4 and write nothing if the search did not settle.")
@common.debug
@click.pass_context
def find(ctx: click.Context, /, **options: Any) -> None:
    """Find the groups in TABLE.

    TABLE is a CSV, Parquet or .npy file, a folder or glob of Parquet files, or - for CSV on stdin.

    Prints a summary, and writes labels.csv (the group of every row), summary.txt and summary.json into
    NAME-groups, where NAME is the table's name without its ending.

    \b
    Examples:
      asterism find penguins.csv
      asterism find survey.csv --k 4 --kind size=ordinal:S,M,L --ignore name
      sort -u visits.csv | asterism find - --json
    """
    ctx.exit(run(Options(**options)))


def run(options: Options) -> int:
    """Do the work; the exit code."""
    from asterism.cli.output import refuse_overwrite, whole_folder
    from asterism.cli.summary import summary_json, summary_text

    target = Path(options.out or f"{table_name(options.table)}-groups").resolve()
    refuse_overwrite(target, options.force, FILES)  # before the work, not after it
    with spoken_warnings():
        finding = _find(options)
        if options.strict and not finding.choice.settled:
            raise _not_settled(finding)
        text = summary_text(finding, options.table)
        json = summary_json(finding, options.table)
        with whole_folder(target, options.force, FILES) as folder:
            _write_labels(finding, folder / "labels.csv")
            (folder / "summary.txt").write_text(text, encoding="utf-8")
            (folder / "summary.json").write_text(json, encoding="utf-8")
    click.echo(json if options.json else text, nl=False)
    if not options.quiet:
        say(f"Wrote {', '.join(FILES)} into {options.out or target.name}/")
    return INTERRUPTED if finding.choice.interrupted else 0


def _find(options: Options) -> Finding:
    from asterism.engines.context import engine
    from asterism.finding import find

    with progress_bar(options.quiet) as progress:
        return find(
            options.table,
            k=options.k,
            kinds=kinds_of(options.kind, options.ignore),
            weights=options.weights,
            seed=options.seed,
            engine=engine(n_threads=options.threads, memory=options.memory),
            progress=progress,
            missing=options.missing,
        )


def _not_settled(finding: Finding) -> NotConvergedError:
    still = [row.k for row in finding.choice.table if row.status != "settled"]
    return NotConvergedError(
        f"The search did not settle for k = {', '.join(map(str, still))}, and --strict was given.",
        "Nothing was written. Leave --strict out to see the result as it is, or try another --seed.",
    )


def _write_labels(finding: Finding, path: Path) -> None:
    """One line a row. All cells are numbers or empty, so none can be taken for a formula by a spreadsheet."""
    from pyarrow import csv

    frame = finding.to_frame()
    with path.open("wb") as file:
        file.write((",".join(frame.column_names) + "\n").encode())  # pyarrow would put the names in quotes
        csv.write_csv(frame, file, csv.WriteOptions(include_header=False))
