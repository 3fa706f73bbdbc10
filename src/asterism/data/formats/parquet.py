"""Parquet: one file, or several of the same columns one after the other.

Only the needed columns are read, a batch at a time. The footers say how many rows each row group has, so that
any range of rows is found without reading what comes before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from asterism.data.files import Head, file_errors, require_unchanged, state_of
from asterism.data.formats.base import Format
from asterism.data.several import common_types
from asterism.data.table import BATCH_ROWS, Batch, Table
from asterism.errors import FileError

WHAT = "a Parquet file"
BUFFER = 1 << 18  # bytes read of a column at a time


class ParquetTable(Table):
    """Rows of Parquet files, in the order of ``paths``. Pickled as its paths and row counts."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.title = repr(paths[0].name) if len(paths) == 1 else f"{len(paths)} Parquet files"
        self.paths = [path.absolute() for path in paths]
        self.states = [state_of(path) for path in self.paths]
        footers = [_footer(path) for path in self.paths]
        types = [dict(zip(schema.names, schema.types, strict=True)) for schema, _ in footers]
        self.types = common_types(types, [repr(path.name) for path in self.paths])
        self.declared = {}
        self.groups = [counts for _, counts in footers]  # rows of each row group of each file

    @property
    def n_rows(self) -> int:
        """Rows of all files."""
        return sum(map(sum, self.groups))

    def batches(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """Seek the row groups that hold ``start:stop``; read them batch by batch."""
        stop = self.n_rows if stop is None else stop
        first = 0  # row of the table at which the file begins
        for path, state, counts in zip(self.paths, self.states, self.groups, strict=True):
            ends = first + np.cumsum([0, *counts])
            wanted = [g for g, (a, b) in enumerate(pairwise(ends)) if a < stop and b > start and a < b]
            if wanted:
                require_unchanged(path, state)
                yield from _read(path, wanted, names, int(ends[wanted[0]]), start, stop)
            first = int(ends[-1])


def _read(
    path: Path, groups: list[int], names: Sequence[str], row: int, start: int, stop: int
) -> Iterator[Batch]:
    """Rows ``start:stop`` of these neighbouring row groups, whose first row is ``row``."""
    import pyarrow.parquet as pq

    # A small buffer a column, filled as batches go: else whole row groups are fetched ahead.
    with file_errors(path, WHAT), pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER) as file:
        stream = file.iter_batches(BATCH_ROWS, row_groups=groups, columns=list(names), use_threads=False)
        for batch in stream:
            a, b = max(start - row, 0), min(stop - row, batch.num_rows)
            row += batch.num_rows
            if a < b:
                part = batch.slice(a, b - a)
                yield {name: part.column(name) for name in names}
            if row >= stop:
                break


def _footer(path: Path) -> tuple[Any, list[int]]:
    import pyarrow.parquet as pq

    with file_errors(path, WHAT), pq.ParquetFile(path) as file:
        if len(set(file.schema_arrow.names)) < len(file.schema_arrow.names):
            raise FileError(f"{path.name!r} has two columns of the same name.", "Rename one of them.")
        meta = file.metadata
        return file.schema_arrow, [meta.row_group(g).num_rows for g in range(meta.num_row_groups)]


def _is_parquet(head: Head) -> bool:
    return head.start.startswith(b"PAR1")


FORMAT = Format(
    name="Parquet",
    what=WHAT,
    endings=(".parquet", ".pq", ".parq"),
    claims=_is_parquet,
    opened=lambda path, _: ParquetTable([path]),
    together=ParquetTable,
)
