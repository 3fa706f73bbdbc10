"""What a format is, and the registry that finds all of them: every module of this package that holds a ``FORMAT``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from asterism.data import formats
from asterism.data.files import Head
from asterism.data.options import ReadOptions
from asterism.data.table import Table


@dataclass(frozen=True, slots=True)
class Format:
    """How one kind of file is recognised and opened."""

    name: str  # as one speaks of it: "CSV"
    what: str  # how errors call such a file: "a text file"
    endings: tuple[str, ...]  # of file names; what a folder is searched for, too
    claims: Callable[[Head], bool]  # whether a file that begins so is one, whatever it is called
    opened: Callable[[Path, ReadOptions], Table]
    takes: frozenset[str] = frozenset()  # the ReadOptions it has a use for, beside new names
    packed: bool = False  # whether it reads gzip, zstd and bz2 too
    together: Callable[[Sequence[Path]], Table] | None = (
        None  # several files at once; None: one after the other
    )
    last: bool = False  # asked after all others: any text may be CSV


@cache
def all_formats() -> tuple[Format, ...]:
    """Every format there is, those that recognise their files by a mark first."""
    names = sorted(module.name for module in iter_modules(formats.__path__))
    modules = [import_module(f"{formats.__name__}.{name}") for name in names]
    found = [module.FORMAT for module in modules if hasattr(module, "FORMAT")]
    return tuple(sorted(found, key=lambda format: (format.last, format.name)))
