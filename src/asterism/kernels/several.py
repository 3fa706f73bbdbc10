"""Many mixtures of one kind over the rows of a block: their components stand one below the other.

A sweep has dozens of mixtures, and blocks of it are small: calling the kernels of one mixture from here instead of
from Python halves the time. Mixture ``i`` has the components ``starts[i]`` up to ``starts[i + 1]``. The type of what
describes components is that of the arithmetic; sums are float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.diagonal import diagonal_block
from asterism.kernels.full import full_block
from asterism.kernels.spherical import spherical_block
from asterism.kernels.tied import tied_block

Floats = NDArray[Any]  # float32 or float64
Vector = NDArray[np.float64]
Index = NDArray[np.int64]


@kernel
def full_mixtures(
    rows: Floats,  # (n, d) in
    weights: Vector,  # (n,) in
    origin: Vector,  # (2, d) in: the reference, and zeros
    starts: Index,  # (m + 1,) in
    offsets: Floats,  # (K, d) in
    factors: Floats,  # (K, padded d, padded d) in
    constants: Floats,  # (K,) in
    mass: Vector,  # (K,) added to
    sums: Vector,  # (K, d) added to
    scatters: Vector,  # (K, padded d, padded d) added to: lower triangles
    totals: Vector,  # (m, 2) added to
    mode: int,
) -> None:
    """``full_block`` of every mixture."""
    draws = np.empty(0)
    for i in range(len(totals)):
        a, b = starts[i], starts[i + 1]
        full_block(
            rows, weights, origin, offsets[a:b], factors[a:b], constants[a:b], mode, draws,
            mass[a:b], sums[a:b], scatters[a:b], totals[i],
        )  # fmt: skip


@kernel
def tied_mixtures(
    rows: Floats,  # (n, d) in
    weights: Vector,  # (n,) in
    origins: Vector,  # (m, 2, d) in: the reference, and g from there
    starts: Index,  # (m + 1,) in
    factors: Floats,  # (m, padded d, padded d) in
    whitened: Floats,  # (K, padded d) in: W (mean - g)
    heights: Floats,  # (K,) in: constant - ||W (mean - g)||^2 / 2
    mass: Vector,  # (K,) added to
    sums: Vector,  # (K, padded d) added to: sum w r (x - g)
    scatters: Vector,  # (m, padded d, padded d) added to: lower triangles
    totals: Vector,  # (m, 2) added to
    mode: int,
) -> None:
    """``tied_block`` of every mixture; it wants an even number of groups."""
    draws, width = np.empty(0), whitened.shape[1]
    for i in range(len(totals)):
        a, b = starts[i], starts[i + 1]
        k = b - a
        kind = factors.dtype
        centers, lines = np.zeros((k + k % 2, width), kind), np.ones((2, k), kind)
        mine = np.zeros((k + k % 2, width))
        for c in range(k):
            lines[1, c] = heights[a + c]
            for j in range(width):
                centers[c, j] = whitened[a + c, j]
        tied_block(
            rows, weights, origins[i], factors[i], centers, lines, mode, draws,
            mass[a:b], mine, scatters[i], totals[i],
        )  # fmt: skip
        for c in range(k):
            for j in range(width):
                sums[a + c, j] += mine[c, j]


@kernel
def diagonal_mixtures(
    rows: Floats,  # (n, d) in
    weights: Vector,  # (n,) in
    origins: Vector,  # (m, 2, d) in: the reference, and g from there
    starts: Index,  # (m + 1,) in
    scales: Floats,  # (K, padded d) in: s
    shifts: Floats,  # (K, padded d) in: s (mean - g)
    constants: Floats,  # (K,) in
    near: NDArray[np.bool_],  # (m,) in: whether moments are about g
    mass: Vector,  # (K,) added to
    moments: Vector,  # (2, K, padded d) added to
    totals: Vector,  # (m, 2) added to
    mode: int,
) -> None:
    """``diagonal_block`` of every mixture; it wants an even number of groups."""
    draws, width = np.empty(0), scales.shape[1]
    for i in range(len(totals)):
        a, b = starts[i], starts[i + 1]
        k = b - a
        lines, mine = np.zeros((2, k, width), scales.dtype), np.zeros((2, k + k % 2, width))
        for c in range(k):
            for j in range(width):
                lines[0, c, j], lines[1, c, j] = scales[a + c, j], shifts[a + c, j]
        diagonal_block(
            rows, weights, origins[i], lines, constants[a:b], mode, draws, near[i], mass[a:b], mine, totals[i]
        )
        for c in range(k):
            for j in range(width):
                moments[0, a + c, j] += mine[0, c, j]
                moments[1, a + c, j] += mine[1, c, j]


@kernel
def spherical_mixtures(
    rows: Floats,  # (n, d) in
    weights: Vector,  # (n,) in
    origins: Vector,  # (m, 2, d) in: the reference, and g from there
    starts: Index,  # (m + 1,) in
    apart: Floats,  # (K, padded d) in: mean - g
    precisions: Floats,  # (K,) in: s^2
    heights: Floats,  # (K,) in: constant - s^2 ||mean - g||^2 / 2
    mass: Vector,  # (K,) added to
    sums: Vector,  # (K, padded d) added to: sum w r (x - g)
    squares: Vector,  # (K,) added to: sum w r ||x - g||^2 / 2
    totals: Vector,  # (m, 2) added to
    mode: int,
) -> None:
    """``spherical_block`` of every mixture; it wants an even number of groups."""
    draws, width = np.empty(0), apart.shape[1]
    for i in range(len(totals)):
        a, b = starts[i], starts[i + 1]
        k = b - a
        kind = apart.dtype
        centers, lines = np.zeros((k + k % 2, width), kind), np.empty((2, k), kind)
        mine = np.zeros((k + k % 2, width))
        for c in range(k):
            lines[0, c], lines[1, c] = precisions[a + c], heights[a + c]
            for j in range(width):
                centers[c, j] = apart[a + c, j]
        spherical_block(
            rows, weights, origins[i], centers, lines, mode, draws, mass[a:b], mine, squares[a:b], totals[i]
        )
        for c in range(k):
            for j in range(width):
                sums[a + c, j] += mine[c, j]
