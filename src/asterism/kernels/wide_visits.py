"""Visits of wide rows: what ``visits`` does for any, in products (``kernels.wide``)."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property, partial
from typing import NamedTuple, Self

import numpy as np

from asterism.kernels.claims import wide_blocks, wide_tied_blocks
from asterism.kernels.normals import MOST_GROWTH, SINGLE, Floats, Kind, Normals, Vector, near
from asterism.kernels.products import whole_fours, whole_vectors
from asterism.kernels.stretch import GAIN, HEIGHT, LAST_STEP
from asterism.kernels.turns import OTHER, all_done, passes_done, take_all, turns_for
from asterism.kernels.vectors import BYTES
from asterism.kernels.visits import NEAR, Came, GaussianTotals, OneMatrix, Onward, Visit, over, symmetric
from asterism.kernels.wide import bring_home, next_groups, write_lines
from asterism.kernels.wide_full import wide_full_block

FEWEST, FEWEST_FULL = (
    (4, 8) if BYTES == 64 else (16, 16)
)  # columns from which on products are faster; full matrices
MOST_BYTES = 16 << 20  # of the sums of all blocks of a table
MOMENT = 1 << 30  # cells times groups of the passes that follow each other: a tenth of a second or so


class Wide(Visit):
    """Visits whose threads take blocks by themselves."""

    @property
    @abstractmethod
    def lines(self) -> Floats:
        """(fours of k, columns) what rows are multiplied with; made when it is first asked for."""

    def ready(self) -> Self:
        """With its lines."""
        _ = self.lines
        return self

    def sums(self, rows: Floats, weights: Vector, mode: int, notes: Vector) -> Vector:
        """What the shares of the rows of a block add up to."""
        if not len(rows):
            return np.zeros(self.length)
        task = WideBlocks(self, rows, weights, mode, notes)
        task.take()
        return np.asarray(task.sums[0])

    def together(
        self, rows: Floats, weights: Vector, mode: int, notes: Vector, onward: Onward | None = None
    ) -> WideBlocks | None:
        """The same of all blocks of a table, if their sums take little room."""
        if -(-len(rows) // len(weights)) * 8 * self.length > MOST_BYTES:
            return None
        stretch = self.stretch(rows, onward)
        if stretch.limits[LAST_STEP] >= 0:
            notes = np.empty(len(rows))
        return WideBlocks(self, rows, weights, mode, notes, stretch)

    def stretch(self, rows: Floats, onward: Onward | None) -> Stretch:  # noqa: ARG002  for those who can
        """Room for steps that follow each other."""
        return NO_STRETCH

    @abstractmethod
    def visit(self, task: WideBlocks) -> bool:
        """Visit blocks until none is left; see ``kernels.claims``."""


class Stretch(NamedTuple):
    """What ``stretch.go_further`` is told, and where it writes to."""

    fixed: Vector
    limits: Vector
    shares: Vector
    offsets: Vector
    variances: Vector
    told: Vector


NO_STRETCH = Stretch(
    np.empty((3, 0)),
    np.full(8, -1.0),
    np.empty((2, 0)),
    np.empty((2, 0, 0)),
    np.empty((2, 0, 0)),
    np.empty((0, 2)),
)


class WideBlocks:
    """Blocks of so many rows as there are weights."""

    def __init__(
        self,
        visit: Wide,
        rows: Floats,
        weights: Vector,
        mode: int,
        notes: Vector,
        stretch: Stretch = NO_STRETCH,
    ) -> None:
        self.sums = np.empty((-(-len(rows) // len(weights)), visit.length))
        self.turns = turns_for(len(stretch.told) + 1)
        self._visit, self.table, self.how = visit, (rows, weights, self.turns), (mode, notes)
        self.stretch = stretch
        self.lines = visit.lines.copy() if len(stretch.told) else visit.lines  # they change from step to step

    def take(self) -> None:
        """Visit blocks until none is left."""
        take_all(self.turns, partial(self._visit.visit, self))

    @property
    def done(self) -> bool:
        """Whether none is left."""
        return all_done(self.turns)

    def result(self) -> Vector:
        """The sums of all blocks."""
        return np.asarray(self.sums[0])

    def came(self) -> Came | None:
        """What steps were taken, if any were."""
        steps, room = passes_done(self.turns, len(self.sums)) - 1, self.stretch
        if steps < 1:
            return None
        last = [i % 2 for i in range(max(steps - 1, 1), steps + 1)]
        models = [(room.shares[i], room.offsets[i], room.variances[i]) for i in last]
        notes = self.how[1] if self.turns[OTHER, 0] == steps else None
        return Came(room.told[:steps, HEIGHT].tolist(), float(room.told[steps - 1, GAIN]), models, notes)


class WideVisit(Wide):
    """Round or diagonal groups; sums are about one point."""

    def __init__(self, normals: Normals, reference: Vector, log_weights: Vector, kind: Kind) -> None:
        super().__init__(normals, reference, log_weights, kind)
        self._squares = normals.factors.shape[1] == self.d
        self._seen = seen_from(normals, reference, kind)
        high = whole_vectors(self.d, kind.itemsize)  # where squares begin
        room = whole_fours(self.k), 2 * high if self._squares else high
        self._shape = np.array([self.k, *room])
        self._room(room, (0 if self._squares else self.k,))

    @cached_property
    def lines(self) -> Floats:
        """Slopes, numbers of squares, constants."""
        return lines_of(self._seen.means, self.normals.factors, self.constants, self.kind)

    def visit(self, task: WideBlocks) -> bool:
        """sum w r x of every group, and sum w r x^2 or sum w r ||x||^2 / 2, x from one point."""
        seen = self._seen
        return bool(
            wide_blocks(
                *task.table, seen.origin, task.lines, self._squares, seen.plain, *task.how, self._shape, task.sums,
                *task.stretch,
            )
        )  # fmt: skip

    def stretch(self, rows: Floats, onward: Onward | None) -> Stretch:
        """As many passes as take a moment, while means are seen from 0 and the type of the arithmetic stays."""
        most = 1 if onward is None else min(onward.most, MOMENT // (rows.size * self.k) + 1)
        if onward is None or most < 2 or not self._seen.plain:
            return NO_STRETCH
        single = rows.dtype == SINGLE
        growth = (MOST_GROWTH, -1.0) if self.kind == SINGLE else (np.inf, MOST_GROWTH if single else -1.0)
        reach = 0.5 * NEAR[self.kind]
        last = onward.most - 1 if onward.look else -1
        limits = np.array([onward.seen, onward.tol, onward.fall, onward.share, reach, *growth, last])
        fixed = np.stack([self.reference, onward.size, onward.least])
        shares, offsets = np.empty((2, self.k)), np.empty((2, self.k, self.d))
        offsets[0] = self.normals.offsets
        told = np.empty((most if most - 1 == last else most - 1, 2))
        return Stretch(fixed, limits, shares, offsets, np.empty_like(offsets), told)

    def totals(self, sums: Vector) -> GaussianTotals:
        """Squares less squares of the shifts; of round groups columns together."""
        heights, mass, moments, halves = self._parts(sums)
        shifts, scatters = np.empty((self.k, self.d)), np.empty(self.normals.factors.shape)
        bring_home(mass, moments, halves, self._seen.means, shifts, scatters)
        return GaussianTotals(mass, shifts, scatters, float(heights[0]), float(heights[1]))

    def stepped(self, sums: Vector, least: Vector, share: float) -> tuple[Vector, Vector] | None:
        """In one call: between two passes, a score of small array operations takes a tenth of a millisecond."""
        _, mass, moments, halves = self._parts(sums)
        offsets, variances = self.normals.offsets.copy(), np.empty((self.k, self.d))
        fine = next_groups(mass, moments, halves, self._seen.means, least, share, offsets, variances)
        return (offsets, variances) if fine else None


class WideTiedVisit(Wide, OneMatrix):
    """One matrix for all; sums are about one point."""

    def __init__(self, normals: Normals, reference: Vector, log_weights: Vector, kind: Kind) -> None:
        super().__init__(normals, reference, log_weights, kind)
        self._factor = normals.once("fours", kind, lambda: in_fours(normals.factors[0], kind))
        self._seen = seen_from(normals, reference, kind)
        self._apart = self._seen.means
        room = whole_fours(self.k), whole_vectors(self.d, kind.itemsize)
        self._shape = np.array([self.k, *room, len(self._factor)])
        self._room(room, (len(self._factor), room[1]))

    @cached_property
    def lines(self) -> Floats:
        """Those of round groups, whitened."""
        whitened = self._apart @ self.normals.factors[0].T
        return lines_of(whitened, np.ones((self.k, 1)), self.constants, self.kind)

    def visit(self, task: WideBlocks) -> bool:
        """sum w r x of every group, and one sum w x x', x from one point."""
        seen = self._seen
        return bool(
            wide_tied_blocks(
                *task.table,
                seen.origin,
                self._factor,
                task.lines,
                seen.plain,
                *task.how,
                self._shape,
                task.sums,
            )
        )


class WideFullVisit(Visit):
    """A matrix a group; sums are about one point, scatters about the model's means."""

    def __init__(self, normals: Normals, reference: Vector, log_weights: Vector, kind: Kind) -> None:
        super().__init__(normals, reference, log_weights, kind)
        self._seen = seen_from(normals, reference, kind)
        high, width = whole_fours(self.d), whole_vectors(self.d, kind.itemsize)
        self._means = np.zeros((whole_fours(self.k), width), kind)
        self._means[: self.k, : self.d] = self._seen.means
        self._factors = np.zeros((self.k, high, high + 1), kind)
        self._factors[:, : self.d, : self.d] = normals.factors
        self._factors[:, : self.d, -1] = -normals.whiten(self._seen.means)
        self._heights = self.constants.astype(kind)
        self._room(self._means.shape, (self.k, high, width))

    def sums(self, rows: Floats, weights: Vector, mode: int, notes: Vector) -> Vector:
        """sum w r x, x from one point, and the lower triangle of sum w r z z', z = x - mu, of every group."""
        (sums, (heights, mass, first, lower)), seen = self._empty(), self._seen
        wide_full_block(
            rows, weights, seen.origin, self._means, self._factors, self._heights, seen.plain, mode, notes,
            mass, first, lower, heights,
        )  # fmt: skip
        return sums

    def totals(self, sums: Vector) -> GaussianTotals:
        """Lower triangles become matrices about the new means."""
        heights, mass, first, lower = self._parts(sums)
        means = over(first[: self.k, : self.d], mass)
        shifts = np.where(mass[:, None] > 0, means - self._seen.means, 0.0)
        scatters = symmetric(lower, self.d)
        scatters -= shifts[:, :, None] * (mass[:, None] * shifts)[:, None, :]
        return GaussianTotals(mass, shifts, scatters, float(heights[0]), float(heights[1]))


class Seen(NamedTuple):
    """Means from a point."""

    means: Vector  # (k, d)
    origin: Floats  # (2, d) the point, as a reference and a step from there
    plain: bool  # whether it is 0: rows are then taken as they are
    near: bool  # whether squares of what is so far may be subtracted from each other


def seen_from(normals: Normals, reference: Vector, kind: Kind) -> Seen:
    """The means from 0, if they are half as far from there as what is near enough, or from amid them."""
    which = ("seen", reference.tobytes())
    found: Seen = normals.once(which, kind, lambda: _seen(normals, reference, kind))
    return found


def _seen(normals: Normals, reference: Vector, kind: Kind) -> Seen:
    means = reference + normals.offsets
    if normals.farthest(means) <= 0.5 * NEAR[kind]:
        return Seen(means, np.zeros((2, len(reference)), kind), True, True)
    return Seen(normals.apart, near(reference, normals.middle, kind), False, normals.reach <= NEAR[kind])


def lines_of(means: Vector, factors: Vector, constants: Vector, kind: Kind) -> Floats:
    """(fours of k, columns) lines as ``kernels.wide`` multiplies them; means (k, d), factors (k, d) or (k, 1)."""
    (k, d), high = means.shape, whole_fours(means.shape[1])
    lines = np.zeros((whole_fours(k), high + (high if factors.shape[1] == d else 1) + 1), kind)
    write_lines(means, factors, constants, lines)
    return lines


def in_fours(lines: Vector, kind: Kind) -> Floats:
    """(fours of d, fours of d and one) of (d, d), zeros added."""
    high = whole_fours(len(lines))
    out = np.zeros((high, high + 1), kind)
    out[: len(lines), : len(lines)] = lines
    return out
