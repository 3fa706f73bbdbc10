"""Cells that no arithmetic survives: found where they are, and named with row, column and remedy.

Looking for them costs one sum per block; only a block that holds one is searched cell by cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from asterism.data.block import Block, is_sparse
from asterism.data.source import Source
from asterism.errors import DataError


def infinite_cell(names: Sequence[str], row: int, column: int) -> DataError:
    """The error for an infinite cell, whose place is known (``ColumnMoments.infinite``)."""
    return DataError(
        "the value is infinite (inf).",
        "Replace it by a number, make it missing (NaN), or give the row the weight 0.",
        row=row,
        column=names[column],
    )


def missing_cell(names: Sequence[str], row: int, column: int) -> DataError:
    """The error for a missing cell, for methods that need every cell."""
    return DataError(
        "the value is missing (NaN), and this method needs every cell.",
        "Impute it, drop the row or the column, or use a method that takes missing cells.",
        row=row,
        column=names[column],
    )


def require_finite(block: Block, names: Sequence[str], *, missing_ok: bool = False) -> None:
    """Raise a ``DataError`` for the first infinite (or missing) cell of a row that counts.

    >>> from asterism.data.block import block_of
    >>> require_finite(block_of(np.array([[1.0, np.nan]])), ["a", "b"], missing_ok=True)
    >>> require_finite(block_of(np.array([[1.0, np.inf]])), ["a", "b"])
    Traceback (most recent call last):
    asterism.errors.DataError: row 1, column 'b': the value is infinite (inf). Replace it ...
    """
    rows = block.rows
    if is_sparse(rows):
        _require_finite_stored(block, names)
        return
    with np.errstate(over="ignore", invalid="ignore"):
        total = rows.sum()
    if np.isfinite(total):  # a sum of finite cells may overflow, never the other way round
        return
    bad = np.isinf(rows) if missing_ok else ~np.isfinite(rows)
    bad[block.weights == 0] = False
    if not bad.any():
        return
    i, j = divmod(int(bad.argmax()), rows.shape[1])
    error = missing_cell if np.isnan(rows[i, j]) else infinite_cell
    raise error(names, block.start + i, j)


def _require_finite_stored(block: Block, names: Sequence[str]) -> None:
    """The same of sparse rows, of which no cell can be missing."""
    rows: Any = block.rows
    bad = np.flatnonzero(~np.isfinite(rows.data))
    row = np.searchsorted(rows.indptr, bad, side="right") - 1
    counts = block.weights[row] > 0
    if not counts.any():
        return
    at = int(counts.argmax())
    value, column = rows.data[bad[at]], int(rows.indices[bad[at]])
    if np.isinf(value):
        raise infinite_cell(names, block.start + int(row[at]), column)
    raise DataError(
        "the value is missing (NaN), and in a sparse table no cell can be.",
        "Put a number there, or give the row the weight 0.",
        row=block.start + int(row[at]),
        column=names[column],
    )


def raise_for_bad_cell(source: Source) -> NoReturn:
    """Find the cell that made a result of the whole table not finite, and raise its ``DataError``."""
    for block in source.blocks():
        require_finite(block, source.names)
    raise DataError(
        "The values are so large that their squares are infinite.",
        "Divide the columns by a power of ten, or standardise them first.",
    )
