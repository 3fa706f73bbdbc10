"""The laws of a statistic, in words. ``tests/laws`` holds every statistic to them.

A statistic is a frozen value that says what a method needs to know of some rows.

* ``merge``  two statistics of disjoint rows make the statistic of all of them
* zero       the statistic of no rows: merging with it changes nothing, not even a bit
* associative and commutative, to rounding
* of(A + B) = merge(of(A), of(B)) for any split, empty parts included
* a row of weight w counts as w copies of it; a row of weight 0 is absent

Moments are always centred and in float64. Sums of squares minus squares of sums are not used anywhere:
they lose every digit when the mean is large beside the spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar


class Statistic(Protocol):
    """A value that merges."""

    def merge(self, other: Any) -> Self:
        """The statistic of both sets of rows; does not change either."""
        ...


S = TypeVar("S", bound=Statistic)


@dataclass(frozen=True, slots=True)
class Joined:
    """Several statistics of the same rows, so that several candidates advance in one pass."""

    parts: tuple[Any, ...]

    def merge(self, other: Joined) -> Joined:
        """Part by part."""
        return Joined(tuple(a.merge(b) for a, b in zip(self.parts, other.parts, strict=True)))
