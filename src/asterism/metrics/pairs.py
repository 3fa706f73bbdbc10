"""Pairs of rows: together in both labelings, in one of them, or in neither.

Of N rows with n_ij in cell (i, j) and sums a_i, b_j, unordered pairs

    TP = sum_ij n_ij (n_ij - 1) / 2        together in both
    FP = sum_j b_j (b_j - 1) / 2 - TP      together in ``labels`` alone
    FN = sum_i a_i (a_i - 1) / 2 - TP      together in ``labels_true`` alone
    TN = N (N - 1) / 2 - TP - FP - FN

    Rand      = (TP + TN) / all        adjusted = 2 (TP TN - FN FP) / ((TP + FN)(FN + TN) + (TP + FP)(FP + TN))
    precision = TP / (TP + FP)         Fowlkes-Mallows = TP / sqrt((TP + FP)(TP + FN))
    recall    = TP / (TP + FN)         F1 = 2 TP / (2 TP + FP + FN)

A row of weight w is w rows, pairs among its copies included. Whole weights are counted in whole numbers of any
length: no overflow and no rounding.

References
----------
1. Hubert, Arabie (1985), Comparing partitions. J. of Classification 2:193-218.
2. Fowlkes, Mallows (1983), A method for comparing two hierarchical clusterings. JASA 78:553-569.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.metrics.external import counts_of
from asterism.stats.contingency import Contingency


@dataclass(frozen=True, slots=True)
class PairScores:
    """Unordered pairs of rows, counted and compared. Shares of nothing are 1: nothing was got wrong."""

    tp: float  # together in both labelings
    fp: float  # together in ``labels`` alone
    fn: float  # together in ``labels_true`` alone
    tn: float  # apart in both

    @property
    def precision(self) -> float:
        """TP / (TP + FP)."""
        return share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """TP / (TP + FN)."""
        return share(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float:
        """2 TP / (2 TP + FP + FN)."""
        return share(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def accuracy(self) -> float:
        """(TP + TN) / all: the Rand index."""
        return share(self.tp + self.tn, self.tp + self.fp + self.fn + self.tn)

    @property
    def adjusted(self) -> float:
        """The adjusted Rand index: 0 in the mean by chance, 1 where the labelings are the same."""
        tp, fp, fn, tn = self.tp, self.fp, self.fn, self.tn
        if fp == 0 and fn == 0:
            return 1.0
        return share(2 * (tp * tn - fn * fp), (tp + fn) * (fn + tn) + (tp + fp) * (fp + tn))

    @property
    def fowlkes_mallows(self) -> float:
        """sqrt(precision recall); 0 where no pair is together in both."""
        return math.sqrt(self.precision * self.recall) if self.tp > 0 else 0.0


def share(part: float, whole: float) -> float:
    """part / whole, and 1 of nothing."""
    return float(part / whole) if whole != 0 else 1.0


def pairs_of(counts: Contingency) -> PairScores:
    """The pairs of a contingency table."""
    together = _pairs(counts.weight, counts.whole)
    same_row, same_column = _pairs(counts.rows, counts.whole), _pairs(counts.columns, counts.whole)
    every = _pairs(np.array([counts.total]), counts.whole)
    fp, fn = same_column - together, same_row - together
    return PairScores(together, fp, fn, every - together - fp - fn)


def _pairs(sizes: Vector, whole: bool) -> float:
    """sum n (n - 1) / 2, in Python's whole numbers where sizes are whole; those have no largest."""
    if not whole:
        return float((sizes * (sizes - 1.0)).sum() / 2.0)
    exact = sizes.astype(np.int64)
    if len(exact) and float(exact.max()) ** 2 * len(exact) >= 2.0**62:
        return int(sum(n * (n - 1) for n in exact.tolist())) // 2  # groups, not rows
    return int((exact * (exact - 1)).sum()) // 2


def pair_scores(labels_true: Any, labels: Any, *, sample_weight: Any = None) -> PairScores:
    """Pairs of rows counted, with their precision, recall, F1 and accuracy.

    >>> s = pair_scores(["x", "x", "x", "y"], [0, 0, 1, 1])
    >>> s.tp, s.fp, s.fn, s.tn, s.recall
    (1, 1, 2, 2, 0.3333333333333333)
    """
    return pairs_of(counts_of(labels_true, labels, sample_weight))


def pair_confusion_matrix(labels_true: Any, labels: Any, *, sample_weight: Any = None) -> NDArray[Any]:
    """[[TN, FP], [FN, TP]] over ordered pairs, every pair twice, as scikit-learn counts.

    >>> pair_confusion_matrix([0, 0, 1, 1], [0, 0, 0, 1]).tolist()
    [[4, 4], [2, 2]]
    """
    s = pair_scores(labels_true, labels, sample_weight=sample_weight)
    return 2 * np.array([[s.tn, s.fp], [s.fn, s.tp]])


def rand_score(labels_true: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """(TP + TN) / all pairs: the share of pairs that both labelings treat alike."""
    return pair_scores(labels_true, labels, sample_weight=sample_weight).accuracy


def adjusted_rand_score(labels_true: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """2 (TP TN - FN FP) / ((TP + FN)(FN + TN) + (TP + FP)(FP + TN)): Rand with chance taken out."""
    return pair_scores(labels_true, labels, sample_weight=sample_weight).adjusted


def fowlkes_mallows_score(labels_true: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """TP / sqrt((TP + FP)(TP + FN)): the geometric mean of precision and recall of pairs."""
    return pair_scores(labels_true, labels, sample_weight=sample_weight).fowlkes_mallows
