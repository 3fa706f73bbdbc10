"""What can be compared between the rows a model was fitted to and those of a table: every question, with its answer.

    shares        rows in the groups, and in none            any order
    density       how likely rows are, row by row            rising
    untypical     rows of a typicality below 1%              more often, one side
    mean          a column, all rows                         rising; levels in any order
    spread        its distribution, whatever changed         any order
    within        a column within groups                     sum over groups of z^2, k degrees of freedom
    missing       missing cells of a column                  any order
    new levels    levels that the model has never seen       more often, one side

A level that occurs once in the rows of the fit is new to all other rows of it. So the number of such levels is what
rows of the same source have new ones (Good).

References
----------
1. Good (1953), The population frequencies of species and the estimation of population parameters.
   Biometrika 40:237-264.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from asterism.data.like import Match
from asterism.follow.columns import Seen, most_changed, seen_columns, shares_of_levels
from asterism.groups.figures import Array, Baseline, Figures
from asterism.groups.model import GroupModel
from asterism.stats.two_samples import (
    Comparison,
    in_any_order,
    in_rising_places,
    more_often,
    rank_deviate,
)

SINGLE = 1.5  # derived: a level of one row; weights may be fractions


@dataclass(frozen=True)
class Answer:
    """One question, answered."""

    about: str  # "shares", "density", ...
    column: str | None
    found: Comparison
    sentence: str


def compared(model: GroupModel, before: Baseline, now: Figures, match: Match) -> Iterator[Answer]:
    """All answers; ``now`` counts the rows of the table by the ruler of the baseline."""
    yield _shares(model, before.figures, now)
    yield _density(before.figures, now)
    yield _untypical(before.figures, now)
    for seen in seen_columns(model):
        if seen.name in match.absent:
            continue
        yield from _column(seen, before, now)
        if model.k > 1:
            yield _within(model, seen, before, now)
        if seen.whole:
            yield from _missing(seen, before.figures, now, match)
        if seen.whole and seen.column.levels and not seen.form.point:
            yield from _new_levels(seen, before, now, match)


# --- rows -------------------------------------------------------------------------------------------------------


def _shares(model: GroupModel, before: Figures, now: Figures) -> Answer:
    found = in_any_order(before.mass, now.mass)
    a, b = before.mass / before.total, now.mass / now.total
    most = int(np.abs(a - b).argmax())
    group = "rows in no group" if most == model.k else group_text(model, most)
    return Answer("shares", None, found, f"Shares: {group}, {a[most]:.1%} before, {b[most]:.1%} now.")


def _density(before: Figures, now: Figures) -> Answer:
    found = in_rising_places(before.heights, now.heights)
    way = "more" if found.size > 0 else "less"
    share = _beats(before.heights, now.heights)
    text = f"Density: rows are {way} likely than the model expects; {share:.0%} of them"
    return Answer("density", None, found, f"{text} stand higher than a row of the fit (50% expected).")


def _beats(before: Array, now: Array) -> float:
    """P(a row of now stands higher than one of before), ties by half."""
    return float(now @ (np.cumsum(before) - before / 2) / (before.sum() * now.sum()))


def _untypical(before: Figures, now: Figures) -> Answer:
    a, b = (np.array([f.unusual.sum(), f.known.sum() - f.unusual.sum()]) for f in (before, now))
    shares = [counts[0] / max(counts.sum(), 1.0) for counts in (a, b)]
    text = f"Untypical rows: {shares[1]:.1%} have a typicality below 1%; {shares[0]:.1%} expected."
    return Answer("untypical", None, more_often(a, b), text)


# --- columns ----------------------------------------------------------------------------------------------------


def _column(seen: Seen, before: Baseline, now: Figures) -> Iterator[Answer]:
    at = before.ruler.at(seen.j)
    a, b = before.figures.overall[at], now.overall[at]
    if seen.column.levels and seen.column.kind != "ordinal":
        shares = (
            shares_of_levels(before.ruler, counts, seen.j) for counts in (before.figures.overall, now.overall)
        )
        yield Answer(
            "mean", seen.name, in_any_order(a, b), f"{seen.column.name!r}: {most_changed(seen, *shares)}."
        )
        return
    found = in_rising_places(a, b)
    yield Answer(
        "mean", seen.name, found, f"{seen.column.name!r}: {_moved(seen, before.figures, now, found)}."
    )
    spread = [np.sqrt(figures.all_moments().variance[seen.j]) for figures in (before.figures, now)]
    ratio = f"; its spread is {spread[1] / spread[0]:.2g} times what it was" if spread[0] > 0 else ""
    yield Answer(
        "spread",
        seen.name,
        in_any_order(a, b),
        f"{seen.column.name!r}: its values are distributed otherwise{ratio}.",
    )


def _moved(seen: Seen, before: Figures, now: Figures, found: Comparison) -> str:
    way = "higher" if found.size > 0 else "lower"
    if seen.column.levels:
        return f"{way} levels ({abs(found.size):.2f} standard deviations)"
    a, b = before.all_moments(), now.all_moments()
    mean = "mean" if seen.form.kind in ("plain", "count") else "typical value"
    return (
        f"{mean} {seen.text(a)} before, {seen.text(b)} now ({abs(found.size):.2f} standard deviations {way})"
    )


def _within(model: GroupModel, seen: Seen, before: Baseline, now: Figures) -> Answer:
    at, rising = before.ruler.at(seen.j), not seen.column.levels or seen.column.kind == "ordinal"
    total, freedom, worst, size = 0.0, 0, 0, 0.0
    for g in range(model.k):
        a, b = before.figures.within[g][at], now.within[g][at]
        if rising:
            z, d = rank_deviate(a, b)
            total, freedom = total + z**2, freedom + 1
        else:
            one = in_any_order(a, b)
            z, d = float(stats.norm.isf(max(one.p, 1e-300) / 2)), one.size
            total, freedom = total + z**2, freedom + 1
        if abs(d) > abs(size):
            worst, size = g, d
    found = Comparison(float(stats.chi2.sf(total, freedom)), size)
    text = f"{seen.column.name!r} within groups: most in {group_text(model, worst)}"
    if not seen.column.levels:
        a, b = before.figures.moments[worst], now.moments[worst]
        text += f", mean {seen.text(a)} before, {seen.text(b)} now"
    elif not rising:
        shares = (
            shares_of_levels(before.ruler, counts, seen.j)
            for counts in (before.figures.within[worst], now.within[worst])
        )
        text += f", {most_changed(seen, *shares)}"
    return Answer("within", seen.name, found, f"{text} ({abs(size):.2f} standard deviations).")


def _missing(seen: Seen, before: Figures, now: Figures, match: Match) -> Iterator[Answer]:
    counts, new = [], match.unseen.get(seen.name, (0, ()))[0]
    for figures, unseen in ((before, 0), (now, new)):
        there = float(figures.all_moments().weight[seen.j]) + unseen
        counts.append(np.array([max(figures.total - there, 0.0), there]))
    if counts[0][0] or counts[1][0]:
        a, b = (c[0] / c.sum() for c in counts)
        text = f"{seen.name!r}: {b:.1%} of the cells are missing; {a:.1%} were."
        yield Answer("missing", seen.name, in_any_order(*counts), text)


def _new_levels(seen: Seen, before: Baseline, now: Figures, match: Match) -> Iterator[Answer]:
    cells, some = match.unseen.get(seen.name, (0, ()))
    if not cells:
        return
    own = before.figures.overall[before.ruler.at(seen.j)]
    once = float(((own > 0) & (own < SINGLE)).sum())
    a, b = (np.array([count, total - count]) for count, total in ((once, own.sum()), (cells, now.total)))
    text = f"{seen.name!r}: {cells:,} cells hold levels that the model has never seen ({', '.join(map(repr, some))})."
    yield Answer("new levels", seen.name, more_often(a, b), text)


def group_text(model: GroupModel, group: int) -> str:
    """A group by its number, and its name where it has one."""
    name = model.name_of(group)
    return f"group {group} ({name})" if name else f"group {group}"
