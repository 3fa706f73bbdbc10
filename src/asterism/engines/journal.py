"""What a search has found so far: to answer with where it is stopped, and to go on from another day.

A search has stages. What a stage ends with is a pure function of what it begins with, so its result is kept under the
digest of its input; asked for again with the same input, it is read instead of computed, and everything after it has
the bits of a search that was never stopped. A stage that was not finished is computed anew.

    folder/search.json    which job this is, and of which version
    folder/*.stage        safetensors, one a finished stage, written aside and renamed: whole or not there; no pickle
    folder/*.checkpoint   EM on a long table, after every pass (``engines.checkpoint``)

Short searches write nothing: stages go to the disk after ``WORTH`` seconds, or when the search is stopped.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism import _core
from asterism.data.source import Source
from asterism.data.whole import write_whole
from asterism.engines.checkpoint import read_arrays, write_arrays
from asterism.engines.context import current, engine
from asterism.errors import ModelFileError

WORTH = 3.0  # convention: seconds of search from which on stages are written as they are finished
LONG = 100_000  # convention: rows of a table from which on EM is checkpointed after every pass
MANIFEST = "search.json"
FORMAT = "asterism-stage-1"

Arrays = dict[str, NDArray[Any]]


@dataclass(eq=False)
class Journal:
    """One search on its way."""

    folder: Path | None = None  # None: nothing is kept on disk
    job: str = ""  # digest of the table and of what is asked
    found: dict[str, Any] = field(default_factory=dict)  # the latest of what was found, by name
    silent: bool = False  # what is found now is no answer
    unwritten: dict[str, tuple[Arrays, str]] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def recall(self, key: str) -> tuple[Arrays, Any] | None:
        """What a finished stage ended with, or None."""
        if self.folder is None or not (path := self._path(key)).exists():
            return None
        arrays, meta = read_arrays(path, FORMAT)
        return arrays, json.loads(meta["state"])

    def keep(self, key: str, arrays: Arrays, state: Any) -> None:
        """A stage is finished."""
        if self.folder is not None:
            self.unwritten[key] = arrays, json.dumps(state)
            if time.monotonic() - self.began >= WORTH:
                self.write()

    def write(self) -> None:
        """Finished stages to the disk."""
        if self.folder is None or not self.unwritten:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.folder / MANIFEST, json.dumps({"job": self.job, "version": _version()}).encode())
        for key, (arrays, state) in self.unwritten.items():
            write_arrays(self._path(key), arrays, {"format": FORMAT, "state": state})
        self.unwritten.clear()

    def remove(self) -> None:
        """The search is done."""
        self.unwritten.clear()
        if self.folder is None or not self.folder.is_dir():
            return
        for path in [*self.folder.glob("*.stage"), *self.folder.glob("*.checkpoint"), self.folder / MANIFEST]:
            path.unlink(missing_ok=True)
        with suppress(OSError):  # others' files stay
            self.folder.rmdir()

    def _path(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{key[:32]}.stage"


_current: ContextVar[Journal] = ContextVar("asterism_journal", default=Journal())  # noqa: B039  empty, and stays so


def journal() -> Journal | None:
    """Of the search that is going on here; None where there is none."""
    found = _current.get()
    return found if found is not _NONE else None


_NONE = _current.get()


def note(**found: Any) -> None:
    """What the search has found, for an answer if it is stopped."""
    if (here := journal()) is not None and not here.silent:
        here.found |= found


@contextmanager
def unnoted() -> Iterator[None]:
    """A search within the search, of rows seen in another way: it is no answer."""
    here, before = journal(), False
    if here is not None:
        before, here.silent = here.silent, True
    try:
        yield
    finally:
        if here is not None:
            here.silent = before


@contextmanager
def searching(folder: Path | None, job: str) -> Iterator[Journal]:
    """A search, kept in a folder if there is one; what is in the folder must be of the same job."""
    if folder is not None and (folder / MANIFEST).exists():
        _require_same(folder / MANIFEST, job)
    here = Journal(folder, job)
    token = _current.set(here)
    try:
        with engine(**vars(current()) | {"checkpoint": None}):  # of its many small fits none has its own
            yield here
    except (KeyboardInterrupt, SystemExit):
        here.write()
        raise
    except Exception:
        here.remove()
        raise
    finally:
        _current.reset(token)


@contextmanager
def checkpointed(source: Source) -> Iterator[None]:
    """EM on a long table: its state is kept after every pass."""
    here = journal()
    if here is None or here.folder is None or source.n_rows < LONG:
        yield
        return
    with engine(**vars(current()) | {"checkpoint": here.folder}):
        yield


def digest_of(*parts: Any) -> str:
    """Of sources, arrays, mappings of arrays, and whatever else by its ``repr``; of this version of the program."""
    digest = hashlib.sha256(_version().encode())
    for part in parts:
        for piece in _pieces(part):
            digest.update(len(piece).to_bytes(8, "little"))
            digest.update(piece)
    return digest.hexdigest()


def ends_of(source: Source) -> list[Any]:
    """What a long table is known by: its shape, columns, first and last block."""
    known: list[Any] = [source.n_rows, source.columns, str(source.dtype)]
    for number in sorted({0, source.n_blocks - 1}):
        for block in source.blocks(number, number + 1):
            known += [block.rows, block.weights]
    return known


def _pieces(part: Any) -> Iterator[bytes]:
    if isinstance(part, Source):
        for block in part.blocks():
            yield block.rows.tobytes()
            yield block.weights.tobytes()
    elif isinstance(part, np.ndarray):
        yield f"{part.dtype} {part.shape}".encode()
        yield part.tobytes()
    elif isinstance(part, Mapping):
        for name in sorted(part):
            yield str(name).encode()
            yield from _pieces(part[name])
    elif isinstance(part, list):
        for item in part:
            yield from _pieces(item)
    else:
        yield repr(part).encode()


def _version() -> str:
    from asterism import __version__

    return f"{__version__} {_core.variant} {np.__version__}"  # which round alike


def _require_same(path: Path, job: str) -> None:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        same, version = told["job"] == job, str(told["version"])
    except (ValueError, KeyError, TypeError) as bad:
        raise ModelFileError(
            f"The checkpoint {str(path.parent)!r} is damaged.", "Remove it, and begin anew (--force)."
        ) from bad
    if version != _version():
        raise ModelFileError(
            f"The checkpoint {str(path.parent)!r} is of another version ({version}).",
            "Remove it, and begin anew (--force).",
        )
    if not same:
        raise ModelFileError(
            f"The checkpoint {str(path.parent)!r} is of another table or of other options.",
            "Give those of the search that was interrupted, or begin anew (--force).",
        )
