"""Arrow's own file (Feather version 2): record batches, mapped, so that any row is found without reading others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import pyarrow as pa

from asterism.data.cells import spelled
from asterism.data.columns import unique_names
from asterism.data.files import Head, file_errors, require_unchanged, state_of
from asterism.data.formats.base import Format
from asterism.data.options import ReadOptions
from asterism.data.table import Batch, Table

WHAT = "an Arrow file"
MARK, STREAM_MARK = b"ARROW1", b"\xff\xff\xff\xff"


class FeatherTable(Table):
    """Rows of an Arrow file or of an Arrow stream that was written to a file. Pickled as its path."""

    def __init__(self, path: Path, _: ReadOptions | None = None) -> None:
        self.title = repr(path.name)
        self.path = path.absolute()
        self.state = state_of(self.path)
        with file_errors(self.path, WHAT), self.path.open("rb") as file:
            self.stream = file.read(len(MARK)) != MARK
        self.declared = {}
        rows = [0]
        with file_errors(self.path, WHAT):
            for batch in self._read(0):
                if len(rows) == 1:
                    self._found(batch)
                rows.append(batch.num_rows)
            if len(rows) == 1:
                self._found(pa.RecordBatch.from_pylist([], self._schema()))
        self.ends = list(accumulate(rows))  # row at which every batch begins, and the end

    def batches(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """Slices of the record batches that hold ``start:stop``."""
        require_unchanged(self.path, self.state)
        stop = self.ends[-1] if stop is None else min(stop, self.ends[-1])
        first = max(bisect_right(self.ends, start) - 1, 0)
        row = self.ends[first]
        places = {name: place for place, name in enumerate(self.types)}
        with file_errors(self.path, WHAT):
            for batch in self._read(first):
                a, b = max(start - row, 0), min(stop - row, batch.num_rows)
                row += batch.num_rows
                if a < b:
                    yield {name: batch.column(places[name]).slice(a, b - a) for name in names}
                if row >= stop:
                    break

    def _found(self, batch: pa.RecordBatch) -> None:
        names = unique_names(batch.schema.names)
        self.types = dict(zip(names, batch.schema.types, strict=True))
        for name, column in zip(names, batch.columns, strict=True):
            if pa.types.is_dictionary(column.type):
                self.declared[name] = tuple(str(spelled(level)) for level in column.dictionary.to_pylist())

    def _read(self, first: int) -> Iterator[pa.RecordBatch]:
        """Record batches from number ``first`` on."""
        with pa.memory_map(str(self.path)) as file:
            if self.stream:
                with pa.ipc.open_stream(file) as reader:
                    for number, batch in enumerate(reader):
                        if number >= first:
                            yield batch
                return
            with pa.ipc.open_file(file) as reader:
                for number in range(first, reader.num_record_batches):
                    yield reader.get_batch(number)

    def _schema(self) -> pa.Schema:
        with pa.memory_map(str(self.path)) as file:
            opened = pa.ipc.open_stream if self.stream else pa.ipc.open_file
            return opened(file).schema


def _is_arrow(head: Head) -> bool:
    return head.start.startswith((MARK, STREAM_MARK))


FORMAT = Format(
    name="Feather", what=WHAT, endings=(".feather", ".arrow", ".ipc"), claims=_is_arrow, opened=FeatherTable
)
