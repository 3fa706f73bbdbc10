"""Clusters matched to classes one to one, and the distance between clusterings that follows.

``greedy``   the cell of the table with the most rows in common is matched first, then the next whose cluster and
             class are both free: a cluster that loses a class to another goes on to its next best one
``optimal``  the matching with the most rows in common of all, by linear assignment

    accuracy = sum of the matched cells / N        distance = min over matchings of the share of rows outside them

Where there are more clusters than classes some stay unmatched, and all their rows count as wrong; otherwise one row a
cluster would score 1.

References
----------
1. Kuhn (1955), The Hungarian method for the assignment problem. Naval Research Logistics Quarterly 2:83-97.
2. Lange, Roth, Braun, Buhmann (2004), Stability-based validation of clustering solutions. Neural Comp. 16:1299.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.source import checked_weights
from asterism.errors import DataError, MemoryBudgetError, ParameterError
from asterism.metrics.external import MOST_CELLS
from asterism.metrics.labels import pair_of
from asterism.stats.contingency import Contingency

How = Literal["greedy", "optimal"]


@dataclass(frozen=True)
class Matching:
    """Which cluster stands for which class."""

    how: str
    classes: NDArray[Any]  # (k,) labels of ``labels_true``, ascending
    clusters: NDArray[Any]  # (l,) labels of ``labels``, ascending
    class_of: NDArray[np.int64]  # (l,) place in ``classes`` of each cluster's class, -1 where it has none
    overlap: NDArray[np.float64]  # (l,) weight of the rows a cluster has in common with its class
    total: float  # weight of all rows

    @property
    def accuracy(self) -> float:
        """The share of rows whose cluster stands for their class; 1 for no rows."""
        return float(self.overlap.sum() / self.total) if self.total > 0 else 1.0

    @property
    def pairs(self) -> dict[Any, Any]:
        """{cluster: class}; None for a cluster without a class."""
        names = self.classes.tolist()
        classes = [names[j] if j >= 0 else None for j in self.class_of.tolist()]
        return dict(zip(self.clusters.tolist(), classes, strict=True))

    @property
    def unmatched_clusters(self) -> list[Any]:
        """Clusters that stand for no class."""
        found: list[Any] = self.clusters[self.class_of < 0].tolist()
        return found

    @property
    def unmatched_classes(self) -> list[Any]:
        """Classes that no cluster stands for."""
        free = np.ones(len(self.classes), bool)
        free[self.class_of[self.class_of >= 0]] = False
        found: list[Any] = self.classes[free].tolist()
        return found


def match_clusters(
    labels_true: Any, labels: Any, how: How = "greedy", *, sample_weight: Any = None
) -> Matching:
    """Match clusters (``labels``) to classes (``labels_true``) one to one.

    Ties go to the earlier cluster, then to the earlier class. Clusters and classes left over with nothing in common
    are matched in order, so that only what is too many stays unmatched.

    >>> m = match_clusters(["x", "x", "y", "y", "y"], [1, 2, 2, 2, 3])
    >>> m.pairs, m.accuracy
    ({1: 'x', 2: 'y', 3: None}, 0.6)
    """
    pair = pair_of(labels_true, labels, sample_weight)
    # Clusters are the rows of the table here, so that its order is that of ties.
    counts = Contingency.of(pair.found.codes, pair.true.codes, pair.weights, (pair.found.k, pair.true.k))
    if how not in ("greedy", "optimal"):
        raise ParameterError(f"how is {how!r}.", "Give 'greedy' or 'optimal'.")
    class_of = _greedy(counts) if how == "greedy" else _optimal(counts)
    kept = class_of[counts.row] == counts.column
    overlap = np.bincount(counts.row[kept], counts.weight[kept], counts.shape[0]).astype(np.float64)
    return Matching(how, pair.true.levels, pair.found.levels, class_of, overlap, counts.total)


def _greedy(counts: Contingency) -> NDArray[np.int64]:
    order = np.argsort(-counts.weight, kind="stable")
    of_row, of_column = (np.full(size, -1, np.int64) for size in counts.shape)
    _core.greedy_match(counts.row[order], counts.column[order], of_row, of_column)
    rows, columns = np.flatnonzero(of_row < 0), np.flatnonzero(of_column < 0)
    few = min(len(rows), len(columns))
    of_row[rows[:few]] = columns[:few]
    return of_row


def _optimal(counts: Contingency) -> NDArray[np.int64]:
    from scipy.optimize import linear_sum_assignment

    if counts.shape[0] * counts.shape[1] > MOST_CELLS:
        raise MemoryBudgetError(
            f"The best matching of {counts.shape[0]} and {counts.shape[1]} labels needs their whole table.",
            "Match greedily, which needs only the cells that hold rows.",
        )
    rows, columns = linear_sum_assignment(counts.dense(), maximize=True)
    found = np.full(counts.shape[0], -1, np.int64)
    found[rows] = columns
    return found


def matched_accuracy(
    labels_true: Any, labels: Any, how: How = "greedy", *, sample_weight: Any = None
) -> float:
    """The share of rows whose cluster is matched to their class.

    >>> matched_accuracy(["x", "x", "y"], [5, 5, 7])
    1.0
    """
    return match_clusters(labels_true, labels, how, sample_weight=sample_weight).accuracy


def clustering_distance(labels_a: Any, labels_b: Any, *, sample_weight: Any = None) -> float:
    """min over matchings of labels of the share of rows on which two clusterings differ: 0 to below 1.

    By linear assignment, never by enumeration; the numbers of clusters may differ. A metric.

    >>> clustering_distance([0, 0, 1, 1], [1, 1, 0, 1])
    0.25
    """
    return max(1.0 - matched_accuracy(labels_a, labels_b, "optimal", sample_weight=sample_weight), 0.0)


@dataclass(frozen=True, slots=True)
class Stability:
    """How well clusterings of one table agree with each other, beside clusterings made by chance."""

    k: int
    r: float  # mean share of rows on which two clusterings differ, labels matched best
    r_rand: float  # (k - 1) / k, what k labels of equal size give by chance
    distances: tuple[float, ...]  # of every two clusterings
    error: float  # standard error of r over the pairs; NaN for one pair

    @property
    def score(self) -> float:
        """stab = 1 - r / r_rand: 1 where clusterings agree, 0 where they agree as by chance; 1 for k = 1."""
        return 1.0 - self.r / self.r_rand if self.r_rand > 0 else 1.0


def stability_score(
    labelings: Sequence[Any], k: int | None = None, *, sample_weight: Any = None
) -> Stability:
    """r, r_rand and stab = 1 - r / r_rand of two or more clusterings of the same rows.

    ``labelings``  two or more labelings of the same rows, for instance those that clusterings of subsamples transfer
                   to a common set; masked entries (-1 in whole numbers) mark rows that a labeling does not know: two
                   labelings are compared on the rows both know
    ``k``          number of clusters asked for; the largest number of labels met if not given

    >>> stability_score([[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 0]]).score
    0.6666666666666667
    """
    arrays = [np.asarray(labels) for labels in labelings]
    if len(arrays) < 2:
        raise DataError("There are fewer than two labelings.", "Give at least two, of the same rows.")
    if k is None:
        k = max(len(np.unique(_known(a)[1])) for a in arrays)
    distances = [_distance(a, b, sample_weight) for a, b in combinations(arrays, 2)]
    spread = (
        float(np.std(distances, ddof=1) / np.sqrt(len(distances))) if len(distances) > 1 else float("nan")
    )
    return Stability(k, float(np.mean(distances)), (k - 1) / k if k > 0 else 0.0, tuple(distances), spread)


def _known(labels: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    known = labels != -1 if labels.dtype.kind == "i" else np.ones(len(labels), bool)
    return known, labels[known]


def _distance(a: NDArray[Any], b: NDArray[Any], sample_weight: Any) -> float:
    if len(a) != len(b):
        raise DataError(
            f"The labelings have {len(a)} and {len(b)} rows.",
            "Give labels of the same rows, -1 where a labeling does not know a row.",
        )
    both = _known(a)[0] & _known(b)[0]
    if not both.any():
        raise DataError("Two labelings have no row in common.", "Transfer one to the other's rows first.")
    weights = None if sample_weight is None else checked_weights(sample_weight, len(a))[both]
    return clustering_distance(a[both], b[both], sample_weight=weights)
