"""Columns of dates and times, and of vectors: each becomes several columns."""

from __future__ import annotations

from dataclasses import replace

from asterism.data.calendar import Calendar, in_cycle, opening
from asterism.data.columns import Column
from asterism.data.dates import MONTHS, WEEKDAYS, Moment
from asterism.data.profile import Profile
from asterism.data.vectors import LONGEST, Along

DAYS_OF_CYCLE = {"hour": 2.0, "weekday": 14.0, "month": 730.0}  # derived: a cycle shows where it comes twice


def of_dates(
    name: str,
    calendar: Calendar,
    reading: Moment,
    why: str,
    parts: tuple[str, ...] = (),
    missing: str = "",
) -> tuple[Column, ...]:
    """The parts of dates that vary, or those asked for."""
    timed = 2 * calendar.timed > calendar.cells
    columns = []
    if calendar.cells and calendar.high > calendar.low and ("trend" in parts or not parts):
        shown = timed and calendar.span < 30
        columns.append(Column(name, reason=f"{why}{missing}", reading=replace(reading, timed=shown)))
    cycles = {
        "hour": (calendar.hours, timed and calendar.most_hour > calendar.least_hour),
        "weekday": (calendar.weekdays, bool(calendar.cells)),
        "month": (calendar.months, bool(calendar.cells)),
    }
    for part, (counts, there) in cycles.items():
        alone = part == "hour" and not calendar.cells
        wanted = part in parts if parts else calendar.span >= DAYS_OF_CYCLE[part] and in_cycle(counts)
        if not there or not (wanted or alone) or (sum(c > 0 for c in counts) < 2 and not alone):
            continue
        own = name if alone else f"{name}: {part}"
        opened = opening(counts)
        how = replace(reading, column=name, part=part, opens=opened if part == "hour" else 0)
        if part == "hour":
            said = (
                f"{why}, from {opened:02d}:00 on"
                if alone
                else f"the time of day of {name!r}, from {opened:02d}:00 on"
            )
            columns.append(Column(own, reason=said + (missing if alone else ""), reading=how))
            continue
        names = WEEKDAYS if part == "weekday" else MONTHS
        levels = tuple(level for j, level in _turned(names, opened) if counts[j])
        columns.append(
            Column(own, "ordinal", levels, f"the {part} of {name!r}, in a circle from {levels[0]} on", how)
        )
    if not columns:
        return (Column(name, "ignored", reason=f"{why}: they do not vary"),)
    return tuple(columns)


def _turned(names: tuple[str, ...], first: int) -> list[tuple[int, str]]:
    return [((first + j) % len(names), names[(first + j) % len(names)]) for j in range(len(names))]


def of_vectors(name: str, profile: Profile) -> tuple[Column, ...]:
    """One column for each number of a vector."""
    if len(profile.lengths) != 1:
        lengths = ", ".join(map(str, sorted(profile.lengths)))
        return (Column(name, "ignored", reason=f"lists of different lengths ({lengths}, ...)"),)
    [d] = profile.lengths
    if not 0 < d <= LONGEST:
        return (
            Column(name, "ignored", reason=f"lists of {d} numbers; up to {LONGEST} are taken for vectors"),
        )
    why = f"one of the {d} numbers of {name!r}"
    return tuple(Column(f"{name}[{j}]", reason=why, reading=Along(name, d, j)) for j in range(d))
