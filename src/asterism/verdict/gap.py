"""The gap statistic: does k-means shrink this table more than one that is even?

    gap(k) = mean_b log W_k(reference b) - log W_k        s(k) = sd_b log W_k(reference b) sqrt(1 + 1/B)

References are even in the box of the principal axes. The first k with ``gap(k) >= gap(k+1) - s(k+1)`` is taken; that
may be 1, which is the point of it.

References
----------
1. Tibshirani, Walther, Hastie (2001), Estimating the number of clusters in a data set via the gap statistic.
   JRSS B 63:411-423.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from asterism.families.base import Array
from asterism.methods.kmeans import fit_kmeans_path
from asterism.verdict.rows import Rows

REFERENCES = 10
TOL = 1e-3  # of k-means: logarithms differ by far less than from one reference to the next


@dataclass(frozen=True)
class Gap:
    """Gaps and their errors, by k."""

    gap: dict[int, float]
    error: dict[int, float]  # s(k)

    @property
    def k(self) -> int | None:
        """By the one-standard-error rule; the last k where no smaller one will do."""
        ks = sorted(self.gap)
        for k, after in pairwise(ks):
            if self.gap[k] >= self.gap[after] - self.error[after]:
                return k
        return ks[-1] if ks else None


def gap_statistic(
    rows: Rows, ks: Sequence[int], *, seed: int = 0, references: int = REFERENCES, max_iter: int = 30
) -> Gap:
    """The gap of every k, on rows in memory; ``max_iter`` steps of k-means at most, here and there alike."""
    own = _logs(rows, ks, seed, max_iter)
    box = _Box.of(rows)
    draws = (box.draw(len(rows), np.random.default_rng([seed, b])) for b in range(references))
    logs = [_logs(Rows(draw, rows.weights), ks, seed, max_iter) for draw in draws]
    gap = {k: float(np.mean([log[k] for log in logs]) - own[k]) for k in ks}
    spread = np.sqrt(1.0 + 1.0 / references)
    return Gap(gap, {k: float(np.std([log[k] for log in logs]) * spread) for k in ks})


def _logs(rows: Rows, ks: Sequence[int], seed: int, max_iter: int) -> dict[int, float]:
    fits = fit_kmeans_path(rows.source, list(ks), n_init=2, max_iter=max_iter, tol=TOL, seed=seed)
    return {k: float(np.log(max(fit.inertia, np.finfo(float).tiny))) for k, fit in fits.items()}


@dataclass(frozen=True)
class _Box:
    """The box of a table along its principal axes."""

    mean: Array  # (d,)
    axes: Array  # (d, d) rows are axes
    low: Array  # (d,)
    high: Array  # (d,)

    @classmethod
    def of(cls, rows: Rows) -> _Box:
        about = rows.x - rows.mean
        axes = np.linalg.eigh((about * rows.weights[:, None]).T @ about)[1].T
        along = about @ axes.T
        return cls(rows.mean, axes, along.min(axis=0), along.max(axis=0))

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        return np.asarray(self.mean + rng.uniform(self.low, self.high, (n, len(self.mean))) @ self.axes)
