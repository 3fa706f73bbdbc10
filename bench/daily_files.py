"""A draft as a file, and as the data frames that the oracle and the peers get."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from bench.daily_draft import Column, Draft
from bench.daily_tables import Layout

PLAIN = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")


def typed(column: Column) -> list[Any]:
    """Cells as a program would write them: numbers as numbers where all are plain ones, the rest as text."""
    texts = [str(cell) for cell in column.written if cell != ""]
    if any(isinstance(cell, list) for cell in column.written) or not all(
        PLAIN.fullmatch(text) for text in texts
    ):
        return [None if cell == "" else cell for cell in column.written]
    whole = all("." not in text for text in texts)
    return [None if cell == "" else int(cell) if whole else float(cell) for cell in column.written]


def save(draft: Draft, layout: Layout, folder: Path) -> Path:
    """Write the table; its path."""
    path = folder / f"table.{layout.form}"
    columns = draft.columns
    if layout.form == "parquet":
        pd.DataFrame({c.name: typed(c) for c in columns}).to_parquet(path, index=False)
    elif layout.form in ("json", "jsonl"):
        records = [
            _nested(dict(zip([c.name for c in columns], row, strict=True)))
            for row in zip(*map(typed, columns), strict=True)
        ]
        lines = json.dumps(records) if layout.form == "json" else "\n".join(map(json.dumps, records))
        path.write_text(lines, encoding="utf-8")
    elif layout.form == "xlsx":
        _save_sheet(path, layout, columns)
    else:
        text = io.StringIO()
        for line in layout.title:
            text.write(line + "\n")
        writer = csv.writer(text, delimiter=layout.delimiter, lineterminator="\n")
        writer.writerow([c.name for c in columns])
        writer.writerows(zip(*(c.written for c in columns), strict=True))
        if layout.total:
            writer.writerow(_total(columns))
        data = text.getvalue().encode(layout.encoding)
        if layout.packing:
            path = path.with_name(path.name + ".gz")
        path.write_bytes(gzip.compress(data) if layout.packing else data)
    return path


def _total(columns: list[Column]) -> list[str]:
    """ "Total", and the sums of the columns that are plain numbers."""
    sums = [_sum(column) for column in columns]
    return ["Total", *sums[1:]]


def _sum(column: Column) -> str:
    cells = column.clean.get(column.name)
    if column.sort != "number" or cells is None or any(not PLAIN.fullmatch(str(c)) for c in column.written):
        return ""
    digits = max(len(str(cell).partition(".")[2]) for cell in column.written)
    return f"{sum(float(cell) for cell in column.written):.{digits}f}"


def _nested(record: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, cell in record.items():
        inner, parts = out, name.split(".")
        for part in parts[:-1]:
            inner = inner.setdefault(part, {})
        inner[parts[-1]] = cell
    return out


def _save_sheet(path: Path, layout: Layout, columns: list[Column]) -> None:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    for line in layout.title:
        sheet.append([line])
    sheet.append([c.name for c in columns])
    for row in zip(*map(typed, columns), strict=True):
        sheet.append(list(row))
    if layout.total:
        sheet.append([float(cell) if PLAIN.fullmatch(cell) else cell for cell in _total(columns)])
    book.save(path)


# --- for others -------------------------------------------------------------------------------------------------


def clean_frame(draft: Draft) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The columns that are of use, typed, and what they are: for the oracle."""
    cells = {name: values for column in draft.columns for name, values in column.clean.items()}
    kinds = {name: kind for column in draft.columns for name, kind in column.kinds.items()}
    frame = pd.DataFrame({name: pd.Series(values, dtype=None if kinds[name] in ("numeric", "count") else object)
                          for name, values in cells.items()})  # fmt: skip
    for name, kind in kinds.items():
        if kind in ("numeric", "count"):
            frame[name] = frame[name].astype(float)
    return frame, kinds


def frame_of_pandas(draft: Draft, layout: Layout) -> pd.DataFrame:
    """The written cells as pandas reads them, told the lines of the table, its delimiter, encoding and decimal sign.

    Lists of numbers come as a column each. What is left to peers is what they do with columns.
    """
    text = io.StringIO()
    columns: dict[str, Any] = {}
    for column in draft.columns:
        if column.sort == "vector":
            columns |= {
                f"{column.name}_{j}": cells for j, cells in enumerate(zip(*column.written, strict=True))
            }
        else:
            columns[column.name] = column.written
    pd.DataFrame(columns).to_csv(text, index=False)
    text.seek(0)
    return pd.read_csv(text, decimal="," if layout.delimiter == ";" else ".")
