"""A random sample of rows that merges: the m rows of smallest rank.

Row i has the rank ``e_i / rate_i`` with e_i exponential, drawn from (seed, global row number) alone; so a sample
does not depend on blocks, threads or workers. Keeping the m + 1 smallest ranks of two parts keeps those of the whole.
The last of them is the threshold ``t``: given it, a row is in with probability ``p = 1 - exp(-rate t)``,
and ``weight / p`` makes totals over the sample unbiased estimates of totals over the table.

References
----------
1. Efraimidis, Spirakis (2006), Weighted random sampling with a reservoir. Inf. Proc. Letters 97:181-185.
2. Cohen, Kaplan (2007), Summarizing data using bottom-k sketches. PODC 2007:225-234.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.data.sparse import stacked_rows


@dataclass(frozen=True, slots=True)
class RowSample:
    """The rows of the m + 1 smallest ranks, smallest first (fewer where there are not so many)."""

    size: int  # m
    rank: Vector  # (<= m + 1,)
    rate: Vector  # (<= m + 1,)
    row: NDArray[np.int64]  # (<= m + 1,) global number
    weight: Vector  # (<= m + 1,)
    values: NDArray[Any]  # (<= m + 1, d); CSR of a sparse table

    @classmethod
    def zero(cls, size: int, d: int) -> RowSample:
        """No rows."""
        none = np.zeros(0)
        return cls(size, none, none, none.astype(np.int64), none, np.zeros((0, d)))

    @classmethod
    def of(cls, block: Block, rate: Vector, size: int, seed: int) -> RowSample:
        """The sample of a block; rows of rate 0 are never in."""
        number = block.start + np.arange(len(block))
        with np.errstate(divide="ignore"):
            rank = exponentials(number, seed) / rate
        order = _smallest(rank, number, size)
        order = order[rate[order] > 0]
        return cls(size, rank[order], rate[order], number[order], block.weights[order], block.rows[order])

    def merge(self, other: RowSample) -> RowSample:
        """The smallest ranks of both."""
        parts = [s for s in (self, other) if len(s.rank)]
        if len(parts) < 2:
            return parts[0] if parts else self
        rank, rate, row, weight = (
            np.concatenate([getattr(s, name) for s in parts]) for name in ("rank", "rate", "row", "weight")
        )
        values = stacked_rows([s.values for s in parts])
        order = _smallest(rank, row, self.size)
        return RowSample(self.size, rank[order], rate[order], row[order], weight[order], values[order])

    @property
    def whole(self) -> bool:
        """Whether every row that could be in is in."""
        return len(self.rank) <= self.size

    def estimates(self) -> tuple[NDArray[Any], Vector]:
        """The sampled rows, and weights that make their totals estimate the table's."""
        if self.whole:
            return self.values, self.weight
        inside = -np.expm1(-self.rate[:-1] * self.rank[-1])
        return self.values[:-1], self.weight[:-1] / inside


def _smallest(rank: Vector, row: NDArray[np.int64], size: int) -> NDArray[np.intp]:
    """Positions of the m + 1 smallest ranks in order, the earlier row first among equals."""
    near = np.arange(len(rank)) if len(rank) <= size + 1 else np.argpartition(rank, size)[: size + 1]
    return near[np.lexsort((row[near], rank[near]))]


def exponentials(number: NDArray[np.int64], seed: int) -> Vector:
    """Exponential variates from row numbers and a seed: splitmix64's mixer, then -log of a uniform."""
    start = np.uint64((seed * 0xD1342543DE82EF95 + 1) % 2**64)
    with np.errstate(over="ignore"):
        z = start + (number.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    uniform = ((z >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return np.asarray(-np.log(uniform))
