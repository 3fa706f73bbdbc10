"""Scores of labels: the adjusted Rand index, right numbers of groups, alarms where there are none, by kind and half.

The index is over rows that belong to a group; labels of noise (-1) are one label of their own. A table counts once,
by the mean over its seeds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bench.choose_answers import CHOOSE, FIND, TOLD, Answer, Kept
from bench.choose_tables import KINDS, LabelledTable

SURE = 0.9  # a confidence from which on we must be right as often


@dataclass(frozen=True)
class Mark:
    """One answer to one table."""

    table: str
    kind: str
    half: str
    rand: float | None  # None: no groups, or no classes
    right: bool  # the number of groups
    alarm: bool | None  # None: there are groups
    seconds: float = 0.0
    confidence: float = 0.0


@dataclass
class Scored:
    """Marks by contestant; how many answers each lacks; and how often ``find`` and ``choose_k`` agree."""

    marks: dict[str, list[Mark]]
    missing: dict[str, int]
    agree: list[bool] = field(default_factory=list)
    differ: list[str] = field(default_factory=list)  # tables where they do not


def marked(table: Any, answer: Answer) -> Mark:
    """The mark of an answer to a table of any kind that has a name, a kind, a half, labels and k."""
    known = table.labels > 0
    rand = None
    if table.k > 1 and known.any():
        rand = float(adjusted_rand_score(table.labels[known], answer.labels[known]))
    alarm = answer.k > 1 if table.k == 1 else None
    return Mark(
        table.name,
        table.kind,
        table.half,
        rand,
        answer.k == table.k,
        alarm,
        answer.seconds,
        answer.confidence,
    )


def scored(kept: Kept, names: Sequence[str], tables: Sequence[LabelledTable]) -> Scored:
    """Marks of all answers that are there."""
    found = Scored({name: [] for name in names}, dict.fromkeys(names, 0))
    for table in tables:
        for name in names:
            answer = kept.get(name, table)
            if answer is not None:
                found.marks[name].append(marked(table, answer))
            elif name != TOLD or table.k > 1:
                found.missing[name] += 1
        ours, choice = kept.get(FIND, table), kept.get(CHOOSE, table)
        if ours is not None and choice is not None:
            same = ours.k == choice.k and adjusted_rand_score(ours.labels, choice.labels) > 1 - 1e-12
            found.agree.append(same)
            if not same:
                found.differ.append(f"{table.name}: find {ours.k}, choose_k {choice.k}")
    return found


def mean_over_tables(
    marks: Sequence[Mark], value: Callable[[Mark], float | bool | None], kind: str = "", half: str = ""
) -> float | None:
    """The mean over tables of the means over seeds; None where no mark has the value."""
    by_table: dict[str, list[float]] = defaultdict(list)
    for mark in marks:
        number = value(mark)
        if number is not None and kind in ("", mark.kind) and half in ("", mark.half):
            by_table[mark.table].append(float(number))
    return float(np.mean([np.mean(values) for values in by_table.values()])) if by_table else None


def rand(marks: Sequence[Mark], kind: str = "", half: str = "") -> float | None:
    return mean_over_tables(marks, lambda mark: mark.rand, kind, half)


def right(marks: Sequence[Mark], kind: str = "", half: str = "") -> float | None:
    """Share of the tables with groups whose number is right."""
    return mean_over_tables(marks, lambda mark: mark.right if mark.alarm is None else None, kind, half)


def alarms(marks: Sequence[Mark], half: str = "") -> float | None:
    return mean_over_tables(marks, lambda mark: mark.alarm, half=half)


def sure_and_right(marks: Sequence[Mark]) -> tuple[int, int]:
    """Answers of a confidence of at least SURE, and those of them whose number is right."""
    sure = [mark.right for mark in marks if mark.confidence >= SURE]
    return len(sure), sum(sure)


# --- words --------------------------------------------------------------------------------------------------------


def described(found: Scored) -> list[str]:
    """Everything as lines."""
    marks = {name: found.marks[name] for name in found.marks if found.marks[name]}
    kinds = [kind for kind in KINDS if kind != "none"]
    halves = sorted({mark.half for of in marks.values() for mark in of}, reverse=True)  # older, fresh
    columns = ["all", *kinds, *[f"{half} half" for half in halves]]

    def line(name: str, cells: Sequence[float | None], form: str) -> str:
        return f"{name:22}" + "".join(f"{'' if c is None else format(c, form):>12}" for c in cells)

    heading = f"{'':22}" + "".join(f"{c:>12}" for c in columns)
    lines = ["mean adjusted Rand index, number of groups unknown (noise is one label)", heading]
    for name, of in marks.items():
        lines.append(
            line(name, [rand(of), *[rand(of, k) for k in kinds], *[rand(of, half=h) for h in halves]], ".3f")
        )
    lines += ["", "share with the right number of groups, of tables that have some", heading]
    for name, of in marks.items():
        if name != TOLD:
            cells = [right(of), *[right(of, k) for k in kinds], *[right(of, half=h) for h in halves]]
            lines.append(line(name, cells, ".1%"))
    lines += [
        "",
        "share of tables without groups where some are found; seconds of the processor; answers missing",
    ]
    lines.append(
        f"{'':22}" + "".join(f"{c:>12}" for c in ("all", *[f"{h} half" for h in halves], "s", "missing"))
    )
    for name, of in marks.items():
        cells = [alarms(of), *[alarms(of, h) for h in halves]]
        lines.append(line(name, cells, ".1%") + f"{sum(m.seconds for m in of):12.0f}{found.missing[name]:12}")
    lines += ["", *_ours(found), *_misses(found)]
    return lines


def _ours(found: Scored) -> list[str]:
    lines = []
    if found.agree:
        lines.append(f"find = choose_k on {sum(found.agree)} of {len(found.agree)}")
        lines += [f"  {text}" for text in found.differ]
    sure, correct = sure_and_right(found.marks.get(FIND, []))
    if sure:
        lines.append(f"at a confidence of {SURE} or more the number is right for {correct} of {sure}")
    return lines


def _misses(found: Scored) -> list[str]:
    """Our tables from the worst on, and the best peer's index there."""
    by_table: dict[str, dict[str, float]] = defaultdict(dict)
    for name, marks in found.marks.items():
        for table in dict.fromkeys(mark.table for mark in marks if mark.rand is not None):
            value = rand([mark for mark in marks if mark.table == table])
            if value is not None:
                by_table[table][name] = value
    lines = []
    for table, values in sorted(by_table.items(), key=lambda item: item[1].get(FIND, 1.0)):
        others = {name: v for name, v in values.items() if name not in (FIND, CHOOSE)}
        if FIND in values and values[FIND] < 0.9:
            best = max(others, key=lambda name: others[name], default="")
            beside = f"   best peer {others[best]:.2f} {best}" if best else ""
            lines.append(f"  {table:36} {values[FIND]:5.2f}{beside}")
    return ["", "our tables below 0.9", *lines] if lines else []
