"""What a mixture costs: likelihood criteria, code lengths, and penalties of one's own. Smaller is better in all.

    AIC = -2 L + 2 p            BIC = -2 L + p log n            ICL = BIC - 2 sum w log max_c r_c
    own = -2 L + penalty(k)
    MDL = bits(centres) + bits(assignments) + bits(residuals)

with L the log-likelihood, p the number of free parameters and n the total weight.

References
----------
1. Schwarz (1978), Estimating the dimension of a model. Annals of Statistics 6:461-464.
2. Biernacki, Celeux, Govaert (2000), Assessing a mixture model for clustering with the integrated completed
   likelihood. IEEE PAMI 22:719-725.
3. Rissanen (1978), Modeling by shortest data description. Automatica 14:465-471.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector


def aic(log_likelihood: float, parameters: int) -> float:
    """-2 L + 2 p.

    >>> aic(-10.0, 3)
    26.0
    """
    return -2.0 * log_likelihood + 2.0 * parameters


def bic(log_likelihood: float, parameters: int, n: float) -> float:
    """-2 L + p log n.

    >>> bic(-10.0, 3, math.e**2)
    26.0
    """
    return -2.0 * log_likelihood + parameters * math.log(n)


def icl(log_likelihood: float, parameters: int, n: float, surprise: float) -> float:
    """BIC and twice the surprise -sum w log max r: rows that belong to nobody clearly cost."""
    return bic(log_likelihood, parameters, n) + 2.0 * surprise


@dataclass(frozen=True, slots=True)
class CodeLength:
    """Bits to tell somebody every row to the stated precision."""

    centers: float  # k d coordinates, each to the precision with which a mean is known
    assignments: float  # n H(shares): which centre each row belongs to
    residuals: float  # what is left, in cells of the precision

    @property
    def total(self) -> float:
        """The whole message."""
        return self.centers + self.assignments + self.residuals


def code_length(
    mass: Vector, within: Vector, spread: Vector, precision: Vector | float | None = None
) -> CodeLength:
    """The message centres, assignments, residuals of k groups; residuals are normal about their centre.

    ``mass`` (k,) weights of the groups, ``within`` (d,) sums of squares about their centres, column by column,
    ``spread`` (d,) standard deviations of the columns, ``precision`` (d,) the width of a cell: what is told is in
    which cell a value lies. None: 1/1000 of each column's spread.

        residuals    n/2 log2(2 pi e W_j / n)  - n log2 precision_j          for every column j
        assignments  sum_c N_c log2(n / N_c)
        centres      a mean of N_c rows is known to s_j / sqrt(N_c), so it takes log2(range_j sqrt(N_c) / s_j) bits of
                     a range of 6 spreads, and the d scales half of log2 n each

    >>> one = code_length(np.array([4.0]), np.array([100.0]), np.array([5.0]), 0.1)
    >>> two = code_length(np.array([2.0, 2.0]), np.array([0.04]), np.array([5.0]), 0.1)
    >>> two.assignments, two.total < one.total
    (4.0, True)
    """
    n, k = float(mass.sum()), len(mass)
    held = mass[mass > 0]
    cell = 1e-3 * spread if precision is None else np.broadcast_to(np.asarray(precision, float), spread.shape)
    cell = np.where(cell > 0, cell, np.finfo(float).tiny)
    # A column narrower than a cell needs no bits for its residuals: all values are in the centre's own cell.
    variance = np.maximum(within / n, cell**2 / (2 * math.pi * math.e))
    residuals = n * float((0.5 * np.log2(2 * math.pi * math.e * variance) - np.log2(cell)).sum())
    wide = 6.0 * np.maximum(spread, cell) / np.sqrt(variance)
    centers = float(np.maximum(np.log2(np.outer(np.sqrt(held), wide)), 0.0).sum())
    centers += 0.5 * len(spread) * math.log2(max(n, 1.0))
    assignments = float((held * np.log2(n / held)).sum()) if k > 1 else 0.0
    return CodeLength(centers, assignments, residuals)


def least(values: dict[int, float]) -> int | None:
    """The k of the least value, the smaller k of two; None where nothing could be judged.

    >>> least({1: 5.0, 2: 3.0, 3: 3.0, 4: float("nan")})
    2
    """
    known = {k: v for k, v in values.items() if not math.isnan(v)}
    return min(known, key=lambda k: (known[k], k)) if known else None


def largest(values: dict[int, float]) -> int | None:
    """The k of the largest value, the smaller k of two."""
    return least({k: -v for k, v in values.items()})


def within_by_column(rows: NDArray[np.float64], weights: Vector, labels: NDArray[np.int32], k: int) -> Vector:
    """(d,) sums of squares about the means of the groups."""
    mass = np.bincount(labels, weights, k)
    sums = np.stack([np.bincount(labels, weights * column, k) for column in rows.T], axis=1)
    means = sums / np.where(mass > 0, mass, 1.0)[:, None]
    return np.asarray(weights @ (rows - means[labels]) ** 2)
