"""One group of any shape: how well a table is explained without groups.

A mixture of normal components beats one normal component on every table that is skewed, heavy-tailed or even. It
speaks of groups only as far as it beats one group of those kinds, too:

    skewed            a power transform of every column (Yeo-Johnson), normal together
    elliptic          normal directions with a distance from the centre of any distribution: tails, balls, shells
    even or peaked    columns, or principal directions, independent, each exp(-|x|^p) with p from 1 to 10

Costs are minus log-likelihood plus half of BIC's penalty, a row; of a distance's distribution, cross-validated.

References
----------
1. Yeo, Johnson (2000), A new family of power transformations to improve normality or symmetry. Biometrika 87:954-959.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Array = NDArray[np.float64]
POWERS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)  # convention
BANDWIDTH = 1.06  # convention: Silverman's rule
BINS = 512  # convention: of log distance
LOG_2PI = float(np.log(2.0 * np.pi))


def cost_of_one_group(rows: Array, weights: Array) -> float:
    """The least cost a row of one group, nats."""
    share = weights / weights.sum()
    total = float(weights.sum())
    straight, jacobian, powers = _straightened(rows, share)
    each = np.log(total) / (2.0 * total)  # of a parameter
    costs = [
        _normal(rows, share, each),
        _elliptic(rows, share, each),
        _independent(rows, share, each),
        _independent(_turned(rows, share), share, each),
    ]
    bent = [
        _normal(straight, share, each),
        _elliptic(straight, share, each),
        _independent(straight, share, each),
    ]
    return float(min(*costs, *(cost - jacobian + powers * each for cost in bent)))


def _straightened(rows: Array, share: Array) -> tuple[Array, float, int]:
    """Columns made as normal as a power can, the mean log of how much that stretches, and how many powers."""
    from scipy.stats import yeojohnson, yeojohnson_llf  # half a second, which only tables of numbers need

    out, stretched, used = np.array(rows), 0.0, 0
    for j, column in enumerate(rows.T):
        power = float(np.clip(yeojohnson(column)[1], -2.0, 4.0))
        # The log-likelihood with the Jacobian less that without it.
        gain = yeojohnson_llf(power, column) - yeojohnson_llf(1.0, column)
        if gain > np.log(len(column)):
            out[:, j] = yeojohnson(column, power)
            stretched += float(share @ ((power - 1.0) * np.sign(column) * np.log1p(np.abs(column))))
            used += 1
    return out, stretched, used


def _whitened(rows: Array, share: Array) -> tuple[Array, float]:
    """Rows that are round together, and the log determinant of what made them so."""
    about = rows - share @ rows
    values, vectors = np.linalg.eigh((about * share[:, None]).T @ about)
    values = np.maximum(values, 1e-12)
    return about @ vectors / np.sqrt(values), float(-0.5 * np.log(values).sum())


def _turned(rows: Array, share: Array) -> Array:
    about = rows - share @ rows
    return np.asarray(about @ np.linalg.eigh((about * share[:, None]).T @ about)[1])


def _normal(rows: Array, share: Array, each: float) -> float:
    d = rows.shape[1]
    return float(0.5 * d * (LOG_2PI + 1.0) - _whitened(rows, share)[1] + (d + d * (d + 1) / 2) * each)


def _elliptic(rows: Array, share: Array, each: float) -> float:
    """density = |W| f(r) / (surface of the sphere r^(d-1)), log r by a kernel density without the row itself."""
    d = rows.shape[1]
    white, log_det = _whitened(rows, share)
    log_r = 0.5 * np.log(np.maximum((white**2).sum(axis=1), 1e-12))
    spread = float(np.sqrt(share @ (log_r - share @ log_r) ** 2))
    width = max(BANDWIDTH * spread * float((share**2).sum()) ** 0.2, 1e-6)
    low, high = log_r.min() - 4.0 * width, log_r.max() + 4.0 * width
    place = (log_r - low) / (high - low) * (BINS - 1)
    left = place.astype(np.int64).clip(0, BINS - 2)
    part = place - left
    mass = np.bincount(left, share * (1 - part), BINS) + np.bincount(left + 1, share * part, BINS)
    step = (high - low) / (BINS - 1)
    reach = np.arange(-BINS + 1, BINS) * step / width
    kernel = np.exp(-0.5 * reach**2) / (width * np.sqrt(2.0 * np.pi))
    smooth = np.convolve(mass, kernel)[BINS - 1 : 2 * BINS - 1]
    at = smooth[left] * (1 - part) + smooth[left + 1] * part
    others = np.maximum(at - share * kernel[BINS - 1], 1e-12 * at.max()) / np.maximum(1.0 - share, 1e-12)
    log_surface = np.log(2.0) + 0.5 * d * np.log(np.pi) - gammaln(0.5 * d)
    log_density = np.log(others) - d * log_r - log_surface + log_det
    return float(-(share @ log_density) + (d + d * (d + 1) / 2) * each)


def _independent(rows: Array, share: Array, each: float) -> float:
    cost = 0.0
    for column in (rows - share @ rows).T:
        away = np.maximum(np.abs(column), 1e-300)
        fits = []
        for power in POWERS:
            scale = (power * float(share @ away**power)) ** (1.0 / power)
            fits.append(np.log(2.0 * max(scale, 1e-300)) + gammaln(1.0 + 1.0 / power) + 1.0 / power)
        cost += min(fits) + 3 * each
    return float(cost)
