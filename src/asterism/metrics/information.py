"""Adjusted mutual information: what two labelings share beyond what chance gives.

    AMI = (MI - E[MI]) / (mean(H(A), H(B)) - E[MI])

E[MI] is over all labelings whose groups have these sizes, where a cell n_ij is hypergeometric. Groups of one size
need it once: a table of N rows has at most sqrt(2 N) different sizes on either side. And a cell is sure to lie
within some ten standard deviations of its mean, so that few of its terms count.

References
----------
1. Vinh, Epps, Bailey (2010), Information theoretic measures for clusterings comparison. JMLR 11:2837-2854.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from asterism import _core
from asterism.errors import WeightError
from asterism.metrics.external import Average, counts_of, entropy_of, information_of, mean_entropy
from asterism.stats.contingency import Contingency


def adjusted_mutual_info_score(
    labels_true: Any, labels: Any, *, average_method: Average = "arithmetic", sample_weight: Any = None
) -> float:
    """AMI: 1 where the labelings are the same but for names, about 0 where they agree by chance; may be below.

    Weights must be whole numbers: chance draws rows, and there is no such thing as half a row.

    >>> adjusted_mutual_info_score([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    counts = counts_of(labels_true, labels, sample_weight)
    if max(counts.shape) < 2:
        return 1.0
    if min(counts.shape) < 2:
        return 0.0
    expected = expected_mutual_information(counts)
    mean = mean_entropy(entropy_of(counts.rows), entropy_of(counts.columns), average_method)
    if len(counts.cell) == counts.shape[0] == counts.shape[1]:
        return 1.0  # the same groups; where each is one row, the formula would be 0 / 0
    # The mean is at least E[MI], and equal only where every labeling with these sizes tells the same.
    room = mean - expected
    least = np.finfo(np.float64).eps
    room = min(room, -least) if room < 0 else max(room, least)
    return (information_of(counts) - expected) / room


def expected_mutual_information(counts: Contingency) -> float:
    """E[MI] in nats over all labelings with groups of these sizes."""
    if not counts.whole:
        raise WeightError(
            "Some weights are not whole numbers, so that chance cannot draw rows.",
            "Give whole weights, or use normalized_mutual_info_score, which takes any.",
        )
    if min(counts.shape) < 2:
        return 0.0
    a, times_a = np.unique(counts.rows, return_counts=True)
    b, times_b = np.unique(counts.columns, return_counts=True)
    sizes = (a, times_a.astype(np.float64), b, times_b.astype(np.float64))
    return _core.chance_information(*sizes, counts.total) / counts.total
