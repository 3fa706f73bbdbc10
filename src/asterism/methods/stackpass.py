"""The E-step of many normal mixtures of one form at once.

Their components stand one below the other (``kernels.several``). What a block gives are sums about points that all
blocks of a step share, so that sums of blocks just add up; ``centred`` brings the last of them about the new means:

    full   about the means the model has          tied, diag, round   about one point amid the means of a mixture

Where mixtures are only compared, float32 is enough and takes half the time: offsets from these points are taken in
float64 and rounded, so that it does not matter how far from 0 a table is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.families.assignment import present
from asterism.families.base import Array
from asterism.families.gaussian_statistic import Form

FEW = 4  # kernels take columns by fours
DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)
# standard deviations from the point amid the means; beyond, sums about it lose too many digits
NEAR = {DOUBLE: 100.0, SINGLE: 16.0}
LEAST_SQUARE, MOST_SQUARE = 2.0**-80, 2.0**80  # mean squares whose sums float32 holds, outliers included
MOST_GROWTH = 64.0  # of what rounding to float32 does to standard deviations, as in ``kernels.normals``

Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StackSums:
    """What the shares of some rows add up to, about the points of a ``Ready``."""

    mass: Vector  # (K,) N = sum w r
    first: Array  # (K, padded d) sum w r y
    second: Array  # sum w r y y': (K, D, D) full, (m, D, D) tied, (K, D) diag; round: (K,) half the sum over columns
    totals: Array  # (m, 2) sum w log p(x), and sum w max_c log pi_c p(x | c)

    @property
    def heights(self) -> Vector:
        """(m,) sum w log p(x)."""
        return self.totals[:, 0]

    def merge(self, other: StackSums) -> StackSums:
        """Sums add."""
        return StackSums(
            self.mass + other.mass,
            self.first + other.first,
            self.second + other.second,
            self.totals + other.totals,
        )


@dataclass(frozen=True)
class Centred:
    """Masses, means and scatters of all components: (K, d, d), tied (m, d, d), diag (K, d), round (K, 1)."""

    mass: Vector
    means: Array  # (K, d) offsets from the reference; 0 where there is no mass
    scatters: Array


class Ready:
    """Mixtures made ready to visit any block."""

    def __init__(
        self,
        form: Form,
        starts: Index,
        weights: Vector,
        means: Array,
        factors: Array,
        reference: Vector,
        size: Vector | None = None,
    ) -> None:
        """``factors``: W as kernels want it, (K, d, d), (m, d, d) for tied, (K, d), or (K, 1) for round ones.

        ``size``: (d,) mean squares about the reference. Who gives them is content with float32, where it holds them.
        """
        self.starts, self.means, self.d = starts, means, means.shape[1]
        self.m, self.reference = len(starts) - 1, reference
        self.of = np.repeat(np.arange(self.m), np.diff(starts))  # (K,) the mixture of each component
        self.middle = np.add.reduceat(means, starts[:-1]) / np.diff(starts)[:, None]
        self.apart = means - self.middle[self.of]
        self.kind = DOUBLE if size is None else self._precision(factors, size)
        form, factors = self._near_enough(form, factors)
        if form == "full":
            self.means = means.astype(self.kind).astype(DOUBLE)  # the points that sums are about
        self.form, self.factors = form, factors
        with np.errstate(divide="ignore"):  # a component that nobody wants
            self.constants = np.log(weights) + self._log_determinants()
        self.origins = np.stack([np.broadcast_to(reference, self.middle.shape), self.middle], axis=1)
        self.inputs = getattr(self, f"_{form}_inputs")()

    def _precision(self, factors: Array, size: Vector) -> np.dtype[Any]:
        """float32 where it moves W (x - mean) by no more than 4e-6 or so (``kernels.normals``), else float64."""
        if size.min() < LEAST_SQUARE or size.max() > MOST_SQUARE:
            return DOUBLE
        squares = self.means**2 + size
        if factors.ndim == 2:
            growth = factors**2 * squares
        else:
            W = factors if len(factors) == len(squares) else factors[self.of]
            growth = (W**2 @ squares[:, :, None])[:, :, 0]
        return SINGLE if growth.max() <= MOST_GROWTH**2 else DOUBLE

    def _near_enough(self, form: Form, factors: Array) -> tuple[Form, Array]:
        """Products about one point where that is precise; else differences, group by group."""
        if form == "tied":
            far = np.abs(np.einsum("kij,kj->ki", factors[self.of], self.apart)).max() > NEAR[self.kind]
            return ("full", factors[self.of]) if far else (form, factors)
        if form == "round" and np.abs(self.apart * factors).max() > NEAR[self.kind]:
            return "diag", np.repeat(factors, self.d, axis=1)
        return form, factors

    def _log_determinants(self) -> Vector:
        """(K,) log det W - d/2 log 2 pi."""
        f = self.factors
        logs = np.log(f if f.ndim == 2 else np.diagonal(f, axis1=1, axis2=2)).sum(axis=1)
        logs = logs * self.d if self.form == "round" else logs
        return np.asarray(
            (logs if self.form != "tied" else logs[self.of]) - 0.5 * self.d * math.log(2 * math.pi)
        )

    # --- what kernels want ---

    def _full_inputs(self) -> tuple[Any, ...]:
        origin = np.stack([self.reference, np.zeros(self.d)])
        return (
            origin,
            self.starts,
            *self._short(np.ascontiguousarray(self.means), _padded_matrices(self.factors), self.constants),
        )

    def _tied_inputs(self) -> tuple[Any, ...]:
        whitened = np.einsum("kij,kj->ki", self.factors[self.of], self.apart)
        heights = self.constants - 0.5 * (whitened**2).sum(axis=1)
        lines = self._short(_padded_matrices(self.factors), _padded(whitened), heights)
        return self.origins, self.starts, *lines

    def _diag_inputs(self) -> tuple[Any, ...]:
        whitened = self.apart * self.factors
        near = np.maximum.reduceat(np.abs(whitened).max(axis=1), self.starts[:-1]) <= NEAR[self.kind]
        lines = self._short(_padded(self.factors), _padded(whitened), self.constants)
        return self.origins, self.starts, *lines, near

    def _round_inputs(self) -> tuple[Any, ...]:
        precisions = np.ascontiguousarray(self.factors[:, 0] ** 2)
        heights = self.constants - 0.5 * precisions * (self.apart**2).sum(axis=1)
        return self.origins, self.starts, *self._short(_padded(self.apart), precisions, heights)

    def _short(self, *lines: Array) -> tuple[Array, ...]:
        return tuple(x.astype(self.kind, copy=False) for x in lines)

    # --- a block ---

    def sums(self, block: Block, *, hard: bool = False) -> StackSums:
        """What the rows of a block add up to; ``hard``: all of a row to its likeliest component."""
        from asterism.kernels import several
        from asterism.kernels.shares import HARD, SOFT

        visits: Any = several  # how many ``inputs`` there are depends on the form
        mode = HARD if hard else SOFT
        block = present(block)
        rows = np.asfortranarray(block.rows)  # every mixture takes them column by column
        table = (rows, block.weights, *self.inputs)
        K, width = len(self.means), -(-self.d // FEW) * FEW
        mass, totals, first = np.zeros(K), np.zeros((self.m, 2)), np.zeros((K, width))
        if self.form == "diag":
            moments = np.zeros((2, K, width))
            visits.diagonal_mixtures(*table, mass, moments, totals, mode)
            return StackSums(mass, moments[0], moments[1], totals)
        if self.form == "round":
            second = np.zeros(K)
            visits.spherical_mixtures(*table, mass, first, second, totals, mode)
        elif self.form == "tied":
            second = np.zeros((self.m, width, width))
            visits.tied_mixtures(*table, mass, first, second, totals, mode)
        else:
            first, second = np.zeros((K, self.d)), np.zeros((K, width, width))
            visits.full_mixtures(*table, mass, first, second, totals, mode)
        return StackSums(mass, first, second, totals)

    # --- after the last block ---

    def centred(self, sums: StackSums, form: Form) -> Centred:
        """About the new means, in a form that is asked for."""
        mass, first = sums.mass, sums.first[:, : self.d]
        held = (mass > 0)[:, None]
        shifts = np.divide(first, mass[:, None], out=np.zeros_like(first), where=held)
        points = self.means if self.form == "full" else self.middle[self.of]
        if self.form == "full":
            scatters = _symmetric(sums.second, self.d) - shifts[:, :, None] * first[:, None, :]
            if form == "tied":
                scatters = np.add.reduceat(scatters, self.starts[:-1])
        elif self.form == "tied":
            outer = shifts[:, :, None] * first[:, None, :]
            scatters = _symmetric(sums.second, self.d) - np.add.reduceat(outer, self.starts[:-1])
        elif self.form == "diag":
            scatters = np.maximum(sums.second[:, : self.d] - shifts * first, 0.0)
            far = ~self.inputs[-1][self.of]
            if far.any():  # these were taken in standard deviations from each mean
                points = np.where(far[:, None], self.means, points)
                shifts = np.where(far[:, None], shifts / self.factors, shifts)
                scatters = np.where(far[:, None], scatters / self.factors**2, scatters)
            if form == "round":
                scatters = scatters.sum(axis=1, keepdims=True)
        else:
            scatters = np.maximum(2.0 * sums.second - (shifts * first).sum(axis=1), 0.0)[:, None]
        return Centred(mass, np.where(held, points + shifts, 0.0), scatters)


def _padded(lines: Array) -> Array:
    """(K, padded d)."""
    K, d = lines.shape
    out = np.zeros((K, -(-d // FEW) * FEW))
    out[:, :d] = lines
    return out


def _padded_matrices(matrices: Array) -> Array:
    """(K, padded d, padded d)."""
    K, d, _ = matrices.shape
    width = -(-d // FEW) * FEW
    if width == d:
        return np.ascontiguousarray(matrices)
    out = np.zeros((K, width, width))
    out[:, :d, :d] = matrices
    return out


def _symmetric(lower: Array, d: int) -> Array:
    """Matrices from their lower triangles; what stood above is not looked at."""
    inside = lower[:, :d, :d]
    return np.where(np.tri(d, dtype=bool), inside, inside.transpose(0, 2, 1))
