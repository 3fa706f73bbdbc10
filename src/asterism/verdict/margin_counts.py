"""Whole numbers from 0 on: Poisson and negative binomial mixtures, beside normal mixtures of the same cells.

    counts       P(x) = sum_c pi_c NB(x | m_c, r), one r for all; Poisson where r is infinite
    a point      P(0) = q,  P(x) = (1 - q) sum_c pi_c NB(x - 1 | m_c, r) for x > 0
    normal       P(x) = sum_c pi_c [Phi((g(x + 1/2) - mu_c) / s_c) - Phi((g(x - 1/2) - mu_c) / s_c)],  g the form

All are probabilities of the same numbers, so that their BIC can be compared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

from asterism.data.margins import Form
from asterism.verdict.margin_fit import MOST_COMPONENTS, PATIENCE, NormalMixture

Array = NDArray[np.float64]

SIZES = np.array([np.inf, 16.0, 8.0, 4.0, 2.0, 1.0, 0.5])  # convention: r; variance m + m^2 / r
LEAST_RATE = 0.1  # convention: a component of a smaller rate is a point at 0, not a count
STEPS = 60  # convention: of EM


def count_cost(histogram: Array) -> float:
    """The least BIC of Poisson and negative binomial mixtures; ``histogram[x]`` is the weight of the number x.

    >>> x = np.arange(12)
    >>> bool(count_cost(1000 * np.exp(-3.0 + x * np.log(3.0) - gammaln(x + 1.0))) < 4000)
    True
    """
    total = float(histogram.sum())
    least, behind = np.inf, 0
    for k in range(1, MOST_COMPONENTS + 1):
        likelihood = _em(histogram, k)
        cost = float((-2.0 * likelihood + (2 * k - 1 + np.isfinite(SIZES)) * np.log(total)).min())
        behind = 0 if cost < least else behind + 1
        least = min(least, cost)
        if behind == PATIENCE:
            break
    return float(least)


def pointed_cost(histogram: Array) -> float:
    """The least BIC with a point at 0 and counts of x - 1 beside it; infinite where all or none are 0."""
    zeros, total = float(histogram[0]), float(histogram.sum())
    if not 0 < zeros < total:
        return np.inf
    share = zeros / total
    point = zeros * np.log(share) + (total - zeros) * np.log1p(-share)
    more = np.log(total) - np.log(total - zeros)  # its parameters are of all rows
    return count_cost(histogram[1:]) - 2.0 * float(point) + float(np.log(total) + more)


def normal_cost(histogram: Array, form: Form, mixtures: list[NormalMixture], extra: int) -> float:
    """The least BIC of normal mixtures of the form, of cells; ``extra`` parameters are those of the form."""
    x = np.arange(len(histogram), dtype=np.float64)
    low, high = form.of(x - 0.5), form.of(x + 0.5)
    total, costs = float(histogram.sum()), []
    low[0] = -np.inf  # nothing is below 0
    for mixture in mixtures:
        ends = [(edge[:, None] - mixture.means) / mixture.deviations for edge in (low, high)]
        # Both on the side where the normal distribution function keeps its digits.
        up = ends[0] > 0
        a, b = np.where(up, -ends[1], ends[0]), np.where(up, -ends[0], ends[1])
        cells = np.maximum((ndtr(b) - ndtr(a)) @ mixture.weights, 1e-300)
        costs.append(-2.0 * float(histogram @ np.log(cells)) + (mixture.parameters + extra) * np.log(total))
    return float(min(costs))


def _em(histogram: Array, k: int) -> Array:
    """(len(SIZES),) log-likelihoods of mixtures of k components, from parts of the same weight."""
    x, total = np.arange(len(histogram), dtype=np.float64), float(histogram.sum())
    below = np.cumsum(histogram) - 0.5 * histogram
    part = np.minimum((k * below / total).astype(np.int64), k - 1)
    shares = np.repeat((0.9 * np.eye(k)[part] + 0.1 / k)[None], len(SIZES), axis=0)  # (S, X, k)
    size = np.where(np.isfinite(SIZES), SIZES, 1.0)[:, None]
    poisson = ~np.isfinite(SIZES)[:, None]
    constant = np.where(poisson, 0.0, gammaln(x + size) - gammaln(size)) - gammaln(x + 1.0)  # (S, X)
    likelihood = np.zeros(len(SIZES))
    for _ in range(STEPS):
        mass = np.maximum(np.einsum("x,sxk->sk", histogram, shares), 1e-9)
        rate = np.maximum(np.einsum("x,sxk->sk", histogram * x, shares) / mass, LEAST_RATE)
        each = np.where(poisson, np.log(rate), np.log(rate / (rate + size)))
        alone = np.where(poisson, -rate, size * np.log(size / (rate + size)))
        scores = np.log(mass / total)[:, None, :] + alone[:, None, :] + x[None, :, None] * each[:, None, :]
        top = scores.max(axis=2, keepdims=True)
        shares = np.exp(scores - top)
        sums = shares.sum(axis=2, keepdims=True)
        likelihood = (top + np.log(sums))[:, :, 0] @ histogram + constant @ histogram
        shares /= sums
    return np.asarray(likelihood)
