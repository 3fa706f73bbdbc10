"""Leaps of EM (SQUAREM), taken in the space of statistics.

EM repeats ``s -> E-step(estimate(s))`` and, near the end, moves a little less each time, in much the same direction.
From three statistics s0, s1, s2 in a row, with ``r = s1 - s0`` and ``v = (s2 - s1) - r``,

    s' = s0 - 2 a r + a^2 v,      a = -||r|| / ||v||      (a = -1 is s2: no leap)

Statistics of all rows add up, so any blend of them is again one, as long as masses and variances stay positive; and
``estimate`` makes of it parameters that have the family's structure. Blends of parameters need not have it.

``EM`` takes a leap only if the log-posterior there is not below the last one seen, and the plain step otherwise.

References
----------
1. Varadhan, Roland (2008), Simple and globally convergent methods for accelerating the convergence of any EM
   algorithm. Scandinavian J. Statistics 35:335-353.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from asterism.data.block import Vector
from asterism.families.base import Linear

FIRST = 4.0  # the longest first leap, as -a
GROWTH = 4.0


@dataclass(frozen=True)
class Trail:
    """The last statistics as vectors, and how far the next leap may go."""

    path: tuple[Vector, ...] = ()  # up to two: masses, then the family's
    longest: float = FIRST
    tried: float = 0.0  # -a of the leap under way

    @property
    def shortened(self) -> Trail:
        """After a leap that led down: a new trail, and shorter leaps."""
        return Trail((), max(self.longest / GROWTH, 1.0))

    def extended(self, family: Linear, statistic: Any, *, leapt: bool) -> tuple[Trail, Any | None]:
        """The trail with the latest statistic; and where three are in a row, the statistic to leap to."""
        total = float(statistic.mass.sum())
        latest = np.concatenate([statistic.mass / total, family.flatten(statistic.inner)])
        longest = self.longest
        if leapt and self.tried >= longest:  # the last leap was as long as it could be, and good
            longest *= GROWTH
        path = (*self.path, latest)
        if len(path) < 3:
            return Trail(path, longest), None
        s0, s1, s2 = path
        r = s1 - s0
        v = (s2 - s1) - r
        bend = float(np.sqrt(v @ v))
        length = min(float(np.sqrt(r @ r)) / bend, longest) if bend > 0 else 1.0
        while length > 1.0 + 1e-2:
            leap = s0 + 2.0 * length * r + length**2 * v
            proposal = _statistic(family, leap, statistic, total)
            if proposal is not None:
                return Trail((leap,), longest, length), proposal
            length = 0.5 * (length + 1.0) if length > 1.2 else 1.0
        return Trail((s2,), longest), None


def _statistic(family: Linear, vector: Vector, like: Any, total: float) -> Any | None:
    k = len(like.mass)
    mass = vector[:k] * total
    if not (mass > 0).all():
        return None
    inner = family.unflatten(vector[k:], like.inner)
    return None if inner is None else replace(like, mass=mass, inner=inner)
