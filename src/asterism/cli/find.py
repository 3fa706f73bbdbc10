"""``asterism find TABLE``: the main job."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from asterism.cli import options as common
from asterism.cli.known import Knowing, knowing
from asterism.cli.main import INTERRUPTED
from asterism.cli.messages import progress_bar, say, spoken_warnings
from asterism.cli.params import NumberOfGroups, absent_of, kinds_of
from asterism.cli.resume import CHECKPOINT
from asterism.cli.tables import table_name
from asterism.errors import NotConvergedError, ParameterError

if TYPE_CHECKING:
    from asterism.explain.outcome import Outcome
    from asterism.finding import Finding

FILES = ("labels.csv", "groups.asterism", "report.html", "summary.json")
OURS = (*FILES, CHECKPOINT, "summary.txt")  # the last: what an earlier version wrote may be replaced too
METHODS = ("auto", "gaussian", "mixed", "kmeans", "kmedoids")


@dataclass(frozen=True, kw_only=True)
class Options(common.Reading, Knowing):
    """The command line of one call."""

    k: int | range | None
    method: str
    reference: str | None
    id: str | None
    outcome: tuple[str, ...]
    select: bool
    missing: Literal["keep", "drop", "refuse"]
    outliers: str
    like: str | None
    seed: int
    cluster: str | None
    open: bool
    dry_run: bool
    strict: bool
    resume: bool


@click.command(short_help="Find the groups in a table.")
@click.argument("table")
@click.option(
    "--k", type=NumberOfGroups(), help="Number of groups, or a range to choose from.  [default: 1:10]"
)
@click.option("--method", type=click.Choice(METHODS), default="auto", show_default=True,
              help="auto: mixtures that suit the columns.")  # fmt: skip
@common.reading
@click.option(
    "--reference", metavar="COLUMN", help="Column to compare the groups with; takes no part in them."
)
@click.option("--select", is_flag=True,
              help="Leave out columns that carry nothing of the groups, and search again.")  # fmt: skip
@click.option("--outcome", metavar="COLUMN", multiple=True,
              help="Column that takes no part: say whether the groups differ in it.")  # fmt: skip
@click.option("--id", metavar="COLUMN", help="Column that names the rows, to be copied into labels.csv.")
@click.option("--missing", type=click.Choice(["keep", "drop", "refuse"]), default="keep", show_default=True,
              help="Rows with missing cells: use them, leave them out of all groups, or stop.")  # fmt: skip
@click.option("--outliers", metavar="auto|none|SHARE", default="auto", show_default=True,
              help="Rows that belong to no group (-1): those of a background of evenly spread rows, if there is "
              "evidence of one; none; or the least typical, 2% say.")  # fmt: skip
@click.option("--like", metavar="MODEL", help="An earlier groups.asterism: groups that are still there keep number "
              "and name, and which were born, gone, split, merged or moved is said.")  # fmt: skip
@knowing
@click.option("--out", metavar="DIR", help="Folder of results.  [default: NAME-groups in the current folder]")
@click.option("--json", is_flag=True, help="Print the summary as JSON.")
@common.seed
@common.threads
@common.memory
@click.option("--cluster", metavar="ADDRESS", help="Scheduler of a Dask cluster whose workers do the work.")
@click.option("--open", is_flag=True, help="Open the report in a browser.")
@common.force
@click.option(
    "--dry-run", is_flag=True, help="Say what would be done, with memory and time, and write nothing."
)
@click.option(
    "--resume", is_flag=True, help="Go on with a search that was interrupted: the same table and options."
)
@common.quiet
@click.option("--strict", is_flag=True, help="Exit with 4 and write nothing if the search did not settle.")
@common.debug
@click.pass_context
def find(ctx: click.Context, /, **options: Any) -> None:
    """Find the groups in TABLE.

    TABLE is a file of text (CSV, TSV; packed too), JSON records, Parquet, Feather or .npy, a spreadsheet, an SQLite
    or DuckDB database, a folder or glob of such files, or - for one of them on stdin.

    Prints a summary, and writes labels.csv (the group of every row, how sure and how typical), groups.asterism (the
    model, for `asterism assign`), report.html and summary.json into NAME-groups, where NAME is the table's name
    without its ending.

    \b
    Examples:
      asterism find penguins.csv
      asterism find survey.csv --k 4 --kind size=ordinal:S,M,L --ignore name
      sort -u visits.csv | asterism find - --json
    """
    ctx.exit(run(Options(**options)))


def run(options: Options) -> int:
    """Do the work; the exit code."""
    from asterism.cli.labels import labels_frame
    from asterism.cli.output import whole_folder, write_labels
    from asterism.cli.resume import carried_over, prepared, tidied
    from asterism.cli.summary import summary_json, summary_text
    from asterism.data.opening import opened
    from asterism.groups.outliers import checked_outliers
    from asterism.report.plotlyjs import packing

    checked_outliers(options.outliers)
    if options.dry_run:
        with spoken_warnings():
            return _dry_run(options)
    target = Path(options.out or f"{table_name(options.table)}-groups").resolve()
    kept = prepared(target, OURS, force=options.force, resume=options.resume)  # before the work, not after it
    there = target.exists()
    began = time.monotonic()
    packing()  # for the report, while the groups are looked for
    with spoken_warnings(), _engine(options, kept) as engine:
        table = opened(options.table, **options.how)
        finding = _find(options, table, engine)
        tidied(target)
        if options.strict and finding.interrupted:
            raise NotConvergedError(
                "The search was interrupted, and --strict was given.", "Nothing was written."
            )
        reference = _reference(options, table, finding)
        outcomes = tuple(finding.outcome(name) for name in options.outcome)
        text = summary_text(finding, options.table, reference.sentence if reference else "", outcomes)
        json = summary_json(finding, options.table, reference.told if reference else None, outcomes)
        frame = labels_frame(finding, table, options.id, quiet=options.quiet)
        ours_alone = not there and all(entry.name == CHECKPOINT for entry in target.glob("*"))
        with whole_folder(target, options.force or options.resume or ours_alone, OURS) as folder:
            with (folder / "labels.csv").open("wb") as file:
                write_labels(frame, file)
            finding.save(folder / "groups.asterism")
            (folder / "summary.json").write_text(json, encoding="utf-8")
            report = folder / "report.html"
            _write_report(options, finding, (reference, outcomes), report, time.monotonic() - began)
            carried_over(kept, folder)
    click.echo(json if options.json else text, nl=False)
    if finding.headline and not options.quiet:
        say(finding.headline)
    if not options.quiet:
        for note in finding.notes:
            say(note)
        say(f"Wrote {', '.join(FILES)} into {options.out or target.name}/")
    for event in finding.events:
        if event.kind != "kept":
            say(event.sentence)
    if finding.interrupted:
        on = " --resume goes on with the search." if (target / CHECKPOINT).is_dir() else ""
        say(f"Interrupted: the results are the best so far.{on}")
    if options.open:
        click.launch(str(target / "report.html"))
    return INTERRUPTED if finding.interrupted else 0


def _ignored(options: Options) -> tuple[str, ...]:
    second = (options.reference, options.id, options.known, *options.outcome)
    aside = [name for name in second if name is not None]
    return (*options.ignore, *(name for name in aside if name not in options.ignore))


@contextmanager
def _engine(options: Options, kept: Path) -> Iterator[Any]:
    """Settings of the run; with a client of the cluster where there is one."""
    from asterism.engines.context import engine

    if options.cluster is None:
        yield engine(n_threads=options.threads, memory=options.memory, checkpoint=kept)
        return
    try:
        from distributed import Client
    except ImportError:
        raise ParameterError("--cluster needs Dask.", "Install it: pip install 'asterism[dask]'.") from None
    try:
        client: Any = Client(options.cluster, timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as bad:
        raise ParameterError(
            f"No Dask scheduler answers at {options.cluster!r}.", "Check the address."
        ) from bad
    with client:
        yield engine(n_threads=options.threads, memory=options.memory, dask=client, checkpoint=kept)


def _find(options: Options, table: Any, engine: Any) -> Finding:
    from asterism.finding import find

    with progress_bar(options.quiet) as progress:
        return find(
            table,
            k=options.k,
            method=options.method,
            kinds=kinds_of(options.kind, _ignored(options)),
            na=absent_of(options.na),
            weights=options.weights,
            seed=options.seed,
            engine=engine,
            progress=progress,
            missing=options.missing,
            outliers=options.outliers,
            select=options.select,
            like=options.like,
            **options.told(),
        )


# --- reference and report ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """How the groups agree with a column."""

    name: str
    cells: list[Any]
    told: dict[str, Any]

    @property
    def sentence(self) -> str:
        """In words."""
        return (
            f"Beside {self.name!r}: adjusted Rand index {self.told['adjusted_rand']:.3f}, adjusted mutual "
            f"information {self.told['adjusted_mutual_information']:.3f} (1 the same groups, 0 as by chance)."
        )


def _reference(options: Options, table: Any, finding: Finding) -> Reference | None:
    if options.reference is None:
        return None
    from asterism import metrics
    from asterism.cli.compare import _columns

    [cells] = _columns(table, [options.reference]).values()
    kept = [i for i, cell in enumerate(cells) if cell is not None and finding.labels[i] >= 0]
    true, found = [str(cells[i]) for i in kept], finding.labels[kept]
    told = {
        "column": options.reference,
        "rows": len(kept),
        "adjusted_rand": float(metrics.adjusted_rand_score(true, found)),
        "adjusted_mutual_information": float(metrics.adjusted_mutual_info_score(true, found)),
    }
    return Reference(options.reference, cells, told)


def _write_report(
    options: Options,
    finding: Finding,
    beside: tuple[Reference | None, tuple[Outcome, ...]],
    path: Path,
    seconds: float,
) -> None:
    import datetime

    reference, outcomes = beside

    finding.report(
        path,
        title=options.table,
        command=f"asterism {shlex.join(sys.argv[1:])}",
        seconds=seconds,
        peak_bytes=_peak_bytes(),
        made=datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        reference=None
        if reference is None
        else (reference.name, ["" if c is None else str(c) for c in reference.cells]),
        outcomes=outcomes,
    )


def _peak_bytes() -> int | None:
    """Memory this process has taken at most; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


# --- dry run ----------------------------------------------------------------------------------------------------


def _dry_run(options: Options) -> int:
    from asterism.cli.dry import dry_run_text

    look = {
        "kinds": kinds_of(options.kind, _ignored(options)),
        "weights": options.weights,
        "na": absent_of(options.na),
    }
    click.echo(
        dry_run_text(
            options.table,
            options.how,
            look,
            options.method,
            options.k,
            options.memory,
            options.json,
        ),
        nl=False,
    )
    return 0
