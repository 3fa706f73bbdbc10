"""Columns of counts that spread wider than Poisson's, independent given the component.

    log p(x | c) = sum over known cells j of  T(x_j) - log x_j! + x_j log(m / (1 + a m)) - log(1 + a m) / a
    T(x)         = sum_{i < x} log(1 + a i) = log Gamma(x + 1/a) - log Gamma(1/a) + x log a

with a mean m and a dispersion a = 1/r >= 0 for each column and component: the variance is m + a m^2. The limit a = 0
is Poisson's distribution, and is a value like any other.

**Estimate.** Without a prior m is the mean count, whatever a is (N cells are known, S is their sum, M(i) the mass of
counts above i). Then a is the root of

    sum_i M(i) i/(1 + a i) - S m/(1 + a m) + N (log(1 + a m)/a - m/(1 + a m))/a = 0

or 0 where the left side is not positive at a = 0: where the variance is no larger than the mean. The likelihood has
one maximum (reference 1). Sums over i take the place of differences of gamma functions, which lose digits as a goes
to 0. The histogram of counts is all that has to be known of the rows; M is its tail sum.

**Prior.** Gamma for m, worth w counts around the column's mean m_j: w (log m - m/m_j); and exp(-w a), which keeps
components of few rows from endless dispersion. m is then the positive root of v a m^2 + (N + v - w a) m = S + w,
v = w/m_j. It is worth counts and not rows, for where a is large m is hardly known: a row's worth would carry both
away.

References
----------
1. Levin, Reeds (1977), Compound multinomial likelihood functions are unimodal. Annals of Statistics 5:79-87.
2. Anscombe (1950), Sampling theory of the negative binomial and logarithmic series distributions.
   Biometrika 37:358-382.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from asterism import _core
from asterism.data.block import Block, Vector
from asterism.errors import DataError
from asterism.families.base import Facts
from asterism.families.categorical import level_offsets
from asterism.families.cells import COUNTS, Array, filled, known_cells, log_of, ratio, strength
from asterism.stats.counts import CountHistogram, gathered

MOST_COUNT = 2000  # convention: the largest count of a column; larger ones are as good as measurements
LOG_DISPERSION = (
    -30.0,
    20.0,
)  # derived: beyond, the density no longer differs from a = 0, or counts are all 0
STEPS = 80  # derived: halvings alone settle the logarithm of a dispersion to its last bit in 60
SETTLED = (
    1e-12  # derived: of a logarithm; the density is flat at its maximum, and differs by the square of this
)
WON = 1e-13  # convention: nats a row that a step of Newton's has won; the next one would win about its square
ROUNDING = 1e-13  # derived: of sums of a few hundred terms
SHORT = 1e-2  # derived: below, eight terms of a series are exact, and the formula loses four digits
LARGE_SIZE = 100.0  # derived: Stirling's terms that are left out are below 1e-15 from here on


@dataclass(frozen=True)
class Dispersed:
    """Parameters."""

    means: Array  # (k, d) m, 0 or more
    dispersions: Array  # (k, d) a: 0 is Poisson's distribution


@dataclass(frozen=True)
class NegativeBinomialFamily:
    """Cells are counts.

    >>> from asterism.data.block import block_of
    >>> family = NegativeBinomialFamily()
    >>> rows = block_of(np.array([[0.0], [0.0], [1.0], [2.0], [3.0], [12.0], [np.nan]]))
    >>> fit = family.estimate(family.statistic(None, rows, np.ones((7, 1))), None)
    >>> fit.means.tolist(), fit.dispersions.round(3).tolist()
    ([[3.0]], [[1.717]])
    """

    prior: Any = None  # None, "conjugate", or how many counts of each column it is worth
    names: tuple[str, ...] = ()  # (d,) of the columns, for messages
    usual: tuple[float, ...] = ()  # (d,) means the prior expects: the table's, never 0
    tops: tuple[int, ...] = ()  # (d,) counts up to these have a place of their own in the histogram
    name: str = "negative_binomial"

    def prepared(self, facts: Facts) -> NegativeBinomialFamily:
        """With the means (half a count is added, so that none is 0) and the largest counts of the table."""
        strength(self.prior)
        m = facts.moments
        high = np.floor(np.where(m.observed > 0, m.high, 0.0))
        for j in np.flatnonzero(high > MOST_COUNT):
            raise DataError(
                f"the largest count is {high[j]:g}, above {MOST_COUNT}.",
                "Take the logarithm of 1 + count and make the column numeric, or use Poisson counts.",
                column=facts.names[int(j)],
            )
        usual = (m.weight * m.mean + 0.5) / (m.weight + 1.0)
        tops = np.maximum(high, 0).astype(int)
        return replace(self, names=facts.names, usual=tuple(usual.tolist()), tops=tuple(tops.tolist()))

    def n_parameters(self, k: int) -> int:
        """A mean and a dispersion a column."""
        return 2 * k * len(self.names)

    # --- density ---

    def log_density(self, params: Dispersed, block: Block) -> Array:
        """(n, k) over known cells, from tables of log p for the counts that occur; very large ones have a formula."""
        x, codes, (i, j) = _cells(block, self.names, np.full(block.rows.shape[1], MOST_COUNT))
        widths = np.where(np.isnan(codes), -1.0, codes).max(axis=0, initial=-1.0).astype(int) + 1
        m, a = params.means, params.dispersions
        tables = [_log_table(int(w), m[:, c], a[:, c]) for c, w in enumerate(widths)]
        out = np.zeros((len(block), len(m)))
        scores = np.ascontiguousarray(np.hstack(tables).T)
        _core.add_level_scores(codes, block.weights, level_offsets(tuple(widths.tolist())), scores, out)
        if len(i):
            far, a = x[i, j][:, None], a.T[j]
            np.add.at(out, i, _log_p(far, _log_rising(a, far), m.T[j], a))
        return out

    def log_prior(self, params: Dispersed) -> float:
        """w (log m - m/m_j - a) for every column, up to a constant."""
        w, m = strength(self.prior), params.means
        return float(w * (log_of(m) - m / np.array(self.usual) - params.dispersions).sum()) if w else 0.0

    # --- statistic ---

    def statistic(self, params: Dispersed | None, block: Block, mass: Array) -> CountHistogram:  # noqa: ARG002  one signature for all
        """How often each count occurs; nothing need be expected of missing cells."""
        tops = np.array(self.tops or (-1,) * block.rows.shape[1])
        x, codes, (i, j) = _cells(block, self.names, tops)
        offsets = level_offsets(tuple((tops + 1).tolist()))
        counts = np.zeros((int(offsets[-1]), mass.shape[1]))
        _core.add_level_counts(codes, block.weights, offsets, np.ascontiguousarray(mass), counts)
        return CountHistogram(
            mass.sum(axis=0), np.ascontiguousarray(counts.T), *gathered(j, x[i, j], mass[i].T)
        )

    def flatten(self, statistic: CountHistogram) -> Vector:
        """All masses, a row."""
        s = statistic
        return np.concatenate([s.mass, s.counts.ravel(), s.beyond.ravel()]) / float(s.mass.sum())

    def unflatten(self, vector: Vector, like: CountHistogram) -> CountHistogram | None:
        """The statistic again; no mass can be negative."""
        if not (vector >= 0).all():
            return None
        shapes = (like.mass.shape, like.counts.shape, like.beyond.shape)
        parts = np.split(vector * float(like.mass.sum()), np.cumsum([int(np.prod(s)) for s in shapes])[:-1])
        mass, counts, beyond = (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
        return replace(like, mass=mass, counts=counts, beyond=beyond)

    # --- estimate ---

    def estimate(self, statistic: CountHistogram, previous: Dispersed | None) -> Dispersed:
        """The means, and the dispersions that make the counts likeliest."""
        w = strength(self.prior)
        tops = np.array(self.tops, int)
        d = len(self.tops) or int(statistic.columns.max(initial=-1)) + 1
        usual = np.array(self.usual) if self.usual else np.ones(d)
        sums = _Sums.of(statistic, tops, w, usual)
        dispersions = _dispersions(sums, None if previous is None else previous.dispersions)
        means = sums.means(dispersions)
        unseen = sums.seen + w == 0
        if previous is not None:
            means = np.where(unseen, previous.means, means)
            dispersions = np.where(unseen, previous.dispersions, dispersions)
        return Dispersed(means, dispersions)

    # --- sample ---

    def sample(self, params: Dispersed, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) counts: Poisson's, with rates that are themselves drawn."""
        m, a = params.means[component], params.dispersions[component]
        shape = 1.0 / np.maximum(a, np.exp(LOG_DISPERSION[0]))
        rates = np.where(a > 0, m * rng.gamma(shape, 1.0 / shape, (n, len(m))), m)
        return np.asarray(rng.poisson(rates), np.float64)

    def impute(self, params: Dispersed, block: Block, r: Array) -> Array:
        """(n, d) expected counts in missing cells."""
        return filled(block, r @ params.means)

    def pack(self, params: Dispersed) -> Mapping[str, NDArray[Any]]:
        """Arrays for files."""
        return {"means": params.means, "dispersions": params.dispersions}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Dispersed:
        """From a file."""
        return Dispersed(*(np.asarray(arrays[name], np.float64) for name in ("means", "dispersions")))


def _cells(block: Block, names: tuple[str, ...], tops: NDArray[Any]) -> tuple[Array, Array, tuple[Any, ...]]:
    """Cells (n, d), the same with NaN where unknown or above ``tops`` (d,), and where known ones are above."""
    x, known = known_cells(block, COUNTS, names)
    cells = x if known is None else np.where(known > 0, x, np.nan)
    above = cells > tops
    return x, np.where(above, np.nan, cells), np.nonzero(above & (block.weights > 0)[:, None])


# --- log p ------------------------------------------------------------------------------------------------------


def _log_p(x: Array, rising: Array, m: Array, a: Array) -> Array:
    """log p of counts ``x``, given T(x)."""
    t = a * m
    spread = np.divide(np.log1p(t), t, out=np.ones_like(t), where=t > 0)
    return np.asarray(rising + x * (log_of(m) - np.log1p(t)) - m * spread - gammaln(x + 1.0))


def _log_table(width: int, m: Array, a: Array) -> Array:
    """(k, width) log p of 0 .. width - 1, for m and a (k,)."""
    x = np.arange(float(width))
    rising = np.zeros((len(m), width))
    np.cumsum(np.log1p(a[:, None] * x[:-1]), axis=1, out=rising[:, 1:])
    return _log_p(x, rising, m[:, None], a[:, None])


def _log_rising(a: Array, x: Array) -> Array:
    """T(x): log Gamma(x + 1/a) - log Gamma(1/a) + x log a, without their cancelling where a is small.

    By Stirling's formula it is ((1 + a x) log(1 + a x) - a x)/a - log(1 + a x)/2 + (a/(1 + a x) - a)/12 - ...
    """
    a, x = (np.asarray(v, np.float64) for v in np.broadcast_arrays(a, x))
    small = a * LARGE_SIZE <= 1.0
    out = np.zeros(a.shape)
    r = 1.0 / a[~small]
    out[~small] = gammaln(x[~small] + r) - gammaln(r) - x[~small] * np.log(r)
    b = np.maximum(a[small], np.finfo(float).tiny)
    t = b * x[small]
    log = np.log1p(t)
    out[small] = x[small] * log - x[small] * _gap(t) * t - log / 2.0 + _stirling(b / (1.0 + t)) - _stirling(b)
    return out


def _rising_slope(a: Array, x: Array) -> Array:
    """dT(x)/da = sum_{i < x} i/(1 + a i), however many terms that are."""
    a, x = (np.asarray(v, np.float64) for v in np.broadcast_arrays(a, x))
    small = a * LARGE_SIZE <= 1.0
    out = np.zeros(a.shape)
    r, far = 1.0 / a[~small], x[~small]
    out[~small] = r * (far - r * (digamma(far + r) - digamma(r)))
    b, far = a[small], x[small]
    t = b * far
    edge = 1.0 / (1.0 + t)
    out[small] = far**2 * _gap(t) - far * edge / 2.0 + (edge**2 - 1.0) / 12.0
    out[small] -= ((b * edge) ** 2 * edge**2 - b**2) / 120.0
    return out


def _rising_bend(a: Array, x: Array) -> Array:
    """d^2 T(x)/da^2 = -sum_{i < x} (i/(1 + a i))^2, nearly: the integral and what its ends add (Euler, Maclaurin)."""
    t = a * x
    edge = 1.0 / (1.0 + t)
    steep = (edge - 2.0 * _gap(t)) / np.maximum(t, SHORT)
    whole = x**3 * np.where(t < SHORT, t / 2.0 - 1.0 / 3.0, steep)
    return np.asarray(whole + (x * edge) ** 2 / 2.0 - x * edge**3 / 6.0)


def _stirling(b: Array) -> Array:
    """What log Gamma(1/b) is above Stirling's formula."""
    return b / 12.0 - b**3 / 360.0 + b**5 / 1260.0


def _gap(t: Array) -> Array:
    """(t - log(1 + t))/t^2, 1/2 at 0."""
    return _series(t, [(-1.0) ** n / (n + 2) for n in range(8)], lambda t: (t - np.log1p(t)) / t**2)


def _curve(t: Array) -> Array:
    """(log(1 + t) - t/(1 + t))/t^2, 1/2 at 0."""
    terms = [(-1.0) ** n * (n + 1) / (n + 2) for n in range(8)]
    return _series(t, terms, lambda t: (np.log1p(t) - t / (1.0 + t)) / t**2)


def _series(t: Array, terms: list[float], formula: Callable[[Array], Array]) -> Array:
    """A formula, or below ``SHORT``, where it cancels, its power series."""
    t = np.asarray(t)
    return np.where(t < SHORT, np.polyval(terms[::-1], np.minimum(t, SHORT)), formula(np.maximum(t, SHORT)))


# --- the estimate -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sums:
    """What the likelihood of every component's every column depends on."""

    seen: Array  # (k, d) N
    total: Array  # (k, d) S
    pairs: Array  # (k, d) mass of x (x - 1)/2
    tails: Array  # (k, D) M(i) for the counts i that have a place of their own
    tops: NDArray[np.int64]  # (d,) the largest of these
    above: CountHistogram  # and those that have none
    worth: float  # w
    usual: Array  # (d,) m_j

    @classmethod
    def of(cls, statistic: CountHistogram, tops: NDArray[np.int64], worth: float, usual: Array) -> _Sums:
        s, d = statistic, len(usual)
        place = np.eye(d)[s.columns]  # (t, d)
        seen, total, pairs = (s.beyond * v @ place for v in (1.0, s.values, s.values * (s.values - 1) / 2))
        tails = np.empty_like(s.counts)
        offsets = level_offsets(tuple((tops + 1).tolist()))
        above = seen.copy()
        for j, (first, last) in enumerate(pairwise(offsets)):
            own, x = s.counts[:, first:last], np.arange(float(last - first))
            seen[:, j] += own.sum(axis=1)
            total[:, j] += own @ x
            pairs[:, j] += own @ (x * (x - 1) / 2)
            tails[:, last - 1] = above[:, j]
            tails[:, first : last - 1] = above[:, j, None] + np.cumsum(own[:, :0:-1], axis=1)[:, ::-1]
        return cls(seen, total, pairs, tails, tops, s, worth, usual)

    def means(self, a: Array) -> Array:
        """m given a: S/N, or the root of a quadratic with a prior."""
        w, u = self.worth, self.usual
        if not w:
            return ratio(self.total, self.seen, None, u)
        square, line, fixed = w / u * a, self.seen + w / u - w * a, self.total + w
        root = np.sqrt(line**2 + 4.0 * square * fixed)
        rising = line >= 0
        return np.where(
            rising,
            2.0 * fixed / np.where(rising, line + root, 1.0),
            (root - line) / np.where(rising, 1.0, 2.0 * square),
        )

    def slope(self, a: Array) -> tuple[Array, Array]:
        """The derivative of Q in a, and its own derivative."""
        widths = self.tops + 1
        first = np.zeros_like(a)
        second = np.zeros_like(a)
        if len(widths):
            i = np.concatenate([np.arange(float(w)) for w in widths])
            part = i / (1.0 + np.repeat(a, widths, axis=1) * i)
            starts = level_offsets(tuple(widths.tolist()))[:-1]
            first = np.add.reduceat(self.tails * part, starts, axis=1)
            second = -np.add.reduceat(self.tails * part**2, starts, axis=1)
        if len(self.above.columns):
            self._add_above(a, first, second)
        m = self.means(a)
        t, n, s = a * m, self.seen, self.total
        curve = _curve(t)
        bend = np.where(t < SHORT, -2.0 / 3.0, (1.0 / (1.0 + t) ** 2 - 2.0 * curve) / np.maximum(t, SHORT))
        first += n * m**2 * curve - s * m / (1.0 + t) - self.worth
        second += n * m**3 * bend + s * (m / (1.0 + t)) ** 2
        return first, second

    def _add_above(self, a: Array, first: Array, second: Array) -> None:
        """The terms of counts without a place of their own; the second derivative only leads the way."""
        columns, far = self.above.columns, self.above.values
        near = np.array([self.tops[j] + 1.0 if len(self.tops) else 0.0 for j in columns])
        own = a[:, columns]
        for slope, of in ((first, _rising_slope), (second, _rising_bend)):
            np.add.at(slope.T, columns, (self.above.beyond * (of(own, far) - of(own, near))).T)


def _dispersions(sums: _Sums, before: Array | None) -> Array:
    """(k, d) the root of the slope by Newton's method in a or log a, halving where a step leaves the bracket.

    It starts where the last step of EM ended, or from moments.
    """
    none = np.zeros_like(sums.seen)
    m = sums.means(none)
    scale = sums.pairs + sums.total * m + sums.worth
    wide = sums.pairs - sums.total * m + sums.seen * m**2 / 2 - sums.worth > ROUNDING * scale
    if not wide.any():
        return none
    low, high = np.full(m.shape, LOG_DISPERSION[0]), np.full(m.shape, LOG_DISPERSION[1])
    excess = 2.0 * sums.pairs - sums.total * m  # N (variance - mean)
    moments = np.divide(excess, sums.total * m, out=np.ones_like(m), where=wide & (excess > 0))
    start = moments if before is None else np.where(before > 0, before, moments)
    u = np.clip(np.log(np.maximum(start, 1e-12)), -20.0, 10.0)
    for _ in range(STEPS):
        a = np.exp(u)
        first, second = sums.slope(a)
        low, high = np.where(first > 0, u, low), np.where(first > 0, high, u)
        bend = a * first + a**2 * second
        step = np.divide(-a * first, bend, out=np.full_like(u, np.inf), where=bend < 0)
        # Near Poisson's the slope is a line in a, and in log a it is not.
        times = 1.0 - np.divide(first, a * second, out=np.ones_like(u), where=second < 0)
        line = times > 0
        step = np.where(line, np.log(times, out=np.zeros_like(u), where=line), step)
        inside = (u + step > low) & (u + step < high)
        after = np.where(inside, u + step, (low + high) / 2)
        moved = np.abs(after - u)
        near = inside & (line | (bend < 0)) & (a * np.abs(first) * moved <= WON * sums.seen)
        settled = (near | (moved < SETTLED))[wide].all()
        u = after
        if settled:
            break
    return np.where(wide, np.exp(u), 0.0)
