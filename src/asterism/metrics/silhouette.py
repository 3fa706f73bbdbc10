"""Silhouettes: how much nearer a row is to its own group than to the next.

    full      a = mean dissimilarity to the other rows of its group, b = the least mean to those of another group
    centroid  a = distance to its group's centre,                    b = distance to the nearest other centre

    s = (b - a) / max(a, b)        -1 misplaced, 0 on a border, 1 well placed; 0 for a row alone in its group

The full form is taken in tiles of dissimilarities, added up by group as they are made: no n x n matrix, and any
dissimilarity that ``distances`` knows. For large n it is estimated: some rows of every group, drawn at random, are
measured against all rows, so that the estimate has no bias and a known error. The centroid form needs one pass.

A row of weight w is w rows: the copies of a row are at distance 0 from it, and it is not alone.

References
----------
1. Rousseeuw (1987), Silhouettes. J. of Computational and Applied Mathematics 20:53-65.
2. Hruschka, Campello, de Castro (2006), Evolving clusters in gene-expression data. Information Sciences 176:1898.
3. Cochran (1977), Sampling Techniques, 3rd ed., chapter 5: stratified random sampling.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block, Vector
from asterism.data.finite import require_finite
from asterism.distances.base import Fitted
from asterism.distances.numeric import FittedNorm
from asterism.distances.pairwise import on_threads, prepared
from asterism.engines.reduce import map_rows, reduce
from asterism.errors import DataError, ParameterError
from asterism.metrics.internal import CenterSums, center_silhouettes, centers_of, mean_silhouette
from asterism.metrics.tables import Labelled, labelled, weights_of
from asterism.stats.contingency import totals

Form = Literal["full", "centroid"]
Sums = NDArray[np.float64]  # (rows, k) sum of w d(row, x) over the rows x of each group

ROWS = 256  # of a tile
COLUMNS: int = _core.PACK  # of a tile; ROWS x COLUMNS dissimilarities are 512 kB, and read back at once
MOST_ROWS = 100_000  # n x n beyond this is not what a default should do


def silhouette_samples(
    X: Any,
    labels: Any,
    *,
    metric: Any = "euclidean",
    form: Form = "full",
    centers: Any = None,
    sample_weight: Any = None,
) -> Vector:
    """(n,) s of every row; NaN for rows of weight 0. With one group every s is 0: there is nothing to be nearer to.

    ``metric``   of the full form: a name such as "euclidean", "manhattan", "gower" or "precomputed" (``X`` is the
                 matrix of dissimilarities then), a function of two rows, or a ``Dissimilarity``
    ``centers``  of the centroid form, (k, d) in the order of the labels; the groups' means if not given

    >>> silhouette_samples([[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"]).round(3).tolist()
    [0.818, 0.778, 0.778, 0.818]
    """
    _check(form, metric)
    table = labelled(X, labels, sample_weight, mixed=metric not in NUMERIC)
    mass = _mass(table)
    if form == "full":
        return _full(table, metric, mass)
    reference, offsets, _ = centers_of(table, centers)
    values = map_rows(table.source, partial(_centroid, table, reference, offsets))
    values[(mass <= 1.0)[np.maximum(table.labels.codes, 0)] & ~np.isnan(values)] = 0.0
    return values if table.k > 1 else np.where(np.isnan(values), values, 0.0)


def silhouette_score(
    X: Any,
    labels: Any,
    *,
    metric: Any = "euclidean",
    form: Form = "full",
    centers: Any = None,
    sample_size: int | None = None,
    sample_weight: Any = None,
    random_state: int | None = 0,
) -> float:
    """The weighted mean of s over all rows; 0 for one group.

    Exact, unless ``sample_size`` rows are asked for (see ``silhouette_interval``, which tells the error too). The
    centroid form is one pass over the table, after one more for the means where ``centers`` are not given.

    >>> round(silhouette_score([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]), 3)
    0.798
    """
    _check(form, metric)
    if form == "centroid":
        table = labelled(X, labels, sample_weight)
        reference, offsets, _ = centers_of(table, centers)
        return mean_silhouette(reduce(table.source, partial(_center_sums, table, reference, offsets)))
    if sample_size is not None:
        from asterism.metrics.estimate import silhouette_interval

        return silhouette_interval(
            X,
            labels,
            metric=metric,
            sample_size=sample_size,
            sample_weight=sample_weight,
            random_state=random_state,
        ).score
    table = labelled(X, labels, sample_weight, mixed=metric not in NUMERIC)
    _refuse_many(table.source.n_rows)
    values, weights = _full(table, metric, _mass(table)), weights_of(table.source)
    if weights is None:
        return float(values.mean())
    return float(np.average(values[weights > 0], weights=weights[weights > 0]))


NUMERIC = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine", "mahalanobis", "precomputed")


def _check(form: str, metric: Any) -> None:
    if form not in ("full", "centroid"):
        raise ParameterError(f"form is {form!r}.", "Give 'full' or 'centroid'.")
    if form == "centroid" and metric != "euclidean":
        raise ParameterError("The centroid form is Euclidean.", "Leave metric out, or give form='full'.")


def _refuse_many(n: int) -> None:
    if n > MOST_ROWS:
        raise ParameterError(
            f"The exact silhouette of {n} rows takes {n * n:.1e} dissimilarities.",
            "Give sample_size=2000 for an estimate with a known error (silhouette_interval), form='centroid' for "
            "one pass, or take the mean of silhouette_samples if you can wait.",
        )


def _mass(table: Labelled) -> Vector:
    """(k,) weight of the groups."""
    weights, codes = weights_of(table.source), table.labels.codes
    if weights is None:
        return totals(codes, None, table.k)
    return totals(codes[weights > 0], weights[weights > 0], table.k)


def _centroid(table: Labelled, reference: Vector, centers: Sums, block: Block) -> Vector:
    require_finite(block, table.source.names, missing_ok=True)
    return center_silhouettes(block, table.codes(block), reference, centers)[1]


def _center_sums(table: Labelled, reference: Vector, centers: Sums, block: Block) -> CenterSums:
    require_finite(block, table.source.names, missing_ok=True)
    return CenterSums.of(block, table.codes(block), reference, centers)


# --- the full form ----------------------------------------------------------------------------------------------


class Points(NamedTuple):
    """Rows to be measured to, those of one group side by side."""

    points: Any  # as the dissimilarity takes them
    weights: Vector  # (b,)
    starts: NDArray[np.int64]  # (s + 1,) where runs of one group begin, and b
    groups: NDArray[np.int64]  # (s,) their groups


def points_of(
    fitted: Fitted, ready: Any, numbers: NDArray[np.intp], weights: Vector, codes: NDArray[Any]
) -> list[Points]:
    """Rows (n, width) of ascending groups ``codes``, with their places in the table, in tiles."""
    found = []
    for a in range(0, len(codes), COLUMNS):
        cut = slice(a, a + COLUMNS)
        starts = np.flatnonzero(np.diff(codes[cut].astype(np.int64), prepend=-1))
        groups = codes[cut][starts].astype(np.int64)
        ends = np.append(starts, len(codes[cut]))
        found.append(Points(fitted.points(ready[cut], numbers[cut]), weights[cut], ends, groups))
    return found


def add_sums(fitted: Fitted, rows: Any, points: Points, out: Sums) -> None:
    """out[i, g] += sum of w d(i, j) over the points of group g, a tile of rows at a time."""
    if type(fitted) is FittedNorm and fitted.p == 2.0:
        # The usual case, in one loop: half the time of a tile that is written and read again.
        _core.add_euclidean_sums(
            rows, points.points, fitted.root, points.weights, points.starts, points.groups, out
        )
        return
    for a in range(0, len(rows), ROWS):
        tile = fitted.tile(rows[a : a + ROWS], points.points)
        out[a : a + ROWS, points.groups] += np.add.reduceat(tile * points.weights, points.starts[:-1], axis=1)


def silhouettes(sums: Sums, groups: NDArray[Any], mass: Vector) -> Vector:
    """s from sums of dissimilarities to all groups, own group ``groups`` and the groups' weights ``mass``."""
    rows = np.arange(len(sums))
    own_mass = mass[groups]
    if len(mass) < 2:
        return np.zeros(len(sums))
    a = np.divide(sums[rows, groups], own_mass - 1.0, out=np.zeros(len(sums)), where=own_mass > 1.0)
    means = sums / mass
    means[rows, groups] = np.inf
    b = means.min(axis=1)
    most = np.maximum(a, b)
    values: Vector = np.divide(b - a, most, out=np.zeros(len(sums)), where=(most > 0) & (own_mass > 1.0))
    return values


def all_points(table: Labelled, fitted: Fitted, ready: Any) -> list[Points]:
    """All rows that count, by group, in tiles."""
    from asterism.distances.pairwise import every_row

    codes, weights = table.labels.codes, weights_of(table.source)
    counted = np.arange(len(codes)) if weights is None else np.flatnonzero(weights)
    order = counted[np.argsort(codes[counted], kind="stable")]
    rows = every_row(ready)[order]
    weight = np.ones(len(order)) if weights is None else weights[order]
    return points_of(fitted, rows, order, weight, codes[order])


def _full(table: Labelled, metric: Any, mass: Vector) -> Vector:
    fitted, ready = prepared(table.source, metric)
    everyone = all_points(table, fitted, ready)
    values = np.empty(table.source.n_rows)

    def visit(block: Block) -> None:
        sums = np.zeros((len(block), table.k))
        for points in everyone:
            add_sums(fitted, block.rows, points, sums)
        codes = table.codes(block)
        require_comparable(sums[codes >= 0], block.start)
        found = silhouettes(sums, np.maximum(codes, 0), mass)
        values[block.start : block.start + len(block)] = np.where(codes >= 0, found, np.nan)

    on_threads(ready, visit)
    return values


def require_comparable(sums: Sums, start: int) -> None:
    """A row that has no cell in common with another has no distance to it."""
    bad = np.flatnonzero(np.isnan(sums).any(axis=1))
    if len(bad):
        raise DataError(
            "it has no cell in common with some other row: they cannot be compared.",
            "Leave out rows that are nearly empty, or fill cells in.",
            row=start + int(bad[0]),
        )
