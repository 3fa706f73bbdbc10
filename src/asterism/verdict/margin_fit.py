"""Normal mixtures on a line, many at once: how well each form of each column is explained by a few components.

A column's values are cut into bins of neighbours. A bin has a weight, a mean m and a variance v; its rows count as

    E log N(x | mu, s^2) = log N(m | mu, s^2) - v / (2 s^2)

under a component, which is exact where a bin is of one component, and never too much. So the steps of EM cost as much
as bins, and every form and start of every column takes part in the same two products of matrices:
(1, m, m^2 + v) times the components, and responsibilities times the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]

MOST_COMPONENTS = 6  # convention
BINS = 160  # convention; twice as many change BIC by less than 1
STEPS, SETTLED = 60, 0.1  # convention: of EM at most; gain of five steps, nats a column, below which they end
LEAST_SHARE = (
    0.05  # convention: of the rows; a component is no thinner than the densest such part of the column
)
PATIENCE = 2  # convention: numbers of components that do no better, after which no more are tried
ALONE = 16  # convention: values at both ends with a bin each: in heavy tails neighbours are far apart
TAIL = 3.3  # convention: bins are as fine in the tails as for normal values so many deviations out


@dataclass(frozen=True, eq=False)
class Line:
    """Values in standard units, one by one and in bins."""

    features: Array  # (P, 3) of each bin: 1, mean, mean of squares
    weights: Array  # (P,)
    values: Array  # (n, 3) of each value: 1, itself, its square
    each: Array  # (n,) its weight
    least: Array  # () variance that no component is below
    center: float
    scale: float

    @classmethod
    def of(cls, values: Array, weights: Array, edges: NDArray[np.int64]) -> Line:
        """Values in order; ``edges`` are the first places of bins."""
        share = weights / weights.sum()
        center = float(share @ values)
        scale = float(np.sqrt(share @ (values - center) ** 2))
        z = (values - center) / scale
        w = np.add.reduceat(weights, edges)
        first, second = (np.add.reduceat(weights * part, edges) / w for part in (z, z**2))
        many = max(int(np.ceil(LEAST_SHARE * len(z))), 2)
        narrowest = float((z[many - 1 :] - z[: len(z) - many + 1]).min())
        least = max((narrowest / 4.0) ** 2, 1e-12)  # derived: two deviations on both sides
        binned, alone = (np.stack([np.ones(len(a)), a, b], axis=1) for a, b in ((first, second), (z, z**2)))
        return cls(binned, w, alone, weights, np.array(least), center, scale)

    def log_likelihood(self, mass: Array, means: Array, variances: Array) -> float:
        """Of all values, one by one, in their own units."""
        scores = _coefficients(mass[None], means[None], variances[None])[0] @ self.values.T
        top = scores.max(axis=0)
        log_density = top + np.log(np.exp(scores - top).sum(axis=0))
        return float(self.each @ log_density - self.each.sum() * np.log(self.scale))


@dataclass(frozen=True, eq=False)
class NormalMixture:
    """Components in the units of the values."""

    weights: Array  # (k,)
    means: Array  # (k,)
    deviations: Array  # (k,)
    log_likelihood: float
    parameters: int

    def cost(self, total: float, jacobian: float = 0.0, extra: int = 0) -> float:
        """BIC, of values whose form has this log Jacobian and ``extra`` parameters."""
        return -2.0 * (self.log_likelihood + jacobian) + (self.parameters + extra) * float(np.log(total))


def bin_edges(n: int) -> NDArray[np.int64]:
    """First places of the bins of n values in order: finer towards both ends.

    >>> bin_edges(5).tolist(), len(bin_edges(4000)) <= BINS + 2 * ALONE
    ([0, 1, 2, 3, 4], True)
    """
    if n <= BINS:
        return np.arange(n)
    even = np.linspace(0.0, 1.0, BINS + 1)
    normal = ndtr(TAIL * (2.0 * even - 1.0))
    normal = (normal - normal[0]) / (normal[-1] - normal[0])
    ends = np.arange(min(ALONE, n))
    middle = np.floor(n * (even + normal) / 2.0).astype(np.int64)[:-1]
    return np.unique(np.concatenate([middle, ends, n - 1 - ends]))


def fit_lines(lines: Sequence[Line], most: Sequence[int] | None = None) -> list[list[NormalMixture]]:
    """For every line the mixtures of 1, 2, ... components, of equal or own variances, whichever has less BIC.

    ``most``  the largest number of components of each line
    """
    found: list[list[NormalMixture]] = [[] for _ in lines]
    least = np.full(len(lines), np.inf)
    behind = np.zeros(len(lines), np.int64)
    size = max((len(line.weights) for line in lines), default=0)
    features, weights = np.zeros((len(lines), size, 3)), np.zeros((len(lines), size))
    for i, line in enumerate(lines):
        features[i, : len(line.weights)], weights[i, : len(line.weights)] = line.features, line.weights
    floors = np.array([line.least for line in lines])
    total = weights.sum(axis=1)
    limits = np.full(len(lines), MOST_COMPONENTS) if most is None else np.array(most)
    for k in range(1, MOST_COMPONENTS + 1):
        active = np.flatnonzero((behind < PATIENCE) & (k <= limits))
        if not len(active):
            break
        best = _best(features[active], weights[active], floors[active], k)
        for i, mixture in zip(active.tolist(), best, strict=True):
            line = lines[i]
            exact = line.log_likelihood(mixture.weights, mixture.means, mixture.deviations**2)
            found[i].append(
                NormalMixture(
                    mixture.weights, line.center + line.scale * mixture.means, line.scale * mixture.deviations,
                    exact, mixture.parameters,
                )
            )  # fmt: skip
            bic = found[i][-1].cost(float(total[i]))
            behind[i] = 0 if bic < least[i] else behind[i] + 1
            least[i] = min(least[i], bic)
    return found


def _best(features: Array, weights: Array, floors: Array, k: int) -> list[NormalMixture]:
    """Of two starts and two structures the mixture of least BIC, for every line (L, P, 3)."""
    starts = [_by_mass(weights, k)]
    if k > 1:
        starts.append(_by_range(features[:, :, 1], weights, k, starts[0]))
    equal = [True, False] if k > 1 else [True]
    runs = [(start, same) for start in starts for same in equal]
    n, copies = len(features), len(runs)
    x, w, low = (np.concatenate([part] * copies) for part in (features, weights, floors))
    shares = np.concatenate([start for start, _ in runs])
    same = np.repeat([same for _, same in runs], n)
    likelihood, (mass, means, variances) = _em(x, w, shares, same, low)
    parameters = np.where(same, 2 * k, 3 * k - 1)
    cost = -2.0 * likelihood + parameters * np.log(w.sum(axis=1))
    which = cost.reshape(copies, n).argmin(axis=0) * n + np.arange(n)
    return [
        NormalMixture(mass[i], means[i], np.sqrt(variances[i]), float(likelihood[i]), int(parameters[i]))
        for i in which.tolist()
    ]


def _em(
    x: Array, w: Array, shares: Array, same: NDArray[np.bool_], floors: Array
) -> tuple[Array, tuple[Array, ...]]:
    """Log-likelihoods (R,) and components (R, k) of runs from shares (R, k, P)."""
    turned = np.ascontiguousarray(x.transpose(0, 2, 1))
    total = w.sum(axis=1)
    before = np.full(len(x), -np.inf)
    components = _components((shares * w[:, None, :]) @ x, total, same, floors)
    for step in range(1, STEPS + 1):
        scores = _coefficients(*components) @ turned
        top = scores.max(axis=1, keepdims=True)
        np.exp(scores - top, out=scores)
        sums = scores.sum(axis=1, keepdims=True)
        likelihood = np.einsum("rp,rp->r", w, (top + np.log(sums))[:, 0])
        if step == STEPS or (step % 5 == 0 and (likelihood - before).max() < SETTLED):
            break
        if step % 5 == 0:
            before = likelihood
        scores *= w[:, None, :] / sums
        components = _components(scores @ x, total, same, floors)
    return likelihood, components


def _components(
    sums: Array, total: Array, same: NDArray[np.bool_], floors: Array
) -> tuple[Array, Array, Array]:
    """Shares, means and variances (R, k) of sums (R, k, 3)."""
    mass = np.maximum(sums[:, :, 0], 1e-9)
    means = sums[:, :, 1] / mass
    squares = sums[:, :, 2] - mass * means**2
    own, pooled = squares / mass, squares.sum(axis=1, keepdims=True) / mass.sum(axis=1, keepdims=True)
    variances = np.maximum(np.where(same[:, None], pooled, own), floors[:, None])
    return mass / total[:, None], means, variances


def _coefficients(mass: Array, means: Array, variances: Array) -> Array:
    """(R, k, 3): log(pi) + log N as a linear function of 1, x and x^2."""
    constant = np.log(mass) - 0.5 * np.log(2.0 * np.pi * variances) - 0.5 * means**2 / variances
    return np.stack([constant, means / variances, -0.5 / variances], axis=2)


def _by_mass(weights: Array, k: int) -> Array:
    """(L, k, P) parts of the same weight, in order."""
    below = np.cumsum(weights, axis=1) - 0.5 * weights
    part = np.minimum((k * below / weights.sum(axis=1, keepdims=True)).astype(np.int64), k - 1)
    return _shares(part, k)


def _by_range(means: Array, weights: Array, k: int, even: Array) -> Array:
    """(L, k, P) parts of the same width between the 2% and the 98% point."""
    below = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    ends = [np.take_along_axis(means, (below >= at).argmax(axis=1)[:, None], axis=1) for at in (0.02, 0.98)]
    width = np.maximum(ends[1] - ends[0], 1e-12)
    part = np.clip(np.floor(k * (means - ends[0]) / width), 0, k - 1).astype(np.int64)
    # A part may be empty: every component has a little of the other start.
    return 0.98 * _shares(part, k) + 0.02 * even


def _shares(part: NDArray[np.int64], k: int) -> Array:
    """(L, k, P): 1 where a bin is of the part."""
    return np.asarray(part[:, None, :] == np.arange(k)[:, None], np.float64)
