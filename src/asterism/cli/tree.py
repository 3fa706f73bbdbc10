"""``asterism tree TABLE``: a dendrogram."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from asterism.cli import options as common
from asterism.cli.messages import say, spoken_warnings
from asterism.cli.params import kinds_of
from asterism.cli.tables import table_name

if TYPE_CHECKING:
    from asterism.data.source import Source
    from asterism.estimators.agglomerative import AgglomerativeClustering

FILES = ("dendrogram.html", "linkage.csv", "labels.csv")
LINKAGES = ("auto", "ward", "average", "complete", "single", "weighted", "centroid", "median")
MOST_GROUPS = 10  # that are looked for where no number is given


@dataclass(frozen=True, kw_only=True)
class Options(common.Reading):
    """The command line of one call."""

    k: int | None
    linkage: str
    leaves: int
    no_scale: bool


@click.command(short_help="Draw the tree of a table's rows.")
@click.argument("table")
@click.option(
    "--k", type=click.IntRange(min=1), help="Clusters to cut the tree into.  [default: at the largest gap]"
)
@click.option("--linkage", type=click.Choice(LINKAGES), default="auto", show_default=True,
              help="What makes clusters near. auto: ward, or average where cells are missing.")  # fmt: skip
@click.option("--leaves", type=click.IntRange(min=2), default=60, show_default=True,
              help="Leaves to draw; of a larger tree the top is drawn.")  # fmt: skip
@common.reading
@common.no_scale
@click.option("--out", metavar="DIR", help="Folder of results.  [default: NAME-tree in the current folder]")
@click.option("--json", is_flag=True, help="Print the summary as JSON.")
@common.running
@click.pass_context
def tree(ctx: click.Context, /, **options: Any) -> None:
    """Draw the tree of the rows of TABLE.

    TABLE is a CSV, Parquet or .npy file, a folder or glob of Parquet files, or - for CSV on stdin.

    Writes dendrogram.html (the picture), linkage.csv (every merge, its height and weight) and labels.csv (the
    cluster of every row) into NAME-tree.

    \b
    Examples:
      asterism tree penguins.csv
      asterism tree survey.csv --k 4 --linkage average --ignore name
    """
    ctx.exit(run(Options(**options)))


def run(options: Options) -> int:
    """Do the work; the exit code."""
    from asterism.cli.output import refuse_overwrite, whole_folder

    target = Path(options.out or f"{table_name(options.table)}-tree").resolve()
    refuse_overwrite(target, options.force, FILES)
    with spoken_warnings():
        fitted = _fitted(options)
        k = options.k or largest_gap(fitted.linkage_matrix_[:, 2])
        figure = fitted.plot_dendrogram(
            k=k, leaves=options.leaves, title=f"{options.table}: {fitted.linkage} tree"
        )
        with whole_folder(target, options.force, FILES) as folder:
            figure.write_html(folder / "dendrogram.html", include_plotlyjs=True)
            _write_linkage(fitted, folder / "linkage.csv")
            labels = fitted.cut(k=k)
            text = "row,cluster\n" + "".join(f"{row},{label}\n" for row, label in enumerate(labels.tolist()))
            (folder / "labels.csv").write_text(text, encoding="utf-8")
    summary = _summary(fitted, options.table, k)
    click.echo(json.dumps(summary, indent=1) if options.json else _text(summary))
    if not options.quiet:
        say(f"Wrote {', '.join(FILES)} into {options.out or target.name}/")
    return 0


def _fitted(options: Options) -> AgglomerativeClustering:
    from asterism.data.encode import EncodedSource
    from asterism.data.read import read
    from asterism.engines.context import engine
    from asterism.estimators.agglomerative import AgglomerativeClustering
    from asterism.methods.encoding import standard_encoding

    with engine(n_threads=options.threads, memory=options.memory):
        kinds = kinds_of(options.kind, options.ignore)
        source = read(options.table, kinds=kinds, weights=options.weights, **options.how)
        if not options.quiet:
            for note in source.notes:
                say(note)
        encoded = EncodedSource(source, standard_encoding(source, scale=not options.no_scale))
        linkage = options.linkage
        if linkage == "auto":
            linkage = "average" if _lacks_cells(encoded) else "ward"
        return AgglomerativeClustering(1, linkage=linkage).fit(encoded)


def _lacks_cells(source: Source) -> bool:
    from asterism.engines.reduce import reduce
    from asterism.stats.moments import ColumnMoments

    return bool(reduce(source, ColumnMoments.of).missing)


def largest_gap(heights: Any) -> int:
    """Clusters at the largest step between the heights of the last merges; 1 where there is no step.

    >>> import numpy as np
    >>> largest_gap(np.array([1.0, 1.1, 1.2, 7.0, 7.5]))
    3
    """
    top = heights[-MOST_GROUPS:]
    if len(top) < 2 or not (top[1:] > top[:-1]).any():
        return 1
    steps = top[1:] - top[:-1]
    return int(len(top) - steps.argmax())


def _write_linkage(fitted: AgglomerativeClustering, path: Path) -> None:
    """One line a merge. Leaves are numbered from 0, and merge i makes cluster m + i of m leaves."""
    m = fitted.n_leaves_
    lines = ["cluster,left,right,height,weight\n"]
    lines += [
        f"{m + i},{int(a)},{int(b)},{h!r},{w:.17g}\n"
        for i, (a, b, h, w) in enumerate(fitted.linkage_matrix_.tolist())
    ]
    path.write_text("".join(lines), encoding="utf-8")


def _summary(fitted: AgglomerativeClustering, table: str, k: int) -> dict[str, Any]:
    labels = fitted.cut(k=k).tolist()
    return {
        "version": 1,
        "table": table,
        "linkage": fitted.linkage,
        "rows": len(labels),
        "leaves": fitted.n_leaves_,
        "compressed": fitted.compressed_,
        "agglomerative_coefficient": fitted.coefficient_,
        "k": k,
        "sizes": [labels.count(label) for label in range(k)],
        "last_heights": fitted.linkage_matrix_[-MOST_GROUPS:, 2].tolist(),
    }


def _text(summary: dict[str, Any]) -> str:
    sizes = ", ".join(str(size) for size in summary["sizes"])
    lines = [
        f"{summary['linkage'].capitalize()} tree of {summary['rows']} rows.",
        f"Cut into {summary['k']} clusters of {sizes} rows.",
        f"Agglomerative coefficient {summary['agglomerative_coefficient']:.3f} (0 no structure, 1 very clear).",
    ]
    return "\n".join([*lines, summary["compressed"]] if summary["compressed"] else lines)
