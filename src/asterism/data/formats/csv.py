"""Text files: comma, semicolon, tab or bar between cells. Always streamed, never whole in memory.

Every cell is read as text, stripped of blanks around it, and missing if it is one of ``MISSING``; what a
column is, is decided after its last cell was seen. Lines without any character are no rows.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from asterism.data.dialect import Dialect
from asterism.data.files import Head, file_errors, require_unchanged, state_of
from asterism.data.formats.base import Format
from asterism.data.options import ReadOptions
from asterism.data.refused import require_text
from asterism.data.table import Batch, Table
from asterism.data.texts import Text, lines_of
from asterism.data.totals import MOST_BELOW, ending_of
from asterism.errors import DataError, FileError, row_name

MISSING = (
    *("", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN"),
    *("null", "NULL", "Null", "None", "?", "-"),
)
READ_BYTES = 1 << 20  # the reader looks some 30 pieces of this size ahead
TAIL_BYTES = 1 << 16  # where totals are looked for


class CsvTable(Table):
    """A text file. Its types are all text, and its rows are counted by whoever reads them."""

    untyped = slow = True

    def __init__(self, path: Path, options: ReadOptions = ReadOptions()) -> None:  # noqa: B008  it is frozen
        self.title = repr(path.name)
        self.path = path.absolute()
        self.state = state_of(self.path)
        self.text = Text(self.path, options.encoding)
        self.dialect = Dialect.of(self.text, options.header)
        self.decimal = self.dialect.decimal
        self.types = dict.fromkeys(self.dialect.names, pa.string())
        self.declared = {}
        self.lines_below = 0  # lines below the last row, not read
        self.below = ""  # what they are, in words
        if not options.keep_totals:
            self._pass_over_totals()

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]  # known when the file has been read
        """Encoding, titles, totals."""
        said = (self.text.said, *self.dialect.notes, self.below)
        return tuple(note for note in said if note)

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
        import pyarrow.csv as arrow_csv

        bad_rows: list[Any] = []

        def refuse(row: Any) -> str:
            bad_rows.append(row)
            return "error"

        try:
            # The reader looks ahead: it meets a bad row before the rows above it are handed out.
            with file_errors(self.path, "a text file"), self.text.stream(self.lines_below) as file:
                reader = arrow_csv.open_csv(file, *self._options(names, refuse))
                with reader:
                    yield from (batch for batch in reader if batch.num_rows)
        except FileError as bad:
            raise self._explained(bad, bad_rows) from bad

    def _options(self, names: Sequence[str], refuse: Any) -> tuple[Any, Any, Any]:
        import pyarrow.csv as arrow_csv

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
        return pc.if_else(missing, pa.scalar(None, pa.string()), text)

    def _explained(self, bad: FileError, bad_rows: list[Any]) -> DataError:
        """What Arrow said of the text, in the user's terms."""
        said = str(bad.__cause__)
        if bad_rows:
            row, names = bad_rows[0], self.dialect.names
            error = DataError(
                f"{row.actual_columns} cells instead of {row.expected_columns} "
                f"(delimiter {self.dialect.delimiter!r}) in {self.path.name!r}: {row.text[:60]!r}.",
                f"Every row needs one cell for each of {', '.join(map(repr, names[:4]))}"
                f"{', ...' if len(names) > 4 else ''}; cells that hold the delimiter need quotes.",
                row=None if row.number is None else row.number - 1 - self.dialect.skip,
            )
            error.place = None if error.row is None else self.place(error.row)
            return error
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

    # --- lines ---

    def place(self, row: int) -> str:
        """The line in which a row begins."""
        try:
            for index, (line, _, _) in enumerate(self._records()):
                if index == row:
                    return f"line {line}"
        except (csv.Error, DataError):
            pass  # the file is read in vain beyond some line: the row must do
        return row_name(row)

    def _records(self) -> Iterator[tuple[int, int, list[str]]]:
        """First and last line of every record, and its cells: as Python reads them, slower and more lenient."""
        with self.text.lines(self.lines_below) as lines:
            for _ in range(self.dialect.skip):
                next(lines, "")
            reader, end = csv.reader(lines, delimiter=self.dialect.delimiter), 0
            for cells in reader:
                first, end = end + 1, reader.line_num
                if cells:
                    yield self.dialect.skip + first, self.dialect.skip + end, cells

    def _pass_over_totals(self) -> None:
        """Find the lines below the rows."""
        tail, whole = self.text.tail(TAIL_BYTES)
        lines = [line.decode() for line in lines_of(tail.encode())]
        lines = lines[self.dialect.skip :] if whole else lines[1:]  # the first may have begun above
        if "\n" not in tail or any(line.count('"') % 2 for line in lines[-2 * MOST_BELOW :]):
            return  # cells with line ends in them: no line is surely a row
        rows = [next(csv.reader([line], delimiter=self.dialect.delimiter), []) for line in lines]
        ending = ending_of(rows, len(self.dialect.names), self._cells_above)
        self.lines_below, self.below = ending.lines, ending.note

    def _cells_above(self, below: int, places: Sequence[int]) -> Iterable[list[Any]]:
        """The cells of all lines but the last few, as ``totals`` wants them."""
        names = [self.dialect.names[place] for place in places]
        self.lines_below = below
        try:
            for batch in self._stream(names):
                yield [pc.fill_null(batch.column(name), "") for name in names]
        finally:
            self.lines_below = 0


def _is_text(head: Head) -> bool:
    require_text(head)
    return True


FORMAT = Format(
    name="CSV",
    what="a text file",
    endings=(".csv", ".tsv", ".tab"),
    claims=_is_text,
    opened=CsvTable,
    takes=frozenset({"encoding", "header", "keep_totals"}),
    packed=True,
    last=True,
)
