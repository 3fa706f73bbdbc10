"""Vector quantisation: a row is stored as the number of its nearest code, and comes back as that code.

    rate        R = sum_s ceil(log2 k_s) / d                     bits a value, as stored
    entropy     H = - sum_s sum_c p_sc log2 p_sc / d             bits a value, at best with an entropy coder
    distortion  D = sum_i w_i ||x_i - decode(encode(x_i))||^2 / (w_i values)      over observed cells

Long rows are cut into ``n_subspaces`` runs of columns with a codebook each (product quantisation): s codebooks of k
codes tell k^s rows apart and take the memory of k.

References
----------
1. Gersho, Gray (1992), Vector Quantization and Signal Compression.
2. Jegou, Douze, Schmid (2011), Product quantization for nearest neighbor search. IEEE Trans. PAMI 33:117-128.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.block import Block, Vector, block_of
from asterism.data.finite import require_finite
from asterism.data.source import Piece, Source
from asterism.engines.reduce import map_reduce, reduce
from asterism.errors import DataError, ParameterError
from asterism.methods.kmeans import check_settings, fit_kmeans, fit_kmeans_path
from asterism.methods.lloyd import Centers, labels_of
from asterism.methods.palette import ColourCells, ColourIndex, Pixels, as_pixels, fit_palette

Codes = NDArray[np.unsignedinteger[Any]]  # (n, s)


class ColumnRun(Source):
    """Columns ``first:last`` of a table."""

    def __init__(self, inner: Source, first: int, last: int) -> None:
        self.inner, self.first, self.last = inner, first, last
        self.columns, self.n_rows, self.dtype = inner.columns[first:last], inner.n_rows, inner.dtype

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's pieces, narrower."""
        for rows, weights in self.inner.pieces(start, stop):
            yield rows[:, self.first : self.last], weights


# --- the model --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantizer:
    """A codebook for every run of columns."""

    centers: tuple[Centers, ...]  # each k_s codes of d_s columns
    index: ColourIndex | None = None  # for pictures: nearest codes by looking up

    @cached_property
    def books(self) -> tuple[NDArray[np.float64], ...]:
        """Each (k_s, d_s), in the table's coordinates."""
        return tuple(centers.positions for centers in self.centers)

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """(s + 1,) where runs of columns begin, then d."""
        return tuple(accumulate((centers.offsets.shape[1] for centers in self.centers), initial=0))

    @property
    def sizes(self) -> tuple[int, ...]:
        """(s,) codes of each book."""
        return tuple(len(centers.offsets) for centers in self.centers)

    @property
    def rate(self) -> float:
        """Bits a value."""
        return sum(map(code_bits, self.sizes)) / self.edges[-1]

    @property
    def code_type(self) -> np.dtype[np.unsignedinteger[Any]]:
        """The smallest type that holds every code."""
        return code_type(self.sizes)


def code_bits(k: int) -> int:
    """Bits that tell k codes apart: ceil(log2 k).

    >>> [code_bits(k) for k in (1, 2, 3, 64, 65)]
    [0, 1, 2, 6, 7]
    """
    return (k - 1).bit_length()


def code_type(sizes: Sequence[int]) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest unsigned type that holds every code."""
    return np.min_scalar_type(max(sizes) - 1)


def column_edges(d: int, n_subspaces: Any) -> list[int]:
    """Where ``n_subspaces`` runs of d columns begin, as even as can be, then d.

    >>> column_edges(7, 3)
    [0, 3, 5, 7]
    """
    if isinstance(n_subspaces, bool) or not isinstance(n_subspaces, int | np.integer) or n_subspaces < 1:
        raise ParameterError(f"n_subspaces is {n_subspaces!r}.", "Give a whole number, 1 or more.")
    if n_subspaces > d:
        raise ParameterError(
            f"n_subspaces is {n_subspaces}, but the table has n_features={d}.", f"Give at most {d}."
        )
    width, more = divmod(d, int(n_subspaces))
    return list(accumulate((width + (s < more) for s in range(int(n_subspaces))), initial=0))


# --- fitting ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class QuantizerFit:
    """A quantiser, and what it does to the rows it was made from."""

    model: Quantizer
    codes: Codes  # (n, s)
    usage: Usage
    n_iter: int
    settled: bool


def fit_quantizer(
    source: Source,
    k: int,
    *,
    n_subspaces: int = 1,
    n_init: int = 1,
    max_iter: int = 300,
    tol: float = 1e-4,
    seed: int | None = None,
) -> QuantizerFit:
    """Codebooks of k codes; bytes in up to four columns are taken for the colours of a picture."""
    edges = column_edges(source.n_columns, n_subspaces)
    pixels = as_pixels(source) if n_subspaces == 1 else None
    if pixels is not None:
        source = pixels
        model, steps, settled = _of_picture(pixels, k, max_iter, tol)
    else:
        runs = [ColumnRun(source, a, b) for a, b in pairwise(edges)]
        fits = [
            fit_kmeans(run, k, n_init=n_init, max_iter=max_iter, tol=tol, seed=run_seed(seed, s))
            for s, run in enumerate(runs)
        ]
        model = Quantizer(tuple(fit.model for fit in fits))
        steps, settled = max(f.n_iter for f in fits), all(f.status == "settled" for f in fits)
    codes, usage = encode_and_measure(model, source)
    return QuantizerFit(model, codes, usage, steps, settled)


def run_seed(seed: int | None, s: int) -> int | None:
    """The seed of one run of columns; the first has the seed that was given, as k-means itself would."""
    return seed if seed is None or s == 0 else int(np.random.SeedSequence([seed, s]).generate_state(1)[0])


def _of_picture(source: Pixels, k: int, max_iter: int, tol: float) -> tuple[Quantizer, int, bool]:
    cells: ColourCells = reduce(source, ColourCells.of)
    fit = fit_palette(source, cells, k, max_iter=max_iter, tol=tol)
    index = ColourIndex.of(fit.codes.positions, cells.seen)
    return Quantizer((fit.codes,), index), fit.n_iter, fit.settled


# --- encoding ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Usage:
    """What a quantiser does to some rows."""

    squares: float  # sum of w ||x - code||^2 over observed cells
    values: float  # sum of w times observed cells
    mass: tuple[Vector, ...]  # each (k_s,) the weight of the rows of each code

    def merge(self, other: Usage) -> Usage:
        """Sums add."""
        mass = tuple(a + b for a, b in zip(self.mass, other.mass, strict=True))
        return Usage(self.squares + other.squares, self.values + other.values, mass)

    @property
    def distortion(self) -> float:
        """Mean squared error of a value."""
        return self.squares / self.values if self.values else 0.0

    @property
    def entropy(self) -> float:
        """Bits a row, at best."""
        return sum(map(entropy_of, self.mass))


def entropy_of(mass: Vector) -> float:
    """- sum p log2 p of shares of the mass.

    >>> entropy_of(np.array([2.0, 1.0, 1.0, 0.0]))
    1.5
    """
    shares = mass / mass.sum()
    shares = shares[shares > 0]
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def encode(model: Quantizer, source: Source) -> Codes:
    """(n, s) the nearest code of every row, in every run of columns."""
    return encode_and_measure(model, source)[0]


def encode_and_measure(model: Quantizer, source: Source) -> tuple[Codes, Usage]:
    """Codes, rate and distortion of any table, in one pass."""
    pixels = source if isinstance(source, Pixels) else as_pixels(source)
    if model.index is not None and pixels is not None:
        return map_reduce(pixels, partial(_colours_measured, model.index))
    return map_reduce(source, partial(_measured, model, source.names))


def _colours_measured(index: ColourIndex, block: Block) -> tuple[Codes, Usage]:
    labels, squares, mass = index.encode(block)
    values = float(block.weights.sum()) * block.rows.shape[1]
    return labels[:, None], Usage(squares, values, (mass,))


def _measured(model: Quantizer, names: tuple[str, ...], block: Block) -> tuple[Codes, Usage]:
    require_finite(block, names, missing_ok=True)
    seen = ~np.isnan(block.rows)
    codes = np.empty((len(block), len(model.books)), model.code_type)
    squares, masses = 0.0, []
    for s, (a, b) in enumerate(pairwise(model.edges)):
        part = block_of(block.rows[:, a:b], block.weights, block.start)
        codes[:, s], more, mass = _nearest(model.centers[s], part, bool(seen[:, a:b].all()))
        squares += more
        masses.append(mass)
    return codes, Usage(squares, float(block.weights @ seen.sum(axis=1)), tuple(masses))


def _nearest(centers: Centers, block: Block, complete: bool) -> tuple[NDArray[np.int32], float, Vector]:
    model = centers if complete and not centers.frame.missing else centers.masked
    labels = labels_of(model, block)
    return labels, *_core.scatter(block.rows, block.weights, model.core, labels)


def decode(books: Sequence[NDArray[Any]], codes: Any) -> NDArray[Any]:
    """(n, d) the rows that codes (n, s) stand for."""
    codes = checked_codes(books, codes)
    parts = [book.take(codes[:, s], axis=0) for s, book in enumerate(books)]
    return parts[0] if len(parts) == 1 else np.hstack(parts)


def checked_codes(books: Sequence[NDArray[Any]], codes: Any) -> Codes:
    """Codes (n, s), or (n,) where there is one book; a ``DataError`` for the first that is not in its book."""
    array = np.asarray(codes)
    if array.ndim == 1 and len(books) == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != len(books) or array.dtype.kind not in "iu":
        raise DataError(
            f"Codes are whole numbers of shape (n, {len(books)}), not {array.dtype} of shape {array.shape}.",
            "Give what encode returned.",
        )
    for s, book in enumerate(books):
        column = array[:, s]
        if len(column) and (int(column.min()) < 0 or int(column.max()) >= len(book)):
            row = int(np.flatnonzero((column < 0) | (column >= len(book)))[0])
            raise DataError(f"the code is {column[row]}, but there are {len(book)}.",
                            "Give what encode returned.", row=row)  # fmt: skip
    return array


# --- rate and distortion ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RatePoint:
    """One point of a rate-distortion curve."""

    n_codes: int  # k of each book
    rate: float  # bits a value, as stored
    entropy: float  # bits a value, at best
    distortion: float  # mean squared error of a value


def rate_distortion(
    source: Source,
    ks: Sequence[int],
    *,
    n_subspaces: int = 1,
    n_init: int = 1,
    max_iter: int = 300,
    tol: float = 1e-4,
    seed: int | None = None,
) -> list[RatePoint]:
    """A point for every number of codes; those of one run of columns advance in the same passes."""
    check_settings(ks, n_init, max_iter, tol)
    edges, ks = column_edges(source.n_columns, n_subspaces), sorted(set(ks))
    paths = [
        fit_kmeans_path(
            ColumnRun(source, a, b), ks, n_init=n_init, max_iter=max_iter, tol=tol, seed=run_seed(seed, s)
        )
        for s, (a, b) in enumerate(pairwise(edges))
    ]
    points = []
    for k in ks:
        fits = [path[k] for path in paths]
        model = Quantizer(tuple(fit.model for fit in fits))
        usage = encode_and_measure(model, source)[1]
        points.append(RatePoint(k, model.rate, usage.entropy / source.n_columns, usage.distortion))
    return points
