"""What a user says a column is, against the guess."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from asterism.data.cells import NUMBER, is_text
from asterism.data.columns import NUMBERS, Column, Kind, Wish
from asterism.data.dates import ORDERS, PARTS, Moment
from asterism.data.decorated import Numbers
from asterism.data.hints import Hints, listed, said_missing, unknown_words
from asterism.data.infer_dates import of_dates
from asterism.data.infer_names import names_reading, sorted_levels
from asterism.data.infer_numbers import decimal_of
from asterism.data.ladders import steps, truth
from asterism.data.profile import MOST_LEVELS, Profile
from asterism.data.units import units_of
from asterism.errors import DataError, ParameterError


def wished(
    name: str,
    wish: Wish,
    kind: Any,
    profile: Profile,
    declared: tuple[str, ...] = (),
    hints: Hints | None = None,
) -> tuple[Column, ...]:
    """The columns as the user says they are, or why they cannot be."""
    hints = hints or Hints()
    reason = "as before" if wish.known else "as asked"
    if wish.kind == "date":
        return _wished_dates(name, wish, kind, profile, hints)
    if wish.kind in NUMBERS:
        return (_wished_numbers(name, wish, kind, profile, hints, reason),)
    levels = wish.levels or _found_levels(name, wish, profile, declared, hints)
    if wish.kind == "boolean" and len(levels) != 2:
        raise DataError(
            f"a boolean column has two levels, this one {len(levels)}: {listed(levels)}.",
            f"Make it {name}=categorical, or name two levels and empty the other cells.",
            column=name,
        )
    unknown = {word for word in unknown_words(profile, hints) if word not in levels}
    reading = names_reading(levels, [], unknown, hints) if not wish.known else None
    said = said_missing(profile, hints) if unknown else ""
    return (Column(name, _kind(wish), levels, reason + said, reading),)


def _wished_dates(name: str, wish: Wish, kind: Any, profile: Profile, hints: Hints) -> tuple[Column, ...]:
    if pa.types.is_temporal(kind):
        calendar, order = profile.calendar, "year"
    else:
        dates = profile.words.dates
        order = next(
            (option.split("-")[0] for option in wish.options if option.endswith("-first")), dates.order
        )
        calendar = dates.orders[[*ORDERS].index(order)]  # type: ignore[arg-type]  # one of them
        calendar = calendar if calendar.cells else dates.clock
    if not calendar.cells and not calendar.timed:
        raise DataError(
            "no cell is a date or time.", f"Give it another kind ({name}=categorical).", column=name
        )
    reading = Moment(column=name, order=order, words=hints.absent.words, usual=not hints.absent.alone)
    parts = tuple(option for option in wish.options if option in PARTS)
    return of_dates(name, calendar, reading, "dates, as asked", parts, said_missing(profile, hints))


def _wished_numbers(name: str, wish: Wish, kind: Any, profile: Profile, hints: Hints, reason: str) -> Column:
    if profile.observed == 0:
        raise DataError("every cell is missing.", "Leave the column out, or fill it.", column=name)
    text = is_text(kind) or (pa.types.is_dictionary(kind) and is_text(kind.value_type))
    if profile.texts and not text and not pa.types.is_boolean(kind):
        raise DataError(
            f"cells of type {kind} are not numbers.",
            "Turn them into numbers first (days since a date, a length, ...), or leave the column out.",
            column=name,
        )
    asked = next((option for option in wish.options if option.startswith("decimal-")), "")
    decimal = {"decimal-comma": ",", "decimal-point": "."}.get(asked) or decimal_of(profile, hints)
    if not text or (not profile.texts and decimal == "."):
        gone = hints.absent.numbers  # the user says that its cells are numbers: none is guessed to be missing
        reading = Numbers(sentinels=gone, words=hints.absent.words) if gone or hints.absent.words else None
        said = said_missing(profile, hints, gone) if gone or hints.absent.words else ""
        return Column(name, _kind(wish), (), reason + said, reading)
    units = units_of(profile.words.decorated.units or {})
    if isinstance(units, str):
        raise DataError(f"{units}.", f"Give the column another kind ({name}=categorical).", column=name)
    gone = hints.absent.numbers
    reading = Numbers(decimal, units.with_bare(), hints.absent.words, not hints.absent.alone, gone)
    return Column(name, _kind(wish), (), reason + said_missing(profile, hints, gone), reading)


def _kind(wish: Wish) -> Kind:
    assert wish.kind != "date"
    return wish.kind


def _found_levels(
    name: str, wish: Wish, profile: Profile, declared: tuple[str, ...], hints: Hints
) -> tuple[str, ...]:
    if profile.levels is None:
        raise DataError(
            f"more than {MOST_LEVELS} different cells are too many for levels.",
            f"Leave the column out ({name}=ignored), or bring its cells together.",
            column=name,
        )
    if not profile.levels:
        raise DataError("every cell is missing.", "Leave the column out, or fill it.", column=name)
    there = {
        level: count for level, count in profile.levels.items() if level not in unknown_words(profile, hints)
    }
    if declared and there.keys() <= set(declared):
        return declared if wish.kind in ("ordinal", "boolean") else sorted_levels(there)
    pair = truth(list(there)) if wish.kind == "boolean" and len(there) == 2 else None
    if pair is not None:
        return (pair[0][0], pair[1][0])
    levels = sorted_levels(there)
    if wish.kind == "ordinal" and not all(re.match(NUMBER, level) for level in levels):
        found = steps(levels, name)
        if found is not None:
            return tuple(sorted(levels, key=lambda level: found[0][level]))
        raise ParameterError(
            f"Column {name!r} is ordinal, but the order of its levels is not known: {listed(levels)}.",
            f"Name them from low to high: {name}=ordinal:{','.join(levels[:3])}...",
        )
    return levels
