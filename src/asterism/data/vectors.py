"""Columns whose every cell is a vector of one length: embeddings, spectra, curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from asterism.data.cells import is_number
from asterism.data.reading import Reading, all_numbers, require
from asterism.errors import DataError

LONGEST = 4096  # numbers of a vector


def is_vector(kind: Any) -> bool:
    """Whether an Arrow type holds lists of numbers."""
    lists = pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return bool(lists and is_number(kind.value_type))


def lengths_in(array: Any) -> frozenset[int]:
    """The lengths of the vectors that are there; no more than three of them."""
    if pa.types.is_fixed_size_list(array.type):
        return frozenset([array.type.list_size]) if array.null_count < len(array) else frozenset()
    found = {value for value in array.value_lengths().unique().to_pylist() if value is not None}
    return frozenset(sorted(found)[:3])


def matrix_of(array: Any, d: int, name: str, row: int) -> NDArray[np.float64]:
    """(n, d) of the vectors; a missing one is NaN, one of another length an error. ``row`` is that of the first."""
    there = ~array.is_null().to_numpy(zero_copy_only=False)
    lengths = np.full(len(array), d)
    if not pa.types.is_fixed_size_list(array.type):
        lengths = np.where(there, array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False), d)
    elif array.type.list_size != d:
        lengths = np.where(there, array.type.list_size, d)
    if (lengths != d).any():
        place = int(np.argmax(lengths != d))
        raise DataError(
            f"a vector of {lengths[place]} numbers among vectors of {d}.",
            "Correct the cell or empty it, or leave the column out.",
            row=row + place,
            column=name,
        )
    flat = array.drop_null().flatten().cast(pa.float64()).to_numpy(zero_copy_only=False)
    if there.all():
        return np.asarray(flat.reshape(-1, d))
    out = np.full((len(array), d), np.nan)
    out[there] = flat.reshape(-1, d)
    return out


@dataclass(frozen=True, slots=True)
class Along(Reading):
    """One number of each vector: one of its own (``place``), or its length along an axis, ``(x - center) . axis``.

    >>> first = Along("words", 2, place=0)
    >>> first.cells({"words": pa.array([[3.0, 4.0], None])}, "words[0]", 0).to_pylist()
    [3.0, None]
    """

    form: ClassVar[str] = "along"
    column: str = ""  # of the table
    length: int = 1  # numbers of a vector
    place: int = 0
    center: tuple[float, ...] = ()
    axis: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Check what may come from a file."""
        require(isinstance(self.column, str) and type(self.length) is int and self.length > 0, "a length")
        require(type(self.place) is int and 0 <= self.place < self.length, "a place in the vector")
        require(all_numbers(self.center) and all_numbers(self.axis), "an axis of numbers")
        require(len(self.center) == len(self.axis) in (0, self.length), "an axis as long as its vectors")

    @property
    def sources(self) -> tuple[str, ...]:
        """The column of the table."""
        return (self.column,)

    def cells(self, batch: Mapping[str, Any], name: str, row: int) -> Any:
        """One number a vector."""
        del name
        rows = matrix_of(batch[self.column], self.length, self.column, row)
        values = (
            rows[:, self.place] if not self.axis else (rows - np.array(self.center)) @ np.array(self.axis)
        )
        return pa.array(np.ascontiguousarray(values), from_pandas=True)
