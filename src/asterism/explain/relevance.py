"""Which columns carry the groups, and which are noise: what the likelihood loses without their part in it.

With r_-j the probabilities of groups that a row has without column j,

    with the groups      log sum_g r_-j,g p_g(x_j given the others)         = log p(x_j given the others)
    without them         log p_0(x_j given the others)                     one model for all groups
    loss                 mean difference, nats a row, less (parameters of the first - of the second) / n

The last term takes out what the larger model wins by being fitted to the same rows, so that the loss is what new rows
would lose (Akaike). A column carries groups where the difference beats half of BIC's penalty,

    n (mean difference)  >  (difference of parameters) / 2 * log n

Given the others: a column of numbers is normal about a linear combination of other columns, as many as BIC wants,
with an intercept and a variance for each group, or one for all. So noise that is correlated with a column that
carries groups is noise, and of two columns that carry the same, both carry. Columns of names, levels and counts have
the distribution of ``families`` that assumes least, in each group, or one for all.

Nothing is asked of the groups but r_-j, so the measure is the same for mixtures, centres, medoids and regions of any
shape; of regions it sees that places or spreads differ, and no more of their shape.

References
----------
1. Raftery, Dean (2006), Variable selection for model-based clustering. JASA 101:168-178.
2. Maugis, Celeux, Martin-Magniette (2009), Variable selection for clustering with Gaussian mixture models.
   Biometrics 65:701-709.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import block_of
from asterism.data.columns import Column
from asterism.data.source import ArraySource
from asterism.families.assignment import log_sum
from asterism.families.base import Facts, Family
from asterism.methods.frame import survey
from asterism.verdict.kinds import DISTRIBUTIONS, possible

Array = NDArray[np.float64]
STEPS = 15  # convention: EM steps of a column's distributions from the shares of all columns
MOST_REGRESSORS = 8  # convention: of a column
LEAST_VARIANCE = 1e-6  # convention: of a group, as a share of the column's: none shrinks onto a row


@dataclass(frozen=True, slots=True)
class Relevance:
    """How much of the groups one column carries, given the others."""

    column: str
    loss: float  # nats a row that new rows would lose if the column did not depend on groups; noise: about 0
    error: float  # its standard error
    carries: bool  # the evidence beats BIC's penalty


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows that columns are judged by."""

    names: tuple[str, ...]  # of the table's columns
    columns: tuple[Column, ...]  # modelled ones
    origins: tuple[int, ...]  # place of the table's column that each comes from
    rows: Array  # (m, len(columns)) NaN where a cell is missing
    weights: Array  # (m,)
    shares: Array  # (m, k) probabilities by all columns


def relevances(sample: Sample, without: Callable[[int], Array]) -> tuple[Relevance, ...]:
    """One for each column of the table, those that carry most first.

    ``without``  (m, k) probabilities by all columns but the j-th of the table

    >>> rng = np.random.default_rng(0)
    >>> z = np.repeat([0, 1], 100)
    >>> rows = np.column_stack([rng.normal(3 * z, 1), rng.normal(3 * z, 1), rng.normal(size=200)])
    >>> columns = tuple(Column(name) for name in "abc")
    >>> sample = Sample(("a", "b", "c"), columns, (0, 1, 2), rows, np.ones(200), np.eye(2)[z])
    >>> [found.column for found in relevances(sample, lambda j: np.eye(2)[z]) if found.carries]
    ['b', 'a']
    """
    found = [_relevance(sample, j, without(j)) for j in range(len(sample.names))]
    return tuple(sorted(found, key=lambda one: -one.loss))


def _relevance(sample: Sample, j: int, prior: Array) -> Relevance:
    name, w = sample.names[j], sample.weights
    n = float(w.sum())
    own = [p for p, origin in enumerate(sample.origins) if origin == j]
    if sample.shares.shape[1] == 1 or np.isnan(sample.rows[:, own]).all():
        return Relevance(name, 0.0, 0.0, carries=False)
    parts = [_part(sample, p) for p in own if not np.isnan(sample.rows[:, p]).all()]
    alone = sum((part.log_density(np.ones((len(w), 1)))[:, 0] for part in parts), np.zeros(len(w)))
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)
    r = sample.shares
    for _ in range(STEPS):
        scores = log_prior + sum((part.log_density(r) for part in parts), np.zeros(r.shape))
        height = log_sum(scores)
        r = np.exp(scores - height[:, None])
    gain = height - log_sum(log_prior) - alone
    mean = float(w @ gain) / n
    error = float(np.sqrt(w @ (gain - mean) ** 2 / n / n))
    more = sum(part.n_parameters(r.shape[1]) - part.n_parameters(1) for part in parts)
    return Relevance(name, mean - more / n, error, carries=bool(n * mean > 0.5 * more * np.log(n)))


# --- the distributions of a column ------------------------------------------------------------------------------


class _Part:
    """One modelled column, given the others: (m, k) log densities with the shares of k groups, or of one."""

    def log_density(self, r: Array) -> Array:
        raise NotImplementedError

    def n_parameters(self, k: int) -> int:
        raise NotImplementedError


def _part(sample: Sample, p: int) -> _Part:
    column, cells = sample.columns[p], sample.rows[:, p]
    if column.kind != "numeric":
        return _Levels(column, cells, sample.weights)
    others = [q for q, origin in enumerate(sample.origins) if origin != sample.origins[p]]
    design = [_regressors(sample.columns[q], sample.rows[:, q]) for q in others]
    return _Number(
        cells, sample.weights, sample.shares, np.column_stack([np.empty((len(cells), 0)), *design])
    )


def _regressors(column: Column, cells: Array) -> Array:
    """A number as it is, levels as zeros and ones; missing cells at the mean."""
    made = cells[:, None]
    if column.levels:
        made = np.where(np.isnan(made), np.nan, made == np.arange(1, len(column.levels)))
    seen = ~np.isnan(made)
    mean = np.where(seen, made, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    return np.asarray(np.where(seen, made, mean) - mean)


class _Levels(_Part):
    """Names, levels and counts, by a family."""

    def __init__(self, column: Column, cells: Array, weights: Array) -> None:
        source = ArraySource(cells[:, None], weights)
        frame, moments = survey(source)
        made: Family = DISTRIBUTIONS[possible(column)[0]]("EEI", (len(column.levels),))
        self.family = made.prepared(Facts((column.name,), moments, frame.reference))
        self.block = block_of(np.ascontiguousarray(cells[:, None]), weights)

    def log_density(self, r: Array) -> Array:
        mass = r * self.block.weights[:, None]
        params = self.family.estimate(self.family.statistic(None, self.block, mass), None)
        return self.family.log_density(params, self.block)

    def n_parameters(self, k: int) -> int:
        return self.family.n_parameters(k)


class _Number(_Part):
    """Normal about a line: intercepts a_g, common slopes b, variances v_g; rows without the cell say nothing."""

    def __init__(self, cells: Array, weights: Array, shares: Array, design: Array) -> None:
        self.seen = ~np.isnan(cells)
        self.y, self.w = np.where(self.seen, cells, 0.0), np.where(self.seen, weights, 0.0)
        center = float(self.w @ self.y / self.w.sum())
        self.least = LEAST_VARIANCE * float(self.w @ (self.y - center) ** 2 / self.w.sum())
        self.design = design
        one = np.ones((len(cells), 1))
        self.kept = {True: self._chosen(one), False: self._chosen(shares)}

    def n_parameters(self, k: int) -> int:
        return 2 * k + len(self.kept[k == 1])

    def log_density(self, r: Array) -> Array:
        k = r.shape[1]
        x, y = self.design[:, self.kept[k == 1]], self.y
        v = np.full(k, max(self._spread(y, r).sum(), self.least))
        for _ in range(3):  # slopes depend on variances, and these on slopes
            u = r * self.w[:, None] / v
            share = u / np.maximum(u.sum(axis=0), np.finfo(float).tiny)
            x_mean, y_mean = share.T @ x, share.T @ y
            # sum_g of centred products: X'UX - sum_g U_g xbar_g xbar_g'
            total, each = u.sum(axis=1), u.sum(axis=0)
            gram = (x * total[:, None]).T @ x - (x_mean * each[:, None]).T @ x_mean
            slopes = np.linalg.lstsq(
                gram, (x * total[:, None]).T @ y - x_mean.T @ (each * y_mean), rcond=None
            )[0]
            left = (y - x @ slopes)[:, None] - (y_mean - x_mean @ slopes)
            mass = r * self.w[:, None]
            v = (mass * left**2).sum(axis=0) / np.maximum(mass.sum(axis=0), np.finfo(float).tiny)
            v = np.maximum(v, max(self.least, np.finfo(float).tiny))
        return np.where(self.seen[:, None], -0.5 * (np.log(2 * np.pi * v) + left**2 / v), 0.0)

    def _spread(self, y: Array, r: Array) -> Array:
        """(k,) parts of the variance within groups."""
        mass = r * self.w[:, None]
        mean = mass.T @ y / np.maximum(mass.sum(axis=0), np.finfo(float).tiny)
        return np.asarray((mass * (y[:, None] - mean) ** 2).sum(axis=0) / self.w.sum())

    def _chosen(self, base: Array) -> list[int]:
        """Regressors beside ``base``, one after the other, while BIC falls."""
        root = np.sqrt(self.w)[:, None]
        x, y = self.design * root, self.y * root[:, 0]
        basis = np.linalg.qr(base * root)[0]
        y = y - basis @ (basis.T @ y)
        x = x - basis @ (basis.T @ x)
        n = float(self.w.sum())
        kept: list[int] = []
        usual = np.maximum((self.design**2 * self.w[:, None]).sum(axis=0), np.finfo(float).tiny)
        while len(kept) < min(MOST_REGRESSORS, x.shape[1]):
            length = (x**2).sum(axis=0)
            free = length > 1e-8 * usual
            fall = np.where(free, (x.T @ y) ** 2 / np.where(free, length, 1.0), 0.0)
            best, left = int(fall.argmax()), float(y @ y)
            if fall[best] <= left * -np.expm1(-np.log(n) / n):  # n log(before / after) <= log n
                break
            way = x[:, best] / np.sqrt(length[best])
            y, x = y - way * (way @ y), x - np.outer(way, way @ x)
            kept.append(best)
        return kept
