"""A folder of results that appears whole or not at all, and replaces nothing but its own kind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

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
