"""Floors under spreads: a covariance can always be inverted, and it is said where it could not have been.

The floor is a share of the data's own column variances s, so the units of a table change nothing: in every
direction u a group's variance is at least ``floor * sum_j u_j^2 s_j``. Each function below lifts as little as the
structure needs, and gives scatters back, so that the structure's own formula stays as it is.

All work in scaled units (see ``covariance.estimate``): ``units`` are the column variances there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FLOOR = 1e-8  # a spread of 1e-4 of a column's own is the narrowest group we believe in
ROUNDING = 1e-12  # of a group's own longest axis: nothing shorter survives a factorisation
EMPTY = 1e-12  # a group with less than this share of the weight says nothing of its own spread


@dataclass(frozen=True, slots=True)
class Repair:
    """What was mended in a covariance, and where."""

    component: int | None  # the group; None where all groups share what was mended
    columns: tuple[int, ...]  # the columns that had no spread of their own; empty for an empty group
    what: str  # "empty" or "collapsed"

    def describe(self, names: Sequence[str] | None = None) -> str:
        """In words.

        >>> Repair(2, (0, 3), "collapsed").describe(["age", "height", "size", "weight"])
        "group 2 has no spread of its own in 'age', 'weight'"
        """
        who = "the common covariance" if self.component is None else f"group {self.component}"
        if self.what == "empty":
            return f"{who} has no rows: it took the spread of all groups"
        labels = [repr(names[j]) if names is not None else f"column {j}" for j in self.columns]
        return f"{who} has no spread of its own in {', '.join(labels)}"


Mended = tuple[Array, tuple[Repair, ...]]


def fill_empty(n: Array, scatters: Array) -> tuple[Array, Array, tuple[Repair, ...]]:
    """Groups without weight take the average spread, with next to no weight."""
    total = n.sum()
    empty = n <= EMPTY * total
    if len(scatters) == 1 or not empty.any():  # a pooled scatter has no empty groups
        return n, scatters, ()
    counts = np.where(empty, max(EMPTY * total, np.finfo(float).tiny), n)
    pooled = scatters[~empty].sum(axis=0) / max(n[~empty].sum(), np.finfo(float).tiny)
    filled = scatters.copy()
    filled[empty] = counts[empty].reshape(-1, *[1] * pooled.ndim) * pooled
    return counts, filled, tuple(Repair(int(c), (), "empty") for c in np.flatnonzero(empty))


def lift_each(n: Array, scatters: Array, units: Array, floor: float) -> Mended:
    """Every group reaches the floor in every direction: what shapes or axes of groups' own need.

    Common shapes with varying volumes (VEI, VEE, VEV) need it too: a group that is flat in one direction and heavier
    than the others would pull the common shape after it without end.
    """
    if scatters.ndim == 2:
        return _lift_diagonals(n, scatters, units, floor, range(len(n)))
    lifted, repairs = scatters, []
    least = _least(n, scatters, units, floor)
    for c in _suspects(scatters, least, units):
        extra, columns = _deficit(scatters[c], least[c], units)
        if columns:
            lifted = scatters.copy() if lifted is scatters else lifted
            lifted[c] += extra
            repairs.append(Repair(int(c), columns, "collapsed"))
    return lifted, tuple(repairs)


def lift_shared(n: Array, scatters: Array, units: Array, floor: float) -> Mended:
    """The groups together reach the floor in every direction: what EEI and EEE need."""
    total = n.sum()
    pooled = scatters.sum(axis=0)
    shares = n / total if len(scatters) > 1 else np.ones(1)
    if scatters.ndim == 2:
        lifted, repairs = _lift_diagonals(np.array([total]), pooled[None], units, floor, [None])
        return (scatters + shares[:, None] * (lifted[0] - pooled) if repairs else scatters), repairs
    least = _least(np.array([total]), pooled[None], units, floor)
    if not len(_suspects(pooled[None], least, units)):
        return scatters, ()
    extra, columns = _deficit(pooled, least[0], units)
    if not columns:
        return scatters, ()
    return scatters + shares[:, None, None] * extra, (Repair(None, columns, "collapsed"),)


def lift_volumes(n: Array, scatters: Array, units: Array, floor: float) -> Mended:
    """Every group has some spread in all: what VII needs. Only the sum over columns is looked at, and raised."""
    totals = _diagonals(scatters).sum(axis=1)
    least = floor * n * units.sum()
    low = np.flatnonzero(totals < least)
    if not len(low):
        return scatters, ()
    extra = np.zeros((len(n), len(units)))
    extra[low] = (least - totals)[low, None] / len(units)
    everywhere = tuple(range(len(units)))
    return _plus_diagonals(scatters, extra), tuple(Repair(int(c), everywhere, "collapsed") for c in low)


def lift_total(n: Array, scatters: Array, units: Array, floor: float) -> Mended:
    """There is some spread at all: what EII needs."""
    m, d = len(scatters), len(units)
    missing = floor * n.sum() * units.sum() - _diagonals(scatters).sum()
    if missing <= 0:
        return scatters, ()
    extra = np.full((m, d), missing / (m * d))
    return _plus_diagonals(scatters, extra), (Repair(None, tuple(range(d)), "collapsed"),)


def lift_lengths(n: Array, scatters: Array, units: Array, floor: float) -> Mended:
    """The j-th longest axes of all groups together have some length: what EEV needs."""
    lengths = np.linalg.eigvalsh(scatters).sum(axis=0)
    least = max(floor * float(units.min()), len(units) * np.finfo(float).eps * float(lengths[-1] / n.sum()))
    return lift_each(n, scatters, units, floor) if lengths[0] < least * n.sum() else (scatters, ())


def _lift_diagonals(
    n: Array, diagonals: Array, units: Array, floor: float, names: Sequence[int | None]
) -> Mended:
    least = floor * n[:, None] * units
    low = diagonals < least
    if not low.any():
        return diagonals, ()
    repairs = tuple(
        Repair(name, tuple(int(j) for j in np.flatnonzero(where)), "collapsed")
        for name, where in zip(names, low, strict=True)
        if where.any()
    )
    return np.where(low, least, diagonals), repairs


def _least(n: Array, scatters: Array, units: Array, floor: float) -> Array:
    """(k,) the least scatter of a standardised direction."""
    longest = (_diagonals(scatters) / units).max(axis=1)
    least: Array = np.maximum(floor * n, ROUNDING * longest)
    return least


def _suspects(scatters: Array, least: Array, units: Array) -> NDArray[np.intp]:
    """Groups below the floor, by a Cholesky factorisation of what is above it: it costs next to nothing."""
    above = scatters - least[:, None, None] * np.diag(units)
    try:
        np.linalg.cholesky(above)
    except np.linalg.LinAlgError:
        return np.array([c for c in range(len(least)) if not _definite(above[c])], dtype=np.intp)
    return np.empty(0, dtype=np.intp)


def _definite(matrix: Array) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def _deficit(scatter: Array, least: float, units: Array) -> tuple[Array, tuple[int, ...]]:
    """What is missing to ``least`` in every direction of standardised columns, and the columns it is missing in.

    Raising eigenvalues to the floor, and no more, is what maximises Q among covariances above the floor.
    """
    root = np.sqrt(units)
    values, vectors = np.linalg.eigh(scatter / np.outer(root, root))
    low = values < least
    if not low.any():
        return np.zeros_like(scatter), ()
    flat = vectors[:, low]
    extra = (flat * (least - values[low])) @ flat.T
    share = (flat**2).sum(axis=1)  # how much of each column lies in the collapsed directions
    return extra * np.outer(root, root), tuple(int(j) for j in np.flatnonzero(share >= 0.5 * share.max()))


def _diagonals(scatters: Array) -> Array:
    return scatters if scatters.ndim == 2 else np.diagonal(scatters, axis1=1, axis2=2)


def _plus_diagonals(scatters: Array, extra: Array) -> Array:
    return scatters + extra if scatters.ndim == 2 else scatters + extra[:, :, None] * np.eye(extra.shape[1])
