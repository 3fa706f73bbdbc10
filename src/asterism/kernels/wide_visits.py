"""Visits of wide rows: what ``visits`` does for any, in products (``kernels.wide``)."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from asterism.kernels.claims import wide_blocks, wide_tied_blocks
from asterism.kernels.normals import Floats, Kind, Normals, Vector, near
from asterism.kernels.products import panels_of
from asterism.kernels.vectors import BYTES, FOUR
from asterism.kernels.visits import AllBlocks, GaussianTotals, OneMatrix, Visit, over

FEWEST = 24  # columns from which on products are faster
MOST_BYTES = 16 << 20  # of the sums of all blocks of a table


class Wide(Visit):
    """Visits whose threads take blocks by themselves."""

    def sums(self, rows: Floats, weights: Vector, mode: int, notes: Vector) -> Vector:
        """What the shares of the rows of a block add up to."""
        if not len(rows):
            return np.zeros(self.length)
        task = WideBlocks(self, rows, weights, mode, notes)
        task.take()
        return np.asarray(task.sums[0])

    def together(self, rows: Floats, weights: Vector, mode: int, notes: Vector) -> AllBlocks | None:
        """The same of all blocks of a table, if their sums take little room."""
        few = -(-len(rows) // len(weights)) * 8 * self.length <= MOST_BYTES
        return WideBlocks(self, rows, weights, mode, notes) if few else None

    @abstractmethod
    def visit(self, task: WideBlocks) -> None:
        """Visit blocks until none is left; see ``kernels.claims``."""


class WideBlocks(AllBlocks):
    """Blocks of so many rows as there are weights."""

    def __init__(self, visit: Wide, rows: Floats, weights: Vector, mode: int, notes: Vector) -> None:
        super().__init__(-(-len(rows) // len(weights)), visit.length)
        self._visit, self.table, self.how = visit, (rows, weights, self.following), (mode, notes)

    def take(self) -> None:
        """Visit blocks until none is left."""
        self._visit.visit(self)


class WideVisit(Wide):
    """Round or diagonal groups; sums are about one point."""

    def __init__(self, normals: Normals, reference: Vector, log_weights: Vector, kind: Kind) -> None:
        super().__init__(normals, reference, log_weights, kind)
        precisions = normals.squared_factors
        self._round = precisions.shape[1] < self.d
        self._panels, columns = linear(normals.apart * precisions, precisions, self.constants, kind)
        self._high = columns - 1 - precisions.shape[1]  # where squares begin
        self._ones = columns - 1  # where masses are
        self._origin = near(reference, normals.middle, kind)
        room = room_for(self.k, columns, kind)
        self._shape = np.array([*room, self._ones])
        self._room(room)

    def visit(self, task: WideBlocks) -> None:
        """sum w r (x, ||x||^2 / 2, 1) or sum w r (x, x^2, 1) of every group, x from the middle."""
        wide_blocks(
            *task.table,
            self._origin,
            self._panels,
            self.k,
            not self._round,
            *task.how,
            self._shape,
            task.sums,
        )

    def totals(self, sums: Vector) -> GaussianTotals:
        """Squares less squares of the shifts; of round groups columns together."""
        heights, mass, moments = self._parts(sums)
        first, second = moments[: self.k, : self.d], moments[: self.k, self._high : self._ones]
        means = over(first, mass)
        between = means * first
        if self._round:
            second, between = 2.0 * second, between.sum(axis=1, keepdims=True)
        shifts = np.where(mass[:, None] > 0, means - self.normals.apart, 0.0)
        scatters = np.maximum(second - between, 0.0)
        return GaussianTotals(mass, shifts, scatters, float(heights[0]), float(heights[1]))


class WideTiedVisit(Wide, OneMatrix):
    """One matrix for all; sums are about one point."""

    def __init__(self, normals: Normals, reference: Vector, log_weights: Vector, kind: Kind) -> None:
        super().__init__(normals, reference, log_weights, kind)
        self._factor = normals.once("panels", kind, lambda: panels_of(normals.factors[0], kind))
        self._panels, columns = linear(normals.whitened, np.ones((self.k, 1)), self.constants, kind)
        self._origin = near(reference, normals.middle, kind)
        first, width = room_for(self.k, columns, kind), room_for(1, self.d, kind)[1]
        self._shape = np.array([*first, columns - 1, width])
        self._room(first, (width, width))

    def visit(self, task: WideBlocks) -> None:
        """sum w r (x, ., 1) of every group, and one sum w x x', x from the middle."""
        wide_tied_blocks(
            *task.table, self._origin, self._factor, self._panels, self.k, *task.how, self._shape, task.sums
        )


def linear(slopes: Vector, precisions: Vector, constants: Vector, kind: Kind) -> tuple[Floats, int]:
    """Panels of (slopes | precisions | constants) as ``kernels.wide`` multiplies them, and their columns.

    Of the numbers as they were rounded: the constant belongs to the square that they complete,
    slope x - precision x^2 / 2 = slope^2 / (2 precision) - precision (x - slope / precision)^2 / 2.
    """
    a, p = slopes.astype(kind).astype(np.float64), precisions.astype(kind).astype(np.float64)
    heights = constants - 0.5 * (a * a / p).sum(axis=1)
    (k, d), m = a.shape, p.shape[1]
    high = d if m < d else room_for(k, d, kind)[1]
    lines = np.zeros((k, high + m + 1))
    lines[:, :d], lines[:, high:-1], lines[:, -1] = a, -p if m < d else -0.5 * p, heights
    return panels_of(lines, kind), lines.shape[1]


def room_for(k: int, columns: int, kind: Kind) -> tuple[int, int]:
    """Whole fours of groups, whole vectors of columns."""
    lanes = BYTES // kind.itemsize
    return -(-k // FOUR) * FOUR, -(-columns // lanes) * lanes
