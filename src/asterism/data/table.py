"""A table as it was found: named columns of Arrow cells. And the source over it, once kinds are known.

A new format is one ``Table``: names, types and ``batches``. Profiling, kinds, codes and weights are the same
for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from asterism.data.block import Matrix, Vector
from asterism.data.cells import as_codes, as_counts, as_numbers, is_text
from asterism.data.columns import NUMBERS, WITH_LEVELS, Column
from asterism.data.decorated import Numbers
from asterism.data.profile import Profile
from asterism.data.source import Piece, Source
from asterism.data.unknown import Absent
from asterism.data.vectors import is_vector
from asterism.errors import DataError, FileError, WeightError, row_name

Batch = Mapping[str, Any]  # Arrow arrays of one length, by name

REMEDY = "Weights must be finite and 0 or more; 0 leaves a row out."
LOOK_BYTES = 8 << 20  # looked at together
BATCH_ROWS = 1 << 16  # what a table gives at a time, where it can choose


class Table(ABC):
    """Rows that can be read from the start, or from any row, again and again. Tables can be pickled."""

    title: str  # how errors call it
    types: dict[str, Any]  # Arrow type of each column, in order
    declared: dict[str, tuple[str, ...]]  # levels that a type lists, in its order
    untyped: bool = False  # cells are text, and numbers among them must be recognised
    slow: bool = False  # to read again: its numbers are kept in memory where they fit
    notes: tuple[str, ...] = ()  # what the user should know of how it was read
    decimal: str = "."  # how numbers are written, where a column's own cells do not decide

    @abstractmethod
    def batches(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """Columns ``names`` of rows ``start:stop``, in order, in batches of any size."""

    def place(self, row: int) -> str:
        """Where a person finds the row of this index: "line 10" of a text file, "row 9" of other tables."""
        return row_name(row)


def profiles(
    table: Table,
    names: Sequence[str],
    parse: frozenset[str] = frozenset(),
    absent: Mapping[str, Absent] | None = None,
) -> dict[str, Profile]:
    """The profiles of these columns in one pass.

    Numbers and dates are looked for in text, and in the categories of ``parse``; cells that the user says
    are not known (``absent``) are missing.
    """
    found = {name: Profile() for name in names}
    row = 0
    for batch in _larger(table.batches(names)):
        for name, before in found.items():
            cells = batch[name] if absent is None else absent[name].without(batch[name])
            look = name in parse or not pa.types.is_dictionary(cells.type)
            part = Profile.of(cells, row, parse=look, levels=before.levels is not None)
            found[name] = before.merge(part)
        row += batch_rows(batch)
    return found


def _larger(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Batches of up to 65,536 rows or 8 MB: what costs once a batch and column is then little beside the cells."""
    waiting: list[Batch] = []
    size, rows = 0, 0
    for batch in batches:
        if waiting and any(cells.type != waiting[0][name].type for name, cells in batch.items()):
            yield _joined(waiting)  # files of one table may differ in type
            waiting, size, rows = [], 0, 0
        waiting.append(batch)
        size += sum(cells.nbytes for cells in batch.values())
        rows += batch_rows(batch)
        if size >= LOOK_BYTES or rows >= BATCH_ROWS:
            yield _joined(waiting)
            waiting, size, rows = [], 0, 0
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    return {name: _together([batch[name] for batch in batches]) for name in batches[0]}


def _together(arrays: list[Any]) -> Any:
    if pa.types.is_dictionary(arrays[0].type):
        return pa.chunked_array(arrays).unify_dictionaries().combine_chunks()
    return pa.concat_arrays(arrays)


def batch_rows(batch: Batch) -> int:
    """Rows of a batch."""
    return len(next(iter(batch.values())))


class TableSource(Source):
    """Numbers as they are and names as codes, encoded batch by batch.

    ``weights`` is the name of a column (read along with the rows) or one number a row.
    """

    def __init__(
        self,
        table: Table,
        columns: tuple[Column, ...],
        n_rows: int,
        weights: str | Vector | None = None,
        ignored: tuple[Column, ...] = (),
    ) -> None:
        self.table, self.columns, self.n_rows, self.ignored = table, columns, n_rows, ignored
        self.weights = weights
        numeric = [str(_number_type(table.types[c.sources[0]])) for c in columns if c.kind in NUMBERS]
        single = bool(numeric) and set(numeric) == {"float"}  # Arrow's name for float32
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self._lookups = {
            c.name: {level: code for code, level in enumerate(c.levels)}
            for c in columns
            if c.kind in WITH_LEVELS
        }

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]  # known when the table has been read
        """Those of the table."""
        return self.table.notes

    def place(self, row: int) -> str:
        """That of the table."""
        return self.table.place(row)

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """One piece a batch of the table."""
        names = sources_of(self.columns)
        if isinstance(self.weights, str) and self.weights not in names:
            names.append(self.weights)
        row = start
        for batch in self.table.batches(names, start, stop) if start < stop else ():
            yield self._rows(batch, row), self._weights(batch, row)
            row += batch_rows(batch)
        if row != max(start, stop):
            raise FileError(
                f"{self.table.title} ends after {row} rows; it had {self.n_rows}.",
                "It was changed while it was read; read it again.",
            )

    def _rows(self, batch: Batch, row: int) -> Matrix:
        out = np.empty((batch_rows(batch), self.n_columns), self.dtype)
        for j, column in enumerate(self.columns):
            out[:, j] = cells_of(column, batch, row, self._lookups.get(column.name, {}))
        return out

    def _weights(self, batch: Batch, row: int) -> Vector | None:
        if self.weights is None:
            return None
        if not isinstance(self.weights, str):
            return self.weights[row : row + batch_rows(batch)]
        return weights_in(batch[self.weights], self.weights, row)


def _number_type(kind: Any) -> Any:
    return kind.value_type if is_vector(kind) else kind


def sources_of(columns: Sequence[Column]) -> list[str]:
    """The columns of a table that these are read from, each once."""
    return list(dict.fromkeys(source for column in columns for source in column.sources))


def cells_of(column: Column, batch: Batch, row: int, lookup: Mapping[str, int]) -> Vector:
    """(n,) numbers, or codes of levels, of a batch whose first row is ``row``."""
    reading = column.reading
    if reading is None:
        cells = batch[column.name]
        if column.kind in NUMBERS and is_text(cells.type):
            reading = Numbers()  # a word such as "unknown" is a missing cell, early or late
    if reading is not None:
        cells = reading.cells(batch, column.name, row)
    if column.kind == "numeric":
        return as_numbers(cells, column.name, row)
    if column.kind == "count":
        return as_counts(cells, column.name, row)
    return as_codes(cells, lookup, column.name, row)


def weights_in(cells: Any, name: str, row: int) -> Vector:
    """Cells of a weights column from row ``row`` on, or a ``WeightError`` for the first bad one."""
    try:
        weights = cells_of(Column(name), {name: cells}, row, {}).astype(np.float64, copy=False)
    except DataError as bad:
        raise WeightError("the weight is not a number.", REMEDY, row=bad.row, column=name) from bad
    bad_cells = ~(np.isfinite(weights) & (weights >= 0))
    if bad_cells.any():
        place = int(np.argmax(bad_cells))
        weight = float(weights[place])
        what = "missing" if np.isnan(weight) else f"{weight:g}"
        raise WeightError(f"the weight is {what}.", REMEDY, row=row + place, column=name)
    return weights


def check_weights(table: Table, name: str, profile: Profile) -> None:
    """Refuse a weights column that cannot be one. Only where the profile says so is it looked for the row."""
    if profile.missing or profile.texts or profile.low < 0 or np.isinf(profile.high):
        row = 0
        for batch in table.batches([name]):
            row += len(weights_in(batch[name], name, row))
    if profile.high == 0:
        raise WeightError("all weights are zero.", "At least one row must count.", column=name)
