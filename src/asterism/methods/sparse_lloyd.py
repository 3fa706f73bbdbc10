"""Lloyd's steps on sparse rows, by SciPy's products.

    ||x - c||^2 = ||x||^2 - 2 x'c + ||c||^2        x'c over the stored cells of x

Rows are taken as they are, not from a reference among them: nearly all cells are 0, and stay where they are. So
what rounding costs is relative to ||x||^2 + ||c||^2. Centres are dense, (k, d) numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, present
from asterism.data.sparse import squared_lengths, stacked_rows
from asterism.methods.lloyd import (
    NOT_FAR,
    REPAIRS,
    Centers,
    distinct_sites,
    moved,
    pack_centers,
    unpack_centers,
)

Array = NDArray[np.float64]


def squared_distances(model: Centers, rows: Any) -> Array:
    """(n, k) of sparse rows to the centres."""
    columns, squares = model.by_column
    found = np.asarray(rows @ columns)
    found *= -2.0
    found += squares
    found += squared_lengths(rows)[:, None]
    np.maximum(found, 0.0, out=found)
    return found


@dataclass(frozen=True, slots=True)
class FarRows:
    """Up to m sparse rows farthest from their centres, farthest first; the earlier row first among equals."""

    distance: Vector  # (<= m,) squared, above 0
    row: NDArray[np.int64]  # (<= m,) global number
    values: Any  # (<= m, d) CSR
    most: int  # m

    @classmethod
    def of(cls, rows: Any, number: NDArray[np.int64], squares: Vector, most: int) -> FarRows:
        """From the numbers (n,) of some rows and their squared distances (n,)."""
        order = np.lexsort((number, -squares))[:most]
        order = order[squares[order] > NOT_FAR * squared_lengths(rows[order])]
        return cls(squares[order], number[order], rows[order], most)

    def merge(self, other: FarRows) -> FarRows:
        """The m farthest of both."""
        distance = np.concatenate([self.distance, other.distance])
        row = np.concatenate([self.row, other.row])
        order = np.lexsort((row, -distance))[: self.most]
        return FarRows(
            distance[order], row[order], stacked_rows([self.values, other.values])[order], self.most
        )


@dataclass(frozen=True, slots=True)
class SparseSums:
    """What sparse rows say of the centres of their groups."""

    totals: Array  # (d, k) sum of w x: a column a group
    mass: Vector  # (k,) sum of w
    inertia: float  # sum of w ||x - c||^2
    far: FarRows

    def merge(self, other: SparseSums) -> SparseSums:
        """Sums add."""
        return SparseSums(
            self.totals + other.totals,
            self.mass + other.mass,
            self.inertia + other.inertia,
            self.far.merge(other.far),
        )


@dataclass(frozen=True)
class SparseLloyd:
    """The method, for tables whose rows are CSR."""

    tol: float = 0.0  # the sum of squared moves of all centres below which it has settled
    name: str = "k-means"

    def prepare(self, model: Centers, dtype: np.dtype[Any]) -> None:  # noqa: ARG002  one signature for all
        """The centres by column, once for all blocks."""
        _ = model.by_column

    def summarize(self, model: Centers, block: Block) -> SparseSums:
        """Each row to its nearest centre."""
        here, number = present(block), block.start + np.flatnonzero(block.weights > 0)
        squares = squared_distances(model, here.rows)
        n, k = squares.shape
        labels, every = squares.argmin(axis=1), np.arange(n)
        nearest = squares[every, labels]
        mass = np.zeros((n, k))
        mass[every, labels] = here.weights
        far = FarRows.of(here.rows, number, nearest, min(k, REPAIRS))
        return SparseSums(here.rows.T @ mass, mass.sum(axis=0), float(here.weights @ nearest), far)

    def update(self, model: Centers, statistic: SparseSums) -> Centers:
        """c <- sum w x / sum w; an empty group takes a far row for its centre."""
        mass, frame = statistic.mass, model.frame
        means = statistic.totals / np.where(mass > 0, mass, 1.0)  # by column: as the next step takes them
        empty = np.flatnonzero(mass <= 0)
        if len(empty):
            means[:, empty] = model.positions[empty].T
            sites = distinct_sites(statistic.far.values.toarray(), len(mass), len(empty))
            means[:, empty[: len(sites)]] = sites.T
        if frame.reference.any():
            means -= frame.reference[:, None]
        return Centers(frame, means.T, unsettled=len(empty) > 0)

    def objective(self, model: Centers, statistic: SparseSums) -> float:  # noqa: ARG002  one signature for all
        """J of the model the statistic was taken with."""
        return statistic.inertia

    def settled(self, before: Centers, after: Centers) -> bool:
        """The centres hardly moved."""
        return not after.unsettled and moved(before, after) <= self.tol

    def pack(self, model: Centers) -> Mapping[str, NDArray[Any]]:
        """For a checkpoint."""
        return pack_centers(model)

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Centers:
        """From a checkpoint."""
        return unpack_centers(arrays)
