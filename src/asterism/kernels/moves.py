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
            far[p] = far[p - 1]
        p -= 1
    if p < len(far):
        far[p, 0] = distance
        far[p, 1] = row
