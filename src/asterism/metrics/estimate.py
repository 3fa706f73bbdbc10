"""The silhouette of a table too large for all pairs: some rows of every group against all rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.distances.base import Fitted, ReadySource
from asterism.distances.pairwise import prepared
from asterism.engines.reduce import reduce
from asterism.errors import ParameterError
from asterism.metrics.silhouette import Sums, add_sums, points_of, require_comparable, silhouettes
from asterism.metrics.tables import Labelled, labelled, weights_of
from asterism.stats.contingency import totals

LEAST = 2  # rows drawn from a group, so that its spread is known


@dataclass(frozen=True, slots=True)
class SilhouetteEstimate:
    """A silhouette score with its error."""

    score: float
    error: float  # standard error; 0 where every row was measured
    low: float  # confidence limits, by the normal approximation
    high: float
    confidence: float
    n_sampled: int  # rows that were measured, each against all rows


@dataclass(frozen=True, slots=True)
class GroupSums:
    """Sums of dissimilarities of the drawn rows to the rows of each group. They add."""

    table: Sums  # (m, k)

    def merge(self, other: GroupSums) -> GroupSums:
        """Sums add."""
        return GroupSums(self.table + other.table)


def silhouette_interval(
    X: Any,
    labels: Any,
    *,
    sample_size: int = 2000,
    metric: Any = "euclidean",
    confidence: float = 0.95,
    sample_weight: Any = None,
    random_state: int | None = 0,
) -> SilhouetteEstimate:
    """The mean silhouette, estimated without bias, and how far off it may be; two passes over the table.

    ``sample_size`` rows are drawn from the groups in proportion to their weight, at least two of each. Their s is
    exact, for they are measured against all rows. With m_g of the n_g rows of group g drawn and N_g its weight

        score = sum_g N_g / N mean_g(s)        error^2 = sum_g (N_g / N)^2 var_g(s) / m_g (1 - m_g / n_g)

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2)) + 4 * np.arange(3).repeat(1000)[:, None]
    >>> found = silhouette_interval(X, np.arange(3).repeat(1000), sample_size=300)
    >>> found.n_sampled, found.error < 0.02, found.low < found.score < found.high
    (300, True, True)
    """
    if sample_size < 1:
        raise ParameterError(f"sample_size is {sample_size}.", "Give the number of rows to measure.")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence is {confidence}.", "Give a number between 0 and 1, such as 0.95.")
    from asterism.metrics.silhouette import NUMERIC

    table = labelled(X, labels, sample_weight, mixed=metric not in NUMERIC)
    strata = Strata.of(table)
    drawn = strata.draw(sample_size, np.random.default_rng(random_state))
    fitted, ready = prepared(table.source, metric)
    rows = rows_at(ready, drawn)
    sums = reduce(ready, partial(_sums, table, fitted, rows)).table
    groups = table.labels.codes[drawn]
    require_comparable(sums, 0)
    values = silhouettes(sums, groups, strata.mass)
    score, error = strata.mean(values, groups, drawn)
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * error
    return SilhouetteEstimate(score, error, score - reach, score + reach, confidence, len(drawn))


@dataclass(frozen=True)
class Strata:
    """The groups as strata of a sample."""

    order: NDArray[np.intp]  # rows that count, by group
    starts: NDArray[np.intp]  # (k + 1,) where groups begin in ``order``
    mass: Vector  # (k,) weights
    weights: Vector | None  # (n,) of the rows

    @classmethod
    def of(cls, table: Labelled) -> Strata:
        """By the labels of a table."""
        weights, codes = weights_of(table.source), table.labels.codes
        counted = np.arange(len(codes)) if weights is None else np.flatnonzero(weights)
        order = counted[np.argsort(codes[counted], kind="stable")]
        w = None if weights is None else weights[order]
        mass = totals(codes[order], w, table.k)
        return cls(order, np.searchsorted(codes[order], np.arange(table.k + 1)), mass, weights)

    def draw(self, m: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Ascending row numbers: about ``m``, in proportion to weight, at least ``LEAST`` of every group."""
        sizes = np.diff(self.starts)
        wanted = np.maximum(np.rint(m * self.mass / self.mass.sum()).astype(int), LEAST)
        parts = [
            self.order[start + rng.choice(size, min(size, want), replace=False)]
            for start, size, want in zip(self.starts, sizes, wanted, strict=False)
        ]
        return np.sort(np.concatenate(parts))

    def mean(self, values: Vector, groups: NDArray[Any], drawn: NDArray[np.intp]) -> tuple[float, float]:
        """Score and standard error; within a group a weighted mean, with the error of a ratio."""
        k = len(self.mass)
        w = np.ones(len(drawn)) if self.weights is None else self.weights[drawn]
        share = w / np.bincount(groups, w, k)[groups]
        means = np.bincount(groups, share * values, k)
        drawn_of, rows_of = np.bincount(groups, minlength=k), np.diff(self.starts)
        off = totals(groups, (share * (values - means[groups])) ** 2, k)
        off *= drawn_of / np.maximum(drawn_of - 1, 1) * (1.0 - drawn_of / rows_of)
        part = self.mass / self.mass.sum()
        return float(part @ means), float(np.sqrt(part**2 @ off))


def rows_at(ready: ReadySource, numbers: NDArray[np.intp]) -> NDArray[np.float64]:
    """Rows of these ascending numbers, as the dissimilarity takes them, in one pass."""
    found, row = [], 0
    for rows, _ in ready.pieces(0, ready.n_rows):
        a, b = np.searchsorted(numbers, (row, row + len(rows)))
        found.append(rows[numbers[a:b] - row])
        row += len(rows)
    return np.concatenate(found)


def _sums(table: Labelled, fitted: Fitted, rows: Any, block: Block) -> GroupSums:
    codes = table.codes(block)
    counted = np.flatnonzero(block.weights)
    order = counted[np.argsort(codes[counted], kind="stable")]
    sums = np.zeros((len(rows), table.k))
    ready, weights = block.rows[order], block.weights[order]
    for points in points_of(fitted, ready, order + block.start, weights, codes[order]):
        add_sums(fitted, rows, points, sums)
    return GroupSums(sums)
