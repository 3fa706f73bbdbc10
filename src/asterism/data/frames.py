"""Tables that are in memory already: data frames of any make, and arrays. Columns are views, never copies.

pandas, polars and pyarrow are told apart by narwhals, which imports none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from asterism.data.cells import spelled
from asterism.data.columns import numbered_columns, unique_names
from asterism.data.table import BATCH_ROWS, Batch, Table
from asterism.errors import DataError


class MemoryTable(Table):
    """Columns that are NumPy vectors (strided views too) or Arrow chunked arrays."""

    def __init__(self, columns: Mapping[str, Any], title: str = "the table") -> None:
        self.title = title
        self.columns = dict(columns)
        self.n_rows = len(next(iter(self.columns.values()))) if self.columns else 0
        self.types = {name: _type(column) for name, column in self.columns.items()}
        self.declared = {
            name: tuple(str(spelled(level)) for level in column.chunk(0).dictionary.to_pylist())
            for name, column in self.columns.items()
            if pa.types.is_dictionary(self.types[name]) and column.num_chunks
        }

    def batches(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """Slices; only they are made contiguous."""
        stop = self.n_rows if stop is None else min(stop, self.n_rows)
        for a in range(start, stop, BATCH_ROWS):
            b = min(a + BATCH_ROWS, stop)
            yield {name: _slice(self.columns[name], a, b) for name in names}


def _type(column: Any) -> Any:
    return pa.from_numpy_dtype(column.dtype) if isinstance(column, np.ndarray) else column.type


def _slice(column: Any, a: int, b: int) -> Any:
    if isinstance(column, np.ndarray):
        return pa.array(np.ascontiguousarray(column[a:b]))
    part = column.slice(a, b - a)
    return part.chunk(0) if part.num_chunks == 1 else pa.concat_arrays(part.chunks)


def array_table(array: NDArray[Any]) -> MemoryTable:
    """The columns x0, x1, ... of a two-dimensional array of numbers or of mixed cells."""
    names = [column.name for column in numbered_columns(array.shape[1])]
    if array.dtype.kind in "OUS":
        return MemoryTable(
            {name: _objects(array[:, j].tolist()) for j, name in enumerate(names)}, "the array"
        )
    if array.dtype == np.float16 or array.dtype.itemsize > 8:  # Arrow has no long double
        array = array.astype(np.float64)
    return MemoryTable({name: array[:, j] for j, name in enumerate(names)}, "the array")


def frame_table(frame: Any) -> MemoryTable | None:
    """A data frame that narwhals knows, or None. A lazy frame is computed first."""
    import narwhals as nw

    try:
        known = nw.from_native(frame, pass_through=True)
        if isinstance(known, nw.LazyFrame):
            known = known.collect()
    except nw.exceptions.DuplicateError as bad:
        raise DataError(
            f"The data frame has columns of the same name: {' '.join(str(bad).split()[5:])}.",
            "Rename them, so that each can be spoken of.",
        ) from bad
    if not isinstance(known, nw.DataFrame):
        return None
    names = unique_names([str(name) for name in known.columns])
    if known.implementation.is_pandas_like():
        native = known.to_native()
        columns = [_pandas_column(native.iloc[:, j]) for j in range(native.shape[1])]
    else:
        columns = [_unified(column) for column in known.to_arrow().columns]
    return MemoryTable(dict(zip(names, columns, strict=True)), "the data frame")


def _pandas_column(series: Any) -> Any:
    """NumPy numbers stay where they are; the rest (text, categories, nullable numbers) goes to Arrow once."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "fiub" and series.dtype != np.float16:
        return series.to_numpy()
    if series.dtype == object:
        return _objects(series.tolist())
    array = pa.Array.from_pandas(series)
    return _unified(array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array]))


def _objects(cells: list[Any]) -> Any:
    """Cells of any make: one Arrow type if they have one, else their names."""
    try:
        return pa.chunked_array([pa.array(cells, from_pandas=True)])
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        names = [None if _missing(cell) else str(spelled(cell)) for cell in cells]
        return pa.chunked_array([pa.array(names, pa.string())])


def _missing(cell: Any) -> bool:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float | np.floating) and bool(cell != cell)


def _unified(column: Any) -> Any:
    """Chunks of categories may each have their own codes; give them one."""
    if pa.types.is_dictionary(column.type):
        return column.unify_dictionaries()
    return column
