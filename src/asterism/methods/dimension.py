"""How many dimensions a table really has: three answers that need not agree, and each is worth knowing.

``parallel``       eigenvalues of the correlation matrix that are larger than chance makes them (Horn): linear
                   directions. Chance is a table of normal noise of the same size, whose scatter matrix is drawn
                   itself (Bartlett: a triangle of chi and normal numbers), so a million rows cost no more than ten
``concentration``  pairwise distances of d independent standard columns have a squared length per column of mean 2
                   and variance 8/d (a Gamma of shape d/2 and scale 4/d). Turned round: 2 mean^2 / variance of squared
                   distances is the number of independent columns that would concentrate as much
``neighbours``     in d dimensions the ratio r of the distances to the second and the first neighbour has
                   P(ratio > r) = r^-d: d = (n - 1) / sum log r. Curved surfaces count by their own dimension

References
----------
1. Horn (1965), A rationale and test for the number of factors in factor analysis. Psychometrika 30:179-185.
2. Facco, d'Errico, Rodriguez, Laio (2017), Estimating the intrinsic dimension of datasets by a minimal
   neighborhood information. Scientific Reports 7:12140.
3. Odell, Feiveson (1966), A numerical procedure to generate a sample covariance matrix. JASA 61:199-203.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import gammaln

from asterism.data.block import Block, Vector
from asterism.data.finite import raise_for_bad_cell
from asterism.data.source import Source
from asterism.engines.reduce import map_rows, reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import DataError
from asterism.stats.moments import Moments

Array = NDArray[np.float64]
SAMPLE = 4000  # rows whose distances are looked at
PAIRS = 200_000
DRAWS = 200  # tables of noise
TRIM = 0.1  # of the largest ratios: noise and edges show there


@dataclass(frozen=True)
class Dimensions:
    """What was found; columns are standardised first, and those that do not vary left out."""

    columns: int  # that vary
    scree: Vector  # (d,) eigenvalues of the correlation matrix, largest first
    chance: Vector  # (d,) their 95 % points in tables of noise
    parallel: int  # leading eigenvalues above chance
    participation: float  # (sum l)^2 / sum l^2: what ``concentration`` would be if rows were normal
    concentration: float  # 2 mean^2 / variance of squared distances: the effective dimension
    distance_mean: float  # of squared distances over the number of columns; 2 for independent normal columns
    distance_variance: float  # of the same; 8 / columns for independent normal columns
    spread: float  # standard deviation of distances over their mean: below 0.1 neighbours mean little
    expected_spread: float  # the same for independent normal columns
    neighbours: float  # of the two nearest neighbours; NaN where too few rows differ
    neighbours_error: float  # its standard error

    @property
    def expected_variance(self) -> float:
        """8 / columns, what ``distance_variance`` is for independent normal columns."""
        return 8.0 / self.columns


@one_blas_thread()
def dimensions_of(source: Source, *, seed: int = 0) -> Dimensions:
    """The dimension of a table by all three measures.

    >>> from asterism.data.source import ArraySource
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(2000, 2)) @ rng.normal(size=(2, 9)) + 0.01 * rng.normal(size=(2000, 9))
    >>> found = dimensions_of(ArraySource(rows))
    >>> found.parallel
    2
    """
    if source.sparse:
        raise DataError("The dimension of a sparse table is not known.", "Give rows that are not sparse.")
    moments: Moments = reduce(source, Moments.of)
    if not np.isfinite(moments.scatter).all():
        raise_for_bad_cell(source)
    variance = np.diag(moments.scatter) / moments.weight
    varies = variance > 0
    d = int(varies.sum())
    if d == 0 or moments.weight <= 2:
        raise DataError("No column varies: the table has no dimension.", "Give rows that differ.")
    scale = np.sqrt(variance[varies])
    correlation = moments.scatter[np.ix_(varies, varies)] / moments.weight / np.outer(scale, scale)
    scree = np.linalg.eigvalsh(correlation)[::-1]
    chance = noise_scree(moments.weight, d, seed)
    above = scree > chance
    rows = _sample(source, seed)[:, varies] / scale
    squares = _squared_distances(rows, seed)
    estimate, error = two_neighbours(rows)
    mean, variance_of = float(squares.mean()), float(squares.var())
    distances = np.sqrt(squares)
    return Dimensions(
        d,
        scree,
        chance,
        int(np.argmin(above)) if not above.all() else d,
        float(scree.sum() ** 2 / (scree @ scree)),
        2 * mean**2 / variance_of if variance_of > 0 else float("nan"),
        mean / d,
        variance_of / d**2,
        float(distances.std() / distances.mean()) if distances.mean() > 0 else 0.0,
        _normal_spread(d),
        estimate,
        error,
    )


def noise_scree(weight: float, d: int, seed: int = 0, level: float = 0.95) -> Vector:
    """(d,) points below which ``level`` of the eigenvalues of correlations of pure noise lie.

    The scatter of n normal rows is T T', T lower triangular: chi(n - 1 - i) on its diagonal, normal below.
    """
    rng = np.random.default_rng(seed)
    freedom = weight - 1.0
    found = np.empty((DRAWS if d <= 300 else 20, d))
    for values in found:
        t = np.tril(rng.standard_normal((d, d)), -1)
        if freedom >= d:
            t[np.diag_indices(d)] = np.sqrt(rng.chisquare(freedom - np.arange(d)))
        else:  # fewer rows than columns: no triangle, but the table itself is small
            t = rng.standard_normal((d, max(round(freedom), 1)))
        t /= np.sqrt((t * t).sum(axis=1))[:, None]  # rows of length 1: correlations
        values[:] = np.linalg.eigvalsh(t @ t.T)[::-1]
    return np.asarray(np.quantile(found, level, axis=0))


def two_neighbours(rows: Array) -> tuple[float, float]:
    """The dimension by the ratios of the distances to two nearest neighbours, and its standard error.

    Rows that occur again are counted once. The largest tenth of the ratios is only known to be large (a censored
    sample): d = m / (sum of the m smaller logs + (n - m) the largest of them), its error d / sqrt(m).
    """
    distinct = np.unique(rows, axis=0)
    if len(distinct) < 20:
        return float("nan"), float("nan")
    near = np.asarray(cKDTree(distinct).query(distinct, k=3)[0])
    logs = np.sort(np.log(near[:, 2] / near[:, 1]))
    m = int(len(logs) * (1 - TRIM))
    total = float(logs[:m].sum()) + (len(logs) - m) * float(logs[m - 1])
    return (m / total, m / total / np.sqrt(m)) if total > 0 else (float("nan"), float("nan"))


def _sample(source: Source, seed: int) -> Array:
    """(p, d) some rows, each as likely as its weight, with repeats where weights ask for them."""
    weights = map_rows(source, _weights)
    rng = np.random.default_rng(seed)
    there = np.flatnonzero(weights > 0)
    if (weights[there] == weights[there[0]]).all():
        chosen = np.sort(rng.choice(there, min(SAMPLE, len(there)), replace=False))
    else:
        chosen = np.sort(rng.choice(len(weights), min(SAMPLE, len(there)), p=weights / weights.sum()))
    found: list[Any] = []
    for block in source.blocks():
        a, b = np.searchsorted(chosen, [block.start, block.start + len(block)])
        found.append(block.rows[chosen[a:b] - block.start].astype(np.float64))
    return np.concatenate(found)


def _weights(block: Block) -> Vector:
    return np.asarray(block.weights)


def _squared_distances(rows: Array, seed: int) -> Vector:
    """Of random pairs of different places."""
    rng = np.random.default_rng([seed, 1])
    n = len(rows)
    i = rng.integers(n, size=PAIRS)
    j = (i + rng.integers(1, max(n, 2), size=PAIRS)) % n
    found = [_between(rows, i[a : a + 4096], j[a : a + 4096]) for a in range(0, PAIRS, 4096)]
    return np.concatenate(found)


def _between(rows: Array, i: NDArray[np.int64], j: NDArray[np.int64]) -> Vector:
    y = rows[i] - rows[j]
    return np.asarray(np.einsum("nd,nd->n", y, y))


def _normal_spread(d: int) -> float:
    """Of sqrt(g), g a Gamma of shape d/2: its mean is Gamma((d + 1)/2) / Gamma(d/2), its mean square d/2."""
    mean = float(np.exp(gammaln((d + 1) / 2) - gammaln(d / 2)))
    return float(np.sqrt(max(d / 2 - mean**2, 0.0)) / mean)
