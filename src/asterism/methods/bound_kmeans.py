"""k-means where something is known of some rows: their labels, which are together or apart, how large groups are.

    J = sum_i w_i ||x_i - c_z(i)||^2,      z among the labelings that what is known allows

One step gives the bound rows (``methods.bound``) the groups that lower J most, every other row its nearest centre,
and puts centres to the means of their rows. All three can only lower J. Where groups have sizes to keep, every row
is bound, and the first of them is a problem of transport.

References
----------
1. Wagstaff, Cardie, Rogers, Schroedl (2001), Constrained k-means clustering with background knowledge. ICML.
2. Bradley, Bennett, Demiriz (2000), Constrained k-means clustering. MSR-TR-2000-65.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block
from asterism.data.source import Source
from asterism.engines.loop import Run, iterate
from asterism.engines.reduce import map_reduce
from asterism.methods.bound import Bound
from asterism.methods.frame import survey
from asterism.methods.kmeans import Scatter
from asterism.methods.linked import Labels
from asterism.methods.lloyd import (
    REPAIRS,
    Centers,
    Lloyd,
    centers_at,
    labels_of,
    lloyd_for,
    pack_centers,
    unpack_centers,
)
from asterism.stats.groups import FarthestRows, Moves

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BoundCenters:
    """Centres, and the groups of the bound rows beside them."""

    centers: Centers
    labels: Labels  # (u,) of their chunks


@dataclass(frozen=True)
class BoundLloyd:
    """The method."""

    lloyd: Lloyd
    bound: Bound = field(repr=False)
    job: str = ""  # by which a checkpoint knows what is known
    name: str = "k-means"

    def beside(self, centers: Centers, before: Labels | None = None) -> BoundCenters:
        """Centres with the best groups of the bound rows."""
        squares = _core.squared_distances(self.bound.block.rows, centers.frame.reference, centers.offsets)
        return BoundCenters(centers, self.bound.best(-squares, before)[0])

    def summarize(self, model: BoundCenters, block: Block) -> Moves:
        """All rows come from nowhere into their groups."""
        k, d = model.centers.offsets.shape
        labels = self.labels_of(model, block)
        nowhere = np.full(len(block), -1, np.int32)
        grid = self.lloyd.grid
        sums, gain, far = _core.move_rows(
            block.rows, block.weights, model.centers.core, nowhere, labels, grid, block.start, min(k, REPAIRS)
        )
        farthest = FarthestRows.of(block.rows, block.start, far)
        return Moves(sums, grid.shape[1] - d, True, gain, farthest).with_far_if_needed()

    def labels_of(self, model: BoundCenters, block: Block) -> Labels:
        """(n,) nearest centres, but for the bound rows."""
        rows = self.bound.rows
        first, last = np.searchsorted(rows, [block.start, block.start + len(block)])
        known = model.labels[self.bound.chunks[first:last]]
        if last - first == len(block):
            return known
        labels = labels_of(model.centers, block)
        labels[rows[first:last] - block.start] = known
        return labels

    def update(self, model: BoundCenters, statistic: Moves) -> BoundCenters:
        """Centres to the means of their rows, then bound rows to their best groups."""
        return self.beside(self.lloyd.update(model.centers, statistic), model.labels)

    def objective(self, model: BoundCenters, statistic: Moves) -> float:
        """J."""
        return self.lloyd.objective(model.centers, statistic)

    def settled(self, before: BoundCenters, after: BoundCenters) -> bool:
        """The centres hardly moved."""
        return self.lloyd.settled(before.centers, after.centers)

    def pack(self, model: BoundCenters) -> Mapping[str, NDArray[Any]]:
        """For a checkpoint."""
        return {**pack_centers(model.centers), "labels": model.labels}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> BoundCenters:
        """From a checkpoint."""
        return BoundCenters(unpack_centers(arrays), np.asarray(arrays["labels"], np.int32))


@dataclass(frozen=True)
class BoundKMeansFit:
    """A finished k-means; labels are those of the centres it returns."""

    model: Centers
    labels: Labels  # (n,)
    inertia: float  # J
    run: Run[BoundCenters]


def fit_bound_kmeans(
    source: Source,
    bound: Bound,
    starts: Sequence[Array],
    *,
    job: str = "",
    max_iter: int = 300,
    tol: float = 1e-4,
) -> BoundKMeansFit:
    """The best of starts from given centres (k, d)."""
    frame, moments = survey(source)
    method = BoundLloyd(lloyd_for(frame, moments, tol), bound, job)
    models = [method.beside(centers_at(frame, start)) for start in starts]
    runs = iterate(method, source, models, max_iter=max_iter)
    best = min(runs, key=lambda run: run.objective)
    labels, scatter = map_reduce(source, partial(_labelled, method, best.model))
    return BoundKMeansFit(best.model.centers, labels, scatter.inertia, best)


def _labelled(method: BoundLloyd, model: BoundCenters, block: Block) -> tuple[Labels, Scatter]:
    labels = method.labels_of(model, block)
    return labels, Scatter(*_core.scatter(block.rows, block.weights, model.centers.core, labels))
