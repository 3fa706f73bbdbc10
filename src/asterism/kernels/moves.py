"""Sums over groups that are exact, so that a row can leave a group as it came.

A term ``v`` (``w (x - reference)`` of a cell, or ``w``) is split on two grids of its column,

    high = (v + B) - B          a multiple of g = ulp(B)
    low  = (v - high + b) - b   a multiple of ulp(b), far below g

with B and b so large that no sum over the table leaves their binade: then all sums of high parts and of low parts
are exact in float64. They do not depend on the order of rows, and taking a row out undoes putting it in, to the
bit. What is lost is below 2^-60 of the column's range. So k-means may add up only the rows that changed their
group, and get the totals of adding up all of them.

References
----------
1. Demmel, Nguyen (2015), Parallel reproducible summation. IEEE Trans. Computers 64:2060-2070.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import exact_kernel, lane_sum_kernel

TILE = 128  # rows taken together where columns are few
FEW_COLUMNS = 16

Floats = NDArray[Any]  # float32 or float64


def grid_of(reach: NDArray[np.float64], weight: float, n_rows: int) -> NDArray[np.float64]:
    """(2, columns) B and b for terms of at most ``reach`` per unit of weight, in a table of that total weight.

    |sum| <= weight * reach < 2^e, so B = 1.5 * 2^(e + 1) keeps v + B in one binade, and multiples of ulp(B) below
    2^53 ulp(B) are exact. Low parts are at most ulp(B) / 2 each, and there are n_rows of them at the most.
    """
    with np.errstate(over="ignore"):
        exponent = np.frexp(np.where(reach > 0, reach, 1.0) * weight)[1] + 1
    low = exponent - 53 + int(n_rows).bit_length() + 1
    return np.stack([np.ldexp(1.5, exponent), np.ldexp(1.5, low)])


@exact_kernel
def move_rows(
    rows: Floats,  # (n, d) in, NaN = missing
    weights: NDArray[np.float64],  # (n,) in
    reference: NDArray[np.float64],  # (d,) in
    centers: NDArray[np.float64],  # (k, d) in, from the reference
    moved: NDArray[np.int32],  # (m, 2) in: rows that changed their group; which they left, -1: none
    labels: NDArray[np.int32],  # (n,) in: groups now
    grid: NDArray[np.float64],  # (2, d + c) in: B and b of the columns' terms and of their weights
    start: int,  # global number of the first row
    table: NDArray[np.float64],  # (k, 2 (d + c)) changed: high parts, then low parts
    far: NDArray[
        np.float64
    ],  # (m, 2) out: squared distance and number of the farthest new rows, farthest first
) -> float:
    """Take rows out of old groups and put them into new ones; returns by how much sum w ||x - c||^2 fell."""
    width = grid.shape[1]
    if width <= FEW_COLUMNS:
        return move_lanes(rows, weights, reference, centers, moved, labels, grid, start, table, far)
    term = np.zeros(width)
    coarse, fine = grid[0], grid[1]
    gain = 0.0
    for m in range(len(moved)):
        i, a = moved[m, 0], moved[m, 1]
        w, b = weights[i], labels[i]
        if w == 0.0:
            continue
        distance = take_row(rows[i], w, reference, centers[b], term)
        add_term(term, coarse, fine, 1.0, table[b, :width], table[b, width:])
        if a >= 0:
            add_term(term, coarse, fine, -1.0, table[a, :width], table[a, width:])
            gain += w * (squared_distance(rows[i], reference, centers[a]) - distance)
        else:
            gain -= w * distance
            if distance >= far[-1, 0]:
                put_far(far, distance, start + i)
    return gain


@exact_kernel
def move_lanes(
    rows: Floats,  # as ``move_rows``
    weights: NDArray[np.float64],
    reference: NDArray[np.float64],
    centers: NDArray[np.float64],
    moved: NDArray[np.int32],
    labels: NDArray[np.int32],
    grid: NDArray[np.float64],
    start: int,
    table: NDArray[np.float64],
    far: NDArray[np.float64],
) -> float:
    """``move_rows`` where columns are few, and a loop over them hardly begins: column by column for a tile of rows.

    Rows come from nowhere all together, or none of them does.
    """
    d, width = rows.shape[1], grid.shape[1]
    tile = np.empty((3, TILE), np.uint64)  # rows, the groups they leave, the groups they come into
    cells = np.empty((width, TILE))
    near = np.zeros((2, TILE))  # squared distances from the groups they leave, and come into
    high, low, w = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    fresh = len(moved) > 0 and moved[0, 1] < 0
    gain, first = 0.0, 0
    while first < len(moved):
        t = 0
        while first < len(moved) and t < TILE:
            i = moved[first, 0]
            tile[0, t], tile[1, t], tile[2, t], w[t] = i, moved[first, 1], labels[i], weights[i]
            t += weights[i] != 0.0
            first += 1
        who, old, new = tile[0, :t], tile[1, :t], tile[2, :t]
        take_cells(rows, who, reference, cells)
        tile_distances(cells[:d], centers, new, near[1])
        if not fresh:
            tile_distances(cells[:d], centers, old, near[0])
        for j in range(d, width):
            cells[j] = 1.0
            if width == 2 * d:
                for i in range(t):
                    cells[j, i] = 1.0 if cells[j - d, i] == cells[j - d, i] else 0.0
        for j in range(width):
            split_column(cells[j], w, grid[0, j], grid[1, j], high, low)
            add_column(new, high, 1.0, table[:, j])
            add_column(new, low, 1.0, table[:, width + j])
            if not fresh:
                add_column(old, high, -1.0, table[:, j])
                add_column(old, low, -1.0, table[:, width + j])
        for i in range(t):
            gain += w[i] * (near[0, i] - near[1, i])
            if fresh and near[1, i] >= far[-1, 0]:
                put_far(far, near[1, i], start + int(who[i]))
    return gain


@exact_kernel
def take_cells(
    rows: Floats,  # (n, d) in
    who: NDArray[np.uint64],  # (t,) in; unsigned: known not to count from the end
    reference: NDArray[np.float64],  # (d,) in
    cells: NDArray[np.float64],  # (at least d, TILE) out: x - reference
) -> None:
    """The cells of a tile, column by column."""
    for j in range(rows.shape[1]):
        column, origin = cells[j], reference[j]
        for i in range(len(who)):
            column[i] = np.float64(rows[who[i], j]) - origin


@exact_kernel
def tile_distances(
    cells: NDArray[np.float64],  # (d, TILE) in
    centers: NDArray[np.float64],  # (k, d) in
    group: NDArray[np.uint64],  # (t,) in
    square: NDArray[np.float64],  # (TILE,) out: ||x - c||^2 over observed cells
) -> None:
    """Squared distances of the rows of a tile from the centres of their groups."""
    square[:] = 0.0
    for j in range(len(cells)):
        column, center = cells[j], centers[:, j]
        for i in range(len(group)):
            y = column[i] - center[group[i]]
            square[i] += y * y if y == y else 0.0


@exact_kernel
def split_column(
    cells: NDArray[np.float64],  # (TILE,) in
    w: NDArray[np.float64],  # (TILE,) in
    coarse: float,  # B
    fine: float,  # b
    high: NDArray[np.float64],  # (TILE,) out
    low: NDArray[np.float64],  # (TILE,) out
) -> None:
    """The terms of a column on both grids; missing cells have none."""
    for i in range(TILE):
        v = w[i] * cells[i]
        v = v if v == v else 0.0
        h = (v + coarse) - coarse
        high[i] = h
        low[i] = ((v - h) + fine) - fine


@exact_kernel
def add_column(
    group: NDArray[np.uint64],  # (t,) in
    terms: NDArray[np.float64],  # (TILE,) in
    sign: float,
    sums: NDArray[np.float64],  # (k,) changed
) -> None:
    """Add the terms of a column to the sums of their groups."""
    for i in range(len(group)):
        sums[group[i]] += sign * terms[i]


@lane_sum_kernel
def take_row(
    row: Floats,  # (d,) in
    w: float,
    reference: NDArray[np.float64],  # (d,) in
    center: NDArray[np.float64],  # (d,) in
    term: NDArray[np.float64],  # (d + c,) out: w (x - reference), then the weights; missing cells have none
) -> float:
    """The terms of a row, and ||x - c||^2 in the same reading."""
    d, width = len(row), len(term)
    total = 0.0
    for j in range(d):
        y = np.float64(row[j]) - reference[j]
        z = y - center[j]
        seen = y == y
        term[j] = w * y if seen else 0.0
        total += z * z if seen else 0.0
    for j in range(d, width):
        term[j] = w if width < 2 * d or row[j - d] == row[j - d] else 0.0
    return total


@exact_kernel
def add_term(
    term: NDArray[np.float64],  # (width,) in
    coarse: NDArray[np.float64],  # (width,) in: B
    fine: NDArray[np.float64],  # (width,) in: b
    sign: float,
    high: NDArray[np.float64],  # (width,) changed: sums of a group
    low: NDArray[np.float64],  # (width,) changed
) -> None:
    """Split the terms on both grids, and add (or take away) both parts."""
    for j in range(len(term)):
        v, big, small = term[j], coarse[j], fine[j]
        h = (v + big) - big
        rest = ((v - h) + small) - small
        high[j] += sign * h
        low[j] += sign * rest


@lane_sum_kernel
def squared_distance(
    row: Floats,  # (d,) in
    reference: NDArray[np.float64],  # (d,) in
    center: NDArray[np.float64],  # (d,) in
) -> float:
    """||x - c||^2 over observed cells, from the differences themselves."""
    total = 0.0
    for j in range(len(row)):
        y = (np.float64(row[j]) - reference[j]) - center[j]
        total += y * y if y == y else 0.0
    return total


@exact_kernel
def scatter_rows(
    rows: Floats,  # (n, d) in, NaN = missing
    weights: NDArray[np.float64],  # (n,) in
    reference: NDArray[np.float64],  # (d,) in
    centers: NDArray[np.float64],  # (k, d) in, from the reference
    labels: NDArray[np.int32],  # (n,) in
    mass: NDArray[np.float64],  # (k,) added to: sum w
) -> float:
    """sum w ||x - c||^2 over observed cells, each row about its own centre."""
    total = 0.0
    for i in range(len(rows)):
        if weights[i] != 0.0:
            total += weights[i] * squared_distance(rows[i], reference, centers[labels[i]])
            mass[labels[i]] += weights[i]
    return total


@exact_kernel
def put_far(far: NDArray[np.float64], distance: float, row: int) -> None:
    """Insert into the list of farthest rows if it belongs there; among equals the earlier row is ahead."""
    p = len(far)
    while p > 0 and (far[p - 1, 0] < distance or (far[p - 1, 0] == distance and far[p - 1, 1] > row)):
        if p < len(far):
            far[p, 0], far[p, 1] = far[p - 1, 0], far[p - 1, 1]
        p -= 1
    if p < len(far):
        far[p, 0] = distance
        far[p, 1] = row
