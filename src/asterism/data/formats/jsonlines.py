"""JSON: a record a line, or an array of records.

What is nested goes by names with dots: ``{"a": {"b": 1}}`` is column a.b. A list of numbers is a vector where all are
of one length; other lists are a column that cannot be used, and it is said.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from asterism.data.files import Head, file_errors, require_unchanged, state_of
from asterism.data.formats.base import Format
from asterism.data.objects import OBJECT_ROWS, ObjectTable
from asterism.data.options import ReadOptions
from asterism.data.texts import Text
from asterism.errors import DataError, FileError, row_name

PIECE = 1 << 18  # characters read of an array at a time
LONGEST = 1 << 24  # characters of one record of an array
RECORDS = "Write one record a line, {...}, or an array of them: [{...}, {...}]."


class JsonTable(ObjectTable):
    """Records of a file, in order."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.title = repr(path.name)
        self.path = path.absolute()
        self.state = state_of(self.path)
        self.text = Text(self.path, options.encoding)
        self.array = self.text.head(1 << 10).lstrip().startswith("[")
        self.look()

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]  # known when the file has been read
        """The encoding, where it is not UTF-8."""
        return (self.text.said,) if self.text.said else ()

    def columns(self) -> Iterator[Mapping[str, list[Any]]]:
        """Some thousand records at a time."""
        require_unchanged(self.path, self.state)
        piece: dict[str, list[Any]] = {}
        size = 0
        for record in self._records():
            for name, cell in flat(record):
                column = piece.get(name)
                if column is None:
                    column = piece[name] = [None] * size
                column.append(cell)
            size += 1
            for column in piece.values():
                if len(column) < size:
                    column.append(None)
            if size == OBJECT_ROWS:
                yield piece
                piece, size = {}, 0
        if size:
            yield piece
        require_unchanged(self.path, self.state)

    def _records(self) -> Iterator[dict[str, Any]]:
        row = 0
        with file_errors(self.path, "JSON"), self.text.lines() as lines:
            for row, found in enumerate(self._of_array(lines) if self.array else self._of_lines(lines)):
                if not isinstance(found, dict):
                    raise self._bad(
                        row,
                        f"a record is {json.dumps(found)[:40]}, which has no names for its cells.",
                        RECORDS,
                    )
                yield found

    def _of_lines(self, lines: Iterable[str]) -> Iterator[Any]:
        row = 0
        for line in lines:
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except json.JSONDecodeError as bad:
                if row == 0:
                    raise FileError(
                        f"{self.title} begins like JSON but is neither a record a line nor an array of records.",
                        RECORDS,
                    ) from bad
                raise self._bad(
                    row,
                    f"no JSON: {bad.msg} at character {bad.pos + 1}.",
                    "Correct the line, or leave it out.",
                ) from bad
            row += 1

    def _of_array(self, lines: io.TextIOBase) -> Iterator[Any]:
        """The array is read piece by piece; a record may end in the next."""
        decode, gap = json.JSONDecoder().raw_decode, re.compile(r"[\s,]*")
        text, at, row = lines.read(PIECE).lstrip().removeprefix("["), 0, 0
        while True:
            at = gap.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
            if text.startswith("]", at):
                return
            try:
                found, end = decode(text, at)
            except json.JSONDecodeError as bad:
                more = lines.read(max(PIECE, len(text) - at))
                if more and len(text) - at <= LONGEST:
                    text, at = text[at:] + more, 0
                    continue
                raise self._bad(
                    row, f"no JSON: {bad.msg}.", "Correct the record, or write the file again in full."
                ) from bad
            yield found
            at, row = end, row + 1

    def _bad(self, row: int, what: str, remedy: str) -> DataError:
        error = DataError(what, remedy, row=row)
        error.place = f"{self.place(row)} of {self.title}"
        return error

    def place(self, row: int) -> str:
        """The line of the record, where each has one."""
        if self.array:
            return f"record {row + 1}"
        with self.text.lines() as lines:
            filled = -1
            for number, line in enumerate(lines, start=1):
                filled += bool(line.strip())
                if filled == row:
                    return f"line {number}"
        return row_name(row)


def flat(record: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Names and cells of a record; names within names are joined by dots.

    >>> dict(flat({"a": 1, "b": {"c": [2, 3], "d": None}}))
    {'a': 1, 'b.c': [2, 3], 'b.d': None}
    """
    for name, cell in record.items():
        if isinstance(cell, dict) and cell:
            yield from flat(cell, f"{before}{name}.")
        else:
            yield f"{before}{name}", None if cell == {} else cell


def _is_json(head: Head) -> bool:
    text = head.text
    if text.startswith("["):
        return text[1:].lstrip().startswith(("{", "]", "[")) or _whole(text)
    return text.startswith("{") and (text[1:].lstrip().startswith(('"', "}")))


def _whole(text: str) -> bool:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True


FORMAT = Format(
    name="JSON",
    what="JSON",
    endings=(".jsonl", ".ndjson", ".json"),
    claims=_is_json,
    opened=JsonTable,
    takes=frozenset({"encoding"}),
    packed=True,
)
