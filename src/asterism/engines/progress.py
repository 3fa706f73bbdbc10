"""What a long job says while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """One step done."""

    job: str  # "k-means", ...
    step: int  # passes over the data so far
    max_steps: int
    objective: float  # of the best candidate
    active: int  # candidates still moving
    elapsed: float  # seconds
    left: float  # seconds until max_steps at this pace: the most it can take


Progress = Callable[[Event], None]
