"""From what is known of a column to what it is. The reason goes with it; the user can always overrule (``asked``).

In this order:

* nothing but missing cells, or one value only        -> ignored
* a type that says it                                 -> boolean, categorical or ordinal, a vector, dates and times
* words: dates, nine in ten                           -> dates and times (``infer_dates``)
* words: numbers with decoration, nine in ten         -> numeric (``infer_numbers``)
* numbers with leading zeros or under a telling name  -> codes: categorical where they are few, else ignored
* numbers                                             -> numeric; few different whole numbers too. Ignored are
                                                         consecutive numbers, one a row (a row number)
* words that say yes and no                           -> boolean (``infer_names``)
* words of a well-known order, or ranges              -> ordinal (``ladders``)
* words                                               -> categorical while they come again; rare ones are pooled where
                                                         they are many; ignored where nearly every row has its own

Words and numbers that stand for "not known" (``unknown``) are missing cells and count for none of these. A word among
numbers that is none of them and comes once is refused with its place: to guess that it means "missing" would change
the data silently. One that comes again and again is taken for missing, and said.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from asterism.data.cells import is_number, is_text
from asterism.data.columns import Column
from asterism.data.dates import ORDERS, Moment
from asterism.data.hints import Hints, known_cells, listed, said_missing, unknown_words
from asterism.data.infer_dates import of_dates, of_vectors
from asterism.data.infer_names import of_categories, of_words
from asterism.data.infer_numbers import MOSTLY, of_decorated, of_numbers
from asterism.data.profile import Profile
from asterism.data.vectors import is_vector


def inferred(
    name: str, kind: Any, profile: Profile, declared: tuple[str, ...] = (), hints: Hints | None = None
) -> tuple[Column, ...]:
    """The columns that one column of Arrow type ``kind`` becomes; ``declared`` are the levels its type lists."""
    hints = hints or Hints()
    same = _constant(name, profile)
    if same is not None:
        return (same,)
    if is_vector(kind):
        return of_vectors(name, profile)
    if pa.types.is_temporal(kind):
        return of_dates(name, profile.calendar, Moment(column=name), "dates and times")
    if pa.types.is_dictionary(kind) and profile.levels is not None:
        return (of_categories(name, kind, profile, declared, hints),)
    if pa.types.is_boolean(kind):
        return (Column(name, "boolean", ("false", "true"), "truth values"),)
    if is_text(kind):
        return _of_text(name, profile, hints)
    return (of_numbers(name, profile, hints),)


def unusable(name: str, kind: Any) -> Column | None:
    """The column set aside for its type alone, or None where its cells decide."""
    if pa.types.is_null(kind):
        return Column(name, "ignored", reason="every cell is missing")
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    moment = pa.types.is_date(value) or pa.types.is_timestamp(value) or pa.types.is_time(value)
    if is_text(value) or is_number(value) or pa.types.is_boolean(value) or moment or is_vector(value):
        return None
    if pa.types.is_duration(value):
        return Column(name, "ignored", reason=f"durations ({kind}); turn them into numbers to use them")
    return Column(name, "ignored", reason=f"cells of type {kind} are neither numbers nor names")


def _constant(name: str, profile: Profile) -> Column | None:
    if profile.observed == 0:
        return Column(name, "ignored", reason="every cell is missing")
    if profile.texts == 0 and profile.low == profile.high:
        return Column(name, "ignored", reason=f"every cell is {profile.low:g}")
    if profile.numbers == 0 and profile.levels is not None and len(profile.levels) == 1:
        return Column(name, "ignored", reason=f"every cell is {next(iter(profile.levels))!r}")
    return None


def _of_text(name: str, profile: Profile, hints: Hints) -> tuple[Column, ...]:
    """Dates, numbers or words; what nine in ten cells are."""
    known = known_cells(profile, hints)
    if known == 0:
        return (
            Column(
                name, "ignored", reason=f"every cell is missing ({listed(unknown_words(profile, hints))})"
            ),
        )
    dates = profile.words.dates
    order = dates.order
    year, dated = dates.orders[0], dates.orders[ORDERS.index(order)]
    words = Moment(column=name, order=order, words=hints.absent.words, usual=not hints.absent.alone)
    if dated.cells and dated.cells >= MOSTLY * known:
        first = "" if dated.cells == year.cells else f", the {order} first"
        if dates.ambiguous:
            first += f" (no cell decides it; else {name}=date:{'month' if order == 'day' else 'day'}-first)"
        return of_dates(name, dated, words, f"dates{first}", missing=said_missing(profile, hints))
    if dates.clock.timed and dates.clock.timed >= MOSTLY * known:
        return of_dates(name, dates.clock, words, "times of day", missing=said_missing(profile, hints))
    column = of_decorated(name, profile, hints)
    return (column if column is not None else of_words(name, profile, hints),)
