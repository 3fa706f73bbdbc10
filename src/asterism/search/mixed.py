"""How many groups a table of several kinds of column has: mixtures in which each column has its own distribution.

    sample  ->  sweep over numbers and structures  ->  hand on once more  ->  ICL  ->  all rows

Names have no places between them, so no valley can be looked for, and BIC counts components: it splits a group of
any other shape. ICL = BIC + 2 * surprise wants rows to belong clearly, and is what is asked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from asterism.choose.choose import Choice
from asterism.choose.rows import Rows, draw
from asterism.choose.sweep import Candidate, Cell, Cells, Together, merged_shares, split_shares, sweep
from asterism.choose.tabulate import Question, measured
from asterism.choose.verdict import Evidence, judge
from asterism.data.columns import Column
from asterism.data.source import ArraySource, Piece, Source
from asterism.engines.context import current, engine
from asterism.engines.loop import iterate
from asterism.engines.reduce import reduce
from asterism.engines.threads import one_blas_thread
from asterism.families.base import Array
from asterism.methods.em import EM, MixtureModel
from asterism.methods.frame import survey
from asterism.methods.posterior import Mixture, classify_rows
from asterism.methods.starts import Sample, in_order, model_of, sample_of
from asterism.search.plan import SAMPLE, Plan
from asterism.stats.base import Joined

KEPT = 2  # structures that go on after the first steps
STEPS = 20  # of EM on the sample, after the sweep's own
SETTLE = 40  # on all rows: the sample has led it near its end
NEAR = 3  # numbers of groups on either side of the leading one that are started once more


def choose_mixed(used: Source, plan: Plan, ks: Sequence[int], seed: int) -> Choice:
    """The verdict, with the mixture of the number taken."""
    numbers = AsNumbers(used)
    with one_blas_thread():
        drawn = draw(numbers, SAMPLE, seed)
        table = ArraySource(drawn.x, drawn.weights)
        keep = KEPT if len(plan.families) > KEPT else None
        with _one_thread():
            cells = sweep(table, plan.families, _tried(ks, drawn.x), seed=seed, keep=keep, max_iter=STEPS)
            cells = _handed_on(table, cells, seed)
        best = min(cells.values(), key=_icl)
        rows = Rows(drawn.x, drawn.weights)
        question = Question(ks, frozenset({"bic", "icl"}), best.mixture.family, seed)
        criteria, picks = measured(rows, cells, best, question)
        found = judge(
            Evidence(
                ks=tuple(ks), picks=picks, groups=None, components=best.k, weakest=0.0, walk=False,
                surprise=best.surprise / best.total, smallest=float(best.mass.min() / best.total),
                heavy=False, sampled=None if drawn.whole else len(drawn.x),
            )
        )  # fmt: skip
        cell = min((cell for cell in cells.values() if cell.k == found.k), key=_icl)
        mixture = cell.mixture if drawn.whole else _on_all_rows(numbers, cell.mixture)
    return Choice(
        k=found.k, confidence=found.confidence, reasons=found.reasons, verdict=found.text, table=criteria,
        picks=picks, structure=cell.structure, components=cell.k, group_of=np.arange(cell.k), model=mixture,
        labels=np.zeros(0, np.int32),
    )  # fmt: skip


def _one_thread() -> AbstractContextManager[Any]:
    """A step of these families on a sample is many short calls: a second thread would wait for the interpreter."""
    return engine(**vars(current()) | {"n_threads": 1})


def _tried(ks: Sequence[int], x: Array) -> list[int]:
    """One more than the largest number asked for, from which that may be reached by bringing two together."""
    most = max(len(np.unique(x, axis=0)) - 1, 1)
    return sorted({*ks, min(max(ks) + 1, max(most, max(ks)))})


def _icl(cell: Cell) -> float:
    return cell.bic + 2.0 * cell.surprise


# --- once more from the neighbours ------------------------------------------------------------------------------


def _handed_on(table: Source, cells: Cells, seed: int) -> Cells:
    """The cells about the leading one, started once more from their neighbours as the sweep has left them.

    The sweep hands on early, while cells are on their way. What one of them finds later does not reach the next: on
    the penguins, seven groups with the Adelie males in two, beside six that are much worse than species by sex.
    """
    lead = min(cells.values(), key=_icl)
    frame, moments = survey(table)
    sample = sample_of(table, frame, moments, lead.k + NEAR, seed)
    em = EM(lead.mixture.family, tol=1e-4)
    starts = [
        (k, Candidate(em, model_of(em, sample.block, in_order(sample, shares))))
        for k in range(max(lead.k - NEAR, 2), lead.k + NEAR + 1)
        if (lead.structure, k) in cells
        for shares in _from_neighbours(cells, lead.structure, k, em, sample)
    ]
    if not starts:
        return cells
    with engine():  # no time limit, checkpoint or progress of its own
        runs = iterate(Together(), table, [candidate for _, candidate in starts], max_iter=STEPS)
    if any(run.status == "interrupted" for run in runs):
        raise KeyboardInterrupt
    mixtures = [Mixture(em.family, run.model.model.weights, run.model.model.params) for run in runs]
    joined = reduce(
        table, lambda block: Joined(tuple(classify_rows(mixture, block)[1] for mixture in mixtures))
    )
    found = dict(cells)
    for (k, _), mixture, told, run in zip(starts, mixtures, joined.parts, runs, strict=True):
        cell = Cell(
            lead.structure, k, mixture, told.log_likelihood, told.surprise, told.mass, lead.total,
            run.status == "settled",
        )  # fmt: skip
        found[lead.structure, k] = max(found[lead.structure, k], cell, key=lambda c: c.log_likelihood)
    return found


def _from_neighbours(cells: Cells, name: str, k: int, em: EM, sample: Sample) -> Iterator[Array]:
    """Shares (m, k) by a split of k - 1 components, and by a merger of k + 1."""
    for neighbour, shares_of in ((k - 1, split_shares), (k + 1, merged_shares)):
        cell = cells.get((name, neighbour))
        if cell is not None:
            yield shares_of(Candidate(em, MixtureModel(cell.mixture.weights, cell.mixture.params)), sample)


# --- all rows ---------------------------------------------------------------------------------------------------


def _on_all_rows(source: Source, mixture: Mixture) -> Mixture:
    """EM over the whole table from where the sample led it."""
    start = MixtureModel(mixture.weights, mixture.params)
    [run] = iterate(EM(mixture.family), source, [start], max_iter=SETTLE)
    return Mixture(mixture.family, run.model.weights, run.model.params)


class AsNumbers(Source):
    """Codes of names as numbers: for a family that knows which of them are codes."""

    def __init__(self, inner: Source) -> None:
        self.inner, self.n_rows, self.dtype = inner, inner.n_rows, inner.dtype
        self.columns = tuple(Column(column.name) for column in inner.columns)

    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        """The inner source's own."""
        return self.inner.pieces(start, stop)

    def part(self, first: int, last: int) -> Source:
        """The same of the inner source's part."""
        return AsNumbers(self.inner.part(first, last))
