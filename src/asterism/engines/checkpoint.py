"""The state of a loop on disk, written whole or not at all.

One safetensors file: the arrays of every candidate's model, and as metadata the candidates' histories and the
job's identity (method, shape and first block of the table), so that a checkpoint never continues another job.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.source import Source
from asterism.errors import ModelFileError

if TYPE_CHECKING:
    from asterism.engines.loop import Method, Run

FORMAT = "asterism-checkpoint-1"


@dataclass
class Checkpoint:
    """Where one job keeps its state."""

    path: Path
    job: str
    method: Method[Any]

    @classmethod
    def for_job(cls, path: Path, method: Method[Any], source: Source) -> Checkpoint:
        """The checkpoint of this method on this table; ``path`` is a folder, or a file to be."""
        job = f"{method!r}-{_fingerprint(source)}"
        if path.is_dir():
            path = path / f"{hashlib.sha256(job.encode()).hexdigest()[:16]}.checkpoint"
        return cls(path, job, method)

    def save(self, runs: list[Run[Any]]) -> None:
        """Write aside, then rename: a reader sees the old state or the new one, never a half."""
        arrays = {
            f"{i}.{name}": value
            for i, run in enumerate(runs)
            for name, value in self.method.pack(run.model).items()
        }
        meta = {"runs": [{"history": run.history, "status": run.status} for run in runs], "job": self.job}
        write_arrays(self.path, arrays, {"format": FORMAT, "state": json.dumps(meta)})

    def resume(self, starts: Sequence[Any]) -> list[Run[Any]]:
        """The candidates as they were left, or the starts where nothing was left."""
        from asterism.engines.loop import Run

        if not self.path.exists():
            return [Run(model) for model in starts]
        arrays, meta = read_arrays(self.path, FORMAT)
        state = json.loads(meta["state"])
        if state["job"] != self.job:
            raise ModelFileError(
                f"The checkpoint {self.path.name!r} belongs to another job.",
                "Remove it, or give a folder: every job then has its own file.",
            )
        runs: list[Run[Any]] = []
        for i, saved in enumerate(state["runs"]):
            prefix = f"{i}."
            mine = {name[len(prefix) :]: a for name, a in arrays.items() if name.startswith(prefix)}
            done = saved["status"] in ("settled", "step limit")
            status = saved["status"] if done else "moving"
            runs.append(Run(self.method.unpack(mine), saved["history"], status))
        return runs

    def remove(self) -> None:
        """The job is done."""
        self.path.unlink(missing_ok=True)


def write_arrays(path: Path, arrays: dict[str, NDArray[Any]], meta: dict[str, str]) -> None:
    """Write a safetensors file atomically."""
    from safetensors.numpy import save

    # safetensors writes the memory of an array without its strides: hand it contiguous ones only.
    data = save({name: np.ascontiguousarray(a) for name, a in arrays.items()}, metadata=meta)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with aside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def read_arrays(path: Path, expected: str) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Read a file of ``write_arrays``, or say what is wrong with it."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            meta = dict(file.metadata() or {})
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a mapping
    except (SafetensorError, OSError, ValueError) as bad:
        raise ModelFileError(f"{path.name!r} cannot be read: {bad}.", "It is damaged or of another kind.") from bad
    if meta.get("format") != expected:
        raise ModelFileError(
            f"{path.name!r} has the format {meta.get('format')!r}, expected {expected!r}.",
            "It was written by another program or version.",
        )
    return arrays, meta


def _fingerprint(source: Source) -> str:
    block = next(iter(source.blocks(0, 1)))
    digest = hashlib.sha256(f"{source.n_rows} {source.names} {source.dtype}".encode())
    digest.update(block.rows.tobytes())
    digest.update(block.weights.tobytes())
    return digest.hexdigest()
