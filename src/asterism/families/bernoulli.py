"""Columns of 0 and 1, independent given the component.

log p(x | c) = sum over known cells j of  x_j log p_cj + (1 - x_j) log(1 - p_cj)
p_cj         = (sum w r x + a/2) / (sum w r + a)       a: what the Beta prior is worth, 0 without one
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, is_sparse
from asterism.families.base import Facts
from asterism.families.cells import (
    BINARY,
    IMPOSSIBLE,
    Adding,
    Array,
    filled,
    known_cells,
    log_of,
    ratio,
    strength,
)
from asterism.stats.counts import CellTotals


@dataclass(frozen=True)
class Chances:
    """Parameters: the probability of a 1."""

    probabilities: Array  # (k, d)


@dataclass(frozen=True)
class BernoulliFamily(Adding):
    """Cells are 0 or 1.

    >>> from asterism.data.block import block_of
    >>> family = BernoulliFamily()
    >>> rows = block_of(np.array([[0.0], [1.0], [1.0], [np.nan]]))
    >>> family.estimate(family.statistic(None, rows, np.ones((4, 1))), None).probabilities.round(3)
    array([[0.667]])
    """

    prior: Any = None  # None, "conjugate", or how many observations of each column it is worth
    names: tuple[str, ...] = ()  # (d,) of the columns, for messages
    name: str = "bernoulli"

    def prepared(self, facts: Facts) -> BernoulliFamily:
        """With the names of the table."""
        strength(self.prior)
        return replace(self, names=facts.names)

    def n_parameters(self, k: int) -> int:
        """One chance a column."""
        return k * len(self.names)

    # --- density ---

    def log_density(self, params: Chances, block: Block) -> Array:
        """(n, k) over known cells. Two products, for in one the logarithms of impossible cells would cancel."""
        x, known = known_cells(block, BINARY, self.names)
        p = params.probabilities
        if is_sparse(x):
            return _of_stored(p, x)
        zeros = 1.0 - x if known is None else known - x
        return np.asarray(x @ log_of(p).T + zeros @ log_of(1.0 - p).T)

    def log_prior(self, params: Chances) -> float:
        """Beta(1 + a/2, 1 + a/2) for every column, up to a constant."""
        a, p = strength(self.prior), params.probabilities
        return float(a / 2 * (log_of(p) + log_of(1.0 - p)).sum()) if a else 0.0

    # --- statistic ---

    def statistic(self, params: Chances | None, block: Block, mass: Array) -> CellTotals:  # noqa: ARG002  one signature for all
        """How many cells are known, and how many of them are 1."""
        return CellTotals.of(*known_cells(block, BINARY, self.names), mass)

    # --- estimate ---

    def estimate(self, statistic: CellTotals, previous: Chances | None) -> Chances:
        """The share of ones, the prior's among them."""
        a = strength(self.prior)
        before = None if previous is None else previous.probabilities
        p = ratio(statistic.total + a / 2, statistic.seen + a, before, 0.5)
        return Chances(np.minimum(p, 1.0))  # rounding of two sums may give 1 + 1e-16

    # --- sample ---

    def sample(self, params: Chances, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) of 0 and 1."""
        p = params.probabilities[component]
        return np.asarray(rng.random((n, len(p))) < p, np.float64)

    def impute(self, params: Chances, block: Block, r: Array) -> Array:
        """(n, d) the likelier of 0 and 1 in missing cells."""
        return filled(block, (r @ params.probabilities > 0.5).astype(np.float64))

    def pack(self, params: Chances) -> Mapping[str, NDArray[Any]]:
        """Arrays for files."""
        return {"probabilities": params.probabilities}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Chances:
        """From a file."""
        return Chances(np.asarray(arrays["probabilities"], np.float64))


def _of_stored(p: Array, x: Any) -> Array:
    """(n, k) of sparse rows, in time for their ones alone:

        log p(x | c) = sum_j log(1 - p_cj) + sum over ones (log p_cj - log(1 - p_cj))

    Columns in which a component is sure of a 1 (p = 1) are counted: how many zeros a row has among them. Their
    logarithms would cancel.
    """
    sure = (p >= 1.0).astype(np.float64)
    zero = np.where(sure > 0, 0.0, log_of(1.0 - p))
    scores = x @ (log_of(p) - zero).T + zero.sum(axis=1)
    if sure.any():
        scores += np.log(IMPOSSIBLE) * (sure.sum(axis=1) - x @ sure.T)
    return np.asarray(scores)
