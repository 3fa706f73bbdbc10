"""How many components probabilistic PCA should have: BIC, or the likelihood of rows that were left out.

Of complete rows the moments tell both, for every m at once. With S = V diag(l) V' of the rows fitted to, and
H = sum w (x - mean)(x - mean)' of those left out, a_i = v_i' H v_i,

    log p(left out) = -1/2 (w (d log 2 pi + sum_{i<=m} log l_i + (d - m) log s2)
                            + sum_{i<=m} a_i / l_i + sum_{i>m} a_i / s2)

so folds cost one pass that takes the moments of each, and one decomposition a fold. Where cells are missing every
m is fitted by EM, upwards until BIC has not improved for a while. Of the rows left out the fewest components count
that are within one standard error of the best.

Reference: Minka (2000), Automatic choice of dimensionality for PCA. NIPS 13 (what BIC approximates).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism.data.block import Block, Vector, block_of, unit_weights
from asterism.data.source import Piece, Source
from asterism.engines.reduce import reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import DataError, ParameterError
from asterism.families.covariance import FLOOR
from asterism.families.missing import LOG_2_PI
from asterism.methods.frame import survey
from asterism.methods.posterior import told
from asterism.methods.ppca import fit_ppca
from asterism.stats.base import Joined
from asterism.stats.moments import ColumnMoments, Moments

PATIENCE = 3  # larger m that may fail to improve BIC before the search ends, where each costs a fit


@dataclass(frozen=True)
class Order:
    """Criteria against m, and the m chosen."""

    m: int
    criterion: str
    tried: NDArray[np.int64]  # (c,) numbers of components
    bic: Vector  # (c,) smaller is better
    held_out: Vector  # (c,) log-likelihood a row of rows left out, larger is better; NaN where not asked for
    error: Vector  # (c,) its standard error over folds


@one_blas_thread()
def choose_order(
    source: Source, criterion: str = "bic", *, most: int | None = None, folds: int = 5, seed: int = 0
) -> Order:
    """The number of components that a criterion likes best, up to ``most``.

    Folds are of rows: a row of weight w is left out with all its copies.

    >>> from asterism.data.source import ArraySource
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(400, 2)) @ rng.normal(size=(2, 6)) * 3 + rng.normal(size=(400, 6))
    >>> choose_order(ArraySource(rows)).m
    2
    """
    if criterion not in ("bic", "cv"):
        raise ParameterError(f"The criterion is {criterion!r}.", "Give 'bic' or 'cv'.")
    _, columns = survey(source)
    limit = min(source.n_columns, columns.rows) - 1
    most = limit if most is None else min(most, limit)
    if most < 1:
        raise DataError(
            f"The table has {columns.rows} sample(s) and n_features={source.n_columns}: there is nothing to choose.",
            "Give two rows and two columns at least.",
        )
    folds = min(folds, columns.rows)
    if columns.missing:
        return _by_fitting(source, criterion, most, folds, seed)
    return _by_moments(source, criterion, most, folds, seed, columns)


def fold_of(block: Block, folds: int, seed: int) -> NDArray[np.int64]:
    """(n,) the fold of every row: drawn by the block's place in the table, whoever reads it."""
    return np.random.default_rng([seed, block.start]).integers(folds, size=len(block))


# ---- complete rows


def _by_moments(
    source: Source, criterion: str, most: int, folds: int, seed: int, columns: ColumnMoments
) -> Order:
    parts: list[Moments] = list(reduce(source, partial(_fold_moments, folds, seed)).parts)
    whole = _merged(parts, -1)
    d, weight = len(whole.mean), whole.weight
    floor = FLOOR * float(columns.variance.mean())
    if floor <= 0:
        raise DataError("Every column is constant: there is nothing to choose.", "Give rows that differ.")
    tried = np.arange(1, most + 1)
    height = _held_out(whole, whole, floor)[:most]
    free = d + d * tried - tried * (tried - 1) // 2 + 1
    bic = -2.0 * height + free * np.log(weight)
    held = np.full((folds, most), np.nan)
    for f, part in enumerate(parts):
        if criterion == "cv" and 0 < part.weight < weight:
            held[f] = _held_out(_merged(parts, f), part, floor)[:most] / part.weight
    return _chosen(criterion, tried, bic, held)


def _fold_moments(folds: int, seed: int, block: Block) -> Joined:
    fold = fold_of(block, folds, seed)
    return Joined(
        tuple(
            Moments.of(block_of(block.rows[fold == f], block.weights[fold == f], block.start))
            for f in range(folds)
        )
    )


def _merged(parts: list[Moments], but: int) -> Moments:
    total = Moments.zero(len(parts[0].mean))
    for f, part in enumerate(parts):
        total = total if f == but else total.merge(part)
    return total


def _held_out(fitted: Moments, left: Moments, floor: float) -> Vector:
    """(d - 1,) log-likelihood of rows with moments ``left`` under the models fitted to others, m = 1 .. d - 1."""
    d = len(fitted.mean)
    values, vectors = linalg.eigh(fitted.scatter / fitted.weight)
    values, vectors = np.maximum(values[::-1], floor), vectors[:, ::-1]
    away = (left.mean - fitted.mean) + (left.rest - fitted.rest)
    along = np.einsum("di,di->i", vectors, left.scatter @ vectors) + left.weight * (away @ vectors) ** 2  # a
    m = np.arange(1, d)
    noise = np.cumsum(values[::-1])[::-1][1:] / (d - m)
    kept = np.cumsum(np.log(values))[:-1], np.cumsum(along / values)[:-1]
    beyond = np.cumsum(along[::-1])[::-1][1:]
    volume = left.weight * (d * LOG_2_PI + kept[0] + (d - m) * np.log(noise))
    return np.asarray(-0.5 * (volume + kept[1] + beyond / noise))


# ---- missing cells


def _by_fitting(source: Source, criterion: str, most: int, folds: int, seed: int) -> Order:
    bic: list[float] = []
    held: list[list[float]] = []
    for m in range(1, most + 1):
        bic.append(fit_ppca(source, m, tol=1e-6).bic)
        held.append([_left_out(source, m, f, folds, seed) for f in range(folds)] if criterion == "cv" else [])
        if m - int(np.argmin(bic)) > PATIENCE:
            break
    table = np.array(held).T if criterion == "cv" else np.full((1, len(bic)), np.nan)
    return _chosen(criterion, np.arange(1, len(bic) + 1), np.array(bic), table)


def _left_out(source: Source, m: int, fold: int, folds: int, seed: int) -> float:
    fit = fit_ppca(_Fold(source, fold, folds, seed, inside=False), m, tol=1e-6)
    found = told(fit.mixture, _Fold(source, fold, folds, seed, inside=True))
    return found.log_likelihood / float(found.mass.sum())


class _Fold(Source):
    """The rows of one fold, or all others; the rest are there with weight 0."""

    def __init__(self, inner: Source, fold: int, folds: int, seed: int, *, inside: bool) -> None:
        self.inner, self.fold, self.folds, self.seed, self.inside = inner, fold, folds, seed, inside
        self.columns, self.n_rows, self.dtype = inner.columns, inner.n_rows, inner.dtype

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's blocks: folds are drawn by block."""
        size = self.block_rows
        for block in self.inner.blocks(start // size, -(-stop // size)):
            here = (fold_of(block, self.folds, self.seed) == self.fold) == self.inside
            own: Any = unit_weights(len(block)) if block.weights is None else block.weights
            yield block.rows, np.where(here, own, 0.0)

    def part(self, first: int, last: int) -> Source:
        """The same of the inner source's part."""
        return _Fold(self.inner.part(first, last), self.fold, self.folds, self.seed, inside=self.inside)


def _chosen(criterion: str, tried: NDArray[np.int64], bic: Vector, held: NDArray[np.float64]) -> Order:
    some = held[~np.isnan(held).any(axis=1)]
    if criterion == "cv" and len(some) < 2:
        raise DataError(
            "There are too few rows to leave some out.", "Use criterion 'bic', or give more rows."
        )
    none = np.full(len(tried), np.nan)
    mean = some.mean(axis=0) if len(some) else none
    error = some.std(axis=0, ddof=1) / np.sqrt(len(some)) if len(some) > 1 else none
    best = int(np.argmin(bic)) if criterion == "bic" else _fewest(some)
    return Order(int(tried[best]), criterion, tried, bic, mean, error)


def _fewest(held: NDArray[np.float64]) -> int:
    """The first of (folds, c) that is no worse than the best by more than the standard error of the difference.

    Components beyond the true ones cost next to nothing on rows left out, so the best alone is often too many.
    """
    behind = held - held[:, [int(np.argmax(held.mean(axis=0)))]]
    error = behind.std(axis=0, ddof=1) / np.sqrt(len(held))
    return int(np.argmax(behind.mean(axis=0) >= -error))
