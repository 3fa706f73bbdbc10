"""Text files: comma, semicolon, tab or bar between cells. Always streamed, never whole in memory.

Every cell is read as text, stripped of blanks around it, and missing if it is one of ``MISSING``; what a
column is, is decided after its last cell was seen. Lines without any character are no rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from asterism.data.dialect import COMMA_NUMBER, Dialect, not_utf8, opened
from asterism.data.files import file_errors, require_unchanged, state_of
from asterism.data.table import Batch, Table
from asterism.errors import DataError, FileError

MISSING = (
    *("", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN"),
    *("null", "NULL", "Null", "None", "?", "-"),
)
READ_BYTES = 1 << 20  # the reader looks some 30 pieces of this size ahead


class CsvTable(Table):
    """A text file. Its types are all text, and its rows are counted by whoever reads them."""

    untyped = True

    def __init__(self, path: Path) -> None:
        self.title = repr(path.name)
        self.path = path.absolute()
        self.state = state_of(self.path)
        self.dialect = Dialect.of(self.path)
        self.types = dict.fromkeys(self.dialect.names, pa.string())
        self.declared = {}

    def batches(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """Columns of rows ``start:stop``; what comes before ``start`` is passed over."""
        require_unchanged(self.path, self.state)
        row = 0
        for batch in self._stream(names):
            a = max(start - row, 0)
            b = batch.num_rows if stop is None else min(stop - row, batch.num_rows)
            row += batch.num_rows
            if a < b:
                part = batch.slice(a, b - a)
                yield {name: self._cells(part.column(name)) for name in names}
            if stop is not None and row >= stop:
                break
        require_unchanged(self.path, self.state)

    def _stream(self, names: Sequence[str]) -> Iterator[Any]:
        bad_rows: list[Any] = []

        def refuse(row: Any) -> str:
            bad_rows.append(row)
            return "error"

        try:
            # The reader looks ahead: it meets a bad row before the rows above it are handed out.
            with file_errors(self.path, "a text file"), opened(self.path) as file:
                reader = arrow_csv.open_csv(file, *self._options(names, refuse))
                with reader:
                    yield from (batch for batch in reader if batch.num_rows)
        except FileError as bad:
            raise self._explained(bad, bad_rows) from bad

    def _options(self, names: Sequence[str], refuse: Any) -> tuple[Any, Any, Any]:
        dialect = self.dialect
        return (
            arrow_csv.ReadOptions(
                use_threads=False,  # else rows are not numbered in errors
                block_size=max(READ_BYTES, 8 * dialect.longest),
                skip_rows=dialect.skip,
                column_names=list(dialect.names),
            ),
            arrow_csv.ParseOptions(
                delimiter=dialect.delimiter, newlines_in_values=True, invalid_row_handler=refuse
            ),
            arrow_csv.ConvertOptions(
                column_types=self.types, include_columns=list(names), strings_can_be_null=False
            ),
        )

    def _cells(self, text: Any) -> Any:
        text = pc.utf8_trim_whitespace(text)
        missing = pc.is_in(text, value_set=pa.array(MISSING))
        text = pc.if_else(missing, pa.scalar(None, pa.string()), text)
        if self.dialect.decimal == ",":
            number = pc.match_substring_regex(text, COMMA_NUMBER)
            text = pc.if_else(number, pc.replace_substring(text, ",", "."), text)
        return text

    def _explained(self, bad: FileError, bad_rows: list[Any]) -> DataError:
        """What Arrow said of the text, in the user's terms."""
        said = str(bad.__cause__)
        if bad_rows:
            row, names = bad_rows[0], self.dialect.names
            return DataError(
                f"{row.actual_columns} cells instead of {row.expected_columns} "
                f"(delimiter {self.dialect.delimiter!r}) in {self.path.name!r}: {row.text[:60]!r}.",
                f"Every row needs one cell for each of {', '.join(map(repr, names[:4]))}"
                f"{', ...' if len(names) > 4 else ''}; cells that hold the delimiter need quotes.",
                row=None if row.number is None else row.number - 1 - self.dialect.skip,
            )
        if "UTF8" in said:
            return not_utf8(self.path)
        if "straddling" in said:
            return FileError(
                f"{self.path.name!r} has a cell of more than {READ_BYTES >> 20} MB.",
                'Most likely a quote is opened and not closed; look for a single " in the file.',
            )
        if (
            "Empty CSV" in said or "Could not skip" in said
        ):  # the line of names is the last, with no end of line
            return DataError(f"{self.title} has no rows.", "A table needs rows below its line of names.")
        return bad
