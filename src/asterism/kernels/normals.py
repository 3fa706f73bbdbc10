"""k normal components, and the forms in which kernels take them.

The shape of ``factors`` names the structure:

    (k, d, d)  full: a matrix a group          (1, d, d)  tied: one for all groups
    (k, d)     diagonal: one number a column and group
    (k, 1)     spherical: one number a group
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel
from asterism.kernels.lanes import FEW

Floats = NDArray[Any]  # float32 or float64
Vector = NDArray[np.float64]
Kind = np.dtype[Any]  # of the arithmetic

DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)
MOST_SINGLE = 2.0**127  # float32 holds it
MOST_GROWTH = 64.0  # see ``Normals.precision``
LEAST_SQUARE, MOST_SQUARE = 2.0**-80, 2.0**80  # mean squares whose sums float32 holds, outliers included


@dataclass(frozen=True)
class Normals:
    """k normal components, and what kernels want of them: made at the first block, kept for all others."""

    offsets: Vector  # (k, d) means - reference
    factors: Vector  # (k, d, d), (1, d, d), (k, d) or (k, 1): W
    made: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Normals, (self.offsets, self.factors)  # what was made of them is made again elsewhere

    def once(self, name: Any, kind: Kind, make: Callable[[], Any]) -> Any:
        """What ``make`` makes; two threads may both make it, and it is the same."""
        key = name, kind
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def precision(self, rows: Kind, size: Vector) -> Kind:
        """float32 for float32 rows where that is enough, else float64; ``size`` (d,) is the mean of x_j^2, see below.

        Rounding x_j and mu_j to float32 moves W z by about 2^-24 sqrt(sum_j W_j^2 (x_j^2 + mu_j^2)) standard
        deviations (roundings have all signs); where this growth is at most ``MOST_GROWTH`` (columns not nearly
        dependent, means not many standard deviations apart), by less than 4e-6.
        """
        return SINGLE if rows == SINGLE and self.growth(size) <= MOST_GROWTH else DOUBLE

    @cached_property
    def heights(self) -> Vector:
        """(k,) log det W - d/2 log 2 pi."""
        k, d = self.offsets.shape
        f = self.factors
        if f.ndim == 2:
            return log_heights(f, d)
        logs = np.log(np.diagonal(f, axis1=1, axis2=2)).sum(axis=1) - 0.5 * d * math.log(2.0 * math.pi)
        return logs if len(logs) == k else np.repeat(logs, k)

    @cached_property
    def middle(self) -> Vector:
        """(d,) amid the means: any point there will do, and one that float32 holds too is exact everywhere."""
        mean = self.offsets.sum(axis=0) / len(self.offsets)
        if not np.abs(mean).max() < MOST_SINGLE:
            return np.asarray(mean)
        return np.asarray(mean.astype(np.float32), np.float64)

    @cached_property
    def apart(self) -> Vector:
        """(k, d) means from the middle."""
        return np.asarray(self.offsets - self.middle)

    @cached_property
    def whitened(self) -> Vector:
        """(k, d) W (mean - middle)."""
        return self.whiten(self.apart)

    @cached_property
    def reach(self) -> float:
        """Standard deviations from the middle to the farthest mean."""
        return self.farthest(self.apart)

    def farthest(self, apart: Vector) -> float:
        """Standard deviations from a point to the farthest mean, of (k, d) means from there."""
        if self.factors.ndim == 2:
            return math.sqrt(largest_square(apart, self.factors))
        whitened = self.whiten(apart)
        return math.sqrt(float(np.einsum("cj,cj->c", whitened, whitened).max()))

    def whiten(self, apart: Vector) -> Vector:
        """(k, d) W (mean - point), of (k, d) means from a point."""
        if self.factors.ndim == 2:
            return np.asarray(apart * self.factors)
        if len(self.factors) == 1:
            return np.asarray(apart @ self.factors[0].T)
        return np.asarray((self.factors @ apart[:, :, None])[:, :, 0])

    @cached_property
    def squared_factors(self) -> Vector:
        """Numbers of W squared, where there is no matrix."""
        return np.asarray(self.factors * self.factors)

    def growth(self, size: Vector) -> float:
        """sqrt(max sum_j W_j^2 (mu_j^2 + size_j)) over lines of W and groups."""
        if self.factors.ndim == 2:
            return math.sqrt(largest_growth(self.offsets, self.factors, size))
        squares = self.offsets * self.offsets + size
        matrices = self.factors * self.factors  # as large as all that is kept: not worth keeping
        if len(self.factors) == len(self.offsets):
            return math.sqrt(float((matrices @ squares[:, :, None]).max()))
        return math.sqrt(float((matrices[0] @ squares.T).max()))


def single_size(reference: Vector, size: Vector) -> Vector:
    """(d,) mean squares about the reference, for ``Normals.precision``; infinite where float32 cannot be used at all.

    Squares must be numbers that float32 has, in whatever unit the columns are, and so must the reference.
    """
    fits = size.min() >= LEAST_SQUARE and size.max() <= MOST_SQUARE and np.abs(reference).max() < MOST_SINGLE
    return (
        size if fits and np.array_equal(reference, reference.astype(SINGLE)) else np.full_like(size, np.inf)
    )


# --- numbers of round and diagonal groups ---------------------------------------------------------------------------
# Every step asks for them, between two passes: in compiled code, as a score of small array operations takes longer.


@kernel
def log_heights(factors: Vector, d: int) -> Vector:  # (k, d) or (k, 1) in
    """(k,) log det W - d/2 log 2 pi."""
    k, width = factors.shape
    out = np.empty(k)
    for c in range(k):
        total = 0.0
        for j in range(width):
            total += math.log(factors[c, j])
        out[c] = total * (d // width) - 0.5 * d * math.log(2.0 * math.pi)
    return out


@kernel
def largest_square(apart: Vector, factors: Vector) -> float:  # (k, d), and (k, d) or (k, 1) in
    """max_c ||W (mean - point)||^2; NaN where one is."""
    most, own = 0.0, factors.shape[1] > 1
    for c in range(len(apart)):
        total = 0.0
        for j in range(apart.shape[1]):
            y = apart[c, j] * factors[c, j if own else 0]
            total += y * y
        most = total if not total <= most else most
    return most


@kernel
def largest_growth(
    offsets: Vector, factors: Vector, size: Vector
) -> float:  # (k, d), (k, d) or (k, 1), (d,) in
    """max_cj W_cj^2 (mu_cj^2 + size_j); NaN where one is."""
    most, own = 0.0, factors.shape[1] > 1
    for c in range(len(offsets)):
        for j in range(offsets.shape[1]):
            s, mean = factors[c, j if own else 0], offsets[c, j]
            growth = s * s * (mean * mean + size[j])
            most = growth if not growth <= most else most
    return most


# --- forms --------------------------------------------------------------------------------------------------------


def at(reference: Vector) -> Vector:
    """(2, d) the reference as a point, and no step from it."""
    return np.stack([reference, np.zeros_like(reference)])


def near(reference: Vector, middle: Vector, kind: Kind) -> Floats:
    """(2, d) the reference as a point, and the step from it to the middle."""
    origin = np.empty((2, len(reference)), kind)
    origin[0], origin[1] = reference, middle
    return origin


def padded(factors: Vector, kind: Kind) -> Floats:
    """(k, d, d) matrices with lines and columns of zeros added, as kernels take them."""
    k, d, _ = factors.shape
    width = -(-d // FEW) * FEW
    if width == d:
        return np.ascontiguousarray(factors, kind)
    out = np.zeros((k, width, width), kind)
    out[:, :d, :d] = factors
    return out


def scaled(offsets: Vector, factors: Vector, kind: Kind) -> Floats:
    """(2, k, padded d) s and s mu."""
    k, d = offsets.shape
    lines = np.zeros((2, k, -(-d // FEW) * FEW), kind)
    lines[0, :, :d] = factors
    lines[1, :, :d] = factors * offsets
    return lines


def centers_of(points: Vector, precisions: Vector, kind: Kind) -> tuple[Floats, Vector]:
    """(even k, padded d) points, and (k,) -s^2 ||point||^2 / 2 of them as they were rounded."""
    k, d = points.shape
    lines = np.zeros((k + k % 2, -(-d // FEW) * FEW), kind)
    lines[:k, :d] = points
    squares = (lines[:k].astype(np.float64) ** 2).sum(axis=1)
    return lines, np.asarray(-0.5 * precisions * squares)


def one_each(normals: Normals) -> Normals:
    """The same components with a matrix, or a line of numbers, for every group."""
    k, d = normals.offsets.shape
    shape = (k, d) if normals.factors.ndim == 2 else (k, d, d)
    return Normals(normals.offsets, np.ascontiguousarray(np.broadcast_to(normals.factors, shape)))
