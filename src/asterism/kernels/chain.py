"""Nearest-neighbour chains: from any cluster to its nearest, on to that one's nearest, until two are each other's.

Those two may be merged at once, whatever else is going on, because for these linkages a merged cluster is never
nearer to a third than the nearer of its parts was. Distances fall strictly along a chain, so it ends.

``ward_chain``    ||a - b||^2 2 s t / (s + t)  between centroids of s and t rows; O(n) memory
``matrix_chain``  complete, average, weighted on a list of all pairs, which it overwrites

References
----------
1. Murtagh (1983), A survey of recent advances in hierarchical clustering algorithms. Comput. J. 26:354-359.
2. Muellner (2011), Modern hierarchical, agglomerative clustering algorithms. arXiv:1109.2378.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.mst import find
from asterism.kernels.tiles import (
    LOOSE,
    TILE,
    Tiles,
    look_from,
    next_point,
    place_point,
    remove_point,
    squared_distance,
    tile_distances,
)

COMPLETE, AVERAGE, WEIGHTED = 0, 1, 2


@kernel
def ward_chain(
    tiles: Tiles,  # centroids; in place
    size: NDArray[np.float64],  # (n,) in place, weight of the cluster of each number
    stop: int,  # clusters to leave
    pairs: NDArray[np.int64],  # (n - 1, 2) out, numbers of the clusters merged; the second goes on
    heights: NDArray[np.float64],  # (n - 1,) out, squared
    done: int,  # merges so far
) -> int:
    """Merge until ``stop`` clusters are left; how many merges there are then."""
    t, left = len(tiles.places), len(pairs) + 1 - done
    x, bound = np.zeros(tiles.places.shape[1], np.float32), np.empty(t, np.float32)
    distance, test = np.empty(TILE, np.float32), np.empty(TILE, np.float32)
    inverse, most = (
        np.ones((t, TILE), np.float32),
        np.zeros(t, np.float32),
    )  # 1 / size, and the largest of a tile
    for q in range(len(tiles.owner)):
        if tiles.owner[q] >= 0:
            part = np.float32(1.0 / size[tiles.owner[q]])
            inverse[q // TILE, q % TILE] = part
            most[q // TILE] = max(most[q // TILE], part)
    slack = np.float32(tiles.slack)
    chain, length, cursor = np.empty(left + 1, np.int64), 0, 0
    while left > stop:
        if length == 0:
            cursor = next_point(tiles.owner, cursor)
            chain[0], length = cursor, 1
        q = chain[length - 1]
        mine, home = size[tiles.owner[q]], q // TILE
        found, limit = -1, np.inf
        if length > 1:  # equals do not take the place of the one before: chains must not go in circles
            found = chain[length - 2]
            limit = _ward(tiles.points, q, found, mine, size[tiles.owner[found]])
        look_from(tiles, q, x, bound)
        part = np.float32(1.0 / mine)
        for turn in range(-1, t):
            s = home if turn < 0 else turn
            # 2 |x - y|^2 < limit (1 / s + 1 / t), loosened for float32
            wide = np.float32(limit * LOOSE)
            if turn == home or limit == 0.0 or not 2 * (bound[s] - slack) < wide * (part + most[s]):
                continue
            tile_distances(x, tiles.places, s, distance)
            hits = 0
            for p in range(TILE):
                test[p] = wide * (part + inverse[s, p]) - 2 * (distance[p] - slack)
                hits += test[p] > 0
            if hits == 0:
                continue
            for p in range(TILE):
                other = s * TILE + p
                if test[p] > 0 and other != q and tiles.owner[other] >= 0:
                    exact = _ward(tiles.points, q, other, mine, size[tiles.owner[other]])
                    if exact < limit:
                        limit, found = exact, other
        if length > 1 and found == chain[length - 2]:
            pairs[done, 0], pairs[done, 1], heights[done] = tiles.owner[q], tiles.owner[found], limit
            big, small = (q, found) if mine > size[tiles.owner[found]] else (found, q)
            _merge_centroids(tiles, big, small, size)
            inverse[big // TILE, big % TILE] = np.float32(1.0 / size[tiles.owner[big]])
            done, left, length = done + 1, left - 1, length - 2
        else:
            chain[length] = found
            length += 1
    return done


@kernel
def _ward(points: NDArray[np.float64], a: int, b: int, s: float, t: float) -> float:
    """The height at which clusters of s and t rows would merge, squared: 2 s t / (s + t) |a - b|^2."""
    return 2.0 * (s * t) / (s + t) * squared_distance(points, a, b)


@kernel
def _merge_centroids(tiles: Tiles, big: int, small: int, size: NDArray[np.float64]) -> None:
    """The larger keeps its place, and moves a little; the box grows if it must."""
    s, t = size[tiles.owner[big]], size[tiles.owner[small]]
    for j in range(tiles.points.shape[1]):
        tiles.points[big, j] += (tiles.points[small, j] - tiles.points[big, j]) * (t / (s + t))
    size[tiles.owner[big]] = s + t
    remove_point(tiles, small)
    place_point(tiles, big)


@kernel
def matrix_chain(
    distances: NDArray[np.float64],  # (n (n - 1) / 2,) in place
    size: NDArray[np.float64],  # (n,) in place
    linkage: int,
    pairs: NDArray[np.int64],  # (n - 1, 2) out
    heights: NDArray[np.float64],  # (n - 1,) out
) -> None:
    """All merges of n clusters whose distances are known."""
    n = len(size)
    alive, left = np.arange(n), n
    chain, length = np.empty(n + 1, np.int64), 0
    gone = np.zeros(n, np.bool_)
    for done in range(n - 1):
        if length == 0:
            chain[0], length = alive[0], 1
        while True:
            a = chain[length - 1]
            found, limit = -1, np.inf
            if length > 1:
                found = chain[length - 2]
                limit = distances[_place(n, a, found)]
            for q in range(left):
                b = alive[q]
                if b != a:
                    h = distances[_place(n, a, b)]
                    if h < limit or found < 0:
                        limit, found = h, b
            if length > 1 and found == chain[length - 2]:
                break
            chain[length] = found
            length += 1
        length -= 2
        a, b = min(a, found), max(a, found)
        pairs[done, 0], pairs[done, 1], heights[done] = a, b, limit
        gone[a] = True
        s, t = size[a], size[b]
        size[b] = s + t
        kept = 0
        for q in range(left):
            c = alive[q]
            if gone[c]:
                continue
            alive[kept] = c
            kept += 1
            if c != b:
                to = _place(n, b, c)
                g, h = distances[_place(n, a, c)], distances[to]
                if linkage == COMPLETE:
                    distances[to] = max(g, h)
                elif linkage == AVERAGE:
                    distances[to] = (s * g + t * h) / (s + t)
                else:
                    distances[to] = 0.5 * (g + h)
        left = kept


@kernel
def _place(n: int, a: int, b: int) -> int:
    """Where the pair stands in the list."""
    if a > b:
        a, b = b, a
    return a * n - a * (a + 1) // 2 + b - a - 1


@kernel
def label_merges(
    pairs: NDArray[np.int64],  # (n - 1, 2) in, any member of each cluster merged
    heights: NDArray[np.float64],  # (n - 1,) in
    weights: NDArray[np.float64],  # (n,) in
    out: NDArray[np.float64],  # (n - 1, 4) out, in SciPy's format; the last column sums weights
) -> None:
    """Clusters numbered in the order of merging: n, n + 1, ..."""
    n = len(weights)
    parent = np.arange(2 * n - 1)
    total = np.zeros(2 * n - 1)
    total[:n] = weights
    for i in range(n - 1):
        a, b = find(parent, pairs[i, 0]), find(parent, pairs[i, 1])
        parent[a] = parent[b] = n + i
        total[n + i] = total[a] + total[b]
        out[i, 0], out[i, 1] = min(a, b), max(a, b)
        out[i, 2], out[i, 3] = heights[i], total[n + i]


@kernel
def cut_merges(
    merged: NDArray[np.int64],  # (n - 1, 2) in, as in the tree
    kept: NDArray[np.bool_],  # (n - 1,) in, merges that stand
    labels: NDArray[np.int32],  # (n,) out, numbered by first row
) -> None:
    """What the merges that stand have brought together."""
    n = len(labels)
    root = np.arange(2 * n - 1)
    for i in range(n - 2, -1, -1):  # from the top: a parent's root is known before its children's
        if kept[i]:
            root[merged[i, 0]] = root[merged[i, 1]] = root[n + i]
    name, names = np.full(2 * n - 1, -1, np.int32), 0
    for i in range(n):
        if name[root[i]] < 0:
            name[root[i]] = names
            names += 1
        labels[i] = name[root[i]]
