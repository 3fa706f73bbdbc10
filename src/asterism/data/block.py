"""A block: consecutive rows of a table, with their weights, as kernels want them.

Logical blocks are fixed by global row number and the number of columns alone: never by threads,
files or row groups. That is half of why the same seed gives the same bits everywhere
(the other half is the merge tree in ``engines.tree``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[Any]  # (n, d) float32 or float64
Vector = NDArray[np.float64]  # (n,)

BLOCK_BYTES = 3 << 20  # the aim, counted at 8 bytes a cell
WIDE_BYTES = 16 << 20  # what a block of a wide table may take
MOST_ROWS = 1 << 17
GOOD_ROWS = 1 << 11  # below this the merge of statistics costs more than their making


def rows_per_block(d: int) -> int:
    """Rows of a logical block of a table with ``d`` columns: a power of two.

    >>> rows_per_block(2), rows_per_block(128), rows_per_block(20_000)
    (131072, 2048, 64)
    """
    aim = BLOCK_BYTES // (8 * d)
    if aim < GOOD_ROWS:
        aim = min(GOOD_ROWS, max(WIDE_BYTES // (8 * d), 1))
    return min(1 << (int(aim).bit_length() - 1), MOST_ROWS)


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive rows. Arrays are C-contiguous and read-only: a summary never changes its input.

    (Read-only is also a type to the compiler: one kind of array in, one compiled kernel.)
    """

    rows: Matrix  # (n, d) float32 or float64; NaN is a missing cell. Of a sparse table CSR (``data.sparse``)
    weights: Vector  # (n,) float64, 0 or more
    start: int  # global number of the first row

    def __len__(self) -> int:
        return int(self.rows.shape[0])


def block_of(rows: Matrix, weights: Vector | None = None, start: int = 0) -> Block:
    """A block of these rows; copies only what is not C-contiguous float32 or float64."""
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    if weights is None:
        weights = unit_weights(rows.shape[0])
    if is_sparse(rows):
        return Block(rows, frozen(np.asarray(weights, np.float64)), start)
    return Block(frozen(rows), frozen(np.asarray(weights, np.float64)), start)


def is_sparse(rows: Any) -> bool:
    """Whether rows are a SciPy CSR matrix, of which only cells that are not 0 are stored."""
    return hasattr(rows, "indptr")


_ONES = np.ones(MOST_ROWS)
_ONES.flags.writeable = False


def unit_weights(n: int) -> Vector:
    """``n`` ones, read-only; shared while blocks are of the usual size."""
    return _ONES[:n] if n <= len(_ONES) else frozen(np.ones(n))


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, C-contiguous, aligned and read-only.

    A worker may get them at any address. There NumPy would copy them for every product and no longer see that both
    factors are the same array, and so round otherwise; and kernels would be compiled once more.
    """
    flags = array.flags
    if flags.c_contiguous and flags.aligned and not flags.writeable:
        return array
    array = np.ascontiguousarray(array).view() if flags.aligned else array.copy()
    array.flags.writeable = False
    return array


def present(block: Block) -> Block:
    """The rows that count. Absent ones may hold anything, infinity included.

    Rows keep their order; ``start`` is meaningless afterwards if any was left out.
    """
    if block.weights.all():
        return block
    here = block.weights > 0
    return block_of(block.rows[here], block.weights[here], block.start)
