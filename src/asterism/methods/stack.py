"""EM of many mixtures of one family, step by step together: a search's way to move.

Most of a step of a small mixture is not arithmetic but the calls around it. Where they are normal, the components of
all mixtures stand one below the other, so that a step of fifty mixtures makes the calls of one. It is the same step:
where groups have covariances of their own, ``estimate`` does not ask whose groups they are; where they share one,
scatters are added up mixture by mixture first; other structures are estimated mixture by mixture.

For complete rows, without prior and frozen parts (``can_stack``); all others move by ``methods.em`` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, present
from asterism.data.source import Source
from asterism.engines.loop import iterate
from asterism.engines.reduce import reduce
from asterism.families.base import Array
from asterism.families.covariance import Covariances, Repair
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_pass import Components, GaussianParams, GaussianPass, Index
from asterism.families.gaussian_statistic import GaussianStatistic, GaussianSums
from asterism.methods.em import EM, Expected, MixtureModel, has_fallen, has_settled
from asterism.methods.repair import USELESS, repaired

OWN = ("VII", "VVI", "VVV")  # covariances that depend on nothing but a component's own rows
COMMON = {
    "EII": "VII",
    "EEI": "VVI",
    "EEE": "VVV",
}  # one for a mixture: as if all its rows were one component's

NARROW = 32  # columns; beyond, matrices of all components fill the memory and calls cost nothing beside them


def can_stack(em: EM) -> bool:
    """Whether mixtures of this family may move as a stack, on complete rows."""
    f = em.family
    plain = em.assignment == "soft" and em.stop == "likelihood" and not em.accelerated and not em.frozen
    narrow = isinstance(f, GaussianFamily) and len(f.reference) <= NARROW
    return plain and narrow and isinstance(f, GaussianFamily) and f.prior is None and not f.frozen


def advance(
    em: EM, source: Source, models: Sequence[MixtureModel], steps: int, *, complete: bool
) -> list[tuple[float, MixtureModel]]:
    """Each model after some steps, or fewer where it settles, and its log-posterior before the last of them.

    ``complete``  the table has no missing cells
    """
    if not complete or not can_stack(em):
        runs = iterate(em, source, models, max_iter=steps)
        if any(run.status == "interrupted" for run in runs):
            raise KeyboardInterrupt
        return [(-run.objective, run.model.bare) for run in runs]
    stack = Stack.of(em, models, range(len(models)))
    for _ in range(steps):
        stack = stack.update(reduce(source, stack.summarize))
        if not len(stack):
            break
    return [(end.height, end.model) for end in sorted(stack.ended, key=lambda end: end.number)]


@dataclass(frozen=True, slots=True)
class StackSums:
    """What the rows of a block say to all mixtures."""

    totals: Array  # (m, 2) sum w log p(x), and sum w max_c log pi_c p(x | c)
    inner: GaussianSums  # of all K components

    @property
    def heights(self) -> Vector:
        """(m,) sum w log p(x)."""
        return self.totals[:, 0]

    @property
    def mass(self) -> Vector:
        """(K,) N = sum w r."""
        return self.inner.mass

    def merge(self, other: StackSums) -> StackSums:
        """Sums add."""
        return StackSums(self.totals + other.totals, self.inner.merge(other.inner))  # type: ignore[arg-type]  # of one pass


@dataclass(frozen=True)
class Arrived:
    """Where a mixture has come to."""

    number: int
    height: float  # the log-posterior of the model before its last step
    stack: Stack = field(repr=False)
    place: int  # in the stack

    @property
    def model(self) -> MixtureModel:
        """The mixture by itself."""
        return self.stack.model(self.place)


@dataclass(frozen=True)
class Stack:
    """m mixtures with K components together."""

    em: EM
    numbers: tuple[int, ...]  # (m,) by which their owner knows them
    starts: Index  # (m + 1,) components of mixture i: starts[i] up to starts[i + 1]
    weights: Vector  # (K,) proportions
    means: Array  # (K, d)
    covariances: (
        Covariances | tuple[Covariances, ...]
    )  # of K groups; of m where common; a tuple of m for others
    seen: Vector  # (m,) log-likelihoods before the last step
    repairs: Index  # (m,)
    before: Stack | None = field(default=None, repr=False)
    arrived: tuple[Arrived, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, em: EM, models: Sequence[MixtureModel], numbers: Sequence[int]) -> Stack:
        """Of single mixtures."""
        parts = [model.params.covariances for model in models]
        return cls(
            em,
            tuple(numbers),
            np.cumsum([0, *(len(model.weights) for model in models)]).astype(np.int64),
            np.concatenate([model.weights for model in models]),
            np.concatenate([model.params.means for model in models]),
            _joined(parts),
            np.full(len(models), -np.inf),
            np.array([model.repairs for model in models], np.int64),
        )

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def family(self) -> GaussianFamily:
        """The family of all."""
        assert isinstance(self.em.family, GaussianFamily)
        return self.em.family

    def model(self, i: int) -> MixtureModel:
        """Mixture i by itself."""
        a, b = int(self.starts[i]), int(self.starts[i + 1])
        params = GaussianParams(self.means[a:b], self._covariances_of(i))
        return MixtureModel(self.weights[a:b], params, repairs=int(self.repairs[i]))

    def _covariances_of(self, i: int) -> Covariances:
        c, a, b = self.covariances, int(self.starts[i]), int(self.starts[i + 1])
        if isinstance(c, tuple):
            return c[i]
        own = self.family.structure in OWN
        at = slice(a, b) if own else slice(i, i + 1)
        mended = tuple(
            replace(r, component=r.component - a if own else None)
            for r in self._repairs_of.get(i, ())
            if r.component is not None
        )
        variances, matrices = (None if x is None else x[at] for x in (c.variances, c.matrices))
        return Covariances(self.family.structure, b - a, variances, None, matrices, mended)

    @cached_property
    def _repairs_of(self) -> dict[int, list[Repair]]:
        """What had to be held up, by the mixture it belongs to."""
        found: dict[int, list[Repair]] = {}
        own = self.family.structure in OWN
        for r in self.covariances.repairs if isinstance(self.covariances, Covariances) else ():
            if r.component is not None:
                i = int(np.searchsorted(self.starts, r.component, side="right")) - 1 if own else r.component
                found.setdefault(i, []).append(r)
        return found

    @property
    def ended(self) -> tuple[Arrived, ...]:
        """Those that have arrived and those on their way."""
        moving = enumerate(zip(self.numbers, self.seen.tolist(), strict=True))
        return (*self.arrived, *(Arrived(n, height, self, i) for i, (n, height) in moving))

    # --- E ---

    @cached_property
    def _ready(self) -> GaussianPass:
        f = self.family
        with np.errstate(divide="ignore"):  # a component without any share
            components = Components(self.starts, np.log(self.weights), self.means, self._factors())
        return GaussianPass(components, f.table(), f.form)

    def _factors(self) -> Array:
        c = self.covariances
        if isinstance(c, tuple):
            return np.concatenate([x.root_precisions() if x.diagonal else x.inverse_factors() for x in c])
        if not c.diagonal:
            return c.inverse_factors()
        roots = c.root_precisions()
        roots = roots[:, :1] if self.family.form == "round" else roots
        common = self.family.structure in COMMON
        return np.repeat(roots, np.diff(self.starts), axis=0) if common else roots

    def summarize(self, block: Block) -> StackSums:
        """The E-step of a block."""
        block = present(block)
        return StackSums(*self._ready.summarize(block.rows, block.weights))

    # --- M ---

    def update(self, sums: StackSums) -> Stack:
        """The M-step of all; those that have settled, or that a step has led down, arrive."""
        reached = sums.heights
        total = float(sums.mass[: self.starts[1]].sum())
        fell = has_fallen(reached, self.seen)
        ends = fell | has_settled((reached - self.seen) / total, self.em.tol)
        centred = sums.inner.centred
        after = replace(self._maximised(centred), seen=reached, before=replace(self, before=None, arrived=()))
        arrived, here = list(self.arrived), replace(after, before=None, arrived=())
        for i in np.flatnonzero(ends):
            where = self.before if fell[i] and self.before is not None else here
            height = self.seen[i] if fell[i] else reached[i]
            arrived.append(Arrived(self.numbers[i], float(height), where, int(i)))
        after = replace(after._mended(centred.mass), arrived=tuple(arrived))
        return after.only(np.flatnonzero(~ends)) if ends.any() else after

    def _maximised(self, s: GaussianStatistic) -> Stack:
        total = np.add.reduceat(s.mass, self.starts[:-1])
        weights = s.mass / np.repeat(total, np.diff(self.starts))
        means = np.where((s.mass <= 0)[:, None], self.means, s.means)
        found = _estimated(self.family, self.starts, replace(s, means=means), self)
        return replace(self, weights=weights, means=means, covariances=found)

    def _mended(self, mass: Vector) -> Stack:
        """With components that are of no use put elsewhere (``methods.repair``)."""
        least = np.repeat(
            USELESS * np.add.reduceat(mass, self.starts[:-1]) / np.diff(self.starts), np.diff(self.starts)
        )
        doubtful = set(np.searchsorted(self.starts, np.flatnonzero(mass < least), side="right") - 1)
        c = self.covariances
        if isinstance(c, tuple):
            doubtful |= {i for i, x in enumerate(c) if x.repairs}
        elif self.family.structure in OWN:
            thin = [r.component for r in c.repairs if r.component is not None]
            doubtful |= set(np.searchsorted(self.starts, thin, side="right") - 1)
        stack = self
        for i in sorted(int(i) for i in doubtful):
            a, b = self.starts[i], self.starts[i + 1]
            model = self.model(i)
            better = repaired(self.family, model, Expected(mass[a:b], 0.0, None))
            if better is not model:
                stack = stack._with(i, better)
        return stack

    def _with(self, i: int, model: MixtureModel) -> Stack:
        """Mixture i replaced; its way begins anew."""
        models = [model if j == i else self.model(j) for j in range(len(self))]
        seen = self.seen.copy()
        seen[i] = -np.inf
        return replace(
            Stack.of(self.em, models, self.numbers),
            seen=seen,
            before=self.before,
            arrived=self.arrived,
        )

    def only(self, kept: NDArray[np.intp]) -> Stack:
        """Some of the mixtures."""
        ks = np.diff(self.starts)
        at = np.repeat(np.isin(np.arange(len(self)), kept), ks)
        c = self.covariances
        if isinstance(c, tuple):
            fewer: Any = tuple(c[i] for i in kept)
        else:
            which = np.flatnonzero(at) if self.family.structure in OWN else kept
            variances, matrices = (None if x is None else x[which] for x in (c.variances, c.matrices))
            fewer = Covariances(c.structure, len(which), variances, None, matrices)
        return replace(
            self,
            numbers=tuple(self.numbers[i] for i in kept),
            starts=np.cumsum([0, *ks[kept]]).astype(np.int64),
            weights=self.weights[at],
            means=self.means[at],
            covariances=fewer,
            seen=self.seen[kept],
            repairs=self.repairs[kept],
            before=None if self.before is None else self.before.only(kept),
        )


def _estimated(
    family: GaussianFamily, starts: Index, s: GaussianStatistic, before: Stack | None
) -> Covariances | tuple[Covariances, ...]:
    """What the structure makes of masses and scatters, mixture by mixture where their components depend on others."""
    structure = family.structure
    if structure in OWN or structure in COMMON:
        mass, means, scatters = s.mass, s.means, s.scatters
        if structure in COMMON:
            mass = np.add.reduceat(mass, starts[:-1])
            means = np.zeros((len(mass), means.shape[1]))
            scatters = scatters if family.form == "tied" else np.add.reduceat(scatters, starts[:-1])
            family = replace(family, structure=COMMON[structure])
        previous = None
        if before is not None and isinstance(before.covariances, Covariances):
            previous = GaussianParams(means, before.covariances)
        return family.estimate(GaussianStatistic(mass, means, scatters), previous).covariances
    parts = []
    for i in range(len(starts) - 1):
        a, b = starts[i], starts[i + 1]
        statistic = GaussianStatistic(s.mass[a:b], s.means[a:b], s.scatters[a:b])
        last = None if before is None else before.model(i).params
        parts.append(family.estimate(statistic, last).covariances)
    return tuple(parts)


def _joined(parts: Sequence[Covariances]) -> Covariances | tuple[Covariances, ...]:
    """Covariances of several mixtures as one."""
    structure = parts[0].structure
    if structure not in OWN and structure not in COMMON:
        return tuple(parts)
    variances = [c.variances for c in parts if c.variances is not None]
    matrices = [c.matrices for c in parts if c.matrices is not None]
    rows = np.concatenate(variances or matrices)
    kept = (rows, None) if variances else (None, rows)
    return Covariances(COMMON.get(structure, structure), len(rows), kept[0], None, kept[1])
