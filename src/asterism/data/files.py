"""Paths: which files a name means, of which kind they are, and what to say when they cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path
from typing import Literal

import pyarrow as pa

from asterism.errors import AsterismError, FileError

Format = Literal["csv", "parquet", "npy"]
PARQUET = (".parquet", ".pq", ".parq")
MAGIC: tuple[tuple[bytes, Format], ...] = ((b"PAR1", "parquet"), (b"\x93NUMPY", "npy"))
OTHERS = (
    (b"PK\x03\x04", "a spreadsheet or a zip archive"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet"),
    (b"\x89HDF", "an HDF5 file"),
    (b"ARROW1", "an Arrow file"),
    (b"SQLite", "a database"),
)


def matching_files(name: str) -> list[Path]:
    """The files a path, a folder or a glob means, sorted by name."""
    path = Path(name).expanduser()
    if path.is_dir():
        return _in_folder(path)
    if path.exists() or not has_magic(name):
        return [_existing(path)]
    found = sorted(Path(match) for match in glob(str(path), recursive=True))
    files = [match for match in found if match.is_file()]
    if not files:
        raise FileError(f"No file matches {name!r}.", "Check the pattern and the folder it starts from.")
    return files


def _in_folder(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in PARQUET and path.is_file())
    # Spark and others leave files such as _metadata and .part.crc beside the data
    files = [path for path in files if not path.name.startswith(("_", "."))]
    if not files:
        raise FileError(
            f"The folder {folder.name!r} holds no Parquet file.",
            "Give a folder of .parquet files, or the path of one file.",
        )
    return files


def _existing(path: Path) -> Path:
    if path.exists():
        return path
    try:
        beside = [other.name for other in path.parent.iterdir()]
    except OSError:
        raise FileError(
            f"{str(path)!r} is not there, nor is its folder.", "Check the path and the current folder."
        ) from None
    close = get_close_matches(path.name, beside, 2)
    meant = f"Did you mean {' or '.join(map(repr, close))}?" if close else "Check the path."
    raise FileError(f"{str(path)!r} is not there.", meant)


def format_of(path: Path) -> Format:
    """The format of a file by its first bytes, else by its name."""
    with file_errors(path, "a table"), path.open("rb") as file:
        start = file.read(8)
    for magic, kind in MAGIC:
        if start.startswith(magic):
            return kind
    for magic, what in OTHERS:
        if start.startswith(magic):
            raise FileError(f"{path.name!r} is {what}.", "Save the table as CSV or Parquet.")
    if path.suffix.lower() in PARQUET:
        return "parquet"
    return "npy" if path.suffix.lower() == ".npy" else "csv"


@contextmanager
def file_errors(path: Path, what: str) -> Iterator[None]:
    """Whatever goes wrong inside becomes a ``FileError`` that names the file."""
    try:
        yield
    except AsterismError:
        raise
    except PermissionError as bad:
        raise FileError(
            f"{path.name!r} may not be read by you.", "Ask for the permission to read it."
        ) from bad
    except FileNotFoundError as bad:
        raise FileError(f"{str(path)!r} is not there.", "It was moved or removed.") from bad
    except (OSError, EOFError, pa.ArrowException, ValueError) as bad:
        raise FileError(
            f"{path.name!r} is not {what}, or is damaged: {_first_line(bad)}",
            "Write it again, or copy it again in full.",
        ) from bad


def _first_line(bad: BaseException) -> str:
    line = (str(bad) or type(bad).__name__).splitlines()[0].rstrip(".")
    return f"{line[:200]}."


def state_of(path: Path) -> tuple[int, int]:
    """Size and time of the last change: tells whether a file is still the one that was looked at."""
    with file_errors(path, "a table"):
        status = path.stat()
    return status.st_size, status.st_mtime_ns


def require_unchanged(path: Path, state: tuple[int, int]) -> None:
    """A ``FileError`` if the file is not what it was."""
    if state_of(path) != state:
        raise FileError(f"{path.name!r} was changed while it was in use.", "Read it again.")
