"""The loop every iterative method shares.

    statistic = reduce(source, summarize(model, .))
    model     = update(model, statistic)

until the method says it has settled, or a limit is reached. Several candidates (restarts, several k) advance
together: one pass over the data serves all that are still moving. A checkpoint after each pass lets a killed
job go on where it was; Ctrl-C and the time limit give the best so far and say so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.data.source import Source
from asterism.engines.checkpoint import Checkpoint
from asterism.engines.context import current
from asterism.engines.progress import Clock, Event
from asterism.engines.reduce import reduce, require_rows
from asterism.engines.threads import crew, one_blas_thread
from asterism.errors import InterruptedWarning
from asterism.stats.base import Joined

M = TypeVar("M")
Status = Literal["moving", "settled", "step limit", "time limit", "interrupted"]
MEMORY_BYTES = 40 << 20  # for what candidates remember of rows
DONE = ("settled", "step limit")  # what a resumed job does not take up again


class Method(Protocol[M]):
    """Two pure functions, and when to stop. Objectives are minimised.

    Its ``repr`` tells all its parameters (a frozen dataclass does): by it a checkpoint knows its job.
    """

    @property
    def name(self) -> str:
        """What progress and messages call it."""
        ...

    def summarize(self, model: M, block: Block) -> Any:
        """What the rows of a block say to this model."""
        ...

    def update(self, model: M, statistic: Any) -> M:
        """The next model."""
        ...

    def objective(self, model: M, statistic: Any) -> float:
        """How badly ``model`` fits the rows the statistic was taken of; never rises from step to step."""
        ...

    def settled(self, before: M, after: M) -> bool:
        """Whether the last step changed too little to go on."""
        ...

    def pack(self, model: M) -> Mapping[str, NDArray[Any]]:
        """The model as named arrays, for a checkpoint."""
        ...

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> M:
        """The model again."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A method that saves work by a number it keeps of every row, its label say.

    The law: ``update`` makes the same model, to the bit, of what ``recall`` gives as of what ``summarize`` gives.
    So an engine may let it remember, or not.
    """

    def blank(self, n: int) -> NDArray[np.int32]:
        """(..., n) a memory of nothing yet."""
        ...

    def recall(self, model: Any, block: Block, memory: NDArray[np.int32], *, fresh: bool) -> Any:
        """As ``summarize``, given what is remembered of the rows; brings the memory up to date."""
        ...

    def forgets(self, model: Any) -> bool:
        """Whether the memory is of no use for this model."""
        ...


@runtime_checkable
class Preparing(Protocol):
    """A method whose models take some making before a block can be visited."""

    def prepare(self, model: Any, dtype: np.dtype[Any]) -> None:
        """Make it for rows of a type: once a step, not on all threads at once while each waits for the others."""
        ...


# Asked of the class, whose answer is remembered: of an instance it takes longer than a small block.


def remembers(method: Any) -> TypeGuard[Remembering]:
    """Whether a method keeps something of every row."""
    return issubclass(type(method), Remembering)


def prepares(method: Any) -> TypeGuard[Preparing]:
    """Whether a method has something to make of a model."""
    return issubclass(type(method), Preparing)


@dataclass
class Run(Generic[M]):
    """One candidate on its way."""

    model: M
    history: list[float] = field(default_factory=list)  # objective of the model before each step
    status: Status = "moving"
    memory: NDArray[np.int32] | None = field(
        default=None, repr=False
    )  # (..., n) what a method keeps of every row

    @property
    def steps(self) -> int:
        """Updates done."""
        return len(self.history)

    @property
    def objective(self) -> float:
        """The last objective seen; infinite before the first step."""
        return self.history[-1] if self.history else float("inf")


def iterate(
    method: Method[M],
    source: Source,
    starts: Sequence[M],
    *,
    max_iter: int,
    watch: Callable[[list[Run[M]]], None] | None = None,
) -> list[Run[M]]:
    """Advance all candidates until each has settled or a limit is reached; one ``Run`` a start, in order.

    ``watch(runs)`` is called after every pass, for those who draw or log.
    """
    require_rows(source)
    settings = current()
    store = Checkpoint.for_job(settings.checkpoint, method, source, starts) if settings.checkpoint else None
    runs = (store.resume() if store else None) or [Run(model) for model in starts]
    clock = Clock(max_iter, settings.time_limit, already=_steps(runs))
    try:
        with one_blas_thread(), crew():  # once, not in every pass
            while any(run.status == "moving" for run in runs):
                _advance(method, source, runs, max_iter)
                if clock.is_up():
                    _stop(runs, "time limit")
                if store:
                    store.save(runs)
                if watch:
                    watch(runs)
                if settings.progress:
                    settings.progress(_event(method, runs, clock))
    except KeyboardInterrupt:
        if not _steps(runs):
            raise  # nothing to return yet
        _stop(runs, "interrupted")
        warnings.warn(
            f"{method.name} was interrupted after {_steps(runs)} steps. The best so far is returned; "
            "fit again for more.",
            InterruptedWarning,
            stacklevel=2,
        )
    if store and all(run.status in DONE for run in runs):
        store.remove()
    return runs


def _advance(method: Method[M], source: Source, runs: list[Run[M]], max_iter: int) -> None:
    """One pass over the data, one step of every candidate that is still moving."""
    moving = [i for i, run in enumerate(runs) if run.status == "moving"]
    models = tuple(runs[i].model for i in moving)
    memories, fresh = _memories(method, source, [runs[i] for i in moving])
    if prepares(method) and current().dask is None:
        for model in models:
            method.prepare(model, source.dtype)
    joined = reduce(source, partial(_summarize_all, method, models, memories, fresh))
    for i, statistic, memory in zip(moving, joined.parts, memories, strict=True):
        # One assignment a candidate: Ctrl-C finds it before its step or after it, never in between.
        runs[i] = _stepped(method, runs[i], statistic, memory, max_iter, alone=len(runs) == 1)


def _memories(
    method: Method[M], source: Source, runs: list[Run[M]]
) -> tuple[list[NDArray[np.int32] | None], list[bool]]:
    """What each candidate remembers of the rows, and whether it begins to: only in this process's own memory."""
    if not remembers(method) or current().dask is not None:
        return [None] * len(runs), [True] * len(runs)
    if method.blank(1).nbytes * source.n_rows * len(runs) > MEMORY_BYTES:
        return [None] * len(runs), [True] * len(runs)
    fresh = [run.memory is None or method.forgets(run.model) for run in runs]
    memories: list[NDArray[np.int32] | None] = [
        method.blank(source.n_rows) if begins else run.memory for run, begins in zip(runs, fresh, strict=True)
    ]
    return memories, fresh


def _stepped(
    method: Method[M],
    run: Run[M],
    statistic: Any,
    memory: NDArray[np.int32] | None,
    max_iter: int,
    *,
    alone: bool,
) -> Run[M]:
    history = [*run.history, float(method.objective(run.model, statistic))]
    model = method.update(run.model, statistic)
    status: Status = "moving"
    if method.settled(run.model, model):
        status = "settled"
    elif len(history) >= max_iter:
        status = "step limit"
    # What the only candidate remembers is of use to whoever looks at the rows once more; of many it takes too much.
    return Run(model, history, status, memory if alone or status == "moving" else None)


def _summarize_all(
    method: Any,
    models: tuple[M, ...],
    memories: list[Any],
    fresh: list[bool],
    block: Block,
) -> Joined:
    rows = slice(block.start, block.start + len(block))
    return Joined(
        tuple(
            method.summarize(model, block)
            if memory is None
            else method.recall(model, block, memory[..., rows], fresh=begins)
            for model, memory, begins in zip(models, memories, fresh, strict=True)
        )
    )


def _stop(runs: list[Run[M]], why: Status) -> None:
    runs[:] = [Run(run.model, run.history, why) if run.status == "moving" else run for run in runs]


def _steps(runs: list[Run[M]]) -> int:
    return max(run.steps for run in runs)


def _event(method: Method[M], runs: list[Run[M]], clock: Clock) -> Event:
    step, active, elapsed = _steps(runs), sum(run.status == "moving" for run in runs), clock.elapsed()
    return Event(
        job=method.name,
        step=step,
        max_steps=clock.max_steps,
        objective=min(run.objective for run in runs),
        active=active,
        elapsed=elapsed,
        left=clock.left(step, elapsed) if active else 0.0,
    )
