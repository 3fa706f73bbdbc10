"""Complete, average and weighted linkage of points, by looking at members instead of keeping a matrix.

    d(A, B) = max |x - y|                      complete
    d(A, B) = sum p_x p_y |x - y|              average (p = weight / weight of its cluster) and
                                               weighted (p is halved at every merge)

While clusters are small this costs a few distances, and most pairs need not be looked at: the distance of centroids
is never larger than the mean distance of members (the norm is convex), and

    max |x - y|^2 >= mean |x - y|^2 = |a - b|^2 + spread(A) + spread(B).

So chains (``kernels.chain``) run over the centroids, in tiles, until clusters have a few rows each; only then are all
pairs of clusters measured, once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.chain import COMPLETE, WEIGHTED
from asterism.kernels.compiled import kernel, lane_sum_kernel
from asterism.kernels.tiles import (
    TILE,
    Tiles,
    count_below,
    look_from,
    loosened,
    next_point,
    place_point,
    remove_point,
    squared_distance,
    tile_distances,
)

CHUNK = 1024  # rows whose distances are taken together: they stay in the nearest cache


class Members(NamedTuple):
    """Who is in which cluster. Clusters are named by one of their rows."""

    rows: NDArray[np.float64]  # (n, d)
    part: NDArray[np.float64]  # (n,) p, adding up to 1 in each cluster
    next: NDArray[np.int64]  # (n,) the next row of the same cluster, -1 after the last
    last: NDArray[np.int64]  # (n,) the last row of the cluster of that name
    size: NDArray[np.float64]  # (n,) weight of the cluster of that name
    many: NDArray[np.int64]  # (n,) how many rows that are
    spread: NDArray[
        np.float64
    ]  # (n,) mean squared distance of its rows from their centroid; 0 unless complete


@kernel
def between(members: Members, a: int, b: int, linkage: int) -> float:
    """d(A, B), squared for complete linkage; the same bits for (b, a)."""
    if a > b:
        a, b = b, a
    total, i = 0.0, a
    while i >= 0:
        j = b
        while j >= 0:
            square = squared_distance(members.rows, i, j)
            if linkage == COMPLETE:
                total = max(total, square)
            else:
                total += members.part[i] * members.part[j] * math.sqrt(square)
            j = members.next[j]
        i = members.next[i]
    return total


@kernel
def member_chain(
    tiles: Tiles,  # centroids; in place
    members: Members,  # in place
    linkage: int,
    stop: int,  # clusters to leave
    allowed: int,  # pairs of rows that may be measured
    pairs: NDArray[np.int64],  # (n - 1, 2) out
    heights: NDArray[np.float64],  # (n - 1,) out, squared for complete linkage
    done: int,  # merges so far
) -> tuple[int, int]:
    """Merge until ``stop`` clusters are left: how many merges there are then, and how many pairs are still allowed.

    Where columns are many, centroids tell little and everything is measured: it stops when that has cost too much.
    """
    t, left = len(tiles.places), len(pairs) + 1 - done
    x, bound = np.zeros(tiles.places.shape[1], np.float32), np.empty(t, np.float32)
    distance = np.empty(TILE, np.float32)
    chain, length, cursor = np.empty(left + 1, np.int64), 0, 0
    while left > stop and allowed > 0:
        if length == 0:
            cursor = next_point(tiles.owner, cursor)
            chain[0], length = cursor, 1
        q = chain[length - 1]
        a, home = tiles.owner[q], q // TILE
        found, limit = -1, np.inf
        if length > 1:
            found = chain[length - 2]
            limit = between(members, a, tiles.owner[found], linkage)
        look_from(tiles, q, x, bound)
        wide = _reach(limit, members.spread[a], linkage, tiles.slack)
        for turn in range(-1, t):
            s = home if turn < 0 else turn
            if turn == home or limit == 0.0 or not bound[s] < wide:
                continue
            tile_distances(x, tiles.places, s, distance)
            if count_below(distance, wide) == 0:
                continue
            for p in range(TILE):
                other = s * TILE + p
                b = tiles.owner[other]
                if distance[p] < wide and other != q and b >= 0:
                    if np.float64(distance[p]) >= _reach(
                        limit, members.spread[a] + members.spread[b], linkage, tiles.slack
                    ):
                        continue
                    exact = between(members, a, b, linkage)
                    allowed -= members.many[a] * members.many[b]
                    if exact < limit:
                        limit, found = exact, other
                        wide = _reach(limit, members.spread[a], linkage, tiles.slack)
        if length > 1 and found == chain[length - 2]:
            b = tiles.owner[found]
            pairs[done, 0], pairs[done, 1], heights[done] = a, b, limit
            _join(tiles, members, q, found, linkage)
            done, left, length = done + 1, left - 1, length - 2
        else:
            chain[length] = found
            length += 1
    return done, allowed


@kernel
def _reach(limit: float, spread: float, linkage: int, slack: float) -> np.float32:
    """How far centroids may be apart, squared, for d(A, B) to be below the limit."""
    if linkage != COMPLETE:
        return loosened(limit * limit, slack)
    return loosened(max(limit - spread, 0.0), slack)


@kernel
def _join(tiles: Tiles, members: Members, q: int, r: int, linkage: int) -> None:
    """One cluster at the place of the larger, under the name of its rows' first."""
    if members.size[tiles.owner[q]] < members.size[tiles.owner[r]]:
        q, r = r, q
    a, b = tiles.owner[q], tiles.owner[r]
    share = 0.5 if linkage == WEIGHTED else members.size[b] / (members.size[a] + members.size[b])
    apart = squared_distance(tiles.points, q, r)
    for j in range(tiles.points.shape[1]):
        tiles.points[q, j] += (tiles.points[r, j] - tiles.points[q, j]) * share
    if linkage == COMPLETE:
        inner = (1.0 - share) * members.spread[a] + share * members.spread[b]
        # A little less than it is: it must never be too much.
        members.spread[a] = (inner + share * (1.0 - share) * apart) * (1.0 - 1e-12)
    i = a
    while i >= 0:
        members.part[i] *= 1.0 - share
        i = members.next[i]
    i = b
    while i >= 0:
        members.part[i] *= share
        i = members.next[i]
    members.next[members.last[a]] = b
    members.last[a] = members.last[b]
    members.size[a] += members.size[b]
    members.many[a] += members.many[b]
    remove_point(tiles, r)
    place_point(tiles, q)


@kernel
def list_clusters(
    tiles: Tiles,  # in
    members: Members,  # in
    names: NDArray[np.int64],  # (k,) out
    order: NDArray[np.int64],  # (n,) out, rows cluster by cluster
    starts: NDArray[np.int64],  # (k + 1,) out, where each cluster begins in that order
) -> None:
    """The clusters that are left, side by side."""
    k = at = 0
    for q in range(len(tiles.owner)):
        i = tiles.owner[q]
        if i >= 0:
            names[k], starts[k] = i, at
            k += 1
            while i >= 0:
                order[at] = i
                at += 1
                i = members.next[i]
    starts[k] = at


@lane_sum_kernel
def fill_pairs(
    columns: NDArray[
        np.float64
    ],  # (d', n) in, coordinates cluster by cluster, filled up to a multiple of four
    part: NDArray[np.float64],  # (n,) in
    starts: NDArray[np.int64],  # (k + 1,) in
    first: int,
    last: int,
    linkage: int,
    out: NDArray[np.float64],  # (k (k - 1) / 2,) out
) -> None:
    """Distances of clusters ``first:last`` to all that follow them."""
    n, k = columns.shape[1], len(starts) - 1
    total, square = np.empty(CHUNK), np.empty(CHUNK)
    for a in range(first, last):
        base = a * k - a * (a + 1) // 2 - a - 1
        for b in range(a + 1, k):
            out[base + b] = 0.0
        b = a + 1
        for chunk in range(starts[a + 1], n, CHUNK):
            m = min(CHUNK, n - chunk)
            total[:] = 0.0
            for i in range(starts[a], starts[a + 1]):
                _squares_from(columns, i, chunk, m, square)
                _gather(square, part[i], linkage, total)
            for y in range(m):
                while chunk + y >= starts[b + 1]:
                    b += 1
                if linkage == COMPLETE:
                    out[base + b] = max(out[base + b], total[y])
                else:
                    out[base + b] += part[chunk + y] * total[y]
        if linkage == COMPLETE:
            for b in range(a + 1, k):
                out[base + b] = math.sqrt(out[base + b])


@kernel
def _squares_from(
    columns: NDArray[np.float64],  # (d', n) in
    i: int,
    chunk: int,
    m: int,
    square: NDArray[np.float64],  # (CHUNK,) out
) -> None:
    """Squared distances of row i to m rows from ``chunk`` on."""
    square[:] = 0.0
    for j in range(0, len(columns), 4):
        a, b, c, d = columns[j, i], columns[j + 1, i], columns[j + 2, i], columns[j + 3, i]
        w, x = columns[j, chunk : chunk + m], columns[j + 1, chunk : chunk + m]
        y, z = columns[j + 2, chunk : chunk + m], columns[j + 3, chunk : chunk + m]
        for q in range(m):
            e, f, g, h = a - w[q], b - x[q], c - y[q], d - z[q]
            square[q] += (e * e + f * f) + (g * g + h * h)


@kernel
def _gather(
    square: NDArray[np.float64],  # (CHUNK,) in
    part: float,
    linkage: int,
    total: NDArray[np.float64],  # (CHUNK,) in place
) -> None:
    """The largest square, or the sum of part times distance."""
    if linkage == COMPLETE:
        for q in range(CHUNK):
            s, t = square[q], total[q]
            total[q] = s if s > t else t
    else:
        for q in range(CHUNK):
            total[q] += part * math.sqrt(square[q])
