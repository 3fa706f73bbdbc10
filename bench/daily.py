"""Tables of daily life: ``python -m bench.daily [--only NAME] [--seed 0] [--rows 2000] [--no-peers] [--json FILE]``.

36 generated tables as people have them (``daily_tables``), each written to a file that ``asterism.find`` is given
without a word. The oracle is ``find`` on the clean typed columns of the same rows. Bars: adjusted Rand index at
least 95% of the oracle's in the mean, the kind of at least 97% of columns right, peers left behind by 0.15.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.daily_draft import Column, Draft
from bench.daily_files import clean_frame, frame_of_pandas, save
from bench.daily_peers import peer_scores, present
from bench.daily_tables import RECIPES, Recipe

SHARE, KINDS, LEAD = 0.95, 0.97, 0.15  # bars
NUMBERS = ("numeric", "count")
TIMES = ("date", "time", "moment", "cycle", "clock")  # words in the name of any kind that is a date or time


@dataclass
class Result:
    """One table."""

    name: str
    rows: int
    groups: int
    found: int
    rand: float
    oracle: float
    columns: int
    wrong: list[str]  # columns taken for what they are not
    seconds: float
    peers: dict[str, float] = field(default_factory=dict)
    error: str = ""


def kind_of(name: str, finding: Any) -> str:
    """What a column was taken for: its kind, or "several" where it became several columns, or "gone"."""
    for column in (*finding.columns, *finding.ignored):
        if column.name == name:
            return str(column.kind)
    parts = [column.kind for column in finding.columns if column.name.startswith(name)]
    return "several" if parts else "gone"


def is_right(column: Column, kind: str, levels: int) -> bool:
    """Whether that is what the column truly is; where two views are as good, both are right."""
    sort = column.sort
    if sort == "number":
        return kind in NUMBERS or (kind == "ordinal" and _few(column))
    if sort == "order":
        return kind == "ordinal" or (kind in NUMBERS and _digits(column))
    if sort == "names":
        return kind == "categorical" or (kind == "boolean" and levels == 2)
    if sort == "yes/no":
        return kind == "boolean" or (kind in ("categorical", "ordinal", *NUMBERS) and levels == 2)
    if sort == "moment":
        return kind == "several" or any(word in kind for word in TIMES)
    if sort == "place":
        return (
            kind == "numeric"
            or kind == "several"
            or "geo" in kind
            or kind in ("latitude", "longitude", "place", "sphere")
        )
    if sort == "vector":
        return kind in ("vector", "several")
    if sort == "crowd":
        return kind in ("categorical", "ignored", "several")
    return kind == "ignored"


def _few(column: Column) -> bool:
    """A few whole numbers are as well ordered levels."""
    return len({str(cell) for cell in column.written}) <= 20


def _digits(column: Column) -> bool:
    return all(str(cell).lstrip("-").isdigit() for cell in column.written if cell != "")


def run(recipe: Recipe, seed: int = 0, rows: int | None = None, *, peers: bool = True) -> Result:
    """One table: found, oracle, peers."""
    from sklearn.metrics import adjusted_rand_score

    import asterism

    draft = recipe.draft(seed, None if rows is None else min(rows, recipe.rows))
    result = Result(recipe.name, draft.n, draft.k, 0, 0.0, 0.0, len(draft.columns), [], 0.0)
    clean, kinds = clean_frame(draft)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = asterism.find(clean, kinds=kinds)
        result.oracle = float(adjusted_rand_score(draft.z, oracle.labels))
        path = save(draft, recipe.layout, Path(folder))
        began = time.perf_counter()
        try:
            finding = asterism.find(path)
        except asterism.errors.AsterismError as bad:
            result.error, result.wrong = (
                str(bad)[:160],
                [f"{c.name} ({c.sort}): refused" for c in draft.columns],
            )
        else:
            result.found = finding.k
            if len(finding.labels) == draft.n:
                result.rand = float(adjusted_rand_score(draft.z, finding.labels))
            else:
                result.error = f"{len(finding.labels)} rows were read of {draft.n}"
            result.wrong = wrong_kinds(draft, finding)
        result.seconds = time.perf_counter() - began
    if peers:
        result.peers = peer_scores(frame_of_pandas(draft, recipe.layout), draft.z)
    return result


def wrong_kinds(draft: Draft, finding: Any) -> list[str]:
    """Columns that were taken for what they are not, with what they were taken for."""
    out = []
    for column in draft.columns:
        kind = kind_of(column.name, finding)
        levels = len({str(cell) for cell in column.written if cell != ""})
        if not is_right(column, kind, levels):
            out.append(f"{column.name} ({column.sort}): {kind}, e.g. {str(column.written[0])[:24]!r}")
    return out


def summary(results: Sequence[Result]) -> str:
    """Every table, the means and the bars."""
    lines = [
        f"{'table':12} {'rows':>6} {'k':>2} {'found':>5} {'rand':>6} {'oracle':>6} {'kinds':>7} {'s':>5}  best peer"
    ]
    for r in results:
        kinds = f"{r.columns - len(r.wrong)}/{r.columns}"
        best = max(r.peers.items(), key=lambda item: item[1], default=("", float("nan")))
        lines.append(
            f"{r.name:12} {r.rows:6} {r.groups:2} {r.found:5} {r.rand:6.3f} {r.oracle:6.3f} {kinds:>7} "
            f"{r.seconds:5.1f}  {best[1]:.3f} {best[0]}"
        )
    rand, oracle = (float(np.mean([getattr(r, name) for r in results])) for name in ("rand", "oracle"))
    right = 1 - sum(len(r.wrong) for r in results) / sum(r.columns for r in results)
    peers = {name: float(np.mean([r.peers[name] for r in results])) for name in results[0].peers}
    lines += ["", f"mean adjusted Rand {rand:.3f}, oracle {oracle:.3f}: {_bar(rand / oracle, SHARE)} of the oracle's",
              f"kinds right: {_bar(right, KINDS)} of {sum(r.columns for r in results)} columns"]  # fmt: skip
    for name, score in peers.items():
        lines.append(f"{name}: {score:.3f}, left behind by {rand - score:.3f}")
    if peers:
        lead = rand - max(peers.values())
        lines.append(f"lead over the best peer: {lead:.3f}, bar {LEAD} {'met' if lead >= LEAD else 'missed'}")
    lines += [f"{name}: left out, {why}" for name, why in present().items()]
    misses = [r for r in results if r.wrong or r.error or r.rand < SHARE * r.oracle]
    lines += ["", "misses"] + [
        f"  {r.name}: rand {r.rand:.3f} of {r.oracle:.3f}"
        + (f"; {r.error}" if r.error else "")
        + "".join(f"\n    {w}" for w in r.wrong)
        for r in misses
    ]
    return "\n".join(lines)


def _bar(value: float, bar: float) -> str:
    return f"{value:.1%} (bar {bar:.0%}: {'met' if value >= bar else 'missed'})"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.daily", description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", metavar="NAME", help="tables of these names")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, help="at most so many rows a table")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number measured")
    options = parser.parse_args()
    results = []
    for recipe in RECIPES.values():
        if not options.only or recipe.name in options.only:
            results.append(run(recipe, options.seed, options.rows, peers=not options.no_peers))
            last = results[-1]
            print(
                f"{last.name}: {last.rand:.3f} of {last.oracle:.3f}, {len(last.wrong)} wrong {last.error}",
                flush=True,
            )
    print(summary(results))
    if options.json:
        options.json.write_text(json.dumps([asdict(r) for r in results], indent=1))


if __name__ == "__main__":
    main()
