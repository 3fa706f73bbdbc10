"""EM where something is known of some rows: their labels, which of them are together or apart, how large groups
are.

    E   rows of which nothing is known: as in ``methods.em``
        of the others                    r[i, c] = q[u, g] p(c | x_i, g)      u the chunk of row i, g the group of c
    M   as ever

q (``methods.bound``) sums over all ways to give groups to chunks that what is known allows. So EM climbs the joint
likelihood of the rows and of what is known of them,

    log p(X, known) = sum over free rows of log p(x) + log sum over allowed z of prod_i pi_z(i) p(x_i | z_i)

so labels and pairs say as much of the proportions as rows do: which rows are asked about is taken to have nothing
to do with their groups. A group may have several components; rows that are together are of one group, not of one
component.

The rows of which something is known travel with the method; whoever has the first block adds what they say.

References
----------
1. Shental, Bar-Hillel, Hertz, Weinshall (2004), Computing Gaussian mixture models with EM using equivalence
   constraints. NIPS 16.
2. Nigam, McCallum, Thrun, Mitchell (2000), Text classification from labeled and unlabeled documents using EM.
   Machine Learning 39:103-134.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.absent import WithoutRows
from asterism.data.block import Block, block_of
from asterism.data.even import in_even_blocks
from asterism.data.source import Source
from asterism.engines.loop import Run, iterate
from asterism.engines.threads import crew, one_blas_thread
from asterism.errors import ParameterError
from asterism.families.assignment import log_sum
from asterism.methods.bound import Bound
from asterism.methods.em import EM, Expected, MixtureModel, pieces

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BoundEM(EM):
    """The method; ``group_of`` (components,) says which group each component is part of."""

    bound: Bound = field(kw_only=True, repr=False)
    group_of: NDArray[np.int64] = field(kw_only=True, repr=False)
    job: str = ""  # by which a checkpoint knows what is known

    def summarize(self, model: MixtureModel, block: Block) -> Expected:
        """The E-step of a block; with the first that of the bound rows."""
        found = super().summarize(model, block)
        return found if block.start else found.merge(self.expected(model))

    def expected(self, model: MixtureModel) -> Expected:
        """The E-step of the bound rows."""
        shares, height = self.shares(model)
        block = self.bound.block
        here = block.weights > 0
        block = block_of(block.rows[here], block.weights[here])
        mass = shares[here] * block.weights[:, None]
        inner = [self.family.statistic(model.params, piece, mass[at]) for at, piece in pieces(block)]
        return Expected(mass.sum(axis=0), height, functools.reduce(lambda a, b: a.merge(b), inner))

    def shares(self, model: MixtureModel) -> tuple[Array, float]:
        """(m, components) responsibilities of the bound rows, and what they add to the objective."""
        scores = self._scores(model)
        grouped = by_group(scores, self.group_of, self.bound.k)
        if self.assignment == "hard":
            labels, height = self.bound.best(best_of_group(scores, self.group_of, self.bound.k))
            inside = np.where(self.group_of == labels[self.bound.chunks][:, None], scores, -np.inf)
            return np.eye(len(self.group_of))[inside.argmax(axis=1)], height
        q, height = self.bound.shares(grouped)
        with np.errstate(invalid="ignore"):
            within = np.exp(scores - grouped[:, self.group_of])
        alone = (
            1.0 / np.bincount(self.group_of)[self.group_of]
        )  # a row that no component of a group can have made
        within = np.where(np.isfinite(grouped[:, self.group_of]), within, alone)
        return q[self.bound.chunks][:, self.group_of] * within, height

    def _scores(self, model: MixtureModel) -> Array:
        with np.errstate(all="ignore"):  # rows of weight 0 may hold anything
            found = [
                self.family.log_density(model.params, piece) + model.log_weights
                for _, piece in pieces(self.bound.block)
            ]
        scores = np.concatenate(found)
        return np.where(np.isnan(scores), -np.inf, scores)


def by_group(scores: Array, group_of: NDArray[np.int64], k: int) -> Array:
    """(m, k) log sum over the components of each group."""
    return np.stack([log_sum(scores[:, group_of == g]) for g in range(k)], axis=1)


def best_of_group(scores: Array, group_of: NDArray[np.int64], k: int) -> Array:
    """(m, k) the largest over the components of each group."""
    return np.stack([scores[:, group_of == g].max(axis=1) for g in range(k)], axis=1)


def fit_bound_mixture(
    source: Source, em: BoundEM, starts: Sequence[MixtureModel], max_iter: int
) -> Run[MixtureModel]:
    """The best run from these starts; rows of ``source`` are those that ``em.bound`` was made of."""
    if em.assignment == "stochastic":
        raise ParameterError(
            "assignment is 'stochastic', and something is known of the rows.", "Use 'soft' or 'hard'."
        )
    with one_blas_thread(), crew():
        table = in_even_blocks(WithoutRows(source, em.bound.rows))
        return min(iterate(em, table, starts, max_iter=max_iter), key=lambda run: run.objective)


def job_of(bound: Bound) -> str:
    """A word that is another one where another thing is known."""
    import hashlib

    told: list[Any] = [bound.rows, bound.chunks, bound.labels, bound.apart, bound.counted]
    digest = hashlib.sha256(repr((bound.k, bound.least, bound.most)).encode())
    for array in told:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]
