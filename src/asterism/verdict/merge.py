"""Components brought together by entropy: a group that is not normal takes several components, and is one group.

    ENT(r) = -sum_n w_n sum_g r_ng log r_ng

Merging two groups adds up their shares and can only lower the entropy. From the components that BIC chose, the pair
that lowers it most is merged, again and again; where merging stops paying, the curve of ENT against the rows merged
has its bend, found by fitting two lines.

References
----------
1. Baudry, Raftery, Celeux, Lo, Gottardo (2010), Combining mixture components for clustering. JCGS 19:332-353.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.families.base import Array

CLEAR = 0.05  # of doubt a row: below, nothing needs merging


@dataclass(frozen=True)
class Merges:
    """The way from K components to one group."""

    entropy: dict[int, float]  # by number of groups, K down to 1
    group_of: dict[int, NDArray[np.int64]]  # (K,) group of every component, by number of groups
    total: float  # weight of the rows
    moved: dict[int, float]  # weight of the rows whose group changed its name at the merge that led here

    @property
    def k(self) -> int:
        """Where two lines fit the curve best; K itself where the components are clear as they are."""
        ks = sorted(self.entropy)
        if self.entropy[ks[-1]] <= CLEAR * self.total:
            return ks[-1]
        x = np.cumsum([0.0] + [self.moved[k] for k in ks[:-1]])
        y = np.array([self.entropy[k] for k in ks])
        if len(ks) < 4:  # too few for two lines: merge where that wins most of the doubt
            return next(k for k in ks if self.entropy[k] <= 0.5 * self.entropy[ks[-1]])
        errors = [_line(x[: i + 1], y[: i + 1]) + _line(x[i:], y[i:]) for i in range(1, len(ks) - 1)]
        return ks[1 + int(np.argmin(errors))]


def _line(x: Vector, y: Vector) -> float:
    """Sum of squares about the best line."""
    if len(x) < 3:
        return 0.0
    return float(np.square(y - np.polyval(np.polyfit(x, y, 1), x)).sum())


def merged_by_entropy(shares: Array, weights: Vector) -> Merges:
    """The merges of components with shares (m, K), one pair at a time.

    >>> r = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    >>> merged_by_entropy(r, np.ones(3)).group_of[2].tolist()
    [0, 0, 1]
    """
    groups = [[c] for c in range(shares.shape[1])]
    r = shares.copy()
    found: Merges = Merges({}, {}, float(weights.sum()), {})
    moved = 0.0
    while True:
        k = r.shape[1]
        found.entropy[k] = max(-float(weights @ _plogp(r).sum(axis=1)), 0.0)
        found.group_of[k], found.moved[k] = _numbered(groups, shares.shape[1]), moved
        if k == 1:
            return found
        a, b = _best_pair(r, weights)
        moved = float(weights @ (r[:, a] + r[:, b]))
        r[:, a] += r[:, b]
        r = np.delete(r, b, axis=1)
        groups[a] += groups.pop(b)


def _best_pair(r: Array, weights: Vector) -> tuple[int, int]:
    """The pair whose merging lowers the entropy most."""
    own, k = _plogp(r), r.shape[1]
    gains = np.full((k, k), -np.inf)
    for a in range(k - 1):
        both = _plogp(r[:, [a]] + r[:, a + 1 :])
        gains[a, a + 1 :] = weights @ (both - own[:, [a]] - own[:, a + 1 :])
    a, b = divmod(int(gains.argmax()), k)
    return a, b


def _plogp(r: Array) -> Array:
    return np.asarray(np.where(r > 0, r * np.log(np.where(r > 0, r, 1.0)), 0.0))


def _numbered(groups: list[list[int]], k: int) -> NDArray[np.int64]:
    group_of = np.empty(k, np.int64)
    for g, members in enumerate(groups):
        group_of[members] = g
    return group_of
