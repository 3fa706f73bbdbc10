"""The best mixtures of a cell so far, no two of them on the way to the same optimum.

A sample cannot tell mixtures apart that differ less than its own chance does, so several of every cell are handed on
to the whole table. That helps only if they are different ones. Heights do not tell: of two on the way to one optimum,
one may be behind. Places do: the distance of two mixtures is

    max over both sides of  sum_c pi_c min_b ||mean_c - mean_b||^2,   in units of the variances within components

how far the rows' own centres lie from the nearest centre of the other mixture.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from asterism.choose.together import Advanced, Candidate
from asterism.families.base import Array

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
        both.sort(key=lambda pair: -pair[0])
        mixtures = [one.candidate if isinstance(one, Advanced) else one for _, one in both]
        self.found = [(both[i][0], mixtures[i]) for i in those_apart(mixtures)[: self.most]]

    def not_far(self, behind: float, at_least: int) -> list[Candidate]:
        """The first ones, and others that are not too far behind the best."""
        top = self.found[0][0]
        return [one for i, (height, one) in enumerate(self.found) if i < at_least or top - height <= behind]


def those_apart(mixtures: Sequence[Candidate]) -> list[int]:
    """Which mixtures of a cell are near none of those before them that were taken."""
    near, kept = distances(mixtures) <= NEAR, [0]
    for i in range(1, len(mixtures)):
        if not near[i, kept].any():
            kept.append(i)
    return kept


def distances(mixtures: Sequence[Candidate]) -> Array:
    """(q, q) how far apart normal mixtures of k components lie; see above. The first one's variances are the unit."""
    q, first = len(mixtures), mixtures[0].model
    unit = np.sqrt(first.weights @ first.params.covariances.diagonals())
    means = np.concatenate([one.model.params.means for one in mixtures]) / unit  # (q k, d)
    norms = 0.5 * (means**2).sum(axis=1)
    squares = 2.0 * (norms[:, None] + norms - means @ means.T)
    nearest = squares.reshape(q, -1, q, len(first.weights)).min(axis=3)  # (q, k, q)
    weights = np.stack([one.model.weights for one in mixtures])
    there = np.einsum("ac,acb->ab", weights, nearest)
    return np.asarray(np.maximum(np.maximum(there, there.T), 0.0))
