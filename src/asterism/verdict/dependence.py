"""One group of columns of any kind: margins as they are, and the dependence that a single group explains.

    z ~ N(0, R),     x_j = F_j^-1(Phi(z_j))          F_j: the margin of the rows themselves, R: one correlation a pair

A trait behind a survey, height with weight, income with education: all of it lives in R, and none of it speaks of
groups. Levels without an order are put in the one in which they follow the other columns best. Names that depend on
other names in a way no order tells (a city and its shops) follow a tree: each name given its nearest relative.

R from rows: the score of a value is what its normal variate is expected to be, s_j(x) = E[z_j | x], and the
covariance of two scores is a power series in the correlation of their variates,

    cov(s_i, s_j) = sum_h R_ij^h c_ih c_jh / h!,      c_jh = E[s_j(z) He_h(z)]

which rises with R_ij and is solved for it. Nothing else is fitted.

References
----------
1. Hoff (2007), Extending the rank likelihood for semiparametric copula estimation.
   Annals of Applied Statistics 1:265-283.
2. Chow, Liu (1968), Approximating discrete probability distributions with dependence trees.
   IEEE Trans. IT 14:462-467.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import chdtri, eval_hermitenorm, gammaln, ndtri

from asterism.data.columns import Column
from asterism.data.margins import Form, Margins
from asterism.verdict.null import dip_test

Array = NDArray[np.float64]
Index = NDArray[np.int64]
FEW_VALUES = 7  # convention: of a number, below which its margin is kept as it is
SEVERAL_MODES = 0.01  # convention: chance of a dip as large in one mode
PLACES, BINS, RARE = (
    8,
    24,
    0.005,
)  # convention: of a bin, of a margin, and what is beyond its bins on each side
TERMS = 16  # convention: of the series; its error at R = 0.95 is below 1%
HALVINGS = 30  # convention: of [-1, 1]
MOST_CORRELATION = 0.995  # convention: nearer to 1, R could not be inverted
LEAST_EIGENVALUE = 1e-3  # convention
RIDGE = 0.02  # convention: columns that follow from each other have a dependence that can be counted
LEAST_SHARE = 1e-9  # convention: of a group's rows; rarer values are another group's
RELATED = 0.999  # convention: of 1,000 pairs of independent names, one passes for relatives


@dataclass(frozen=True, eq=False)
class Margin:
    """The distribution of one column as it is."""

    values: Array  # (v,) distinct, in the order of the normal variate
    upto: Array  # (v,) share of the rows up to each, 1 in the end

    @classmethod
    def of_numbers(cls, column: Array, weights: Array, form: Form) -> Margin:
        """Of numbers: with one mode where the dip test sees several. Two humps are groups, and no margin of one.

        What stands at the point of the form stays there.
        """
        margin = cls.of(column, weights)
        share = np.diff(margin.upto, prepend=0.0)
        rest = margin.values != form.point
        if rest.sum() <= FEW_VALUES:
            return margin
        values = margin.values[rest]
        edges = _bins(form.of(values))
        which = np.clip(np.searchsorted(edges, form.of(values), side="right") - 1, 0, len(edges) - 2)
        mass = np.bincount(which, share[rest], len(edges) - 1).astype(np.float64)
        inside = (np.arange(PLACES) + 0.5) / PLACES
        places = edges[:-1, None] + inside * np.diff(edges)[:, None]  # (bins, PLACES)
        if (
            dip_test(places.ravel(), np.repeat(mass * float(weights.sum()) / PLACES, PLACES))[0]
            >= SEVERAL_MODES
        ):
            return margin
        fitted = _with_one_mode(mass)
        # What a bin gains is spread over it: a few values that take it all would be a point.
        kept = np.divide(np.minimum(fitted, mass), mass, out=np.zeros_like(mass), where=mass > 0)
        gained = np.repeat(np.maximum(fitted - mass, 0.0) / PLACES, PLACES)
        whole = bool((values == np.floor(values)).all())
        new = form.back(places.ravel())
        cells = np.concatenate([margin.values[~rest], values, np.rint(new) if whole else new])
        shares = [share[~rest], share[rest] * kept[which], gained]
        return cls.of(cells, np.concatenate(shares))

    @classmethod
    def of(cls, column: Array, weights: Array, order: Array | None = None) -> Margin:
        """Of known cells; ``order``: levels from low to high, where their codes have no order."""
        values, which = np.unique(column, return_inverse=True)
        share = np.bincount(which, weights)
        there = share > LEAST_SHARE * share.sum()
        values, share = values[there], share[there]
        if order is not None:
            rank = np.argsort(np.argsort(order))
            places = np.argsort(rank[values.astype(np.int64)])
            values, share = values[places], share[places]
        upto = np.cumsum(share) / share.sum()
        upto[-1] = 1.0
        return cls(values, upto)

    @property
    def _edges(self) -> Array:
        """(v + 1,) where the cells of the values begin and end on the normal axis."""
        return np.asarray(ndtri(np.concatenate([[0.0], self.upto])))

    @property
    def scores(self) -> Array:
        """(v,) E[z | value]."""
        density = _density(self._edges)
        share = np.diff(self.upto, prepend=0.0)
        return np.asarray((density[:-1] - density[1:]) / share)

    def coefficients(self) -> Array:
        """(TERMS,) c_h / sqrt(h!), h = 1 ..: the score as a series in Hermite polynomials of the variate."""
        edges, scores = self._edges, self.scores
        bounded = np.where(np.isfinite(edges), edges, 0.0)
        found = np.empty(TERMS)
        for h in range(1, TERMS + 1):
            tail = eval_hermitenorm(h - 1, bounded) * _density(edges)
            found[h - 1] = scores @ (tail[:-1] - tail[1:]) / np.exp(0.5 * gammaln(h + 1.0))
        return found

    def scores_of(self, column: Array) -> Array:
        """(n,) of cells; 0, the mean, where one is missing."""
        order = np.argsort(self.values)
        place = np.searchsorted(self.values[order], np.where(np.isnan(column), self.values[0], column))
        return np.where(np.isnan(column), 0.0, self.scores[order[np.minimum(place, len(order) - 1)]])

    def quantiles(self, u: Array) -> Array:
        """The values at shares (n,) in [0, 1]."""
        return self.values[np.minimum(np.searchsorted(self.upto, u, side="left"), len(self.values) - 1)]


@dataclass(frozen=True, eq=False)
class OneGroup:
    """A group that can be drawn from."""

    margins: tuple[Margin, ...]
    root: Array  # (d, d) symmetric root of R
    relatives: tuple[
        tuple[int, int, Array], ...
    ]  # (column, nearest relative, shares of its levels given those)

    @classmethod
    def of(cls, table: Margins, rows: Array, weights: Array) -> OneGroup:
        """Of rows (n, d), NaN where a cell is missing, with weights (n,): row weights times shares in the group."""
        known = ~np.isnan(rows)
        orders = _orders(table.columns, rows, weights)
        margins = []
        for j, (column, form) in enumerate(zip(table.columns, table.forms, strict=True)):
            cells, w = rows[known[:, j], j], weights[known[:, j]]
            margins.append(
                Margin.of(cells, w, orders.get(j)) if column.levels else Margin.of_numbers(cells, w, form)
            )
        scores = np.column_stack([margin.scores_of(rows[:, j]) for j, margin in enumerate(margins)])
        together = known.T.astype(np.float64) @ (known * weights[:, None])
        covariance = scores.T @ (scores * weights[:, None]) / np.maximum(together, 1e-300)
        correlation = _correlations(covariance, np.array([margin.coefficients() for margin in margins]))
        return cls(tuple(margins), _root(correlation), _relatives(table.columns, rows, weights))

    def dependence(self, rows: Array, weights: Array) -> float:
        """-n/2 log det of the correlation of scores, of rows with weights in this group; nats."""
        n = float(weights.sum())
        scores = np.column_stack([margin.scores_of(rows[:, j]) for j, margin in enumerate(self.margins)])
        covariance = scores.T @ (scores * weights[:, None]) / max(n, 1e-300)
        covariance += RIDGE * np.eye(len(covariance))
        unit = 1.0 / np.sqrt(np.diagonal(covariance))
        return float(-0.5 * n * np.linalg.slogdet(covariance * np.outer(unit, unit))[1])

    def draw(self, n: int, rng: np.random.Generator, *, related: bool = False) -> Array:
        """(n, d) rows; ``related``: names follow their relatives instead of the other columns."""
        z = _exactly_white(rng.standard_normal((n, len(self.margins)))) @ self.root
        shares = (z.argsort(axis=0).argsort(axis=0) + 0.5) / n
        rows = np.column_stack([m.quantiles(shares[:, j]) for j, m in enumerate(self.margins)])
        if related:
            for j, parent, shares in self.relatives:
                upto = np.cumsum(shares, axis=1)[rows[:, parent].astype(np.int64)]
                rows[:, j] = (rng.random(n)[:, None] * upto[:, -1:] > upto).sum(axis=1)
        return rows


def _bins(values: Array) -> Array:
    """Edges of bins in which two humps would be seen: of whole numbers those between them, else of one width."""
    low, high = np.quantile(values, [RARE, 1.0 - RARE])
    if (values == np.floor(values)).all() and high - low < BINS:
        return np.arange(np.floor(low), np.ceil(high) + 2.0) - 0.5
    return np.linspace(low, high, BINS + 1)


def _with_one_mode(mass: Array) -> Array:
    """(bins,) the distribution with one mode that is nearest by likelihood, over bins of one width."""
    best, height = mass, -np.inf
    for mode in range(len(mass)):
        rising = isotonic_regression(mass[: mode + 1]).x
        falling = isotonic_regression(mass[mode:], increasing=False).x
        fitted = np.concatenate([rising[:-1], [max(rising[-1], falling[0])], falling[1:]])
        fitted = fitted / fitted.sum() * mass.sum()
        reached = float(mass @ np.log(np.maximum(fitted, 1e-300)))
        if reached > height:
            best, height = fitted, reached
    return np.asarray(best)


def _exactly_white(z: Array) -> Array:
    """Rows with mean 0 and covariance 1 exactly: drawn groups differ in nothing but what R and margins leave open."""
    n, d = z.shape
    z = z - z.mean(axis=0)
    if n <= 2 * d:
        return z
    values, vectors = np.linalg.eigh(z.T @ z / n)
    return np.asarray(z @ (vectors / np.sqrt(values)) @ vectors.T)


def _density(z: Array) -> Array:
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi))


def _correlations(covariance: Array, coefficients: Array) -> Array:
    """(d, d) R from covariances of scores, pair by pair."""
    products = coefficients[:, None, :] * coefficients[None, :, :]
    low, high = np.full(covariance.shape, -1.0), np.full(covariance.shape, 1.0)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        value = np.zeros_like(middle)
        for h in range(TERMS, 0, -1):
            value = (value + products[:, :, h - 1]) * middle
        below = value < covariance
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    found: Array = np.clip(0.5 * (low + high), -MOST_CORRELATION, MOST_CORRELATION)
    np.fill_diagonal(found, 1.0)
    return np.asarray(0.5 * (found + found.T))


def _root(correlation: Array) -> Array:
    """The symmetric root of the nearest correlation that can be: symmetric, so that columns have no order."""
    values, vectors = np.linalg.eigh(correlation)
    whole = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    unit = 1.0 / np.sqrt(np.diagonal(whole))
    values, vectors = np.linalg.eigh(whole * np.outer(unit, unit))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


# --- names ------------------------------------------------------------------------------------------------------


def _orders(columns: Sequence[Column], rows: Array, weights: Array) -> dict[int, Array]:
    """Of each column of names: a value for each level that puts them in the order of the other columns.

    The first canonical direction: among all sums of the other columns the one whose means by level differ most.
    """
    names = [j for j, column in enumerate(columns) if column.kind == "categorical" and len(column.levels) > 2]
    if not names:
        return {}
    parts = [_opened(columns[j], rows[:, j]) for j in range(len(columns))]
    origin = np.repeat(np.arange(len(columns)), [part.shape[1] for part in parts])
    wide = np.hstack(parts)
    share = weights / weights.sum()
    wide = wide - share @ wide
    spread = np.sqrt(share @ wide**2)
    wide = wide[:, spread > 0] / spread[spread > 0]
    origin = origin[spread > 0]
    return {j: _order(rows[:, j], len(columns[j].levels), wide[:, origin != j], weights) for j in names}


def _order(codes: Array, levels: int, others: Array, weights: Array) -> Array:
    known = ~np.isnan(codes)
    w, level = weights[known], codes[known].astype(np.int64)
    mass = np.bincount(level, w, levels)
    if not others.shape[1]:
        return np.asarray(mass, np.float64)
    within: Array = (others * weights[:, None]).T @ others / weights.sum() + 0.1 * np.eye(others.shape[1])
    one_hot = np.zeros((len(level), levels))
    one_hot[np.arange(len(level)), level] = w
    means = (one_hot.T @ others[known]) / np.maximum(mass, 1e-300)[:, None]
    root: Array = np.linalg.cholesky(np.linalg.inv(within))
    white = np.sqrt(mass / mass.sum())[:, None] * (means @ root)
    direction: Array = np.linalg.svd(white, full_matrices=False)[2][0]
    return np.asarray(means @ root @ direction)


def _opened(column: Column, cells: Array) -> Array:
    """(n, levels) 0 and 1 of names, (n, 1) ranks of what has an order; 0 where a cell is missing."""
    if column.kind == "categorical" and len(column.levels) > 2:
        return np.equal.outer(cells, np.arange(len(column.levels))).astype(np.float64)
    known = ~np.isnan(cells)
    rank = np.zeros(len(cells))
    if known.any():
        _, which, count = np.unique(cells[known], return_inverse=True, return_counts=True)
        rank[known] = (np.cumsum(count) - 0.5 * count)[which] / known.sum() - 0.5
    return rank[:, None]


def _tables(columns: Sequence[Column], rows: Array, weights: Array) -> dict[tuple[int, int], Array]:
    """How often levels of two columns of names meet, for all pairs of such columns."""
    names = [j for j, column in enumerate(columns) if column.kind in ("categorical", "boolean")]
    tables: dict[tuple[int, int], Array] = {}
    for a, i in enumerate(names):
        for j in names[a + 1 :]:
            both = ~np.isnan(rows[:, i]) & ~np.isnan(rows[:, j])
            shape = len(columns[i].levels), len(columns[j].levels)
            cells = rows[both, i].astype(np.int64) * shape[1] + rows[both, j].astype(np.int64)
            tables[i, j] = (
                np.bincount(cells, weights[both], shape[0] * shape[1]).reshape(shape).astype(np.float64)
            )
    return tables


def _relatives(columns: Sequence[Column], rows: Array, weights: Array) -> tuple[tuple[int, int, Array], ...]:
    """The tree of names that tells most of them: each with the one before it that it depends on most."""
    tables = _tables(columns, rows, weights)
    told: dict[tuple[int, int], float] = {}
    for pair, table in tables.items():
        used = [max(int((table.sum(axis=axis) > 0).sum()) - 1, 1) for axis in (0, 1)]
        information = _information(table)
        if 2.0 * information > chdtri(used[0] * used[1], 1.0 - RELATED):
            told[pair] = information
    parent = {j: j for pair in tables for j in pair}

    def root(j: int) -> int:
        while parent[j] != j:
            j = parent[j]
        return j

    edges: list[tuple[int, int]] = []
    for i, j in sorted(told, key=lambda pair: -told[pair]):
        if root(i) != root(j):
            parent[root(j)] = root(i)
            edges.append((i, j))
    return tuple(_directed(edges, tables))


def _directed(
    edges: list[tuple[int, int]], tables: dict[tuple[int, int], Array]
) -> list[tuple[int, int, Array]]:
    """The edges of trees from their first column down, parents before children."""
    found: list[tuple[int, int, Array]] = []
    reached: set[int] = set()
    left = list(edges)
    while left:
        start = next((e for e in left if reached & set(e)), None)
        if start is None:
            reached.add(min(min(e) for e in left))
            continue
        left.remove(start)
        i, j = start
        table = tables[i, j]
        if i in reached:
            found.append((j, i, table + 1e-9))
        else:
            found.append((i, j, table.T + 1e-9))
        reached |= {i, j}
    return found


def _information(table: Array) -> float:
    """Rows times mutual information, nats."""
    n = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(n, 1e-300)
    there = table > 0
    return float((table[there] * np.log(table[there] / expected[there])).sum())
