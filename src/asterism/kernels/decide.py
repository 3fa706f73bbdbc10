"""Who is nearest, by scores in float32: accepted where the lead is beyond rounding, settled in float64 where not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel, lane_sum_kernel
from asterism.kernels.scores import TILE

UNIT = 2.0**-24  # rounding of float32

Floats = NDArray[Any]  # float32 or float64


@kernel
def best_two(
    scores: NDArray[np.float32],  # (at least k * TILE,) in
    k: int,
    pairs: NDArray[np.float32],  # (2, 2, TILE) out: [side, best | second, row]
    names: NDArray[np.int32],  # (2, TILE) out: [side, row]
) -> int:
    """The least and second least score of each row, two centres at a time; returns the side they are on.

    Each round reads one side and writes the other: in place, the compiler would make masked stores of it,
    which cost more than all the rest.
    """
    inf = np.float32(np.inf)
    pairs[0] = inf
    names[0] = 0
    side = 0
    for half in range((k + 1) // 2):
        c = 2 * half
        p = c * TILE
        q = p if c + 1 == k else p + TILE
        none = inf if c + 1 == k else np.float32(0.0)
        name0, name1 = np.int32(c), np.int32(c + 1)
        best, second, name = pairs[side, 0], pairs[side, 1], names[side]
        side = 1 - side
        new_best, new_second, new_name = pairs[side, 0], pairs[side, 1], names[side]
        for i in range(TILE):
            a, b = scores[p + i], scores[q + i] + none
            old, old_second, old_name = (
                best[i],
                second[i],
                name[i],
            )  # loads inside a branch would be masked too
            first = a <= b
            low = a if first else b
            high = b if first else a
            who = name0 if first else name1
            wins = low < old
            loser = old if wins else low
            high = high if high < loser else loser
            new_second[i] = high if high < old_second else old_second
            new_best[i] = low if wins else old
            new_name[i] = who if wins else old_name
    return side


@kernel
def error_margin(slopes: NDArray[np.float32]) -> Any:
    """Squared margin by which a score must lead, per unit of ||y||^2.

    Rounding y and slopes to float32 and a sum of p products in any order change a score by at most
    (p + 2) u ||slopes|| ||y|| to first order; two scores differ by twice that. The rest is for the margin itself.
    """
    p = slopes.shape[1]
    most = 0.0
    for c in range(len(slopes)):
        norm = 0.0
        for j in range(p):
            norm += np.float64(slopes[c, j]) * slopes[c, j]
        most = max(most, norm)
    margin = 2.0 * (p + 8) * UNIT
    return np.float32(margin * margin * most)


@kernel
def any_close(
    pair: NDArray[np.float32],  # (2, TILE) in: best and second score
    norms: NDArray[np.float32],  # (TILE,) in
    margin: Any,  # squared, per unit of norms
    t: int,
) -> bool:
    """Whether any of the first t rows is a close call: mostly not, and this is quick."""
    count = 0
    for i in range(t):
        lead = pair[1, i] - pair[0, i]
        count += 0 if lead * lead > margin * norms[i] else 1
    return count > 0


@lane_sum_kernel
def settle(
    rows: Floats,  # (n, d) in
    pick: NDArray[np.int64],  # (t,) in: which of them
    reference: NDArray[np.float64],  # (d,) in
    centers: NDArray[np.float64],  # (k, d) in
    scores: NDArray[np.float32],  # (at least k * TILE,) in
    pair: NDArray[np.float32],  # (2, TILE) in: best and second score
    norms: NDArray[np.float32],  # (TILE,) in
    margin: Any,  # squared, per unit of norms
    name: NDArray[np.int32],  # (TILE,) changed where the lead was too small
) -> None:
    """Close calls by sum (x - c)^2 in float64 over the centres within the margin; the first of equals wins."""
    for i in range(len(pick)):
        lead = pair[1, i] - pair[0, i]
        if lead * lead > margin * norms[i]:
            continue
        row = rows[pick[i]]
        limit = pair[0, i] + 2.0 * math.sqrt(margin * norms[i])
        least = np.inf
        for c in range(len(centers)):
            if scores[c * TILE + i] > limit:
                continue
            distance = 0.0
            for j in range(len(row)):
                y = (np.float64(row[j]) - reference[j]) - centers[c, j]
                distance += y * y if y == y else 0.0
            if distance < least:
                least = distance
                name[i] = c


@kernel
def measure_leads(
    pair: NDArray[np.float32],  # (2, TILE) in: best and second score; out: the lead in the first line
    norms: NDArray[np.float32],  # (2, TILE) in
    margin: Any,  # squared, per unit of norms
    width: int,
) -> None:
    """By how much the second nearest centre is farther away than the nearest, at the least.

    Squared distances are scores + ||y||^2; ``slip`` bounds what rounding did to both.
    """
    zero = np.float32(0.0)
    for i in range(TILE):
        slip = (
            np.float32(math.sqrt(margin * norms[1, i])) + np.float32(2.0 * (width + 8) * UNIT) * norms[1, i]
        )
        near = pair[0, i] + norms[0, i] + slip
        next_near = pair[1, i] + norms[0, i] - slip
        near = near if near > zero else zero
        next_near = next_near if next_near > zero else zero
        pair[0, i] = np.float32(math.sqrt(next_near)) - np.float32(math.sqrt(near))
