"""Cross-validated likelihood: how well rows that were left out are told, with the error of that.

    cv(k) = mean over rows of log p_{-fold}(x)        error(k) = sd of the folds' means / sqrt(folds)

References
----------
1. Smyth (2000), Model selection for probabilistic clustering using cross-validated likelihood. Statistics and
   Computing 10:63-72.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from asterism.families.base import Family
from asterism.methods.path import fit_path
from asterism.methods.posterior import told
from asterism.verdict.rows import Rows

FOLDS = 5


@dataclass(frozen=True)
class CrossValidated:
    """Held-out log-likelihood a row, by k; larger is better."""

    mean: dict[int, float]
    error: dict[int, float]  # standard error of the mean

    @property
    def k(self) -> int | None:
        """The best."""
        return max(self.mean, key=lambda k: (self.mean[k], -k)) if self.mean else None

    @property
    def k_within_error(self) -> int | None:
        """The smallest k within one standard error of the best."""
        best = self.k
        if best is None:
            return None
        return min(k for k in self.mean if self.mean[k] >= self.mean[best] - self.error[best])


def cross_validated(
    rows: Rows, family: Family, ks: Sequence[int], *, folds: int = FOLDS, seed: int = 0
) -> CrossValidated:
    """Mixtures of every k fitted without a fold, and judged on it; all k in the same passes."""
    fold = np.random.default_rng([seed, len(rows)]).permutation(len(rows)) % folds
    means: dict[int, list[float]] = {k: [] for k in ks}
    shares = []
    for f in range(folds):
        inside, outside = rows.take(fold != f), rows.take(fold == f)
        fits = fit_path(inside.source, {"": family}, ks, passes=0)
        shares.append(outside.total)
        for (_, k), cell in fits.items():
            means[k].append(told(cell.mixture, outside.source).log_likelihood / outside.total)
    weight = np.array(shares) / sum(shares)
    return CrossValidated(
        {k: float(weight @ np.array(values)) for k, values in means.items()},
        {k: float(np.std(values, ddof=1) / np.sqrt(folds)) for k, values in means.items()},
    )
