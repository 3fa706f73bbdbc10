"""What a long job says while it runs, and how long it may."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Event:
    """One step done."""

    job: str  # "k-means", ...
    step: int  # passes over the data so far, those before a resumed checkpoint included
    max_steps: int
    objective: float  # of the best candidate
    active: int  # candidates still moving
    elapsed: float  # seconds
    left: float  # seconds until max_steps or the time limit at this pace: the most it can take


Progress = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Clock:
    """How long a job has taken and may still take."""

    max_steps: int
    limit: float | None = None  # seconds
    already: int = 0  # steps done before this clock was started
    began: float = field(default_factory=time.monotonic)

    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    def is_up(self) -> bool:
        """Whether the time limit is reached."""
        return self.limit is not None and self.elapsed() >= self.limit

    def left(self, step: int, elapsed: float) -> float:
        """Seconds until ``max_steps`` at the pace so far, or until the limit if that is sooner."""
        pace = elapsed / max(step - self.already, 1)
        left = pace * (self.max_steps - step)
        return left if self.limit is None else max(min(left, self.limit - elapsed), 0.0)
