"""Columns of numbers: plain, with decoration, or codes that only look like numbers."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa

from asterism.data.cells import NUMBER
from asterism.data.columns import Column
from asterism.data.dates import ORDERS, Moment
from asterism.data.decorated import Numbers, parsed
from asterism.data.hints import Hints, known_cells, said_missing, unknown_words
from asterism.data.infer_names import FEW, of_names
from asterism.data.ladders import steps
from asterism.data.profile import MOST_LEVELS, Profile
from asterism.data.units import units_of
from asterism.data.unknown import ALL_WORDS, sentinels

CODES = 256  # different numbers that may be codes of categories
MOSTLY = 0.9  # share of cells that must be numbers, or dates
STRAY = 3  # different words among numbers that may stand for "not known" because they come again
ENOUGH = 10  # rows: with fewer, consecutive numbers may be chance

IDENTIFIER = re.compile(
    r"(^|[\W_])(id|ids|uuid|guid|key|index|idx|rowid|rownames?|row_?(number|no|nr))$", re.I
)
CAMEL_IDENTIFIER = re.compile(r"[a-z](Id|ID|Key|Index|Code|Zip)$")
CODE = re.compile(
    r"(^|[\W_])(zip|zip_?codes?|postcodes?|post_?codes?|postal(_?codes?)?|plz|postleitzahl|code|codes|phone|phone_?(number|no)|"
    r"tel|telephone|telefon|mobile|fax|ssn|iban|bic|ean|upc|isbn|issn|sku|barcode|asin|vin|pin|imei|naics|fips|"
    r"(customer|client|order|account|invoice|card|serial|ticket|case|member|employee|patient|policy|contract|passport|"
    r"part|item|article|product|batch|lot|tracking|reference|ref|reg|registration|licen[cs]e|tax|vat|bank|room|house|flight|"
    r"kunden|kunde|auftrags|rechnungs|artikel|personal|vertrags|konto|mitglieds|bestell)[\W_]*(number|num|no|nr|nummer|#))\.?$",
    re.I,
)


def decimal_of(profile: Profile, hints: Hints) -> str:
    """The convention of a column: by the cells that allow only one, else the file's."""
    point = profile.words.decorated.only_point + profile.written.dotted
    comma = profile.words.decorated.only_comma
    if point != comma:
        return "." if point > comma else ","
    return hints.decimal if profile.written.grouped or profile.words.decorated.point else "."


def numbers_in(profile: Profile, decimal: str) -> int:
    """Cells that are numbers under a convention."""
    if decimal == ".":
        return profile.numbers + profile.words.decorated.point
    return profile.numbers - profile.written.dotted + profile.words.decorated.comma


def of_decorated(name: str, profile: Profile, hints: Hints) -> Column | None:
    """A column of text as numbers; None where it is none."""
    decorated, known = profile.words.decorated, known_cells(profile, hints)
    decimal = decimal_of(profile, hints)
    found = numbers_in(profile, decimal)
    if found < MOSTLY * known or not found:
        return None
    if profile.written.zeros > max(1, 0.01 * known):
        return codes(name, profile, hints, "codes: they have leading zeros")
    if profile.levels is not None and len(profile.levels) <= FEW and (found < known or decorated.limits):
        unknown = unknown_words(profile, hints)
        if steps([level for level in profile.levels if level not in unknown], name) is not None:
            return None  # levels such as 0, 1, 2, 3+
    strays = _strays(profile, hints, decimal)
    if decorated.units is None:
        return None  # an ending of its own in nearly every cell: a code, and no number
    bare = {"|": decorated.units.get("|", 0) + profile.numbers} if profile.numbers else {}
    units = units_of(dict(decorated.units) | bare)
    if isinstance(units, str):
        return Column(name, "ignored", reason=units)
    plain = profile.texts == 0 and decimal == "."
    if plain:
        return of_numbers(name, profile, hints)
    gone = sentinels_in(profile, hints)
    reading = Numbers(
        decimal,
        units.with_bare(),
        tuple(sorted({*strays, *hints.absent.words})),
        not hints.absent.alone,
        gone,
    )
    what = f"amounts in {units.name}" if len(units.name) == 3 and units.name.isupper() else "numbers"
    if what == "numbers" and units.name:
        what = "percentages" if units.name == "%" else f"numbers in {units.name}"
    said = [what]
    if decimal == ",":
        said.append("decimal comma")
    if units.said:
        said.append(units.said)
    if decorated.limits:
        said.append(f"{decorated.limits:,} cells such as <5 taken at the limit")
    missing = said_missing(profile, Hints(absent=replace(hints.absent, words=reading.words)), gone)
    return Column(name, reason="; ".join(said) + missing, reading=reading)


def _strays(profile: Profile, hints: Hints, decimal: str) -> tuple[str, ...]:
    """Words among numbers that come again, and so stand for "not known"; none where one of them does not."""
    if profile.levels is None or numbers_in(profile, decimal) == known_cells(profile, hints):
        return ()
    words = [level for level in profile.levels if not re.match(NUMBER, level)]
    found = parsed(pa.array([word.strip() for word in words], pa.string())).values[decimal]
    usual = frozenset() if hints.absent.alone else ALL_WORDS
    left = [
        w for w, value in zip(words, found, strict=True) if np.isnan(value) and w.strip().lower() not in usual
    ]
    if len(left) <= STRAY and all(profile.levels[word] > 1 for word in left):
        return tuple(left)
    return ()


def of_numbers(name: str, profile: Profile, hints: Hints) -> Column:
    """A column whose cells are all plain numbers."""
    different = None if profile.levels is None else len(profile.levels)
    gone = sentinels_in(profile, hints)
    reading = None
    if gone or hints.absent.words:
        reading = Numbers(words=hints.absent.words, usual=not hints.absent.alone, sentinels=gone)
    missing = said_missing(profile, hints, gone)
    if not profile.whole:
        return Column(name, reason=f"numbers{missing}", reading=reading)
    if profile.rows >= ENOUGH and profile.consecutive:
        return Column(name, "ignored", reason=f"consecutive numbers {profile.low:g} to {profile.high:g}")
    telling = IDENTIFIER.search(name) or CAMEL_IDENTIFIER.search(name) or CODE.search(name)
    if telling:
        many = different is None or different > CODES or different == profile.rows > 2
        if many and not CODE.search(name):
            return Column(name, "ignored", reason="an identifier: its name says so, and it has many values")
        return codes(name, profile, hints, "codes: its name says so")
    if different is not None and different <= FEW:
        why = f"whole numbers, {different} different; {name}=categorical if they are only names"
        return Column(name, reason=why + missing, reading=reading)
    return Column(name, reason=f"whole numbers{missing}", reading=reading)


def sentinels_in(profile: Profile, hints: Hints) -> tuple[float, ...]:
    """Numbers that stand for "not known", as found or as the user says."""
    asked = hints.absent.numbers
    if hints.absent.alone:
        return asked
    levels = profile.levels
    values = None
    if levels is not None and profile.candidates:
        values = {float(level): count for level, count in levels.items() if re.match(NUMBER, level)}
        values = {value: count for value, count in values.items() if math.isfinite(value)}
    found = sentinels(profile.candidates, profile.inner_low, profile.inner_high, values)
    return tuple(sorted({*found, *asked}))


def codes(name: str, profile: Profile, hints: Hints, why: str) -> Column:
    """Numbers that are names: levels where they are few and come again."""
    levels, known = profile.levels, known_cells(profile, hints)
    if levels is None:
        return Column(name, "ignored", reason=f"{why}; more than {MOST_LEVELS} different")
    return of_names(name, levels, known, profile, hints, why)


def left_over(column: Column, profile: Profile) -> bool:
    """Whether there may be cells that the column's reading does not understand: then they must be looked for."""
    reading, unknown = column.reading, profile.words.unknown
    if isinstance(reading, Numbers):
        extra = 0 if profile.levels is None else sum(profile.levels.get(word, 0) for word in reading.words)
        known = numbers_in(profile, reading.decimal) + extra
    elif isinstance(reading, Moment) and profile.texts and not profile.calendar.cells:
        dates = profile.words.dates
        known = dates.clock.timed if reading.part == "hour" else 0
        known = max(known, dates.orders[[*ORDERS].index(reading.order)].cells)  # type: ignore[arg-type]  # one of them
    else:
        return False
    return unknown is None or known + sum(unknown.values()) < profile.observed
