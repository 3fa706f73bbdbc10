"""Dates and times, in text and in columns of that type: a trend as a number, and what comes again on a circle.

=========  ==============================================  ==========================================================
part       value                                            taken where
=========  ==============================================  ==========================================================
trend      days since 1970, with their fraction             dates differ
hour       hours of the day, from the opening on            times differ, over two days or more, in a cycle
weekday    a level, Monday, ...                             dates span two weeks or more, in a cycle
month      a level, January, ...                            dates span two years or more, in a cycle
=========  ==============================================  ==========================================================

There is a cycle where the cells of its B parts are not even: ``2 sum c log(c B / n) > (B - 1) log n`` (the likelihood
ratio against even parts, by BIC). A circle is opened at its emptiest place: 23:50 and 00:10 are near each
other unless no row is near midnight, and one column is enough. (A cosine and a sine would put even times on
a ring, which looks like groups to a mixture.)

``07.08.2024`` has the day first, or the month: the order that more cells allow, for the whole column. Where all cells
allow both, the day comes first with a full stop or a dash, the month with a slash, and that is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from asterism.data.cells import is_text
from asterism.data.decorated import LETTER
from asterism.data.reading import Reading, all_texts, require
from asterism.data.unknown import is_word, spelled_missing
from asterism.errors import DataError

Order = Literal["year", "day", "month"]
Part = Literal["trend", "hour", "weekday", "month"]
ORDERS: tuple[Order, ...] = ("year", "day", "month")
PARTS: tuple[Part, ...] = ("trend", "hour", "weekday", "month")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
MONTH_NAMES = {
    **{name.lower()[:3]: number for number, name in enumerate(MONTHS, start=1)},
    **{"mär": 3, "mrz": 3, "mai": 5, "okt": 10, "dez": 12, "maj": 5, "avr": 4, "fév": 2, "aoû": 8, "déc": 12},
    **{"ene": 1, "abr": 4, "ago": 8, "dic": 12, "gen": 1, "mag": 5, "giu": 6, "lug": 7, "set": 9, "ott": 10},
}
CENTURY = 69  # convention: years 00-68 are of this century, 69-99 of the last, as in POSIX

_CLOCK = (
    r"(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,]\d{1,9})?)?"
    r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?(?:\s?(?:Uhr|h))?"
)
_ZONE = r"(?:\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_DAY = rf"(?:[{LETTER}]{{2,9}}\.?,?\s)?"  # Monday,
DATE = (
    rf"^{_DAY}(?P<a>\d{{1,4}})(?P<mark>[-/.])\s?(?P<b>\d{{1,2}})[-/.]\s?(?P<c>\d{{1,4}})"
    rf"(?:,?[T ]\s?{_CLOCK}{_ZONE})?$"
)
NAMED = (
    rf"^{_DAY}(?:(?P<a>\d{{1,2}})(?:st|nd|rd|th|\.)?[-\s]\s?(?P<b>[{LETTER}]{{3,10}})\.?"
    rf"|(?P<b2>[{LETTER}]{{3,10}})\.?\s(?P<a2>\d{{1,2}})(?:st|nd|rd|th)?)"
    rf",?[-\s](?P<c>\d{{2,4}})(?:,?\s{_CLOCK}{_ZONE})?$"
)
MONTHLY = r"^(?P<c>\d{4})[-/](?P<b>0[1-9]|1[0-2])$"
TIME = rf"^{_CLOCK}$"


def _without_names(pattern: str) -> str:
    return re.sub(r"\?P<\w+>", "?:", pattern)


GATES = {pattern: _without_names(pattern) for pattern in (DATE, NAMED, MONTHLY, TIME)}


@dataclass(frozen=True, eq=False)
class ParsedDates:
    """Cells of text as dates and times, as far as they are that."""

    days: dict[
        Order, NDArray[np.float64]
    ]  # (n,) whole days since 1970; NaN where the cell is no date in this order
    hours: NDArray[np.float64]  # (n,) of the day; NaN where it has none
    slash: NDArray[np.bool_]  # (n,) written with slashes

    @property
    def any(self) -> NDArray[np.bool_]:
        """(n,) whether a cell is a date or a time."""
        return ~(np.isnan(self.days["day"]) & np.isnan(self.days["month"]) & np.isnan(self.hours))


def parsed_dates(text: Any) -> ParsedDates:
    """Cells (an Arrow array of text without nulls).

    >>> found = parsed_dates(pa.array(["1970-01-03 06:30", "13.01.1970", "2/1/1970", "x", "14:35"]))
    >>> found.days["day"].tolist(), found.days["month"].tolist(), found.hours.round(2).tolist()
    ([2.0, 12.0, 1.0, nan, nan], [2.0, nan, 31.0, nan, nan], [6.5, nan, nan, nan, 14.58])
    """
    n = len(text)
    days = {order: np.full(n, np.nan) for order in ORDERS}
    hours, slash = np.full(n, np.nan), np.zeros(n, bool)
    if _all_iso(text):
        with suppress(pa.ArrowInvalid):
            whole, hours = days_and_hours(text.cast(pa.timestamp("us")))
            return ParsedDates(dict.fromkeys(ORDERS, whole), hours, slash)
    left = np.arange(n)
    for pattern, gate in GATES.items():
        some = text if len(left) == n else text.take(pa.array(left))
        mine = pc.match_substring_regex(some, gate).to_numpy(zero_copy_only=False)
        place, left = left[mine], left[~mine]
        if len(place):
            part = pc.extract_regex(text.take(pa.array(place)), pattern)
            piece = {part.type.field(i).name: pc.struct_field(part, i) for i in range(part.type.num_fields)}
            good = _put(pattern, piece, place, days, slash)
            hours[place[good]] = _hours(piece, len(place))[good]
        if not len(left):
            break
    return ParsedDates(days, hours, slash)


def _all_iso(text: Any) -> bool:
    """Whether all cells have the length of an ISO date with a time, and a few are one: Arrow reads those fast."""
    length = pc.min_max(pc.utf8_length(text)).as_py()
    if length not in ({"min": 16, "max": 16}, {"min": 19, "max": 19}):
        return False
    some = (text[i].as_py() for i in (0, len(text) // 2, -1))
    return all(re.fullmatch(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?", cell) for cell in some)


def _put(
    pattern: str, piece: dict[str, Any], place: Any, days: dict[Order, Any], slash: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """The days of these cells in every order they allow; (n,) which cells allow any."""
    if pattern == TIME:
        return np.ones(len(place), bool)
    if pattern == MONTHLY:
        found = _days(_whole(piece["c"]), _whole(piece["b"]), np.ones(len(place)))
        for order in ORDERS:
            days[order][place] = found
        return ~np.isnan(found)
    if pattern == NAMED:
        first = pc.not_equal(piece["a"], "")
        month = pc.utf8_lower(pc.utf8_slice_codeunits(pc.if_else(first, piece["b"], piece["b2"]), 0, 3))
        numbers = np.array([MONTH_NAMES.get(name, np.nan) for name in month.to_pylist()], float)
        found = _days(_year(piece["c"]), numbers, _whole(pc.if_else(first, piece["a"], piece["a2"])))
        for order in ORDERS:
            days[order][place] = found
        return ~np.isnan(found)
    a, b, c = (_whole(piece[name]) for name in "abc")
    long_first = _of(pc.greater_equal(pc.utf8_length(piece["a"]), 4))
    year = _year(piece["c"])
    found = _days(np.where(long_first, a, np.nan), b, c)
    day = np.where(long_first, found, _days(year, b, a))
    month = np.where(long_first, found, _days(year, a, b))
    days["year"][place], days["day"][place], days["month"][place] = found, day, month
    slash[place] = _of(pc.equal(piece["mark"], "/")) & ~long_first
    return ~(np.isnan(day) & np.isnan(month))


def _whole(text: Any) -> NDArray[np.float64]:
    filled = pc.if_else(pc.equal(text, ""), None, text)
    return np.asarray(filled.cast(pa.float64()).to_numpy(zero_copy_only=False))


def _of(mask: Any) -> NDArray[np.bool_]:
    values: NDArray[np.bool_] = mask.to_numpy(zero_copy_only=False)
    return values


def _year(text: Any) -> NDArray[np.float64]:
    """Years of two or four digits; NaN for one or three."""
    year, digits = _whole(text), pc.utf8_length(text).to_numpy(zero_copy_only=False)
    short = np.where(year < CENTURY, 2000.0, 1900.0) + year
    return np.where(digits == 4, year, np.where(digits == 2, short, np.nan))


def _days(year: Any, month: Any, day: Any) -> NDArray[np.float64]:
    """Days since 1970; NaN where there is no such day."""
    with np.errstate(invalid="ignore"):
        good = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31) & (year >= 1) & (year <= 9999)
    months = np.where(good, (np.where(good, year, 1970) - 1970) * 12 + np.where(good, month, 1) - 1, 0)
    start = months.astype("datetime64[M]")
    found = start.astype("datetime64[D]") + (np.where(good, day, 1) - 1).astype(int)
    good &= found.astype("datetime64[M]") == start
    return np.where(good, found.astype(np.int64).astype(float), np.nan)


def _hours(piece: dict[str, Any], n: int) -> NDArray[np.float64]:
    if "H" not in piece:
        return np.full(n, np.nan)
    h, m, s = (_whole(piece[name]) for name in "HMS")
    half = pc.utf8_lower(piece["half"])
    late, early = _of(pc.equal(half, "p")), _of(pc.equal(half, "a"))
    with np.errstate(invalid="ignore"):
        h = np.where(late & (h < 12), h + 12, np.where(early & (h == 12), 0.0, h))
        good = (h < 24) & (m < 60) & ~(s >= 60)
    return np.where(good, h + m / 60 + np.nan_to_num(s) / 3600, np.nan)


# --- columns of such a type ------------------------------------------------------------------------------------


def days_and_hours(array: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n,) days since 1970 and (n,) hours of the day; NaN where there is none."""
    kind = array.type
    if pa.types.is_time(kind):
        seconds = (
            array.cast(pa.time64("ns")).cast(pa.int64()).to_numpy(zero_copy_only=False).astype(float) / 1e9
        )
        return np.full(len(array), np.nan), seconds / 3600
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        array = pc.local_timestamp(array)
    if pa.types.is_date(kind):
        days = array.cast(pa.date32()).cast(pa.int32()).to_numpy(zero_copy_only=False).astype(float)
        return days, np.full(len(array), np.nan)
    unit = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[array.type.unit]
    seconds = array.cast(pa.int64()).to_numpy(zero_copy_only=False).astype(float) / unit
    days = np.floor(seconds / 86400)
    return days, (seconds - days * 86400) / 3600


# --- how a column is read ------


@dataclass(frozen=True, slots=True)
class Moment(Reading):
    """One part of dates or times.

    >>> start = Moment(order="day", part="trend")
    >>> start.cells({"start": pa.array(["13.01.1970", "n/a"])}, "start", 0).to_pylist(), start.text(12.0)
    ([12.0, None], '1970-01-13')
    """

    form: ClassVar[str] = "moment"
    column: str = ""  # of the table
    order: str = "year"
    part: str = "trend"
    opens: int = 0  # hour that the day is opened at
    timed: bool = False  # whether the trend has a time of day
    words: tuple[str, ...] = ()  # that stand for "not known" here
    usual: bool = True  # so do the words that usually do

    def __post_init__(self) -> None:
        """Check what may come from a file."""
        require(
            isinstance(self.column, str) and self.order in ORDERS and self.part in PARTS, "a part of dates"
        )
        require(type(self.opens) is int and 0 <= self.opens < 24, "an hour of the day")
        require(all_texts(self.words) and type(self.usual) is bool, "words")

    @property
    def sources(self) -> tuple[str, ...]:
        """The column of the table."""
        return (self.column,) if self.column else ()

    def cells(self, batch: Mapping[str, Any], name: str, row: int) -> Any:
        """Days, hours, or names of weekdays and months."""
        days, hours = self._days_and_hours(batch[self.column or name], name, row)
        if self.part == "trend":
            return pa.array(days + np.nan_to_num(hours) / 24, mask=np.isnan(days))
        if self.part == "hour":
            return pa.array((hours - self.opens) % 24, mask=np.isnan(hours))
        gone = np.isnan(days)
        whole = np.where(gone, 0, days).astype(int)
        months = whole.astype("datetime64[D]").astype("datetime64[M]").astype(int) % 12
        names = np.array(WEEKDAYS)[(whole + 3) % 7] if self.part == "weekday" else np.array(MONTHS)[months]
        return pa.array(names.astype(object), pa.string(), mask=gone)

    def _days_and_hours(
        self, array: Any, name: str, row: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if pa.types.is_temporal(array.type):
            return days_and_hours(array)
        if pa.types.is_null(array.type):
            return np.full(len(array), np.nan), np.full(len(array), np.nan)
        if not is_text(array.type):
            raise DataError(
                f"cells of type {array.type} are no dates.", "The model reads dates here.", column=name
            )
        coded = pc.utf8_trim_whitespace(array.cast(pa.string())).dictionary_encode()
        words = coded.dictionary
        found = parsed_dates(words)
        days, hours = found.days[self.order], found.hours  # type: ignore[index]  # one of ORDERS
        wanted = hours if self.part == "hour" else days
        known = _of(is_word(words, spelled_missing(self.words, self.usual)))
        wrong = np.isnan(wanted) & ~known & ~(np.isnan(hours) & ~np.isnan(days))
        place = pc.fill_null(coded.indices.cast(pa.int64()), len(words)).to_numpy(zero_copy_only=False)
        bad = np.append(wrong, False)[place]
        if bad.any():
            first = int(np.argmax(bad))
            raise not_a_date(array[first].as_py(), name, row + first)
        return np.append(days, np.nan)[place], np.append(hours, np.nan)[place]

    def text(self, value: float) -> str | None:
        """A date, or a time of day."""
        if not np.isfinite(value) or self.part not in ("trend", "hour"):
            return None
        if self.part == "hour":
            minutes = round((value + self.opens) % 24 * 60) % (24 * 60)
            return f"{minutes // 60:02d}:{minutes % 60:02d}"
        moment = np.datetime64(0, "m") + round(value * 24 * 60)
        return str(moment).replace("T", " ") if self.timed else str(moment.astype("datetime64[D]"))


def not_a_date(text: str, name: str, row: int) -> DataError:
    """What to say of a word among dates."""
    return DataError(
        f"{text!r} is no date or time that goes with the others.",
        f"Correct the cell, or say that it means not known: na={{{name!r}: [{text!r}]}} (--na {name}={text}); "
        f"or leave the column out ({name}=ignored).",
        row=row,
        column=name,
    )
