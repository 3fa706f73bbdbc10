"""Rows of counts that share out a total: words of a text, purchases of a customer.

    log p(x | c) = log m! - sum_j log x_j! + sum_j x_j log p_cj        m = sum_j x_j, given, not modelled
    p_cj         = (sum w r x_j + a/d) / (sum w r m + a)               a: what the Dirichlet prior is worth

**Missing cells.** The total of a row with a missing cell is unknown too. Given the total m of the cells O that are
known, those are multinomial with shares p_j / P, P = sum over O of p: that is the density used. In the estimate
a missing count is expected to be m p_j / P (the mean of a negative multinomial); completed like that, EM climbs this
very likelihood, because

    prod over O of (p_j/P)^x_j  times  P^m prod over missing of p_j^x_j  =  prod over all of p_j^x_j

and the second factor is, up to a coefficient without p, a distribution of the missing counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import gammaln

from asterism.data.block import Block, Matrix, is_sparse
from asterism.data.sparse import row_sums
from asterism.families.base import Facts
from asterism.families.cells import COUNTS, Adding, Array, filled, known_cells, log_of, ratio, strength
from asterism.stats.counts import CellTotals

NOTHING = 1e-200  # shares below it are as good as 0


@dataclass(frozen=True)
class CountShares:
    """Parameters: the share of each column in the total."""

    probabilities: Array  # (k, d); rows add up to 1


@dataclass(frozen=True)
class MultinomialFamily(Adding):
    """Rows are vectors of counts.

    >>> from asterism.data.block import block_of
    >>> family = MultinomialFamily()
    >>> rows = block_of(np.array([[1.0, 3.0], [2.0, 2.0]]))
    >>> family.estimate(family.statistic(None, rows, np.ones((2, 1))), None).probabilities
    array([[0.375, 0.625]])
    """

    prior: Any = None  # None, "conjugate", or how many counts it is worth
    names: tuple[str, ...] = ()  # (d,) of the columns, for messages
    total: int = 100  # what sampled rows share out: totals are no part of the model
    name: str = "multinomial"

    def prepared(self, facts: Facts) -> MultinomialFamily:
        """With the names of the table, and the mean total of its rows."""
        strength(self.prior)
        total = max(round(float(np.clip(facts.moments.mean.sum(), 1, 1e9))), 1)
        return replace(self, names=facts.names, total=total)

    def n_parameters(self, k: int) -> int:
        """All shares but one."""
        return k * (len(self.names) - 1)

    def compared(self, rows: Matrix) -> Any:
        """Roots of shares: long and short texts on one subject are near each other (Hellinger's distance)."""
        if is_sparse(rows):
            return _roots_of_shares(rows)
        counts = np.maximum(rows.astype(np.float64), 0.0)
        total = np.nansum(counts, axis=1, keepdims=True)
        return np.sqrt(counts / np.where(total > 0, total, 1.0))

    # --- density ---

    def log_density(self, params: CountShares, block: Block) -> Array:
        """(n, k) given the total of the known cells."""
        x, known = known_cells(block, COUNTS, self.names)
        m = x.sum(axis=1)[:, None]
        arrangements = gammaln(m + 1.0) - _log_factorials(x)[:, None]
        scores = arrangements + x @ log_of(params.probabilities).T
        return np.asarray(scores if known is None else scores - m * log_of(known @ params.probabilities.T))

    def log_prior(self, params: CountShares) -> float:
        """Dirichlet(1 + a/d), up to a constant."""
        a, p = strength(self.prior), params.probabilities
        return float(a / p.shape[1] * log_of(p).sum()) if a else 0.0

    # --- statistic ---

    def statistic(self, params: CountShares | None, block: Block, mass: Array) -> CellTotals:
        """Sums of counts, missing ones as expected of them; at a start, all columns are expected to be alike."""
        x, known = known_cells(block, COUNTS, self.names)
        totals = CellTotals.of(x, known, mass)
        if known is None:
            return totals
        k, d = totals.total.shape
        p = np.full((k, d), 1.0 / d) if params is None else params.probabilities
        return replace(totals, total=totals.total + p * (_rates(x, known, p, mass).T @ (1.0 - known)))

    # --- estimate ---

    def estimate(self, statistic: CellTotals, previous: CountShares | None) -> CountShares:
        """Shares of the counts, the prior's among them."""
        total = statistic.total
        total = total + strength(self.prior) / total.shape[1]
        before = None if previous is None else previous.probabilities
        whole = np.repeat(total.sum(axis=1, keepdims=True), total.shape[1], axis=1)
        return CountShares(ratio(total, whole, before, 1.0 / total.shape[1]))

    # --- sample ---

    def sample(self, params: CountShares, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) counts that share out ``total``."""
        p = params.probabilities[component]
        return rng.multinomial(self.total, p / p.sum(), n).astype(np.float64)

    def impute(self, params: CountShares, block: Block, r: Array) -> Array:
        """(n, d) expected counts in missing cells."""
        x, known = known_cells(block, COUNTS, self.names)
        if known is None:
            return x
        p = params.probabilities
        return filled(block, _rates(x, known, p, r) @ p)

    def pack(self, params: CountShares) -> Mapping[str, NDArray[Any]]:
        """Arrays for files."""
        return {"probabilities": params.probabilities}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> CountShares:
        """From a file."""
        return CountShares(np.asarray(arrays["probabilities"], np.float64))


def _roots_of_shares(rows: Any) -> Any:
    """The same of sparse rows, CSR."""
    total = np.repeat(row_sums(rows, rows.data), np.diff(rows.indptr))
    shares = np.divide(np.maximum(rows.data, 0.0), total, out=np.zeros(len(total)), where=total > 0)
    return csr_array((np.sqrt(shares), rows.indices, rows.indptr), rows.shape)


def _log_factorials(x: Any) -> Array:
    """(n,) sum_j log x_j!; log 0! is 0, so of sparse rows the stored cells are enough."""
    if not is_sparse(x):
        return np.asarray(gammaln(x + 1.0).sum(axis=1))
    return row_sums(x, gammaln(x.data + 1.0))


def _rates(x: Array, known: Array, p: Array, mass: Array) -> Array:
    """(n, k) mass m / P: times p_j, what is expected of missing counts. 0 where the known ones are impossible."""
    share: Array = known @ p.T
    rates: Array = np.divide(
        mass * x.sum(axis=1)[:, None], share, out=np.zeros_like(share), where=share > NOTHING
    )
    return rates
