"""A bounded sample of the rows, and what can be drawn of it: map, other numbers of groups, silhouettes, margins.

The map shows principal components of the standardised columns; a missing cell is drawn at its column's mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of
from asterism.data.columns import Column
from asterism.data.source import ArraySource, Source
from asterism.engines.context import engine
from asterism.engines.reduce import reduce
from asterism.explain.profiles import Labels
from asterism.explain.rows import Places, Shares, margins
from asterism.explain.words import number_text
from asterism.methods.kmeans import fit_kmeans_path
from asterism.methods.pca import fit_pca
from asterism.stats.sample import RowSample, exponentials

MOST_POINTS = 1500
MOST_CELLS = 12  # of a row, when the pointer is on it
MOST_GROUPS = 10  # of the slider over k
COMPONENTS = 12  # of the scree plot


class Map(TypedDict):
    """Points in the plane of the two leading components."""

    x: list[float]
    y: list[float]
    label: list[int]
    row: list[int]
    hover: list[list[str]]  # lines of text, point by point
    ratios: list[float]  # share of the variance of each component
    loadings: list[tuple[str, float, float]]  # columns that the axes lean on most
    centres: list[list[float]]  # (k, 2) of the points of each group
    ellipses: list[list[float]]  # (k, 3) their covariances xx, xy, yy
    whole: bool  # whether every row is there


class View(TypedDict):
    """The same points in k groups."""

    k: int
    label: list[int]
    explained: float  # share of the spread


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of the table that are drawn."""

    rows: NDArray[Any]  # (m, d) in the user's own units
    z: NDArray[np.float64]  # (m, D) standardised, missing cells at the mean
    weights: Vector  # (m,)
    labels: NDArray[np.int64]  # (m,)
    number: NDArray[np.int64]  # (m,) of the row in the table
    whole: bool


def draw_sample(source: Source, labels: Labels, places: Places, seed: int) -> Sample:
    """Up to ``MOST_POINTS`` rows that have a group, drawn evenly."""
    drawn: RowSample = reduce(source, partial(_drawn, labels, seed))
    rows, weights = drawn.estimates()
    order = np.argsort(drawn.row[: len(rows)])
    number = drawn.row[: len(rows)][order]
    rows, weights = rows[order], weights[order]
    z = np.nan_to_num(places.encoding.encode(rows.astype(np.float64)), nan=0.0)
    return Sample(rows, z, weights, labels[number].astype(np.int64), number, drawn.whole)


def _drawn(labels: Labels, seed: int, block: Block) -> RowSample:
    mine = labels[block.start : block.start + len(block)]
    rate = np.where((mine >= 0) & (block.weights > 0), 1.0, 0.0)
    return RowSample.of(block, rate, MOST_POINTS, seed)


def map_of(
    sample: Sample, columns: tuple[Column, ...], names: tuple[str, ...], first: Sequence[str]
) -> tuple[Map, Any]:
    """The map, and its points (m, 2); cells of the columns ``first`` are shown where there are too many."""
    width = sample.z.shape[1]
    found = fit_pca(ArraySource(sample.z, sample.weights), min(COMPONENTS, width, len(sample.z)))
    points = (sample.z - found.mean) @ found.directions[:2].T
    if points.shape[1] < 2:  # one column: the other axis only keeps points apart
        points = np.column_stack([points, 0.3 * np.minimum(exponentials(sample.number, 1), 3.0)])
    hover = _hover(sample, columns, first)
    centres, ellipses = _ellipses(points, sample)
    axes = found.directions[:2]
    lean = (axes**2).sum(axis=0)
    loadings = [
        (names[j], float(axes[0, j]), float(axes[1, j]) if len(axes) > 1 else 0.0)
        for j in np.argsort(-lean, kind="stable")[:8]
    ]
    picture = Map(
        x=np.round(points[:, 0], 3).tolist(),
        y=np.round(points[:, 1], 3).tolist(),
        label=sample.labels.tolist(),
        row=sample.number.tolist(),
        hover=hover,
        ratios=np.round(found.ratios, 5).tolist(),
        loadings=loadings,
        centres=centres,
        ellipses=ellipses,
        whole=sample.whole,
    )
    return picture, points


def cell_text(column: Column, value: float) -> str:
    """A cell as the table has it."""
    if np.isnan(value):
        return "missing"
    if column.levels:
        return column.levels[int(value)]
    return column.text(float(value)) or number_text(float(value), 6)


def _hover(sample: Sample, columns: tuple[Column, ...], first: Sequence[str]) -> list[list[str]]:
    """The cells of every drawn row, or those of the columns that tell most."""
    told: Sequence[int] = range(len(columns))
    if len(columns) > MOST_CELLS:
        place = {column.name: j for j, column in enumerate(columns)}
        told = sorted(place[name] for name in first[:MOST_CELLS])
    more = ["…"] if len(told) < len(columns) else []
    return [
        [f"row {n}", *(f"{columns[j].name}: {cell_text(columns[j], float(row[j]))}" for j in told), *more]
        for row, n in zip(sample.rows, sample.number, strict=True)
    ]


def _ellipses(points: NDArray[np.float64], sample: Sample) -> tuple[list[list[float]], list[list[float]]]:
    """Weighted means and covariances of the points of every group; zeros where none is drawn."""
    centres, ellipses = [], []
    for g in range(int(sample.labels.max()) + 1):
        w = np.where(sample.labels == g, sample.weights, 0.0)[:, None]
        total = max(float(w.sum()), np.finfo(float).tiny)
        mean = (w * points).sum(axis=0) / total
        cov = (w * (points - mean)).T @ (points - mean) / total
        centres.append(np.round(mean, 4).tolist())
        ellipses.append(np.round([cov[0, 0], cov[0, 1], cov[1, 1]], 5).tolist())
    return centres, ellipses


def other_numbers(sample: Sample, k: int, seed: int) -> list[View]:
    """k-means of the drawn rows for every number of groups; the finding's own groups at its own k."""
    distinct = len(np.unique(sample.z, axis=0))
    ks = [number for number in range(1, max(MOST_GROUPS, k) + 1) if number < distinct]
    if k not in ks or len(ks) < 2:
        return []
    with engine():
        fits = fit_kmeans_path(ArraySource(sample.z, sample.weights), ks, n_init=3, max_iter=50, seed=seed)
    found: dict[int, NDArray[Any]] = {number: fits[number].labels.astype(np.int64) for number in ks}
    found[k] = sample.labels
    for number in range(k - 1, 0, -1):
        found[number] = _aligned(found[number], found[number + 1], number)
    for number in range(k + 1, ks[-1] + 1):
        found[number] = _aligned(found[number], found[number - 1], number)
    return [
        View(k=number, label=found[number].tolist(), explained=_explained(sample, found[number]))
        for number in ks
    ]


def _aligned(labels: NDArray[Any], beside: NDArray[Any], k: int) -> NDArray[Any]:
    """The same groups, numbered so that as many rows as can be keep their colour."""
    from scipy.sparse import csr_array  # which is loaded by now; scipy.optimize would take a while
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    size = max(k, int(beside.max()) + 1)
    shared = np.ones((size, size))  # a cell of 0 would be no edge
    np.add.at(shared, (labels, beside), 1)
    mine, theirs = min_weight_full_bipartite_matching(csr_array(shared), maximize=True)
    colour = np.empty(size, np.int64)
    colour[mine] = theirs
    return np.asarray(colour[labels])


def _explained(sample: Sample, labels: NDArray[Any]) -> float:
    """1 - W / T of the drawn rows."""
    w, z = sample.weights[:, None], sample.z
    total = float((w * (z - (w * z).sum(axis=0) / w.sum()) ** 2).sum())
    within = 0.0
    for g in np.unique(labels):
        part, weight = z[labels == g], w[labels == g]
        within += float((weight * (part - (weight * part).sum(axis=0) / weight.sum()) ** 2).sum())
    return 1.0 - within / total if total > 0 else 0.0


def silhouettes_of(sample: Sample) -> list[float] | None:
    """(m,) Rousseeuw's, among the drawn rows; None for one group."""
    from asterism.metrics.silhouette import silhouette_samples

    if len(np.unique(sample.labels)) < 2:
        return None
    values = silhouette_samples(ArraySource(sample.z, sample.weights), sample.labels)
    return [round(float(value), 3) for value in values]


def margins_of(sample: Sample, places: Places, shares: Shares | None) -> list[float] | None:
    """(m,) how far drawn rows are from the border to another group; None for one group."""
    if len(places.centers) < 2:
        return None
    block = block_of(np.ascontiguousarray(sample.rows), sample.weights)
    return [round(float(value), 3) for value in margins(places, block, sample.labels, shares)[0]]
