"""Centroid and median linkage, O(n) memory: the two nearest clusters merge, and may come nearer to a third by it.

Heights can fall, so chains do not serve. Every cluster knows a bound that nobody is nearer than, and who was that
near; the least bound is looked at first. If that neighbour is gone, its bound is renewed, else the two merge. A new
cluster tells all whom it is nearer to than their bound.

Reference: Muellner (2011), Modern hierarchical, agglomerative clustering algorithms. arXiv:1109.2378.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.mst import nearest_outside
from asterism.kernels.tiles import (
    TILE,
    Tiles,
    look_from,
    loosened,
    place_point,
    remove_point,
    squared_distance,
    tile_distances,
)


@kernel
def merge_nearest(
    tiles: Tiles,  # centroids; in place
    near: NDArray[np.int64],  # (t * TILE,) in place, nearest place of each
    known: NDArray[np.float64],  # (t * TILE,) in place, its squared distance; +inf where there is no point
    size: NDArray[np.float64],  # (n,) in place
    median: bool,  # the middle of two centroids, whatever their sizes
    stop: int,  # clusters to leave
    pairs: NDArray[np.int64],  # (n - 1, 2) out
    heights: NDArray[np.float64],  # (n - 1,) out, squared
    done: int,
) -> int:
    """Merge until ``stop`` clusters are left; how many merges there are then."""
    m, left = len(tiles.owner), len(pairs) + 1 - done
    group, whole = np.arange(m), np.full(len(tiles.places), -1)
    x, bound = np.zeros(tiles.places.shape[1], np.float32), np.empty(len(tiles.places), np.float32)
    distance, limits = np.empty(TILE, np.float32), np.empty((len(tiles.places), TILE), np.float32)
    age, seen = (
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
    )  # merges of each place; those when it was seen last
    for q in range(m):
        limits[q // TILE, q % TILE] = loosened(known[q], tiles.slack)
    bits = known.view(np.int64)  # of numbers that are not negative: in the order of the numbers
    while left > stop:
        least = bits[0]
        for q in range(m):
            least = min(least, bits[q])
        q = 0
        while bits[q] != least:
            q += 1
        r = near[q]
        if tiles.owner[r] < 0 or age[r] != seen[q]:
            r, known[q] = nearest_outside(tiles, q, np.inf, group, whole, x, bound, distance)
            near[q], seen[q] = r, age[r]
            limits[q // TILE, q % TILE] = loosened(known[q], tiles.slack)
            continue
        pairs[done, 0], pairs[done, 1], heights[done] = tiles.owner[q], tiles.owner[r], known[q]
        done, left = done + 1, left - 1
        s, t = size[tiles.owner[q]], size[tiles.owner[r]]
        share = 0.5 if median else t / (s + t)
        for j in range(tiles.points.shape[1]):
            tiles.points[q, j] += (tiles.points[r, j] - tiles.points[q, j]) * share
        size[tiles.owner[q]] = s + t
        remove_point(tiles, r)
        known[r] = np.inf
        place_point(tiles, q)
        age[q] += 1
        _announce(tiles, q, near, known, seen, age, limits, x, bound, distance)
    return done


@kernel
def _announce(
    tiles: Tiles,
    q: int,
    near: NDArray[np.int64],  # (t * TILE,) in place
    known: NDArray[np.float64],  # (t * TILE,) in place
    seen: NDArray[np.int64],  # (t * TILE,) in place
    age: NDArray[np.int64],  # (t * TILE,) in
    limits: NDArray[np.float32],  # (t, TILE) in place, ``known`` loosened
    x: NDArray[np.float32],
    bound: NDArray[np.float32],
    distance: NDArray[np.float32],
) -> None:
    """The new cluster at place q finds its nearest, and those it is now the nearest of are told."""
    look_from(tiles, q, x, bound)
    mine, found = np.inf, -1
    for t in range(len(bound)):
        wide = loosened(mine, tiles.slack)
        tile_distances(x, tiles.places, t, distance)
        hits = 0
        for p in range(TILE):
            hits += (distance[p] < wide) | (distance[p] < limits[t, p])
        if hits == 0:
            continue
        for p in range(TILE):
            other = t * TILE + p
            if other == q or tiles.owner[other] < 0 or not distance[p] < max(wide, limits[t, p]):
                continue
            exact = squared_distance(tiles.points, q, other)
            if exact < mine:
                mine, found = exact, other
            if exact < known[other]:
                known[other], near[other], seen[other] = exact, q, age[q]
                limits[t, p] = loosened(exact, tiles.slack)
    known[q], near[q] = mine, found
    if found >= 0:
        seen[q] = age[found]
    limits[q // TILE, q % TILE] = loosened(mine, tiles.slack)
