"""The verdict on tables of numbers: how many groups, which row belongs where.

``tables``  every table of ``choose_tables`` by three seeds, measured ones once: adjusted Rand index with the number
            of groups unknown, right numbers, alarms where there are none, beside the usual ways (``choose_peers``).
            With ``--keep FOLDER`` a run goes on where one was stopped (``choose_answers`` labels piece by piece).
``same``    every table by six changes that cannot matter (``choose_same``).
``times``   ``find`` with missing cells, with many numbers to choose from, with many rows (``choose_times``).
``sweep``   the fits of mixtures beside a loop over scikit-learn's (``choose_sweep``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench import choose_same, choose_score
from bench.choose_answers import CONTESTANTS, FIND, OURS, SEEDS, TOLD, Kept, answers, ask, present, tables_of
from bench.choose_sweep import run_sweep, sweep_bars
from bench.choose_tables import LabelledTable
from bench.choose_times import TIMED, run_times, time_bars
from bench.harness import Contestant, Result, Turn
from bench.report import Bar, Report, Session, Size

TINY = ("normals 2 of 50", "none: normal, 60 x 2")
LEAD, LEAST_LEAD = 0.1, 0.0  # of our adjusted Rand index over peers that find k, over one that is told it
MOST_ALARMS, MOST_FRESH_LOSS = 0.02, 0.03
SAME_K, SAME_RAND = 0.97, 0.95


@dataclass(frozen=True)
class Case:
    """One kind of work."""

    part: str
    name: str
    n: int = 0
    seeds: tuple[int, ...] = SEEDS
    most: int = 15  # components of the sweep
    size: Size = "full"
    keep: Path | None = None  # where answers are kept between runs


def cases(size: Size) -> list[Case]:
    """All; ``quick`` has generated tables of one seed and a tenth of the rows, ``tiny`` two tables."""
    seeds = SEEDS if size == "full" else SEEDS[:1]
    shrink = {"full": 1, "quick": 10, "tiny": 1000}[size]
    n, most = {"full": (20_000, 15), "quick": (2000, 15), "tiny": (600, 3)}[size]
    return [
        Case("sweep", f"sweep {n}x8 k=1..{most}", n, most=most, size=size),
        *[
            Case(part, f"times {timed.name}", max(200, timed.n // shrink), size=size)
            for part, timed in TIMED.items()
        ],
        Case("same", "same", seeds=seeds[:1], size=size),
        Case("tables", "tables", seeds=seeds, size=size),
    ]


def seeded(case: Case, seed: int) -> Case:
    """The case with tables of another seed alone."""
    return replace(case, seeds=(seed,))


def kept(case: Case, folder: Path) -> Case:
    """The case with answers of earlier runs, if they are there; new ones are added."""
    return replace(case, keep=folder)


def run(case: Case, session: Session) -> Report:
    """Measure a case."""
    if case.part == "sweep":
        return run_sweep(case.name, case.n, case.most, 1 if case.size == "tiny" else 2, session)
    if case.part in TIMED:
        return run_times(case.part, case.name, case.n, session)
    return _same(case) if case.part == "same" else _tables(case)


def tables_for(case: Case) -> list[LabelledTable]:
    """The tables of a case; measured ones in full runs only."""
    if case.size == "tiny":
        return [table for name in TINY for table in tables_of(case.seeds, ("round", "none"), name)]
    kinds = ("shape", "round", "noise", "wide", "none") + (("measured",) if case.size == "full" else ())
    return tables_of(case.seeds, kinds)


# --- tables -------------------------------------------------------------------------------------------------------


def _tables(case: Case) -> Report:
    tables = tables_for(case)
    ask(FIND, replace(tables[0], rows=tables[0].rows[:50]))  # imported before it is timed
    stored, names = Kept(case.keep), present()
    answers(stored, names, tables)
    found = choose_score.scored(stored, names, tables)
    results = []
    for name in CONTESTANTS:
        counted = name == FIND  # nothing is said about the speed of peers
        result = Result(Contestant(name, _package(name), "numpy", labelled_elsewhere, counted))
        if name in names:
            seconds = sum(mark.seconds for mark in found.marks[name])
            result.turns.append(Turn(seconds, 0, facts(found, name)))
        else:
            result.failure = "not installed"
        results.append(result)
    n_none = len({table.name for table in tables if table.k == 1})
    remarks = [f"{len({table.name for table in tables})} tables, {n_none} of them without groups"]
    return Report(case.name, "tables", results, objective="adjusted Rand",
                  remarks=remarks + choose_score.described(found))  # fmt: skip


def _package(name: str) -> str:
    return "asterism" if name == FIND else name


def labelled_elsewhere(X: np.ndarray) -> None:
    """Contestants label table by table, they are not raced."""


def facts(found: choose_score.Scored, name: str) -> dict[str, float]:
    """The figures that bars are about; those that do not exist are left out."""
    marks = found.marks[name]
    sure, correct = choose_score.sure_and_right(marks)
    values = {
        "objective": choose_score.rand(marks),
        "right": choose_score.right(marks),
        "alarms": choose_score.alarms(marks),
        "older": choose_score.rand(marks, half="older"),
        "fresh": choose_score.rand(marks, half="fresh"),
        "agree": float(np.mean(found.agree)) if found.agree else None,
        "sure and right": correct / sure if sure else None,
    }
    return {key: value for key, value in values.items() if value is not None}


# --- the same answer ----------------------------------------------------------------------------------------------


def _same(case: Case) -> Report:
    pairs = choose_same.pairs(Kept(case.keep), tables_for(case))
    same, rand = float(np.mean([p.same for p in pairs])), float(np.mean([p.rand for p in pairs]))
    result = Result(Contestant(FIND, FIND, "numpy", labelled_elsewhere))
    result.turns.append(Turn(0.0, 0, {"objective": rand, "same": same}))
    return Report(
        case.name, "same", [result], objective="adjusted Rand", remarks=choose_same.described(pairs)
    )


# --- bars ---------------------------------------------------------------------------------------------------------


def bars(reports: list[Report]) -> list[Bar]:
    """What the verdict is held to."""
    held = {"sweep": sweep_bars, "times": time_bars, "same": _same_bars, "tables": _table_bars}
    return [bar for report in reports if report.ours.turns for bar in held[report.part](report)]


def _same_bars(report: Report) -> list[Bar]:
    ours = report.ours.turns[0].facts
    return [
        Bar(f"same: >= {SAME_K:.0%} the same k", ours["same"] >= SAME_K, f"{ours['same']:.1%}"),
        Bar(
            f"same: adjusted Rand >= {SAME_RAND}", ours["objective"] >= SAME_RAND, f"{ours['objective']:.3f}"
        ),
    ]


def _table_bars(report: Report) -> list[Bar]:
    ours = report.ours.turns[0].facts
    others = {r.contestant.name: r.turns[0].facts for r in report.results if r.turns}
    free = {name: facts for name, facts in others.items() if name not in (*OURS, TOLD)}
    told = {name: facts for name, facts in others.items() if name == TOLD}
    found = [_lead(ours, free, LEAD, "every peer"), _lead(ours, told, LEAST_LEAD, TOLD)]
    alarms = ours.get("alarms")
    found.append(
        _bar(f"tables: alarms <= {MOST_ALARMS:.0%}", alarms, alarms is not None and alarms <= MOST_ALARMS)
    )
    loss = ours["older"] - ours["fresh"] if {"older", "fresh"} <= set(ours) else None
    found.append(_bar(f"tables: the fresh half not worse by over {MOST_FRESH_LOSS}", loss,
                      loss is not None and loss <= MOST_FRESH_LOSS))  # fmt: skip
    agree = ours.get("agree")
    found.append(_bar("tables: find = choose_k", agree, agree == 1.0))
    sure = ours.get("sure and right")
    found.append(
        _bar(f"tables: right at {choose_score.SURE} or surer >= 0.9", sure, sure is not None and sure >= 0.9)
    )
    return found


def _lead(ours: dict[str, float], others: dict[str, dict[str, float]], lead: float, beside: str) -> Bar:
    text = f"tables: adjusted Rand above {beside}" + (f" by {lead}" if lead else "")
    known = {name: facts["objective"] for name, facts in others.items() if "objective" in facts}
    if not known or "objective" not in ours:
        return Bar(text, None, "not measured")
    best = max(known, key=lambda name: known[name])
    value = f"{ours['objective']:.3f}, {best} {known[best]:.3f}"
    return Bar(text, ours["objective"] - known[best] >= lead, value)


def _bar(text: str, value: float | None, met: bool) -> Bar:
    return Bar(text, None, "not measured") if value is None else Bar(text, met, f"{value:.3f}")
