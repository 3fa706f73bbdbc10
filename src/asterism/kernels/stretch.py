"""Steps of EM that follow each other in compiled code, while each is as plain as can be.

    mean = sum w r x / N      variance = sum w r (x - mean)^2 / N      pi = N / sum N

What is not plain is left to who called, with the sums it takes: a step that led down, a group with next to no rows or
no spread, means so far away that products would lose digits. After a step that won too little, or the last, a look at
the rows may follow that tells their labels. What follows from a model here is to the bit what follows from it there
(``families.gaussian``, ``kernels.wide_visits``), so nobody can tell how many steps were taken at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.normals import largest_growth, largest_square, log_heights
from asterism.kernels.shares import HARD
from asterism.kernels.wide import next_groups, write_lines

REFERENCE, SIZE, LEAST = 0, 1, 2  # lines of ``fixed``: see ``normals.single_size``, ``wide.next_groups``
SEEN, TOL, FALL, SHARE, NEAR, GROWTH, TOO_MUCH, LAST_STEP = range(8)  # places of the limits
HEIGHT, GAIN = 0, 1  # what is told of a pass
STOP, ONE_STEP, ONE_LOOK = 0, 1, 2  # what comes next

Floats = NDArray[Any]  # float32 or float64
Vector = NDArray[np.float64]


@kernel
def go_further(
    number: int,  # of the pass that ended
    sums: Vector,  # in: of all blocks
    shape: NDArray[np.int64],  # in, and the following two: see ``claims.wide_blocks``
    mode: int,
    fixed: Vector,  # (3, d) in
    limits: Vector,  # (8,) in: height before the first pass, the gain to go on for, the relative fall that rounding
    # makes; the share of all mass, the reach of means and the growth that are fine, or the growth that is not; the
    # number of the last step if a look at the rows is wanted after it, or -1
    shares: Vector,  # (2, k) pi of the pass and of the next one, in turns
    offsets: Vector,  # (2, k, d) means from the reference, likewise
    variances: Vector,  # (2, k, d) likewise
    lines: Floats,  # out: for the next pass
    told: Vector,  # (passes, 2) out: log-likelihood, and what it has won a unit of weight
) -> int:
    """Make the model of the next pass, and tell what that is for."""
    here, there = number % 2, (number + 1) % 2
    k, d = offsets.shape[1:]
    height, before = sums[1 if mode == HARD else 0], limits[SEEN] if number == 0 else told[number - 1, HEIGHT]
    mass, total = sums[2 : 2 + k], 0.0
    for c in range(k):
        total += mass[c]
    gain = (height - before) / total
    told[number, HEIGHT], told[number, GAIN] = height, gain
    if not (math.isfinite(height) and height >= before - limits[FALL] * abs(before)):
        return STOP
    ends = not gain > limits[TOL] or number == limits[LAST_STEP]
    if ends and limits[LAST_STEP] < 0.0:
        return STOP
    middle = 2 + k + shape[1] * shape[2]
    moments, halves = sums[2 + k : middle].reshape((shape[1], shape[2])), sums[middle:]
    means = np.empty((k, d))
    see_from_zero(offsets[here], fixed[REFERENCE], means)
    for c in range(k):
        shares[there, c] = mass[c] / total
        for j in range(d):
            offsets[there, c, j] = offsets[here, c, j]
    if not next_groups(
        mass, moments, halves, means, fixed[LEAST], limits[SHARE], offsets[there], variances[there]
    ):
        return STOP
    factors = np.empty((k, 1 if len(halves) else d))
    for c in range(k):
        for j in range(factors.shape[1]):
            factors[c, j] = 1.0 / math.sqrt(variances[there, c, j])
    growth = math.sqrt(largest_growth(offsets[there], factors, fixed[SIZE]))
    see_from_zero(offsets[there], fixed[REFERENCE], means)
    if not (growth <= limits[GROWTH] and growth > limits[TOO_MUCH]):
        return STOP
    if not math.sqrt(largest_square(means, factors)) <= limits[NEAR]:
        return STOP
    constants = log_heights(factors, d)
    for c in range(k):
        constants[c] = math.log(shares[there, c]) + constants[c]
    write_lines(means, factors, constants, lines)
    return ONE_LOOK if ends else ONE_STEP


@kernel
def see_from_zero(offsets: Vector, reference: Vector, means: Vector) -> None:
    """(k, d) means from 0."""
    k, d = offsets.shape
    for c in range(k):
        for j in range(d):
            means[c, j] = reference[j] + offsets[c, j]
