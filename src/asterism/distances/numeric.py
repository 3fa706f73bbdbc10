"""Dissimilarities of numbers.

    p-norm              (sum_j |x_j - y_j|^p)^(1/p)         1 Manhattan, 2 Euclidean, infinity Chebyshev
    squared Euclidean   sum_j (x_j - y_j)^2
    cosine              1 - x.y / (|x| |y|) = |x/|x| - y/|y||^2 / 2
    Mahalanobis         sqrt((x - y)' S^-1 (x - y))         S the covariance of the table, divided by its weight

Missing cells (not in cosine and Mahalanobis, which need all): the sum runs over the columns that both rows have
and is multiplied by d over their number, as R's ``daisy`` and scikit-learn's ``nan_euclidean_distances`` do.
The maximum is taken over the columns that both have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Matrix
from asterism.data.source import Source
from asterism.distances.base import Dissimilarity, Fitted, Tile
from asterism.errors import DataError, ParameterError, row_name


@dataclass(frozen=True)
class PNorm(Dissimilarity):
    """The p-norm of the difference, 1 <= p <= infinity."""

    p: float = 2.0

    def __post_init__(self) -> None:
        if not (isinstance(self.p, int | float | np.number) and self.p >= 1):
            raise ParameterError(
                f"p is {self.p!r}.", "Give a number, 1 or more; numpy.inf is the maximum norm."
            )

    def prepare(self, source: Source) -> Fitted:
        """It needs to know nothing."""
        return FittedNorm(source.names, float(self.p), root=self.p not in (1.0, np.inf))


@dataclass(frozen=True)
class SquaredEuclidean(Dissimilarity):
    """The square of the Euclidean distance."""

    def prepare(self, source: Source) -> Fitted:
        """It needs to know nothing."""
        return FittedNorm(source.names, 2.0, root=False)


@dataclass(frozen=True)
class Cosine(Dissimilarity):
    """One minus the cosine of the angle between two rows: 0 same direction, 1 at right angles, 2 opposite."""

    def prepare(self, source: Source) -> Fitted:
        """It needs to know nothing."""
        return FittedCosine(source.names, 2.0, root=False)


@dataclass(frozen=True)
class Mahalanobis(Dissimilarity):
    """Euclidean distance in the table's own spread."""

    covariance: Any = field(default=None, repr=False)  # (d, d); None: that of the table

    def prepare(self, source: Source) -> Fitted:
        """One pass for the covariance, unless it is given."""
        from asterism.engines.reduce import reduce
        from asterism.stats.moments import Moments

        if self.covariance is None:
            moments = reduce(source, _CheckedMoments(source.names))
            assert isinstance(moments, Moments)
            covariance = moments.scatter / moments.weight
        else:
            covariance = np.asarray(self.covariance, np.float64)
        return FittedMahalanobis(source.names, 2.0, root=True, whitener=_whitener(covariance, source.names))


@dataclass(frozen=True, eq=False)
class FittedNorm(Fitted):
    """A p-norm that may be measured."""

    names: tuple[str, ...]
    p: float
    root: bool  # whether to end with the p-th root
    unknown: float = np.nan

    def ready(self, rows: Matrix) -> NDArray[np.float64]:
        """The rows as they are."""
        return np.ascontiguousarray(rows, np.float64)

    def tile(self, ready: NDArray[np.float64], points: NDArray[np.float64]) -> Tile:
        """Differences, from nothing but the two rows."""
        out = np.empty((len(ready), len(points)))
        _core.norm_tile(ready, points, self.p, self.root, self.unknown, out)
        return out


class FittedCosine(FittedNorm):
    """Half the squared distance of the directions: no cancellation for rows that point the same way."""

    missing_ok = False

    def ready(self, rows: Matrix) -> NDArray[np.float64]:
        """Directions: rows of length 1."""
        unit = rows / np.abs(rows).max(axis=1, keepdims=True, initial=1e-300)  # or squares might overflow
        length = np.sqrt(np.einsum("ij,ij->i", unit, unit, dtype=np.float64))
        if not length.all():
            row = int(np.argmin(length))
            raise DataError(
                f"{row_name(row)} of those given is zero in every column and has no direction.",
                "Leave such rows out, or use another metric than cosine.",
            )
        return super().ready(unit / length[:, None])

    def tile(self, ready: NDArray[np.float64], points: NDArray[np.float64]) -> Tile:
        """|u - v|^2 / 2."""
        tile = super().tile(ready, points)
        tile *= 0.5
        return tile


@dataclass(frozen=True, eq=False)
class FittedMahalanobis(FittedNorm):
    """Euclidean distance of the rows times a root of S^-1."""

    whitener: NDArray[np.float64] = field(repr=False, default_factory=lambda: np.eye(1))  # (d, d)
    missing_ok = False

    def ready(self, rows: Matrix) -> NDArray[np.float64]:
        """Rows in coordinates in which the table has covariance 1."""
        return super().ready(_product(rows, self.whitener))


def _product(rows: Matrix, whitener: NDArray[np.float64]) -> NDArray[np.float64]:
    """rows @ whitener, each row by itself: a row has the same bits in whatever company it comes."""
    product: NDArray[np.float64] = np.einsum("ij,jl->il", rows.astype(np.float64, copy=False), whitener)
    return product


def _whitener(covariance: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
    """(d, d) R with R R' = S^-1."""
    if covariance.shape != (len(names), len(names)):
        raise ParameterError(
            f"The covariance has the shape {covariance.shape}.", f"Give ({len(names)}, {len(names)})."
        )
    spread = np.sqrt(np.diag(covariance))
    for j in np.flatnonzero(~(spread > 0)):
        raise DataError(
            "the column does not vary, so that the covariance has no inverse.",
            "Leave the column out, or give a covariance.",
            column=names[int(j)],
        )
    values, vectors = np.linalg.eigh(covariance / np.outer(spread, spread))  # in units of their own
    if values[0] <= len(names) * np.finfo(float).eps * values[-1]:
        columns = np.argsort(-np.abs(vectors[:, 0]))[:3]
        raise DataError(
            "The covariance has no inverse: columns such as "
            f"{', '.join(repr(names[int(j)]) for j in np.sort(columns))} follow from one another.",
            "Leave one of them out, or give a covariance.",
        )
    root: NDArray[np.float64] = (vectors / np.sqrt(values)) / spread[:, None]
    return root


@dataclass(frozen=True)
class _CheckedMoments:
    """Moments of a block, once it is known that it has every cell."""

    names: tuple[str, ...]

    def __call__(self, block: Any) -> Any:
        from asterism.data.finite import require_finite
        from asterism.stats.moments import Moments

        require_finite(block, self.names)
        return Moments.of(block)


BY_NAME: dict[str, Dissimilarity] = {
    "euclidean": PNorm(2.0),
    "sqeuclidean": SquaredEuclidean(),
    "manhattan": PNorm(1.0),
    "cityblock": PNorm(1.0),
    "chebyshev": PNorm(np.inf),
    "cosine": Cosine(),
    "mahalanobis": Mahalanobis(),
}
