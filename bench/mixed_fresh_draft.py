"""``FreshDraft`` makes mixtures with dependence inside groups, limits and sums, and groups that stand otherwise.

On a column, groups stand on few places as in ``Draft``, or one of them stands apart from all others, or each stands
somewhere. A ``Maker`` gives the distribution of a group from where it stands, in standard deviations, and its spread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, logit, softmax

from bench.choose_pieces import Array, Rng
from bench.mixed_draft import Draft, Show, digits, words
from bench.mixed_fresh_parts import Copula, Given, Pair, Recorded, SharedTotal, Shares
from bench.mixed_makers import Child, Maker, whole
from bench.mixed_parts import Levels, Margin, Part

NEARER = (0.75, 1.0)  # convention: groups that stand apart from all others are easier than those of ``Draft``
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class FreshDraft(Draft):
    """``Draft`` with more columns; those that others depend on are never missing. Groups are somewhat nearer."""

    def __init__(
        self,
        rng: Rng,
        k: tuple[int, int] = (2, 5),
        n: tuple[int, int] = (300, 2000),
        least: float = 0.05,
    ) -> None:
        super().__init__(rng, k, n, least)
        self.ease *= rng.uniform(*NEARER)

    def places(self, gap: float) -> Array:
        style = self.rng.integers(3)
        if style == 0 or self.k == 1:
            return super().places(gap)
        at = np.clip(self.rng.normal(size=self.k), -2, 2)
        if style == 1:  # one group apart
            at = 1.6 * (self.rng.permutation(self.k) == 0) + 0.2 * at
        return np.asarray(self.ease * gap * (at - at.mean()))

    def _makers(self, maker: Maker, gap: float, spread: float = 0.2) -> list[Any]:
        by = self.spreads(spread) if gap else np.ones(self.k)
        return [maker(at, b) for at, b in zip(self.places(gap), by, strict=True)]

    def number(
        self, name: str, maker: Maker, gap: float, step: float = 0.0,
        limits: tuple[float, float] = (-np.inf, np.inf), children: Mapping[str, Child] | None = None,
    ) -> FreshDraft:  # fmt: skip
        """A number, of a ``step`` recorded coarsely and within limits; with ``children`` that depend on it."""
        of = self._makers(maker, gap)
        part: Part = Margin(name, of, np.zeros(self.k), "continuous")
        if step:
            part = Recorded(name, of, step, *limits)
        shows: list[Show] = [whole if step >= 1 else digits]
        for child, by in (children or {}).items():
            part = Given(part, name, child, _of(by, self.places(by.gap)))
            shows.append(by.show)
        if children:
            self.full.add(name)
        self._add(part, shows)
        return self

    def related(self, columns: Mapping[str, Maker], gap: float, by: tuple[float, float]) -> FreshDraft:
        """Numbers of any margins, correlated within groups; one correlation of all pairs a group, from a range."""
        margins = [self._makers(maker, gap) for maker in columns.values()]
        d = len(columns)
        flips = np.where(self.rng.uniform(size=d) < 0.25, -1.0, 1.0)
        correlations = []
        for r in self.rng.uniform(*by, self.k):
            correlation = r * np.outer(flips, flips)
            np.fill_diagonal(correlation, 1.0)
            correlations.append(correlation)
        of = [list(group) for group in zip(*margins, strict=True)]
        self._add(Copula(tuple(columns), of, np.array(correlations)), digits)
        return self

    def months(self, name: str, gap: float, levels: Sequence[Any] = MONTHS) -> FreshDraft:
        """A time of the year, or of the day, as many levels as it has: a season a group."""
        m = len(levels)
        peak = self.rng.uniform(0, m) + m * self.rng.permutation(self.k) / max(self.k, 2)
        turn = 2 * np.pi * (np.arange(m)[None, :] - peak[:, None]) / m
        self._add(Levels(name, softmax(self.ease * gap * np.cos(turn), axis=1), "season"), words(levels))
        return self

    def pair(
        self, first: tuple[str, Sequence[Any]], second: tuple[str, Sequence[Any]], gap: float, tie: float
    ) -> FreshDraft:
        """Two categories that depend on each other in the same way in every group."""
        a, b = len(first[1]), len(second[1])
        own = self.ease * gap * self.rng.normal(size=(self.k, a, 1)) + 0.3 * self.rng.normal(size=(a, 1))
        other = self.ease * gap * self.rng.normal(size=(self.k, 1, b)) + 0.3 * self.rng.normal(size=b)
        joint = own + other + tie * self.rng.normal(size=(a, b))
        p = softmax(joint.reshape(self.k, -1), axis=1).reshape(self.k, a, b)
        self._add(Pair(first[0], second[0], p), [words(first[1]), words(second[1])])
        return self

    def shared(self, names: Sequence[str], total: float, gap: float, even: float = 12.0) -> FreshDraft:
        """Counts by kind of a total; profiles vary more between rows where ``even`` is small."""
        means = total * np.exp(0.35 * self.places(gap / 2))
        profiles = softmax(0.4 * self.ease * gap * self.rng.normal(size=(self.k, len(names))), axis=1)
        totals = [stats.nbinom(6, 6 / (6 + mean)) for mean in means]
        self.full.update(names)
        self._add(SharedTotal(tuple(names), totals, even * profiles + 0.1), whole)
        return self

    def percentages(self, names: Sequence[str], gap: float, even: float = 15.0) -> FreshDraft:
        """Columns that sum to 100."""
        profiles = softmax(0.35 * self.ease * gap * self.rng.normal(size=(self.k, len(names))), axis=1)
        self.full.update(names)
        self._add(Shares(tuple(names), even * profiles + 0.5), lambda x: np.round(x, 1))
        return self

    def binomial(self, names: Sequence[str], of: int, share: float, gap: float) -> FreshDraft:
        """Counts out of ``of``."""
        for name in names:
            scale = 1 / np.sqrt(of * share * (1 - share))
            p = expit(logit(share) + scale * self.places(gap))
            self._add(Margin(name, [stats.binom(of, q) for q in p], np.zeros(self.k), "binomial"), whole)
        return self

    def missing(self, share: float, by_group: float = 0.0, but: Sequence[str] = ()) -> FreshDraft:
        """As in ``Draft``; call it last."""
        full = self.full | set(but)
        super().missing(share, by_group, tuple(full))
        return self


def _of(child: Child, at: Array) -> Callable[[int, Array], Any]:
    return lambda g, x: child.make(float(at[g]), x)
