"""Mass, mean and centred scatter of every component: all that any normal M-step asks for.

Four forms, told by the shape of ``scatters``:

    full   (k, d, d)  a matrix a component
    tied   (1, d, d)  their sum: where one covariance serves all, nobody asks for the parts
    diag   (k, d)     the diagonals alone
    round  (k, 1)     sums of the diagonals: where a component has one variance, nobody asks for columns

Two parts merge by Chan's formula, component by component (see ``stats.moments``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.families.base import Array

Form = Literal["full", "tied", "diag", "round"]


@dataclass(frozen=True, slots=True)
class GaussianStatistic:
    """What weighted rows say of k normal components; means are offsets from the family's reference."""

    mass: Vector  # (k,) N = sum w r
    means: Array  # (k, d) 0 where there is no mass
    scatters: Array  # (k, d, d), (1, d, d), (k, d) or (k, 1): sum w r (x - mean)(x - mean)'

    @classmethod
    def zero(cls, k: int, d: int, form: Form) -> GaussianStatistic:
        """The statistic of no rows."""
        return cls(np.zeros(k), np.zeros((k, d)), np.zeros(scatter_shape(k, d, form)))

    @classmethod
    def about(cls, center: Array, mass: Vector, sums: Array, scatters: Array) -> GaussianStatistic:
        """From sums and scatters that were taken about ``center`` (k, d), a point near each mean."""
        shift = np.divide(sums, mass[:, None], out=np.zeros_like(sums), where=mass[:, None] > 0)
        means = np.where(mass[:, None] > 0, center + shift, 0.0)
        return cls(mass, means, scatters - between(shift, mass, scatters))

    @property
    def centred(self) -> GaussianStatistic:
        """Itself."""
        return self

    def merge(self, other: GaussianStatistic | GaussianSums) -> GaussianStatistic:
        """Chan's formula; a component that one part never saw is the other's, to the bit."""
        other = other.centred
        mass = self.mass + other.mass
        share = np.divide(other.mass, mass, out=np.zeros_like(mass), where=self.mass > 0)
        delta = np.where((share > 0)[:, None], other.means - self.means, 0.0)
        means = np.where((self.mass > 0)[:, None], self.means + delta * share[:, None], other.means)
        scatters = self.scatters + other.scatters + between(delta, self.mass * share, self.scatters)
        return GaussianStatistic(mass, means, scatters)

    # --- as moments that add up, for the accelerator ---

    def moments(self, center: Vector, unit: Vector) -> Vector:
        """Masses, first and second moments about ``center`` (d,) in units (d,), as shares of the total mass.

        In the round form all units must be the same.
        """
        about = np.where(self.mass[:, None] > 0, (self.means - center) / unit, 0.0)
        second = self.scatters / _squares(unit, self.scatters)
        second = second + between(about, self.mass, second)
        first = self.mass[:, None] * about
        return np.concatenate([self.mass, first.ravel(), second.ravel()]) / float(self.mass.sum())

    def of_moments(self, vector: Vector, center: Vector, unit: Vector) -> GaussianStatistic | None:
        """A statistic of this shape and total mass with these moments; None where no rows could have them."""
        k, d = self.means.shape
        mass, first, second = np.split(vector * float(self.mass.sum()), [k, k + k * d])
        if not (mass > 0).all():
            return None
        about = first.reshape(k, d) / mass[:, None]
        scatters = second.reshape(self.scatters.shape)
        scatters = scatters - between(about, mass, scatters)
        least = scatters.min() if scatters.ndim == 2 else np.linalg.eigvalsh(scatters).min()
        if not least > 0:
            return None
        return GaussianStatistic(mass, center + about * unit, scatters * _squares(unit, scatters))


@dataclass(frozen=True)
class SumsLayout:
    """What sums are about, and how they lie; one for all blocks of a step."""

    kind: str  # of ``families.gaussian_pass``
    form: Form  # that the estimate asks for
    starts: NDArray[np.int64]  # (m + 1,) components of mixture i: starts[i] up to starts[i + 1]
    points: Array  # (k, d) offsets from the family's reference

    def same(self, other: SumsLayout) -> bool:
        """Whether sums may be added."""
        if self is other:
            return True
        alike = (self.kind, self.form) == (other.kind, other.form)
        return alike and np.array_equal(self.points, other.points)


@dataclass(frozen=True)
class GaussianSums:
    """The same as a pass over a block leaves it: sums about points near the means, which all blocks of a step share.

    Such sums add up in one addition, and lose a factor ``1 + m^2`` of precision when they are brought about the means
    after the last block, ``m`` being the shift in standard deviations: the pass sees to it that this is harmless.
    """

    sums: Array  # (k, 1 + d + ...) sum w r (1, y, squares of y), y = x - point
    common: Vector  # (d (d + 1) / 2,) sum w y y' where it is the same for all components, else nothing
    layout: SumsLayout

    @property
    def mass(self) -> Vector:
        """(k,) N."""
        return self.sums[:, 0]

    @cached_property
    def centred(self) -> GaussianStatistic:
        """About the means of the components; tied: (m, d, d), one scatter for each mixture."""
        layout, d = self.layout, self.layout.points.shape[1]
        mass, first, second = self.sums[:, 0], self.sums[:, 1 : d + 1], self.sums[:, d + 1 :]
        held = (mass > 0)[:, None]
        shifts = np.divide(first, mass[:, None], out=np.zeros_like(first), where=held)
        means = np.where(held, layout.points + shifts, 0.0)
        if layout.kind == "tied":
            between_points = np.add.reduceat(shifts[:, :, None] * first[:, None, :], layout.starts[:-1])
            scatters = unpacked(self.common[None], d) - between_points
        elif layout.kind == "round":
            scatters = np.maximum(2.0 * second - (shifts * first).sum(axis=1, keepdims=True), 0.0)
        elif layout.kind in ("diagonal", "differences"):
            scatters = np.maximum(second - shifts * first, 0.0)
            scatters = scatters.sum(axis=1, keepdims=True) if layout.form == "round" else scatters
        else:
            scatters = unpacked(second, d) - shifts[:, :, None] * first[:, None, :]
            tied = layout.form == "tied"
            scatters = (
                np.add.reduceat(scatters, layout.starts[:-1]) if tied else in_form(scatters, layout.form)
            )
        return GaussianStatistic(mass, means, scatters)

    def merge(self, other: GaussianStatistic | GaussianSums) -> GaussianStatistic | GaussianSums:
        """Sums add; with rows that were taken otherwise (missing cells) by Chan's formula."""
        if isinstance(other, GaussianSums) and self.layout.same(other.layout):
            return GaussianSums(self.sums + other.sums, self.common + other.common, self.layout)
        return self.centred.merge(other)


def unpacked(lower: Array, d: int) -> Array:
    """(k, d, d) symmetric matrices from their lower triangles (k, d (d + 1) / 2)."""
    out = np.empty((len(lower), d, d))
    a, b = np.tril_indices(d)
    out[:, a, b] = lower
    out[:, b, a] = lower
    return out


def _squares(unit: Vector, like: Array) -> Array:
    if like.ndim == 2:
        return np.asarray(unit[: like.shape[1]] ** 2)
    return np.outer(unit, unit)


def scatter_shape(k: int, d: int, form: Form) -> tuple[int, ...]:
    """The shape that names a form."""
    return {"full": (k, d, d), "tied": (1, d, d), "diag": (k, d), "round": (k, 1)}[form]


def between(delta: Array, mass: Vector, like: Array) -> Array:
    """mass * delta delta' of every component, in the form of ``like``."""
    if like.ndim == 2:
        squares = delta * delta
        if like.shape[1] < squares.shape[1]:
            squares = squares.sum(axis=1, keepdims=True)
        return np.asarray(squares * mass[:, None])
    outer = np.asarray((delta[:, :, None] * delta[:, None, :]) * mass[:, None, None])
    return outer if len(like) == len(mass) else outer.sum(axis=0, keepdims=True)


def in_form(scatters: Array, form: Form) -> Array:
    """(k, d, d) scatters, or (k, d) diagonals of them, in another form."""
    if form in ("diag", "round"):
        diagonals = scatters if scatters.ndim == 2 else np.diagonal(scatters, axis1=1, axis2=2)
        return np.ascontiguousarray(diagonals if form == "diag" else diagonals.sum(axis=1, keepdims=True))
    return scatters.sum(axis=0, keepdims=True) if form == "tied" else scatters


def as_diagonals(scatters: Array, d: int) -> Array:
    """(k, d) of sums over columns (k, 1): evenly, as those who ask for sums will add them up again."""
    if scatters.ndim == 2 and scatters.shape[1] < d:
        return np.repeat(scatters / d, d, axis=1)
    return scatters
