"""Splitting by splinter groups: the row least at home leaves, and others follow it while that suits them better.

    D_i = mean d(i, those that stay) - mean d(i, those that left)

The row of largest D leaves while D > 0. Sums to both sides are kept for all rows of the cluster, so one move costs
O(size). A row's farthest companion is looked for again only if it has gone to the other side.

Reference: Macnaughton-Smith, Williams, Dale, Mockett (1964), Dissimilarity analysis. Nature 202:1034-1035.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel


@kernel
def split_all(
    distances: NDArray[np.float64],  # (n, n) in
    weights: NDArray[np.float64],  # (n,) in
    pairs: NDArray[np.int64],  # (n - 1, 2) out, a row of each side of every split, small clusters first
    diameters: NDArray[np.float64],  # (n - 1,) out, of the clusters split
) -> None:
    """Split every cluster until all rows are alone."""
    n = len(weights)
    order = np.arange(n)
    total, away = (
        np.empty(n),
        np.empty(n),
    )  # weighted sums of distances, by row: within its cluster; to the splinter
    far = np.empty(n, np.int64)  # the farthest companion of each row
    left = np.zeros(n, np.bool_)
    begin, end, whole = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    begin[0], end[0], whole[0] = 0, n, n
    _add_up(distances, weights, order, total)
    _look_far(distances, order, far, np.zeros(n, np.bool_))
    waiting, done = 1, n - 1
    while waiting:
        waiting -= 1
        a, b, fresh = begin[waiting], end[waiting], whole[waiting]
        if b - a < 2:
            continue
        mine = order[a:b]
        done -= 1
        diameters[done] = 0.0
        for i in mine:
            diameters[done] = max(diameters[done], distances[i, far[i]])
        stay = _splinter(distances, weights, mine, total, away, left)
        _part(mine, left)
        pairs[done, 0], pairs[done, 1] = mine[0], mine[stay]
        for side in range(2):
            part = mine[:stay] if side == 0 else mine[stay:]
            if 2 * len(part) <= fresh:  # added up anew from time to time: rounding must not pile up
                _add_up(distances, weights, part, total)
                size = len(part)
            else:
                size = fresh
                for i in part:
                    total[i] = away[i] if side == 1 else total[i] - away[i]
            _look_far(distances, part, far, left)
            begin[waiting] = a if side == 0 else a + stay
            end[waiting] = a + stay if side == 0 else b
            whole[waiting] = size
            waiting += 1
        for i in mine:
            left[i] = False


@kernel
def _splinter(
    distances: NDArray[np.float64],  # (n, n) in
    weights: NDArray[np.float64],  # (n,) in
    mine: NDArray[np.int64],  # (s,) in, rows of the cluster
    total: NDArray[np.float64],  # (n,) in
    away: NDArray[np.float64],  # (n,) out, weighted sums of distances to those that left
    left: NDArray[np.bool_],  # (n,) out
) -> int:
    """Who leaves; how many stay."""
    here, gone, stay = 0.0, 0.0, len(mine)
    for i in mine:
        here += weights[i]
        away[i] = 0.0
    while stay > 1:
        best, who = -np.inf, -1
        for i in mine:
            if not left[i]:
                others = here - min(weights[i], 1.0)  # a row is no company for itself; its copies are
                gain = (total[i] - away[i]) / others if others > 0 else 0.0
                gain -= away[i] / gone if gone > 0 else 0.0
                if gain > best:
                    best, who = gain, i
        if gone > 0 and not best > 0:
            break
        left[who] = True
        here, gone, stay = here - weights[who], gone + weights[who], stay - 1
        line, w = distances[who], weights[who]
        for i in mine:
            away[i] += w * line[i]
    return stay


@kernel
def _part(mine: NDArray[np.int64], left: NDArray[np.bool_]) -> None:
    """Those that stay first, both in their old order."""
    kept, moved = 0, np.empty(len(mine), np.int64)
    m = 0
    for i in mine:
        if left[i]:
            moved[m] = i
            m += 1
        else:
            mine[kept] = i
            kept += 1
    mine[kept:] = moved[:m]


@kernel
def _add_up(
    distances: NDArray[np.float64],  # (n, n) in
    weights: NDArray[np.float64],  # (n,) in
    part: NDArray[np.int64],  # (s,) in
    total: NDArray[np.float64],  # (n,) out, for the rows of this part
) -> None:
    for i in part:
        line, s = distances[i], 0.0
        for j in part:
            s += weights[j] * line[j]
        total[i] = s


@kernel
def _look_far(
    distances: NDArray[np.float64],  # (n, n) in
    part: NDArray[np.int64],  # (s,) in
    far: NDArray[np.int64],  # (n,) in place
    left: NDArray[np.bool_],  # (n,) in, the side of each row
) -> None:
    """The farthest companion of each row, where the old one is on the other side now (or nobody was known)."""
    known = len(part) < len(far)
    for i in part:
        if known and left[far[i]] == left[i]:
            continue
        line, best, who = distances[i], -1.0, i
        for j in part:
            if line[j] > best:
                best, who = line[j], j
        far[i] = who
