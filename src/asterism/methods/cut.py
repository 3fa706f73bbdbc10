"""A tree cut into clusters: exactly k of them, or those below a height. And how much structure a tree has.

Cutting at k undoes the last k - 1 merges, whatever their heights; where heights are equal this still gives exactly k,
which cutting "at the height of the k-th merge" does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from asterism.data.block import Vector
from asterism.errors import ParameterError, TooFewRowsError

Tree = NDArray[np.float64]  # (n - 1, 4) in SciPy's format


def cut_tree(tree: Tree, k: Any = None, height: Any = None) -> NDArray[np.int32]:
    """(n,) labels 0, 1, ... in the order of their first rows; give either ``k`` or ``height``.

    >>> tree = np.array([[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 3.0, 4]])
    >>> cut_tree(tree, k=3), cut_tree(tree, height=1.0)
    (array([0, 0, 1, 2], dtype=int32), array([0, 0, 1, 1], dtype=int32))
    """
    n = len(tree) + 1
    if (k is None) == (height is None):
        raise ParameterError(
            "A tree is cut either at a number of clusters or at a height.", "Give one of them."
        )
    if k is not None:
        kept = np.arange(n - 1) < n - check_k(k, n)
    elif isinstance(height, bool) or not isinstance(height, int | float | np.number) or not height >= 0:
        raise ParameterError(f"height is {height!r}.", "Give a number, 0 or more.")
    else:
        kept = highest_below(tree) <= height
    merges = np.flatnonzero(kept)
    below, above = tree[merges, :2].astype(np.int64).ravel(), np.repeat(n + merges, 2)
    graph = sparse.coo_array((np.ones(len(below), np.int8), (below, above)), shape=(2 * n - 1, 2 * n - 1))
    # Components are numbered by their first member, and rows come before merges.
    labels: NDArray[np.int32] = connected_components(graph, directed=False)[1][:n]
    return labels


def check_k(k: Any, n: int) -> int:
    """A whole number between 1 and n."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ParameterError(f"The number of clusters is {k!r}.", "Give a whole number, 1 or more.")
    if k > n:
        raise TooFewRowsError(
            f"{k} clusters were asked for, but the tree has n_samples={n} leaves.", f"Ask for at most {n}."
        )
    return int(k)


def highest_below(tree: Tree) -> Vector:
    """(n - 1,) the largest height at or below each merge: heights of centroid and median trees may fall.

    A merge stands at a height only if all merges below it do.
    """
    n = len(tree) + 1
    if (np.diff(tree[:, 2]) >= 0).all():
        return tree[:, 2]
    highest = np.zeros(2 * n - 1)
    for i, (a, b, h, _) in enumerate(tree.tolist()):
        highest[n + i] = max(h, highest[int(a)], highest[int(b)])
    return highest[n:]


def coefficient(tree: Tree, weights: Vector | None = None) -> float:
    """How much structure a tree shows, 0 to 1: the mean of 1 - (height of a row's first merge) / (greatest height).

    Agglomerative trees: the agglomerative coefficient; divisive ones: the divisive coefficient. It grows with n, so
    only tables of like size can be compared by it. Copies merge at height 0, so a row of weight above 1 counts 1.

    Reference: Kaufman, Rousseeuw (1990), Finding groups in data, chapters 5 and 6.
    """
    n = len(tree) + 1
    top = tree[:, 2].max(initial=0.0)
    if not top > 0:
        return 0.0
    first = np.zeros(n)
    for side in (0, 1):
        leaf = tree[:, side] < n
        first[tree[leaf, side].astype(np.intp)] = tree[leaf, 2]
    w = np.ones(n) if weights is None else weights
    first[w > 1] = 0.0
    return float(np.average(1.0 - first / top, weights=w))
