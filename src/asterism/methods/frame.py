"""Where numbers are safe: a reference point among the rows, and a power of two.

Methods work on ``x - reference``. The reference is made of values that occur in the table, so the difference is
exact for rows near it, and a table shifted by any constant (1e12, say) gives the very same differences.
``scale`` brings them near 1 where float32 is used; powers of two change no digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from asterism.data.block import Vector
from asterism.data.even import in_even_blocks
from asterism.data.finite import infinite_cell, raise_for_bad_cell
from asterism.data.longer import in_longer_blocks
from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.errors import DataError
from asterism.stats.moments import ColumnMoments

FEWEST = 2  # blocks of a survey, or twice as many: to merge two takes as long as a tenth of a million cells
LOOK = 63  # rows of the first block that are asked for a typical value
NEAR = 4.0  # squared distance of 0 from the mean, in variances, that costs float32 a bit or two
WIDEST = 2.0**480  # ranges beyond it, or below its inverse, have squares that float64 cannot hold


@dataclass(frozen=True)
class Frame:
    """A point to measure from, and a unit to measure in."""

    reference: Vector  # (d,) values that occur in the table
    scale: float  # a power of two
    missing: bool  # whether cells of the table are missing
    around_zero: bool = False  # whether 0 is as good a point for float32: kernels may take cells as they are

    @cached_property
    def origin(self) -> Vector:
        """(d,) the point that float32 measures from."""
        return np.zeros_like(self.reference) if self.around_zero else self.reference

    @cached_property
    def fits_float32(self) -> bool:
        """Whether the origin is the same point in float32: not if it came from float64 rows."""
        return bool((self.origin.astype(np.float32) == self.origin).all())


def survey(source: Source) -> tuple[Frame, ColumnMoments]:
    """One pass over a table before any method runs: what its columns are like, and whether they can be used."""
    blocks = in_even_blocks(in_longer_blocks(source, FEWEST))
    moments: ColumnMoments = reduce(blocks, ColumnMoments.of)
    refuse_unusable(source, moments)
    with np.errstate(over="ignore"):
        ranges = moments.high - moments.low
    widest = float(np.max(ranges))
    if widest > WIDEST or 0 < widest < 1 / WIDEST:
        limit = "infinity" if widest > 1 else "0"
        raise DataError(
            f"the values range over {widest:.3g}: their squares cannot be told from {limit}.",
            "Change the unit of the columns, or standardise them first.",
            column=source.names[int(np.argmax(ranges))],
        )
    exponent = np.frexp(widest)[1] if widest > 0 else 0
    scale = float(np.ldexp(1.0, -exponent))
    if source.sparse:  # most cells are 0
        return Frame(np.zeros(source.n_columns), 1.0, False, True), moments
    return Frame(_typical(source, moments), scale, moments.missing, _around_zero(moments)), moments


def refuse_unusable(source: Source, moments: ColumnMoments) -> None:
    """Infinite cells and columns without any value have no mean."""
    if moments.infinite is not None:
        if source.sparse:  # where a cell is not a number, either
            raise_for_bad_cell(source)
        raise infinite_cell(source.names, *moments.infinite)
    for j in np.flatnonzero(moments.observed == 0):
        raise DataError(
            "every cell is missing.", "Leave the column out, or fill it in.", column=source.names[int(j)]
        )


def _around_zero(moments: ColumnMoments) -> bool:
    """Whether rows are, on the whole, hardly longer than their differences from the mean."""
    with np.errstate(over="ignore"):
        return bool((moments.mean**2).sum() <= NEAR * moments.variance.sum())


def _typical(source: Source, moments: ColumnMoments) -> Vector:
    """The lower median of some rows of the first block, column by column: a value that occurs, and no outlier."""
    block = next(iter(source.blocks(0, 1)))
    counted = np.flatnonzero(block.weights > 0)
    if not len(counted):
        return moments.low.copy()
    some = block.rows[counted[:: -(-len(counted) // LOOK)]]
    lines = some.T.astype(np.float64, order="C")
    if not moments.missing:  # the usual case, in half the time
        lines.partition((len(some) - 1) // 2, axis=1)
        return lines[:, (len(some) - 1) // 2].copy()
    seen = np.count_nonzero(~np.isnan(lines), axis=1)
    at = np.maximum((seen - 1) // 2, 0)
    lines.partition(np.unique(at), axis=1)  # NaN come last
    middle = lines[np.arange(len(lines)), at]
    return np.where(seen > 0, middle, moments.low)
