"""From what is known of a column to what it is. The reason goes with it, and the user can always overrule.

In this order:

* nothing but missing cells, or one value only          -> ignored
* a type that says it: truth values, categories, dates  -> boolean, categorical or ordinal, ignored
* numbers                                               -> numeric; few different whole numbers too.
  Ignored are consecutive numbers, one a row (a row number), and whole numbers under a name that says "id"
* words true/false or yes/no                            -> boolean
* words                                                 -> categorical while they are few and come again,
                                                           ignored where nearly every row has its own
* numbers and words mixed (in a text file): few different ones ('0', '1', '2', '3+') are categories. Where
  nine in ten cells are numbers the words are taken for mistakes and refused with their place: to guess that
  they mean "missing" would change the data silently, and so would setting a column aside for a typing error.
"""

from __future__ import annotations

import math
import re
from typing import Any

import pyarrow as pa

from asterism.data.cells import NUMBER, is_number, is_text, not_a_number
from asterism.data.columns import NUMBERS, Column, Wish
from asterism.data.profile import MOST_LEVELS, Profile
from asterism.errors import DataError, ParameterError, row_name

CATEGORIES = 256  # more different words than this are not taken for categories unless the user says so
FEW = 20  # different cells: a mix of numbers and words is taken for categories up to here
MOSTLY = 0.9  # share of numbers from which words among them are taken for mistakes
LONG = 30  # characters: words longer than this on average are free text
ENOUGH = 10  # rows: with fewer, consecutive numbers may be chance

TRUTHS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"), ("off", "on"))
IDENTIFIER = re.compile(
    r"(^|[\W_])(id|ids|uuid|guid|key|index|idx|rowid|rownames?|row_?(number|no|nr))$", re.I
)
CAMEL_IDENTIFIER = re.compile(r"[a-z](Id|ID|Key|Index)$")


def inferred(name: str, kind: Any, profile: Profile, declared: tuple[str, ...] = ()) -> Column:
    """The column called ``name`` of Arrow type ``kind``; ``declared`` are the levels its type lists."""
    if profile.observed == 0:
        return Column(name, "ignored", reason="every cell is missing")
    if profile.texts == 0 and profile.low == profile.high:
        return Column(name, "ignored", reason=f"every cell is {profile.low:g}")
    if profile.numbers == 0 and profile.levels is not None and len(profile.levels) == 1:
        return Column(name, "ignored", reason=f"every cell is {next(iter(profile.levels))!r}")
    if pa.types.is_dictionary(kind) and profile.levels is not None:
        return _of_categories(name, kind, profile, declared)
    if pa.types.is_boolean(kind):
        return Column(name, "boolean", ("false", "true"), "truth values")
    if is_text(kind):
        return _of_cells(name, profile)
    return _of_numbers(name, profile)


def unusable(name: str, kind: Any) -> Column | None:
    """The column set aside for its type alone, or None where its cells decide."""
    if pa.types.is_temporal(kind):
        return Column(name, "ignored", reason=f"a date or time ({kind}); turn it into numbers to use it")
    if pa.types.is_null(kind):
        return Column(name, "ignored", reason="every cell is missing")
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if is_text(value) or is_number(value) or pa.types.is_boolean(value):
        return None
    return Column(name, "ignored", reason=f"cells of type {kind} are neither numbers nor names")


def wished(name: str, wish: Wish, kind: Any, profile: Profile, declared: tuple[str, ...] = ()) -> Column:
    """The column as the user says it is, or why it cannot be."""
    reason = "as before" if wish.known else "as asked"
    if wish.kind in NUMBERS:
        _require_numbers(name, kind, profile, wish)
        return Column(name, wish.kind, (), reason)
    levels = wish.levels or _found_levels(name, wish, profile, declared)
    if wish.kind == "boolean" and len(levels) != 2:
        raise DataError(
            f"a boolean column has two levels, this one {len(levels)}: {_listed(levels)}.",
            f"Make it {name}=categorical, or name two levels and empty the other cells.",
            column=name,
        )
    return Column(name, wish.kind, levels, reason)


def sorted_levels(levels: frozenset[str]) -> tuple[str, ...]:
    """Numbers by value, words by spelling, false before true.

    >>> sorted_levels(frozenset(["10", "9"])), sorted_levels(frozenset(["Yes", "No"]))
    (('9', '10'), ('No', 'Yes'))
    """
    if all(re.match(NUMBER, level) for level in levels):
        return tuple(sorted(levels, key=lambda level: (float(level), level)))
    return tuple(sorted(levels))


def _of_categories(name: str, kind: Any, profile: Profile, declared: tuple[str, ...]) -> Column:
    assert profile.levels is not None
    if kind.ordered and profile.levels <= set(declared):
        return Column(name, "ordinal", declared, "ordered categories")
    why = "categories; the file does not say in which order" if kind.ordered else "categories"
    return Column(name, "categorical", sorted_levels(profile.levels), why)


def _of_cells(name: str, profile: Profile) -> Column:
    if profile.texts == 0:
        return _of_numbers(name, profile)
    if profile.numbers == 0:
        return _of_words(name, profile)
    assert profile.first_text is not None
    row, text = profile.first_text
    if profile.levels is not None and len(profile.levels) <= FEW:
        levels = sorted_levels(profile.levels)
        why = f"{len(levels)} different cells, numbers and words ({text!r} in {row_name(row)})"
        if not all(math.isfinite(float(level)) for level in levels if re.match(NUMBER, level)):
            why += "; an infinite number is a word here like the others"
        return Column(name, "categorical", levels, why)
    if profile.numbers >= MOSTLY * profile.observed:
        raise not_a_number(text, name, row)
    return _of_words(name, profile)


def _of_numbers(name: str, profile: Profile) -> Column:
    different = None if profile.levels is None else len(profile.levels)
    if profile.whole:
        if profile.rows >= ENOUGH and profile.consecutive:
            return Column(name, "ignored", reason=f"consecutive numbers {profile.low:g} to {profile.high:g}")
        many = different is None or different > CATEGORIES or different == profile.rows > 2
        if many and (IDENTIFIER.search(name) or CAMEL_IDENTIFIER.search(name)):
            return Column(name, "ignored", reason="an identifier: its name says so, and it has many values")
        if different is not None and different <= FEW:
            why = f"whole numbers, {different} different; {name}=categorical if they are only names"
            return Column(name, reason=why)
        return Column(name, reason="whole numbers")
    return Column(name, reason="numbers")


def _of_words(name: str, profile: Profile) -> Column:
    levels, n = profile.levels, profile.observed
    long = profile.characters > LONG * profile.texts
    if levels is None:
        what = "free text" if long else "an identifier"
        return Column(name, "ignored", reason=f"{what}: more than {MOST_LEVELS} different words")
    if (pair := _truth(levels)) is not None:
        return Column(name, "boolean", pair, "truth values")
    if len(levels) == n > 2:
        what = "free text" if long else "an identifier"
        return Column(name, "ignored", reason=f"{what}: every row has its own")
    if len(levels) > FEW // 2 and 2 * len(levels) > n:
        what = "free text" if long else "names"
        return Column(name, "ignored", reason=f"{what}: {len(levels)} different words in {n} rows")
    if len(levels) > CATEGORIES:
        why = f"{len(levels)} different words; {name}=categorical to use them all the same"
        return Column(name, "ignored", reason=why)
    return Column(name, "categorical", sorted_levels(levels), f"{len(levels)} different words")


def _truth(levels: frozenset[str]) -> tuple[str, str] | None:
    by_lower = {level.lower(): level for level in levels}
    for pair in TRUTHS:
        if len(levels) == 2 and set(by_lower) == set(pair):
            return by_lower[pair[0]], by_lower[pair[1]]
    return None


def _require_numbers(name: str, kind: Any, profile: Profile, wish: Wish) -> None:
    if profile.texts and not pa.types.is_boolean(kind):
        assert profile.first_text is not None
        if is_text(kind) or pa.types.is_dictionary(kind):
            raise not_a_number(profile.first_text[1], name, profile.first_text[0])
        raise DataError(
            f"cells of type {kind} are not numbers.",
            "Turn them into numbers first (days since a date, a length, ...), or leave the column out.",
            column=name,
        )
    if profile.observed == 0 and not wish.known:
        raise DataError("every cell is missing.", "Leave the column out, or fill it.", column=name)


def _found_levels(name: str, wish: Wish, profile: Profile, declared: tuple[str, ...]) -> tuple[str, ...]:
    if profile.levels is None:
        raise DataError(
            f"there are more than {MOST_LEVELS} different cells.",
            f"That is no {wish.kind} column; leave it out, or group the cells first.",
            column=name,
        )
    if not profile.levels:
        raise DataError("every cell is missing.", "Leave the column out, or fill it.", column=name)
    if declared and profile.levels <= set(declared):
        return declared if wish.kind in ("ordinal", "boolean") else sorted_levels(profile.levels)
    if wish.kind == "boolean":
        return _truth(profile.levels) or sorted_levels(profile.levels)
    levels = sorted_levels(profile.levels)
    if wish.kind == "ordinal" and not all(re.match(NUMBER, level) for level in levels):
        raise ParameterError(
            f"Column {name!r} is ordinal, but the order of its levels is not known: {_listed(levels)}.",
            f"Name them from low to high: {name}=ordinal:{','.join(levels[:3])}...",
        )
    return levels


def _listed(names: tuple[str, ...], most: int = 10) -> str:
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")
