"""Colours of pictures: whole numbers from 0 to 255 in a few channels, looked up in a grid of cells.

The high bits of a colour's channels, one after the other, are the number of its cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import exact_kernel, kernel

GROUP = 2  # candidates looked at together


@kernel
def cell_of(row: NDArray[Any], bits: int) -> int:  # (d,) whole numbers 0..255
    """The number of a colour's cell, with so many bits a channel."""
    cell = 0
    for j in range(len(row)):
        cell = (cell << bits) | (int(row[j]) >> (8 - bits))
    return cell


@exact_kernel
def add_colours(
    rows: NDArray[Any],  # (n, d) in, whole numbers 0..255
    weights: NDArray[np.float64],  # (n,) in
    bits: int,
    sums: NDArray[np.float64],  # (2^(bits d), d + 1) changed: sum w, then sum w x
) -> None:
    """Add every row to its cell."""
    for i in range(len(rows)):
        w, total = weights[i], sums[cell_of(rows[i], bits)]
        total[0] += w
        for j in range(rows.shape[1]):
            total[1 + j] += w * np.float64(rows[i, j])


@exact_kernel
def nearest_in_box(
    codes: NDArray[np.float64],  # (k, d) in
    among: NDArray[np.int32],  # (n,) in: numbers of codes
    box: NDArray[np.float64],  # (2, d) in: its middle, and half its sides
    near: NDArray[np.float64],  # (n,) out
    found: NDArray[np.int32],  # (n,) out: those that can be nearest, in the order given
) -> int:
    """A code can be nearest in a box if it is no farther from its near side than some code from its far side.

    Ties are kept, so the first code among equally near ones is always found. Returns how many there are.
    """
    nearest, count = np.inf, 0
    for i in range(len(among)):
        low, high = 0.0, 0.0
        for j in range(codes.shape[1]):
            away = abs(codes[among[i], j] - box[0, j])
            beyond = max(away - box[1, j], 0.0)
            low += beyond * beyond
            high += (away + box[1, j]) * (away + box[1, j])
        near[i] = low
        nearest = min(nearest, high)
    cutoff = nearest * (1.0 + 1e-12)  # rounding must not lose a code
    for i in range(len(among)):
        found[count] = among[i]
        count += near[i] <= cutoff
    return count


@exact_kernel
def list_candidates(
    codes: NDArray[np.float64],  # (k, d) in
    seen: NDArray[np.intp],  # (m,) in: numbers of cells, ascending
    bits: int,
    starts: NDArray[np.int32],  # (m + 1,) out: where each cell's list starts, then where the last one ends
    lists: NDArray[np.int32],  # (m (k + GROUP)) out: the codes that can be nearest in a cell, lowest first
) -> None:
    """First for all cells that differ in the last channel alone, then for each of them, among those.

    Lists are filled up to whole groups with their last code, which changes nothing: processors guess the end of
    such loops right more often.
    """
    k, d = codes.shape
    everyone, some, near, box = (
        np.arange(k).astype(np.int32),
        np.empty(k, np.int32),
        np.empty(k),
        np.empty((2, d)),
    )
    side, last, found = 1 << (8 - bits), 0, 0
    for cell in range(len(seen)):
        for j in range(d):
            step = (seen[cell] >> (bits * (d - 1 - j))) & ((1 << bits) - 1)
            box[0, j], box[1, j] = (step + 0.5) * side - 0.5, (side - 1) / 2
        if cell == last:
            while last < len(seen) and seen[last] >> bits == seen[cell] >> bits:
                last += 1
            own, longer = box[0, d - 1], 0.5 * side * (seen[last - 1] - seen[cell])
            box[0, d - 1] += longer
            box[1, d - 1] += longer
            count = nearest_in_box(codes, everyone, box, near, some)
            box[0, d - 1], box[1, d - 1] = own, (side - 1) / 2
        starts[cell] = found
        found += nearest_in_box(codes, some[:count], box, near, lists[found:])
        while (found - starts[cell]) % GROUP:
            lists[found] = lists[found - 1]
            found += 1
    starts[-1] = found


@exact_kernel
def encode_colours(
    rows: NDArray[Any],  # (n, d) in, whole numbers 0..255
    weights: NDArray[np.float64],  # (n,) in
    codes: NDArray[np.float64],  # (k, 4) in, 0 in channels that are not there
    bits: int,
    slots: NDArray[np.int32],  # (2^(bits d),) in: the number of a cell's list
    starts: NDArray[np.int32],  # (m + 1,) in
    lists: NDArray[np.int32],  # (starts[m],) in
    labels: NDArray[Any],  # (n,) out
    mass: NDArray[np.float64],  # (k,) changed: weight of the rows of each code
) -> float:
    """argmin_c ||x - c||^2, the first among equals; returns sum w min ||x - c||^2.

    Channels are written out, those that are not there being 0: a loop over them costs twice the time.
    """
    d, squares, x = rows.shape[1], 0.0, np.zeros(4)
    for i in range(len(rows)):
        cell = 0
        for j in range(d):
            x[j] = rows[i, j]
            cell = (cell << bits) | (int(x[j]) >> (8 - bits))
        x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
        best, nearest = np.inf, 0
        slot = slots[cell]
        for group in range(starts[slot] // GROUP, starts[slot + 1] // GROUP):
            for at in range(GROUP):
                c = lists[group * GROUP + at]
                y0, y1, y2 = x0 - codes[c, 0], x1 - codes[c, 1], x2 - codes[c, 2]
                total = y0 * y0 + y1 * y1 + y2 * y2
                if d == 4:
                    total += (x3 - codes[c, 3]) * (x3 - codes[c, 3])
                closer = total < best
                best = total if closer else best
                nearest = c if closer else nearest
        labels[i] = nearest
        mass[nearest] += weights[i]
        squares += weights[i] * best
    return squares


@exact_kernel
def split_cells(
    points: NDArray[np.float64],  # (m, d) in
    weights: NDArray[np.float64],  # (m,) in, above 0
    centers: NDArray[np.float64],  # (k, d) out
) -> int:
    """Halve the part with the largest sum of squares along one axis, at its mean, until there are k parts.

    Returns how many parts there are: fewer than k where all that is left are single points.
    """
    m, k = len(points), len(centers)
    order, parts = np.arange(m), 1
    start, stop = np.zeros(k, np.int64), np.zeros(k, np.int64)
    spread, axis = np.zeros(k), np.zeros(k, np.int64)
    stop[0] = m
    spread[0], axis[0] = widest_axis(points, weights, order, centers[0])
    while parts < k:
        p = int(np.argmax(spread[:parts]))
        if spread[p] <= 0.0:
            break
        a, b, j = start[p], stop[p], axis[p]
        cut, left = centers[p, j], start[p]
        for i in range(a, b):
            if points[order[i], j] <= cut:
                order[i], order[left] = order[left], order[i]
                left += 1
        start[parts], stop[parts], stop[p] = left, b, left
        for part in (p, parts):
            mine = order[start[part] : stop[part]]
            spread[part], axis[part] = widest_axis(points, weights, mine, centers[part])
        parts += 1
    return parts


@exact_kernel
def widest_axis(
    points: NDArray[np.float64],  # (m, d) in
    weights: NDArray[np.float64],  # (m,) in
    mine: NDArray[np.int64],  # (a,) in: the points of the part
    mean: NDArray[np.float64],  # (d,) out
) -> tuple[float, int]:
    """The axis with the largest sum of squares about the mean, and that sum; 0 for a part that cannot be cut."""
    d, total = points.shape[1], 0.0
    mean[:] = 0.0
    for i in mine:
        total += weights[i]
        for j in range(d):
            mean[j] += weights[i] * (points[i, j] - points[mine[0], j])
    for j in range(d):
        mean[j] = points[mine[0], j] + mean[j] / total
    widest, axis = 0.0, 0
    for j in range(d):
        squares, low, high = 0.0, False, False
        for i in mine:
            y = points[i, j] - mean[j]
            squares += weights[i] * y * y
            low, high = low or y <= 0.0, high or y > 0.0
        if squares > widest and low and high:  # a cut at the mean leaves points on both sides
            widest, axis = squares, j
    return widest, axis


@kernel
def take_rows(
    book: NDArray[Any],  # (k, e) in
    codes: NDArray[Any],  # (n,) in, whole numbers below k
    out: NDArray[Any],  # (n, e) out
) -> None:
    """out_i = book[code_i]; np.take would make whole numbers of 8 bytes of the codes first."""
    for i in range(len(codes)):
        c = codes[i]
        for j in range(book.shape[1]):
            out[i, j] = book[c, j]
