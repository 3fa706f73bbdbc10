"""Centred moments of weighted rows.

``ColumnMoments``  per column: weight, mean, sum of squared deviations, extremes; missing cells left out
``Moments``        of whole rows: weight, mean, scatter matrix; rows must be complete

Two parts merge by Chan's formula: with ``delta = mean_b - mean_a``,

    weight = weight_a + weight_b
    mean   = mean_a + delta * weight_b / weight
    scatter = scatter_a + scatter_b + delta delta' * weight_a weight_b / weight

A mean is kept as two numbers, ``mean`` and the ``rest`` that did not fit into it. Where means are large
beside their differences (a clock in seconds since 1970), ``delta`` would otherwise be mostly rounding.

References
----------
1. Chan, Golub, LeVeque (1983), Algorithms for computing the sample variance. Am. Statistician 37:242-247.
2. Knuth (1997), The Art of Computer Programming 2, 4.2.2: the exact error of an addition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block, Vector, is_sparse, present
from asterism.data.sparse import column_sums

RUN = 2048  # rows of a product y'y


@dataclass(frozen=True, slots=True)
class ColumnMoments:
    """What is known of each column by itself.

    >>> from asterism.data.block import block_of
    >>> m = ColumnMoments.of(block_of(np.array([[1.0, 5.0], [3.0, np.nan]])))
    >>> m.mean.tolist(), m.variance.tolist(), m.observed.tolist()
    ([2.0, 5.0], [1.0, 0.0], [2, 1])
    """

    rows: int  # rows of weight > 0
    total: float  # their weight
    weight: Vector  # (d,) weight of the observed cells
    mean: Vector  # (d,) 0 where nothing was observed
    rest: Vector  # (d,) mean + rest is the mean to twice the digits
    scatter: Vector  # (d,) sum of w (x - mean)^2
    low: Vector  # (d,) smallest observed value, +inf where nothing was observed
    high: Vector  # (d,) largest observed value, -inf where nothing was observed
    observed: NDArray[np.int64]  # (d,) number of observed cells
    infinite: tuple[int, int] | None  # row and column of the first infinite cell; it counts as missing

    @classmethod
    def zero(cls, d: int) -> ColumnMoments:
        """The moments of no rows."""
        none = np.zeros(d)
        return cls(0, 0.0, none, none, none, none, none + np.inf, none - np.inf, none.astype(np.int64), None)

    @classmethod
    def of(cls, block: Block) -> ColumnMoments:
        """The moments of a block (``src/core/moments.cpp``)."""
        if is_sparse(block.rows):
            return _of_stored(present(block))
        table = np.empty((len(COLUMN_FIELDS), block.rows.shape[1]))
        rows = _core.column_moments(block.rows, block.weights, table)
        weight, mean, rest, scatter, low, high, observed = table
        infinite = _first_infinite(block) if (observed < rows).any() else None
        counts, total = observed.astype(np.int64), float(block.weights.sum())
        return cls(rows, total, weight, mean, rest, scatter, low, high, counts, infinite)

    def merge(self, other: ColumnMoments) -> ColumnMoments:
        """Chan's formula, column by column; a column that one part never saw is the other's, to the bit."""
        weight = self.weight + other.weight
        here, there = self.weight > 0, other.weight > 0
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=there)
        with np.errstate(invalid="ignore", over="ignore"):
            delta = (other.mean - self.mean) + (other.rest - self.rest)
            mean, rest = _two_sum(self.mean, self.rest + delta * share)
            scatter = self.scatter + other.scatter + delta * delta * (self.weight * share)
        return ColumnMoments(
            rows=self.rows + other.rows,
            total=self.total + other.total,
            weight=weight,
            mean=_of_both(here, there, mean, self.mean, other.mean),
            rest=_of_both(here, there, rest, self.rest, other.rest),
            scatter=_of_both(here, there, scatter, self.scatter, other.scatter),
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            observed=self.observed + other.observed,
            infinite=min((bad for bad in (self.infinite, other.infinite) if bad is not None), default=None),
        )

    def select(self, j: NDArray[np.int64]) -> ColumnMoments:
        """The moments of some columns."""
        inner = self.infinite is not None and self.infinite[1] in j
        columns = {name: getattr(self, name)[j] for name in COLUMN_FIELDS}
        return replace(self, **columns, infinite=self.infinite if inner else None)

    @property
    def variance(self) -> Vector:
        """(d,) scatter / weight; 0 where nothing was observed."""
        return np.divide(self.scatter, self.weight, out=np.zeros_like(self.weight), where=self.weight > 0)

    @property
    def missing(self) -> bool:
        """Whether any cell of a counted row is missing."""
        return bool((self.observed < self.rows).any())


COLUMN_FIELDS = (
    "weight",
    "mean",
    "rest",
    "scatter",
    "low",
    "high",
    "observed",
)  # (d,) each, as the core has them


def _of_stored(block: Block) -> ColumnMoments:
    """Of sparse rows: with W the weight of all rows and w of those whose cell is stored,

    mean = sum w x / W        scatter = sum w (x - mean)^2 + (W - sum w) mean^2
    """
    x: Any = block.rows
    n, d = x.shape
    total = float(block.weights.sum())
    if not n:
        return ColumnMoments.zero(d)
    value, w = x.data.astype(np.float64, copy=False), block.weights
    infinite = None
    if not np.isfinite(value).all():  # NaN among them: no cell of a sparse table is missing
        at = int(np.isfinite(value).argmin())
        infinite = block.start + int(np.searchsorted(x.indptr, at, side="right")) - 1, int(x.indices[at])
    stored = np.bincount(x.indices, minlength=d)
    low, high = np.where(stored < n, 0.0, np.inf), np.where(stored < n, 0.0, -np.inf)
    with np.errstate(invalid="ignore"):
        mean = column_sums(x, value, w) / total
        away = mean[x.indices]
        np.subtract(value, away, out=away)
        away *= away
        there = column_sums(x, np.ones(len(value)), w)
        scatter = column_sums(x, away, w) + (total - there) * mean**2
        np.minimum.at(low, x.indices, value)
        np.maximum.at(high, x.indices, value)
    weight, counts = np.full(d, total), np.full(d, n, np.int64)
    return ColumnMoments(n, total, weight, mean, np.zeros(d), scatter, low, high, counts, infinite)


def _first_infinite(block: Block) -> tuple[int, int] | None:
    """Row and column of the first infinite cell of the rows that count."""
    bad = np.isinf(block.rows)
    bad[block.weights == 0] = False
    i, j = divmod(int(bad.argmax()), block.rows.shape[1])
    return (block.start + i, j) if bad[i, j] else None


def _of_both(
    here: NDArray[np.bool_], there: NDArray[np.bool_], both: Vector, one: Vector, other: Vector
) -> Vector:
    """(d,) ``both`` where both parts saw the column, else what the part has that did."""
    return np.where(here & there, both, np.where(there, other, one))


@dataclass(frozen=True, slots=True)
class Moments:
    """Weight, mean and scatter of complete rows.

    >>> from asterism.data.block import block_of
    >>> m = Moments.of(block_of(np.array([[1.0, 5.0], [3.0, 9.0]])))
    >>> m.weight, m.mean.tolist(), m.scatter.tolist()
    (2.0, [2.0, 7.0], [[2.0, 4.0], [4.0, 8.0]])
    """

    weight: float
    mean: Vector  # (d,)
    rest: Vector  # (d,) mean + rest is the mean to twice the digits
    scatter: NDArray[np.float64]  # (d, d) sum of w (x - mean)(x - mean)'

    @classmethod
    def zero(cls, d: int) -> Moments:
        """The moments of no rows."""
        return cls(0.0, np.zeros(d), np.zeros(d), np.zeros((d, d)))

    @classmethod
    def of(cls, block: Block) -> Moments:
        """One pass over a block, around a reference near the mean.

        With ``y = sqrt(w) (x - reference)`` and ``left = sum w (x - reference) / weight``

            mean = reference + left        scatter = y'y - left left' weight
        """
        w, x = block.weights, block.rows
        weight = float(w.sum())
        if weight == 0:
            return cls.zero(x.shape[1])
        # Infinite cells and overflow end as NaN in the result, where whoever asked will see them.
        with np.errstate(invalid="ignore", over="ignore"):
            reference = _near_mean(x, w, weight)
            scatter, left = np.zeros((x.shape[1], x.shape[1])), np.zeros(x.shape[1])
            for i in range(0, len(x), RUN):  # sums of sums: the error does not grow with the number of rows
                y, root = _deviations(x[i : i + RUN], w[i : i + RUN], reference)
                scatter += y.T @ y  # recognised as symmetric by NumPy, at half the cost
                left += root @ y
            left /= weight
            scatter -= np.outer(left, left) * weight  # in this order symmetric to the bit
            mean, rest = _two_sum(reference, left)
        return cls(weight, mean, rest, scatter)

    @classmethod
    def of_single(cls, block: Block) -> Moments:
        """As ``of``, in half the time: products of float32 rows of weight 1 in float32, in runs that add in float64.

        The mean is that of ``of``; the scatter between two columns is off by some 1e-7 of the product of their
        deviations, as if the cells had been rounded once more. For who wants no small differences of it.
        """
        x, n = block.rows, len(block)
        if x.dtype != np.float32 or not n or (block.weights != 1).any():
            return cls.of(block)
        with np.errstate(invalid="ignore", over="ignore"):
            average = x.sum(axis=0, dtype=np.float64) / n
            reference = average.astype(np.float32)  # nothing will cancel
            scatter = np.zeros((x.shape[1], x.shape[1]))
            room = np.empty_like(x[:RUN])
            for i in range(0, n, RUN):
                run = x[i : i + RUN]
                y = np.subtract(run, reference, out=room[: len(run)])
                scatter += y.T @ y
            left = average - reference
            scatter -= np.outer(left, left) * n
            mean, rest = _two_sum(reference.astype(np.float64), left)
        return cls(float(n), mean, rest, scatter)

    def merge(self, other: Moments) -> Moments:
        """Chan's formula."""
        if self.weight == 0 or other.weight == 0:
            return other if self.weight == 0 else self
        weight = self.weight + other.weight
        share = other.weight / weight
        with np.errstate(invalid="ignore", over="ignore"):
            delta = (other.mean - self.mean) + (other.rest - self.rest)
            mean, rest = _two_sum(self.mean, self.rest + delta * share)
            between = np.outer(delta, delta)
            between *= self.weight * share
            scatter = self.scatter + other.scatter
            scatter += between
        return Moments(weight, mean, rest, scatter)


def _deviations(x: NDArray[Any], w: Vector, reference: Vector) -> tuple[NDArray[np.float64], Vector]:
    """(n, d) ``sqrt(w) (x - reference)`` and (n,) ``sqrt(w)``; absent rows may hold anything, NaN included."""
    y = np.subtract(x, reference, dtype=np.float64) if reference.any() else x.astype(np.float64, copy=False)
    if (w == 1).all():
        return y, w
    root = np.sqrt(w)
    y = np.where(w[:, None] > 0, y, 0.0)
    y *= root[:, None]
    return y, root


def _near_mean(x: NDArray[Any], w: Vector, weight: float) -> Vector:
    """(d,) the mean of some rows of a block, or 0 where that is near enough.

    For rows with a share s of the weight, whose mean is the reference, scatter >= s weight left^2, so
    y'y <= (1 + 1/s) scatter in every direction: the correction cancels no more than log2(1 + 1/s) bits,
    whatever the data. A sixteenth of the rows costs next to nothing and, with s >= 1/32, at worst five bits;
    seven where their mean is within one standard deviation of 0, and nothing need be subtracted at all.
    A column of one value has that value for a reference, and a scatter of exactly 0.
    """
    few = -(-len(x) // 16)
    if w[:few].sum() * 32 < weight:
        few = len(x)  # the first rows hardly count
    w = w[:few]
    first = np.asarray(x[np.argmax(w > 0)], np.float64)
    y = np.subtract(x[:few], first, dtype=np.float64)
    if not w.all():
        y[w == 0] = 0.0
    share = w / w.sum()
    shift = share @ y
    reference: Vector = first + shift
    if (reference**2 <= share @ (y - shift) ** 2).all():
        return np.zeros_like(reference)
    return reference


def _two_sum(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """The rounded sum, and exactly what rounding took from it."""
    total = a + b
    c = total - a
    return total, (a - (total - c)) + (b - c)
