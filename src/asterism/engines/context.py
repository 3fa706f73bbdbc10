"""Which engine runs, and under which limits: ``with asterism.engine(n_threads=2): ...``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from asterism.data.memory import parse_bytes
from asterism.data.source import Source
from asterism.engines.gather import Gather, Visit
from asterism.engines.progress import Clock, Event, Progress
from asterism.engines.threads import ThreadEngine
from asterism.errors import ParameterError


class Runner(Protocol):
    """Who visits the blocks."""

    def walk(self, source: Source, visit: Visit, gather: Gather) -> Any:
        """Visit every block once and gather what the visits give (see ``engines.gather``)."""
        ...


@dataclass(frozen=True)
class Settings:
    """Everything about a run that does not change its result."""

    n_threads: int | None = None
    dask: Any = None  # a distributed.Client
    memory: int | None = None  # bytes
    time_limit: float | None = None  # seconds for one fit; the best so far is returned
    progress: Progress | None = None
    checkpoint: Path | None = (
        None  # where long fits leave their state: a folder, or a file if it has a suffix
    )

    def runner(self) -> Runner:
        """The engine these settings ask for."""
        if self.dask is not None:
            from asterism.engines.dask import DaskEngine

            return DaskEngine(self.dask)
        return ThreadEngine(self.n_threads)


_current: ContextVar[Settings] = ContextVar("asterism_engine", default=Settings())  # noqa: B039  frozen


def current() -> Settings:
    """The settings in force here."""
    return _current.get()


@contextmanager
def engine(
    *,
    n_threads: int | None = None,
    dask: Any = None,
    memory: str | int | None = None,
    time_limit: float | None = None,
    progress: Callable[[Any], None] | None = None,
    checkpoint: str | Path | None = None,
) -> Iterator[Settings]:
    """Run everything inside with these settings; none of them changes a bit of the result.

    ``n_threads``   of this process; all cores if not given
    ``dask``        a ``distributed.Client``: its workers do the work instead
    ``memory``      what may be used, like "2GB"
    ``time_limit``  seconds for one fit; the best so far is returned
    ``progress``    called with an ``Event`` after every step
    ``checkpoint``  a folder (made if missing) or, with a suffix, a file: a fit that was stopped or killed
                    goes on from there when it is asked for again

    >>> from asterism import engine
    >>> with engine(n_threads=2, memory="1GB") as settings:
    ...     settings.memory
    1000000000
    """
    if n_threads is not None and n_threads < 1:
        raise ParameterError(f"n_threads is {n_threads}.", "Give 1 or more, or None for all cores.")
    if time_limit is not None and not time_limit > 0:
        raise ParameterError(f"time_limit is {time_limit}.", "Give seconds, more than 0.")
    settings = Settings(
        n_threads, dask, parse_bytes(memory), time_limit, progress, Path(checkpoint) if checkpoint else None
    )
    token = _current.set(settings)
    try:
        yield settings
    finally:
        _current.reset(token)


@dataclass
class Stages:
    """Progress of a job that is no loop: stages one after another."""

    job: str
    count: int
    step: int = 0
    clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = Clock(self.count)

    def done(self) -> None:
        """One more stage is finished."""
        self.step += 1
        report, elapsed = current().progress, self.clock.elapsed()
        if report:
            left = self.clock.left(self.step, elapsed)
            report(
                Event(self.job, self.step, self.count, float("nan"), self.count - self.step, elapsed, left)
            )
