"""Columns of levels without an order, independent given the component.

    p(x | c) = prod over known cells j of p_cj(x_j)        x_j in 0 .. L_j - 1
    p_cj(l)  = (N_cj(l) + a/L_j) / (N_cj + a)              a: what the Dirichlet prior is worth, 0 without one

References
----------
1. Goodman (1974), Exploratory latent structure analysis using both identifiable and unidentifiable models.
   Biometrika 61:215-231.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block
from asterism.errors import DataError
from asterism.families.base import Facts
from asterism.families.cells import Adding, Array, bad_cell, filled, log_of, ratio, strength
from asterism.stats.counts import LevelCounts


@dataclass(frozen=True)
class LevelShares:
    """Parameters: the share of each level of each column, columns side by side."""

    probabilities: Array  # (k, D); the shares of one column add up to 1


@dataclass(frozen=True)
class CategoricalFamily(Adding):
    """Cells are codes 0 .. L_j - 1.

    >>> from asterism.data.block import block_of
    >>> coin = CategoricalFamily(levels=(2,))
    >>> rows = block_of(np.array([[0.0], [1.0], [1.0], [np.nan]]))
    >>> fair = coin.estimate(coin.statistic(None, rows, np.ones((4, 1))), None)
    >>> np.exp(coin.log_density(fair, rows)).round(3).ravel().tolist()
    [0.333, 0.667, 0.667, 1.0]
    """

    levels: tuple[int, ...] = ()  # (d,) L_j; none: as many as the table's largest code tells
    prior: Any = None  # None, "conjugate", or how many observations of each column it is worth
    names: tuple[str, ...] = ()  # (d,) of the columns, for messages
    name: str = "categorical"

    def prepared(self, facts: Facts) -> CategoricalFamily:
        """With the levels of the table."""
        strength(self.prior)
        return replace(self, levels=known_levels(self.levels, facts), names=facts.names)

    def n_parameters(self, k: int) -> int:
        """All shares of a column but one."""
        return k * (sum(self.levels) - len(self.levels))

    # --- density ---

    def log_density(self, params: LevelShares, block: Block) -> Array:
        """(n, k) sum over known cells of log p."""
        return level_log_density(log_of(params.probabilities), self.levels, block, self.names)

    def log_prior(self, params: LevelShares) -> float:
        """Dirichlet(1 + a/L_j) for every column, up to a constant."""
        a = strength(self.prior)
        return float((log_of(params.probabilities) * (a / self._widths)).sum()) if a else 0.0

    # --- statistic ---

    def statistic(self, params: LevelShares | None, block: Block, mass: Array) -> LevelCounts:  # noqa: ARG002  one signature for all
        """How often each level occurs; nothing need be expected of missing cells."""
        return count_levels(self.levels, block, mass, self.names)

    # --- estimate ---

    def estimate(self, statistic: LevelCounts, previous: LevelShares | None) -> LevelShares:
        """Shares of the counts, the prior's among them."""
        a, widths = strength(self.prior), self._widths
        counts = statistic.counts + a / widths
        starts = level_offsets(self.levels)[:-1]
        seen = np.repeat(np.add.reduceat(counts, starts, axis=1), self.levels, axis=1)
        before = None if previous is None else previous.probabilities
        return LevelShares(ratio(counts, seen, before, 1.0 / widths))

    # --- sample ---

    def sample(self, params: LevelShares, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) codes."""
        return sample_levels(params.probabilities[component], self.levels, n, rng)

    def impute(self, params: LevelShares, block: Block, r: Array) -> Array:
        """(n, d) the most probable level in missing cells."""
        return filled(block, likeliest_levels(params.probabilities, self.levels, r))

    def pack(self, params: LevelShares) -> Mapping[str, NDArray[Any]]:
        """Arrays for files."""
        return {"probabilities": params.probabilities}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> LevelShares:
        """From a file."""
        return LevelShares(np.asarray(arrays["probabilities"], np.float64))

    @property
    def _widths(self) -> Array:
        """(D,) for each level, how many its column has."""
        return np.repeat(self.levels, self.levels).astype(np.float64)


# --- codes, for all families that have them ---------------------------------------------------------------------

NO_CODE = "not one of the codes"
CODES = "Codes are 0, 1, 2, ... below the number of levels; NaN where one is missing."


def known_levels(levels: tuple[int, ...], facts: Facts) -> tuple[int, ...]:
    """(d,) the given numbers of levels, or one more than the largest code of each column."""
    if levels and len(levels) != len(facts.names):
        raise DataError(
            f"Levels are given for {len(levels)} columns, the table has {len(facts.names)}.",
            "Give one number of levels a column.",
        )
    high = np.where(facts.moments.observed > 0, facts.moments.high, 0.0)
    for j in np.flatnonzero(high > 1e6):
        raise DataError(
            f"the code {high[j]:g} would mean more than a million levels.",
            "Number the levels 0, 1, 2, ...",
            column=facts.names[int(j)],
        )
    return levels or tuple(max(int(code), 0) + 1 for code in high)


def level_offsets(levels: tuple[int, ...]) -> NDArray[np.int64]:
    """(d + 1,) where the levels of each column begin among all."""
    return np.concatenate([[0], np.cumsum(levels)]).astype(np.int64)


def level_log_density(log_p: Array, levels: tuple[int, ...], block: Block, names: tuple[str, ...]) -> Array:
    """(n, k) sum over known cells of ``log_p`` (k, D) at their level."""
    out = np.zeros((len(block), len(log_p)))
    scores = np.ascontiguousarray(log_p.T)
    bad = _core.add_level_scores(block.rows, block.weights, level_offsets(levels), scores, out)
    if bad >= 0:
        raise bad_cell(block, bad, f"{NO_CODE} of {levels[bad % len(levels)]} levels.", CODES, names)
    return out


def count_levels(levels: tuple[int, ...], block: Block, mass: Array, names: tuple[str, ...]) -> LevelCounts:
    """Mass of every level of every column."""
    counts = np.zeros((sum(levels), mass.shape[1]))
    mass = np.ascontiguousarray(mass)
    bad = _core.add_level_counts(block.rows, block.weights, level_offsets(levels), mass, counts)
    if bad >= 0:
        raise bad_cell(block, bad, f"{NO_CODE} of {levels[bad % len(levels)]} levels.", CODES, names)
    return LevelCounts(mass.sum(axis=0), np.ascontiguousarray(counts.T))


def sample_levels(p: Array, levels: tuple[int, ...], n: int, rng: np.random.Generator) -> Array:
    """(n, d) codes drawn with the shares ``p`` (D,)."""
    columns = [p[a:b] for a, b in pairwise(level_offsets(levels))]
    return np.column_stack([rng.choice(len(q), size=n, p=q / q.sum()) for q in columns]).astype(np.float64)


def likeliest_levels(p: Array, levels: tuple[int, ...], r: Array) -> Array:
    """(n, d) the level with the largest probability under the mixture ``r`` (n, k) of shares ``p`` (k, D)."""
    mixed = r @ p
    columns = [mixed[:, a:b].argmax(axis=1) for a, b in pairwise(level_offsets(levels))]
    return np.column_stack(columns).astype(np.float64)
