"""One verdict on a table, by the mixtures of its plan."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from asterism.choose.choose import Choice, choose_for_find
from asterism.choose.rows import Rows, draw
from asterism.choose.scatter import choose_by_scatter
from asterism.choose.sweep import Cell, sweep
from asterism.choose.tabulate import Table, measured
from asterism.choose.verdict import Evidence, judge
from asterism.data.columns import Column
from asterism.data.encode import EncodedSource
from asterism.data.source import ArraySource, Piece, Source
from asterism.engines.context import engine
from asterism.engines.loop import iterate
from asterism.engines.threads import one_blas_thread
from asterism.errors import InterruptedWarning
from asterism.methods.em import EM, MixtureModel
from asterism.methods.kmeans import fit_kmeans_path
from asterism.methods.posterior import Mixture
from asterism.search.plan import SAMPLE, Plan

SETTLE = 40  # steps of EM on all rows: the sample has led it near its end


def chosen(
    used: Source, encoded: EncodedSource, plan: Plan, ks: Sequence[int], seed: int
) -> tuple[Choice, bool]:
    """The verdict, and whether somebody stopped the search: then k-means on a sample says what it can."""
    try:
        with warnings.catch_warnings():
            # A single fit that is interrupted returns its best so far; here many fits would go on after it.
            warnings.simplefilter("error", InterruptedWarning)
            if not plan.families:
                return choose_for_find(plan.view.of(used), ks, seed=seed), False
            return _of_many_kinds(AsNumbers(used), plan, ks, seed), False
    except (KeyboardInterrupt, InterruptedWarning):
        return _in_a_hurry(encoded, ks, seed), True


def _of_many_kinds(numbers: Source, plan: Plan, ks: Sequence[int], seed: int) -> Choice:
    """By ICL: names have no places between them, so no valleys can be looked for."""
    with one_blas_thread():
        drawn = draw(numbers, SAMPLE, seed)
        table = ArraySource(drawn.x, drawn.weights)
        cells = sweep(table, plan.families, ks, seed=seed)
        best = min(cells.values(), key=_icl)
        rows = Rows(drawn.x, drawn.weights)
        criteria, picks = measured(
            rows, cells, ks, frozenset({"bic", "icl"}), best, best.mixture.family, seed, None, None
        )
        found = judge(
            Evidence(
                ks=tuple(ks), picks=picks, groups=None, components=best.k, weakest=0.0, walk=False,
                surprise=best.surprise / best.total, smallest=float(best.mass.min() / best.total), one_normal=0.0,
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


def _icl(cell: Cell) -> float:
    return cell.bic + 2.0 * cell.surprise


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


def _in_a_hurry(encoded: EncodedSource, ks: Sequence[int], seed: int) -> Choice:
    with engine():  # no progress, no checkpoint
        drawn = draw(encoded, SAMPLE, seed)
        table = ArraySource(drawn.x, drawn.weights, encoded.columns)
        fits = fit_kmeans_path(table, sorted({1, *ks}), seed=seed)
        found = choose_by_scatter(fits, list(ks), float(drawn.weights.sum()), asked=False)
        fit = fits[found.k]
        rows = Table(
            {"k": r.k, "within": r.within, "calinski_harabasz": r.calinski_harabasz} for r in found.table
        )
    text = "The search was interrupted: this is the best so far, by k-means on a sample."
    groups = "1 group" if found.k == 1 else f"{found.k} groups"
    return Choice(
        k=found.k, confidence=0.3, reasons=(text,), verdict=f"{groups}. {text}", table=rows, picks={}, structure=None,
        components=found.k, group_of=np.arange(found.k), model=fit, labels=np.zeros(0, np.int32),
    )  # fmt: skip


def asked_for(choice: Choice) -> Choice:
    """The choice of one number that the user gave: nothing was compared, and the words say so."""
    groups = "1 group" if choice.k == 1 else f"{choice.k} groups"
    said = "That number was given, so nothing was compared."
    return replace(choice, verdict=f"{groups}. {said}", reasons=(said,), confidence=1.0)
