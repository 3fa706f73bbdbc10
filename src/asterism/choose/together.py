"""Mixtures of any families on their way together: one pass over the rows is a step of each.

Normal mixtures of one structure move as a stack (``methods.stack``), others one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.data.reblocked import Reblocked
from asterism.data.source import Source
from asterism.engines.context import current
from asterism.engines.loop import iterate
from asterism.engines.reduce import reduce
from asterism.families.gaussian_statistic import GaussianStatistic
from asterism.methods.em import EM, MixtureModel
from asterism.methods.posterior import Mixture, RowTotals, classify_rows
from asterism.methods.stack import Arrived, Stack, can_stack
from asterism.stats.base import Joined

SMALL = 1 << 8  # rows a block has at least: a tile of the kernels
MANY = 8  # blocks, which threads can share evenly


def in_small_blocks(source: Source) -> Source:
    """A table of few blocks in many; any other as it is, and so on a cluster, whose workers have their blocks.

    Blocks are made for one mixture that visits many rows. Here dozens visit few: a table of 20,000 rows is one block,
    and one thread would do all the work.
    """
    rows = min(source.block_rows, max(SMALL, 1 << (max(source.n_rows // MANY, 1).bit_length() - 1)))
    return source if current().dask is not None or rows == source.block_rows else Reblocked(source, rows)


@dataclass(frozen=True)
class Candidate:
    """A model on its way, with the method that moves it: families differ from candidate to candidate."""

    em: EM
    model: MixtureModel


@dataclass(frozen=True)
class Together:
    """EM of several families at once: each candidate is moved by its own."""

    name: str = "mixtures of every size"

    def summarize(self, model: Candidate, block: Block) -> Any:
        """The E-step of the candidate's own family."""
        return model.em.summarize(model.model, block)

    def update(self, model: Candidate, statistic: Any) -> Candidate:
        """Its M-step."""
        return replace(model, model=model.em.update(model.model, statistic))

    def objective(self, model: Candidate, statistic: Any) -> float:
        """Minus its log-posterior."""
        return model.em.objective(model.model, statistic)

    def settled(self, before: Candidate, after: Candidate) -> bool:
        """By its own rule."""
        return after.em.settled(before.model, after.model)

    def pack(self, model: Candidate) -> Mapping[str, NDArray[Any]]:
        """The model's arrays."""
        return model.em.pack(model.model)

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Candidate:
        """Sweeps are short: they begin anew instead."""
        raise NotImplementedError


Mover = Candidate | Stack


@dataclass(frozen=True)
class InStacks:
    """The same, of candidates and of stacks of them."""

    name: str = Together.name

    def summarize(self, model: Mover, block: Block) -> Any:
        """The E-step."""
        return model.summarize(block) if isinstance(model, Stack) else ONE.summarize(model, block)

    def update(self, model: Mover, statistic: Any) -> Mover:
        """The M-step."""
        return model.update(statistic) if isinstance(model, Stack) else ONE.update(model, statistic)

    def objective(self, model: Mover, statistic: Any) -> float:
        """Of a stack, what all of it have reached."""
        if isinstance(model, Stack):
            return -float(statistic.heights.sum())
        return ONE.objective(model, statistic)

    def settled(self, before: Mover, after: Mover) -> bool:
        """A stack when all of it have arrived."""
        if isinstance(before, Candidate) and isinstance(after, Candidate):
            return ONE.settled(before, after)
        return isinstance(after, Stack) and len(after) == 0

    def pack(self, model: Mover) -> Mapping[str, NDArray[Any]]:
        """The arrays of the model."""
        return {"weights": model.weights} if isinstance(model, Stack) else ONE.pack(model)

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Mover:
        """As above."""
        raise NotImplementedError


ONE = Together()


@dataclass(frozen=True)
class Begun:
    """A normal mixture that begins with the M-step of these moments."""

    em: EM
    moments: GaussianStatistic  # whole scatters (k, d, d)


@dataclass(frozen=True)
class Advanced:
    """Where a candidate has come to."""

    height: float  # log-posterior of the model before its last step
    settled: bool
    made: Callable[[], Candidate] = field(repr=False)  # of many that have come somewhere few are looked at
    gain: float = 0.0  # what the step to that height has gained; of a stack's mixture on its way

    @cached_property
    def candidate(self) -> Candidate:
        """The model."""
        return self.made()


def advance(
    source: Source,
    starts: Sequence[Candidate | Begun],
    max_iter: int,
    *,
    complete: bool,
    whole: bool = True,
    rough: bool = False,
) -> list[Advanced]:
    """All moved in the same passes, one ``Advanced`` each, in order.

    ``complete``  the table has no missing cells
    ``whole``     an interrupted way is none; else its best is taken
    ``rough``     they are only compared: stacks may work in float32
    """
    alone, stacked = _by_kind(starts, complete, rough)
    movers: list[Mover] = [one for i in alone if isinstance(one := starts[i], Candidate)]
    table = in_small_blocks(source) if stacked else source
    runs = iterate(InStacks(), table, [*movers, *stacked], max_iter=max_iter)
    if whole and any(run.status == "interrupted" for run in runs):
        raise KeyboardInterrupt
    found: dict[int, Advanced] = {}
    for i, run in zip(alone, runs, strict=False):
        assert isinstance(run.model, Candidate)
        found[i] = Advanced(-run.objective, run.status == "settled", partial(_bare, run.model))
    for run in runs[len(alone) :]:
        assert isinstance(run.model, Stack)
        for end in run.model.ended:
            found[end.number] = Advanced(end.height, end.settled, partial(_made, run.model.em, end), end.gain)
    return [found[i] for i in range(len(starts))]


def _bare(candidate: Candidate) -> Candidate:
    return replace(candidate, model=candidate.model.bare)


def _made(em: EM, end: Arrived) -> Candidate:
    return Candidate(em, end.model)


def told_of(source: Source, candidates: Sequence[Candidate], *, complete: bool) -> list[RowTotals]:
    """What mixtures say of a table, all in one pass."""
    alone, stacked = _by_kind(candidates, complete)
    mixtures = [
        Mixture(one.em.family, one.model.weights, one.model.params) for one in (candidates[i] for i in alone)
    ]
    joined = reduce(
        in_small_blocks(source) if stacked else source,
        lambda block: Joined(
            (
                *(stack.summarize(block, hard=True) for stack in stacked),
                *(classify_rows(one, block)[1] for one in mixtures),
            )
        ),
    )
    found: dict[int, RowTotals] = dict(zip(alone, joined.parts[len(stacked) :], strict=True))
    for stack, sums in zip(stacked, joined.parts, strict=False):
        found.update(zip(stack.numbers, stack.told(sums), strict=True))
    return [found[i] for i in range(len(candidates))]


def _by_kind(
    starts: Sequence[Candidate | Begun], complete: bool, rough: bool = False
) -> tuple[list[int], list[Stack]]:
    """Numbers of those that move alone, and stacks of the others."""
    alone: list[int] = []
    models: dict[int, list[int]] = {}
    moments: dict[int, list[int]] = {}
    for i, one in enumerate(starts):
        if isinstance(one, Begun):
            moments.setdefault(id(one.em), []).append(i)
        elif complete and can_stack(one.em):
            models.setdefault(id(one.em), []).append(i)
        else:
            alone.append(i)
    stacks = [
        Stack.of(
            starts[mine[0]].em,
            [one.model for i in mine if isinstance(one := starts[i], Candidate)],
            mine,
            rough=rough,
        )
        for mine in models.values()
    ]
    stacks += [
        Stack.begun(
            starts[mine[0]].em,
            [one.moments for i in mine if isinstance(one := starts[i], Begun)],
            mine,
            rough=rough,
        )
        for mine in moments.values()
    ]
    return alone, stacks
