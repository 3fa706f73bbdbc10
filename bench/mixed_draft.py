"""A mixture in the making: ``Draft`` adds columns of plausible size whose groups differ by about ``gap``.

``gap`` is about the distance between neighbouring groups in standard deviations of a group, on the scale where the
family is about normal (logarithms of incomes, square roots of counts); some groups share a place, so that no column
tells all of them apart. The seed makes all gaps of a table larger or smaller. A column of ``gap=0`` carries nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit, logit, softmax

from bench.choose_pieces import Array, Labels, Rng
from bench.mixed_parts import Levels, Margin, Normals, Part, Trait
from bench.mixed_tables import DrawnTable

Show = Callable[[Array], Any]
LEAST_ROWS = 25  # convention: of a group
EASE = (0.6, 1.05)  # convention: how far apart groups of a table are; Bayes' rule then has 0.6 to 1.0
YES_NO = (("no", "yes"), ("N", "Y"), (0, 1), (False, True))
LADDER = ("never", "rarely", "sometimes", "often", "always")


def digits(x: Array, significant: int = 4) -> Array:
    """Rounded as a column of measurements is: the same decimals everywhere."""
    size = np.nanmedian(np.abs(x[x != 0])) if np.any(x[~np.isnan(x)] != 0) else 1.0
    return np.round(x, int(np.clip(significant - 1 - np.floor(np.log10(size)), -2, 6)))


def words(levels: Sequence[Any]) -> Show:
    """Codes as the levels' names; a missing cell is None."""

    def show(codes: Array) -> pd.Series:
        if all(isinstance(level, int) and not isinstance(level, bool) for level in levels):
            return pd.Series(codes).map(dict(enumerate(levels)))  # numbers; NaN where missing
        found = np.array([*levels, None], dtype=object)[
            np.where(np.isnan(codes), len(levels), codes).astype(int)
        ]
        return pd.Series(found).infer_objects()

    return show


class Draft:
    """k groups and n rows, drawn from ranges; the smallest group has at least a share of ``least`` of the rows."""

    def __init__(
        self, rng: Rng, k: tuple[int, int] = (2, 5), n: tuple[int, int] = (300, 2000), least: float = 0.05,
        shares: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        self.rng = rng
        self.k = len(shares) if shares is not None else int(rng.integers(k[0], k[1] + 1))
        self.ease = rng.uniform(*EASE)
        self.n = max(round(np.exp(rng.uniform(*np.log(n)))), 100 * self.k)
        drawn = rng.dirichlet(np.full(self.k, rng.uniform(1.5, 8.0)))
        self.shares = np.array(shares) if shares is not None else np.maximum(drawn, least)
        self.shares = np.maximum(self.shares / self.shares.sum(), 1.2 * LEAST_ROWS / self.n)
        self.shares /= self.shares.sum()
        self.parts: list[Part] = []
        self.shown: dict[str, Show] = {}
        self.derived: dict[str, Callable[[pd.DataFrame], Any]] = {}
        self.holes = np.zeros(self.k)  # share of missing cells by group
        self.full: set[str] = set()  # columns without missing cells

    # --- where groups stand -----------------------------------------------------------------------------------

    def places(self, gap: float) -> Array:
        """(k,) where groups stand on a column, around 0: some share a place."""
        different = int(self.rng.integers(2, min(self.k, 4) + 1)) if self.k > 1 else 1
        at = self.rng.permutation(np.arange(self.k) % different) + 0.15 * self.rng.normal(size=self.k)
        return np.asarray(self.ease * gap * self.rng.uniform(0.8, 1.3) * (at - at.mean()))

    def spreads(self, by: float = 0.25) -> Array:
        """(k,) standard deviations around 1."""
        return np.asarray(np.exp(self.rng.uniform(-by, by, self.k)))

    def _add(self, part: Part, show: Show | Sequence[Show]) -> Draft:
        self.parts.append(part)
        shows = [show] * len(part.names) if callable(show) else show
        self.shown.update(zip(part.names, shows, strict=True))
        return self

    # --- numbers ----------------------------------------------------------------------------------------------

    def normal(
        self, columns: Mapping[str, tuple[float, float]], gap: float, related: float = 0.0, show: Show = digits,
        family: str = "normal",
    ) -> Draft:  # fmt: skip
        """Columns by name: centre and standard deviation within a group; correlated by about ``related``."""
        d = len(columns)
        at, by = np.array(list(columns.values())).T
        means = np.column_stack([m + s * self.places(gap) for m, s in zip(at, by, strict=True)])
        covariances = []
        for _ in range(self.k):
            load = (
                np.sqrt(np.clip(related + 0.1 * self.rng.normal(size=d), 0.0, 0.95))
                if related
                else np.zeros(d)
            )
            correlations = np.outer(load, load)
            np.fill_diagonal(correlations, 1.0)
            scale = by * np.exp(self.rng.uniform(-0.25, 0.25, d))
            covariances.append(correlations * np.outer(scale, scale))
        return self._add(Normals(tuple(columns), means, np.array(covariances), family), show)

    def log_normal(
        self, columns: Mapping[str, tuple[float, float]], gap: float, related: float = 0.0
    ) -> Draft:
        """Columns by name: median and standard deviation of the logarithm."""
        logs = {name: (np.log(median), sd) for name, (median, sd) in columns.items()}
        return self.normal(logs, gap, related, lambda z: digits(np.exp(z)), "log-normal")

    def margin(self, name: str, of: Sequence[Any], family: str, zeros: Array | None = None) -> Draft:
        """A column of any distributions of SciPy, one a group."""
        zeros = np.zeros(self.k) if zeros is None else zeros
        return self._add(Margin(name, of, zeros, family), digits)

    def gamma(
        self, name: str, mean: float, shape: float, gap: float, zeros: tuple[float, float] | None = None
    ) -> Draft:
        """Skewed sizes; with ``zeros``, their share and the distance of groups in log odds, also zeros."""
        means = mean * np.exp(self.places(gap) / np.sqrt(shape))
        of = [stats.gamma(a, scale=m / a) for a, m in zip(shape * self.spreads(), means, strict=True)]
        return self.margin(name, of, "gamma and zeros" if zeros else "gamma", self.zeros(zeros))

    def pareto(self, name: str, least: float, tail: float, gap: float) -> Draft:
        """Incomes with tails of a power."""
        scales = least * np.exp(self.places(gap) / tail)
        return self.margin(name, [stats.lomax(tail, scale=s) for s in scales], "Pareto")

    def zeros(self, zeros: tuple[float, float] | None) -> Array:
        """(k,) shares of additional zeros."""
        if zeros is None:
            return np.zeros(self.k)
        return np.asarray(expit(logit(zeros[0]) + self.places(zeros[1])))

    # --- counts -----------------------------------------------------------------------------------------------

    def counts(
        self, names: Sequence[str], mean: float, gap: float, size: float = np.inf,
        zeros: tuple[float, float] | None = None,
    ) -> Draft:  # fmt: skip
        """Poisson counts, or negative binomial ones of a finite ``size``; with ``zeros`` zero-inflated."""
        for name in names:
            middle = mean * np.exp(self.rng.uniform(-0.3, 0.3))
            if np.isinf(size):
                means = np.maximum(np.sqrt(middle) + 0.5 * self.places(gap), 0.35) ** 2
                of, family = [stats.poisson(m) for m in means], "Poisson"
            else:
                means = middle * np.exp(np.sqrt(1 / middle + 1 / size) * self.places(gap))
                of, family = [stats.nbinom(size, size / (size + m)) for m in means], "negative binomial"
            said = f"{family} and zeros" if zeros else family
            self._add(Margin(name, of, self.zeros(zeros), said), _whole)
        return self

    # --- categories -------------------------------------------------------------------------------------------

    def levels(self, name: str, levels: Sequence[Any] | int, gap: float, rare: float = 0.0) -> Draft:
        """A category; ``rare`` makes later levels rarer."""
        names = [f"{name}_{chr(97 + i)}" for i in range(levels)] if isinstance(levels, int) else levels
        base = -rare * np.arange(len(names)) + 0.3 * self.rng.normal(size=len(names))
        own = self.ease * gap * self.rng.normal(size=(self.k, len(names)))
        return self._add(Levels(name, softmax(base + own, axis=1)), words(names))

    def yes_no(self, names: Sequence[str], gap: float) -> Draft:
        """Columns of two levels; the groups' log odds differ by about ``gap``."""
        said = YES_NO[self.rng.integers(len(YES_NO))]
        for name in names:
            odds = self.rng.normal(0, 0.4) + self.ease * gap * self.rng.uniform(0.7, 1.3) * self._sides()
            p = expit(odds) if gap else np.full(self.k, expit(odds[0]))
            self._add(Levels(name, np.column_stack([1 - p, p])), words(said))
        return self

    def _sides(self) -> Array:
        """(k,) -0.5 or 0.5, both of them where there is more than one group."""
        sides = self.rng.permutation(np.arange(self.k) % 2) - 0.5
        flips = self.rng.uniform(size=self.k) < 0.3
        mixed = np.where(flips, -sides, sides)
        return mixed if len(set(mixed)) > 1 else sides

    def ratings(
        self, names: Sequence[str], gap: float, levels: Sequence[Any] = (1, 2, 3, 4, 5), trait: float = 0.0
    ) -> Draft:
        """Ordered answers with one mode; a ``trait`` moves all of them inside each group with that loading."""
        m, cut = len(names), len(levels) - 1
        shifts = np.column_stack([np.sqrt(1 + trait**2) * self.places(gap) for _ in names])
        spread = np.sqrt(1 + trait**2) * np.linspace(-1.3, 1.3, cut)
        cuts = np.sort(spread + 0.15 * self.rng.normal(size=(m, cut)), axis=1)
        shows = words(levels)
        if trait:
            loadings = trait * self.rng.uniform(0.7, 1.3, m)
            return self._add(Trait(tuple(names), shifts, loadings, cuts), shows)
        for j, name in enumerate(names):
            above = stats.norm.cdf(shifts[:, [j]] - cuts[j])
            self._add(Levels(name, -np.diff(above, axis=1, prepend=1.0, append=0.0), "ordinal"), shows)
        return self

    def loved_or_hated(
        self, names: Sequence[str], sharpness: float, levels: Sequence[Any] = (1, 2, 3, 4, 5)
    ) -> Draft:
        """Ordered answers of any profile: at both ends, in the middle, even. Lower ``sharpness`` is sharper."""
        profiles = np.array(
            [[5, 1, 0.5, 1, 5], [0.5, 2, 6, 2, 0.5], [1, 5, 0.5, 5, 1], [2, 2, 2, 2, 2], [6, 1, 3, 0.5, 2]]
        )
        at = np.linspace(0, 4, len(levels)).round().astype(int)
        for name in names:
            mine = profiles[self.rng.permutation(np.arange(self.k) % len(profiles))][:, at]
            p = np.array([self.rng.dirichlet(self.ease * row / sharpness + 0.05) for row in mine])
            self._add(Levels(name, p, "ordinal, any profile"), words(levels))
        return self

    # --- what happens to columns ------------------------------------------------------------------------------

    def also(self, **columns: Callable[[pd.DataFrame], Any]) -> Draft:
        """Columns that follow from others: repeated in another unit, by another name, coarser."""
        self.derived.update(columns)
        return self

    def missing(self, share: float, by_group: float = 0.0, but: Sequence[str] = ()) -> Draft:
        """Cells missing at random with a share; ``by_group``, the log odds differ by so much between groups."""
        self.holes = expit(logit(share) + (self.places(by_group) if by_group else np.zeros(self.k)))
        self.full = set(but)
        return self

    def table(self) -> DrawnTable:
        """Draw rows, and label them by Bayes' rule."""
        groups = self.rng.choice(self.k, self.n, p=self.shares)
        cells: dict[str, Array] = {}
        for part in self.parts:
            cells |= part.draw(self.rng, groups)
        evidence = np.tile(np.log(self.shares), (self.n, 1))
        for name in cells if self.holes.any() else ():
            if name not in self.full:
                hole = self.rng.uniform(size=self.n) < self.holes[groups]
                cells[name] = np.where(hole, np.nan, cells[name])
                evidence += np.where(hole[:, None], np.log(self.holes), np.log1p(-self.holes))
        for part in self.parts:
            evidence += part.log_density(cells)
        frame = pd.DataFrame({name: self.shown[name](values) for name, values in cells.items()})
        for name, column in self.derived.items():
            frame[name] = column(frame)
        families = {name: part.family for part in self.parts for name in part.names}
        return DrawnTable(frame, groups.astype(np.int64) + 1, _likeliest(evidence) + 1, families)


def _whole(x: Array) -> Array:
    return x if np.isnan(x).any() else x.astype(np.int64)


def _likeliest(evidence: Array) -> Labels:
    return evidence.argmax(axis=1).astype(np.int64)
