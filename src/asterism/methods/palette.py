"""Codes for the colours of pictures: k-means on a grid of colour cells, and nearest codes by looking up.

A photograph has hundreds of thousands of pixels but a few thousand cells of similar colours. Their weights and
means are a statistic of the picture (sums merge), and k-means on them is k-means on the picture but for what
colours differ within a cell. The start halves the part with the largest sum of squares until there are k.

References
----------
1. Wu (1992), Color quantization by dynamic programming and principal analysis. ACM Trans. Graphics 11:348-372.
2. Celebi (2011), Improving the performance of k-means for color quantization. Image Vis. Comput. 29:260-271.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block, Vector
from asterism.data.source import ArraySource, Piece, Source
from asterism.engines.reduce import reduce
from asterism.errors import TooFewRowsError
from asterism.methods.frame import survey
from asterism.methods.kmeans import check_settings, fit_kmeans
from asterism.methods.lloyd import Centers, centers_at

MOST_CHANNELS = 4  # red, green, blue, opacity
CELL_BITS = 15  # of a cell's number: 32 steps a channel of a colour picture
BLOCK_BYTES = 1 << 19  # of pixels: a photograph of half a megapixel keeps four threads busy
MANY_CELLS = 8  # cells for each code, below which every colour counts by itself


def as_pixels(source: Source) -> Pixels | None:
    """The rows as colours, if they are bytes in at most four columns."""
    if (
        isinstance(source, ArraySource)
        and source.array.dtype == np.uint8
        and source.n_columns <= MOST_CHANNELS
    ):
        return Pixels(source)
    return None


class Pixels(Source):
    """The colours of a picture as they are: blocks of bytes, which the kernels of colours take.

    As float64 they would be eight times as large, and making them so takes as long as all that is done with them.
    """

    def __init__(self, source: ArraySource) -> None:
        self.array, self.weights = np.ascontiguousarray(source.array), source.weights
        self.columns, self.n_rows, self.dtype = source.columns, source.n_rows, source.dtype

    @property
    def block_rows(self) -> int:
        """A power of two: looking a colour up takes as long as reading many a number."""
        return 1 << (BLOCK_BYTES // self.n_columns).bit_length() - 1

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[Block]:
        """Logical blocks ``first:last`` in order."""
        size, stop = self.block_rows, self.n_rows
        for start in range(first * size, stop if last is None else min(last * size, stop), size):
            rows = self.array[start : start + size]
            weights = _ones(size)[: len(rows)] if self.weights is None else self.weights[start : start + size]
            yield Block(_read_only(rows), _read_only(weights), start)

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """For those who want numbers."""
        rows = self.array[start:stop].astype(np.float64)
        yield rows, None if self.weights is None else self.weights[start:stop]


@cache
def _ones(n: int) -> Vector:
    return np.ones(n)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _bytes_of(block: Block) -> NDArray[np.uint8]:
    """(n, d) whole numbers 0..255, as they are where they are bytes."""
    return np.ascontiguousarray(block.rows, np.uint8)


# --- the statistic ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ColourCells:
    """Weight and sum of the colours in every cell."""

    sums: NDArray[np.float64]  # (cells, 1 + d) sum w, then sum w x

    @classmethod
    def of(cls, block: Block) -> ColourCells:
        """Of colours given as whole numbers 0..255."""
        d = block.rows.shape[1]
        sums = np.zeros((1 << (cell_bits(d) * d), 1 + d))
        _core.add_colours(_bytes_of(block), block.weights, sums)
        return cls(sums)

    def merge(self, other: ColourCells) -> ColourCells:
        """Sums add."""
        return ColourCells(self.sums + other.sums)

    @property
    def seen(self) -> NDArray[np.intp]:
        """(m,) numbers of the cells that have any weight."""
        return np.flatnonzero(self.sums[:, 0] > 0)

    def rows(self) -> tuple[NDArray[np.float64], Vector]:
        """(m, d) means of those cells, and their weights."""
        used = self.sums[self.seen]
        return used[:, 1:] / used[:, :1], np.ascontiguousarray(used[:, 0])


@dataclass(frozen=True, slots=True)
class DistinctColours:
    """Every colour that occurs, with its weight: for pictures with few cells beside the codes wanted."""

    numbers: NDArray[np.int64]  # (m,) ascending; channels one after the other, 8 bits each
    mass: Vector  # (m,)
    d: int  # channels

    @classmethod
    def of(cls, block: Block) -> DistinctColours:
        """Of colours given as whole numbers 0..255; rows of weight 0 are not there."""
        counted = block.weights > 0
        numbers = block.rows[counted].astype(np.int64) @ (
            1 << 8 * np.arange(block.rows.shape[1], dtype=np.int64)
        )
        distinct, group = np.unique(numbers, return_inverse=True)
        mass = np.bincount(group, block.weights[counted], minlength=len(distinct))
        return cls(distinct, mass.astype(np.float64), block.rows.shape[1])

    def merge(self, other: DistinctColours) -> DistinctColours:
        """Equal colours together."""
        both = np.concatenate([self.numbers, other.numbers])
        distinct, group = np.unique(both, return_inverse=True)
        mass = np.bincount(group, np.concatenate([self.mass, other.mass]), minlength=len(distinct))
        return DistinctColours(distinct, mass.astype(np.float64), self.d)

    def rows(self) -> tuple[NDArray[np.float64], Vector]:
        """(m, d) colours and their weights."""
        return (self.numbers[:, None] >> 8 * np.arange(self.d) & 255).astype(np.float64), self.mass


def cell_bits(d: int) -> int:
    """Bits of a channel that a cell's number has.

    >>> cell_bits(1), cell_bits(3), cell_bits(4)
    (8, 5, 3)
    """
    return min(8, CELL_BITS // d)


# --- codes ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Palette:
    """Codes for the colours of a picture."""

    codes: Centers
    n_iter: int
    settled: bool


def fit_palette(source: Source, cells: ColourCells, k: int, *, max_iter: int, tol: float) -> Palette:
    """k codes, the means of halved cells or what k-means makes of them. There is no chance in it.

    ``max_iter=0`` keeps the means: within a tenth of the distortion that k-means ends at.
    """
    check_settings([k], 1, 1 if max_iter == 0 else max_iter, tol)
    points, weights = cells.rows()
    if len(points) < MANY_CELLS * k:
        points, weights = reduce(source, DistinctColours.of).rows()
    start, table = _split(points, weights, k), ArraySource(points, weights)
    if max_iter == 0:
        return Palette(centers_at(survey(table)[0], start), 0, False)
    fit = fit_kmeans(table, k, init=start, max_iter=max_iter, tol=tol)
    return Palette(fit.model, fit.n_iter, fit.status == "settled")


def _split(points: NDArray[np.float64], weights: Vector, k: int) -> NDArray[np.float64]:
    centers = np.empty((k, points.shape[1]))
    if _core.split_points(points, weights, centers) < k:
        raise TooFewRowsError(
            f"{k} codes were asked for, but there are n_samples={len(points)} distinct colours.",
            f"Ask for at most {len(points)}.",
        )
    return centers


# --- nearest codes ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColourIndex:
    """Codes, and for every cell of colours that was seen the codes that can be nearest in it.

    The last list has all codes: it serves the cells that were not seen.
    """

    codes: NDArray[np.float64]  # (k, 4) 0 in channels that are not there
    slots: NDArray[np.int32]  # (2^(bits d),) the list of each cell
    starts: NDArray[np.int32]  # (m + 2,) where a list starts, and where the last ends
    lists: NDArray[np.int32]  # the candidates, list after list

    @classmethod
    def of(cls, codes: NDArray[np.float64], seen: NDArray[np.intp]) -> ColourIndex:
        """Of (k, d) codes, for the cells with these numbers."""
        k, d = codes.shape
        bits = cell_bits(d)
        padded = np.zeros((k, MOST_CHANNELS))
        padded[:, :d] = codes
        starts = np.empty(len(seen) + 2, np.int32)
        lists = np.empty(len(seen) * k, np.int32)
        used = _core.list_candidates(np.ascontiguousarray(codes), seen, bits, starts[:-1], lists)
        starts[-1] = used + k
        lists = np.concatenate([lists[:used], np.arange(k, dtype=np.int32)])
        slots = np.full(1 << (bits * d), len(seen), np.int32)
        slots[seen] = np.arange(len(seen))
        return cls(padded, slots, starts, lists)

    def encode(self, block: Block) -> tuple[NDArray[np.unsignedinteger[Any]], float, Vector]:
        """(n,) the nearest code of every colour, the sum of w ||x - c||^2, and (k,) the codes' weights."""
        k = len(self.codes)
        labels, mass = np.empty(len(block), np.min_scalar_type(k - 1)), np.zeros(k)
        index = (self.codes, self.slots, self.starts, self.lists)
        squares = _core.encode_colours(_bytes_of(block), block.weights, *index, labels, mass)
        return labels, squares, mass
