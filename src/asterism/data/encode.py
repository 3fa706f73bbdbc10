"""From columns of every kind to numbers that can be compared: ``z = (plain(x) - center) / scale``.

==============  ==========================================  ===========================
kind            plain value                                 scale
==============  ==========================================  ===========================
numeric, count  x                                           its standard deviation
ordinal         code / (L - 1), the rank between 0 and 1    its standard deviation
boolean         0 or 1                                      its standard deviation
categorical     L columns, 1 where the cell is the level    sqrt(sum of their variances)
==============  ==========================================  ===========================

So every column of the table, whatever its kind, has total variance 1: the squared difference of two random
rows is 2 on average, in each. (A boolean as two columns would give the same distances: one is enough.)
A missing cell is NaN in all the columns it becomes. A column that does not vary becomes zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Matrix, Vector
from asterism.data.columns import NUMBERS, Column
from asterism.data.source import Piece, Source, part_within


@dataclass(frozen=True, eq=False)
class Encoding:
    """How rows of a source become rows of numbers, and centres of those become the user's own units again.

    >>> sizes = Encoding.plain((Column("weight"), Column("color", "categorical", ("blue", "red"))))
    >>> sizes.names
    ('weight', 'color=blue', 'color=red')
    >>> sizes.encode(np.array([[2.5, 1.0], [3.0, np.nan]]))
    array([[2.5, 0. , 1. ],
           [3. , nan, nan]])
    """

    columns: tuple[Column, ...]  # of the source
    center: Vector  # (D,) of the encoded columns: their means, or 0
    scale: Vector  # (D,) more than 0

    @classmethod
    def plain(cls, columns: tuple[Column, ...]) -> Encoding:
        """Codes opened into columns, nothing shifted or scaled."""
        width = sum(map(_width, columns))
        return cls(columns, np.zeros(width), np.ones(width))

    def standardised(self, mean: Vector, variance: Vector) -> Encoding:
        """The same columns with mean 0 and total variance 1, given the moments (D,) of the plain ones."""
        origins = self.origins
        total = np.bincount(origins, weights=variance, minlength=len(self.columns))[origins]
        return Encoding(self.columns, np.array(mean), np.where(total > 0, np.sqrt(total), 1.0))

    @property
    def width(self) -> int:
        """Number of encoded columns, D."""
        return len(self.center)

    @property
    def origins(self) -> NDArray[np.intp]:
        """(D,) place of the source column that each encoded column comes from."""
        return np.repeat(np.arange(len(self.columns)), [_width(column) for column in self.columns])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns, such as 'island=Biscoe'."""
        return tuple(name for column in self.columns for name in _names(column))

    def encode(self, rows: Matrix) -> Matrix:
        """Rows (n, d) of the source -> (n, D), in the same precision."""
        if all(column.kind in NUMBERS for column in self.columns):
            opened = rows.astype(np.float64)
        else:
            opened = np.empty((len(rows), self.width))
            first = 0
            for j, column in enumerate(self.columns):
                opened[:, first : first + _width(column)] = _opened(column, rows[:, j].astype(np.float64))
                first += _width(column)
        # In float64 even for float32 rows: a mean that is large beside the spread must not cost digits.
        opened -= self.center
        opened /= self.scale
        return opened.astype(rows.dtype, copy=False)

    def decode_centers(self, centers: Any) -> dict[str, NDArray[np.float64]]:
        """Centres (k, D) in the user's own units, by column of the source.

        numeric and count (k,) means; ordinal (k,) mean codes, 0 the lowest level; boolean (k,) shares of the second
        level; categorical (k, L) shares of the levels.

        >>> colors = Encoding.plain((Column("color", "categorical", ("blue", "red")),))
        >>> colors.decode_centers([[0.25, 0.75]])
        {'color': array([[0.25, 0.75]])}
        """
        opened = np.asarray(centers, np.float64) * self.scale + self.center
        decoded: dict[str, NDArray[np.float64]] = {}
        first = 0
        for column in self.columns:
            part = opened[:, first : first + _width(column)]
            first += _width(column)
            decoded[column.name] = _closed(column, part)
        return decoded


class EncodedSource(Source):
    """A source whose rows are encoded as they are read. Its blocks are its own: it may be the wider one."""

    def __init__(self, source: Source, encoding: Encoding) -> None:
        self.source, self.encoding = source, encoding
        self.columns = tuple(
            Column(name, reason=f"from {encoding.columns[j].name!r}")
            for name, j in zip(encoding.names, encoding.origins, strict=True)
        )
        self.n_rows, self.dtype, self.ignored = source.n_rows, source.dtype, source.ignored

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """Pieces of the table, encoded no more than a block at a time."""
        size = self.block_rows
        for rows, weights in self.source.pieces(start, stop):
            for a in range(0, len(rows), size):
                part = None if weights is None else weights[a : a + size]
                yield self.encoding.encode(rows[a : a + size]), part

    def part(self, first: int, last: int) -> Source:
        """The part of the table that holds these blocks, and the encoding."""
        inner, stop = part_within(self, self.source, first, last)
        part = EncodedSource(inner, self.encoding)
        part.n_rows = stop
        return part


def _width(column: Column) -> int:
    return len(column.levels) if column.kind == "categorical" else 1


def _names(column: Column) -> tuple[str, ...]:
    if column.kind == "categorical":
        return tuple(f"{column.name}={level}" for level in column.levels)
    return (f"{column.name}={column.levels[1]}",) if column.kind == "boolean" else (column.name,)


def _ranks(column: Column) -> int:
    """Steps from the lowest level of an ordinal column to its highest."""
    return max(len(column.levels) - 1, 1) if column.kind == "ordinal" else 1


def _opened(column: Column, cells: Vector) -> NDArray[np.float64]:
    """Plain values (n, width) of one column."""
    if column.kind != "categorical":
        return cells[:, None] / _ranks(column)
    known: NDArray[np.float64] = np.equal.outer(cells, np.arange(len(column.levels))).astype(np.float64)
    known[np.isnan(cells)] = np.nan
    return known


def _closed(column: Column, opened: NDArray[np.float64]) -> NDArray[np.float64]:
    """What ``_opened`` gave, in the units of the table."""
    if column.kind in ("boolean", "categorical"):
        shares = np.clip(opened, 0.0, 1.0)  # rounding may leave -1e-17
        return shares if column.kind == "categorical" else shares[:, 0]
    return opened[:, 0] * _ranks(column)
