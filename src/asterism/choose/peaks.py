"""The best mixtures of a cell so far, no two of them on the way to the same optimum.

A sample cannot tell mixtures apart that differ less than its own chance does, so several of every cell are handed on
to the whole table. That helps only if they are different ones. Heights do not tell: of two on the way to one optimum,
one may be behind. Places do: the distance of two mixtures is

    max over both sides of  sum_c pi_c min_b ||mean_c - mean_b||^2,   in units of the mean variances of c and b

how far the rows' own centres lie from the nearest centre of the other mixture.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from asterism.choose.together import Advanced, Candidate

Place = tuple[str, int]  # name of the family, number of components

NEAR = 0.1  # mixtures of a cell that lie nearer are taken for one


@dataclass
class Peaks:
    """From the highest down."""

    most: int
    found: list[tuple[float, Candidate]] = field(default_factory=list)

    @property
    def top(self) -> Candidate:
        """The best."""
        return self.found[0][1]

    def add(self, ends: Iterable[Advanced]) -> None:
        """Take what is among the highest, and elsewhere than the others."""
        both: list[tuple[float, Candidate | Advanced]] = [*((end.height, end) for end in ends), *self.found]
        kept: list[tuple[float, Candidate]] = []
        for height, one in sorted(both, key=lambda pair: -pair[0]):
            if len(kept) == self.most:
                break
            candidate = one.candidate if isinstance(one, Advanced) else one
            if elsewhere(candidate, [other for _, other in kept]):
                kept.append((height, candidate))
        self.found = kept


def elsewhere(one: Candidate, others: Sequence[Candidate]) -> bool:
    """Whether a mixture is near none of the others of its cell."""
    return all(distance(one, other) > NEAR for other in others)


def distance(one: Candidate, other: Candidate) -> float:
    """How far apart two normal mixtures lie; see above."""
    a, b = one.model.params, other.model.params
    squares = (a.means[:, None] - b.means[None]) ** 2
    variances = 0.5 * (a.covariances.diagonals()[:, None] + b.covariances.diagonals()[None])
    apart = (squares / variances).sum(axis=2)
    there = one.model.weights @ apart.min(axis=1)
    return float(max(there, other.model.weights @ apart.min(axis=0)))
