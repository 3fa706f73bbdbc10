"""Dissimilarities of tables whose columns are of several kinds: sums over columns.

    weighted sum    d(x, y) = sum_j w_j d_j(x_j, y_j)
    Gower           d(x, y) = sum_j w_j d_j(x_j, y_j) / sum_j w_j      over the columns both rows have

===============  ===================================================  =======================================
kind             d_j in a weighted sum                                d_j of Gower
===============  ===================================================  =======================================
numeric          |x - y|                                              |x - y| / range of the column
ordinal          |rank - rank| / (levels - 1)                         |rank - rank| / range of the ranks found
categorical      1 where the names differ                             the same
boolean          1 where they differ                                  the same; where the column is named in
                                                                      ``asymmetric``, a pair of zeros counts for
                                                                      nothing at all: neither above nor below
===============  ===================================================  =======================================

In a weighted sum that lacks cells the columns that are there stand for all: times ``sum w`` over theirs.

References
----------
1. Gower (1971), A general coefficient of similarity and some of its properties. Biometrics 27:857-871.
2. Kaufman, Rousseeuw (1990), Finding Groups in Data, chapter 1. Wiley. (R's ``cluster::daisy``.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Matrix, Vector
from asterism.data.columns import NUMBERS, Column, Kind, require_known
from asterism.data.finite import infinite_cell
from asterism.data.source import Source
from asterism.distances.base import Dissimilarity, Fitted, Tile
from asterism.errors import DataError, ParameterError

Weights = (
    Mapping[str, float] | Sequence[float] | None
)  # by name, where 1 is meant if not said; or one a column


@dataclass(frozen=True)
class Gower(Dissimilarity):
    """The mean over columns of what two rows differ by in each; between 0 and 1.

    >>> from asterism.data.read import read
    >>> import pyarrow
    >>> source = read(pyarrow.table({"height": [1.0, 2.0, 3.0, None], "color": ["red", "red", "blue", "red"]}))
    >>> rows = next(source.blocks()).rows
    >>> Gower().prepare(source).between(rows[:1], rows)
    array([[0.  , 0.25, 1.  , 0.  ]])
    """

    takes_kinds: ClassVar[bool] = True

    column_weights: Weights = None
    asymmetric: Sequence[
        str
    ] = ()  # names of boolean (or 0/1) columns in which only "both 1" makes rows alike

    def prepare(self, source: Source) -> Fitted:
        """One pass for the ranges of numbers and ranks."""
        kinds = column_kinds(source.columns, {}, self.asymmetric)
        low, high = _extremes(source)
        spread = np.where((kinds == RANGE) & (high > low), high - low, 1.0)
        return FittedSum(
            source.names, kinds, _weights(self.column_weights, source.names), low, spread, normalised=True
        )


@dataclass(frozen=True)
class WeightedSum(Dissimilarity):
    """The weighted sum over columns, each in its own unit; nothing is divided by a range.

    >>> from asterism.data.source import ArraySource
    >>> X = np.array([[0.0, 1.0], [3.0, 2.0]])
    >>> WeightedSum({"x0": 2.0}).prepare(ArraySource(X)).between(X, X)
    array([[0., 7.],
           [7., 0.]])
    """

    takes_kinds: ClassVar[bool] = True

    column_weights: Weights = None
    treat_as: Mapping[str, Kind] | Kind | None = (
        None  # kinds other than the table's: for some columns, or all
    )

    def prepare(self, source: Source) -> Fitted:
        """It needs to know the kinds of the columns, and how many levels they have."""
        treat = self.treat_as
        told = dict.fromkeys(source.names, treat) if isinstance(treat, str) else dict(treat or {})
        kinds = column_kinds(source.columns, told, ())
        ranks = [told.get(c.name, c.kind) == "ordinal" for c in source.columns]
        high = np.array([_top_rank(c) for c in source.columns], np.float64)
        if any(rank and not top for rank, top in zip(ranks, high, strict=True)):
            high = np.where(high > 0, high, _extremes(source)[1])  # codes of an array: 0, 1, 2, ...
        spread = np.where(np.array(ranks) & (high > 0), high, 1.0)
        weights = _weights(self.column_weights, source.names)
        return FittedSum(source.names, kinds, weights, np.zeros(len(kinds)), spread, normalised=False)


@dataclass(frozen=True)
class Mismatch(Dissimilarity):
    """The share of columns in which two rows differ (Hamming)."""

    takes_kinds: ClassVar[bool] = True

    column_weights: Weights = None

    def prepare(self, source: Source) -> Fitted:
        """It needs to know nothing."""
        weights = _weights(self.column_weights, source.names)
        d = len(weights)
        return FittedSum(
            source.names, np.zeros(d, np.int64), weights, np.zeros(d), np.ones(d), normalised=True
        )


@dataclass(frozen=True, eq=False)
class FittedSum(Fitted):
    """A sum or mean over columns that may be measured."""

    names: tuple[str, ...]
    kinds: NDArray[np.int64]  # (d,) RANGE, DIFFER or ASYMMETRIC
    weights: Vector  # (d,)
    low: Vector  # (d,) what numbers are counted from
    spread: Vector  # (d,) what they are divided by
    normalised: bool  # a mean over columns, not a sum
    unknown: float = np.nan

    def ready(self, rows: Matrix) -> NDArray[np.float64]:
        """Numbers in units of their range; codes as they are."""
        out = rows.astype(np.float64)
        numbers = self.kinds == RANGE
        out[:, numbers] = (out[:, numbers] - self.low[numbers]) / self.spread[numbers]
        return np.ascontiguousarray(out)

    def tile(self, ready: NDArray[np.float64], points: NDArray[np.float64]) -> Tile:
        """Column by column."""
        out = np.empty((len(ready), len(points)))
        scale = 1.0 if self.normalised else float(self.weights.sum())
        _core.mixed_tile(ready, points, self.kinds, self.weights, scale, self.unknown, out)
        return out


DIFFER, RANGE, ASYMMETRIC = 0, 1, 2  # as in core/pairwise.cpp


def column_kinds(
    columns: tuple[Column, ...], told: Mapping[str, Kind], asymmetric: Sequence[str]
) -> NDArray[np.int64]:
    """(d,) how the cells of each column are compared."""
    names = [column.name for column in columns]
    require_known(list(told), names, "treat_as")
    require_known(list(asymmetric), names, "asymmetric")
    kinds = []
    for column in columns:
        kind = told.get(column.name, column.kind)
        if column.name in asymmetric:
            if kind not in ("boolean", "numeric"):
                raise ParameterError(
                    f"Column {column.name!r} is {kind}, and asymmetric.", "Only columns of 0 and 1 can be."
                )
            kinds.append(ASYMMETRIC)
        else:
            kinds.append(RANGE if kind in (*NUMBERS, "ordinal") else DIFFER)
    return np.array(kinds, np.int64)


def _weights(weights: Weights, names: tuple[str, ...]) -> Vector:
    """(d,) a weight for every column, checked."""
    if weights is None:
        return np.ones(len(names))
    if isinstance(weights, Mapping):
        require_known(list(weights), names, "column_weights")
        found = np.array([float(weights.get(name, 1.0)) for name in names])
    else:
        found = np.asarray(weights, np.float64)
    good = found.shape == (len(names),) and np.isfinite(found).all() and (found >= 0).all() and found.any()
    if not good:
        raise ParameterError(
            f"column_weights is {weights!r}.", f"Give {len(names)} numbers, 0 or more and not all 0."
        )
    return found


def _extremes(source: Source) -> tuple[Vector, Vector]:
    """(d,) smallest and largest value of each column that has any."""
    from asterism.engines.reduce import reduce
    from asterism.stats.moments import ColumnMoments

    moments = reduce(source, ColumnMoments.of)
    if moments.infinite is not None:
        raise infinite_cell(source.names, *moments.infinite)
    for j in np.flatnonzero(moments.observed == 0):
        raise DataError(
            "every cell is missing.", "Leave the column out, or fill it in.", column=source.names[int(j)]
        )
    return moments.low, moments.high


def _top_rank(column: Column) -> int:
    return max(len(column.levels) - 1, 0)


BY_NAME: dict[str, Dissimilarity] = {
    "gower": Gower(),
    "mismatch": Mismatch(),
    "hamming": Mismatch(),
    "ordinal": WeightedSum(treat_as="ordinal"),
    "weighted": WeightedSum(),
}
