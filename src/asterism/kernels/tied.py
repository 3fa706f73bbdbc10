"""One covariance matrix for all groups: scores, sums and one scatter of the rows of a block.

Rows are whitened once, y = W (x - g), and then compared with whitened means: k d work a row instead of k d^2. As
shares of a row add up to 1, what all groups scatter is what all rows scatter, less what the means do:

    sum_c sum_i w r (x - mean_c)(x - mean_c)'  =  sum_i w (x - g)(x - g)'  -  sum_c N_c (mean_c - g)(mean_c - g)'

for any point g: one product instead of k.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.diagonal import score_diagonal
from asterism.kernels.lanes import (
    LINES,
    TILE,
    add_cross_products,
    add_products,
    load_tile,
    multiply_lines,
    scale_tile,
    unload_tile,
)
from asterism.kernels.sharers import SCALE
from asterism.kernels.shares import LOOK, bring_notes, settle, share_out, take_notes
from asterism.kernels.spherical import half_squares, score_spherical

Floats = NDArray[Any]  # float32 or float64


@kernel
def tied_block(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: the reference, and g from there
    factor: Floats,  # (padded d, padded d) in: W; its type is that of the arithmetic
    whitened: Floats,  # (even k, padded d) in: W (mean - g)
    lines: Floats,  # (2, k) in: ones, and constant - ||W (mean - g)||^2 / 2
    mode: int,
    notes: NDArray[np.float64],  # (n,) in or out, as ``mode`` has it; or none
    mass: NDArray[np.float64],  # (k,) added to
    sums: NDArray[np.float64],  # (even k, padded d) added to: sum w r (x - g)
    scatter: NDArray[np.float64],  # (padded d, padded d) added to: sum w (x - g)(x - g)', lower triangle
    totals: NDArray[np.float64],  # (2,) added to
) -> None:
    """Read once, tile by tile: whiten, score as round groups, share out, add up."""
    k, width = lines.shape[1], len(factor)
    tile = np.zeros(width * TILE, factor.dtype)
    y = np.zeros(width * TILE, factor.dtype)
    halves = np.zeros(TILE, factor.dtype)
    scores = np.zeros(len(sums) * TILE, factor.dtype)
    work = np.empty((4, TILE), factor.dtype)
    w, here, spare = np.zeros(TILE, factor.dtype), np.zeros(TILE), np.empty(k)
    for number in range(-(-len(rows) // TILE)):
        first = number * TILE
        load_tile(rows, weights, origin, first, tile, w)
        take_notes(notes, first, here)
        whiten(tile, factor, y)
        half_squares(y, halves)
        score_spherical(y, halves, whitened, lines, scores)
        share_out(scores.reshape((-1, TILE)), k, w, here, mode, work, totals)
        if mode == LOOK:
            bring_notes(here, first, notes)
            continue
        settle(scores.reshape((-1, TILE)), work[SCALE], w, mass, spare)
        add_cross_products(scores, tile, sums)
        scale_tile(tile, w, y)
        add_products(y, tile, TILE, scatter)


@kernel
def tied_scores(
    rows: Floats,  # (n, d) in
    weights: NDArray[np.float64],  # (n,) in
    origin: Floats,  # (2, d) in: the reference, and g from there
    factor: Floats,  # (padded d, padded d) in
    whitened: Floats,  # (k, padded d) in: W (mean - g)
    constants: Floats,  # (k,) in
    out: Floats,  # (n, k) out
) -> None:
    """constant - ||W (x - g) - W (mean - g)||^2 / 2 of every row and group."""
    k, width = len(constants), len(factor)
    tile = np.zeros(width * TILE, factor.dtype)
    y = np.zeros(width * TILE, factor.dtype)
    lines = np.ones((2, k, width), factor.dtype)  # as a diagonal mixture of whitened rows
    for c in range(k):
        for j in range(width):
            lines[1, c, j] = whitened[c, j]
    scores, w = np.empty(k * TILE, factor.dtype), np.zeros(TILE, factor.dtype)
    for number in range(-(-len(rows) // TILE)):
        load_tile(rows, weights, origin, number * TILE, tile, w)
        whiten(tile, factor, y)
        score_diagonal(y, lines, constants, scores)
        unload_tile(scores, number * TILE, out)


@kernel
def whiten(
    tile: Floats,  # (padded d * TILE,) in
    factor: Floats,  # (padded d, padded d) in: lower triangular
    y: Floats,  # (padded d * TILE,) out: W x
) -> None:
    """Some lines of W at a time, so that what they make stays in the first cache."""
    for some in range(-(-len(factor) // LINES)):
        first = some * LINES
        n = min(LINES, len(factor) - first)
        multiply_lines(tile, factor, first, n, y[first * TILE : (first + n) * TILE])


@kernel
def bring_one_home(
    mass: NDArray[np.float64],  # (k,) in
    sums: NDArray[np.float64],  # (k or more, d or more) in: sum w r x, x from one point
    lower: NDArray[np.float64],  # (d or more, d or more) in: the lower triangle of sum w x x'
    means: NDArray[np.float64],  # (k, d) in: the last ones, from there
    shifts: NDArray[np.float64],  # (k, d) out: the new ones from these; 0 where nobody has a share
    scatter: NDArray[np.float64],  # (d, d) out
) -> None:
    """The new means, and what rows scatter about them: all that they scatter, less what means do.

    sum w x x' - sum_c N_c mean_c mean_c',      N_c mean_c = sum w r x
    """
    k, d = means.shape
    new = np.zeros((k, d))
    for c in range(k):
        for j in range(d):
            new[c, j] = sums[c, j] / mass[c] if mass[c] > 0.0 else 0.0
            shifts[c, j] = new[c, j] - means[c, j] if mass[c] > 0.0 else 0.0
    for i in range(d):
        line = scatter[i]
        for j in range(i + 1):
            line[j] = lower[i, j]
        for c in range(k):
            first = sums[c, i] if mass[c] > 0.0 else 0.0
            for j in range(i + 1):
                line[j] -= first * new[c, j]
    for i in range(d):
        for j in range(i):
            scatter[j, i] = scatter[i, j]
