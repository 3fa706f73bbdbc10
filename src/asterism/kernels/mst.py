"""The minimum spanning tree of points, or of a list of all pairs: single linkage in O(n) memory.

    Boruvka: every component but the largest takes the shortest edge that leaves it, until one component is left.

The nearest neighbour of every point is found first (on threads, by the caller). Later a point is asked again only if
its neighbour has come into its own component, and only if what is known of it could beat the best edge its
component has by then; so after the first round there is little to do. The largest component asks nobody: the
others' edges reach it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.tiles import (
    TILE,
    Tiles,
    count_below,
    look_from,
    loosened,
    squared_distance,
    tile_distances,
)


@kernel
def nearest_outside(
    tiles: Tiles,
    q: int,
    limit: float,  # squared
    group: NDArray[np.int64],  # (t * TILE,) in, component of each place
    whole: NDArray[np.int64],  # (t,) in, the component all points of a tile are in, or -1
    x: NDArray[np.float32],  # (d',) scratch
    bound: NDArray[np.float32],  # (t,) scratch
    distance: NDArray[np.float32],  # (TILE,) scratch
) -> tuple[int, float]:
    """The nearest place in another component, if nearer than the limit: (place or -1, squared distance)."""
    mine, found, home = group[q], -1, q // TILE
    look_from(tiles, q, x, bound)
    wide = loosened(limit, tiles.slack)
    for turn in range(-1, len(bound)):
        t = home if turn < 0 else turn  # its own tile first: what is near there spares many others
        if turn == home or whole[t] == mine or not bound[t] < wide:
            continue
        tile_distances(x, tiles.places, t, distance)
        if count_below(distance, wide) == 0:
            continue
        for p in range(TILE):
            other = t * TILE + p
            if distance[p] < wide and group[other] != mine:
                exact = squared_distance(tiles.points, q, other)
                if exact < limit:
                    limit, found = exact, other
                    wide = loosened(limit, tiles.slack)
    return found, limit


@kernel
def nearest_places(
    tiles: Tiles,
    first: int,
    last: int,
    group: NDArray[np.int64],  # (t * TILE,) in, all different
    near: NDArray[np.int64],  # (t * TILE,) out, the nearest place of each
    known: NDArray[np.float64],  # (t * TILE,) out, its squared distance
) -> None:
    """The nearest neighbours of places ``first:last``."""
    whole = np.full(len(tiles.places), -1)
    x = np.zeros(tiles.places.shape[1], np.float32)
    bound, distance = np.empty(len(tiles.places), np.float32), np.empty(TILE, np.float32)
    for q in range(first, last):
        if tiles.owner[q] >= 0:
            near[q], known[q] = nearest_outside(tiles, q, np.inf, group, whole, x, bound, distance)


@kernel
def find(parent: NDArray[np.int64], i: int) -> int:
    """The root of i; paths are halved on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def spanning_tree(
    tiles: Tiles,
    near: NDArray[np.int64],  # (t * TILE,) in, from ``nearest_places``; destroyed
    known: NDArray[
        np.float64
    ],  # (t * TILE,) in; destroyed. No point of another component is nearer than this
    pairs: NDArray[np.int64],  # (n - 1, 2) out, numbers of the points joined
    lengths: NDArray[np.float64],  # (n - 1,) out, squared
) -> None:
    """Rounds of Boruvka's algorithm."""
    m, t = len(tiles.owner), len(tiles.places)
    parent, group = np.arange(m), np.arange(m)
    whole, count = np.full(t, -1), np.empty(m, np.int64)
    best, edge = (
        np.empty(m),
        np.empty((m, 2), np.int64),
    )  # of each component: the shortest edge that leaves it
    x, bound = np.zeros(tiles.places.shape[1], np.float32), np.empty(t, np.float32)
    distance, ask = np.empty(TILE, np.float32), np.empty(m, np.int64)
    done = 0
    while done < len(pairs):
        largest = _components(tiles.owner, parent, group, whole, count)
        best[:] = np.inf
        for q in range(m):  # neighbours that are still outside cost nothing
            g = group[q]
            if tiles.owner[q] < 0 or g == largest:
                continue  # the largest takes no edge: not knowing all of its neighbours, it could take a wrong one
            if group[near[q]] != g and known[q] < best[g]:
                best[g], edge[g, 0], edge[g, 1] = known[q], q, near[q]
        asked = 0
        for q in range(m):
            g = group[q]
            if tiles.owner[q] >= 0 and g != largest and group[near[q]] == g and known[q] < best[g]:
                ask[asked] = q
                asked += 1
        # The most promising first: what they find spares the others.
        for which in np.argsort(known[ask[:asked]]):
            q = ask[which]
            g = group[q]
            if not known[q] < best[g]:
                continue
            found, least = nearest_outside(tiles, q, best[g], group, whole, x, bound, distance)
            known[q] = least  # either the distance of its neighbour, or nobody is nearer than this
            if found >= 0:
                near[q] = found
                best[g], edge[g, 0], edge[g, 1] = least, q, found
        for g in range(m):
            if tiles.owner[g] < 0 or group[g] != g or best[g] == np.inf:
                continue
            a, b = find(parent, edge[g, 0]), find(parent, edge[g, 1])
            if a != b:  # the other side may have chosen the same edge, or one as short
                parent[max(a, b)] = min(a, b)
                pairs[done, 0], pairs[done, 1] = tiles.owner[edge[g, 0]], tiles.owner[edge[g, 1]]
                lengths[done] = best[g]
                done += 1


@kernel
def _components(
    owner: NDArray[np.int64],  # (m,) in
    parent: NDArray[np.int64],  # (m,) in
    group: NDArray[np.int64],  # (m,) out, root of each place
    whole: NDArray[np.int64],  # (t,) out, the root of all points of a tile, or -1
    count: NDArray[np.int64],  # (m,) out
) -> int:
    """Who is with whom now; the root of the largest component."""
    count[:] = 0
    largest = 0
    for q in range(len(owner)):
        group[q] = find(parent, q)
        if owner[q] >= 0:
            count[group[q]] += 1
            if count[group[q]] > count[largest]:
                largest = group[q]
    for t in range(len(whole)):
        whole[t] = -2
        for q in range(t * TILE, (t + 1) * TILE):
            if owner[q] >= 0:
                whole[t] = group[q] if whole[t] in (-2, group[q]) else -1
    return largest if count[largest] > 1 else -1


@kernel
def matrix_tree(
    distances: NDArray[np.float64],  # (n (n - 1) / 2,) in, every pair once
    n: int,
    pairs: NDArray[np.int64],  # (n - 1, 2) out
    lengths: NDArray[np.float64],  # (n - 1,) out
) -> None:
    """Prim's algorithm: the tree takes in the nearest point outside it, n - 1 times."""
    best, near = np.full(n, np.inf), np.zeros(n, np.int64)
    outside = np.arange(n)
    row, left = 0, n - 1
    outside[0] = outside[left]
    for step in range(n - 1):
        least, which = np.inf, 0
        for q in range(left):
            other = outside[q]
            a, b = min(row, other), max(row, other)
            new = distances[a * n - a * (a + 1) // 2 + b - a - 1]
            if new < best[other]:
                best[other], near[other] = new, row
            # Equal distances: the lowest row number, wherever it stands in the list.
            if best[other] < least or (best[other] == least and other < outside[which]):
                least, which = best[other], q
        row = outside[which]
        pairs[step, 0], pairs[step, 1] = near[row], row
        lengths[step] = least
        left -= 1
        outside[which] = outside[left]
