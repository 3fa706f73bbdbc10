"""Rows as the verdict sees them: at most a few thousand, without holes or ties, in an order of their values.

Nothing here depends on the order of rows or columns, on the sign of a column, or, for columns in standard units, on
their units: what cannot matter must not change a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
STEPS = (
    np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 19.0, 23.0]) % 1.0
)  # derived: multiples fill an interval evenly
MOST_DIRECTIONS, LEAST_DIRECTIONS = 8, 2  # convention: neighbours tell little of density beyond
MANY_COLUMNS = 6  # convention: a table of more is seen in principal directions


@dataclass(frozen=True, eq=False)
class Seen:
    """Distinct rows and their weights; ``place`` says where each row of the table went."""

    rows: Array  # (m, d)
    weights: Array  # (m,) sums of those of equal rows
    place: Index  # (n,)

    @classmethod
    def of(cls, rows: Array, weights: Array) -> Seen:
        """Complete rows (n, d), columns in standard units."""
        _, inverse, times = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        if times.min() > 1:
            return cls._of_copies(rows, weights, inverse, int(times.min()))
        order = order_of_values(rows, weights)
        spread = spread_in_cells(rows[order])
        changed = np.r_[True, (spread[1:] != spread[:-1]).any(axis=1)]
        number = np.cumsum(changed) - 1
        place = np.empty(len(rows), np.int64)
        place[order] = number
        return cls(spread[changed], np.bincount(place, weights).astype(np.float64), place)

    @classmethod
    def _of_copies(cls, rows: Array, weights: Array, which: Index, copies: int) -> Seen:
        """A table in which every row is written several times: as written once, or its values would look rounded."""
        order = np.argsort(which, kind="stable")
        turn = np.empty(len(rows), np.int64)
        turn[order] = np.arange(len(rows)) - np.searchsorted(which[order], which[order])
        together = np.unique(np.column_stack([which, turn // copies]), axis=0, return_inverse=True)[1]
        first = np.unique(together, return_index=True)[1]
        once = (
            cls.of(rows[first], np.bincount(together, weights).astype(np.float64))
            if copies < len(rows)
            else None
        )
        if once is None:
            return cls(rows[:1], np.array([weights.sum()]), np.zeros(len(rows), np.int64))
        return cls(once.rows, once.weights, once.place[together])


def order_of_values(rows: Array, weights: Array) -> Index:
    """(n,) the order of rows by two sums over columns of bounded functions of their cells.

    Each cell is moved by its column's third moment, so that columns are told apart by what is in them, and a column
    with its sign changed counts as before.
    """
    share = weights / weights.sum()
    z = rows - share @ rows
    skew = share @ z**3
    z = z * np.where(skew < 0, -1.0, 1.0) + np.abs(skew)
    # Rounded: the last bits of a sum depend on the order of the columns.
    keys = [np.round(np.arctan(c * z).sum(axis=1), 9) for c in (3.0, 1.0)]
    return np.asarray(np.lexsort(keys))


def spread_in_cells(rows: Array) -> Array:
    """Rounded values spread evenly over the cells they were rounded to.

    Where many values are equal, a component can be as thin as a single value and win any likelihood, and density has
    a peak at every mark of the ruler. The cell of a column is the usual step between its distinct values, if at most
    half of its values are distinct. Rows are in an order of their values, and equal ones are spread like multiples of
    a square root: nothing is drawn.

    >>> rows = np.array([[1.0, 0.31], [2.0, 0.17], [1.0, 0.55], [2.0, 0.83]])
    >>> x = spread_in_cells(rows)
    >>> bool((x[:, 1] == rows[:, 1]).all()), bool((np.abs(x - rows) <= 0.5).all()), len(np.unique(x[:, 0]))
    (True, True, 4)
    """
    out = rows.copy()
    for j, column in enumerate(rows.T):
        values, which = np.unique(column, return_inverse=True)
        if len(values) < 2 or 2 * len(values) > len(column):
            continue
        order = np.argsort(which, kind="stable")
        turn = np.empty(len(column))
        turn[order] = np.arange(len(column)) - np.searchsorted(which[order], which[order])
        # Of another column another sequence, or the cells of two columns would be filled along a line.
        phase = ((turn + 1.0) * STEPS[len(values) % len(STEPS)]) % 1.0
        out[:, j] += (phase - 0.5) * float(np.quantile(np.diff(values), 0.25))
    return out


def principal_directions(covariance: Array, total: float) -> Array:
    """(m, d) directions with more spread than chance gives independent columns in standard units.

    References
    ----------
    1. Marchenko, Pastur (1967), Distribution of eigenvalues for some sets of random matrices.
       Mathematics of the USSR-Sbornik 1:457-483.
    """
    d = len(covariance)
    values, vectors = np.linalg.eigh(covariance)
    most = (1.0 + np.sqrt(d / total)) ** 2  # derived: the largest eigenvalue of noise
    m = int(np.clip((values > most).sum(), LEAST_DIRECTIONS, MOST_DIRECTIONS))
    return np.ascontiguousarray(vectors[:, ::-1][:, : min(m, d)].T)
