"""Columns of counts, independent Poisson given the component.

log p(x | c) = sum over known cells j of  x_j log m_cj - m_cj - log x_j!
m_cj         = (sum w r x + a m_j) / (sum w r + a)      a: what the Gamma prior is worth, m_j the column's mean
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from asterism.data.block import Block
from asterism.families.base import Facts
from asterism.families.cells import COUNTS, Adding, Array, filled, known_cells, log_of, ratio, strength
from asterism.stats.counts import CellTotals


@dataclass(frozen=True)
class Rates:
    """Parameters: the expected counts."""

    rates: Array  # (k, d), 0 or more


@dataclass(frozen=True)
class PoissonFamily(Adding):
    """Cells are counts.

    >>> from asterism.data.block import block_of
    >>> family = PoissonFamily()
    >>> rows = block_of(np.array([[1.0], [4.0], [np.nan]]))
    >>> family.estimate(family.statistic(None, rows, np.ones((3, 1))), None).rates
    array([[2.5]])
    """

    prior: Any = None  # None, "conjugate", or how many observations of each column it is worth
    names: tuple[str, ...] = ()  # (d,) of the columns, for messages
    usual: tuple[float, ...] = ()  # (d,) rates the prior expects: the table's, never 0
    name: str = "poisson"

    def prepared(self, facts: Facts) -> PoissonFamily:
        """With the means of the table. Half a count is added to each column, so that the prior excludes nothing."""
        strength(self.prior)
        m = facts.moments
        usual = (m.weight * m.mean + 0.5) / (m.weight + 1.0)
        return replace(self, names=facts.names, usual=tuple(usual.tolist()))

    def n_parameters(self, k: int) -> int:
        """One rate a column."""
        return k * len(self.names)

    # --- density ---

    def log_density(self, params: Rates, block: Block) -> Array:
        """(n, k) over known cells."""
        x, known = known_cells(block, COUNTS, self.names)
        rates = params.rates
        expected = rates.sum(axis=1) if known is None else known @ rates.T
        return np.asarray(x @ log_of(rates).T - expected - gammaln(x + 1.0).sum(axis=1)[:, None])

    def log_prior(self, params: Rates) -> float:
        """Gamma(1 + a m_j, rate a) for every column, up to a constant."""
        a, rates = strength(self.prior), params.rates
        return float(a * (np.array(self.usual) * log_of(rates) - rates).sum()) if a else 0.0

    # --- statistic ---

    def statistic(self, params: Rates | None, block: Block, mass: Array) -> CellTotals:  # noqa: ARG002  one signature for all
        """How many cells are known, and the sum of their counts."""
        return CellTotals.of(*known_cells(block, COUNTS, self.names), mass)

    # --- estimate ---

    def estimate(self, statistic: CellTotals, previous: Rates | None) -> Rates:
        """Mean counts, the prior's among them."""
        a = strength(self.prior)
        before = None if previous is None else previous.rates
        usual = np.array(self.usual) if self.usual else 1.0
        return Rates(ratio(statistic.total + a * usual, statistic.seen + a, before, usual))

    # --- sample ---

    def sample(self, params: Rates, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) counts."""
        rates = params.rates[component]
        return rng.poisson(rates, (n, len(rates))).astype(np.float64)

    def impute(self, params: Rates, block: Block, r: Array) -> Array:
        """(n, d) expected counts in missing cells."""
        return filled(block, r @ params.rates)

    def pack(self, params: Rates) -> Mapping[str, NDArray[Any]]:
        """Arrays for files."""
        return {"rates": params.rates}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Rates:
        """From a file."""
        return Rates(np.asarray(arrays["rates"], np.float64))
