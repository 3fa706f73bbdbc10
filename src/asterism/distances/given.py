"""Dissimilarities that come from outside: any function of two rows, or a matrix of all pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Matrix
from asterism.data.source import Source
from asterism.distances.base import Dissimilarity, Fitted, Tile
from asterism.errors import DataError, row_name

ROUNDING = 1e-8  # relative: by so much may a given matrix fail to be symmetric


@dataclass(frozen=True)
class UserFunction(Dissimilarity):
    """``function(x, y)`` of two rows (d,): 0 or more, the same both ways round, 0 from a row to itself.

    >>> from asterism.data.source import ArraySource
    >>> X = np.array([[1.0], [4.0]])
    >>> UserFunction(lambda x, y: abs(x - y).sum()).prepare(ArraySource(X)).between(X, X)
    array([[0., 3.],
           [3., 0.]])
    """

    function: Callable[[NDArray[np.float64], NDArray[np.float64]], Any]

    def prepare(self, source: Source) -> Fitted:
        """It needs to know nothing."""
        return FittedFunction(source.names, self.function)


@dataclass(frozen=True, eq=False)
class FittedFunction(Fitted):
    """A function of two rows that may be measured."""

    names: tuple[str, ...]
    function: Callable[[NDArray[np.float64], NDArray[np.float64]], Any]
    costly = True

    def ready(self, rows: Matrix) -> NDArray[np.float64]:
        """The rows as they are."""
        return np.ascontiguousarray(rows, np.float64)

    def tile(self, ready: NDArray[np.float64], points: NDArray[np.float64]) -> Tile:
        """One call a pair."""
        out = np.array([[self.function(x, y) for y in points] for x in ready], np.float64)
        out = out.reshape(len(ready), len(points))
        if not (out >= 0).all():
            i, j = divmod(int(np.argmin(out >= 0)), len(points))
            raise DataError(
                f"The metric function gave {out[i, j]} for the rows {ready[i]!r} and {points[j]!r}.",
                "It must give a number, 0 or more, for every pair of rows.",
            )
        return out


@dataclass(frozen=True)
class Precomputed(Dissimilarity):
    """The table itself holds the dissimilarities: row i, column j."""

    def prepare(self, source: Source) -> Fitted:
        """Rows must be as many as columns, and nothing negative or missing among them."""
        from asterism.engines.reduce import reduce

        if source.n_rows != source.n_columns:
            raise DataError(
                f"A precomputed matrix must be square; this one is {source.n_rows} x {source.n_columns}.",
                "Give the dissimilarities of all rows to all rows, or choose another metric.",
            )
        fitted = FittedMatrix(source.names)
        reduce(source, fitted.inspect)
        return fitted


@dataclass(frozen=True, eq=False)
class FittedMatrix(Fitted):
    """Distances that are looked up: rows are lines of the matrix, points are column numbers."""

    names: tuple[str, ...]
    missing_ok = False
    by_number = True

    def ready(self, rows: Matrix) -> NDArray[np.float64]:
        """Lines of the matrix."""
        if rows.shape[1] != len(self.names):
            raise DataError(
                f"The rows have {rows.shape[1]} dissimilarities.",
                f"Give those to all {len(self.names)} rows fitted.",
            )
        return np.asarray(rows, np.float64)

    def points(self, ready: NDArray[np.float64], numbers: Any = None) -> Any:  # noqa: ARG002  columns are all it takes
        """Column numbers."""
        if numbers is None:
            raise DataError(
                "A precomputed matrix holds the dissimilarities of the rows fitted, and of no others.",
                "Say which rows are meant by their numbers.",
            )
        return np.asarray(numbers, np.intp)

    def tile(self, ready: NDArray[np.float64], points: Any) -> Tile:
        """Columns of the lines."""
        if len(points) and points[-1] - points[0] == len(points) - 1 and (np.diff(points) == 1).all():
            return np.ascontiguousarray(
                ready[:, points[0] : points[-1] + 1]
            )  # neighbours: quicker than picking
        picked: Tile = np.take(
            ready, points, axis=1
        )  # lines stay whole, which ready[:, points] does not promise
        return picked

    def inspect(self, block: Any) -> NoFault:
        """Refuse a negative, missing or infinite dissimilarity, and a diagonal that is not zero."""
        from asterism.data.finite import require_finite

        require_finite(block, self.names)
        rows = block.rows
        counted = block.weights > 0
        own = rows[np.arange(len(rows)), block.start + np.arange(len(rows))]
        if (rows[counted] < 0).any() or own[counted].any():
            bad = (rows < 0) & counted[:, None]
            bad[np.arange(len(rows)), block.start + np.arange(len(rows))] |= (own != 0) & counted
            i, j = divmod(int(bad.argmax()), rows.shape[1])
            raise DataError(
                f"the dissimilarity to {row_name(j)} is {rows[i, j]:g}.",
                "Dissimilarities are 0 or more, and 0 from a row to itself.",
                row=block.start + i,
            )
        return NoFault()


@dataclass(frozen=True, slots=True)
class NoFault:
    """What an inspection that found nothing has to say."""

    def merge(self, other: NoFault) -> NoFault:  # noqa: ARG002  nothing to add
        """Still nothing."""
        return self
