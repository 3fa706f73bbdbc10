"""Divisive trees: from one cluster down to single rows, by splinter groups (DIANA).

The height of a split is the diameter of the cluster that is split, so the tree has SciPy's format: read from the
bottom, line i merges what a split parted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from asterism import _core
from asterism.data.block import Vector
from asterism.methods.cut import Tree


def split_matrix(distances: Any, weights: Vector) -> Tree:
    """The tree of n rows whose (n, n) dissimilarities are given."""
    n = len(weights)
    pairs, diameters = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    _core.split_all(np.ascontiguousarray(distances, np.float64), weights, pairs, diameters)
    order = np.argsort(diameters, kind="stable")  # splits come smallest first: a part before its whole
    tree = np.empty((n - 1, 4))
    _core.label_merges(pairs[order], diameters[order], weights, tree)
    return tree
