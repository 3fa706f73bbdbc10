"""A search that was interrupted leaves a checkpoint in its folder of results; ``--resume`` goes on from it."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from asterism.cli.output import refuse_overwrite
from asterism.errors import OutputExistsError, ParameterError

CHECKPOINT = "checkpoint"  # the name of the folder in the folder of results
MANIFEST = "search.json"
OURS = (".stage", ".checkpoint")  # how its files end


def prepared(target: Path, ours: Collection[str], *, force: bool, resume: bool) -> Path:
    """Where the checkpoint of a search stands, or an error where the search may not begin; ask before the work."""
    kept = target / CHECKPOINT
    there = (kept / MANIFEST).is_file()
    if resume:
        if not there:
            raise ParameterError(f"There is nothing to resume in {str(target)!r}.", "Start without --resume.")
        refuse_overwrite(target, True, ours)
        return kept
    if there and not force:
        raise OutputExistsError(
            f"{str(target)!r} holds a search that was interrupted.",
            "Give --resume to go on with it, or --force to begin anew.",
        )
    refuse_overwrite(target, force, ours)
    if kept.is_dir():
        strange = [path.name for path in kept.iterdir() if not _is_ours(path)]
        if strange:
            raise OutputExistsError(
                f"{str(kept)!r} holds files that asterism did not write ({', '.join(strange[:3])}).",
                "Choose another --out, or move them away.",
            )
        shutil.rmtree(kept)
    return kept


def carried_over(kept: Path, folder: Path) -> None:
    """The checkpoint of an interrupted search goes with its results."""
    if kept.is_dir():
        shutil.move(kept, folder / CHECKPOINT)


def tidied(target: Path) -> None:
    """A folder that was made for a checkpoint alone is gone when that is."""
    with suppress(OSError):
        target.rmdir()


def _is_ours(path: Path) -> bool:
    return path.is_file() and (path.name == MANIFEST or path.suffix in OURS)
