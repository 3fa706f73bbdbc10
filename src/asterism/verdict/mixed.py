"""How many groups a table of several kinds of column has: mixtures in which each column has its own distribution.

    sample  ->  mixtures of every number and structure (``methods.path``)  ->  ICL  ->  all rows

Names have no places between them, so no valley can be looked for, and BIC counts components: it splits a group of
any other shape. ICL = BIC + 2 * surprise wants rows to belong clearly, and is what is asked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from asterism.data.columns import Column
from asterism.data.source import ArraySource, Piece, Source
from asterism.engines.context import current, engine
from asterism.engines.loop import iterate
from asterism.engines.threads import one_blas_thread
from asterism.families.base import Array
from asterism.methods.em import EM, MixtureModel
from asterism.methods.path import fit_path
from asterism.methods.posterior import Mixture
from asterism.verdict.choice import Choice
from asterism.verdict.plan import SAMPLE, Plan
from asterism.verdict.rare_components import anchored
from asterism.verdict.rare_model import mixture_with_rare
from asterism.verdict.rows import Rows, draw
from asterism.verdict.tabulate import Question, measured
from asterism.verdict.words import Evidence, judge_family, with_rare

KEPT = 2  # structures that are searched thoroughly
PATIENCE = 4  # numbers in a row that BIC likes less, after which a structure is not asked for larger ones
SETTLE = 40  # on all rows: the sample has led it near its end


def choose_mixed(used: Source, plan: Plan, ks: Sequence[int], seed: int) -> Choice:
    """The verdict, with the mixture of the number taken."""
    numbers = AsNumbers(used)
    with one_blas_thread():
        drawn = draw(numbers, SAMPLE, seed)
        table = ArraySource(drawn.x, drawn.weights)
        with _one_thread():
            tried = _tried(ks, drawn.x)
            patience = PATIENCE if ks[0] == 1 else None  # numbers that were asked for must be there
            first = fit_path(table, plan.families, tried, patience=patience, passes=0)
            leading = dict.fromkeys(c.structure for c in sorted(first.values(), key=lambda c: c.bic))
            families = {name: plan.families[name] for name in list(leading)[:KEPT]}
            cells = fit_path(table, families, range(1, tried[-1] + 1), patience=patience)
            cells = {place: cell for place, cell in cells.items() if cell.k in tried}
        best = min(cells.values(), key=lambda cell: cell.icl)
        rows = Rows(drawn.x, drawn.weights)
        question = Question(ks, frozenset({"bic", "icl"}), best.mixture.family, seed)
        criteria, picks = measured(rows, cells, best, question)
        found = judge_family(Evidence(tuple(ks), picks, best.k, None if drawn.whole else len(drawn.x)))
        cell = min((cell for cell in cells.values() if cell.k == found.k), key=lambda cell: cell.icl)
        mixture, rare = mixture_with_rare(numbers, cell.mixture, drawn, ks)
        found = with_rare(found, rare, mixture.k - len(rare))
        if not drawn.whole:
            mixture = anchored(_on_all_rows(numbers, mixture), mixture, len(rare))
    return Choice(
        k=found.k, confidence=found.confidence, reasons=found.reasons, verdict=found.text, table=criteria,
        picks=picks, structure=cell.structure, components=mixture.k, group_of=np.arange(mixture.k), model=mixture,
        labels=np.zeros(0, np.int32),
    )  # fmt: skip


def _one_thread() -> AbstractContextManager[Any]:
    """A step of these families on a sample is many short calls: a second thread would wait for the interpreter."""
    return engine(**vars(current()) | {"n_threads": 1})


def _tried(ks: Sequence[int], x: Array) -> list[int]:
    """One more than the largest number asked for, from which that may be reached by bringing two together."""
    most = max(len(np.unique(x, axis=0)) - 1, 1)
    return sorted({*ks, min(max(ks) + 1, max(most, max(ks)))})


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
