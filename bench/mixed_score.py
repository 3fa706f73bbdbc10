"""Scores of labels of mixed tables: beside the oracle's and the peers', alarms; whether confidence is a frequency.

Marks and means are those of ``choose_score``. The oracle is Bayes' rule with the true parameters of a generated
table: an upper bound of what any method reaches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.choose_answers import FIND, Answer, Kept
from bench.choose_score import SURE, Mark, alarms, marked, rand, right, sure_and_right
from bench.mixed_tables import HALVES, MixedTable

ORACLE = "oracle"
BINS = 10  # convention: of the reliability table


@dataclass
class Scored:
    """Marks by contestant, how many answers each lacks, and the oracle's marks on the tables each answered."""

    marks: dict[str, list[Mark]]
    missing: dict[str, int]
    bounds: dict[str, list[Mark]]


def scored(kept: Kept, names: Sequence[str], tables: Iterable[Iterable[MixedTable]]) -> Scored:
    """Marks of all answers that are there; tables come by seed."""
    found = Scored(
        {name: [] for name in (ORACLE, *names)}, dict.fromkeys(names, 0), {name: [] for name in names}
    )
    for table in (table for of_seed in tables for table in of_seed):
        bound = None if table.oracle is None else marked(table, Answer(table.oracle, table.k))
        if bound is not None:
            found.marks[ORACLE].append(bound)
        for name in names:
            answer = kept.get(name, table)
            if answer is None:
                found.missing[name] += 1
            else:
                found.marks[name].append(marked(table, answer))
                if bound is not None:
                    found.bounds[name].append(bound)
    return found


# --- confidence ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bin:
    """Answers of about one confidence."""

    answers: int
    stated: float  # mean confidence
    right: float  # share whose number of groups is right


def reliability(marks: Sequence[Mark]) -> list[Bin]:
    """Ten bins of confidence, empty ones left out."""
    stated = np.array([mark.confidence for mark in marks])
    correct = np.array([mark.right for mark in marks])
    number = np.minimum((stated * BINS).astype(int), BINS - 1)
    return [
        Bin(int(mine.sum()), float(stated[mine].mean()), float(correct[mine].mean()))
        for mine in (number == b for b in np.unique(number))
    ]


def calibration_error(marks: Sequence[Mark]) -> float | None:
    """Expected calibration error: the mean over answers of |stated - right| of their bin."""
    bins = reliability(marks)
    if not bins:
        return None
    return float(np.average([abs(b.stated - b.right) for b in bins], weights=[b.answers for b in bins]))


def different_confidences(marks: Sequence[Mark]) -> int:
    """How many different values are stated, to three decimals."""
    return len({round(mark.confidence, 3) for mark in marks})


# --- what bars are about ------------------------------------------------------------------------------------------


def of_oracle(found: Scored, name: str, half: str = "") -> float | None:
    """The mean adjusted Rand index over the oracle's, on generated tables that the contestant answered."""
    ours = rand(found.marks[name], "groups", half)
    best = rand(found.bounds[name], "groups", half)
    return None if ours is None or not best else ours / best


def worst_measured(found: Scored) -> tuple[float, str] | None:
    """By how much we are below the best peer on a measured table, at worst, and which table that is."""
    tables = {mark.table for mark in found.marks.get(FIND, []) if mark.kind == "measured"}
    losses = []
    for table in sorted(tables):
        values = {
            name: rand([mark for mark in of if mark.table == table]) for name, of in found.marks.items()
        }
        others = [value for name, value in values.items() if name not in (FIND, ORACLE) and value is not None]
        ours = values[FIND]
        if others and ours is not None:
            losses.append((max(others) - ours, table))
    return max(losses, default=None)


# --- words --------------------------------------------------------------------------------------------------------


def described(found: Scored) -> list[str]:
    """Everything as lines."""
    marks = {name: of for name, of in found.marks.items() if of}
    seen = {mark.half for of in marks.values() for mark in of if mark.kind != "measured"}
    halves = [half for half in HALVES if half in seen]
    columns = [*halves, "all", "measured"]
    heading = f"{'':26}" + "".join(f"{c:>12}" for c in columns)

    def line(name: str, cells: Sequence[float | None], form: str) -> str:
        return f"{name:26}" + "".join(f"{'' if c is None else format(c, form):>12}" for c in cells)

    lines = ["mean adjusted Rand index, number of groups unknown (noise is one label)", heading]
    for name, of in marks.items():
        made = [mark for mark in of if mark.kind == "groups"]
        cells = [*[rand(made, half=h) for h in halves], rand(made), rand(of, "measured")]
        lines.append(line(name, cells, ".3f"))
    lines += ["", "as a share of the oracle's"]
    for name in marks:
        if name != ORACLE:
            lines.append(line(name, [of_oracle(found, name, h) for h in (*halves, "")], ".1%"))
    lines += ["", "share with the right number of groups, of tables that have some"]
    for name, of in marks.items():
        if name != ORACLE:
            made = [mark for mark in of if mark.kind == "groups"]
            cells = [*[right(made, half=h) for h in halves], right(made), right(of, "measured")]
            lines.append(line(name, cells, ".1%"))
    lines += [
        "",
        "share of tables without groups where some are found; seconds of the processor; answers missing",
    ]
    for name, of in marks.items():
        if name != ORACLE:
            cells = [*[alarms(of, h) for h in halves], alarms(of)]
            seconds = sum(mark.seconds for mark in of)
            lines.append(line(name, cells, ".1%") + f"{seconds:12.0f} s{found.missing[name]:10}")
    return [*lines, *_confidence(marks.get(FIND, []), halves), *_by_table(marks)]


def _confidence(marks: list[Mark], halves: Sequence[str]) -> list[str]:
    """How often the number of groups is right, by the confidence stated."""
    marks = [mark for mark in marks if mark.kind != "measured"]
    lines = []
    for half in (*(halves if len(halves) > 1 else ()), ""):
        mine = [mark for mark in marks if half in ("", mark.half)]
        if not mine:
            continue
        sure, correct = sure_and_right(mine)
        lines += ["", f"confidence{f', {half} half' if half else ''}:   stated   right   answers"]
        lines += [f"{'':20}{b.stated:6.1%}  {b.right:6.1%}  {b.answers:6}" for b in reliability(mine)]
        lines.append(f"  expected calibration error {calibration_error(mine):.3f}, "
                     f"{different_confidences(mine)} different values; "
                     f"at {SURE} or more {correct} of {sure} are right")  # fmt: skip
    return lines


def _by_table(marks: dict[str, list[Mark]]) -> list[str]:
    """Every kind of table: our index, the oracle's, the best peer's; alarms where there are no groups."""
    ours = marks.get(FIND, [])
    rows: list[tuple[float, str]] = []
    for table in dict.fromkeys(mark.table for mark in ours if mark.alarm is None):
        value = {name: rand([mark for mark in of if mark.table == table]) for name, of in marks.items()}
        mine = [mark for mark in ours if mark.table == table]
        peers = {name: v for name, v in value.items() if name not in (FIND, ORACLE) and v is not None}
        best = max(peers, key=lambda name: peers[name], default="")
        text = f"  {table:34} {_number(value[FIND])}  {_number(value.get(ORACLE))}  {right_share(mine):8.0%}"
        rows.append((value[FIND] or 0.0, text + (f"   {_number(peers[best])} {best}" if best else "")))
    lines = ["", f"  {'from the worst on':34}  ours  oracle  k right   best peer"]
    lines += [text for _, text in sorted(rows)]
    by_table: dict[str, list[bool]] = {}
    for mark in ours:
        if mark.alarm is not None:
            by_table.setdefault(mark.table, []).append(mark.alarm)
    alarmed = {table: values for table, values in by_table.items() if any(values)}
    lines += ["", "groups invented where there are none"]
    for table, values in sorted(alarmed.items(), key=lambda item: -np.mean(item[1])):
        lines.append(f"  {table:42} {sum(values):3} of {len(values)}")
    return lines


def right_share(marks: Sequence[Mark]) -> float:
    """Share of marks whose number of groups is right."""
    return float(np.mean([mark.right for mark in marks]))


def _number(value: float | None) -> str:
    return "    -" if value is None else f"{value:5.2f}"
