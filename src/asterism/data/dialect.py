"""How a text file writes its table: delimiter, decimal point, column names. Guessed from its start."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from asterism.data.cells import NUMBER
from asterism.data.columns import numbered_columns, unique_names
from asterism.data.files import file_errors
from asterism.errors import FileError

DELIMITERS = (",", ";", "\t", "|")
SAMPLE = 1 << 18  # bytes looked at
LINES = 50  # records looked at
COMMA_NUMBER = r"^[+-]?\d+,\d+(?:[eE][+-]?\d+)?$"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one file is written."""

    delimiter: str
    names: tuple[str, ...]
    skip: int  # lines before the first row
    decimal: str = "."
    longest: int = 0  # characters of the longest line seen

    @classmethod
    def of(cls, path: Path) -> Dialect:
        """Look at the first lines of a file."""
        text = _sample(path)
        tab = {".tsv": "\t", ".tab": "\t"}.get(Path(path.name.removesuffix(".gz")).suffix.lower())
        delimiter = tab or max(DELIMITERS, key=lambda d: (*_fit(text, d), -DELIMITERS.index(d)))
        rows, lines = _records(text, delimiter)
        if not rows:
            raise FileError(
                f"{path.name!r} holds nothing but empty lines.", "Give a table with a first line of names."
            )
        header = [cell.strip() for cell in rows[0]]
        decimal = "," if delimiter != "," and _decimal_commas(rows[1:]) else "."
        longest = max(map(len, text.splitlines()))
        if _is_data(header, decimal):
            return cls(delimiter, tuple(c.name for c in numbered_columns(len(header))), 0, decimal, longest)
        return cls(delimiter, unique_names(header), lines[0], decimal, longest)


def opened(path: Path) -> Any:
    """The file as a stream of bytes, unpacked if its name says it is packed."""
    return pa.input_stream(str(path), compression="detect")


def _sample(path: Path) -> str:
    size, data = SAMPLE, b""
    with file_errors(path, "a text file"), opened(path) as stream:
        while chunk := stream.read(size):
            data += chunk
            if b"\n" in data or b"\r" in data:
                break  # the line of names may be longer than any guess
    if not data.strip():
        raise FileError(f"{path.name!r} is empty.", "Give a table with a first line of names.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FileError(f"{path.name!r} is written in UTF-16.", "Save it as UTF-8.")
    if b"\0" in data:
        raise FileError(f"{path.name!r} is not text.", "Save the table as CSV or Parquet.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as bad:
        if bad.start >= len(data) - 4:  # the sample ends within a character
            return data[: bad.start].decode("utf-8-sig")
        raise not_utf8(path) from bad


def not_utf8(path: Path, row: int | None = None) -> FileError:
    """What to say of bytes that are not UTF-8."""
    return FileError(
        f"{path.name!r} is not written in UTF-8; it is probably Latin-1 (Windows-1252).",
        "Save it as UTF-8, for instance: iconv -f WINDOWS-1252 -t UTF-8 old.csv > new.csv",
        row=row,
    )


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
    """Share of records with as many cells as the first, and that number; an absent delimiter loses."""
    rows, _ = _records(text, delimiter)
    if not rows or len(rows[0]) < 2:
        return 0.0, 0
    same = sum(len(row) == len(rows[0]) for row in rows)
    return same / len(rows), len(rows[0])


def _decimal_commas(rows: list[list[str]]) -> bool:
    cells = [cell.strip() for row in rows for cell in row]
    return any(re.match(COMMA_NUMBER, c) for c in cells) and not any(
        re.match(r"^-?\d+\.\d+$", c) for c in cells
    )


def _is_data(header: list[str], decimal: str) -> bool:
    """Whether the first line is no line of names: all numbers, and not such as may be names (2007, 2008)."""
    cells = [cell.replace(decimal, ".") for cell in header]
    if not all(re.match(NUMBER, cell) for cell in cells):
        return False
    return len(set(cells)) < len(cells) or not all(cell.isdigit() for cell in cells)
