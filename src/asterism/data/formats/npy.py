"""A NumPy file, mapped: rows are read where they are used, and a worker of a cluster maps the file itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.files import Head, file_errors
from asterism.data.formats.base import Format
from asterism.data.frames import MemoryTable, array_table
from asterism.data.options import ReadOptions
from asterism.data.source import ArraySource, Source
from asterism.errors import FileError


class NpyTable(MemoryTable):
    """The same array with names for its columns: x0, x1, ..."""

    def __init__(self, path: Path, _: ReadOptions | None = None) -> None:
        self.path, self.array = path.absolute(), mapped(path)
        ArraySource(self.array)  # what it refuses, we refuse
        super().__init__(array_table(self.array).columns, "the array")


class NpySource(ArraySource):
    """The two-dimensional array of a ``.npy`` file. Pickled as its path."""

    def __init__(self, path: Path, weights: Any = None) -> None:
        super().__init__(mapped(path), weights)
        self.path = path.absolute()

    def part(self, first: int, last: int) -> Source:  # noqa: ARG002  sent whole, as its path
        """The source itself: only its path is sent."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return NpySource, (self.path, self.weights)


def mapped(path: Path) -> NDArray[Any]:
    """The array of the file, not yet read."""
    with file_errors(path, "a NumPy file"):
        try:
            array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as bad:
            if "Object arrays" not in str(bad) and "Python objects" not in str(bad):
                raise
            raise FileError(
                f"{path.name!r} holds Python objects, which are not loaded: they could run any program.",
                "Save an array of numbers, or the table as CSV or Parquet.",
            ) from bad
    if not isinstance(array, np.ndarray):
        raise FileError(f"{path.name!r} holds several arrays.", "Save the one table as .npy.")
    if array.dtype.names:
        raise FileError(f"{path.name!r} holds records.", "Save the table as CSV or Parquet.")
    return array


def _is_npy(head: Head) -> bool:
    return head.start.startswith(b"\x93NUMPY")


FORMAT = Format(name="NumPy", what="a NumPy file", endings=(".npy",), claims=_is_npy, opened=NpyTable)
