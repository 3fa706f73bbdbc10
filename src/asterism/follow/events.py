"""What happened to groups from one table to the next, with the evidence for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from asterism.data.block import Block
from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.explain.profiles import group_moments
from asterism.explain.words import listed, number_text
from asterism.follow.columns import Seen, most_changed, seen_columns, shares_of_levels
from asterism.follow.matching import Match, Overlap
from asterism.groups.figures import Baseline, Figures
from asterism.groups.model import GroupModel
from asterism.stats.base import Joined
from asterism.stats.counts import LevelCounts
from asterism.stats.moments import ColumnMoments
from asterism.stats.two_samples import Comparison, holm, in_any_order, rank_deviate

Kind = Literal["kept", "moved", "born", "gone", "split", "merged"]
KINDS: tuple[Kind, ...] = ("kept", "moved", "born", "gone", "split", "merged")
CHANCE = 0.01  # convention: a group is said to have moved, of tables in which none has
MOVED = 0.2  # convention: standard deviations within the group; Cohen's small effect
CERTAIN = 3.0  # convention: standard errors of the difference of two means
SHOWN = 3  # columns in a sentence


@dataclass(frozen=True, slots=True)
class Shift:
    """One column of a group, before and now."""

    column: str
    before: float | str  # mean in the table's units; of levels the share that changed most, in words
    now: float | str
    size: float  # standard deviations within the group as it was


@dataclass(frozen=True, slots=True)
class Event:
    """What became of a group."""

    kind: Kind
    before: tuple[int, ...]  # numbers of the old groups
    now: tuple[int, ...]  # numbers of the new ones
    share_before: float | None  # of the rows of the old table
    share_now: float | None
    explained: float | None  # share of the new group's rows that the old groups explain
    p: float | None  # of as much by chance, where there is something to be asked
    shifts: tuple[Shift, ...]
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def summary_of(events: Sequence[Event]) -> str:
    """How many groups were kept, moved, and so on, in a sentence."""
    counts = {kind: sum(event.kind == kind for event in events) for kind in KINDS}
    return f"Beside the old groups: {listed([f'{n} {kind}' for kind, n in counts.items() if n])}."


# --- groups of the new search, in the columns of the old model ----------------------------------------------------


def tallied(formed: Source, baseline: Baseline, labels: NDArray[np.int32], k: int) -> Joined:
    """Counts of levels and moments of the new groups, columns as the old model has them."""
    found: Joined = reduce(formed, partial(_tally, baseline, labels, k))
    return found


def _tally(baseline: Baseline, labels: NDArray[np.int32], k: int, block: Block) -> Joined:
    own = labels[block.start : block.start + len(block)]
    members = [(own == g) & (block.weights > 0) for g in range(k)]
    counts = np.array([baseline.ruler.counts(block.rows[m], block.weights[m], None) for m in members])
    mass = np.array([block.weights[m].sum() for m in members])
    return Joined((LevelCounts(mass, counts), *group_moments(labels, k, block).parts))


# --- shifts -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Moved:
    """Old groups that lie elsewhere now."""

    shifts: dict[int, tuple[Shift, ...]]  # old -> columns, the largest first
    p: dict[int, float]


def moved(model: GroupModel, pairs: dict[int, int], now: Figures, new: Joined) -> Moved:
    """The old groups of these pairs (old, new) that have moved.

    Asked twice. Of the rows that the old model takes for group a, before and now: beyond chance? Of the new group
    itself: is its mean off by more than ``MOVED`` and three standard errors? The first alone would blame a group for
    strangers that the old model takes for its own, the second alone for a border that two searches draw differently.
    """
    baseline = model.baseline
    assert baseline is not None, "a model without a baseline"
    asked = [(a, seen) for a in pairs for seen in seen_columns(model)]
    chances = holm([_by_old_rule(baseline, now, a, seen).p for a, seen in asked])
    shifts: dict[int, list[Shift]] = {}
    p: dict[int, float] = {}
    for (a, seen), chance in zip(asked, chances, strict=True):
        shift = _of_new_group(baseline, new, a, pairs[a], seen) if chance <= CHANCE else None
        if shift is not None:
            shifts.setdefault(a, []).append(shift)
            p[a] = min(chance, p.get(a, 1.0))
    ranked = {a: tuple(sorted(found, key=lambda s: -abs(s.size))) for a, found in shifts.items()}
    return Moved(ranked, p)


def _by_old_rule(baseline: Baseline, now: Figures, a: int, seen: Seen) -> Comparison:
    at = baseline.ruler.at(seen.j)
    before, after = baseline.figures.within[a][at], now.within[a][at]
    if seen.column.levels and seen.column.kind != "ordinal":
        return in_any_order(before, after)
    z, size = rank_deviate(before, after)
    return Comparison(float(2.0 * stats.norm.sf(abs(z))), size)


def _of_new_group(baseline: Baseline, new: Joined, a: int, b: int, seen: Seen) -> Shift | None:
    counts, *moments = new.parts
    before: ColumnMoments = baseline.figures.moments[a]
    after: ColumnMoments = moments[b]
    n, m = float(before.weight[seen.j]), float(after.weight[seen.j])
    if not n or not m:
        return None
    error = np.sqrt(1.0 / n + 1.0 / m)
    if seen.column.levels and seen.column.kind != "ordinal":
        old, now = baseline.figures.within[a], counts.counts[b]
        size = in_any_order(old[baseline.ruler.at(seen.j)], now[baseline.ruler.at(seen.j)]).size
        shares = [shares_of_levels(baseline.ruler, each, seen.j) for each in (old, now)]
        texts = most_changed(seen, *shares).replace(" before", "").replace(" now", "").split(", ")
        first, second = texts[0], texts[-1]
        return Shift(seen.name, first, second, float(size)) if size > max(MOVED, CERTAIN * error) else None
    spread = float(np.sqrt(before.variance[seen.j]))
    gap = float(after.mean[seen.j] - before.mean[seen.j])
    if spread <= 0 or abs(gap) / spread <= max(MOVED, CERTAIN * error):
        return None
    old_mean, new_mean = (seen.value(float(part.mean[seen.j])) for part in (before, after))
    return Shift(seen.name, old_mean, new_mean, gap / spread)


# --- words --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Story:
    """All that events are told from."""

    old: GroupModel
    overlap: Overlap
    match: Match
    moved: Moved
    numbers: Sequence[int]  # (new,) lasting numbers of the new groups
    names: Sequence[str]  # (new,)
    apart: dict[int, str]  # new group -> what sets it apart, in words

    def events(self) -> tuple[Event, ...]:
        """Every old and every new group has its part in one event, or more."""
        found = [self._kept(a, b) for a, b in self.match.heirs.items()]
        found += [self._split(a, parts) for a, parts in self.match.split.items()]
        found += [self._merged(b, parts) for b, parts in self.match.merged.items()]
        found += [self._gone(a) for a in self.match.gone]
        found += [self._born(b) for b in self.match.born]
        return tuple(found)

    def _before(self, a: int) -> float:
        return float(self.overlap.expected[a] / self.overlap.expected.sum())

    def _now(self, b: int) -> float:
        return float(self.overlap.new[b] / max(self.overlap.new.sum(), 1.0))

    def _old(self, a: int) -> str:
        name = self.old.name_of(a)
        return f"group {a} ({name})" if name else f"group {a}"

    def _new(self, b: int) -> str:
        return f"group {self.numbers[b]} ({self.names[b]})"

    def _kept(self, a: int, b: int) -> Event:
        shifts = self.moved.shifts.get(a, ())
        before, now = self._before(a), self._now(b)
        shares = f"{before:.0%} of the rows before, {now:.0%} now"
        explained = float(self.overlap.claims[a, b])
        numbers = (a,), (self.numbers[b],)
        if not shifts:
            return Event(
                "kept", *numbers, before, now, explained, None, (), f"Kept: {self._old(a)}, {shares}."
            )
        p = self.moved.p[a]
        told = "; ".join(_shift_text(shift) for shift in shifts[:SHOWN])
        text = f"Moved: {self._old(a)}: {told}. {shares[0].upper()}{shares[1:]}."
        return Event("moved", *numbers, before, now, explained, p, shifts, text)

    def _born(self, b: int) -> Event:
        explained, n = float(self.overlap.explained[:, b].sum()), float(self.overlap.new[b])
        p = float(stats.binom.sf(round(n - explained) - 1, max(round(n), 1), self.overlap.alien))
        text = (
            f"Born: {self._new(b)}: {n:,.0f} rows ({self._now(b):.0%}), {1 - explained / max(n, 1):.0%} of them "
            f"typical of no group before; {self.overlap.alien:.0%} would be by chance."
        )
        return Event("born", (), (self.numbers[b],), None, self._now(b), explained / max(n, 1), p, (), text)

    def _gone(self, a: int) -> Event:
        left, expected = float(self.overlap.explained[a].sum()), float(self.overlap.expected[a])
        p = float(stats.binom.cdf(round(left), max(round(self.overlap.expected.sum()), 1), self._before(a)))
        text = (
            f"Gone: {self._old(a)}: {self._before(a):.0%} of the rows before, which would be {expected:,.0f} now; "
            f"{left:,.0f} rows are like it."
        )
        return Event("gone", (a,), (), self._before(a), None, None, p, (), text)

    def _split(self, a: int, parts: tuple[int, ...]) -> Event:
        every = [self.match.heirs[a], *parts]
        numbers = tuple(self.numbers[b] for b in every)
        rows = listed([f"{self._new(b)}, {self.overlap.new[b]:,.0f} rows" for b in every])
        explained = float(self.overlap.explained[a, every].sum() / self.overlap.new[every].sum())
        told = "; ".join(self.apart[b] for b in parts if self.apart.get(b))
        text = f"Split: {self._old(a)} is now {rows}; {explained:.0%} of these are typical of it as it was."
        now = float(sum(self._now(b) for b in every))
        return Event(
            "split", (a,), numbers, self._before(a), now, explained, None, (), f"{text} {told}".strip()
        )

    def _merged(self, b: int, parts: tuple[int, ...]) -> Event:
        every = [*(a for a, heir in self.match.heirs.items() if heir == b), *parts]
        rows = listed([f"{self._old(a)}, {self.overlap.explained[a, b]:,.0f} rows" for a in every])
        explained = float(self.overlap.explained[every, b].sum() / self.overlap.new[b])
        text = f"Merged: {self._new(b)} holds rows like those of {rows}."
        before = float(sum(self._before(a) for a in every))
        return Event(
            "merged", tuple(every), (self.numbers[b],), before, self._now(b), explained, None, (), text
        )


def _shift_text(shift: Shift) -> str:
    before, now = (v if isinstance(v, str) else number_text(v) for v in (shift.before, shift.now))
    return f"{shift.column!r} {before} before, {now} now ({shift.size:+.1f} standard deviations)"
