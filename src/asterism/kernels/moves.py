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
from asterism.kernels.transfer import LANES, change, enter

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


def pitch_of(width: int) -> int:
    """Columns of a table of sums: whole vectors, so that no two lines of it share one."""
    return -(-width // LANES) * LANES


@exact_kernel
def move_rows(
    rows: Floats,  # (n, d) in, NaN = missing
    weights: NDArray[np.float64],  # (n,) in
    reference: NDArray[np.float64],  # (d,) in
    centers: NDArray[np.float64],  # (k, d) in, from the reference
    moved: NDArray[np.int32],  # (m, 2) in: rows that changed their group; which they left, -1: none
    labels: NDArray[np.int32],  # (n,) in: groups now
    grid: NDArray[np.float64],  # (2, d + c) in: B and b of the columns' terms and of their weights
    missing: bool,  # whether every column has weights of its own
    start: int,  # global number of the first row
    table: NDArray[np.float64],  # (k, 2, d + c or more, see ``pitch_of``) changed: high parts, low parts
    far: NDArray[
        np.float64
    ],  # (m, 2) out: squared distance and number of the farthest new rows, farthest first
) -> float:
    """Take rows out of old groups and put them into new ones; returns by how much sum w ||x - c||^2 fell."""
    d = rows.shape[1]
    count = -1 if missing else d  # the column of the row's weight
    gain = 0.0
    for m in range(len(moved)):
        i, a = moved[m, 0], moved[m, 1]
        w, b = weights[i], labels[i]
        if w == 0.0:
            continue
        if a >= 0:
            gain += w * change(rows[i], w, reference, centers, a, b, grid, table, count)
        else:
            distance = enter(rows[i], w, reference, centers, a, b, grid, table, count)
            gain -= w * distance
            if distance >= far[-1, 0]:
                put_far(far, distance, start + i)
        if missing:
            weigh_cells(rows[i], w, grid[:, d:], 1.0, table[b, :, d:])
            if a >= 0:
                weigh_cells(rows[i], w, grid[:, d:], -1.0, table[a, :, d:])
    return gain


@exact_kernel
def weigh_cells(
    row: Floats,  # (d,) in
    w: float,
    grid: NDArray[np.float64],  # (2, d) in: of the weights
    sign: float,
    sums: NDArray[np.float64],  # (2, d or more) changed: of a group
) -> None:
    """Add (or take away) the weight of a row where it has a cell."""
    for j in range(len(row)):
        v = w if row[j] == row[j] else 0.0
        high = (v + grid[0, j]) - grid[0, j]
        sums[0, j] += sign * high
        sums[1, j] += sign * (((v - high) + grid[1, j]) - grid[1, j])


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
