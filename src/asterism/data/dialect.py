"""How a text file writes its table: delimiter, decimal point, names and where they stand. Guessed from its start."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from asterism.data.columns import numbered_columns, unique_names
from asterism.data.files import Head
from asterism.data.heading import header_place, heading_notes, is_data, usual_width
from asterism.data.texts import Text
from asterism.errors import FileError, ParameterError

DELIMITERS = (",", ";", "\t", "|")
SAMPLE = 1 << 18  # bytes looked at
LINES = 50  # records looked at
COMMA_NUMBER = r"^[+-]?\d+,\d+(?:[eE][+-]?\d+)?$"
SEPARATOR = re.compile(r"\s*sep=(.)\s*$", re.I)  # how spreadsheets write their delimiter down


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one file is written."""

    delimiter: str
    names: tuple[str, ...]
    skip: int  # lines before the first row
    decimal: str = "."
    longest: int = 0  # characters of the longest line seen
    notes: tuple[str, ...] = ()  # what a user should know of the names and the lines above them

    @classmethod
    def of(cls, text: Text, header: int | None = None) -> Dialect:
        """Look at the first lines of a file; ``header`` is the line that holds the names, 0 for none."""
        name = text.path.name
        start = text.head(SAMPLE)
        if not start.strip():
            raise FileError(f"{name!r} is empty.", "Give a table with a first line of names.")
        if "\0" in start:
            raise FileError(f"{name!r} is not text.", "Save the table as CSV or Parquet.")
        longest = max(map(len, start.splitlines()))
        before, start = _above(start, header, name)
        delimiter = _delimiter(text.path, before, start)
        rows, lines = _records(start, delimiter)
        if not rows:
            raise FileError(
                f"{name!r} holds nothing but empty lines.", "Give a table with a first line of names."
            )
        width = usual_width(rows)
        place = 0 if header is not None else header_place(rows, width)
        found = [cell.strip() for cell in rows[place]]
        decimal = "," if delimiter != "," and _decimal_commas(rows[place + 1 :]) else "."
        if header == 0 or (header is None and is_data(found, decimal)):
            skip = 0 if place == 0 else lines[place - 1]
            names = tuple(column.name for column in numbered_columns(len(found)))
            return cls(delimiter, names, skip, decimal, longest)
        above = [*before[1:], *(delimiter.join(row) for row in rows[:place])]  # before: "sep=;"
        if len(found) == width - 1 and not any(len(row) == len(found) for row in rows[place + 1 :]):
            found = ["", *found]  # as R writes tables: rows have names, their column has none
        names = unique_names(found)
        notes = heading_notes([] if header else above, found, names)
        return cls(delimiter, names, len(before) + lines[place], decimal, longest, notes)


def _above(start: str, header: int | None, name: str) -> tuple[list[str], str]:
    """Lines above the names that the user or the file itself speaks of, and the text below them."""
    lines = start.splitlines(keepends=True)
    skip = header - 1 if header else int(SEPARATOR.match(lines[0]) is not None)
    if skip >= len(lines):
        raise ParameterError(
            f"header is {header}, but {name!r} has {len(lines)} lines.", "Count lines from 1."
        )
    return [line.strip() for line in lines[:skip]], "".join(lines[skip:])


def _delimiter(path: Path, before: list[str], start: str) -> str:
    if before and (declared := SEPARATOR.match(before[0])):
        return declared[1]
    tab = {".tsv": "\t", ".tab": "\t"}.get(Head(path, b"", "").ending)
    return tab or max(DELIMITERS, key=lambda d: (*_fit(start, d), -DELIMITERS.index(d)))


def _records(text: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """The first records that are not empty, and the number of lines up to the end of each."""
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    rows, lines = [], []
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(reader.line_num)
            if len(rows) > LINES:
                break
    except csv.Error:
        pass  # a cell longer than the csv module takes: what came before tells enough
    # The sample may end within a record.
    return (rows[:-1], lines[:-1]) if 1 < len(rows) <= LINES and len(text) >= SAMPLE // 4 else (rows, lines)


def _fit(text: str, delimiter: str) -> tuple[float, int]:
    """Share of records with the usual number of cells, and that number; an absent delimiter loses."""
    rows, _ = _records(text, delimiter)
    width = usual_width(rows)
    if width < 2:
        return 0.0, 0
    return sum(len(row) == width for row in rows) / len(rows), width


def _decimal_commas(rows: list[list[str]]) -> bool:
    cells = [cell.strip() for row in rows for cell in row]
    return any(re.match(COMMA_NUMBER, c) for c in cells) and not any(
        re.match(r"^-?\d+\.(?!\d{3}$)\d+$", c)  # 1.234 may be a thousand and more
        for c in cells
    )
