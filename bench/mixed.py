"""The verdict on tables with columns of every kind: how many groups, which row belongs where, how sure.

``tables``  every generated table of ``mixed_tables`` by twenty seeds, measured ones once: adjusted Rand index with
            the number of groups unknown as a share of the oracle's, alarms where there are no groups, whether
            confidence is a frequency, all beside the usual ways (``mixed_peers``). With ``--keep FOLDER`` a run goes
            on where one was stopped (``mixed_answers`` labels piece by piece).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bench import mixed_score as score
from bench.choose_answers import FIND, Kept, answers
from bench.choose_score import alarms, rand, sure_and_right
from bench.harness import Contestant, Result, Turn
from bench.mixed_answers import CONTESTANTS, SEEDS, ask, present, tables_of
from bench.mixed_tables import HALVES, KINDS, MixedTable
from bench.report import Bar, Report, Session, Size

TINY = ("counts, Poisson", "none: incomes alone")
LEAST_OF_ORACLE, MOST_ALARMS, LEAD, MOST_LOSS = 0.9, 0.02, 0.15, 0.05
MOST_ERROR, LEAST_SURE, LEAST_VALUES = 0.07, 0.9, 30


@dataclass(frozen=True)
class Case:
    """All tables of some seeds."""

    name: str
    seeds: tuple[int, ...]
    size: Size = "full"
    keep: Path | None = None  # where answers are kept between runs


def cases(size: Size) -> list[Case]:
    """One; ``quick`` has two seeds, ``tiny`` two tables."""
    return [Case("tables", {"full": SEEDS, "quick": SEEDS[:2], "tiny": SEEDS[:1]}[size], size)]


def seeded(case: Case, seed: int) -> Case:
    """The case with tables of another seed alone."""
    return replace(case, seeds=(seed,))


def kept(case: Case, folder: Path) -> Case:
    """The case with answers of earlier runs, if they are there; new ones are added."""
    return replace(case, keep=folder)


def tables_for(case: Case) -> Iterator[list[MixedTable]]:
    """Tables seed by seed; measured ones with the first of a full run."""
    for j, seed in enumerate(case.seeds):
        if case.size == "tiny":
            yield [table for name in TINY for table in tables_of(seed, ("groups", "none"), name)]
        else:
            yield tables_of(seed, KINDS, measured=case.size == "full" and j == 0)


def run(case: Case, _: Session) -> Report:
    """Label what is not labelled yet, and score everything."""
    stored, names = Kept(case.keep), present()
    for tables in tables_for(case):
        answers(stored, names, tables, ask=ask)
    found = score.scored(stored, names, tables_for(case))
    results = []
    for name in CONTESTANTS:
        result = Result(Contestant(name, name, "pandas", labelled_elsewhere, name == FIND))
        if name in names:
            result.turns.append(Turn(sum(mark.seconds for mark in found.marks[name]), 0, facts(found, name)))
        else:
            result.failure = "not installed"
        results.append(result)
    marks = found.marks[FIND]
    kinds = {kind: len({mark.table for mark in marks if mark.kind == kind}) for kind in KINDS}
    remarks = [
        f"{len(case.seeds)} seed(s) of {kinds['groups']} kinds of tables with groups and {kinds['none']} without, "
        f"{kinds['measured']} measured tables"
    ]
    return Report(case.name, "tables", results, objective="adjusted Rand",
                  remarks=remarks + score.described(found))  # fmt: skip


def labelled_elsewhere(frame: object) -> None:
    """Contestants label table by table, they are not raced."""


def facts(found: score.Scored, name: str) -> dict[str, float]:
    """The figures that bars are about; those that do not exist are left out."""
    marks = found.marks[name]
    made = [mark for mark in marks if mark.kind == "groups"]
    values: dict[str, float | None] = {
        "objective": rand(made),
        "of oracle": score.of_oracle(found, name),
        "alarms": alarms(marks),
    }
    if name == FIND:
        generated = [mark for mark in marks if mark.kind != "measured"]
        newest = [mark for mark in generated if mark.half == HALVES[-1]] or generated
        sure, correct = sure_and_right(newest)
        worst = score.worst_measured(found)
        values |= {
            "calibration error": score.calibration_error(newest),
            "sure and right": correct / sure if sure else None,
            "values": float(score.different_confidences(newest)),
            "measured loss": worst[0] if worst else None,
        }
    return {key: value for key, value in values.items() if value is not None}


def bars(reports: list[Report]) -> list[Bar]:
    """What the verdict is held to."""
    return [bar for report in reports if report.ours.turns for bar in _bars(report)]


def _bars(report: Report) -> list[Bar]:
    ours = report.ours.turns[0].facts
    peers = {r.contestant.name: r.turns[0].facts for r in report.results[1:] if r.turns}

    def bar(text: str, key: str, least: float | None = None, most: float | None = None) -> Bar:
        value = ours.get(key)
        if value is None:
            return Bar(text, None, "not measured")
        met = (least is None or value >= least) and (most is None or value <= most)
        return Bar(text, met, f"{value:.3f}")

    return [
        bar(f"mixed: adjusted Rand >= {LEAST_OF_ORACLE:.0%} of the oracle's", "of oracle", LEAST_OF_ORACLE),
        bar(f"mixed: alarms <= {MOST_ALARMS:.0%}", "alarms", most=MOST_ALARMS),
        _lead(ours, {name: of["objective"] for name, of in peers.items() if "objective" in of}),
        bar(f"mixed: no measured table below its best peer by over {MOST_LOSS}", "measured loss", most=MOST_LOSS),
        bar(f"mixed: calibration error <= {MOST_ERROR}", "calibration error", most=MOST_ERROR),
        bar(f"mixed: right at 0.9 or surer >= {LEAST_SURE}", "sure and right", LEAST_SURE),
        bar(f"mixed: >= {LEAST_VALUES} values of confidence", "values", LEAST_VALUES),
    ]  # fmt: skip


def _lead(ours: dict[str, float], peers: dict[str, float]) -> Bar:
    text = f"mixed: adjusted Rand above every peer by {LEAD}"
    if not peers or "objective" not in ours:
        return Bar(text, None, "not measured")
    best = max(peers, key=lambda name: peers[name])
    return Bar(
        text, ours["objective"] - peers[best] >= LEAD, f"{ours['objective']:.3f}, {best} {peers[best]:.3f}"
    )
