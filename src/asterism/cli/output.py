"""A folder of results that appears whole or not at all, and replaces nothing but its own kind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from asterism.errors import OutputExistsError


def refuse_overwrite(target: Path, force: bool, ours: Collection[str]) -> None:
    """Raise unless ``target`` may be written; ask this before the work, not after it.

    Even with ``force`` a folder is replaced only if it holds nothing but files named in ``ours``: a slip such
    as ``--out . --force`` must never cost anybody their files.
    """
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise OutputExistsError(
            f"{str(target)!r} is there already and is not a folder.", "Choose another --out."
        )
    inside = sorted(entry.name for entry in target.iterdir())
    if not inside:
        return
    strange = [name for name in inside if name not in ours]
    if strange:
        raise OutputExistsError(
            f"The folder {str(target)!r} holds files that asterism did not write ({', '.join(strange[:3])}).",
            "Choose another --out, or move them away.",
        )
    if not force:
        raise OutputExistsError(
            f"The folder {str(target)!r} is there already.",
            "Give --force to replace it, or --out for another folder.",
        )


@contextmanager
def whole_folder(target: Path, force: bool, ours: Collection[str]) -> Iterator[Path]:
    """A folder to write into, which becomes ``target`` when the block ends without an error."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.{os.getpid()}.part")
    aside.mkdir()
    try:
        yield aside
        refuse_overwrite(target, force, ours)  # somebody may have written there meanwhile
        _put(aside, target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _put(new: Path, target: Path) -> None:
    """Rename ``new`` to ``target``; what was there goes only after the new folder stands."""
    if not target.exists():
        new.rename(target)
        return
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


# --- labels -----------------------------------------------------------------------------------------------------


def write_labels(frame: Any, file: BinaryIO) -> None:
    """A ``pyarrow.Table`` as CSV, one line a row; text that a spreadsheet would take for a formula is neutralised."""
    import pyarrow as pa
    from pyarrow import csv

    for j, name in enumerate(frame.column_names):
        if pa.types.is_dictionary(frame[name].type) or pa.types.is_string(frame[name].type):
            frame = frame.set_column(j, name, _neutral_cells(frame[name]))
    names = [neutral(name) for name in frame.column_names]
    quoted = ['"' + name.replace('"', '""') + '"' if set(name) & set(',"\r\n') else name for name in names]
    file.write((",".join(quoted) + "\n").encode())  # pyarrow would put all names in quotes
    csv.write_csv(frame, file, csv.WriteOptions(include_header=False))


def _neutral_cells(column: Any) -> Any:
    """A column of text or of levels as text that no spreadsheet runs."""
    import pyarrow as pa

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    levels = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    words = pa.array([neutral(word) for word in levels.dictionary.to_pylist()], pa.string())
    return words.take(levels.indices)


def neutral(text: str) -> str:
    """Text that no spreadsheet runs: a leading = + - @ (or tab, or return) gets an apostrophe before it.

    >>> neutral("=cmd()"), neutral("a=b")
    ("'=cmd()", 'a=b')
    """
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def with_column(frame: Any, table: Any, name: str) -> Any:
    """The frame with a column of the table before all others, as text: so that rows can be told by their name."""
    return frame.add_column(0, name, text_column(table, name))


def text_column(table: Any, name: str) -> Any:
    """A column of a table (``opened``), as text."""
    import pyarrow as pa

    from asterism.cli.compare import _columns

    [cells] = _columns(table, [name]).values()
    return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
