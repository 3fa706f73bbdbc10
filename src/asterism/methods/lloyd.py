"""Lloyd's steps of k-means: each row to its nearest centre, each centre to the mean of its rows.

    J = sum_i w_i ||x_i - c_z(i)||^2        over observed cells

Both steps can only lower J. Missing cells take no part: distances run over the cells a row has, and a centre's
coordinate is the mean of the cells its rows have, so J on observed cells still never rises.

References
----------
1. Lloyd (1982), Least squares quantization in PCM. IEEE Trans. Inf. Theory 28:129-137.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block, Vector, block_of, is_sparse
from asterism.errors import TooFewRowsError
from asterism.methods.frame import Frame
from asterism.stats.groups import FarthestRows, Moves, grid_of
from asterism.stats.moments import ColumnMoments

DIGITS = 1e-3  # J brought up to date is trusted until it has fallen so far
WORTH_A_LEAD = 128  # measured: cells times centres; below, finding the nearest costs less than keeping a lead
NOT_FAR = 2.0**-100  # of a row's squared length: a squared distance that is rounding
REPAIRS = 4  # convention: empty groups that one step can put to use again


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
    drift: Vector | None = field(default=None, repr=False)  # (k,) what uses up the leads of rows

    @property
    def positions(self) -> NDArray[np.float64]:
        """(k, d) centres in the table's own coordinates."""
        return self.frame.reference + self.offsets

    @property
    def masked(self) -> Centers:
        """The same centres, ready for rows with missing cells."""
        return replace(self, frame=replace(self.frame, missing=True))

    @cached_property
    def core(self) -> _core.Centers:
        """The same centres as kernels take them."""
        frame = self.frame
        offsets = np.ascontiguousarray(self.offsets)
        return _core.Centers(frame.reference, offsets, frame.origin, frame.scale, frame.missing)

    @cached_property
    def by_column(self) -> tuple[NDArray[np.float64], Vector]:
        """(d, k) the centres, a column each, and (k,) their squared lengths: what sparse rows are multiplied by."""
        positions = self.positions
        return np.ascontiguousarray(positions.T), np.einsum("kd,kd->k", positions, positions)

    def __getstate__(self) -> dict[str, Any]:
        """For pickles: what was made from the fields is made again."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


def centers_at(frame: Frame, positions: NDArray[Any]) -> Centers:
    """Centres given in the table's coordinates."""
    return Centers(frame, np.ascontiguousarray(positions, np.float64) - frame.reference)


# --- summarize and update ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lloyd:
    """The method, on a table of which it knows how far its cells reach."""

    grid: NDArray[np.float64] = field(repr=False)  # (2, d + c) of exact sums
    tol: float = 0.0  # the sum of squared moves of all centres below which it has settled
    name: str = "k-means"

    def summarize(self, model: Centers, block: Block) -> Moves:
        """All rows come from nowhere into the group of their nearest centre."""
        return self.recall(model, block, self.blank(len(block)), fresh=True)

    def blank(self, n: int) -> NDArray[np.int32]:
        """(2, n) a memory of nothing: labels, and the bits of the rows' leads in float32."""
        return np.full((2, n), -1, np.int32)

    def recall(self, model: Centers, block: Block, memory: NDArray[np.int32], *, fresh: bool) -> Moves:
        """What groups gain by rows that leave the label that is remembered of them, which is brought up to date."""
        k, d = model.offsets.shape
        labels = relabel(model, block, memory)
        sums, gain, far = _core.move_rows(
            block.rows, block.weights, model.core, memory[0], labels, self.grid, block.start, min(k, REPAIRS)
        )
        memory[0] = labels
        farthest = FarthestRows.of(block.rows, block.start, far) if fresh else None
        return Moves(sums, self.grid.shape[1] - d, fresh, gain, farthest).with_far_if_needed()

    def forgets(self, model: Centers) -> bool:
        """Whether the next pass must add up all rows: for an empty group, or when J has lost digits by falling."""
        return model.unsettled or model.objective < DIGITS * model.counted

    def update(self, model: Centers, statistic: Moves) -> Centers:
        """c <- reference + sum w (x - reference) / sum w; an empty group takes a far row for its centre."""
        sums = statistic.sums
        if not statistic.whole:
            assert model.sums is not None, "what rows left was never added up"
            sums = model.sums + sums
        now = replace(statistic, sums=sums)
        weights = now.mass
        mass = np.broadcast_to(weights, model.offsets.shape)
        offsets = np.divide(now.totals, mass, out=model.offsets.copy(), where=mass > 0)
        before = self.objective(model, statistic)
        with np.errstate(over="ignore", invalid="ignore"):  # centres from very far away: all rows count again
            # J falls by sum w (c - c_new)^2 when centres go to their means.
            objective = before - float((mass * (offsets - model.offsets) ** 2).sum())
        counted = before if statistic.whole else model.counted
        empty = np.flatnonzero(weights.max(axis=1) <= 0)
        if len(empty) and statistic.far is not None:
            for c, site in zip(empty, _distinct_sites(statistic.far, model, len(empty)), strict=False):
                offsets[c] = site
        kept = None if len(empty) else sums
        objective = objective if 0.0 < objective < np.inf else 0.0
        return Centers(
            model.frame, offsets, kept, objective, counted, len(empty) > 0, drift_of(model, offsets)
        )

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
    d = len(frame.reference)
    reach = np.maximum(np.abs(moments.high - frame.reference), np.abs(moments.low - frame.reference))
    ones = np.ones(d if frame.missing else 1)
    grid = grid_of(np.concatenate([reach, ones]), moments.total, moments.rows)
    return Lloyd(grid, tol * float(moments.variance.mean()))


def drift_of(model: Centers, offsets: NDArray[np.float64]) -> Vector:
    """(k,) what each centre and the fastest have moved since the first step: it adds up, in the frame's units."""
    with np.errstate(over="ignore", invalid="ignore"):
        gone = np.sqrt((((offsets - model.offsets) * model.frame.scale) ** 2).sum(axis=1)) * (1.0 + 1e-6)
        total: Vector = gone + gone.max() + (0.0 if model.drift is None else model.drift)
    return np.where(np.isnan(total), np.inf, total)


def moved(before: Centers, after: Centers) -> float:
    """Sum of squared moves of all centres."""
    with np.errstate(over="ignore"):  # a start from very far away
        return float(((after.offsets - before.offsets) ** 2).sum())


def labels_of(model: Centers, block: Block) -> NDArray[np.int32]:
    """(n,) the nearest centre of every row of a block."""
    if is_sparse(block.rows):
        columns, squares = model.by_column
        return np.asarray((squares - 2.0 * (block.rows @ columns)).argmin(axis=1), np.int32)
    labels: NDArray[np.int32] = _core.nearest(_certifiable(model, block), model.core)
    return labels


def relabel(model: Centers, block: Block, memory: NDArray[np.int32]) -> NDArray[np.int32]:
    """The same where (2, n) labels and leads are remembered: only rows whose lead is used up are read."""
    if model.offsets.size < WORTH_A_LEAD:
        return labels_of(model, block)
    drift = np.zeros(len(model.offsets)) if model.drift is None else model.drift
    labels: NDArray[np.int32] = _core.relabel(
        _certifiable(model, block), model.core, memory[0], memory[1].view(np.float32), drift
    )
    return labels


def _certifiable(model: Centers, block: Block) -> NDArray[Any]:
    """Rows whose differences from the origin have no other rounding than that of their own type."""
    if block.rows.dtype == np.float32 and not model.frame.fits_float32:
        return block_of(block.rows.astype(np.float64)).rows
    return block.rows


def _distinct_sites(far: FarthestRows, model: Centers, wanted: int) -> list[Vector]:
    """Offsets of up to ``wanted`` distinct far rows; missing cells are the reference's, a typical value."""
    offsets = far.values - model.frame.reference
    # A mean of equal rows may differ from them in its last bit: that is not far.
    usable = far.values[far.distance > NOT_FAR * np.nansum(offsets**2, axis=1)]
    sites = distinct_sites(usable, len(model.offsets), wanted) - model.frame.reference
    return list(np.where(np.isnan(sites), 0.0, sites))


def distinct_sites(usable: NDArray[np.float64], k: int, wanted: int) -> NDArray[np.float64]:
    """Up to ``wanted`` distinct ones of far rows, in their order, for the empty groups of k."""
    if not len(usable):
        raise TooFewRowsError(
            f"{k} groups were asked for, but the table has n_samples={k - wanted} distinct rows.",
            f"Ask for at most {k - wanted} groups.",
        )
    _, first = np.unique(usable, axis=0, return_index=True)
    return usable[np.sort(first)[:wanted]]
