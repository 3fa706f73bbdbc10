"""``NewerDraft`` makes mixtures of the parts of ``mixed_newer_parts.py``: clocks, ranks, curves, questions to some.

Groups may also be graded: they then stand in one order on every column, as poorer and richer quarters do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, logit, softmax

from bench.choose_pieces import Array, Rng
from bench.mixed_draft import Show, digits, words
from bench.mixed_fresh_draft import FreshDraft
from bench.mixed_makers import Child, Maker, whole
from bench.mixed_newer_parts import Asked, Clock, Cloud, Followed, Heaped, Moved, OneCause, Ranks, Steps
from bench.mixed_parts import Normals

Mover = Callable[
    [float], Callable[[Array], Any]
]  # where the group stands -> traits (q,) -> a distribution of SciPy
NO_YES = ("no", "yes")


# --- columns that a trait moves ------------------------------------------------------------------------------------


def number_by(centre: float, sd: float, load: float) -> Mover:
    """Normal; the trait explains ``load**2`` of the variance."""
    rest = sd * np.sqrt(1 - load**2)
    return lambda at: lambda t: stats.norm(centre + sd * (at + load * t), rest)


def size_by(median: float, sd: float, load: float) -> Mover:
    """Log-normal."""
    rest = sd * np.sqrt(1 - load**2)
    return lambda at: lambda t: stats.lognorm(rest, scale=median * np.exp(sd * (at + load * t)))


def count_by(mean: float, load: float) -> Mover:
    """Poisson, its logarithmic mean grows by ``load`` with the trait."""
    sd = np.sqrt(1 / mean + load**2)
    return lambda at: lambda t: stats.poisson(mean * np.exp(sd * at + load * t - load**2 / 2))


def mark_by(of: int, share: float, load: float) -> Mover:
    """Right answers out of ``of``."""
    sd = np.sqrt(1 / (of * share * (1 - share)) + load**2)
    return lambda at: lambda t: stats.binom(of, expit(logit(share) + sd * at + load * t))


def slope(intercept: float, per: float, sd: float, gap: float, by: float = 0.25) -> Child:
    """A number that grows with another, in each group at a rate of its own."""
    return Child(gap, lambda at, x: stats.norm(intercept + per * np.exp(by * at) * x, sd), digits)


def per_unit(rate: float, sd: float, gap: float) -> Child:
    """A number in proportion to another, which is positive; logarithms of the rates have that standard deviation."""
    return Child(gap, lambda at, x: stats.lognorm(sd, scale=rate * np.exp(sd * at) * x), digits)


def hours_as_said(x: Array) -> Array:
    return np.round(x, 1) % 24


class NewerDraft(FreshDraft):
    """``FreshDraft`` with more columns; ``graded`` groups stand in one order."""

    def __init__(
        self,
        rng: Rng,
        k: tuple[int, int] = (2, 5),
        n: tuple[int, int] = (200, 2000),
        least: float = 0.05,
        graded: bool = False,
    ) -> None:
        super().__init__(rng, k, n, least)
        self.order = rng.permutation(self.k) if graded else None

    def places(self, gap: float) -> Array:
        if self.order is None:
            return super().places(gap)
        at = self.order + 0.2 * self.rng.normal(size=self.k)
        return np.asarray(self.ease * gap * self.rng.choice((-1, 1), p=(0.3, 0.7)) * (at - at.mean()))

    def clock(self, name: str, gap: float) -> NewerDraft:
        """An hour of the day; without a gap any hour is as likely."""
        peaks = 24 * (
            self.rng.uniform() + (self.rng.permutation(self.k) + 0.3 * self.rng.normal(size=self.k)) / self.k
        )
        self._add(
            Clock(name, peaks % 24, self.ease * gap * self.rng.uniform(0.7, 1.4, self.k)), hours_as_said
        )
        return self

    def only_if(self, name: str, share: float, gap: float) -> NewerDraft:
        """Columns added last are asked only where this question is answered by yes."""
        part = Asked(name, expit(logit(share) + self.places(gap)), self.parts.pop())
        self.full.update(part.names)
        self._add(part, [words(NO_YES), *(self.shown[column] for column in part.then.names)])
        return self

    def ranked(self, names: Sequence[str], gap: float) -> NewerDraft:
        """Things in order, the best is 1."""
        common = 0.4 * self.rng.normal(size=len(names))
        worths = np.exp(common + self.ease * gap * self.rng.normal(size=(self.k, len(names))))
        self.full.update(names)
        self._add(Ranks(tuple(names), worths), whole)
        return self

    def steps(self, names: Sequence[str], states: Sequence[Any], gap: float, stay: float = 0.5) -> NewerDraft:
        """States one after another; ``stay`` makes all groups stay where they are."""
        s, by = len(states), self.ease * gap
        first = softmax(0.3 * self.rng.normal(size=s) + by * self.rng.normal(size=(self.k, s)), axis=1)
        moves = stay * np.eye(s) + 0.3 * self.rng.normal(size=s) + by * self.rng.normal(size=(self.k, s, s))
        self.full.update(names)
        self._add(Steps(tuple(names), first, softmax(moves, axis=2)), words(states))
        return self

    def followed(
        self, time: str, event: str, maker: Maker, gap: float, until: Any, said: Sequence[str]
    ) -> NewerDraft:
        """A time that the end of the study cuts off, and whether it did."""
        self.full.update((time, event))
        self._add(Followed(time, event, self._makers(maker, gap), until), [digits, words(said)])
        return self

    def of_one_cause(self, names: Sequence[str], mean: float, gap: float, size: float) -> NewerDraft:
        """Counts that are large together: a row's number of variance ``1 / size`` multiplies all of them."""
        middles = mean * np.exp(self.rng.uniform(-0.5, 0.5, len(names)))
        sd = np.sqrt(1 / middles + 0.5 / size)
        means = np.column_stack([m * np.exp(s * self.places(gap)) for m, s in zip(middles, sd, strict=True)])
        self._add(OneCause(tuple(names), means, size * self.spreads(0.2) ** 2), whole)
        return self

    def moved(self, columns: Mapping[str, Mover], gap: float) -> NewerDraft:
        """Columns of any families that one trait moves inside every group."""
        of, shows = [], []
        for mover in columns.values():
            made = [mover(at) for at in self.places(gap)]
            of.append(lambda g, t, made=made: made[g](t))
            counts = isinstance(made[0](np.zeros(1)).dist, stats.rv_discrete)
            shows.append(whole if counts else digits)
        self._add(Moved(tuple(columns), of, self.k), shows)
        return self

    def heaped(
        self, name: str, maker: Maker, gap: float, step: float, coarse: float, share: float
    ) -> NewerDraft:
        """A number that a share of the rows says roundly."""
        show: Show = whole if step >= 1 else digits
        self._add(Heaped(name, self._makers(maker, gap), np.full(self.k, share), step, coarse), show)
        return self

    def cloud(self, columns: Mapping[str, tuple[float, float]], gap: float, freedom: float) -> NewerDraft:
        """Far-tailed numbers by centre and scale, correlated otherwise in each group."""
        at, by = np.array(list(columns.values())).T
        means = np.column_stack([m + s * self.places(gap) for m, s in zip(at, by, strict=True)])
        self._add(Cloud(tuple(columns), means, self._shapes(by), freedom), digits)
        return self

    def _shapes(self, by: Array) -> Array:
        """(k, d, d): scales around ``by``, correlations around those of one or two random directions."""
        shapes = []
        for spread in self.spreads(0.35):
            load = self.rng.normal(size=(len(by), 2))
            shape = load @ load.T + np.eye(len(by))
            scale = spread * by / np.sqrt(np.diag(shape))
            shapes.append(shape * np.outer(scale, scale))
        return np.array(shapes)

    def growth(
        self, names: Sequence[str], times: Sequence[float], start: tuple[float, float], rate: tuple[float, float],
        noise: float, gap: float,
    ) -> NewerDraft:  # fmt: skip
        """Measured at times: each row has a start and a rate (mean, standard deviation); groups move both."""
        design = np.column_stack([np.ones(len(times)), times])
        starts = start[0] + start[1] * self.places(0.5 * gap)
        rates = rate[0] + rate[1] * self.places(gap)
        own = design @ np.diag([start[1] ** 2, rate[1] ** 2]) @ design.T + noise**2 * np.eye(len(times))
        means = np.column_stack([starts, rates]) @ design.T
        self._add(Normals(tuple(names), means, np.array([own] * self.k), "growth"), digits)
        return self

    def profile(self, names: Sequence[str], level: float, sd: float, gap: float, memory: float) -> NewerDraft:
        """Logarithms along a day or a year whose shape groups tell, each correlated with its neighbours."""
        d = len(names)
        turn = 2 * np.pi * (np.arange(d)[None, :] / d - self.rng.uniform(size=(self.k, 1)))
        twice = self.rng.normal(size=(self.k, 1)) * np.cos(2 * turn + 1.0)
        means = np.log(level) + self.ease * gap * sd * (np.cos(turn) + 0.6 * twice)
        lag = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
        part = Normals(tuple(names), means, np.array([sd**2 * memory**lag] * self.k), "profile")
        self._add(part, lambda z: digits(np.exp(z)))
        return self

    def genes(self, names: Sequence[str], apart: float) -> NewerDraft:
        """Counts of an allele, 0 to 2, whose shares drift apart between populations (Balding and Nichols)."""
        for name in names:
            p = self.rng.uniform(0.15, 0.85)
            shares = np.full(self.k, p)
            if apart:
                size = (1 - apart) / apart
                shares = np.clip(self.rng.beta(p * size, (1 - p) * size, self.k), 0.02, 0.98)
            self.margin(name, [stats.binom(2, q) for q in shares], "binomial")
            self.shown[name] = whole
        return self
