"""Two samples of counts: are they of one source? And which of many answers stand.

Counts of n and m rows in the same L places, a and b:

    in any order   chi^2 = sum over both of (count - expected)^2 / expected,  L - 1 degrees of freedom
    rising places  U = sum_i b_i (a_1 + .. + a_(i-1) + a_i / 2),   E U = n m / 2,
                   var U = n m / 12 (N + 1 - sum (t^3 - t) / (N (N - 1))),   t = a + b,  N = n + m

Places with an expected count below 5 are taken together first; of two places with few rows the probability is exact
(Fisher). Sizes are in standard deviations: w = sqrt(sum (b/m - a/n)^2 / (t/N)) for places in any order, and
d = sqrt(2) Phi^-1(U / nm), the distance of two normal curves with that U, for rising ones.

References
----------
1. Mann, Whitney (1947), On a test of whether one of two random variables is stochastically larger than the other.
   Annals of Mathematical Statistics 18:50-60.
2. Cochran (1954), Some methods for strengthening the common chi^2 tests. Biometrics 10:417-451.
3. Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6:65-70.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
LEAST_EXPECTED = 5.0  # convention: Cochran's
LEAST_ROWS = 8.0  # convention: of each sample, for a normal U


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two samples say."""

    p: float  # of a difference as large by chance
    size: float  # in standard deviations; signed for rising places


NOTHING = Comparison(1.0, 0.0)


def in_any_order(before: Array, now: Array) -> Comparison:
    """Counts (L,) of two samples in places without an order.

    >>> found = in_any_order(np.array([60.0, 40.0]), np.array([40.0, 60.0]))
    >>> round(found.p, 4), round(found.size, 2)
    (0.0047, 0.4)
    """
    table = _pooled(np.stack([before, now]).astype(np.float64))
    n = table.sum(axis=1)
    if table.shape[1] < 2 or not n.all():
        return NOTHING
    share = table.sum(axis=0) / n.sum()
    size = float(np.sqrt(((table[1] / n[1] - table[0] / n[0]) ** 2 / share).sum()))
    expected = np.outer(n, share)
    if table.shape[1] == 2 and expected.min() < LEAST_EXPECTED:
        return Comparison(float(stats.fisher_exact(np.rint(table).astype(np.int64)).pvalue), size)
    chi = float(((table - expected) ** 2 / expected).sum())
    return Comparison(float(stats.chi2.sf(chi, table.shape[1] - 1)), size)


def more_often(before: Array, now: Array) -> Comparison:
    """Counts (2,) of rows with and without something: do more have it now? A probability of that side alone."""
    table = np.rint(np.stack([now, before])).astype(np.int64)
    if not table.sum(axis=1).all():
        return NOTHING
    return Comparison(
        float(stats.fisher_exact(table, alternative="greater").pvalue), in_any_order(before, now).size
    )


def in_rising_places(before: Array, now: Array) -> Comparison:
    """Counts (L,) of two samples in places from low to high.

    >>> found = in_rising_places(np.array([30.0, 40.0, 30.0]), np.array([20.0, 40.0, 40.0]))
    >>> round(found.p, 3), round(found.size, 2)
    (0.068, 0.25)
    """
    z, size = rank_deviate(before, now)
    return Comparison(float(2.0 * stats.norm.sf(abs(z))), size)


def rank_deviate(before: Array, now: Array) -> tuple[float, float]:
    """(U - E U) / sqrt(var U), and d; 0 where there are too few rows to say."""
    n, m = float(before.sum()), float(now.sum())
    if min(n, m) < LEAST_ROWS:
        return 0.0, 0.0
    ties, total = before + now, n + m
    u = float(now @ (np.cumsum(before) - before / 2))
    variance = n * m / 12.0 * (total + 1.0 - float((ties**3 - ties).sum()) / (total * (total - 1.0)))
    if variance <= 0:
        return 0.0, 0.0
    share = np.clip(u / (n * m), 0.5 / (n * m), 1.0 - 0.5 / (n * m))
    return (u - n * m / 2.0) / np.sqrt(variance), float(np.sqrt(2.0) * stats.norm.ppf(share))


def _pooled(table: Array) -> Array:
    """(2, L) counts without empty places, those with few rows taken together."""
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] <= 2 or not table.sum(axis=1).all():
        return table
    order = np.argsort(table.sum(axis=0), kind="stable")
    table = table[:, order]
    smaller = table.sum(axis=1).min() / table.sum()
    expected = table.sum(axis=0) * smaller
    few = int(np.searchsorted(expected, LEAST_EXPECTED))
    while 0 < few < len(expected) - 1 and expected[:few].sum() < LEAST_EXPECTED:
        few += 1
    return table if few < 2 else np.column_stack([table[:, :few].sum(axis=1), table[:, few:]])


def holm(p: Sequence[float]) -> list[float]:
    """Probabilities that hold for all of them together: those below alpha are wrong at most so often, taken as one.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    out, least = [1.0] * len(p), 0.0
    for rank, i in enumerate(order.tolist()):
        least = max(least, min((len(p) - rank) * p[i], 1.0))
        out[i] = least
    return out
