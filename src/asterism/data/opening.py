"""From what a user gives to a ``Table``: a path, a folder or glob, standard input, a data frame."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from pathlib import Path
from typing import Any, Unpack

from asterism.data.files import Head, head_of, matching_files
from asterism.data.formats.base import Format, all_formats
from asterism.data.frames import frame_table
from asterism.data.options import ReadKeywords, ReadOptions
from asterism.data.refused import require_table
from asterism.data.renamed import RenamedTable
from asterism.data.several import SeveralTables
from asterism.data.table import Table
from asterism.errors import FileError, ParameterError


def opened(table: Any, **options: Unpack[ReadKeywords]) -> Table | None:
    """The table behind a path, ``"-"`` or a data frame; None of what is no table with names (an array, a source).

    >>> import pyarrow
    >>> list(opened(pyarrow.table({"a": [1]}), rename={"a": "b"}).types)
    ['b']
    """
    said = ReadOptions.of(options)
    found = _opened(table, said)
    if found is None:
        if said.given:
            raise ParameterError(
                f"{said.given[0]} says nothing of an array or a Source.", "Give it where a file is read."
            )
        return None
    return RenamedTable(found, said.rename) if said.rename else found


def _opened(table: Any, options: ReadOptions) -> Table | None:
    if isinstance(table, str) and table == "-":
        return _standard_input(options)
    if isinstance(table, str | os.PathLike):
        return _files(os.fspath(table), options)
    found = table if isinstance(table, Table) else frame_table(table)
    if found is not None:
        options.require_of_use(frozenset(), found.title, "no file")
    return found


def _files(name: str, options: ReadOptions) -> Table:
    formats = all_formats()
    paths = matching_files(name, [ending for format in formats for ending in format.endings])
    heads = [head_of(path) for path in paths]
    kinds = [format_of(head) for head in heads]
    format = kinds[0]
    if len(set(kinds)) > 1:
        other = next(j for j, kind in enumerate(kinds) if kind is not format)
        raise ParameterError(
            f"{name!r} means files of several kinds: {paths[0].name!r} is {format.what}, {paths[other].name!r} is "
            f"{kinds[other].what}.",
            "Only files of one kind are read together.",
        )
    options.require_of_use(format.takes, repr(paths[0].name), format.what)
    if format.together is not None:
        return format.together(paths)
    tables = [format.opened(path, options) for path in paths]
    return tables[0] if len(tables) == 1 else SeveralTables(tables, format.name)


def format_of(head: Head) -> Format:
    """The format of a file by how it begins, else by its name; text may be CSV, and nothing else is guessed."""
    *marked, text = all_formats()
    found = next((format for format in marked if format.claims(head)), None)
    if found is None:
        require_table(head)
        found = next((format for format in marked if head.ending in format.endings), None)
    if found is None:
        text.claims(head)  # or says why not
        found = text
    if head.packing and not found.packed:
        raise FileError(
            f"{head.path.name!r} is {found.what}, packed by {head.packing}.",
            "Unpack it; such files are packed inside.",
        )
    return found


def _standard_input(options: ReadOptions) -> Table:
    """A stream can be read once, and we read twice: so it goes to a file that lives as long as the table."""
    with tempfile.NamedTemporaryFile(prefix="asterism-", suffix=".csv", delete=False) as file:
        path = Path(file.name)
        try:
            shutil.copyfileobj(sys.stdin.buffer, file)
            file.flush()
            table = _files(str(path), options)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    weakref.finalize(table, path.unlink, missing_ok=True)
    return table
