"""Rows in and around some places: how many lie inside, how many just outside, and the moments of those inside.

A place is a mean and a whitener W, and the distance of a row from it is r = |W (x - mean)|. A group that stands by
itself has many rows with ``r <= inner`` and hardly any with ``inner < r <= outer``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of
from asterism.stats.moments import Moments

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Places:
    """Where to count."""

    means: Array  # (k, d)
    whiteners: Array  # (k, d, d)
    inner: float  # r up to which a row is inside
    outer: float  # r up to which a row is beside

    @property
    def k(self) -> int:
        """Places."""
        return len(self.means)

    def distances(self, rows: Array) -> Array:
        """(n, k) r of complete rows (n, d)."""
        out = np.empty((len(rows), self.k))
        for c in range(self.k):
            y = (rows - self.means[c]) @ self.whiteners[c].T
            out[:, c] = np.sqrt(np.einsum("nd,nd->n", y, y))
        return out


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What lies in and around each place; rows with a missing cell are left out.

    >>> places = Places(np.zeros((1, 1)), np.ones((1, 1, 1)), 1.0, 2.0)
    >>> found = Surroundings.of(block_of(np.array([[0.5], [-0.5], [1.5], [9.0]])), places)
    >>> found.weights.tolist(), found.beside.tolist()
    ([2.0], [1.0])
    """

    inside: tuple[Moments, ...]  # (k) of the rows inside
    beside: Vector  # (k,) weight of the rows beside

    @classmethod
    def zero(cls, k: int, d: int) -> Surroundings:
        """No rows."""
        return cls((Moments.zero(d),) * k, np.zeros(k))

    @classmethod
    def of(cls, block: Block, places: Places) -> Surroundings:
        """Of the rows of a block."""
        here = (block.weights > 0) & ~np.isnan(block.rows).any(axis=1)
        rows, w = block.rows[here].astype(np.float64), block.weights[here]
        r = places.distances(rows)
        inside = r <= places.inner
        parts = tuple(Moments.of(block_of(rows[own], w[own])) for own in inside.T)
        return cls(parts, np.asarray(w @ ((r <= places.outer) & ~inside)))

    @property
    def weights(self) -> Vector:
        """(k,) weight of the rows inside."""
        return np.array([part.weight for part in self.inside])

    def merge(self, other: Surroundings) -> Surroundings:
        """Place by place."""
        pairs = zip(self.inside, other.inside, strict=True)
        return Surroundings(tuple(a.merge(b) for a, b in pairs), self.beside + other.beside)
