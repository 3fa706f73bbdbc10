"""Spreadsheets: one sheet of an .xlsx, .xlsb, .xls or .ods file, by python-calamine (extra ``excel``).

The table may stand anywhere on its sheet: below titles, beside empty columns, above totals. Rows are called as the
sheet numbers them. A sheet is held in memory, as its format has it.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pyarrow as pa

from asterism.data.cells import spelled
from asterism.data.columns import numbered_columns, unique_names
from asterism.data.files import Head, file_errors, first_line
from asterism.data.formats.base import Format
from asterism.data.heading import filled, header_place, heading_notes, is_data
from asterism.data.objects import OBJECT_ROWS, ObjectTable
from asterism.data.options import ReadOptions
from asterism.data.totals import Ending, ending_of
from asterism.errors import DataError, FileError, ParameterError, row_name

WHAT = "a spreadsheet"
OFFICE, OLD_OFFICE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


LOOKED_AT = 50  # rows, for the names; as many as a text file's
TAIL_ROWS = 200  # rows, for totals


class ExcelTable(ObjectTable):
    """The table on one sheet."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path.absolute()
        sheet, rows, others = _sheet(self.path, options.sheet)
        self.title = f"sheet {sheet!r} of {path.name!r}"
        while rows and not filled(_texts(rows[-1])):
            rows.pop()
        if not rows:
            raise DataError(f"{self.title} is empty.", "Name another sheet: --sheet NAME.")
        header, places, names, said = _heading(rows, options.header, self.title)
        body = [[row[place] for place in places] for row in rows[header:]]
        ending = Ending() if options.keep_totals else _ending(body)
        body = body[: len(body) - ending.lines]
        self.names = names
        self._numbers = [
            header + j for j, row in enumerate(body) if filled(_texts(row))
        ]  # of rows, on the sheet
        self._rows: list[list[Any]] | None = [body[number - header] for number in self._numbers]
        among = ", ".join(map(repr, others))
        taken = f"Sheet {sheet!r} was taken; there are also {among} (--sheet for another)." if others else ""
        self.notes = tuple(note for note in (taken, *said, ending.note) if note)
        self.look()
        if self._kept is not None:
            self._rows = None

    def columns(self) -> Iterator[Mapping[str, list[Any]]]:
        """Rows that hold something."""
        assert self._rows is not None
        for first in range(0, len(self._rows), OBJECT_ROWS):
            rows = self._rows[first : first + OBJECT_ROWS]
            yield {name: [_cell(row[j]) for row in rows] for j, name in enumerate(self.names)}

    def place(self, row: int) -> str:
        """The row as the sheet numbers it."""
        return row_name(self._numbers[row])


def _heading(
    rows: list[list[Any]], asked: int | None, title: str
) -> tuple[int, list[int], tuple[str, ...], tuple[str, ...]]:
    """Rows up to the names, columns of the table, their names, and what to say of them."""
    if asked is not None and asked > len(rows):
        raise ParameterError(
            f"header is {asked}, but {title} has {len(rows)} rows.", "Count rows as the sheet does."
        )
    texts = [_texts(row) for row in rows[: LOOKED_AT + (asked or 0)]]
    numbers = [number for number, row in enumerate(texts) if filled(row)]
    often = [j for j in range(len(texts[0])) if 2 * sum(bool(texts[i][j]) for i in numbers) >= len(numbers)]
    core = often or sorted({j for i in numbers for j in filled(texts[i])})
    at = (
        asked - 1
        if asked
        else numbers[header_place([[texts[i][j] for j in core] for i in numbers], len(core))]
    )
    no_names = asked == 0 or (asked is None and is_data([texts[at][j] for j in core]))
    first = numbers[0] if no_names else at + 1
    # Beside the table there may be a remark; a column of it has a name, or cells in every tenth row.
    below = [row for row in map(_texts, rows[first:]) if filled(row)]
    places = [
        j
        for j in range(len(texts[0]))
        if (not no_names and texts[at][j])
        or (below and 10 * sum(bool(row[j]) for row in below) >= len(below))
    ]
    if no_names:
        return first, places, tuple(column.name for column in numbered_columns(len(places))), ()
    found = [texts[at][j] for j in places]
    names = unique_names(found)
    above = [] if asked else [" ".join(texts[i]) for i in numbers if i < at]
    return first, places, names, heading_notes(above, found, names)


def _ending(body: list[list[Any]]) -> Ending:
    width = len(body[0]) if body else 0

    def above(below: int, places: Sequence[int]) -> Iterator[list[Any]]:
        rows = body[: len(body) - below]
        for first in range(0, len(rows), OBJECT_ROWS):
            texts = [_texts(row) for row in rows[first : first + OBJECT_ROWS]]
            yield [pa.array([row[place] for row in texts], pa.string()) for place in places]

    return ending_of([_texts(row) for row in body[-TAIL_ROWS:]], width, above)


def _texts(row: Sequence[Any]) -> list[str]:
    return ["" if cell is None or cell == "" else str(spelled(cell)).strip() for cell in row]


def _cell(cell: Any) -> Any:
    return None if cell == "" else cell


def _sheet(path: Path, wanted: str | None) -> tuple[str, list[list[Any]], list[str]]:
    """Name and rows of a sheet, from the first row of the sheet on, and the names of others that hold something."""
    try:
        from python_calamine import (
            CalamineError,
            CalamineWorkbook,
            PasswordError,
            SheetTypeEnum,
            SheetVisibleEnum,
        )
    except ImportError:
        raise ParameterError(
            f"{path.name!r} is a spreadsheet, and python-calamine, which reads it, is not installed.",
            "Install it: pip install 'asterism[excel]'; or save the sheet as CSV.",
        ) from None
    try:
        with file_errors(path, WHAT), CalamineWorkbook.from_path(str(path)) as book:
            sheets = [s for s in book.sheets_metadata if s.typ == SheetTypeEnum.WorkSheet]
            if wanted is not None:
                _require_sheet(wanted, [sheet.name for sheet in sheets], path.name)
                return wanted, list(book.get_sheet_by_name(wanted).iter_rows()), []
            shown = [s.name for s in sheets if s.visible == SheetVisibleEnum.Visible] or [
                s.name for s in sheets
            ]
            full = [name for name in shown if book.get_sheet_by_name(name).height] or shown[:1]
            if not full:
                raise FileError(f"{path.name!r} has no sheet with cells.", "Give a spreadsheet with a table.")
            return full[0], list(book.get_sheet_by_name(full[0]).iter_rows()), full[1:]
    except PasswordError:
        raise FileError(f"{path.name!r} is locked by a password.", "Save it without one.") from None
    except CalamineError as bad:
        raise FileError(
            f"{path.name!r} is not {WHAT}, or is damaged: {first_line(bad)}", "Save it again, or as CSV."
        ) from bad


def _require_sheet(wanted: str, names: list[str], title: str) -> None:
    if wanted not in names:
        close = get_close_matches(wanted, names, 1)
        meant = f"Did you mean {close[0]!r}? " if close else ""
        raise ParameterError(
            f"{title!r} has no sheet {wanted!r}.", f"{meant}Its sheets are {', '.join(map(repr, names))}."
        )


def _is_spreadsheet(head: Head) -> bool:
    if head.start.startswith(OLD_OFFICE):
        return head.ending in ENDINGS  # a workbook of old, or a new one behind a password
    if not head.start.startswith(OFFICE) or head.packing:
        return False
    try:
        with zipfile.ZipFile(head.path) as archive:
            names = set(archive.namelist())
            kind = archive.read("mimetype") if "mimetype" in names else b""
    except (OSError, zipfile.BadZipFile, KeyError):
        return head.ending in ENDINGS  # damaged: opening it says so
    return bool(names & {"xl/workbook.xml", "xl/workbook.bin"}) or b"opendocument.spreadsheet" in kind


ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
FORMAT = Format(
    name="Excel",
    what=WHAT,
    endings=ENDINGS,
    claims=_is_spreadsheet,
    opened=ExcelTable,
    takes=frozenset({"sheet", "header", "keep_totals"}),
)
