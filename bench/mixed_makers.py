"""Distributions of a group from where it stands: a ``Maker`` for a number, a ``Child`` for a column given another.

Kinds of tables name them ``of.gamma(40, 1.6)``. A group stands ``at`` standard deviations from the column's middle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from bench.choose_pieces import Array
from bench.mixed_draft import Show, digits, words

Maker = Callable[[float, float], Any]  # where the group stands, its spread -> a distribution of SciPy


@dataclass(frozen=True)
class Child:
    """A column that depends on a number: a distribution from where the group stands and the numbers (n,)."""

    gap: float
    make: Callable[[float, Array], Any]
    show: Show


def whole(x: Array) -> Array:
    """Whole numbers; with missing cells they stay floating."""
    return x if np.isnan(x).any() else x.astype(np.int64)


# --- distributions of a group --------------------------------------------------------------------------------------


def normal(centre: float, sd: float) -> Maker:
    return lambda at, by: stats.norm(centre + sd * at, sd * by)


def log_normal(median: float, sd: float) -> Maker:
    return lambda at, by: stats.lognorm(sd * by, scale=median * np.exp(sd * at))


def weibull(scale: float, shape: float) -> Maker:
    return lambda at, by: stats.weibull_min(shape / by, scale=scale * np.exp(at / shape))


def gamma(mean: float, shape: float) -> Maker:
    return lambda at, by: stats.gamma(shape / by**2, scale=mean * np.exp(at / np.sqrt(shape)) * by**2 / shape)


def tails(centre: float, scale: float, freedom: float) -> Maker:
    """Student's."""
    return lambda at, by: stats.t(freedom, centre + scale * at, scale * by)


def skewed(centre: float, sd: float) -> Maker:
    """Gumbel's: a longer tail above."""
    return lambda at, by: stats.gumbel_r(centre + sd * at, 0.78 * sd * by)


def peaked(centre: float, sd: float) -> Maker:
    """Laplace's."""
    return lambda at, by: stats.laplace(centre + sd * at, 0.71 * sd * by)


def bounded(mean: float, size: float, top: float = 1.0) -> Maker:
    """Beta from 0 to ``top``."""
    sd = 1 / np.sqrt(size * mean * (1 - mean))

    def make(at: float, by: float) -> Any:
        p = expit(logit(mean) + np.clip(sd * at, -3, 3))
        return stats.beta(size / by**2 * p, size / by**2 * (1 - p), scale=top)

    return make


# --- columns given a number ----------------------------------------------------------------------------------------


def counts_over(rate: float, gap: float, sd: float = 0.4) -> Child:
    """Poisson counts in proportion to the number."""
    return Child(gap, lambda at, x: stats.poisson(np.maximum(rate * np.exp(sd * at) * x, 1e-9)), whole)


def chance(
    odds: float, slope: float, centre: float, gap: float, levels: Sequence[Any] = ("no", "yes")
) -> Child:
    """Yes or no; log odds ``odds`` at ``centre`` that grow by ``slope`` where the number grows by one."""
    return Child(gap, lambda at, x: stats.bernoulli(expit(odds + at + slope * (x - centre))), words(levels))


def line(intercept: float, slope: float, sd: float, gap: float, show: Show = digits) -> Child:
    """A number that grows with the other, with normal noise."""
    return Child(gap, lambda at, x: stats.norm(intercept + sd * at + slope * x, sd), show)
