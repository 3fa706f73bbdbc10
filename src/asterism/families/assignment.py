"""From scores to shares: the three ways a row can belong to components.

With ``s_c = log pi_c + log p(x | c)`` and ``log p(x) = log sum_c exp s_c``

    soft        r_c = exp(s_c - log p(x))
    hard        r_c = 1 for the largest s_c
    stochastic  r_c = 1 for a component drawn with the soft shares
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from asterism.data.block import Block, Vector
from asterism.families.base import Array

Assignment = Literal["soft", "hard", "stochastic"]
ASSIGNMENTS = ("soft", "hard", "stochastic")


def log_sum(scores: Array) -> Vector:
    """(n,) log sum_c exp s_c; -inf where every score is."""
    top = scores.max(axis=1, initial=-np.inf)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total: Vector = safe + np.log(np.exp(scores - safe[:, None]).sum(axis=1))
    return total


def assign(scores: Array, assignment: str, draws: Vector | None = None) -> tuple[Array, Vector]:
    """(n, k) shares, and (n,) what the assignment climbs: log p(x), or the largest score for hard ones.

    A row that no component can have made (all scores -inf) is everybody's: equal shares.

    >>> scores = np.log(np.array([[0.3, 0.1]]))
    >>> shares, height = assign(scores, "soft")
    >>> shares.round(2).tolist(), height.round(3).tolist()
    ([[0.75, 0.25]], [-0.916])
    """
    k = scores.shape[1]
    if assignment == "hard":
        best = scores.argmax(axis=1)
        return np.eye(k)[best], scores[np.arange(len(scores)), best]
    total = log_sum(scores)
    known = np.isfinite(total)
    r = np.exp(np.where(known[:, None], scores - np.where(known, total, 0.0)[:, None], -np.log(k)))
    if assignment == "stochastic":
        assert draws is not None, "a stochastic assignment needs a number of [0, 1) a row"
        pick = (np.cumsum(r, axis=1) <= draws[:, None]).sum(axis=1)
        r = np.eye(k)[np.minimum(pick, k - 1)]
    return r, total


def draws_for(block: Block, seed: int, step: int) -> Vector:
    """(n,) a number of [0, 1) for every row, from seed, step and global row number alone."""
    philox = np.random.Philox(key=np.array([seed, step], np.uint64))
    philox.advance(block.start // 4)  # a counter gives four numbers
    skip = block.start % 4
    return np.random.Generator(philox).random(skip + len(block))[skip:]
