"""How much higher the rows of the fit stand in a model than rows that took no part in it.

A model suits the rows it was fitted to better than any others: densities of new rows are lower by about
``parameters / rows`` in the mean, and their tails look longer. What a row gains by its part in the fit is what it
loses where the model is fitted on without it,

    gain(x) = a (log p(x | all rows) - log p(x | other folds)),       a = 2 (F - 1) / (2 F - 1)

with F folds. A model of a share (F - 1) / F of the rows falls short of that of all rows, too; ``a`` takes that out:
with p parameters and n rows the gap is p / 2n + p / (2n (F - 1) / F) in the mean, and the gain sought is p / n.

    mixture   a few steps of EM without the fold, beside as many with it
    centres   means without the fold
    regions   the row's own kernel left out: an exact answer, with a = 1
    medoids   rows of the table: the gain of one row is not worth finding

References
----------
1. Stone (1977), An asymptotic equivalence of choice of model by cross-validation and Akaike's criterion.
   JRSS B 39:44-47.
2. Efron (1983), Estimating the error rate of a prediction rule. JASA 78:316-331.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, block_of
from asterism.data.source import Source
from asterism.engines.loop import iterate
from asterism.engines.reduce import map_rows, reduce
from asterism.engines.threads import crew, one_blas_thread
from asterism.estimators.base import WeightedSource
from asterism.explain.profiles import group_moments
from asterism.groups.judges import CentersJudge, Judge, MixtureJudge, RegionsJudge
from asterism.methods.em import EM, MixtureModel
from asterism.methods.lloyd import Centers
from asterism.methods.posterior import Mixture
from asterism.stats.moments import ColumnMoments

Array = NDArray[np.float64]
FOLDS = 5  # convention
GAIN_SHARE = 2.0 * (FOLDS - 1) / (2 * FOLDS - 1)  # derived: a
STEPS, FEW_STEPS = 4, 1  # convention: of EM without a fold
MANY_ROWS = 20_000  # convention: from which on one step has to do
SLIGHT = 0.1  # derived: gain over noise of a mean, p / n against sqrt(1 / n), that no test can see


def heights_of(judge: Judge, own: NDArray[np.int32], block: Block) -> Array:
    """(n, 2) log density in all groups, or within the own one where there is no such thing, and within the own.

    ``own``  (n,) groups of the rows of the block
    """
    with np.errstate(all="ignore"):  # rows of weight 0 may hold anything
        within = judge.log_density_within(block, own)
        height = judge.log_density(block)
    return np.column_stack([within if height is None else height, within])


def gains(judge: Judge, rows: Source, labels: NDArray[np.int32], inside: NDArray[np.bool_]) -> Array:
    """(n, 2) what rows of the fit gain by it, in the two heights of ``heights_of``.

    ``rows``    as the judge takes them
    ``labels``  (n,) likeliest groups
    ``inside``  (n,) rows that belong to a group
    """
    if isinstance(judge, RegionsJudge):
        whole = bool(len(judge.regions.rows) >= np.count_nonzero(inside))
        found: Array = map_rows(rows, partial(_own_kernels, judge, labels, whole))
        return np.where(np.isfinite(found), found, 0.0)
    pair = _refits(judge, rows, labels, inside)
    if pair is None:
        return np.zeros((rows.n_rows, 2))
    found = map_rows(rows, partial(_losses, *pair, labels))
    return GAIN_SHARE * np.where(np.isfinite(found), found, 0.0)


def _refits(
    judge: Judge, rows: Source, labels: NDArray[np.int32], inside: NDArray[np.bool_]
) -> tuple[Judge, list[Judge]] | None:
    """The judge fitted on to all rows, and without each fold; None where that is not worth it."""
    if isinstance(judge, CentersJudge):
        return _centers_without(judge, rows, np.where(inside, labels, -1))
    n = np.count_nonzero(inside)
    if not isinstance(judge, MixtureJudge) or judge.mixture.n_parameters <= SLIGHT * np.sqrt(n):
        return None
    folds = np.arange(rows.n_rows) % FOLDS
    fitted = partial(_fitted_on, judge, rows, STEPS if n <= MANY_ROWS else FEW_STEPS)
    return fitted(inside), [fitted(inside & (folds != fold)) for fold in range(FOLDS)]


def _fitted_on(judge: MixtureJudge, rows: Source, steps: int, some: NDArray[np.bool_]) -> MixtureJudge:
    m = judge.mixture
    with one_blas_thread(), crew():
        [run] = iterate(
            EM(m.family), WeightedSource(rows, some), [MixtureModel(m.weights, m.params)], max_iter=steps
        )
    return replace(judge, mixture=Mixture(m.family, run.model.weights, run.model.params))


def _centers_without(
    judge: CentersJudge, rows: Source, labels: NDArray[np.int32]
) -> tuple[Judge, list[Judge]]:
    k = judge.k
    parts = np.where(labels >= 0, labels * FOLDS + np.arange(rows.n_rows) % FOLDS, -1)
    moments = reduce(rows, partial(group_moments, parts, k * FOLDS)).parts

    def at(folds: list[int]) -> CentersJudge:
        offsets = judge.centers.offsets.copy()
        for g in range(k):
            some = ColumnMoments.zero(rows.n_columns)
            for fold in folds:
                some = some.merge(moments[g * FOLDS + fold])
            seen = some.weight > 0
            offsets[g, seen] = ((some.mean - judge.centers.frame.reference) + some.rest)[seen]
        return CentersJudge(Centers(judge.centers.frame, offsets), judge.spread)

    every = list(range(FOLDS))
    return at(every), [at([f for f in every if f != fold]) for fold in every]


def _losses(every: Judge, without: list[Judge], labels: NDArray[np.int32], block: Block) -> Array:
    """(n, 2) heights in the judge of all rows less those in the judge without the row's fold."""
    own = _of_block(labels, block)
    out = heights_of(every, own, block)
    folds = (block.start + np.arange(len(block))) % FOLDS
    for fold, judge in enumerate(without):
        mine = np.flatnonzero(folds == fold)
        part = block_of(block.rows[mine], block.weights[mine])
        out[mine] -= heights_of(judge, own[mine], part)
    return out


def _own_kernels(judge: RegionsJudge, labels: NDArray[np.int32], whole: bool, block: Block) -> Array:
    return judge.own_kernels(block, _of_block(labels, block), whole)


def _of_block(labels: NDArray[np.int32], block: Block) -> NDArray[np.int32]:
    return labels[block.start : block.start + len(block)]
