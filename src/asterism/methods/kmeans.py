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
from dataclasses import dataclass, field, replace
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
from asterism.stats.groups import FarthestRows, Moves
from asterism.stats.moments import ColumnMoments

DIGITS = 1e-3  # J brought up to date is trusted until it has fallen so far
WORTH_A_LEAD = 128  # cells times centres: below, looking at a row costs less than keeping its lead
REPAIRS = 4  # empty groups that one step can put to use again


# --- the model --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Centers:
    """k centres, kept as differences from the frame's reference so that offsets cost no digits."""

    frame: Frame
    offsets: NDArray[np.float64]  # (k, d) centres minus reference
    sums: NDArray[np.float64] | None = field(default=None, repr=False)  # of the rows they are means of
    objective: float = np.inf  # J of those rows about these centres
    counted: float = np.inf  # J when it was last added up from all rows, not brought up to date
    unsettled: bool = True  # a group was empty: its centre was put on a far row, or will be
    drift: Vector | None = field(
        default=None, repr=False
    )  # (k,) how far centres have gone (``kernels.assign``)

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
            scaled = (self.offsets + (self.frame.reference - self.frame.origin)) * self.frame.scale
            squares = scaled**2 if self.frame.missing else (scaled**2).sum(axis=1, keepdims=True)
            return padded(np.hstack([-2.0 * scaled, squares]))


def centers_at(frame: Frame, positions: NDArray[Any]) -> Centers:
    """Centres given in the table's coordinates."""
    return Centers(frame, np.ascontiguousarray(positions, np.float64) - frame.reference)


# --- summarize and update ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lloyd:
    """The method, on a table of which it knows how far its cells reach."""

    grid: NDArray[np.float64] = field(repr=False)  # (2, d + c) for exact sums (``kernels.moves``)
    tol: float = 0.0  # the sum of squared moves of all centres below which it has settled
    name: str = "k-means"

    def summarize(self, model: Centers, block: Block) -> Moves:
        """All rows come from nowhere into the group of their nearest centre."""
        return self.recall(model, block, self.blank(len(block)), fresh=True)

    def blank(self, n: int) -> NDArray[np.int32]:
        """(2, n) a memory of nothing: groups, and the bits of the rows' leads in float32."""
        return np.full((2, n), -1, np.int32)

    def recall(self, model: Centers, block: Block, memory: NDArray[np.int32], *, fresh: bool) -> Moves:
        """Rows that left the group that is remembered of them; the memory is brought up to date."""
        from asterism.kernels.moves import move_rows

        k, width = len(model.offsets), self.grid.shape[1]
        sums, far = np.zeros((k, 2, width)), np.zeros((min(k, REPAIRS), 2))
        labels = memory[0].copy()
        leads = memory[1].view(np.float32)
        label_rows(model, block, labels, leads if model.slopes.size >= WORTH_A_LEAD else leads[:0])
        gain = move_rows(
            block.rows, block.weights, model.frame.reference, model.offsets, memory[0], labels,
            self.grid, block.start, sums.reshape(k, 2 * width), far,
        )  # fmt: skip
        moves = Moves(sums, width - model.offsets.shape[1], fresh, float(gain), None)
        if fresh and moves.empty.size:
            return replace(moves, far=FarthestRows.of(block.rows, block.start, far))
        return moves

    def forgets(self, model: Centers) -> bool:
        """Whether the next pass must add up all rows: for an empty group, or when J has lost digits by falling."""
        return model.unsettled or model.objective < DIGITS * model.counted

    def update(self, model: Centers, statistic: Moves) -> Centers:
        """c <- reference + sum w (x - reference) / sum w; an empty group takes a far row for its centre."""
        now = statistic
        if not statistic.whole:
            assert model.sums is not None, "what rows left was never added up"
            now = replace(statistic, sums=model.sums + statistic.sums)
        mass = np.broadcast_to(now.mass, model.offsets.shape)
        offsets = np.divide(now.totals, mass, out=model.offsets.copy(), where=mass > 0)
        before = self.objective(model, statistic)
        with np.errstate(over="ignore", invalid="ignore"):  # centres from very far away: all rows count again
            # J falls by sum w (c - c_new)^2 when centres go to their means.
            objective = before - float((mass * (offsets - model.offsets) ** 2).sum())
        counted = before if statistic.whole else model.counted
        empty = now.empty
        if len(empty) and statistic.far is not None:
            for c, site in zip(empty, _distinct_sites(statistic.far, model, len(empty)), strict=False):
                offsets[c] = site
        kept = None if len(empty) else now.sums
        objective = objective if 0.0 < objective < np.inf else 0.0
        return Centers(model.frame, offsets, kept, objective, counted, len(empty) > 0, _drift(model, offsets))

    def objective(self, model: Centers, statistic: Moves) -> float:
        """J of the model the statistic was taken with."""
        return (0.0 if statistic.whole else model.objective) - statistic.gain

    def settled(self, before: Centers, after: Centers) -> bool:
        """The centres hardly moved; when no row changes its group, exact sums leave them where they are."""
        return not after.unsettled and moved(before, after) <= self.tol

    def pack(self, model: Centers) -> Mapping[str, NDArray[Any]]:
        """For a checkpoint. Rows are remembered anew after it, which changes no bit."""
        return pack_centers(model)

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Centers:
        """From a checkpoint."""
        return unpack_centers(arrays)


def pack_centers(model: Centers) -> Mapping[str, NDArray[Any]]:
    """Centres as named arrays."""
    frame = model.frame
    return {
        "offsets": model.offsets,
        "reference": frame.reference,
        "scale": np.array([frame.scale]),
        "missing": np.array([frame.missing]),
        "around_zero": np.array([frame.around_zero]),
    }


def unpack_centers(arrays: Mapping[str, NDArray[Any]]) -> Centers:
    """Centres again."""
    flags = (bool(arrays[name][0]) for name in ("missing", "around_zero"))
    frame = Frame(arrays["reference"], float(arrays["scale"][0]), *flags)
    return Centers(frame, arrays["offsets"])


def lloyd_for(frame: Frame, moments: ColumnMoments, tol: float = 0.0) -> Lloyd:
    """The method for a table with these moments; ``tol`` in units of the mean variance of its columns."""
    from asterism.kernels.moves import grid_of

    d = len(frame.reference)
    reach = np.maximum(np.abs(moments.high - frame.reference), np.abs(moments.low - frame.reference))
    ones = np.ones(d if frame.missing else 1)
    grid = grid_of(np.concatenate([reach, ones]), moments.total, moments.rows)
    return Lloyd(grid, tol * float(moments.variance.mean()))


def moved(before: Centers, after: Centers) -> float:
    """Sum of squared moves of all centres."""
    with np.errstate(over="ignore"):  # a start from very far away
        return float(((after.offsets - before.offsets) ** 2).sum())


def _drift(model: Centers, offsets: NDArray[np.float64]) -> Vector:
    """(k,) what leads are noted with and compared to: it adds up from step to step, in the frame's units."""
    with np.errstate(over="ignore", invalid="ignore"):
        gone = np.sqrt((((offsets - model.offsets) * model.frame.scale) ** 2).sum(axis=1)) * (1.0 + 1e-12)
        total: Vector = gone + gone.max() + (0.0 if model.drift is None else model.drift)
    return np.where(np.isnan(total), np.inf, total)


def label_rows(model: Centers, block: Block, labels: NDArray[np.int32], leads: NDArray[np.float32]) -> None:
    """Label the rows of a block; where leads are given, only those that have used up theirs."""
    from asterism.kernels.assign import assign_block

    frame, rows = model.frame, block.rows
    if rows.dtype == np.float32 and not frame.fits_float32:
        rows = block_of(rows.astype(np.float64)).rows
    drift = np.zeros(len(model.offsets)) if model.drift is None else model.drift
    assign_block(
        rows, frame.reference, model.offsets, frame.origin, model.slopes, frame.scale, frame.missing,
        drift, labels, leads,
    )  # fmt: skip


def labels_of(model: Centers, block: Block) -> NDArray[np.int32]:
    """(n,) the nearest centre of every row of a block."""
    labels = np.empty(len(block), np.int32)
    label_rows(model, block, labels, np.empty(0, np.float32))
    return labels


def _distinct_sites(far: FarthestRows, model: Centers, wanted: int) -> list[Vector]:
    """Offsets of up to ``wanted`` distinct far rows; missing cells are the reference's, a typical value."""
    offsets = far.values - model.frame.reference
    # A mean of equal rows may differ from them in its last bit: that is not far.
    usable = far.values[far.distance > 2.0**-100 * np.nansum(offsets**2, axis=1)]
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
    everyone = [model for k in ks for model in starts[k]]
    runs = iterate(lloyd_for(frame, moments, tol), source, everyone, max_iter=max_iter)
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
    from asterism.methods.seeding import given_centers, seed_centers

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


def _scattered(model: Centers, block: Block) -> tuple[NDArray[np.int32], Scatter]:
    from asterism.kernels.moves import scatter_rows

    labels, mass = labels_of(model, block), np.zeros(len(model.offsets))
    within = scatter_rows(block.rows, block.weights, model.frame.reference, model.offsets, labels, mass)
    return labels, Scatter(float(within), mass)


def _scatter_all(models: tuple[Centers, ...], block: Block) -> Joined:
    return Joined(tuple(_scattered(model, block)[1] for model in models))


def _finish(source: Source, runs: list[Run[Centers]]) -> list[KMeansFit]:
    """Labels and J of the centres that are returned, in one last pass."""
    labels, joined = map_reduce(source, partial(_label_all, tuple(run.model for run in runs)))
    fits = []
    for i, (run, scatter) in enumerate(zip(runs, joined.parts, strict=True)):
        _warn_if_empty(scatter)
        # One k is the usual case: its column is the whole array then, and no copy.
        mine = labels[:, 0] if len(runs) == 1 else labels[:, i].copy()
        history = [*run.history, scatter.inertia]
        fits.append(KMeansFit(run.model, mine, scatter.inertia, history, run.steps, run.status))
    return fits


def _label_all(models: tuple[Centers, ...], block: Block) -> tuple[NDArray[np.int32], Joined]:
    labels, scatters = zip(*(_scattered(model, block) for model in models), strict=True)
    return np.stack(labels, axis=1), Joined(scatters)


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
    return labels_of(masked if np.isnan(block.rows).any() else model, block)


def inertia_of(model: Centers, source: Source) -> float:
    """J of these centres on any table."""
    return float(reduce(source, partial(_checked_scatter, model.masked, source.names)).inertia)


def _checked_scatter(model: Centers, names: tuple[str, ...], block: Block) -> Scatter:
    require_finite(block, names, missing_ok=True)
    return _scattered(model, block)[1]


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
