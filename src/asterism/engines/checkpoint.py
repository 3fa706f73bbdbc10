"""The state of a loop on disk, written whole or not at all.

One safetensors file: the arrays of every candidate's model, and as metadata the candidates' histories and the
job's identity (method, table, starting points), so that a checkpoint never continues another job.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import is_sparse
from asterism.data.source import Source
from asterism.data.whole import write_whole
from asterism.errors import ModelFileError

if TYPE_CHECKING:
    from asterism.engines.loop import Method, Run, Status

FORMAT = "asterism-checkpoint-1"


@dataclass(frozen=True)
class Checkpoint:
    """Where one job keeps its state."""

    path: Path
    job: str  # what the state is the state of
    method: Method[Any]

    @classmethod
    def for_job(cls, path: Path, method: Method[Any], source: Source, starts: Sequence[Any]) -> Checkpoint:
        """The checkpoint of this job: the file ``path``, or (no suffix) a file of its own in that folder."""
        digest = hashlib.sha256()
        for piece in _identity(method, source, starts):
            digest.update(piece)
        job = digest.hexdigest()
        if path.is_dir() or not path.suffix:
            path = path / f"{job[:16]}.checkpoint"
        path.parent.mkdir(parents=True, exist_ok=True)
        return cls(path, job, method)

    def save(self, runs: Sequence[Run[Any]]) -> None:
        """Write the state of all candidates."""
        arrays = {
            f"{i}.{name}": value
            for i, run in enumerate(runs)
            for name, value in self.method.pack(run.model).items()
        }
        state = {"job": self.job, "runs": [{"history": run.history, "status": run.status} for run in runs]}
        write_arrays(self.path, arrays, {"format": FORMAT, "state": json.dumps(state)})

    def resume(self) -> list[Run[Any]] | None:
        """The candidates as they were left, or None if nothing was left. Those stopped by a limit go on."""
        from asterism.engines.loop import DONE, Run

        if not self.path.exists():
            return None
        arrays, meta = read_arrays(self.path, FORMAT)
        state = json.loads(meta["state"])
        if state["job"] != self.job:
            raise ModelFileError(
                f"The checkpoint {self.path.name!r} belongs to another job: another table, method or start.",
                "Remove it, or give a folder: every job then has its own file.",
            )
        runs: list[Run[Any]] = []
        for i, saved in enumerate(state["runs"]):
            prefix = f"{i}."
            mine = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
            status: Status = saved["status"] if saved["status"] in DONE else "moving"
            runs.append(Run(self.method.unpack(mine), saved["history"], status))
        return runs

    def remove(self) -> None:
        """The job is done."""
        self.path.unlink(missing_ok=True)


def _identity(method: Method[Any], source: Source, starts: Sequence[Any]) -> Iterator[bytes]:
    """What makes a job this job; of the table its shape, names, first and last block."""
    yield f"{method!r} {source.n_rows} {source.names} {source.dtype}".encode()
    for number in sorted({0, source.n_blocks - 1}):
        for block in source.blocks(number, number + 1):
            rows: Any = block.rows
            for array in (rows.data, rows.indices, rows.indptr) if is_sparse(rows) else (rows,):
                yield array.tobytes()
            yield block.weights.tobytes()
    for model in starts:
        for name, array in sorted(method.pack(model).items()):
            yield f"{name} {array.dtype} {array.shape}".encode()
            yield array.tobytes()


def write_arrays(path: Path, arrays: dict[str, NDArray[Any]], meta: dict[str, str]) -> None:
    """Write a safetensors file, whole or not at all."""
    from safetensors.numpy import save

    # safetensors writes the memory of an array without its strides: hand it contiguous ones only
    # (np.ascontiguousarray would make a number into a vector).
    data = save({name: np.asarray(a, order="C") for name, a in arrays.items()}, metadata=meta)
    write_whole(path, data)


def read_arrays(path: Path, expected: str) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Read a file of ``write_arrays``, or say what is wrong with it."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            meta = dict(file.metadata() or {})
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a mapping
    except (SafetensorError, OSError, ValueError) as bad:
        raise ModelFileError(
            f"{path.name!r} cannot be read: {bad}.", "It is damaged or of another kind."
        ) from bad
    if meta.get("format") != expected:
        raise ModelFileError(
            f"{path.name!r} has the format {meta.get('format')!r}, expected {expected!r}.",
            "It was written by another program or version.",
        )
    return arrays, meta
