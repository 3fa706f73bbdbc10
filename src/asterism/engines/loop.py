"""The loop every iterative method shares.

    statistic = reduce(source, summarize(model, .))
    model     = update(model, statistic)

until the method says it has settled, or a limit is reached. Several candidates (restarts, several k) advance
together: one pass over the data serves all that are still moving. A checkpoint after each pass lets a killed job
go on where it was; Ctrl-C and the time limit give the best so far and say so.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.data.source import Source
from asterism.engines.checkpoint import Checkpoint
from asterism.engines.context import current
from asterism.engines.progress import Event
from asterism.engines.reduce import reduce
from asterism.errors import InterruptedWarning
from asterism.stats.base import Joined

M = TypeVar("M")
Status = Literal["moving", "settled", "step limit", "time limit", "interrupted"]


class Method(Protocol[M]):
    """Two pure functions, and when to stop. Objectives are minimised."""

    name: str

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


@dataclass
class Run(Generic[M]):
    """One candidate on its way."""

    model: M
    history: list[float] = field(default_factory=list)  # objective of the model before each step
    status: Status = "moving"

    @property
    def steps(self) -> int:
        """Updates done."""
        return len(self.history)

    @property
    def objective(self) -> float:
        """The last objective seen; infinite before the first step."""
        return self.history[-1] if self.history else float("inf")


def iterate(
    method: Method[M], source: Source, starts: Sequence[M], *, max_iter: int, watch: Callable[[list[Run[M]]], None] | None = None
) -> list[Run[M]]:
    """Advance all candidates until each has settled or a limit is reached.

    ``watch(runs)`` is called after every pass, for those who draw or log.
    """
    settings = current()
    store = Checkpoint.for_job(settings.checkpoint, method, source) if settings.checkpoint else None
    runs = store.resume(starts) if store else [Run(model) for model in starts]
    began = time.monotonic()
    passes = 0
    try:
        while active := [run for run in runs if run.status == "moving"]:
            _advance(method, source, active, max_iter)
            passes += 1
            elapsed = time.monotonic() - began
            if settings.time_limit is not None and elapsed >= settings.time_limit:
                _stop(runs, "time limit")
            if store:
                store.save(runs)
            if watch:
                watch(runs)
            if settings.progress:
                settings.progress(_event(method, runs, max_iter, elapsed, passes))
    except KeyboardInterrupt:
        _stop(runs, "interrupted")
        if not any(run.steps for run in runs):
            raise  # nothing to return yet
        warnings.warn(
            f"{method.name} was interrupted after {max(r.steps for r in runs)} steps. The best so far is returned; "
            "fit again for more.",
            InterruptedWarning,
            stacklevel=2,
        )
    if store and all(run.status in ("settled", "step limit") for run in runs):
        store.remove()
    return runs


def _advance(method: Method[M], source: Source, active: list[Run[M]], max_iter: int) -> None:
    models = tuple(run.model for run in active)
    joined = reduce(source, partial(_summarize_all, method, models))
    for run, statistic in zip(active, joined.parts, strict=True):
        before = run.model
        run.history.append(method.objective(before, statistic))
        run.model = method.update(before, statistic)
        if method.settled(before, run.model):
            run.status = "settled"
        elif run.steps >= max_iter:
            run.status = "step limit"


def _summarize_all(method: Method[M], models: tuple[M, ...], block: Block) -> Joined:
    return Joined(tuple(method.summarize(model, block) for model in models))


def _stop(runs: list[Run[M]], why: Status) -> None:
    for run in runs:
        if run.status == "moving":
            run.status = why


def _event(method: Method[M], runs: list[Run[M]], max_iter: int, elapsed: float, passes: int) -> Event:
    step = max(run.steps for run in runs)
    return Event(
        job=method.name,
        step=step,
        max_steps=max_iter,
        objective=float(np.min([run.objective for run in runs])),
        active=sum(run.status == "moving" for run in runs),
        elapsed=elapsed,
        left=elapsed / passes * (max_iter - step),
    )
