"""Points in tiles of 32 near neighbours, each tile with its box: how trees look for what is near.

A search measures its distance to all boxes (a vector loop over tiles), then looks only into tiles whose box is near
enough (a vector loop over the 32 places of a tile). Both are done in float32, at half the traffic, and decide
nothing: what may be nearer than the best so far is measured again in float64.

    |x32 - y32| differs from |x - y| by at most e = 2^-22 sqrt(d) R, where no coordinate exceeds R, so
    |x - y|^2 < b   implies   |x32 - y32|^2 < (sqrt(b) + e)^2 <= 1.001 b + 1001 e^2   (``loosened``)

A place that is taken out is put at infinity, where no search finds it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel

TILE = 32  # a multiple of all vector widths; smaller tiles prune better, larger ones vectorise better
COLUMNS = 4  # taken together in the inner loop; coordinates are filled up with zeros to a multiple
LOOSE = 1.0011  # 1.001, and the rounding of float32 sums


class Tiles(NamedTuple):
    """n points in t tiles."""

    points: NDArray[np.float64]  # (t * TILE, d) the points themselves, place by place
    owner: NDArray[np.int64]  # (t * TILE,) number of the point at each place, -1 where there is none
    places: NDArray[np.float32]  # (t, d', TILE) the same coordinates, +inf where there is no point
    boxes: NDArray[np.float32]  # (2, d, t) least and largest coordinates of each tile
    slack: float  # 1001 e^2


def tiled(points: NDArray[np.float64], numbers: NDArray[np.int64]) -> Tiles:
    """Tiles of the points (n, d), whose numbers are given; coordinates must be within float32's range."""
    n, d = points.shape
    t = 1 << max(-(-n // TILE) - 1, 0).bit_length()  # a power of two: halving makes parts of equal size
    order = np.empty(n, np.int64)
    order_by_halves(points, order, t)
    reach = float(np.abs(points).max())
    tiles = Tiles(
        np.zeros((t * TILE, d)),
        np.full(t * TILE, -1, np.int64),
        np.zeros((t, -(-d // COLUMNS) * COLUMNS, TILE), np.float32),
        np.empty((2, d, t), np.float32),
        1001.0 * d * (2.0**-22 * reach) ** 2,
    )
    fill_tiles(points, numbers, order, tiles)
    return tiles


@kernel
def order_by_halves(
    rows: NDArray[np.float64],  # (n, d) in
    order: NDArray[np.int64],  # (n,) out, row numbers: parts of equal size are near each other
    tiles: int,  # a power of two
) -> None:
    """Halve the rows at the median of their widest column, and halve the halves."""
    n, d = rows.shape
    for i in range(n):
        order[i] = i
    parts = 1
    while parts < tiles:
        for part in range(parts):
            a, b = part * n // parts, (part + 1) * n // parts
            middle = (2 * part + 1) * n // (2 * parts)
            if b - a < 2:
                continue
            widest, column = -1.0, 0
            for j in range(d):
                low = high = rows[order[a], j]
                for i in range(a + 1, b):
                    x = rows[order[i], j]
                    low, high = min(low, x), max(high, x)
                if high - low > widest:
                    widest, column = high - low, j
            _select(rows, column, order, a, b, middle)
        parts *= 2


@kernel
def _select(
    rows: NDArray[np.float64],  # (n, d) in
    column: int,
    order: NDArray[np.int64],  # (n,) in place, between a and b
    a: int,
    b: int,
    middle: int,
) -> None:
    """Hoare's selection: what stands before ``middle`` is at most what stands there or after."""
    low, high = a, b - 1
    while low < high:
        pivot = rows[order[(low + high) // 2], column]
        i, j = low, high
        while i <= j:
            while rows[order[i], column] < pivot:
                i += 1
            while pivot < rows[order[j], column]:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel
def fill_tiles(
    rows: NDArray[np.float64],  # (n, d) in
    numbers: NDArray[np.int64],  # (n,) in
    order: NDArray[np.int64],  # (n,) in, as ``order_by_halves`` left it
    tiles: Tiles,  # out
) -> None:
    """Put the rows into their tiles."""
    n, d = rows.shape
    t = len(tiles.places)
    for s in range(t):
        a, b = s * n // t, (s + 1) * n // t
        for j in range(d):
            tiles.boxes[0, j, s], tiles.boxes[1, j, s] = np.inf, -np.inf
        for p in range(TILE):
            tiles.places[s, 0, p] = np.inf
        for i in range(a, b):
            q = s * TILE + i - a
            tiles.owner[q] = numbers[order[i]]
            for j in range(d):
                tiles.points[q, j] = rows[order[i], j]
            place_point(tiles, q)


@kernel
def place_point(tiles: Tiles, q: int) -> None:
    """Tell tile and box where the point at place q is now."""
    s, p = q // TILE, q % TILE
    for j in range(tiles.points.shape[1]):
        x = np.float32(tiles.points[q, j])
        tiles.places[s, j, p] = x
        tiles.boxes[0, j, s] = min(tiles.boxes[0, j, s], x)
        tiles.boxes[1, j, s] = max(tiles.boxes[1, j, s], x)


@kernel
def remove_point(tiles: Tiles, q: int) -> None:
    """Leave place q empty."""
    tiles.owner[q] = -1
    tiles.places[q // TILE, 0, q % TILE] = np.inf


@kernel
def next_point(owner: NDArray[np.int64], q: int) -> int:
    """The first place after q that has a point, round and round: so all clusters grow at the same pace."""
    while True:
        q = q + 1 if q + 1 < len(owner) else 0
        if owner[q] >= 0:
            return q


@kernel
def loosened(square: float, slack: float) -> np.float32:
    """What a float32 square must stay below for the true one to be below ``square``."""
    return np.float32(square * LOOSE + slack)


@kernel
def squared_distance(points: NDArray[np.float64], a: int, b: int) -> float:
    """|a - b|^2 from the differences; the same bits from b to a."""
    total = 0.0
    for j in range(points.shape[1]):
        y = points[a, j] - points[b, j]
        total += y * y
    return total


@kernel
def look_from(
    tiles: Tiles,
    q: int,
    x: NDArray[np.float32],  # (d',) out, the point at place q, filled up with zeros
    bound: NDArray[np.float32],  # (t,) out, its squared distance to each box, 0 inside
) -> None:
    """Measure the boxes as seen from place q."""
    for j in range(tiles.points.shape[1]):
        x[j] = np.float32(tiles.points[q, j])
    _measure_boxes(tiles.boxes, x, bound)


@kernel
def _measure_boxes(
    boxes: NDArray[np.float32],  # (2, d, t) in
    x: NDArray[np.float32],  # (d',) in
    bound: NDArray[np.float32],  # (t,) out
) -> None:
    for t in range(len(bound)):
        bound[t] = 0.0
    for j in range(boxes.shape[1]):
        at = x[j]
        for t in range(len(bound)):
            below, above = boxes[0, j, t] - at, at - boxes[1, j, t]
            gap = below if below > above else above
            gap = gap if gap > 0.0 else np.float32(0.0)
            bound[t] += gap * gap


@kernel
def tile_distances(
    x: NDArray[np.float32],  # (d',) in
    places: NDArray[np.float32],  # (t, d', TILE) in
    t: int,
    out: NDArray[np.float32],  # (TILE,) out
) -> None:
    """Squared distance of x to each place of one tile."""
    for p in range(TILE):
        out[p] = 0.0
    for j in range(0, len(x), 4):
        a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
        for p in range(TILE):
            y0, y1 = a - places[t, j, p], b - places[t, j + 1, p]
            y2, y3 = c - places[t, j + 2, p], d - places[t, j + 3, p]
            out[p] += (y0 * y0 + y1 * y1) + (y2 * y2 + y3 * y3)


@kernel
def count_below(
    distance: NDArray[np.float32],  # (TILE,) in
    limit: np.float32,
) -> int:
    """How many places are nearer than the limit: most often none, and that is quick to see."""
    hits = 0
    for p in range(TILE):
        hits += distance[p] < limit
    return hits


@kernel
def nearest_points(
    tiles: Tiles,
    rows: NDArray[np.float64],  # (n, d) in, any points
    out: NDArray[np.int64],  # (n,) out, number of the nearest point; of equals, the lowest
) -> None:
    """The nearest of the tiles' points for each row."""
    t, d = len(tiles.places), rows.shape[1]
    x, bound = np.zeros(tiles.places.shape[1], np.float32), np.empty(t, np.float32)
    distance = np.empty(TILE, np.float32)
    for i in range(len(rows)):
        limit, found, reach = np.inf, -1, 0.0
        for j in range(d):
            x[j] = np.float32(rows[i, j])
            reach = max(reach, abs(rows[i, j]))
        slack = tiles.slack + 1001.0 * d * (2.0**-22 * reach) ** 2  # a new row may lie far outside
        _measure_boxes(tiles.boxes, x, bound)
        first = 0
        for s in range(t):
            if bound[s] < bound[first]:
                first = s
        for turn in range(-1, t):
            s = first if turn < 0 else turn
            wide = loosened(limit, slack)
            if turn == first or bound[s] > wide:
                continue
            tile_distances(x, tiles.places, s, distance)
            for p in range(TILE):
                other = s * TILE + p
                if distance[p] <= wide and tiles.owner[other] >= 0:
                    total = 0.0
                    for j in range(d):
                        y = rows[i, j] - tiles.points[other, j]
                        total += y * y
                    if total < limit or found < 0 or (total == limit and tiles.owner[other] < found):
                        limit, found = total, tiles.owner[other]
        out[i] = found
