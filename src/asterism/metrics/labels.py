"""Labels of any kind as codes 0 .. k - 1, without a Python loop over rows.

Whole numbers of a modest range are looked up in a table; text and objects go through Arrow's hash table; what is
left is sorted. Levels are in ascending order in every case, so that a table of counts reads the same
whatever the labels are stored as. Labels of rows with weight 0 are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.data.source import checked_weights
from asterism.errors import DataError

Codes = NDArray[np.integer[Any]]

TABLE = 4  # a lookup table may be so many times as long as there are rows
SMALL = 1 << 16  # or this long
PIECE = 1 << 17  # labels that are looked at together


@dataclass(frozen=True, slots=True)
class Labels:
    """A labeling: which level every row has."""

    codes: Codes  # (n,) 0 .. k - 1; -1 for rows of weight 0
    levels: NDArray[Any]  # (k,) ascending, each with a row that counts

    @property
    def k(self) -> int:
        """Number of different labels."""
        return len(self.levels)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two labelings of the same rows, without the rows of weight 0."""

    true: Labels
    found: Labels
    weights: Vector | None  # (n,) all positive; None: all one


def labels_of(labels: Any, weights: Vector | None = None, what: str = "labels") -> Labels:
    """Codes and levels of one labeling.

    >>> found = labels_of(["b", "a", "b"])
    >>> found.codes.tolist(), found.levels.tolist()
    ([1, 0, 1], ['a', 'b'])
    """
    array = _vector(labels, what)
    absent = None if weights is None or weights.all() else weights == 0
    if absent is None:
        return _coded(array, what)
    known = _coded(array[~absent], what, np.flatnonzero(~absent))
    codes = np.full(len(array), -1, np.int64)
    codes[~absent] = known.codes
    return Labels(codes, known.levels)


def pair_of(labels_true: Any, labels: Any, sample_weight: Any = None) -> Pair:
    """Two labelings of the same rows; rows of weight 0 are left out of both."""
    true, found = _vector(labels_true, "labels_true"), _vector(labels, "labels")
    if len(true) != len(found):
        raise DataError(
            f"labels_true has {len(true)} rows and labels has {len(found)}.",
            "Give both labelings for the same rows, in the same order.",
        )
    rows = None
    weights = None
    if sample_weight is not None:
        weights = checked_weights(sample_weight, len(true))
        if not weights.all():
            rows = np.flatnonzero(weights)
            true, found, weights = true[rows], found[rows], weights[rows]
    return Pair(_coded(true, "labels_true", rows), _coded(found, "labels", rows), weights)


# --- any kind of label -----------------------------------------------------------------------------------------


def _vector(labels: Any, what: str) -> NDArray[Any]:
    array = np.asarray(labels)
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    if array.ndim != 1:
        raise DataError(
            f"{what} has the shape {array.shape}.", "Give one label a row; soft memberships have no labels."
        )
    return array


def _coded(array: NDArray[Any], what: str, rows: NDArray[np.intp] | None = None) -> Labels:
    kind = array.dtype.kind
    if not len(array):
        return Labels(np.zeros(0, np.int64), array)
    if kind in "iub":
        return _whole_numbers(array)
    if kind == "f":
        bad = np.isnan(array)
        if bad.any():
            raise _missing(what, int(np.argmax(bad)), rows)
    if kind in "OUST":
        return _names(array, what, rows)
    levels, codes = np.unique(array, return_inverse=True)
    return Labels(codes, levels)


def _whole_numbers(array: NDArray[Any]) -> Labels:
    """Numbers 0 .. k - 1 are their own codes, and not copied."""
    low, high = int(array.min()), int(array.max())
    span = high - low + 1
    if span > max(TABLE * len(array), SMALL):
        levels, codes = np.unique(array, return_inverse=True)
        return Labels(codes, levels)
    there = np.zeros(span, np.bool_)
    for _, offsets in _pieces(array, low):
        there[offsets] = True
    levels = np.flatnonzero(there) + low
    if low == 0 and len(levels) == span and array.dtype not in (np.bool_, np.uint64):
        return Labels(array, levels)
    table = np.cumsum(there, dtype=np.int32) - np.int32(1)
    codes = np.empty(len(array), np.int32)
    for start, offsets in _pieces(array, low):
        codes[start : start + len(offsets)] = table[offsets]
    return Labels(codes, levels)


def _pieces(array: NDArray[Any], low: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Where each piece starts, and its numbers from ``low``: whole labelings are never copied as wider numbers."""
    for start in range(0, len(array), PIECE):
        yield start, array[start : start + PIECE].astype(np.int64) - low


def _names(array: NDArray[Any], what: str, rows: NDArray[np.intp] | None) -> Labels:
    import pyarrow as pa

    try:
        cells = pa.array(array.tolist() if array.dtype.kind in "UST" else array, from_pandas=True)
        coded = cells.dictionary_encode()
        levels = np.array(coded.dictionary.to_pylist(), dtype=None)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return _mixed(array, what, rows)
    if coded.null_count:
        raise _missing(what, int(np.argmax(coded.indices.is_null().to_numpy(zero_copy_only=False))), rows)
    return _ascending(coded.indices.to_numpy(zero_copy_only=False), levels)


def _mixed(array: NDArray[Any], what: str, rows: NDArray[np.intp] | None) -> Labels:
    """Numbers beside text, tuples: whatever can be a key. Levels in the order of their text."""
    seen: dict[Any, int] = {}
    codes = np.fromiter((seen.setdefault(label, len(seen)) for label in array), np.int64, len(array))
    for label, code in seen.items():
        if label is None or label != label:
            raise _missing(what, int(np.argmax(codes == code)), rows)
    order = sorted(seen, key=lambda label: (str(type(label)), str(label)))
    rank = np.empty(len(seen), np.int64)
    rank[[seen[label] for label in order]] = np.arange(len(seen))
    levels = np.empty(len(seen), object)
    levels[:] = order
    return Labels(rank[codes], levels)


def _ascending(codes: NDArray[Any], levels: NDArray[Any]) -> Labels:
    order = np.argsort(levels, kind="stable")
    rank = np.empty(len(levels), np.int64)
    rank[order] = np.arange(len(levels))
    return Labels(rank[codes], levels[order])


def _missing(what: str, place: int, rows: NDArray[np.intp] | None) -> DataError:
    return DataError(
        f"{what} has no label here.",
        "Give every row a label, or give the row the weight 0.",
        row=place if rows is None else int(rows[place]),
    )
