"""Two labelings of the same rows: what the one tells of the other, in nats.

With n_ij the weight of rows labelled i in the one and j in the other, a_i and b_j its sums, N the total and
p = n / N,

    H(A)      = - sum_i p_i log p_i
    MI(A; B)  = sum_ij p_ij log(p_ij / (p_i p_j))
    NMI       = MI / mean(H(A), H(B))
    homogeneity = MI / H(A)     completeness = MI / H(B)     V = (1 + beta) h c / (beta h + c)
    VI        = H(A | B) + H(B | A) = H(A) + H(B) - 2 MI

None depends on what the labels are called, nor on both labelings having equally many. Chance is taken out
in ``information`` (adjusted MI) and in ``pairs`` (adjusted Rand).

References
----------
1. Rosenberg, Hirschberg (2007), V-Measure: a conditional entropy-based external cluster evaluation measure.
2. Meila (2007), Comparing clusterings: an information based distance. J. Multivariate Analysis 98:873-895.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Vector
from asterism.data.source import checked_weights
from asterism.errors import MemoryBudgetError, ParameterError
from asterism.metrics.labels import labels_of, pair_of
from asterism.stats.contingency import Contingency, totals

Average = Literal["min", "geometric", "arithmetic", "max"]

MOST_CELLS = 1 << 28  # of a dense table: 2 GiB


def counts_of(labels_true: Any, labels: Any, sample_weight: Any = None) -> Contingency:
    """The contingency table that everything here is made from."""
    pair = pair_of(labels_true, labels, sample_weight)
    return Contingency.of(pair.true.codes, pair.found.codes, pair.weights, (pair.true.k, pair.found.k))


def contingency_matrix(
    labels_true: Any, labels: Any, *, sample_weight: Any = None, sparse: bool = False
) -> Any:
    """(k, l) weight of the rows that have each pair of labels; labels ascending.

    Whole numbers where weights are whole. ``sparse`` gives a ``scipy.sparse.csr_array``.

    >>> contingency_matrix(["x", "x", "y"], [1, 2, 2])
    array([[1, 1],
           [0, 1]])
    """
    counts = counts_of(labels_true, labels, sample_weight)
    dtype = np.int64 if counts.whole else np.float64
    if sparse:
        from scipy.sparse import csr_array

        where = (counts.row, counts.column)
        return csr_array((counts.weight.astype(dtype), where), shape=counts.shape)
    if counts.shape[0] * counts.shape[1] > MOST_CELLS:
        raise MemoryBudgetError(
            f"A table of {counts.shape[0]} x {counts.shape[1]} labels does not fit.", "Give sparse=True."
        )
    return counts.dense().astype(dtype)


def entropy(labels: Any, *, sample_weight: Any = None) -> float:
    """H = - sum_i p_i log p_i in nats; 0 where there is one label, or no row.

    >>> round(entropy(["a", "a", "b", "b"]) / math.log(2), 12)
    1.0
    """
    array = np.asarray(labels)
    weights = None if sample_weight is None else checked_weights(sample_weight, len(array))
    known = labels_of(array, weights)
    codes = known.codes if weights is None else known.codes[weights > 0]
    weights = None if weights is None else weights[weights > 0]
    return entropy_of(totals(codes, weights, known.k))


def entropy_of(mass: Vector) -> float:
    """- sum p log p of group weights."""
    total = float(mass.sum())
    if len(mass) < 2 or total <= 0:
        return 0.0
    p = mass[mass > 0] / total
    return float(-(p * np.log(p)).sum())


def information_of(counts: Contingency) -> float:
    """MI of a table: never below 0, and exactly 0 where one labeling has one label."""
    if min(counts.shape) < 2:
        return 0.0
    cells = (counts.row, counts.column, counts.weight)
    found = _core.table_information(*cells, counts.rows, counts.columns, counts.total) / counts.total
    return max(found, 0.0)


def mutual_info_score(labels_true: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """MI = sum_ij p_ij log(p_ij / (p_i p_j)) in nats: 0 where independent, at most min(H(A), H(B)).

    >>> round(mutual_info_score([0, 0, 1, 1], ["b", "b", "a", "a"]) / math.log(2), 12)
    1.0
    """
    return information_of(counts_of(labels_true, labels, sample_weight))


def normalized_mutual_info_score(
    labels_true: Any, labels: Any, *, average_method: Average = "arithmetic", sample_weight: Any = None
) -> float:
    """MI / mean(H(A), H(B)): 1 where the labelings are the same but for names, 0 where independent.

    Two labelings of one label each (or of no rows) are the same: 1.
    """
    counts = counts_of(labels_true, labels, sample_weight)
    if max(counts.shape) < 2:
        return 1.0
    information = information_of(counts)
    if information == 0.0:
        return 0.0
    mean = mean_entropy(entropy_of(counts.rows), entropy_of(counts.columns), average_method)
    return min(information / mean, 1.0)  # rounding may leave a little more


def mean_entropy(a: float, b: float, how: str) -> float:
    """The mean of two entropies that a score is divided by."""
    means: dict[str, Callable[[float, float], float]] = {
        "min": min,
        "max": max,
        "geometric": lambda a, b: math.sqrt(a * b),
        "arithmetic": lambda a, b: 0.5 * (a + b),
    }
    if how not in means:
        raise ParameterError(f"average_method is {how!r}.", f"Give one of {', '.join(means)}.")
    return float(means[how](a, b))


def homogeneity_completeness_v_measure(
    labels_true: Any, labels: Any, *, beta: float = 1.0, sample_weight: Any = None
) -> tuple[float, float, float]:
    """Whether clusters hold one class each, whether classes lie in one cluster each, and their weighted mean.

    homogeneity = MI / H(classes), completeness = MI / H(clusters), each 1 where its entropy is 0;
    V = (1 + beta) h c / (beta h + c).
    """
    counts = counts_of(labels_true, labels, sample_weight)
    information = information_of(counts)
    classes, clusters = entropy_of(counts.rows), entropy_of(counts.columns)
    homogeneity = min(information / classes, 1.0) if classes > 0 else 1.0
    completeness = min(information / clusters, 1.0) if clusters > 0 else 1.0
    mean = beta * homogeneity + completeness
    return homogeneity, completeness, (1 + beta) * homogeneity * completeness / mean if mean > 0 else 0.0


def variation_of_information(labels_true: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """VI = - sum_ij p_ij (log(p_ij / p_i) + log(p_ij / p_j)) in nats: a metric between labelings.

    0 where they are the same but for names; at most log N. Taken from terms of one sign, so that a small
    difference between large labelings keeps its digits.
    """
    counts = counts_of(labels_true, labels, sample_weight)
    n: NDArray[np.float64] = counts.weight
    lost = np.log(counts.rows[counts.row] / n) + np.log(counts.columns[counts.column] / n)
    return float((n * lost).sum() / counts.total) if len(n) else 0.0
