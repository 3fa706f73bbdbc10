"""The leaves of a tree: the rows that count, gathered from a table; and the leaf nearest to a new row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block, Vector
from asterism.data.columns import Column
from asterism.data.finite import require_finite
from asterism.data.source import ArraySource, Source
from asterism.distances.base import Fitted
from asterism.engines.reduce import map_rows, require_rows
from asterism.errors import DataError, TooFewRowsError, row_name

AT_ONCE = 256  # new rows measured to all leaves together


@dataclass(frozen=True, eq=False)
class Leaves:
    """Rows of positive weight, and where each row of the table belongs."""

    rows: NDArray[Any] = field(repr=False)  # (m, d)
    weights: Vector = field(repr=False)  # (m,)
    numbers: NDArray[np.int64] = field(repr=False)  # (m,) row of the table
    of_row: NDArray[np.int64] = field(repr=False)  # (n,) leaf of each row of the table
    columns: tuple[Column, ...]
    missing: bool  # whether a cell is missing
    fitted: Fitted | None = None  # the dissimilarity; None: Euclidean distance of complete rows
    square: bool = False  # the table is a matrix of dissimilarities: its columns are its rows

    @property
    def source(self) -> ArraySource:
        """The leaves as a table."""
        return ArraySource(self.rows, self.weights, self.columns)


def gathered(source: Source, *, square: bool = False, least: int = 2) -> Leaves:
    """The rows of a source that count, in memory; ``square``: a matrix whose columns are rows too."""
    require_rows(source)
    n = source.n_rows
    parts, weights, missing = [], np.ones(n), False
    for block in source.blocks():
        require_finite(block, source.names, missing_ok=True)
        counted = block.weights > 0
        rows = block.rows if counted.all() else block.rows[counted]
        parts.append(rows)
        missing = missing or bool(np.isnan(rows).any())
        weights[block.start : block.start + len(block)] = block.weights
    rows = parts[0] if len(parts) == 1 else np.concatenate(parts)
    numbers = np.flatnonzero(weights > 0)
    if len(numbers) < least:
        raise TooFewRowsError(
            f"A tree needs {least} rows that count; there is n_samples={len(numbers)}.",
            "Give more rows, or weights above 0.",
        )
    columns = source.columns
    if square and len(numbers) < n:
        rows, columns = rows[:, numbers], tuple(columns[j] for j in numbers)
    of_row = np.cumsum(weights > 0) - 1
    return Leaves(rows, weights[numbers], numbers, of_row, columns, missing, square=square)


def placed(leaves: Leaves, source: Source) -> Leaves:
    """The same, with rows of weight 0 at their nearest leaves."""
    if len(leaves.numbers) == source.n_rows:
        return leaves
    of_row = leaves.of_row.copy()
    absent = np.setdiff1d(np.arange(source.n_rows), leaves.numbers)
    for block in source.blocks():
        mine = absent[(absent >= block.start) & (absent < block.start + len(block))]
        if len(mine):
            rows = block.rows[mine - block.start]
            # Whatever a row of weight 0 holds is no error.
            rows = np.where(np.isfinite(rows), rows, 0.0 if leaves.fitted is None else np.nan)
            of_row[mine] = nearest_leaf(leaves, ArraySource(rows, None, source.columns))
    return replace(leaves, of_row=of_row)


def require_comparable(pairs: Vector, leaves: Leaves) -> None:
    """A ``DataError`` that names two rows without a common cell, given all pairs of leaves or an (m, m) matrix."""
    bad = np.isnan(pairs)
    if not bad.any():
        return
    m, place = len(leaves.rows), int(bad.argmax())
    if pairs.ndim == 2:
        i, j = divmod(place, m)
    else:
        before = np.cumsum(np.arange(m - 1, 0, -1))  # pairs up to the end of each line
        i = int(np.searchsorted(before, place, side="right"))
        j = m - 1 - (int(before[i]) - 1 - place)
    other = row_name(int(leaves.numbers[j]))
    raise DataError(
        f"it has no cell in a column in which {other} has one too: they cannot be compared.",
        "Leave out rows that are nearly empty, or fill cells in.",
        row=int(leaves.numbers[i]),
    )


def nearest_leaf(leaves: Leaves, source: Source) -> NDArray[np.int64]:
    """(n,) the leaf nearest to each row of a source; of equals, the first."""
    if leaves.fitted is not None:
        return _nearest_by(leaves, leaves.fitted, source)
    reference = leaves.rows[0].astype(np.float64)
    offsets = leaves.rows.astype(np.float64) - reference
    unit = np.ldexp(
        1.0, int(np.frexp(np.abs(offsets).max())[1])
    )  # a power of two: float32 has room for squares
    tiles = _core.PointTiles(offsets / unit)

    def search(block: Block) -> NDArray[np.int64]:
        require_finite(block, source.names)
        out = np.empty(len(block), np.int64)
        tiles.nearest_points((block.rows.astype(np.float64) - reference) / unit, out)
        return out

    return map_rows(source, search)


def _nearest_by(leaves: Leaves, fitted: Fitted, source: Source) -> NDArray[np.int64]:
    points = fitted.points(fitted.ready(leaves.rows), np.arange(len(leaves.rows)))

    def search(block: Block) -> NDArray[np.int64]:
        out = np.empty(len(block), np.int64)
        for a in range(0, len(block), AT_ONCE):
            rows = block.rows[a : a + AT_ONCE]
            ready = fitted.checked(rows[:, leaves.numbers] if leaves.square else rows, start=block.start + a)
            tile = fitted.tile(ready, points)
            out[a : a + AT_ONCE] = np.argmin(np.where(np.isnan(tile), np.inf, tile), axis=1)
        return out

    return map_rows(source, search)
