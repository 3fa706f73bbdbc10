"""k-means, the whole job: a look at the table, starts, Lloyd's steps of all of them together, labels.

``methods.lloyd`` has the mathematics, ``methods.seeding`` the starts.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block, Vector, is_sparse
from asterism.data.finite import require_finite
from asterism.data.source import Source
from asterism.engines.loop import Run, Status, iterate
from asterism.engines.reduce import map_reduce, map_rows, reduce
from asterism.errors import NotConvergedWarning, ParameterError
from asterism.methods.frame import Frame, survey
from asterism.methods.lloyd import Centers, labels_of, relabel
from asterism.methods.seeding import given_centers, seed_centers, steps_for
from asterism.methods.sparse_lloyd import squared_distances
from asterism.stats.base import Joined
from asterism.stats.moments import ColumnMoments


@dataclass(frozen=True)
class KMeansFit:
    """A finished k-means; labels are those of the centres it returns."""

    model: Centers
    labels: NDArray[np.int32]  # (n,)
    inertia: float  # J
    history: list[float]  # J before every step, then the last
    n_iter: int
    status: Status

    @property
    def centers(self) -> NDArray[np.float64]:
        """(k, d) in the table's coordinates."""
        return self.model.positions


def fit_kmeans(
    source: Source,
    k: int,
    *,
    init: str | NDArray[Any] = "k-means++",
    n_init: int = 1,
    max_iter: int = 300,
    tol: float = 1e-4,
    seed: int | None = None,
) -> KMeansFit:
    """The best of ``n_init`` starts, all advanced in the same passes."""
    return fit_kmeans_path(source, [k], init=init, n_init=n_init, max_iter=max_iter, tol=tol, seed=seed)[k]


def fit_kmeans_path(
    source: Source,
    ks: Sequence[int],
    *,
    init: str | NDArray[Any] = "k-means++",
    n_init: int = 1,
    max_iter: int = 300,
    tol: float = 1e-4,
    seed: int | None = None,
) -> dict[int, KMeansFit]:
    """A fit for every k: all starts of all k advance in the same passes over the table."""
    check_settings(ks, n_init, max_iter, tol)
    frame, moments = survey(source)
    starts = {k: starting_centers(source, frame, moments, k, init, n_init, seed) for k in ks}
    everyone = [model for k in ks for model in starts[k]]
    method = steps_for(source, frame, moments, tol)
    runs = iterate(method, source, everyone, max_iter=max_iter)
    best = []
    for k in ks:
        mine, runs = runs[: len(starts[k])], runs[len(starts[k]) :]
        best.append(_best(source, mine))
    return dict(zip(ks, _finish(source, best), strict=True))


def _best(source: Source, runs: list[Run[Centers]]) -> Run[Centers]:
    """The run whose centres have the least J: as they are now, not as they were before the last step."""
    if len(runs) == 1:
        return runs[0]
    found = reduce(source, partial(_scatter_all, tuple(run.model for run in runs)))
    return min(zip(runs, found.parts, strict=True), key=lambda pair: pair[1].inertia)[0]


def starting_centers(
    source: Source, frame: Frame, moments: ColumnMoments, k: int, init: Any, n_init: int, seed: int | None
) -> list[Centers]:
    """The starts that ``init`` asks for: drawn, or given."""
    if isinstance(init, str):
        return seed_centers(source, frame, moments, k, how=init, n_starts=n_init, seed=seed)
    return [given_centers(frame, init, k)]


@dataclass(frozen=True, slots=True)
class Scatter:
    """J of given centres, and the weight each of them got."""

    inertia: float
    mass: Vector  # (k,)

    def merge(self, other: Scatter) -> Scatter:
        """Sums add."""
        return Scatter(self.inertia + other.inertia, self.mass + other.mass)


def _scattered(model: Centers, block: Block) -> Scatter:
    return _scatter_of(model, block, labels_of(model, block))


def _scatter_of(model: Centers, block: Block, labels: NDArray[np.int32]) -> Scatter:
    if is_sparse(block.rows):
        nearest = squared_distances(model, block.rows)[np.arange(len(block)), labels]
        mass = np.bincount(labels, block.weights, len(model.offsets)).astype(np.float64)
        return Scatter(float(block.weights @ np.where(block.weights > 0, nearest, 0.0)), mass)
    return Scatter(*_core.scatter(block.rows, block.weights, model.core, labels))


def _scatter_all(models: tuple[Centers, ...], block: Block) -> Joined:
    return Joined(tuple(_scattered(model, block) for model in models))


def _finish(source: Source, runs: list[Run[Centers]]) -> list[KMeansFit]:
    """Labels and J of the centres that are returned, in one last pass."""
    models, memories = tuple(run.model for run in runs), tuple(run.memory for run in runs)
    labels, joined = map_reduce(source, partial(_label_all, models, memories))
    fits = []
    for i, (run, scatter) in enumerate(zip(runs, joined.parts, strict=True)):
        _warn_if_empty(scatter)
        # One k is the usual case: its column is the whole array then, and no copy.
        mine = labels[:, 0] if len(runs) == 1 else labels[:, i].copy()
        history = [*run.history, scatter.inertia]
        fits.append(KMeansFit(run.model, mine, scatter.inertia, history, run.steps, run.status))
    return fits


def _label_all(
    models: tuple[Centers, ...], memories: tuple[NDArray[np.int32] | None, ...], block: Block
) -> tuple[NDArray[np.int32], Joined]:
    labels = [_last_labels(model, block, memory) for model, memory in zip(models, memories, strict=True)]
    scatters = (_scatter_of(model, block, mine) for model, mine in zip(models, labels, strict=True))
    return np.stack(labels, axis=1), Joined(tuple(scatters))


def _last_labels(model: Centers, block: Block, memory: NDArray[np.int32] | None) -> NDArray[np.int32]:
    if memory is None:
        return labels_of(model, block)
    return relabel(model, block, memory[:, block.start : block.start + len(block)])


def _warn_if_empty(scatter: Scatter) -> None:
    k, found = len(scatter.mass), int((scatter.mass > 0).sum())
    if found < k:
        warnings.warn(
            f"{k - found} of {k} groups ended without rows; labels use the other {found}. "
            "This matters if you need exactly k groups: allow more iterations.",
            NotConvergedWarning,
            stacklevel=4,
        )


def nearest(model: Centers, source: Source) -> NDArray[np.int32]:
    """(n,) the nearest centre of every row; missing cells are welcome even if there were none when fitting."""
    return map_rows(source, partial(_nearest_of, model, model.masked, source.names))


def _nearest_of(model: Centers, masked: Centers, names: tuple[str, ...], block: Block) -> NDArray[np.int32]:
    require_finite(block, names, missing_ok=True)
    incomplete = not is_sparse(block.rows) and np.isnan(block.rows).any()
    return labels_of(masked if incomplete else model, block)


def scatter_of(model: Centers, source: Source) -> Scatter:
    """J of the centres of a table, and the weight of their groups, without labels."""
    return reduce(source, partial(_scattered, model))  # type: ignore[no-any-return]


def inertia_of(model: Centers, source: Source) -> float:
    """J of these centres on any table."""
    return float(reduce(source, partial(_checked_scatter, model.masked, source.names)).inertia)


def _checked_scatter(model: Centers, names: tuple[str, ...], block: Block) -> Scatter:
    require_finite(block, names, missing_ok=True)
    return _scattered(model, block)


def distances_to(model: Centers, source: Source) -> NDArray[Any]:
    """(n, k) Euclidean distances over observed cells, in the source's float type."""
    return map_rows(source, partial(_distances_of, model, source.names))


def _distances_of(model: Centers, names: tuple[str, ...], block: Block) -> NDArray[Any]:
    require_finite(block, names, missing_ok=True)
    if is_sparse(block.rows):
        return np.sqrt(squared_distances(model, block.rows)).astype(block.rows.dtype, copy=False)
    offsets = np.ascontiguousarray(model.offsets)
    squares = _core.squared_distances(block.rows, model.frame.reference, offsets)
    return np.sqrt(squares, dtype=np.float64).astype(block.rows.dtype, copy=False)


def check_settings(ks: Sequence[Any], n_init: Any, max_iter: Any, tol: Any) -> None:
    """A ``ParameterError`` for the first setting that cannot work."""
    for k in ks:
        if not (isinstance(k, int | np.integer) and k >= 1):
            raise ParameterError(f"The number of groups is {k!r}.", "Give a whole number, 1 or more.")
    if not (isinstance(n_init, int | np.integer) and n_init >= 1):
        raise ParameterError(f"n_init is {n_init!r}.", "Give a whole number: start at least once.")
    if not (isinstance(max_iter, int | np.integer) and max_iter >= 1):
        raise ParameterError(f"max_iter is {max_iter!r}.", "Give a whole number: allow at least one step.")
    if not (isinstance(tol, int | float | np.number) and tol >= 0):
        raise ParameterError(f"tol is {tol!r}.", "Give a number, 0 or more.")
