"""Lloyd's steps of k-means: each row to its nearest centre, each centre to the mean of its rows.

    J = sum_i w_i ||x_i - c_z(i)||^2        over observed cells

Both steps can only lower J. Missing cells take no part: distances run over the cells a row has, and a centre's
coordinate is the mean of the cells its rows have, so J on observed cells still never rises.

References
----------
1. Lloyd (1982), Least squares quantization in PCM. IEEE Trans. Inf. Theory 28:129-137.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of
from asterism.errors import TooFewRowsError
from asterism.methods.bounds import FEW_COLUMNS, NO_GROUPS, Groups, groups_for, in_panels, window
from asterism.methods.frame import Frame
from asterism.stats.groups import FarthestRows, Moves, Tally
from asterism.stats.moments import ColumnMoments

DIGITS = 1e-3  # J brought up to date is trusted until it has fallen so far
WORTH_A_LEAD = 128  # cells times centres: below, looking at a row costs less than keeping its lead
REPAIRS = 4  # empty groups that one step can put to use again
NONE = np.empty(0, np.float32)  # no leads, no bounds


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
    )  # (k + groups,) how far centres have gone (``kernels.assign``, ``kernels.grouped``)

    @property
    def positions(self) -> NDArray[np.float64]:
        """(k, d) centres in the table's own coordinates."""
        return self.frame.reference + self.offsets

    @property
    def masked(self) -> Centers:
        """The same centres, ready for rows with missing cells."""
        return replace(self, frame=replace(self.frame, missing=True))

    @property
    def in_panels(self) -> bool:
        """Whether they are scored sixteen at a time (``kernels.grouped``)."""
        k, d = self.offsets.shape
        return in_panels(k, 2 * d if self.frame.missing else d + 1)

    @cached_property
    def lifted(self) -> NDArray[np.float32]:
        """(k, d + c) what a row's cells and mask are multiplied with to score the centres (``kernels.assign``)."""
        # A centre too far for float32 has infinite slopes: its scores settle nothing, and float64 decides.
        with np.errstate(over="ignore"):
            scaled = (self.offsets + (self.frame.reference - self.frame.origin)) * self.frame.scale
            squares = scaled**2 if self.frame.missing else (scaled**2).sum(axis=1, keepdims=True)
            return np.hstack([-2.0 * scaled, squares]).astype(np.float32)

    @cached_property
    def slopes(self) -> NDArray[np.float32]:
        """The same as kernels take them: lines of numbers, or panels."""
        from asterism.kernels.assign import padded
        from asterism.kernels.panels import panels_of
        from asterism.kernels.scan import CENTERS

        if self.in_panels:
            return panels_of(self.lifted, self.frame.missing)
        if self.lifted.shape[1] <= FEW_COLUMNS:
            return panels_of(self.lifted, self.frame.missing, CENTERS)
        return padded(self.lifted)

    @cached_property
    def wholes(self) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
        """The panels in whole numbers (``kernels.wholes``)."""
        from asterism.kernels.wholes import whole_panels

        return whole_panels(self.lifted, self.frame.missing)

    @cached_property
    def margin(self) -> np.float32:
        """By how much a score must lead (``kernels.decide``)."""
        from asterism.kernels.decide import error_margin

        return np.float32(error_margin(self.lifted))

    @cached_property
    def shifts(self) -> dict[np.dtype[Any], NDArray[Any]]:
        """(d + 1,) the point that float32 measures from and the scale, for rows of either type."""
        whole = np.append(self.frame.origin, self.frame.scale)
        with np.errstate(over="ignore"):  # kernels know what to do where float32 cannot hold the scale
            return {whole.dtype: whole, np.dtype(np.float32): whole.astype(np.float32)}

    @cached_property
    def gone(self) -> NDArray[np.float32] | None:
        """The drift as bounds want it."""
        return None if self.drift is None else self.drift.astype(np.float32)


def centers_at(frame: Frame, positions: NDArray[Any]) -> Centers:
    """Centres given in the table's coordinates."""
    return Centers(frame, np.ascontiguousarray(positions, np.float64) - frame.reference)


# --- summarize and update ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lloyd:
    """The method, on a table of which it knows how far its cells reach."""

    grid: NDArray[np.float64] = field(repr=False)  # (2, d + c) for exact sums (``kernels.moves``)
    tol: float = 0.0  # the sum of squared moves of all centres below which it has settled
    groups: Groups = NO_GROUPS  # of centres that share a bound
    name: str = "k-means"

    def summarize(self, model: Centers, block: Block) -> Moves:
        """All rows come from nowhere into the group of their nearest centre."""
        moves = self.recall(model, block, self.blank(len(block)), self.tally(model), fresh=True)
        moves = replace(moves, sums=moves.table)
        return moves if moves.empty.size else replace(moves, far=None)

    def tally(self, model: Centers) -> Tally:
        """Where the blocks of a pass add up."""
        from asterism.kernels.moves import pitch_of

        width = self.grid.shape[1]
        return Tally((len(model.offsets), 2, pitch_of(width)), width)

    def blank(self, n: int) -> NDArray[np.int32]:
        """(2 + lines, n) a memory of nothing: labels, and the bits of the rows' leads or bounds in float32."""
        return np.full((2 + self.groups.lines, n), -1, np.int32)

    def recall(
        self, model: Centers, block: Block, memory: NDArray[np.int32], tally: Tally, *, fresh: bool
    ) -> Moves:
        """Rows that left the group that is remembered of them; the memory is brought up to date."""
        from asterism.kernels.moves import move_rows

        k, d = model.offsets.shape
        far = np.zeros((min(k, REPAIRS), 2))
        moved = self.relabel(model, block, memory)
        gain = move_rows(
            block.rows, block.weights, model.frame.reference, model.offsets, moved, memory[0],
            self.grid, model.frame.missing, block.start, tally.mine(), far,
        )  # fmt: skip
        farthest = FarthestRows.of(block.rows, block.start, far) if fresh else None
        return Moves(tally, self.grid.shape[1] - d, fresh, float(gain), farthest)

    def relabel(self, model: Centers, block: Block, memory: NDArray[np.int32]) -> NDArray[np.int32]:
        """(m, 2) rows that changed their group, and which they left; the memory is brought up to date."""
        bounds = self.groups.count(len(model.offsets))
        return label_rows(model, block, memory[0], memory[1 : 2 + bounds].view(np.float32))

    def forgets(self, model: Centers) -> bool:
        """Whether the next pass must add up all rows: for an empty group, or when J has lost digits by falling."""
        return model.unsettled or model.objective < DIGITS * model.counted

    def update(self, model: Centers, statistic: Moves) -> Centers:
        """c <- reference + sum w (x - reference) / sum w; an empty group takes a far row for its centre."""
        sums = statistic.table
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
            model.frame, offsets, kept, objective, counted, len(empty) > 0, self._drift(model, offsets)
        )

    def _drift(self, model: Centers, offsets: NDArray[np.float64]) -> Vector:
        """(k + groups,) how far centres have gone: it adds up from step to step, in the frame's units.

        A lead is used up by the own centre and the fastest, a bound by the fastest of its group.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            gone = np.sqrt((((offsets - model.offsets) * model.frame.scale) ** 2).sum(axis=1)) * (1.0 + 1e-6)
            step = gone if model.in_panels else gone + gone.max()
            total: Vector = np.append(step, self.groups.fastest(gone)) + (
                0.0 if model.drift is None else model.drift
            )
        return np.where(np.isnan(total), np.inf, total)

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


def lloyd_for(frame: Frame, moments: ColumnMoments, tol: float = 0.0, ks: Sequence[int] = ()) -> Lloyd:
    """The method for a table with these moments; ``tol`` in units of the mean variance of its columns.

    ``ks`` are the numbers of centres of all candidates: who tells them gets bounds.
    """
    from asterism.kernels.moves import grid_of

    d = len(frame.reference)
    reach = np.maximum(np.abs(moments.high - frame.reference), np.abs(moments.low - frame.reference))
    ones = np.ones(d if frame.missing else 1)
    grid = grid_of(np.concatenate([reach, ones]), moments.total, moments.rows)
    return Lloyd(grid, tol * float(moments.variance.mean()), groups_for(ks, grid.shape[1], moments.rows))


def moved(before: Centers, after: Centers) -> float:
    """Sum of squared moves of all centres."""
    with np.errstate(over="ignore"):  # a start from very far away
        return float(((after.offsets - before.offsets) ** 2).sum())


def label_rows(
    model: Centers, block: Block, labels: NDArray[np.int32], kept: NDArray[np.float32] | None = None
) -> NDArray[np.int32]:
    """Label the rows of a block; where something is kept of them, only those that need a look.

    ``labels`` are the groups before and become those of now. ``kept`` is (1, n) leads, or (1 + groups, n) bounds.
    Returns (m, 2) who moved from where; without ``kept``, nobody asks.
    """
    from asterism.kernels.assign import assign_block
    from asterism.kernels.grouped import assign_grouped

    frame, rows = model.frame, block.rows
    if rows.dtype == np.float32 and not frame.fits_float32:
        rows = block_of(rows.astype(np.float64)).rows
    moved = np.empty((0 if kept is None else len(rows), 2), np.int32)
    shift, slopes = model.shifts[rows.dtype], model.slopes
    table = rows, frame.reference, model.offsets, shift, slopes
    how = frame.missing, model.margin
    if model.in_panels:
        groups = 0 if kept is None else len(kept) - 1
        gone = np.zeros(len(model.offsets) + groups, np.float32) if model.gone is None else model.gone
        bounds, pitch = window(kept) if kept is not None and groups else (NONE, 0)
        count = assign_grouped(*table, *model.wholes, *how, gone, labels, bounds, pitch, moved)
    else:
        drift = np.zeros(len(model.offsets)) if model.drift is None else model.drift
        leads = NONE if kept is None or slopes.size < WORTH_A_LEAD else kept[0]
        count = assign_block(*table, *how, drift, labels, leads, moved)
    return moved[:count]


def labels_of(model: Centers, block: Block) -> NDArray[np.int32]:
    """(n,) the nearest centre of every row of a block."""
    labels = np.empty(len(block), np.int32)
    label_rows(model, block, labels)
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
