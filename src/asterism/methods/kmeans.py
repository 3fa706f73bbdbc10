"""k-means: each row to its nearest centre, each centre to the mean of its rows.

    J = sum_i w_i ||x_i - c_z(i)||^2        over observed cells

Both steps can only lower J. Missing cells take no part: distances run over the cells a row has, and a centre's
coordinate is the mean of the cells its rows have, so J on observed cells still never rises.

References
----------
1. Lloyd (1982), Least squares quantization in PCM. IEEE Trans. Inf. Theory 28:129-137.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of
from asterism.data.finite import require_finite
from asterism.data.source import Source
from asterism.engines.loop import Run, Status, iterate
from asterism.engines.reduce import map_reduce, map_rows, reduce
from asterism.errors import NotConvergedWarning, ParameterError, TooFewRowsError
from asterism.methods.frame import Frame, survey
from asterism.stats.base import Joined
from asterism.stats.groups import Assigned, FarthestRows, GroupTotals
from asterism.stats.moments import ColumnMoments

REPAIRS = 4  # empty groups that one step can put to use again


# --- the model --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Centers:
    """k centres, kept as differences from the frame's reference so that offsets cost no digits."""

    frame: Frame
    offsets: NDArray[np.float64]  # (k, d) centres minus reference
    mark: int = -1  # of the labels these centres are the means of
    repaired: int = 0  # how many of them were put on a far row because their group was empty

    @property
    def positions(self) -> NDArray[np.float64]:
        """(k, d) centres in the table's own coordinates."""
        return self.frame.reference + self.offsets

    @property
    def masked(self) -> Centers:
        """The same centres, ready for rows with missing cells."""
        return replace(self, frame=replace(self.frame, missing=True))

    @cached_property
    def slopes(self) -> NDArray[np.float32]:
        """What a row's cells and mask are multiplied with to score the centres (``kernels.assign``)."""
        from asterism.kernels.assign import padded

        # A centre too far for float32 has infinite slopes: its scores settle nothing, and float64 decides.
        with np.errstate(over="ignore"):
            scaled = self.offsets * self.frame.scale
            squares = scaled**2 if self.frame.missing else (scaled**2).sum(axis=1, keepdims=True)
            return padded(np.hstack([-2.0 * scaled, squares]))


def centers_at(frame: Frame, positions: NDArray[Any]) -> Centers:
    """Centres given in the table's coordinates."""
    return Centers(frame, np.ascontiguousarray(positions, np.float64) - frame.reference)


# --- summarize and update ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lloyd:
    """The method; ``tol`` is the sum of squared moves of all centres below which it has settled."""

    tol: float = 0.0
    name: str = "k-means"

    def summarize(self, model: Centers, block: Block) -> Assigned:
        """Totals about the centres, and the farthest rows in case a group has none."""
        return _visit(model, block)[1]

    def update(self, model: Centers, statistic: Assigned) -> Centers:
        """c <- c + sum w (x - c) / sum w; an empty group takes a far row for its centre."""
        groups, d = statistic.groups, model.offsets.shape[1]
        mass = np.broadcast_to(groups.mass(d), model.offsets.shape)
        step = np.divide(groups.total(d), mass, out=np.zeros_like(model.offsets), where=mass > 0)
        moved = model.offsets + step
        empty = np.flatnonzero(groups.mass(d).sum(axis=1) == 0)
        sites = _distinct_sites(statistic.far, model, len(empty)) if statistic.far is not None else []
        for c, site in zip(empty, sites, strict=False):
            moved[c] = site
        return replace(model, offsets=moved, mark=groups.mark, repaired=len(sites))

    def objective(self, model: Centers, statistic: Assigned) -> float:
        """J of the model the statistic was taken with."""
        return float(statistic.groups.scatter(model.offsets.shape[1]).sum())

    def settled(self, before: Centers, after: Centers) -> bool:
        """No label changed, or the centres hardly moved."""
        if after.repaired:
            return False
        return after.mark == before.mark or moved(before, after) <= self.tol

    def pack(self, model: Centers) -> Mapping[str, NDArray[Any]]:
        """Arrays for a checkpoint."""
        frame = model.frame
        marks = np.array([model.mark % 2**64, model.mark < 0, model.repaired, frame.missing], np.uint64)
        return {
            "offsets": model.offsets,
            "reference": frame.reference,
            "scale": np.array([frame.scale]),
            "marks": marks,
        }

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Centers:
        """From a checkpoint."""
        mark, unmarked, repaired, missing = (int(m) for m in arrays["marks"])
        frame = Frame(arrays["reference"], float(arrays["scale"][0]), bool(missing))
        return Centers(frame, arrays["offsets"], -1 if unmarked else mark, repaired)


def moved(before: Centers, after: Centers) -> float:
    """Sum of squared moves of all centres."""
    with np.errstate(over="ignore"):  # a start from very far away
        return float(((after.offsets - before.offsets) ** 2).sum())


def _visit(model: Centers, block: Block, *, add: bool = True) -> tuple[NDArray[np.int32], Assigned]:
    """Labels of a block and, unless they are all that is wanted, its statistic."""
    from asterism.kernels.assign import assign_block

    frame, (k, d) = model.frame, model.offsets.shape
    labels = np.empty(len(block), np.int32)
    table = GroupTotals.zero(k if add else 0, d, d if frame.missing else 1).table
    far = np.zeros((min(k, REPAIRS), 2))
    if block.rows.dtype == np.float32 and (frame.reference.astype(np.float32) != frame.reference).any():
        # The reference is of float64 rows: in float32 it would be another point.
        block = block_of(block.rows.astype(np.float64), block.weights, block.start)
    mark = assign_block(
        block.rows, block.weights, frame.reference, model.offsets, model.slopes, frame.scale,
        block.start, frame.missing, labels, table, far,
    )  # fmt: skip
    return labels, Assigned.of(GroupTotals(table, int(mark)), block.rows, block.start, far)


def _distinct_sites(far: FarthestRows, model: Centers, wanted: int) -> list[Vector]:
    """Offsets of up to ``wanted`` distinct far rows; missing cells are the reference's, a typical value."""
    usable = far.values[far.distance > 0]
    if not len(usable):
        k = len(model.offsets)
        raise TooFewRowsError(
            f"{k} groups were asked for, but the table has n_samples={k - wanted} distinct rows.",
            f"Ask for at most {k - wanted} groups.",
        )
    _, first = np.unique(usable, axis=0, return_index=True)
    sites = usable[np.sort(first)[:wanted]] - model.frame.reference
    return list(np.where(np.isnan(sites), 0.0, sites))


# --- the whole job ----------------------------------------------------------------------------------------------


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
    method = Lloyd(tol * float(moments.variance.mean()))
    everyone = [model for k in ks for model in starts[k]]
    runs = iterate(method, source, everyone, max_iter=max_iter)
    best = []
    for k in ks:
        mine, runs = runs[: len(starts[k])], runs[len(starts[k]) :]
        best.append(min(mine, key=lambda run: run.objective))
    return dict(zip(ks, _finish(source, best), strict=True))


def starting_centers(
    source: Source, frame: Frame, moments: ColumnMoments, k: int, init: Any, n_init: int, seed: int | None
) -> list[Centers]:
    """The starts that ``init`` asks for: drawn, or given."""
    from asterism.methods.seeding import given_centers, seed_centers

    if isinstance(init, str):
        return seed_centers(source, frame, moments, k, how=init, n_starts=n_init, seed=seed)
    return [given_centers(frame, init, k)]


def _finish(source: Source, runs: list[Run[Centers]]) -> list[KMeansFit]:
    """Labels and J of the centres that are returned, in one last pass."""
    models = tuple(run.model for run in runs)
    labels, joined = map_reduce(source, partial(_visit_all, models))
    fits = []
    for i, (run, statistic) in enumerate(zip(runs, joined.parts, strict=True)):
        inertia = Lloyd().objective(run.model, statistic)
        _warn_if_empty(run.model, statistic)
        # One k is the usual case: its column is the whole array then, and no copy.
        mine = labels[:, 0] if len(runs) == 1 else labels[:, i].copy()
        fits.append(KMeansFit(run.model, mine, inertia, [*run.history, inertia], run.steps, run.status))
    return fits


def _visit_all(models: tuple[Centers, ...], block: Block) -> tuple[NDArray[np.int32], Joined]:
    labels, statistics = zip(*(_visit(model, block) for model in models), strict=True)
    return np.stack(labels, axis=1), Joined(statistics)


def _warn_if_empty(model: Centers, statistic: Assigned) -> None:
    k, d = model.offsets.shape
    found = int((statistic.groups.mass(d).sum(axis=1) > 0).sum())
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
    return labels_of(masked if np.isnan(block.rows).any() else model, block)


def labels_of(model: Centers, block: Block) -> NDArray[np.int32]:
    """(n,) the nearest centre of every row of a block."""
    return _visit(model, block, add=False)[0]


def inertia_of(model: Centers, source: Source) -> float:
    """J of these centres on any table."""
    return Lloyd().objective(model, reduce(source, partial(_checked_totals, model.masked, source.names)))


def _checked_totals(model: Centers, names: tuple[str, ...], block: Block) -> Assigned:
    require_finite(block, names, missing_ok=True)
    return _visit(model, block)[1]


def distances_to(model: Centers, source: Source) -> NDArray[Any]:
    """(n, k) Euclidean distances over observed cells, in the source's float type."""
    return map_rows(source, partial(_distances_of, model, source.names))


def _distances_of(model: Centers, names: tuple[str, ...], block: Block) -> NDArray[Any]:
    from asterism.kernels.distance import distances_block

    require_finite(block, names, missing_ok=True)
    out = np.empty((len(block), len(model.offsets)), block.rows.dtype)
    distances_block(block.rows, model.frame.reference, model.offsets, out)
    return out


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
