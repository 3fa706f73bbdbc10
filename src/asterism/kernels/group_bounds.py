"""Bounds on the distances of rows from groups of centres, which save looking at most of them.

Centres are taken in panels of sixteen (``kernels.panels``), and panels in groups: of one, unless memory is short. Of
every row and group a bound is kept: no centre of the group, save the row's own, is nearer. A centre that goes a
distance v comes nearer by v at the most, so

    a group needs no look while     bound - (what its fastest centre has gone since)  >  reach

where reach is the distance of the row from its own centre at the most; from the nearest of its own group, once that
has been looked at, which comes first. A row that needs no look at any group is not even read.

What centres have gone adds up from step to step, and bounds are noted together with what it was then: bounds that
hold are not touched.

References
----------
1. Ding, Zhao, Shen, Musuvathi, Mytkowicz (2015), Yinyang k-means. ICML.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.decide import UNIT

TALL = 512  # rows taken together
CELLS = 1 << 16  # of theirs, at the most: they stay in the second cache
SLACK = np.float32(2.0**-22)  # float32 rounds by less, a few times in a row
DOWN, UP = np.float32(1.0) - SLACK, np.float32(1.0) + SLACK


class Chunk(NamedTuple):
    """What is known of the rows that are taken together; row i of the chunk is entry i everywhere."""

    lines: NDArray[np.float32]  # (TALL or fewer, columns) y
    wholes: NDArray[np.int16]  # (TALL or fewer, columns) the same in whole numbers; or none
    units: NDArray[np.float32]  # (TALL,) what a product of theirs is worth
    norms: NDArray[np.float32]  # (2, TALL) ||y||^2 of the cells, and with the masks
    error: NDArray[np.float32]  # (TALL,) what whole numbers may do to a score
    slip: NDArray[np.float32]  # (TALL,) what rounding may do to a squared distance
    reach: NDArray[np.float32]  # (TALL,) the nearest centre is not farther away
    own: NDArray[np.int32]  # (TALL,) group of the row's centre before; -1: none
    near: NDArray[np.int32]  # (TALL,) 1 where a group is within reach, else 0
    found: NDArray[np.float32]  # (2, groups, TALL) least and second least score in a group; infinite: no look
    who: NDArray[np.int32]  # (groups, TALL) which of the group had it
    best: NDArray[np.float32]  # (2, 2, TALL) least and second least of all, twice: read one, write the other
    winner: NDArray[np.int32]  # (2, TALL) and the group it is in
    name: NDArray[np.int32]  # (TALL,) the nearest centre


# --- which rows, which groups -----------------------------------------------------------------------------------


@kernel
def wake(
    chunk: Chunk,  # own, reach out
    labels: NDArray[np.int32],  # (size,) in
    bounds: NDArray[np.float32],  # in: lines from the chunk's first row on
    pitch: int,
    own_gone: NDArray[np.float32],  # (k,) in
    gone: NDArray[np.float32],  # (groups,) in
    centers: int,  # of a group
    pick: NDArray[np.int64],  # (TALL,) out
) -> int:
    """List the rows of which some group may be within reach, and those without a label; returns how many."""
    size, reach = len(labels), chunk.reach
    for i in range(size):
        new, label = labels[i] < 0, max(labels[i], 0)
        went, near = own_gone[label], bounds[i]
        chunk.own[i] = -1 if new else label // centers
        reach[i] = np.float32(np.inf) if new else (near + went) + (abs(near) + went) * SLACK
    any_near = chunk.near
    any_near[:] = 0
    for g in range(len(gone)):
        bound, went = bounds[(1 + g) * pitch :][:size], gone[g]
        for i in range(size):
            far = bound[i] > (reach[i] + went) * UP
            any_near[i] |= np.int32(0) if far else np.int32(1)
    t = 0
    for i in range(size):
        pick[t] = i
        t += any_near[i]
    return t


@kernel
def by_group(
    own: NDArray[np.int32],  # (TALL,) in
    pick: NDArray[np.int64],  # (t,) in
    start: NDArray[np.int64],  # (groups + 3,) out: where the rows of a group begin
    order: NDArray[np.int64],  # (at least t,) out
) -> None:
    """Rows in the order of their groups, those without one last."""
    none = len(start) - 3
    start[:] = 0
    for i in pick:
        start[(own[i] if own[i] >= 0 else none) + 2] += 1
    for g in range(none + 1):
        start[g + 2] += start[g + 1]
    for i in pick:
        g = (own[i] if own[i] >= 0 else none) + 1
        order[start[g]] = i
        start[g] += 1


@kernel
def within_reach(
    chunk: Chunk,
    bound: NDArray[np.float32],  # (size,) in: of group g
    gone: Any,
    g: int,
    listed: NDArray[np.int64],  # (at least size,) out
) -> int:
    """List the rows that group g is within reach of, save those of the group itself; returns how many.

    Without a branch: every row is written down, over the one before if that needs no look.
    """
    reach, own, near, name = chunk.reach, chunk.own, chunk.near, np.int32(g)
    for i in range(len(bound)):
        far = bound[i] > (reach[i] + gone) * UP
        near[i] = np.int32(0) if far | (own[i] == name) else np.int32(1)
    m = 0
    for i in range(len(bound)):
        listed[m] = i
        m += near[i]
    return m


# --- distances from scores, never on the wrong side -------------------------------------------------------------


@kernel
def rounding(chunk: Chunk, margin: Any, terms: int) -> None:
    """What rounding may do to score + ||y||^2, a squared distance."""
    share = np.float32(2.0 * (terms + 8) * UNIT)
    for i in range(TALL):
        square = chunk.norms[1, i]
        chunk.slip[i] = (np.float32(math.sqrt(margin * square)) + share * square) + chunk.error[i]


@kernel
def root(square: Any) -> Any:
    """Its square root; 0 for what is not positive, or not a number."""
    return np.float32(math.sqrt(square if square > np.float32(0.0) else np.float32(0.0)))


@kernel
def measure_reach(chunk: Chunk, pick: NDArray[np.int64], size: int) -> None:
    """How far away the nearest centre is at the most, by the own group; rows that sleep reach nobody."""
    for i in range(size):
        chunk.reach[i] = -np.float32(np.inf)
    for i in pick:
        g = chunk.own[i]
        distance = root(chunk.found[0, max(g, 0), i] + chunk.norms[0, i] + chunk.slip[i]) * UP
        chunk.reach[i] = distance if g >= 0 else np.float32(np.inf)


@kernel
def note_bounds(
    chunk: Chunk,
    side: int,
    pick: NDArray[np.int64],  # (t,) in
    bounds: NDArray[np.float32],  # lines from the chunk's first row on, changed
    pitch: int,
    own_gone: NDArray[np.float32],  # (k,) in
    gone: NDArray[np.float32],  # (groups,) in
    centers: int,  # of a group
    size: int,
) -> None:
    """New bounds of what was looked at: of a group its nearest centre, of the own group the second nearest."""
    norms, slip, inf = chunk.norms[0], chunk.slip, np.float32(np.inf)
    new = np.empty(TALL, np.float32)
    for g in range(len(gone)):
        bound, went, low = bounds[(1 + g) * pitch :][:size], gone[g], chunk.found[0, g]
        for i in range(size):
            old, score = bound[i], low[i]
            noted = (root(score + norms[i] - slip[i]) + went) * DOWN
            new[i] = noted if score < inf else old
        for i in range(size):
            bound[i] = new[i]
    for i in pick:
        name, g = chunk.name[i], chunk.winner[side, i]
        own = name // centers
        second = root(chunk.found[1, own, i] + norms[i] - slip[i]) if own == g else np.float32(0.0)
        bounds[(1 + own) * pitch + i] = (second + gone[own]) * DOWN
        near, went = root(chunk.best[side, 0, i] + norms[i] + slip[i]) * UP, own_gone[name]
        bounds[i] = (near - went) + (near + went) * SLACK
