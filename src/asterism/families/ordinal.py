"""Columns of ordered levels: a centre among them, and how fast they become rare with the distance from it.

    p(x = l | c) = t^((l - u)^2) / sum_l' t^((l' - u)^2)        l in 0 .. L - 1
                                                                u a level or a quarter step between two, t in [0, 1]

A normal curve on the levels: log t = -1/(2 s^2). t = 0 has only the level next to u (two where u is half-way),
t = 1 knows no order. Two numbers a column, however many levels; they are best for given counts by looking at every
value of u, because for a given u this is an exponential family: its t makes the expected squared distance from u
equal the observed one. A prior is ``a`` observations shared out evenly over the levels, so it needs no formula of its
own. Why this family and no other: ``docs/decisions/008-ordinal-columns.md``.

References
----------
1. Biernacki, Jacques (2016), Model-based clustering of multivariate ordinal data relying on a stochastic binary
   search algorithm. Statistics and Computing 26:929-943.
2. Kemp (1997), Characterizations of a discrete normal distribution. J. Statistical Planning and Inference 63:223-229.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.families.base import Facts
from asterism.families.categorical import (
    count_levels,
    known_levels,
    level_log_density,
    level_offsets,
    likeliest_levels,
    sample_levels,
)
from asterism.families.cells import Adding, Array, filled, log_of, strength
from asterism.stats.counts import LevelCounts

PER_STEP = 4  # values of u from one level to the next
LEAST_LOG, GRID = (
    60.0,
    257,
)  # convention: of log t, below which a level is as good as impossible; and its grid
NEWTON_STEPS = 8  # convention: from the grid, three reach the last digit


@dataclass(frozen=True)
class Steps:
    """Parameters."""

    typical: Array  # (k, d) u: a level, or a quarter step between two
    decay: Array  # (k, d) t in [0, 1]: what the first step away from it costs


@dataclass(frozen=True)
class OrdinalFamily(Adding):
    """Cells are codes 0 .. L_j - 1 of levels in order.

    >>> from asterism.data.block import block_of
    >>> family = OrdinalFamily(levels=(5,))
    >>> rows = block_of(np.repeat(np.arange(5.0), [1, 8, 16, 8, 1])[:, None])  # 16 / 2^(steps^2)
    >>> steps = family.estimate(family.statistic(None, rows, np.ones((34, 1))), None)
    >>> steps.typical.tolist(), steps.decay.round(3).tolist()
    ([[2.0]], [[0.5]])
    """

    levels: tuple[int, ...] = ()  # (d,) L_j; none: as many as the table's largest code tells
    prior: Any = None  # None, "conjugate", or how many observations of each column it is worth
    names: tuple[str, ...] = ()  # (d,) of the columns, for messages
    name: str = "ordinal"

    def prepared(self, facts: Facts) -> OrdinalFamily:
        """With the levels of the table."""
        strength(self.prior)
        return replace(self, levels=known_levels(self.levels, facts), names=facts.names)

    def n_parameters(self, k: int) -> int:
        """u and t; a column of two levels has but one share to choose."""
        return k * sum(min(count - 1, 2) for count in self.levels)

    # --- density ---

    def log_density(self, params: Steps, block: Block) -> Array:
        """(n, k) sum over known cells of log p."""
        return level_log_density(self.log_probabilities(params), self.levels, block, self.names)

    def log_probabilities(self, params: Steps) -> Array:
        """(k, D) log p of every level of every column."""
        return np.hstack(
            [_log_p(params.typical[:, j], params.decay[:, j], n) for j, n in enumerate(self.levels)]
        )

    def log_prior(self, params: Steps) -> float:
        """a/L_j sum of log p over the levels."""
        a = strength(self.prior)
        widths = np.repeat(self.levels, self.levels)
        return float((self.log_probabilities(params) * (a / widths)).sum()) if a else 0.0

    # --- statistic ---

    def statistic(self, params: Steps | None, block: Block, mass: Array) -> LevelCounts:  # noqa: ARG002  one signature for all
        """How often each level occurs; nothing need be expected of missing cells."""
        return count_levels(self.levels, block, mass, self.names)

    # --- estimate ---

    def estimate(self, statistic: LevelCounts, previous: Steps | None) -> Steps:
        """The best u with its best t, column by column."""
        a, k = strength(self.prior), len(statistic.counts)
        starts, levels = level_offsets(self.levels), np.array(self.levels)
        typical, decay = np.zeros((k, len(levels))), np.ones((k, len(levels)))
        for count in np.unique(levels):  # columns of as many levels together
            mine = np.flatnonzero(levels == count)
            places = starts[mine][:, None] + np.arange(count)
            counts = (statistic.counts[:, places] + a / count).reshape(-1, count)  # (k columns, L)
            best = [part.reshape(k, len(mine)) for part in _best_steps(counts)]
            if previous is not None:
                unseen = (counts.sum(axis=1) == 0).reshape(k, len(mine))
                before = previous.typical[:, mine], previous.decay[:, mine]
                best = [np.where(unseen, old, new) for old, new in zip(before, best, strict=True)]
            typical[:, mine], decay[:, mine] = best
        return Steps(typical, decay)

    # --- sample ---

    def sample(self, params: Steps, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) codes."""
        return sample_levels(np.exp(self.log_probabilities(params)[component]), self.levels, n, rng)

    def impute(self, params: Steps, block: Block, r: Array) -> Array:
        """(n, d) the most probable level in missing cells."""
        return filled(block, likeliest_levels(np.exp(self.log_probabilities(params)), self.levels, r))

    def pack(self, params: Steps) -> Mapping[str, NDArray[Any]]:
        """Arrays for files."""
        return {"typical": params.typical, "decay": params.decay}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Steps:
        """From a file."""
        return Steps(np.asarray(arrays["typical"], np.float64), np.asarray(arrays["decay"], np.float64))


# --- one column -------------------------------------------------------------------------------------------------


def _steps_away(typical: Array, levels: int) -> Array:
    """(..., L) squared steps from u to each level, less those to the nearest."""
    away = (np.arange(levels) - np.asarray(typical)[..., None]) ** 2
    return np.asarray(away - away.min(axis=-1, keepdims=True))


def _log_p(typical: Array, decay: Array, levels: int) -> Array:
    """(..., L) log p of each level."""
    away = _steps_away(typical, levels)
    total = (decay[..., None] ** away).sum(axis=-1, keepdims=True)
    return np.asarray(away * log_of(decay)[..., None] - np.log(total))


def _best_steps(counts: Array) -> tuple[Array, Array]:
    """u and t, each (m,), that maximise sum_l counts_l log p(l), for counts (m, L)."""
    table = _steps_of(counts.shape[1])
    seen = counts.sum(axis=1, keepdims=True)
    even = table.away.mean(axis=1)  # the distance where t = 1
    distance = np.divide(counts @ table.away.T, seen, out=np.tile(even, (len(counts), 1)), where=seen > 0)
    decay = table.decay_near(distance)
    log_p = _log_p(np.broadcast_to(table.candidates, decay.shape), decay, counts.shape[1])  # (m, u, L)
    best = np.einsum("kl,kul->ku", counts, log_p).argmax(axis=1)
    every = np.arange(len(best))
    return table.candidates[best], _decay_for(distance[every, best], table.away[best], decay[every, best])


@dataclass(frozen=True, eq=False)
class _Steps:
    """What is the same for all columns of L levels."""

    candidates: Array  # (u,) values of u; among equals, a level itself comes first
    away: Array  # (u, L) squared steps from u to each level, less those to the nearest
    log_t: Array  # (g,) a grid that rises to 0
    expected: Array  # (u, g) the distance expected with that t

    def decay_near(self, distance: Array) -> Array:
        """(m, u) about the t whose expected distance is the given one."""
        found = np.empty_like(distance)
        for j, expected in enumerate(self.expected):
            found[:, j] = np.exp(np.interp(distance[:, j], expected, self.log_t))
        return np.where(distance <= 0, 0.0, found)


@cache
def _steps_of(levels: int) -> _Steps:
    per = PER_STEP if levels > 2 else 1  # of two levels any u between them would say what another t says
    candidates = np.arange(per * (levels - 1) + 1) / per
    candidates = candidates[np.argsort(candidates % 1 != 0, kind="stable")]
    away = _steps_away(candidates, levels)
    log_t = -LEAST_LOG * np.linspace(1.0, 0.0, GRID) ** 3
    powers = np.exp(away[:, None, :] * log_t[:, None])
    return _Steps(candidates, away, log_t, (powers * away[:, None, :]).sum(axis=2) / powers.sum(axis=2))


def _decay_for(distance: Array, away: Array, near: Array) -> Array:
    """(m,) the t in [0, 1] whose expected distance, sum a t^a / sum t^a, is the given one, or 1 if all are less.

    The derivative of the expected distance by log t is the variance of a, so Newton's steps find it from ``near``.
    """
    log_t = np.log(np.maximum(near, np.exp(-LEAST_LOG)))
    for _ in range(NEWTON_STEPS):
        powers = np.exp(away * log_t[:, None])
        total = powers.sum(axis=1)
        mean = (powers * away).sum(axis=1) / total
        variance = np.maximum((powers * away**2).sum(axis=1) / total - mean**2, 1e-300)
        log_t = np.clip(log_t + np.clip((distance - mean) / variance, -1.0, 1.0), -LEAST_LOG, 0.0)
    return np.where(distance <= 0, 0.0, np.where(distance >= away.mean(axis=1), 1.0, np.exp(log_t)))
