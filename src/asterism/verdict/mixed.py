"""How many groups a table of several kinds of column has.

    sample  ->  distributions of columns by evidence (``kinds``)  ->  mixtures of every number and structure
            ->  as many groups as dependence inside groups leaves to be explained (``climb``)  ->  all rows

Names have no places between them, so no valley can be looked for; what stands behind "there are groups" instead is a
null: one group with the margins as they are and the dependence that one group explains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from asterism.data.columns import Column
from asterism.data.source import Piece, Source
from asterism.engines.context import current, engine
from asterism.engines.loop import iterate
from asterism.engines.threads import one_blas_thread
from asterism.families.base import Array
from asterism.methods.cells import Cell, Cells
from asterism.methods.em import EM, MixtureModel
from asterism.methods.path import fit_path
from asterism.methods.posterior import Mixture, shares_of
from asterism.verdict import climb
from asterism.verdict.choice import Choice
from asterism.verdict.kinds import kinds_by_evidence, least_assumed, most_assumed, product_of
from asterism.verdict.plan import SAMPLE, Plan
from asterism.verdict.rows import Rows, draw
from asterism.verdict.tabulate import Question, measured
from asterism.verdict.view import SAMPLE_SEED
from asterism.verdict.words import Evidence, judge_family

STRUCTURES = ("EEI", "VVI", "EEE", "VVV")
KEPT = 2  # convention: structures that are searched thoroughly
PATIENCE = 3  # convention: numbers in a row that BIC likes less, after which no larger ones are tried
SETTLE = 40  # convention: EM steps on all rows, where the sample has led near the end
LEAST_EVIDENCE = 3.0  # convention


@dataclass(frozen=True, eq=False)
class MixedDecision:
    """The groups of some rows."""

    cell: Cell  # the mixture of the number taken
    cells: Cells
    steps: tuple[climb.Step, ...]  # the way up


def decide_mixed(columns: Sequence[Column], x: Array, weights: Array, ks: Sequence[int]) -> MixedDecision:
    """The groups of rows (n, d) in codes and numbers, NaN where a cell is missing."""
    rows = climb.Rows(tuple(columns), x, weights)
    table = rows.source
    most = max(len(np.unique(x, axis=0)) - 1, 1)
    tried = [k for k in sorted({1, *ks}) if k <= most]
    structures = STRUCTURES if any(c.kind == "numeric" for c in columns) else STRUCTURES[:1]
    first = _quick(
        rows,
        {
            name: product_of(columns, kinds, "VVI")
            for name, kinds in {"least": least_assumed(columns), "most": most_assumed(columns)}.items()
        },
        tried,
    )
    best = min(first.values(), key=lambda cell: cell.bic)
    kinds = kinds_by_evidence(columns, x, weights, shares_of(best.mixture, table))
    families = {name: product_of(columns, kinds, name) for name in structures}
    quick = _quick(rows, families, tried)
    leading = dict.fromkeys(c.structure for c in sorted(quick.values(), key=lambda c: c.bic))
    kept = {name: families[name] for name in list(leading)[:KEPT]}
    cells = fit_path(table, kept, tried, patience=PATIENCE)
    at = {
        k: min((c for c in cells.values() if c.k == k), key=lambda c: c.bic)
        for k in sorted({c.k for c in cells.values()})
    }
    top = min(at, key=lambda k: at[k].bic)
    steps = climb.climb(rows, at, top, LEAST_EVIDENCE)
    k = climb.answer(steps, top, LEAST_EVIDENCE)
    return MixedDecision(at[k], cells, tuple(steps))


def _quick(rows: climb.Rows, families: dict[str, Any], ks: Sequence[int]) -> Cells:
    return fit_path(rows.source, families, ks, patience=PATIENCE, passes=0)


def choose_mixed(used: Source, plan: Plan, ks: Sequence[int], seed: int) -> Choice:
    """The verdict, with the mixture of the number taken."""
    numbers = AsNumbers(used)
    with one_blas_thread():
        drawn = draw(numbers, SAMPLE, SAMPLE_SEED)
        with _one_thread():
            decision = decide_mixed(used.columns, drawn.x, drawn.weights, ks)
        best = decision.cell
        rows = Rows(drawn.x, drawn.weights)
        question = Question(ks, frozenset({"bic", "icl"}), best.mixture.family, seed)
        criteria, picks = measured(rows, decision.cells, best, question)
        found = judge_family(Evidence(tuple(ks), picks, best.k, None if drawn.whole else len(drawn.x)))
        cell = best
        mixture = cell.mixture if drawn.whole else _on_all_rows(numbers, cell.mixture)
    return Choice(
        k=cell.k, confidence=found.confidence, reasons=found.reasons, verdict=found.text, table=criteria,
        picks=picks, structure=cell.structure, components=cell.k, group_of=np.arange(cell.k), model=mixture,
        labels=np.zeros(0, np.int32),
    )  # fmt: skip


def _one_thread() -> AbstractContextManager[Any]:
    """A step of these families on a sample is many short calls: a second thread would wait for the interpreter."""
    return engine(**vars(current()) | {"n_threads": 1})


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
