"""Mixtures of every number of components and every structure, advanced in the same passes.

The usual loop over k starts every mixture anew and takes what it gets: where a start at the true k misses the best
optimum, a criterion chooses another k. Here starts are shared and handed on:

1. Partitions of a sample for every k (k-means, Ward's tree cut at k) start every structure.
2. Cells start again from their neighbours: from k - 1 by splitting, from k + 1 by merging, and what climbs higher is
   kept. Where all families are plain normal ones and all cells matter, in rounds (``choose.climb``); else once
   (``choose.onebyone``).
3. Only then the whole table is read, all cells in the same passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from asterism.choose.climb import climbed
from asterism.choose.guesses import labels_of_sample, merged_shares, partitions, split_shares
from asterism.choose.matched import matched
from asterism.choose.onebyone import found_on_sample
from asterism.choose.race import highest
from asterism.choose.together import Advanced, Candidate, Together, advance, told_of
from asterism.data.source import Source
from asterism.engines.context import current, engine
from asterism.engines.threads import one_blas_thread
from asterism.families.base import Family
from asterism.methods.em import EM
from asterism.methods.frame import survey
from asterism.methods.mixture import facts_of
from asterism.methods.posterior import Mixture, RowTotals
from asterism.methods.stack import can_stack
from asterism.methods.starts import sample_of

TOL, FINE, COARSE = 1e-4, 2e-4, 1e-3  # a row: on the sample, and on the whole table

__all__ = ["Candidate", "Cell", "Cells", "Together", "merged_shares", "partitions", "split_shares", "sweep"]


@dataclass(frozen=True)
class Cell:
    """One mixture of the sweep, finished."""

    structure: str  # name of the family or of the covariance structure
    k: int
    mixture: Mixture
    log_likelihood: float
    surprise: float  # -sum w log max r, what ICL adds
    mass: NDArray[np.float64]  # (k,) of the labels
    total: float  # sum of weights
    settled: bool

    @property
    def n_parameters(self) -> int:
        """Proportions included."""
        return self.mixture.n_parameters

    @property
    def bic(self) -> float:
        """-2 log-likelihood + parameters * log n; smaller is better."""
        return -2.0 * self.log_likelihood + self.n_parameters * float(np.log(self.total))


Cells = dict[tuple[str, int], Cell]


def sweep(
    source: Source,
    families: Mapping[str, Family],
    ks: Sequence[int],
    *,
    seed: int = 0,
    max_iter: int = 100,
    within: Callable[[str, int], bool] | None = None,
    keep: int | None = None,
    thorough: bool = True,
) -> Cells:
    """The best mixture found of every family and every k.

    ``families``  name -> family, not prepared
    ``within``    cells to leave out: called with name and k, False where a cell is not wanted
    ``keep``      go on with so many families after the first steps, those of the best BIC; None: with all
    ``thorough``  False: one start a cell and nothing handed on, for those who fit the same table many times
    """
    ks = sorted(set(ks))
    with one_blas_thread():
        frame, moments = survey(source)
        methods = {
            name: EM(family.prepared(facts_of(source, family, frame, moments)), tol=TOL)
            for name, family in families.items()
        }
        wanted = [(name, k) for name in families for k in ks if within is None or within(name, k)]
        sample = sample_of(source, frame, moments, ks[-1], seed)
        complete = bool((moments.observed == moments.rows).all())
        tol = FINE if keep is None and thorough else COARSE
        finer = {name: replace(em, tol=tol) for name, em in methods.items()}
        if keep is None and thorough and complete and all(map(can_stack, methods.values())):
            with engine(n_threads=current().n_threads):  # no time limit, checkpoint or progress of its own
                sample = matched(source, sample, seed)
                labels = labels_of_sample(sample, ks, seed)
                some = [cell for cell in wanted if labels[cell[1]]]
                few = climbed(methods, some, sample, labels, seed)
            best = highest(source, few)
        else:
            with engine(n_threads=current().n_threads):
                found = found_on_sample(methods, wanted, sample, ks, seed, keep, thorough)
            best = {cell: candidate for cell, (_, candidate) in found.items()}
        wanted = [cell for cell in wanted if cell in best]
        starts = [replace(best[cell], em=finer[cell[0]]) for cell in wanted]
        ends = advance(source, starts, max_iter, complete=complete, whole=False)
        return _finished(source, wanted, ends, moments.total, complete)


def _finished(
    source: Source, wanted: list[tuple[str, int]], ends: list[Advanced], total: float, complete: bool
) -> Cells:
    models = [end.candidate for end in ends]
    cells = {}
    for (name, k), one, end, told in zip(
        wanted, models, ends, told_of(source, models, complete=complete), strict=True
    ):
        mixture = Mixture(one.em.family, one.model.weights, one.model.params)
        cells[name, k] = _cell(name, k, mixture, told, total, end.settled)
    return cells


def _cell(name: str, k: int, mixture: Mixture, told: RowTotals, total: float, settled: bool) -> Cell:
    return Cell(name, k, mixture, told.log_likelihood, told.surprise, told.mass, total, settled)
