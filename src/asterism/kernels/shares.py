"""Scores into responsibilities, a tile at a time.

    log sum_c exp(s_c)  =  best + log sum_c exp(s_c - best)          r_c = exp(s_c - best) / sum

A group whose score is 40 nats or more below the best of a row (25 in float32) gets no share of it: it would be below
2^-57 (2^-36). All such groups together change the sum of a row by less than k times that, half a rounding for any k
up to 16 (4000 in float32), and no total by more than n times that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from asterism.kernels.compiled import exact_kernel, inlined, kernel
from asterism.kernels.exponential import lane_log, lane_share
from asterism.kernels.lanes import TILE
from asterism.kernels.sharers import BEST, SCALE, TOGETHER, TOTAL, settler, share_rows, tile_totals
from asterism.kernels.vectors import BYTES, FOUR

# A row to all groups by their shares; to the likeliest; to one drawn by the shares; to none: only its label is told.
SOFT, HARD, DRAW, LOOK = 0, 1, 2, 3
# What rounding may do to the difference of two scores: SLACK (BESIDE + |score|). BESIDE is the largest square of what
# is subtracted, ``visits.NEAR`` squared; the factor leaves a sum of hundreds of columns ten standard errors.
SLACK64, SLACK32 = 2.0**-47, np.float32(2.0**-18)
BESIDE64, BESIDE32 = 1e4, np.float32(64.0)

Floats = NDArray[Any]  # float32 or float64


def slack_of(score: Any) -> Any:
    """What rounding may do to the difference of two scores, in compiled code only."""
    single = isinstance(score, np.float32)
    return SLACK32 * (BESIDE32 + abs(score)) if single else SLACK64 * (BESIDE64 + abs(score))


@overload(slack_of, strict=False, inline="always")
def _slack_of(score: Any) -> Any:
    if score == types.float32:
        return lambda score: SLACK32 * (BESIDE32 + abs(score))
    return lambda score: SLACK64 * (BESIDE64 + abs(score))


_settle_four, _settle_one = settler(FOUR), settler(1)


@inlined
def share_out(
    scores: Floats,  # (k or more, m or more) in: log pi p; out: what times line SCALE is w r
    k: int,
    w: Floats,  # (m,) in: of as many rows as there are, TILE at most, in pairs of vectors
    draws: NDArray[np.float64],  # (m,) in: numbers of [0, 1), where groups are drawn; out: labels, for LOOK
    mode: int,
    work: Floats,  # (4, m): lines BEST, SCALE and TOTAL out
    totals: NDArray[np.float64],  # (2,) added to: sum w log sum exp(s), sum w max s
) -> None:
    """Scores into shares; ``settle`` takes them from there."""
    for row in range(0, len(w), TOGETHER * BYTES // scores.itemsize):
        share_rows(scores, k, row, w, work)
    add_totals(work[BEST], work[TOTAL], w, totals)
    if mode == LOOK:
        note_labels(scores, k, work, draws)
    elif mode != SOFT:
        pick_one(scores, k, work[TOTAL], draws, mode)
        work[SCALE] = w


@inlined
def settle(
    shares: Floats,  # (k or more, m or more) in: as ``share_out`` leaves them; out: w r
    scales: Floats,  # (m,) in: what it left in line SCALE
    factors: Floats,  # (m or more,) in
    mass: NDArray[np.float64],  # (k,) added to: sum w r
    sums: NDArray[np.float64],  # (k,) added to: sum w r factor
) -> None:
    """Responsibilities times weights, in place, and what they add up to."""
    in_fours = len(mass) // FOUR * FOUR
    for c in range(0, in_fours, FOUR):
        _settle_four(shares, c, scales, factors, mass, sums)
    for c in range(in_fours, len(mass)):
        _settle_one(shares, c, scales, factors, mass, sums)


@kernel
def note_labels(
    scores: Floats,  # (k or more, m or more) in: shares times total, 1 for the best
    k: int,
    work: Floats,  # (4, m): line BEST has its score, the others are free
    labels: NDArray[
        np.float64
    ],  # (m,) out: the best group c; -1 - c where rounding may have made it the best
) -> None:
    """Labels without a branch: where two groups are both the best their numbers add up, but then it is too close."""
    best, label, close, limit = work[BEST], work[1], work[2], work[3]
    one, zero = scores.dtype.type(1), scores.dtype.type(0)
    for i in range(len(labels)):
        limit[i] = one - slack_of(best[i])
        close[i], label[i] = zero, zero
    for c in range(k):
        line, number = scores[c], scores.dtype.type(c)
        for i in range(len(labels)):
            e = line[i]
            close[i] += one if e > limit[i] else zero
            label[i] += number if e == one else zero
    for i in range(len(labels)):
        labels[i] = label[i] if close[i] < 1.5 else -1.0 - label[i]


@kernel
def read_notes(
    notes: NDArray[np.float64],  # (n,) in: as a pass that only looks leaves them
    weights: NDArray[np.float64],  # (n,) in; or none: all 1
    labels: NDArray[
        np.int32
    ],  # (n,) out: -1 where a row must be asked again, as rounding may have decided or it is absent
    mass: NDArray[np.float64],  # (k,) added to, of rows that have a label
) -> int:
    """Labels from notes; how many are missing."""
    missing, parts = 0, np.zeros((FOUR, len(mass)))  # in turns: neighbours often have one label
    for i in range(len(notes)):
        w = weights[i] if len(weights) else 1.0
        if notes[i] < 0.0 or w == 0.0:
            labels[i] = -1
            missing += 1
        else:
            labels[i] = np.int32(notes[i])
            parts[i % FOUR, labels[i]] += w
    for c in range(len(mass)):
        mass[c] += (parts[0, c] + parts[1, c]) + (parts[2, c] + parts[3, c])
    return missing


@inlined
def take_notes(notes: NDArray[np.float64], first: int, here: NDArray[np.float64]) -> None:
    """What stands beside the rows of a tile, if anything does."""
    for i in range(min(len(here), len(notes) - first)):
        here[i] = notes[first + i]


@kernel
def bring_notes(here: NDArray[np.float64], first: int, notes: NDArray[np.float64]) -> None:
    """Put beside the rows what a tile found."""
    for i in range(min(len(here), len(notes) - first)):
        notes[first + i] = here[i]


@kernel
def best_scores(scores: Floats, k: int, work: Floats) -> int:
    """The line of ``work`` with the largest score of each row: read one line, write the other."""
    work[0] = -np.inf
    side = 0
    for c in range(k):
        p = c * TILE
        old, new = work[side], work[1 - side]
        for i in range(TILE):
            a, b = old[i], scores[p + i]
            new[i] = b if b > a else a
        side = 1 - side
    return side


@exact_kernel
def add_totals(best: Floats, total: Floats, w: Floats, totals: NDArray[np.float64]) -> None:
    """The log-likelihood of a tile. Where all weights are 1, logarithms are taken of products."""
    hard, others, a, b, c, d = tile_totals(best, total, w)
    soft = add_logs(total, w) if others > 0.0 else (lane_log(a) + lane_log(b)) + (lane_log(c) + lane_log(d))
    totals[0] += hard + soft
    totals[1] += hard


@exact_kernel
def add_logs(total: Floats, w: Floats) -> float:
    """sum w log of all numbers of a tile."""
    soft = 0.0
    for i in range(len(w)):
        soft += np.float64(w[i]) * lane_log(np.float64(total[i]))
    return soft


@kernel
def pick_one(
    scores: Floats,  # (k or more, m or more) in: shares times total; out: 1 for the group picked, else 0
    k: int,
    total: Floats,
    draws: NDArray[np.float64],
    mode: int,
) -> None:
    """All of a row to one group: the first of the likeliest, or where the shares first exceed the number drawn."""
    for i in range(len(draws)):
        pick, most, sum_so_far = 0, -1.0, 0.0
        goal = draws[i] * total[i] if mode == DRAW else 0.0
        for c in range(k):
            e = np.float64(scores[c, i])
            if mode == HARD and e > most:
                pick, most = c, e
            if mode == DRAW and e > 0.0 and sum_so_far <= goal:
                pick = c
            sum_so_far += e
            scores[c, i] = 0.0
        scores[pick, i] = 1.0


@kernel
def pick_rows(
    r: Floats,  # (TILE,) in: w r of one group
    pick: NDArray[np.int64],  # (TILE + 1,) out: the rows with a share
) -> int:
    """How many rows have a share in a group, and which."""
    m = 0
    for i in range(TILE):
        pick[m] = i
        m += 1 if r[i] > 0 else 0
    return m


@kernel
def sum_scores(
    scores: NDArray[np.float64],  # (n, k) in: log pi p
    heights: NDArray[np.float64],  # (n,) out: log sum_c exp(s_c); -inf where all are
    tops: NDArray[np.float64],  # (n,) out: the largest
    labels: NDArray[np.int32],  # (n,) out: whose it is, the first of equals
) -> None:
    """What a row of scores says."""
    n, k = scores.shape
    lanes, work = np.zeros(k * TILE), np.zeros((4, TILE))
    for number in range(-(-n // TILE)):
        first = number * TILE
        t = min(TILE, n - first)
        for i in range(t):
            top, label = -np.inf, 0
            for c in range(k):
                s = scores[first + i, c]
                lanes[c * TILE + i] = s
                label = c if s > top else label
                top = s if s > top else top
            labels[first + i] = label
        best = work[best_scores(lanes, k, work)]
        total, safe = work[2], work[3]
        for i in range(TILE):
            b = best[i]
            safe[i] = b if b > -np.inf else 0.0
        total[:] = 0.0
        for c in range(k):
            p = c * TILE
            for i in range(TILE):
                total[i] += lane_share(lanes[p + i] - safe[i])
        for i in range(TILE):
            total[i] = best[i] + lane_log(total[i] if total[i] > 0.0 else 1.0)
        for i in range(t):
            tops[first + i], heights[first + i] = best[i], total[i]
