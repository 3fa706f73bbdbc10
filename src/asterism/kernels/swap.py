"""What exchanging a medoid for another row would change, for many rows at once.

References
----------
1. Schubert, Rousseeuw (2021), Fast and eager k-medoids clustering. Information Systems 101:101804.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel


@kernel
def nearest_two(
    tile: NDArray[np.float64],  # (n, k) in: dissimilarities to the medoids; NaN: none is known
    labels: NDArray[np.int32],  # (n,) out: the nearest, the first of equals; -1 where none is known
    near: NDArray[np.float64],  # (n,) out
    second: NDArray[np.float64],  # (n,) out: infinite where k = 1
) -> None:
    """Each row's nearest medoid, how far it is, and how far the next one."""
    for i in range(len(tile)):
        best, next_best, label = np.inf, np.inf, -1
        for m in range(tile.shape[1]):
            y = tile[i, m]
            if y < best or (label < 0 and y == y):
                next_best, best, label = best, y, m
            elif y < next_best:
                next_best = y
        labels[i], near[i], second[i] = label, best, next_best


@kernel
def add_changes(
    tile: NDArray[np.float64],  # (n, c) in: dissimilarities to the candidates
    labels: NDArray[np.int32],  # (n,) in: the nearest medoid
    near: NDArray[np.float64],  # (n,) in: its dissimilarity
    second: NDArray[np.float64],  # (n,) in: that of the next
    weights: NDArray[np.float64],  # (n,) in
    joins: NDArray[np.float64],  # (c,) in and out: what the candidate saves if no medoid has to leave
    leaves: NDArray[
        np.float64
    ],  # (k, c) in and out: what it costs that a medoid leaves, with the candidate there
) -> None:
    """Candidate c for medoid m changes the cost by ``joins[c] + leaves[m, c]``, where

        joins[c]     = sum_i w (min(d, near) - near)
        leaves[m, c] = sum_i w (min(d, second) - min(d, near))      over the rows whose nearest medoid is m

    Lanes are candidates: neither rows nor medoids need any order. A dissimilarity that is NaN makes its sum NaN.
    """
    c = tile.shape[1]
    for i in range(len(tile)):
        w = weights[i]
        if w == 0.0:
            continue
        a, b, leaving, line = near[i], second[i], leaves[labels[i]], tile[i]
        for o in range(c):
            d = line[o]
            p = a if a < d else d
            q = b if b < d else d
            joins[o] += w * (p - a)
            leaving[o] += w * (q - p)
