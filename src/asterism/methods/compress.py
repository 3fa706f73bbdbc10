"""Tables too large for a tree of their rows: k-means makes leaves of them, and the tree is one of leaves.

Leaves carry the weight of their rows, so Ward's criterion, averages and centroids are those of the rows, up to the
scatter within a leaf.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.data.source import Source
from asterism.methods.kmeans import KMeansFit, fit_kmeans
from asterism.methods.leaves import Leaves

LEAVES = 2048
STEPS = 10  # of k-means: leaves need to be small, not optimal


def compressed(source: Source, k: int, weights: Vector, seed: int = 0) -> tuple[Leaves, KMeansFit]:
    """k-means centres of a table as leaves (fewer than k where some ended empty)."""
    import warnings

    from asterism.errors import NotConvergedWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        fit = fit_kmeans(source, k, max_iter=STEPS, seed=seed)
    mass: Vector = np.bincount(fit.labels, weights=weights, minlength=k).astype(np.float64)
    used = np.flatnonzero(mass > 0)
    number: NDArray[Any] = np.zeros(k, np.int64)
    number[used] = np.arange(len(used))
    rows = fit.centers[used]
    return Leaves(rows, mass[used], used, number[fit.labels], source.columns, False), fit


def in_words(n: int, leaves: int, linkage: str) -> str:
    """What was done, for people."""
    return (
        f"{n} rows were first brought together in {leaves} groups by k-means, and the {linkage} tree is one of "
        "those groups: heights below their size are not shown."
    )
