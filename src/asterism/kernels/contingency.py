"""Loops over contingency tables: the information that chance alone gives, and greedy matching."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel

NEGLIGIBLE = 1e-22  # of the most likely term; what lies beyond is less than some 1e-17 of the sum
SERIES = 0.05  # relative deviations below this have their divergence from a series


@kernel
def divergence(n: float, mu: float) -> float:
    """n log(n / mu) - n + mu: never negative, to the last digit even where n is nearly mu.

    With t = (n - mu) / mu it is mu ((1 + t) log(1 + t) - t) = mu (t^2/2 - t^3/6 + t^4/12 - ... ± t^m / (m (m - 1))).
    """
    if n == 0.0:
        return mu
    t = (n - mu) / mu
    if abs(t) >= SERIES:
        return n * math.log(n / mu) - (n - mu)
    total, power = 0.0, t * t
    for m in range(2, 14):
        total += power / (m * (m - 1))
        power *= -t
    return mu * total


@kernel
def chance_information(
    a: NDArray[np.float64],  # (p,) in: different sizes of groups in the one labeling
    b: NDArray[np.float64],  # (q,) in: in the other
    times_a: NDArray[np.float64],  # (p,) in: how many groups have that size
    times_b: NDArray[np.float64],  # (q,) in
    total: float,  # N
) -> float:
    """N times the mutual information of two labelings expected by chance, given the sizes of their groups.

    A cell n_ij is hypergeometric, and with mu = a b / N

        N E[MI] = sum_ij E[n log(n / mu)] = sum_ij E[n log(n / mu) - n + mu]        for E[n] = mu

    where no term is negative. Probabilities come from the most likely n by the ratio of neighbours

        p(n + 1) / p(n) = (a - n) (b - n) / ((n + 1) (N - a - b + n + 1))

    and are divided by their sum: no factorial is taken, and no digit is lost.
    """
    information = 0.0
    for i in range(len(a)):
        part = 0.0
        for j in range(len(b)):
            part += times_b[j] * expected_divergence(a[i], b[j], total)
        information += times_a[i] * part
    return information


@kernel
def expected_divergence(a: float, b: float, total: float) -> float:
    """E[n log(n / mu) - n + mu] of a cell."""
    mu = a * b / total
    rest = total - a - b
    low, high = max(0.0, -rest), min(a, b)
    mode = min(max(math.floor((a + 1.0) * (b + 1.0) / (total + 2.0)), low), high)
    mass, found = 1.0, divergence(mode, mu)
    p, n = 1.0, mode
    while n < high and p > NEGLIGIBLE:
        p *= (a - n) * (b - n) / ((n + 1.0) * (rest + n + 1.0))
        n += 1.0
        mass += p
        found += p * divergence(n, mu)
    p, n = 1.0, mode
    while n > low and p > NEGLIGIBLE:
        p *= n * (rest + n) / ((a - n + 1.0) * (b - n + 1.0))
        n -= 1.0
        mass += p
        found += p * divergence(n, mu)
    return found / mass


@kernel
def table_information(
    row: NDArray[np.int64],  # (m,) in: cells with weight
    column: NDArray[np.int64],  # (m,) in
    weight: NDArray[np.float64],  # (m,) in
    a: NDArray[np.float64],  # (k,) in
    b: NDArray[np.float64],  # (l,) in
    total: float,
) -> float:
    """N MI = sum_ij n log(n / mu) - n + mu; empty cells give mu, together N minus the mu of the others."""
    information, met = 0.0, 0.0
    for i in range(len(weight)):
        mu = a[row[i]] * (b[column[i]] / total)
        information += divergence(weight[i], mu)
        met += mu
    return information + max(total - met, 0.0)


@kernel
def greedy_match(
    row: NDArray[np.int64],  # (m,) in: cells, the heaviest first
    column: NDArray[np.int64],  # (m,) in
    of_row: NDArray[np.int64],  # (k,) changed: the column of each row, -1 for none
    of_column: NDArray[np.int64],  # (l,) changed
) -> None:
    """Take the heaviest cell whose row and column are both free, again and again."""
    for i in range(len(row)):
        if of_row[row[i]] < 0 and of_column[column[i]] < 0:
            of_row[row[i]] = column[i]
            of_column[column[i]] = row[i]
