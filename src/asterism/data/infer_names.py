"""Columns of words: truth values, levels in order, names, and texts that are set aside."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from asterism.data.cells import NUMBER, is_text
from asterism.data.columns import Column
from asterism.data.hints import Hints, known_cells, said_missing
from asterism.data.ladders import folded_word, steps, truth
from asterism.data.names import OTHER, Names
from asterism.data.profile import MOST_LEVELS, Profile
from asterism.data.unknown import ALL_WORDS, SURELY
from asterism.errors import row_name

MOST_NAMES = 50  # convention: levels of a column of names beside the one for all others
OFTEN = 10  # rows that a name must have to be a level of its own where names are many
COVERED = 0.5  # share of the rows whose name must be a level of its own, else names say too little
FEW = 20  # different cells: so few are all levels, however rare
LONG = 30  # characters: words longer than this on average are free text
NEARLY_ALL = 0.9  # share of cells that look like addresses


def of_categories(name: str, kind: Any, profile: Profile, declared: tuple[str, ...], hints: Hints) -> Column:
    """A column of a type that lists its levels."""
    assert profile.levels is not None
    if kind.ordered and profile.levels.keys() <= set(declared):
        return Column(name, "ordinal", declared, "ordered categories")
    why = "categories; the file does not say in which order" if kind.ordered else "categories"
    if kind.ordered or not is_text(kind.value_type):
        return Column(name, "categorical", sorted_levels(profile.levels), why)
    return _of_levels(name, profile.levels, profile, hints, why)


def of_words(name: str, profile: Profile, hints: Hints) -> Column:
    """Names: addresses and texts set aside, well-known words in their order, all others as they are."""
    levels, known = profile.levels, known_cells(profile, hints)
    long = profile.characters > LONG * profile.texts
    for what, count in profile.words.addresses.items():
        many = levels is None or len(levels) > FEW
        if count >= NEARLY_ALL * known and many:
            return Column(name, "ignored", reason=f"{what}: nearly every row has its own")
    if levels is None:
        what = "free text" if long else "an identifier"
        return Column(name, "ignored", reason=f"{what}: more than {MOST_LEVELS} different words")
    return _of_levels(name, levels, profile, hints, _mixed(profile, levels))


def _mixed(profile: Profile, levels: Mapping[str, int]) -> str:
    """Why numbers and words together are names; empty where there are words alone."""
    if not profile.numbers or profile.first_text is None:
        return ""
    row, text = profile.first_text
    why = f"{len(levels)} different cells, numbers and words ({text!r} in {row_name(row)})"
    if not all(math.isfinite(float(level)) for level in levels if re.match(NUMBER, level)):
        why += "; an infinite number is a word here like the others"
    return why


def _of_levels(name: str, levels: Mapping[str, int], profile: Profile, hints: Hints, why: str) -> Column:
    """Levels that say yes and no, that stand in order, or that are names."""
    surely = (
        {level for level in levels if folded_word(level) in ALL_WORDS} if not hints.absent.alone else set()
    )
    answers = {level: count for level, count in levels.items() if level not in surely}
    said = said_missing(profile, hints)
    pair = truth(list(answers))
    if pair is not None:
        no, yes = (max(side, key=lambda level: answers[level]) for side in pair)
        spelled = [
            (other, side)
            for group, side in zip(pair, (no, yes), strict=True)
            for other in group
            if other != side
        ]
        reading = names_reading((no, yes), spelled, surely, hints)
        return Column(name, "boolean", (no, yes), "truth values" + said, reading)
    found = steps(list(answers), name) or steps(list(levels), name)
    if found is not None:
        places, order = found
        merged = _by_place(places, levels)
        ordered = tuple(merged[place] for place in sorted(merged))
        spelled = [(level, merged[places[level]]) for level in places if level != merged[places[level]]]
        gone = surely - set(places)
        reading = names_reading(ordered, spelled, gone, hints)
        if len(ordered) > 1:
            return Column(
                name, "ordinal", ordered, f"{order}: {' < '.join(ordered)}" + (said if gone else ""), reading
            )
    return of_names(name, levels, profile.observed, profile, hints, why)


def _by_place(places: Mapping[str, float], levels: Mapping[str, int]) -> dict[float, str]:
    """The most frequent spelling of each step."""
    best: dict[float, str] = {}
    for level, place in places.items():
        if place not in best or (levels[level], level) > (levels[best[place]], best[place]):
            best[place] = level
    return best


def names_reading(
    levels: tuple[str, ...], spelled: list[tuple[str, str]], gone: set[str], hints: Hints, other: str = ""
) -> Names | None:
    """How cells become these levels, whatever their spelling; None where they are that already."""
    words = tuple(sorted({*gone, *hints.absent.words}))
    if not spelled and not words and not other:
        return None
    return Names(levels, tuple(sorted(spelled)), words, other)


def of_names(
    name: str, levels: Mapping[str, int], known: int, profile: Profile, hints: Hints, why: str
) -> Column:
    """Names without an order: spellings brought together, words for "not known" left out, rare ones pooled."""
    gone = set() if hints.absent.alone else {level for level in levels if folded_word(level) in SURELY}
    if len(levels) - len(gone) < 2:
        gone = set()
    known = profile.observed - sum(levels[level] for level in gone)
    counts, spelled = _folded({level: count for level, count in levels.items() if level not in gone})
    said = "; " + ", ".join(map(repr, sorted(gone))) + " taken for missing" if gone else ""
    various = "; spelled in several ways" if spelled else ""
    n = len(counts)
    long = profile.characters > LONG * max(profile.texts, 1)
    what = why or ("free text" if long else "an identifier" if n == known else "names")
    if n == known > 2:
        return Column(name, "ignored", reason=f"{what}{': ' if not why else ', and '}every row has its own")
    if n > FEW // 2 and 2 * n > known:
        what = why or ("free text" if long else "names")
        return Column(
            name, "ignored", reason=f"{what}{', ' if why else ': '}{n} different words in {known} rows"
        )
    if n <= FEW:
        ordered = sorted_levels(counts)
        reading = names_reading(ordered, spelled, gone, hints)
        return Column(name, "categorical", ordered, (why or f"{n} different words") + various + said, reading)
    often = sorted(
        (level for level in counts if counts[level] >= OFTEN), key=lambda level: (-counts[level], level)
    )
    kept = often[:MOST_NAMES]
    covered = sum(counts[level] for level in kept)
    if len(kept) < 2 or covered < COVERED * known:
        what = why or ("free text" if long else "names")
        mark = ", " if why else ": "
        reason = f"{what}{mark}{n} different words, of which {len(kept)} come often"
        reason += f", in {covered / known:.0%} of the rows"
        return Column(name, "ignored", reason=f"{reason}; {name}=categorical to use them all the same")
    if len(kept) == n:
        ordered = sorted_levels(counts)
        reading = names_reading(ordered, spelled, gone, hints)
        return Column(name, "categorical", ordered, (why or f"{n} different words") + various + said, reading)
    other = OTHER if OTHER not in kept else f"{OTHER} names"
    ordered = (*sorted_levels(kept), other)
    spelled = [(word, level) for word, level in spelled if level in kept]
    rare = f"{n - len(kept)} rare ones ({1 - covered / known:.0%} of the rows) pooled as {other!r}"
    reason = f"{why or 'names'}: {n} different; {rare}"
    reading = names_reading(ordered, spelled, gone, hints, other)
    return Column(name, "categorical", ordered, reason + various + said, reading)


def _folded(levels: Mapping[str, int]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Levels with all their spellings together, under the most frequent; and the other spellings."""
    groups: dict[str, list[str]] = {}
    for level in levels:
        groups.setdefault(folded_word(level) or level, []).append(level)
    counts, spelled = {}, []
    for group in groups.values():
        best = max(group, key=lambda level: (levels[level], level))
        counts[best] = sum(levels[level] for level in group)
        spelled += [(level, best) for level in group if level != best]
    return counts, spelled


def sorted_levels(levels: Any) -> tuple[str, ...]:
    """Numbers by value, words by spelling, false before true.

    >>> sorted_levels(frozenset(["10", "9"])), sorted_levels(frozenset(["Yes", "No"]))
    (('9', '10'), ('No', 'Yes'))
    """
    if all(re.match(NUMBER, level) for level in levels):
        return tuple(sorted(levels, key=lambda level: (float(level), level)))
    return tuple(sorted(levels))
