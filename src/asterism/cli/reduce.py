"""``asterism reduce TABLE``: principal components."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from asterism.cli import options as common
from asterism.cli.messages import say, spoken_warnings
from asterism.cli.params import kinds_of
from asterism.cli.tables import table_name

if TYPE_CHECKING:
    from asterism.methods.axes import Axes

FILES = ("components.html", "loadings.csv", "scores.csv", "variance.csv")
MEASURED = 2048  # columns up to which the dimension of a table is told: correlations of all pairs are needed


class HowMany(click.ParamType[Any]):
    """``3`` components, or ``90%`` of the variance."""

    name = "M|SHARE%"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """A whole number, or a share below 1."""
        if not isinstance(value, str):
            return float(value)  # click converts a default a second time
        text = value.strip()
        try:
            found = float(text[:-1]) / 100.0 if text.endswith("%") else int(text)
        except ValueError:
            found = 0
        if found <= 0 or (text.endswith("%") and found >= 1):
            self.fail(f"{value!r} is neither a number of components (3) nor a share (90%).", param, ctx)
        return found


@dataclass(frozen=True, kw_only=True)
class Options(common.Reading):
    """The command line of one call."""

    components: float
    no_scale: bool


@click.command(short_help="Principal components of a table.")
@click.argument("table")
@click.option("--components", "-m", type=HowMany(),
              default="90%", show_default=True, help="How many, or how much of the variance.")  # fmt: skip
@common.reading
@common.no_scale
@click.option(
    "--out", metavar="DIR", help="Folder of results.  [default: NAME-reduced in the current folder]"
)
@click.option("--json", is_flag=True, help="Print the summary as JSON.")
@common.running
@click.pass_context
def reduce(ctx: click.Context, /, **options: Any) -> None:
    """Find the principal components of TABLE.

    TABLE is a CSV, Parquet or .npy file, a folder or glob of Parquet files, or - for CSV on stdin. Rows with missing
    cells count too: the components are then those of probabilistic PCA.

    Prints the variance that each component holds. Writes variance.csv, scores.csv (where every row lies),
    loadings.csv (what every column does) and components.html (the picture) into NAME-reduced.

    \b
    Examples:
      asterism reduce penguins.csv
      asterism reduce survey.csv --components 3 --ignore name
    """
    ctx.exit(run(Options(**options)))


def run(options: Options) -> int:
    """Do the work; the exit code."""
    from asterism.cli.biplot import biplot
    from asterism.cli.output import refuse_overwrite, whole_folder

    target = Path(options.out or f"{table_name(options.table)}-reduced").resolve()
    refuse_overwrite(target, options.force, FILES)  # before the work, not after it
    with spoken_warnings():
        axes, dimension = _reduced(options)
        figure = biplot(axes, f"{table_name(options.table)}: {method_of(axes)}")
        heads = [f"pc{c + 1}" for c in range(len(axes.shares))]
        with whole_folder(target, options.force, FILES) as folder:
            figure.write_html(folder / "components.html", include_plotlyjs=True)
            held = zip(heads, axes.variances.tolist(), axes.shares.tolist(), strict=True)
            _write(folder / "variance.csv", ["component", "variance", "share"], held)
            _write(folder / "scores.csv", ["row", *heads], _lines(range(len(axes.scores)), axes.scores))
            names = map(_harmless, axes.names)
            _write(folder / "loadings.csv", ["column", *heads], _lines(names, axes.directions.T))
    summary = summary_of(options.table, axes, dimension)
    click.echo(json.dumps(summary, indent=1, ensure_ascii=False) if options.json else _text(summary))
    if not options.quiet:
        say(f"Wrote {', '.join(FILES)} into {options.out or target.name}/")
    return 0


def _reduced(options: Options) -> tuple[Axes, dict[str, Any] | None]:
    from asterism.data.encode import EncodedSource
    from asterism.data.read import read
    from asterism.engines.context import engine
    from asterism.methods.axes import principal_axes
    from asterism.methods.dimension import dimensions_of
    from asterism.methods.encoding import standard_encoding

    with engine(n_threads=options.threads, memory=options.memory):
        kinds = kinds_of(options.kind, options.ignore)
        source = read(options.table, kinds=kinds, weights=options.weights, **options.how)
        if not options.quiet:
            for note in source.notes:
                say(note)
        encoded = EncodedSource(source, standard_encoding(source, scale=not options.no_scale))
        axes = principal_axes(encoded, options.components)
        if axes.missing or len(axes.names) > MEASURED or not axes.variances[0] > 0 or len(axes.scores) < 3:
            return axes, None
        found = dimensions_of(encoded)
    known = {"concentration": found.concentration, "neighbours": found.neighbours, "spread": found.spread}
    return axes, {
        "above_chance": found.parallel,
        **{name: value if value == value else None for name, value in known.items()},  # JSON has no NaN
    }


# --- files ------------------------------------------------------------------------------------------------------


def _lines(heads: Iterable[Any], matrix: Any) -> Iterable[Sequence[Any]]:
    return ([head, *row.tolist()] for head, row in zip(heads, matrix, strict=True))


def _harmless(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name[:1] in ("=", "+", "-", "@") else name


def _write(path: Path, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(rows)


# --- words ------------------------------------------------------------------------------------------------------


def method_of(axes: Axes) -> str:
    """What the axes are."""
    return "probabilistic principal components" if axes.missing else "principal components"


def summary_of(table: str, axes: Axes, dimension: dict[str, Any] | None) -> dict[str, Any]:
    """What is printed; ``dimension`` is known of tables without missing cells."""
    return {
        "version": 1,
        "table": table,
        "method": method_of(axes),
        "rows": len(axes.scores),
        "columns": list(axes.names),
        "missing_cells": axes.missing,
        "components": len(axes.shares),
        "variance": axes.variances.tolist(),
        "share": axes.shares.tolist(),
        "cumulative": axes.shares.cumsum().tolist(),
        "dimension": dimension,
    }


def _text(found: dict[str, Any]) -> str:
    head = f"{found['table']}: {found['method']} of {found['rows']:,} rows, {len(found['columns'])} columns"
    gaps = ", some cells missing" if found["missing_cells"] else ""
    lines = [head + gaps, "", "component   variance   share  together"]
    for c, (variance, share, together) in enumerate(
        zip(found["variance"], found["share"], found["cumulative"], strict=True), 1
    ):
        lines.append(f"{f'pc{c}':<9} {variance:10.4g} {share:7.1%} {together:9.1%}")
    if found["dimension"]:
        above, near = found["dimension"]["above_chance"], found["dimension"]["neighbours"]
        lines += ["", f"Components that hold more than noise would: {above}."]
        if near is not None:
            lines.append(f"Dimensions that nearest neighbours see: about {near:.1f}.")
    return "\n".join(lines)
