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
from typing import TYPE_CHECKING, Literal

import numpy as np

from asterism.data.block import Vector
from asterism.families.base import Array

if TYPE_CHECKING:
    from asterism.kernels.visits import Visit  # loads the compiler

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
class GaussianSums:
    """The same, as a visit of a block leaves it: sums about points that all blocks of a step share.

    Such sums just add up, in one addition; about their own means they are brought once, after the last block.
    """

    sums: Vector  # flat; only the visit knows its parts
    visit: Visit
    form: Form

    @cached_property
    def centred(self) -> GaussianStatistic:
        """About the means of the components."""
        found = self.visit.totals(self.sums)
        means = np.where(found.mass[:, None] > 0, self.visit.normals.offsets + found.shifts, 0.0)
        scatters = found.scatters
        if self.form in ("diag", "round") and scatters.shape[1:] != (1,):
            scatters = in_form(scatters, self.form)  # the covariances had more to them than the estimate asks
        return GaussianStatistic(found.mass, means, scatters)

    def merge(self, other: GaussianStatistic | GaussianSums) -> GaussianStatistic | GaussianSums:
        """Sums add; with rows that were taken otherwise (missing cells) by Chan's formula."""
        if isinstance(other, GaussianSums) and self.visit.same(other.visit):
            return GaussianSums(self.sums + other.sums, self.visit, self.form)
        return self.centred.merge(other)


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
