"""``asterism compare LABELS REFERENCE``: how far two labelings agree, or a labeling with people's judgements."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from asterism.cli import options as common
from asterism.cli.messages import spoken_warnings
from asterism.errors import DataError, ParameterError, row_name

LABEL_NAMES = ("group", "label", "labels", "cluster", "class", "species")
SAME = {
    "same": True,
    "yes": True,
    "true": True,
    "1": True,
    "different": False,
    "no": False,
    "false": False,
    "0": False,
}
TRUTHS = "same or different, yes or no, true or false, 1 or 0"
VERSION = 1  # of the JSON


@dataclass(frozen=True)
class Options:
    """The command line of one call."""

    labels: str
    reference: str | None
    pairs: str | None
    column: str | None
    reference_column: str | None
    weights: str | None
    how: Any
    ask: int
    json: bool


@click.command(short_help="Compare two labelings, or a labeling with judgements of pairs.")
@click.argument("labels")
@click.argument("reference", required=False)
@click.option(
    "--pairs", metavar="FILE", help="Judgements: columns first, second (row numbers from 0), same, annotator."
)
@click.option("--column", metavar="COLUMN", help="Column of LABELS that holds the labels.")
@click.option("--reference-column", metavar="COLUMN", help="Column of REFERENCE that holds the labels.")
@click.option("--weights", metavar="COLUMN", help="Column of REFERENCE that says how often each row counts.")
@click.option("--match", "how", type=click.Choice(["greedy", "optimal"]), default="greedy", show_default=True,
              help="How groups are matched to the reference.")  # fmt: skip
@click.option("--ask", type=click.IntRange(min=0), default=10, show_default=True,
              help="With --pairs: how many pairs to propose for the next judgements.")  # fmt: skip
@click.option("--json", is_flag=True, help="Print the scores as JSON.")
@common.debug
def compare(**options: Any) -> None:
    """Tell how far LABELS agrees with REFERENCE, row by row.

    Both are CSV or Parquet files with one row per row of the table, in the same order. Compared is the column
    "group", or the only column, or the one that --column names. Rows without a label on either side are left out.

    \b
    Examples:
      asterism compare penguins-groups/labels.csv penguins.csv --reference-column species
      asterism compare monday/labels.csv tuesday/labels.csv --json
      asterism compare penguins-groups/labels.csv --pairs judgements.csv
    """
    with spoken_warnings():
        text = run(Options(**options))
    click.echo(text, nl=False)


def run(options: Options) -> str:
    """What to print."""
    if (options.reference is None) == (options.pairs is None):
        raise ParameterError(
            "There is nothing, or too much, to compare with.", "Give REFERENCE, or --pairs FILE."
        )
    scores = _labelings(options) if options.pairs is None else _judgements(options)
    if options.json:
        return _as_json(scores)
    return _as_text(scores)


# --- reading ----------------------------------------------------------------------------------------------------


def _columns(path: Any, names: Sequence[str] | None, wanted: str | None = None) -> dict[str, list[Any]]:
    """Columns of a file, or of one that was opened, as lists; None where a cell is missing."""
    from asterism.data.formats.npy import NpyTable
    from asterism.data.opening import opened

    table = opened(path)
    assert table is not None  # a path is always one
    path = str(path) if isinstance(path, str | os.PathLike) else table.title
    if isinstance(table, NpyTable):
        raise ParameterError(f"{path!r} is an array without names.", "Give labels as CSV or Parquet.")
    known = list(table.types)
    if names is None:
        names = [_label_column(path, known, wanted)]
    missing = [name for name in names if name not in known]
    if missing:
        raise ParameterError(
            f"{path!r} has no column {missing[0]!r}.", f"It has {', '.join(map(repr, known[:20]))}."
        )
    found: dict[str, list[Any]] = {name: [] for name in names}
    for batch in table.batches(list(names)):
        for name in names:
            found[name] += batch[name].to_pylist()
    return found


def _label_column(path: str, known: list[str], wanted: str | None) -> str:
    if wanted is not None:
        return wanted
    if {"group", "next_group"} <= set(known):  # a labels.csv, whatever columns of the table it has
        return "group"
    usual = [name for name in known if name.lower() in LABEL_NAMES]
    if len(usual) == 1:
        return usual[0]
    if len(known) == 1:
        return known[0]
    raise ParameterError(
        f"{path!r} has {len(known)} columns, and which of them holds the labels is not clear.",
        "Name it with --column or --reference-column.",
    )


# --- comparing --------------------------------------------------------------------------------------------------


def _labelings(options: Options) -> dict[str, Any]:
    from asterism import metrics

    assert options.reference is not None
    [found] = _columns(options.labels, None, options.column).values()
    reference = _columns(options.reference, None, options.reference_column)
    [true] = reference.values()
    if len(found) != len(true):
        raise DataError(
            f"{options.labels!r} has {len(found)} rows and {options.reference!r} has {len(true)}.",
            "Give labels of the same rows, in the same order.",
        )
    weights = None
    if options.weights is not None:
        [cells] = _columns(options.reference, [options.weights]).values()
        weights = [_number(cell, row, options.weights) for row, cell in enumerate(cells)]
    kept = [i for i, (a, b) in enumerate(zip(true, found, strict=True)) if a is not None and b is not None]
    a, b = [str(true[i]) for i in kept], [str(found[i]) for i in kept]
    w = None if weights is None else [weights[i] for i in kept]
    pairs = metrics.pair_scores(a, b, sample_weight=w)
    matching = metrics.match_clusters(a, b, options.how, sample_weight=w)
    homogeneity, completeness, v = metrics.homogeneity_completeness_v_measure(a, b, sample_weight=w)
    whole = w is None or all(x == int(x) for x in w)
    return {
        "rows": len(kept),
        "left_out": len(true) - len(kept),
        "classes": len(matching.classes),
        "groups": len(matching.clusters),
        "matched_accuracy": matching.accuracy,
        "matching": {str(group): name for group, name in matching.pairs.items()},
        "adjusted_rand": pairs.adjusted,
        "rand": pairs.accuracy,
        "fowlkes_mallows": pairs.fowlkes_mallows,
        "pair_precision": pairs.precision,
        "pair_recall": pairs.recall,
        "pair_f1": pairs.f1,
        "adjusted_mutual_information": metrics.adjusted_mutual_info_score(a, b, sample_weight=w)
        if whole
        else None,
        "normalized_mutual_information": metrics.normalized_mutual_info_score(a, b, sample_weight=w),
        "mutual_information": metrics.mutual_info_score(a, b, sample_weight=w),
        "homogeneity": homogeneity,
        "completeness": completeness,
        "v_measure": v,
        "variation_of_information": metrics.variation_of_information(a, b, sample_weight=w),
        "clustering_distance": metrics.clustering_distance(a, b, sample_weight=w),
    }


def _judgements(options: Options) -> dict[str, Any]:
    from asterism import metrics

    assert options.pairs is not None
    [labels] = _columns(options.labels, None, options.column).values()
    cells = _columns(options.pairs, ["first", "second", "same"])
    rows = [
        [_row(a, i), _row(b, i)] for i, (a, b) in enumerate(zip(cells["first"], cells["second"], strict=True))
    ]
    same = [_truth(cell, i) for i, cell in enumerate(cells["same"])]
    try:
        [who] = _columns(options.pairs, ["annotator"]).values()
    except ParameterError:
        who = [""] * len(same)
    known = [
        str(label) if label is not None else f"no label in {row_name(i)}" for i, label in enumerate(labels)
    ]
    s = metrics.judged_pairs_score(known, rows, same, annotators=[str(name) for name in who], ask=options.ask)
    return {
        "judgements": s.n_judgements,
        "pairs": s.n_pairs,
        "true_positive": s.tp,
        "false_positive": s.fp,
        "false_negative": s.fn,
        "true_negative": s.tn,
        "accuracy": s.accuracy,
        "precision": s.precision,
        "recall": s.recall,
        "f1": s.f1,
        "agreement_of_annotators": s.agreement,
        "krippendorff_alpha": s.alpha,
        "annotators": {
            a.name or "everyone": {"judgements": a.judgements, "accuracy": a.accuracy} for a in s.annotators
        },
        "disagreements": [[d.first, d.second] for d in s.disagreements],
        "ask_next": s.ask_next.tolist(),
    }


def _number(cell: Any, row: int, column: str) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        raise DataError(
            f"{cell!r} is not a weight.", "Weights are numbers, 0 or more.", row=row, column=column
        ) from None


def _row(cell: Any, row: int) -> int:
    try:
        return int(cell)
    except (TypeError, ValueError):
        raise DataError(f"{cell!r} is not a row number.", "Rows are counted from 0.", row=row) from None


def _truth(cell: Any, row: int) -> bool:
    said = SAME.get(str(cell).strip().lower())
    if said is None:
        raise DataError(f"{cell!r} is no judgement.", f"Write {TRUTHS}.", row=row, column="same")
    return said


# --- printing ---------------------------------------------------------------------------------------------------


def _as_json(scores: dict[str, Any]) -> str:
    import json

    from asterism import __version__
    from asterism.cli.summary import _plain

    data = {"asterism": __version__, "version": VERSION, **scores}
    return json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _as_text(scores: dict[str, Any]) -> str:
    from asterism.cli.summary import shown

    width = max(len(name) for name in scores)
    lines = []
    for name, value in scores.items():
        if isinstance(value, dict):
            value = "; ".join(f"{shown(str(key))}: {_short(item)}" for key, item in value.items())
        elif isinstance(value, list):
            value = ", ".join(f"{a}-{b}" for a, b in value) or "none"
        lines.append(f"{name.replace('_', ' '):<{width}}  {_short(value)}")
    return "\n".join(lines) + "\n"


def _short(value: Any) -> str:
    from asterism.cli.summary import shown

    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_short(item)}" for key, item in value.items())
    return f"{value:.4g}" if isinstance(value, float) else shown(str(value))
