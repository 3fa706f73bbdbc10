"""A table as it was found: named columns of Arrow cells. And the source over it, once kinds are known.

A new format is one ``Table``: names, types and ``batches``. Profiling, kinds, codes and weights are the same
for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from asterism.data.block import Matrix, Vector
from asterism.data.cells import as_codes, as_counts, as_numbers
from asterism.data.columns import NUMBERS, WITH_LEVELS, Column
from asterism.data.profile import Profile
from asterism.data.source import Piece, Source
from asterism.errors import DataError, FileError, WeightError, row_name

Batch = Mapping[str, Any]  # Arrow arrays of one length, by name

REMEDY = "Weights must be finite and 0 or more; 0 leaves a row out."
BATCH_ROWS = 1 << 16  # what a table gives at a time, where it can choose


class Table(ABC):
    """Rows that can be read from the start, or from any row, again and again. Tables can be pickled."""

    title: str  # how errors call it
    types: dict[str, Any]  # Arrow type of each column, in order
    declared: dict[str, tuple[str, ...]]  # levels that a type lists, in its order
    untyped: bool = False  # cells are text, and numbers among them must be recognised
    slow: bool = False  # to read again: its numbers are kept in memory where they fit
    notes: tuple[str, ...] = ()  # what the user should know of how it was read

    @abstractmethod
    def batches(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """Columns ``names`` of rows ``start:stop``, in order, in batches of any size."""

    def place(self, row: int) -> str:
        """Where a person finds the row of this index: "line 10" of a text file, "row 9" of other tables."""
        return row_name(row)


def profiles(table: Table, names: Sequence[str], parse: frozenset[str] = frozenset()) -> dict[str, Profile]:
    """The profiles of these columns in one pass; numbers are looked for in the text of ``parse``."""
    found = {name: Profile() for name in names}
    row = 0
    for batch in table.batches(names):
        for name, before in found.items():
            wanted = before.levels is not None
            part = Profile.of(batch[name], row, parse=table.untyped or name in parse, levels=wanted)
            found[name] = before.merge(part)
        row += batch_rows(batch)
    return found


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
        numeric = [str(table.types[c.name]) for c in columns if c.kind in NUMBERS]
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
        names = [column.name for column in self.columns]
        if isinstance(self.weights, str):
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
            cells = batch[column.name]
            if column.kind == "numeric":
                out[:, j] = as_numbers(cells, column.name, row)
            elif column.kind == "count":
                out[:, j] = as_counts(cells, column.name, row)
            else:
                out[:, j] = as_codes(cells, self._lookups[column.name], column.name, row)
        return out

    def _weights(self, batch: Batch, row: int) -> Vector | None:
        if self.weights is None:
            return None
        if not isinstance(self.weights, str):
            return self.weights[row : row + batch_rows(batch)]
        return weights_in(batch[self.weights], self.weights, row)


def weights_in(cells: Any, name: str, row: int) -> Vector:
    """Cells of a weights column from row ``row`` on, or a ``WeightError`` for the first bad one."""
    try:
        weights = as_numbers(cells, name, row).astype(np.float64, copy=False)
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
