"""What is known of a column after one look at its cells: a statistic, so a stream of any length has one.

It is what kinds are inferred from (``infer``). A column that looks like whole numbers for a hundred thousand rows and
then holds a word is no special case: counts of both are kept until the end. Words are looked at once more: are they
numbers with decoration (``decorated``), dates (``dates``), words for "not known" (``unknown``), addresses?
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from asterism.data.calendar import Calendar, Dates, calendar_of
from asterism.data.cells import as_numbers, is_number, is_text, numbers_in_text, plain, spelled
from asterism.data.dates import parsed_dates
from asterism.data.decorated import Decorated, parsed
from asterism.data.unknown import ALL_WORDS, candidates_in, is_word
from asterism.data.vectors import is_vector, lengths_in

MOST_LEVELS = 10_000  # different spellings that are kept; a column with more has no levels
MOST_WORDS = 1000  # different words for "not known" that are counted
EXACT = 2.0**53  # whole numbers up to here are exact in float64
ADDRESSES = {  # what words look like -> part of the text they must have, and the pattern
    "e-mail addresses": ("@", r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$"),
    "web addresses": (".", r"^(?:https?://|www\.)\S+$"),
    "UUIDs": ("-", r"^\{?[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\}?$"),
    "phone numbers": ("", r"^(?:\+|00)?\(?\d[\d\s()/.-]{5,18}\d$"),
}


@dataclass(frozen=True, slots=True)
class Written:
    """Plain numbers in text, by how they are written."""

    zeros: int = 0  # with a leading zero, as in 01234
    dotted: int = 0  # with a point that can only be decimal
    grouped: int = 0  # with a point before three digits, which may stand for thousands

    @classmethod
    def of(cls, text: Any, values: NDArray[np.float64]) -> Written:
        """Of cells (an Arrow array of text) whose numbers are known; NaN: none."""
        starts = pc.fill_null(pc.starts_with(text, "0"), False).to_numpy(zero_copy_only=False)
        size = np.abs(values)
        with np.errstate(invalid="ignore"):
            zero = starts & (size >= 1)  # no number from 1 on starts with 0
            pointed = (size != np.trunc(size)) & np.isfinite(size)
            few = (size >= 1) & (size < 1000) & ~zero
        grouped = np.zeros(len(values), bool)
        if few.any():
            length = pc.fill_null(pc.binary_length(text), 0).to_numpy(zero_copy_only=False)[few]
            some = size[few]
            digits = 1 + (some >= 10).astype(int) + (some >= 100) + (values[few] < 0)
            grouped[few] = length == digits + 4  # such as 12.500
        return cls(int(zero.sum()), int((pointed & ~grouped).sum()), int(grouped.sum()))

    def merge(self, other: Written) -> Written:
        """Counts add."""
        return Written(self.zeros + other.zeros, self.dotted + other.dotted, self.grouped + other.grouped)


@dataclass(frozen=True, slots=True)
class Words:
    """Cells that are words, by what they look like. A cell may look like several things."""

    decorated: Decorated = field(default_factory=Decorated)
    dates: Dates = field(default_factory=Dates)
    unknown: Mapping[str, int] | None = field(
        default_factory=dict
    )  # "not known"; None: too many different ones
    addresses: Mapping[str, int] = field(default_factory=dict)  # those of ADDRESSES

    @classmethod
    def of(cls, words: Any, times: NDArray[np.int64]) -> Words:
        """Of words (an Arrow array of text without nulls) that occur so many times."""
        if not len(words):
            return cls()
        missing = is_word(words, ALL_WORDS).to_numpy(zero_copy_only=False)
        unknown: dict[str, int] = {}
        if missing.any():
            for word, count in zip(words.filter(pa.array(missing)).to_pylist(), times[missing], strict=True):
                unknown[word] = unknown.get(word, 0) + int(count)
        left, often = words, times
        decorated, dates = Decorated(), Dates()
        numbered = pc.match_substring_regex(words, "[0-9]").to_numpy(zero_copy_only=False)
        if numbered.any():
            left, often = _some(words, times, numbered)
            found = parsed(left)
            decorated = Decorated.of(found, often)
            # What is a number is no date, and what is a date no address.
            left, often = _some(left, often, np.isnan(found.values["."]) & np.isnan(found.values[","]))
            if len(left):
                known = parsed_dates(left)
                dates = Dates.of(known, often)
                left, often = _some(left, often, ~known.any)
            left = pa.concat_arrays([left, words.filter(pa.array(~numbered))])
            often = np.concatenate([often, times[~numbered]])
        unknown_words = unknown if len(unknown) <= MOST_WORDS else None
        return cls(decorated, dates, unknown_words, _addresses(left, often))

    def merge(self, other: Words) -> Words:
        """Counts add."""
        unknown = _added(self.unknown, other.unknown, MOST_WORDS)
        addresses = _added(self.addresses, other.addresses, len(ADDRESSES)) or {}
        return Words(self.decorated.merge(other.decorated), self.dates.merge(other.dates), unknown, addresses)


def _some(words: Any, times: NDArray[np.int64], mine: NDArray[np.bool_]) -> tuple[Any, NDArray[np.int64]]:
    return (words, times) if mine.all() else (words.filter(pa.array(mine)), times[mine])


def _addresses(words: Any, times: NDArray[np.int64]) -> dict[str, int]:
    counts = {}
    for name, (part, pattern) in ADDRESSES.items():
        if pc.any(pc.match_substring(words, part)).as_py():
            mine = pc.match_substring_regex(words, pattern).to_numpy(zero_copy_only=False)
            counts[name] = int(times[mine].sum())
    return {name: count for name, count in counts.items() if count}


@dataclass(frozen=True, slots=True)
class Profile:
    """One column, or a part of it.

    >>> p = Profile.of(pa.array(["1", "2", None, "x"]), parse=True)
    >>> p.rows, p.missing, p.numbers, p.texts, p.first_text, dict(sorted(p.levels.items()))
    (4, 1, 2, 1, (3, 'x'), {'1': 1, '2': 1, 'x': 1})
    """

    rows: int = 0
    missing: int = 0  # null or NaN
    numbers: int = 0  # cells that are numbers
    texts: int = 0  # cells that are words (or truth values, or dates)
    whole: bool = True  # all numbers are whole
    low: float = np.inf  # smallest number
    high: float = -np.inf  # largest number
    candidates: Mapping[float, int] = field(default_factory=dict)  # numbers that may stand for "not known"
    inner_low: float = np.inf  # smallest number that is no candidate
    inner_high: float = -np.inf
    fingerprint: int = 0  # sum of scrambled whole numbers modulo 2^64: tells a multiset of them
    characters: int = 0  # of all words together
    first_text: tuple[int, str] | None = None  # row and cell of the first word
    levels: Mapping[str, int] | None = field(default_factory=dict)  # spellings; None: more than MOST_LEVELS
    written: Written = field(default_factory=Written)
    words: Words = field(default_factory=Words)
    calendar: Calendar = field(default_factory=Calendar)  # of columns of dates and times
    lengths: frozenset[int] = frozenset()  # of vectors; three stand for more

    @property
    def observed(self) -> int:
        """Cells that are not missing."""
        return self.rows - self.missing

    @classmethod
    def of(cls, array: Any, start: int = 0, *, parse: bool = False, levels: bool = True) -> Profile:
        """The profile of an Arrow array whose first cell is row ``start``.

        ``parse``   look for numbers in text
        ``levels``  False: they are known to be too many already
        """
        if pa.types.is_null(array.type):
            return cls(rows=len(array), missing=len(array), levels={} if levels else None)
        if is_vector(array.type):
            return cls(rows=len(array), missing=array.null_count, texts=len(array) - array.null_count,
                       levels=None, lengths=lengths_in(array))  # fmt: skip
        calendar = (
            calendar_of(array) if pa.types.is_temporal(array.type) and _is_moment(array.type) else Calendar()
        )
        array = plain(array)
        if parse and pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if is_number(array.type):
            values = as_numbers(array, "", start).astype(np.float64, copy=False)
            words = np.zeros(len(array), bool)
        elif is_text(array.type) and parse:
            values, words = numbers_in_text(array)
        else:
            values, words = np.full(len(array), np.nan), ~array.is_null().to_numpy(zero_copy_only=False)
        seen = values[~np.isnan(values)]
        whole = seen[(np.abs(seen) < EXACT) & (np.floor(seen) == seen)]
        texts = int(np.count_nonzero(words))
        candidates, inner_low, inner_high = candidates_in(seen)
        counted = pc.value_counts(array) if levels else None
        in_text = is_text(array.type) and parse
        return cls(
            rows=len(array),
            missing=len(array) - len(seen) - texts,
            numbers=len(seen),
            texts=texts,
            whole=len(whole) == len(seen),
            low=float(seen.min(initial=np.inf)),
            high=float(seen.max(initial=-np.inf)),
            candidates=candidates,
            inner_low=inner_low,
            inner_high=inner_high,
            fingerprint=fingerprint(whole),
            characters=_characters(array, words) if texts else 0,
            first_text=_first(array, words, start) if texts else None,
            levels=None if counted is None else _levels(counted),
            written=Written.of(array, values) if in_text and len(seen) else Written(),
            words=_words(array, words, counted) if in_text and texts else Words(),
            calendar=calendar,
        )

    def merge(self, other: Profile) -> Profile:
        """Both sets of rows."""
        firsts = [first for first in (self.first_text, other.first_text) if first is not None]
        return Profile(
            rows=self.rows + other.rows,
            missing=self.missing + other.missing,
            numbers=self.numbers + other.numbers,
            texts=self.texts + other.texts,
            whole=self.whole and other.whole,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            candidates=_added(self.candidates, other.candidates, len(self.candidates) + len(other.candidates))
            or {},
            inner_low=min(self.inner_low, other.inner_low),
            inner_high=max(self.inner_high, other.inner_high),
            fingerprint=(self.fingerprint + other.fingerprint) % 2**64,
            characters=self.characters + other.characters,
            first_text=min(firsts, default=None),
            levels=_added(self.levels, other.levels, MOST_LEVELS),
            written=self.written.merge(other.written),
            words=self.words.merge(other.words),
            calendar=self.calendar.merge(other.calendar),
            lengths=frozenset(sorted(self.lengths | other.lengths)[:3]),
        )

    @property
    def consecutive(self) -> bool:
        """Whether the cells are low, low + 1, ..., high, each once, in any order: numbers of rows."""
        n = self.numbers
        if not self.whole or n != self.rows or n == 0 or self.high - self.low != n - 1:
            return False
        expected = 0
        for a in range(0, n, 1 << 16):  # in pieces: a long table has as many numbers as rows
            expected += fingerprint(self.low + np.arange(a, min(a + (1 << 16), n), dtype=np.float64))
        return expected % 2**64 == self.fingerprint


def fingerprint(whole: NDArray[np.float64]) -> int:
    """Sum of the splitmix64 scrambling of each number, modulo 2^64: the same in any order."""
    z = whole.astype(np.int64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int(np.sum(z ^ (z >> np.uint64(31)), dtype=np.uint64))


def _added(a: Mapping[Any, int] | None, b: Mapping[Any, int] | None, most: int) -> dict[Any, int] | None:
    """Counts of both; None where they are too many, or were."""
    if a is None or b is None:
        return None
    few, many = sorted((a, b), key=len)
    both = dict(many)
    for name, count in few.items():
        both[name] = both.get(name, 0) + count
    return both if len(both) <= most else None


def _is_moment(kind: Any) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind))


def _words(array: Any, words: NDArray[np.bool_], counted: Any) -> Words:
    """What the words of a column of text look like; each different one once, where they come again."""
    if counted is not None and 2 * len(counted) < len(array):
        text, times = counted.field(0), counted.field(1).to_numpy(zero_copy_only=False)
        _, mine = numbers_in_text(text)
        text, times = text.filter(pa.array(mine)), times[mine]
    else:
        text = array if words.all() else array.filter(pa.array(words))
        times = np.ones(len(text), np.int64)
    return Words.of(pc.utf8_trim_whitespace(text.cast(pa.string())), times)


def _levels(counted: Any) -> dict[str, int] | None:
    different, times = counted.field(0), counted.field(1)
    if len(different) > MOST_LEVELS + 2:  # null and NaN are no levels
        return None
    counts: dict[str, int] = {}
    for value, count in zip(different.to_pylist(), times.to_pylist(), strict=True):
        name = spelled(value)
        if name is not None:
            counts[name] = counts.get(name, 0) + count
    return counts if len(counts) <= MOST_LEVELS else None


def _characters(array: Any, words: NDArray[np.bool_]) -> int:
    if not is_text(array.type):
        return 0
    lengths = pc.fill_null(pc.utf8_length(array), 0).to_numpy(zero_copy_only=False)
    return int(lengths[words].sum())


def _first(array: Any, words: NDArray[np.bool_], start: int) -> tuple[int, str]:
    place = int(np.argmax(words))
    return start + place, str(spelled(array[place].as_py()))
