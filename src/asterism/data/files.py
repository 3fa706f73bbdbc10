"""Paths: which files a name means, how they begin, and what to say when they cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import pyarrow as pa

from asterism.errors import AsterismError, FileError

HEAD_BYTES = 1 << 12  # what formats are recognised by
PACKINGS = (  # first bytes, name, usual ending, how to unpack by hand
    (b"\x1f\x8b", "gzip", ".gz", "gunzip"),
    (b"\x28\xb5\x2f\xfd", "zstd", ".zst", "unzstd"),
    (b"BZh", "bz2", ".bz2", "bunzip2"),
)
PACKED_ENDINGS = (".gz", ".zst", ".zstd", ".bz2")


@dataclass(frozen=True, slots=True)
class Head:
    """How a file begins."""

    path: Path
    start: bytes  # up to HEAD_BYTES, unpacked
    packing: str  # "gzip", "zstd", "bz2", or "" for none

    @property
    def ending(self) -> str:
        """Of its name, in small letters, without that of a packing.

        >>> Head(Path("visits.CSV.gz"), b"", "gzip").ending
        '.csv'
        """
        path = Path(self.path.name)
        return (path.with_suffix("") if path.suffix.lower() in PACKED_ENDINGS else path).suffix.lower()

    @property
    def text(self) -> str:
        """The beginning as text, without blanks before it; signs that cannot be read are replaced."""
        utf16 = self.start[:2] in (b"\xff\xfe", b"\xfe\xff")
        return self.start.decode("utf-16" if utf16 else "utf-8-sig", "replace").lstrip()


def head_of(path: Path) -> Head:
    """The beginning of a file."""
    packing = packing_of(path)
    with file_errors(path, f"packed by {packing}" if packing else "a table"), unpacked(path, packing) as file:
        return Head(path, file.read(HEAD_BYTES), packing)


def packing_of(path: Path) -> str:
    """How a file is packed, by its first bytes."""
    with file_errors(path, "a table"), path.open("rb") as file:
        start = file.read(4)
    return next((name for magic, name, _, _ in PACKINGS if start.startswith(magic)), "")


def unpacked(path: Path, packing: str) -> Any:
    """The file as a stream of bytes."""
    return pa.input_stream(str(path), compression=packing or None)


def matching_files(name: str, endings: Sequence[str]) -> list[Path]:
    """The files a path, a folder or a glob means, sorted by name; of a folder those that end like tables."""
    path = Path(name).expanduser()
    if path.is_dir():
        return _in_folder(path, endings)
    if path.exists() or not has_magic(name):
        return [_existing(path)]
    found = sorted(Path(match) for match in glob(str(path), recursive=True))
    files = [match for match in found if match.is_file()]
    if not files:
        raise FileError(f"No file matches {name!r}.", "Check the pattern and the folder it starts from.")
    return files


def _in_folder(folder: Path, endings: Sequence[str]) -> list[Path]:
    found = sorted(
        path for path in folder.rglob("*") if Head(path, b"", "").ending in endings and path.is_file()
    )
    # Spark and others leave files such as _metadata, .part.crc and _delta_log/*.json beside the data
    files = [
        path
        for path in found
        if not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    ]
    if not files:
        raise FileError(
            f"The folder {folder.name!r} holds no table.",
            f"Give a folder of files that end in {', '.join(endings)}, or the path of one file.",
        )
    kinds = sorted({Head(path, b"", "").ending for path in files})
    if len(kinds) > 1:
        raise FileError(
            f"The folder {folder.name!r} holds files of several kinds: {', '.join(kinds)}.",
            f"Say which are meant, for instance {str(folder / f'*{kinds[0]}')!r} in quotes.",
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
            f"{path.name!r} is not {what}, or is damaged: {first_line(bad)}",
            "Write it again, or copy it again in full.",
        ) from bad


def first_line(bad: BaseException) -> str:
    """What another library said, short."""
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
