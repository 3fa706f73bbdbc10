"""Visits of blocks by a mixture, one class a structure: what is made ready once, a block, and the end.

What a visit of a block finds is a flat vector of sums about points that all blocks share: two blocks together are the
sum of their vectors, and only the last vector is brought about the new means (``totals``). Points are the means the
model has, which are near the new ones, or one point amid them where that is precise enough:

    sum w r (x - new mean)^2  =  sum w r y^2 - N shift^2,     y = x - point,  shift = new mean - point

loses a factor 1 + m^2 of precision, m the shift in standard deviations. Beyond ``NEAR``, group by group.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.diagonal import diagonal_block
from asterism.kernels.full import full_block
from asterism.kernels.normals import (
    DOUBLE,
    SINGLE,
    Floats,
    Kind,
    Normals,
    Vector,
    at,
    centers_of,
    one_each,
    padded,
    scaled,
)
from asterism.kernels.spherical import spherical_block
from asterism.kernels.tied import bring_one_home, tied_block

NEAR = {DOUBLE: 100.0, SINGLE: 8.0}  # standard deviations from the middle to a mean


class GaussianTotals(NamedTuple):
    """What responsibilities add up to."""

    mass: Vector  # (k,) N = sum w r
    shifts: Vector  # (k, d) new means minus the model's; 0 where nobody has a share
    scatters: Vector  # shaped as the factors: sum w r (x - new mean)(x - new mean)'
    log_likelihood: float  # sum w log sum_c pi_c p_c(x); no finite number where a row misses a cell
    best_log_likelihood: float  # sum w max_c log pi_c p_c(x): what hard assignment climbs


class Onward(NamedTuple):
    """What steps must be like to follow each other without anybody looking (``kernels.stretch``)."""

    most: int  # passes
    seen: float  # log-likelihood before the first
    tol: float  # what a step must win a unit of weight
    fall: float  # a relative fall that rounding makes
    share: float  # of all mass that a group must have more of
    look: bool  # whether labels are wanted at the end
    least: Vector  # (d,) a variance that it must reach
    size: Vector  # (d,) of rows, see ``normals.single_size``


class Came(NamedTuple):
    """Where such steps led to; the sums are those of the last model."""

    heights: list[float]  # log-likelihoods on the way
    gain: float  # what the last of them had won
    models: list[
        tuple[Vector, Vector, Vector]
    ]  # proportions, means from the reference, variances: the last one or two
    notes: (
        Vector | None
    )  # (n,) labels by the last model, if it had a look at rows: so the sums are of that look


class AllBlocks(Protocol):
    """A pass over a table, or several: threads take its blocks by themselves, each with sums of its own."""

    def take(self) -> None:
        """Visit blocks until none is left."""
        ...

    @property
    def done(self) -> bool:
        """Whether none is left."""
        ...

    def result(self) -> Vector:
        """The sums of all blocks."""
        ...

    def came(self) -> Came | None:
        """What steps were taken, if any were."""
        ...


class Visit(ABC):
    """Components and proportions made ready to visit any block of a table."""

    def __init__(self, normals: Normals, reference: Vector, log_weights: Vector, kind: Kind) -> None:
        self.normals, self.reference, self.log_weights, self.kind = normals, reference, log_weights, kind
        self.k, self.d = normals.offsets.shape
        self._places: list[tuple[int, int, tuple[int, ...]]] = []
        self.length = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.normals, self.reference, self.log_weights, self.kind)

    @cached_property
    def constants(self) -> Vector:
        """(k,) log pi p at the means."""
        return np.asarray(self.log_weights + self.normals.heights)

    def ready(self) -> Self:
        """Itself, with all that blocks will ask for: made once, not on all threads while each waits."""
        return self

    def of(self, normals: Normals) -> Self:
        """As this, of other components, for who has sums of theirs: these know nothing of proportions."""
        return type(self)(normals, self.reference, self.log_weights, self.kind)

    def same(self, other: Visit) -> bool:
        """Whether the sums of both are about the same points, and may be added."""
        if self is other:
            return True
        mine, theirs = self.normals, other.normals
        return (
            self.kind == other.kind
            and np.array_equal(mine.offsets, theirs.offsets)
            and np.array_equal(mine.factors, theirs.factors)
            and np.array_equal(self.reference, other.reference)
        )

    @abstractmethod
    def sums(self, rows: Floats, weights: Vector, mode: int, notes: Vector) -> Vector:
        """What the shares of the rows of a block add up to; the log-likelihoods stand first, then the masses.

        ``notes`` (n,): numbers of [0, 1) where groups are drawn; where only labels are asked for, they come out
        here, as -1 - label where rounding may have decided (``shares.note_labels``); otherwise none.
        """

    def together(
        self,
        rows: Floats,  # noqa: ARG002  for those who can
        weights: Vector,  # noqa: ARG002
        mode: int,  # noqa: ARG002
        notes: Vector,  # noqa: ARG002
        onward: Onward | None = None,  # noqa: ARG002
    ) -> AllBlocks | None:
        """A pass over all rows in blocks of as many as there are weights, which are those of every block.

        It may go ``onward`` from there.
        """
        return None

    @abstractmethod
    def totals(self, sums: Vector) -> GaussianTotals:
        """The same about the new means."""

    def stepped(self, sums: Vector, least: Vector, share: float) -> tuple[Vector, Vector] | None:  # noqa: ARG002
        """Means (k, d) from the reference and variances (k, d) of the next model, for those who have them at hand.

        None where a group has no more than a ``share`` of all mass or less than the ``least`` (d,) variances.
        """
        return None

    def mass(self, sums: Vector) -> Vector:
        """(k,) N, of what ``sums`` gave."""
        return sums[2 : 2 + self.k]

    def _room(self, *shapes: tuple[int, ...]) -> None:
        """What sums there are, after the log-likelihoods and the masses."""
        for shape in ((2,), (self.k,), *shapes):
            size = math.prod(shape)
            self._places.append((self.length, self.length + size, shape))
            self.length += size

    def _empty(self) -> tuple[Vector, list[NDArray[Any]]]:
        sums = np.zeros(self.length)
        return sums, self._parts(sums)

    def _parts(self, sums: Vector) -> list[NDArray[Any]]:
        return [sums[a:b].reshape(shape) for a, b, shape in self._places]


# --- the four structures ------------------------------------------------------------------------------------------


class FullVisit(Visit):
    """A matrix a group; sums are about the model's means."""

    def __init__(self, normals: Normals, reference: Vector, log_weights: Vector, kind: Kind) -> None:
        super().__init__(normals, reference, log_weights, kind)
        self._factors = normals.once("factors", kind, lambda: padded(normals.factors, kind))
        self._offsets = normals.offsets.astype(kind, copy=False)
        self._heights, self._origin = self.constants.astype(kind), at(reference).astype(kind)
        self._room((self.k, self.d), self._factors.shape)

    def sums(self, rows: Floats, weights: Vector, mode: int, notes: Vector) -> Vector:
        """sum w r z and the lower triangle of sum w r z z', z = x - mu, of every group."""
        sums, (heights, mass, first, lower) = self._empty()
        full_block(
            rows, weights, self._origin, self._offsets, self._factors, self._heights, mode, notes,
            mass, first, lower, heights,
        )  # fmt: skip
        return sums

    def totals(self, sums: Vector) -> GaussianTotals:
        """Lower triangles become matrices about the new means."""
        heights, mass, first, lower = self._parts(sums)
        shifts = over(first, mass)
        scatters = symmetric(lower, self.d)
        scatters -= shifts[:, :, None] * first[:, None, :]
        return GaussianTotals(mass, shifts, scatters, float(heights[0]), float(heights[1]))


class OneMatrix(Visit):
    """One matrix for all; sums are about one point."""

    _apart: Vector  # (k, d) means from there

    def totals(self, sums: Vector) -> GaussianTotals:
        """What rows scatter less what the means do."""
        heights, mass, first, lower = self._parts(sums)
        shifts, scatters = np.empty((self.k, self.d)), np.empty((1, self.d, self.d))
        bring_one_home(mass, first, lower, self._apart, shifts, scatters[0])
        return GaussianTotals(mass, shifts, scatters, float(heights[0]), float(heights[1]))


class TiedVisit(OneMatrix):
    """One matrix for all; sums are about one point.

    In units of the covariance, the scatter within is 1 a row in every direction and that of the means at most m^2.
    """

    def __init__(self, normals: Normals, reference: Vector, log_weights: Vector, kind: Kind) -> None:
        super().__init__(normals, reference, log_weights, kind)
        self._factor = normals.once("factors", kind, lambda: padded(normals.factors, kind))[0]
        self._apart = normals.apart
        ones = np.ones(self.k)
        self._centers, heights = centers_of(normals.whitened, ones, kind)
        self._lines = np.stack([ones, self.constants + heights]).astype(kind, copy=False)
        self._origin = np.stack([reference, normals.middle]).astype(kind)
        self._room(self._centers.shape, self._factor.shape)

    def sums(self, rows: Floats, weights: Vector, mode: int, notes: Vector) -> Vector:
        """sum w r z of every group, and one sum w z z', z = x - middle."""
        sums, (heights, mass, first, lower) = self._empty()
        tied_block(
            rows, weights, self._origin, self._factor, self._centers, self._lines, mode, notes,
            mass, first, lower, heights,
        )  # fmt: skip
        return sums


class DiagonalVisit(Visit):
    """A number a column and group; sums are about one point, or far apart s (x - mu)."""

    def __init__(self, normals: Normals, reference: Vector, log_weights: Vector, kind: Kind) -> None:
        super().__init__(normals, reference, log_weights, kind)
        self._near = bool(np.abs(normals.whitened).max() <= NEAR[kind])
        self._lines = scaled(normals.apart, normals.factors, kind)
        self._heights = self.constants.astype(kind)
        self._origin = np.stack([reference, normals.middle]).astype(kind)
        self._room((2, self.k + self.k % 2, self._lines.shape[2]))

    def sums(self, rows: Floats, weights: Vector, mode: int, notes: Vector) -> Vector:
        """sum w r y and sum w r y^2 of every group and column."""
        sums, (heights, mass, moments) = self._empty()
        diagonal_block(
            rows, weights, self._origin, self._lines, self._heights, mode, notes, self._near,
            mass, moments, heights,
        )  # fmt: skip
        return sums

    def totals(self, sums: Vector) -> GaussianTotals:
        """Squares less squares of the shifts, in the units of the columns."""
        heights, mass, moments = self._parts(sums)
        first, second = moments[:, : self.k, : self.d]
        means = over(first, mass)
        scatters = np.maximum(second - means * first, 0.0)
        if self._near:
            shifts = np.where(mass[:, None] > 0, means - self.normals.apart, 0.0)
        else:
            shifts, scatters = means / self.normals.factors, scatters / self.normals.squared_factors
        return GaussianTotals(mass, shifts, scatters, float(heights[0]), float(heights[1]))


class SphericalVisit(Visit):
    """A number a group; sums are about one point."""

    def __init__(self, normals: Normals, reference: Vector, log_weights: Vector, kind: Kind) -> None:
        super().__init__(normals, reference, log_weights, kind)
        precisions = normals.squared_factors[:, 0]
        self._centers, heights = centers_of(normals.apart, precisions, kind)
        self._lines = np.stack([precisions, self.constants + heights]).astype(kind, copy=False)
        self._origin = np.stack([reference, normals.middle]).astype(kind)
        self._room(self._centers.shape, (self.k,))

    def sums(self, rows: Floats, weights: Vector, mode: int, notes: Vector) -> Vector:
        """sum w r z of every group and column, and sum w r ||z||^2 / 2, z = x - middle."""
        sums, (heights, mass, first, halves) = self._empty()
        spherical_block(
            rows, weights, self._origin, self._centers, self._lines, mode, notes, mass, first, halves, heights
        )
        return sums

    def totals(self, sums: Vector) -> GaussianTotals:
        """Squares less squares of the shifts, columns together."""
        heights, mass, first, halves = self._parts(sums)
        first = first[: self.k, : self.d]
        means = over(first, mass)
        scatters = np.maximum(2.0 * halves - (means * first).sum(axis=1), 0.0)[:, None]
        shifts = np.where(mass[:, None] > 0, means - self.normals.apart, 0.0)
        return GaussianTotals(mass, shifts, scatters, float(heights[0]), float(heights[1]))


# --- where one point is too far from some mean --------------------------------------------------------------------


class _OneEach(Visit):
    """Every group gets a copy of what it has in common with others."""

    def __init__(self, normals: Normals, reference: Vector, log_weights: Vector, kind: Kind) -> None:
        super().__init__(one_each(normals), reference, log_weights, kind)
        self._given = normals

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._given, self.reference, self.log_weights, self.kind)


class FarTiedVisit(_OneEach, FullVisit):
    """One matrix for all, taken group by group."""

    def totals(self, sums: Vector) -> GaussianTotals:
        """What groups scatter, together."""
        found = super().totals(sums)
        return found._replace(scatters=found.scatters.sum(axis=0, keepdims=True))


class FarSphericalVisit(_OneEach, DiagonalVisit):
    """A number a group, taken column by column."""

    def totals(self, sums: Vector) -> GaussianTotals:
        """What columns scatter, together."""
        found = super().totals(sums)
        return found._replace(scatters=found.scatters.sum(axis=1, keepdims=True))


# --- small parts --------------------------------------------------------------------------------------------------


def symmetric(lower: Vector, d: int) -> Vector:
    """(k, d, d) matrices from their lower triangles; what stood above is not looked at."""
    inside = lower[:, :d, :d]
    return np.where(np.tri(d, dtype=bool), inside, inside.transpose(0, 2, 1))


def over(sums: Vector, mass: Vector) -> Vector:
    """sums / mass, 0 where there is no mass."""
    if mass.min() > 0:  # the usual case, in half the time
        return np.asarray(sums / mass[:, None])
    return np.divide(sums, mass[:, None], out=np.zeros_like(sums), where=mass[:, None] > 0)
