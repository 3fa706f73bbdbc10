"""Groups that keep the numbers of an earlier model, where some have gone: their numbers stay vacant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.data.source import Source
from asterism.groups.judges import Array, Judge, Labels


@dataclass(frozen=True, eq=False)
class NumberedJudge:
    """A judge whose groups have given numbers; no row belongs to a number that is vacant."""

    judge: Judge
    numbers: NDArray[np.int64]  # (groups,) of the judge's groups, no two alike
    places: int  # numbers there are, vacant ones included

    @property
    def k(self) -> int:
        """Numbers, vacant ones included."""
        return self.places

    def ready(self, source: Source) -> Source:
        """As the judge wants them."""
        return self.judge.ready(source)

    def look(self, block: Block) -> tuple[Labels, Array]:
        """(n,) the number of the likeliest group, and (n, k) probabilities, 0 of vacant numbers."""
        labels, shares = self.judge.look(block)
        out = np.zeros((len(labels), self.places))
        out[:, self.numbers] = shares
        return self.numbers[labels].astype(np.int32), out

    def scores(self, block: Block) -> Array:
        """(n, k) as the judge has them; those of vacant numbers are lower than any."""
        out = np.full((len(block), self.places), -np.inf)
        out[:, self.numbers] = self.judge.scores(block)
        return out

    def log_density_within(self, block: Block, labels: Labels) -> Array:
        """(n,) as the judge has it; rows of a vacant number are taken for the first group's."""
        own = np.zeros(self.places, np.int32)
        own[self.numbers] = np.arange(len(self.numbers))
        return self.judge.log_density_within(block, own[labels])

    def log_density(self, block: Block) -> Array | None:
        """(n,) in all groups together."""
        return self.judge.log_density(block)

    def reordered(self, order: Sequence[int]) -> NumberedJudge:
        """The same with number ``order[0]`` first."""
        return replace(self, numbers=np.argsort(np.asarray(order))[self.numbers])


def plain_judge(judge: Judge) -> Judge:
    """The judge itself, its groups in the order of their numbers, whatever these are."""
    return (
        judge.judge.reordered(np.argsort(judge.numbers).tolist())
        if isinstance(judge, NumberedJudge)
        else judge
    )


def numbers_of(judge: Judge) -> tuple[int, ...]:
    """The numbers of the groups that are there, rising."""
    return (
        tuple(sorted(judge.numbers.tolist())) if isinstance(judge, NumberedJudge) else tuple(range(judge.k))
    )
