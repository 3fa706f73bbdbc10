"""How many groups a table of several kinds of column has.

    sample  ->  distributions of columns by evidence (``kinds``)  ->  mixtures of every number and structure
            ->  as many groups as dependence inside groups leaves to be explained (``climb``)  ->  all rows

Names have no places between them, so no valley can be looked for; what stands behind "there are groups" instead is a
null: one group with the margins as they are and the dependence that one group explains. Where the groups found differ
in numbers alone, the verdict on numbers has the last word: it knows groups of any shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import block_of
from asterism.data.columns import Column
from asterism.data.margins import Margins
from asterism.data.source import Piece, Source
from asterism.engines.context import current, engine
from asterism.engines.loop import iterate
from asterism.engines.threads import one_blas_thread
from asterism.methods.cells import Cell, Cells
from asterism.methods.em import EM, MixtureModel
from asterism.methods.path import fit_path
from asterism.methods.posterior import Mixture, shares_of
from asterism.verdict import climb
from asterism.verdict.choice import Choice
from asterism.verdict.kinds import Kinds, kinds_by_evidence, least_assumed, most_assumed, product_of
from asterism.verdict.rare_components import anchored
from asterism.verdict.rare_model import mixture_with_rare
from asterism.verdict.rows import Drawn, Rows, draw
from asterism.verdict.tabulate import Question, measured
from asterism.verdict.view import SAMPLE_SEED, View
from asterism.verdict.words import tell_mixed, with_rare

SAMPLE = 2000  # convention: rows that structures are compared on
USUAL_K = range(1, 21)  # convention: numbers tried where none are given, up to where BIC likes them less
Array = NDArray[np.float64]
STRUCTURES = ("EEI", "VVI", "EEE", "VVV")
PASSES = 2  # convention: up and down
KEPT = 2  # convention: structures that are searched thoroughly
PATIENCE = 3  # convention: numbers in a row that BIC likes less, after which no larger ones are tried
STEPS = 40  # convention: EM steps on all rows, where the sample has led near the end
OWN_VALUES = 0.5  # convention: of the distinct rows, a number that has so many values makes each row its own


@dataclass(frozen=True, eq=False)
class MixedDecision:
    """The groups of some rows."""

    cell: Cell  # the mixture
    group_of: NDArray[np.int64]  # (components,) group of each
    found: int  # groups, before the answer was held to the numbers allowed
    cells: Cells
    top: int  # components of the mixture of the least BIC
    steps: tuple[climb.Step, ...]  # the way up
    kinds: Kinds
    names_carry: float  # what columns other than numbers win by the groups, nats a row; below 0: nothing

    @property
    def k(self) -> int:
        """Groups."""
        return int(self.group_of.max()) + 1


def decide_mixed(rows: climb.Rows, ks: Sequence[int] | None = None) -> MixedDecision:
    """The groups of some rows."""
    columns = rows.columns
    most = max(len(np.unique(rows.cells, axis=0)) - 1, 1)
    wanted = set(ks or USUAL_K)
    tried = [k for k in sorted({*range(1, max(wanted) + 1)}) if k <= max(most, min(wanted))]
    kinds = _kinds(rows, tried)
    structures = STRUCTURES if "normal" in kinds else STRUCTURES[:1]
    families = {name: product_of(columns, kinds, name) for name in structures}
    quick = fit_path(rows.source, families, tried, patience=PATIENCE, passes=0)
    best = sorted(quick.values(), key=lambda cell: cell.bic)
    leading = list(dict.fromkeys(cell.structure for cell in best))[:KEPT]
    asked = ks is not None and 1 not in wanted  # numbers that were asked for must be there
    patience = None if asked else PATIENCE
    cells = fit_path(
        rows.source, {name: families[name] for name in leading}, tried, patience=patience, passes=PASSES
    )
    at = {k: _best(cells, k) for k in sorted({cell.k for cell in cells.values()})}
    top = min(at, key=lambda k: at[k].bic)
    steps = () if len(wanted) == 1 else tuple(climb.climb(rows, at, top))
    found, group_of = climb.answer(steps, top)
    k = min((k for k in at if k in wanted), key=lambda k: (abs(k - found), k), default=max(at))
    if k != found or group_of is None:
        cell, group_of = at[k], np.arange(k)
    else:
        cell = at[top]
    return MixedDecision(cell, group_of, found, cells, top, steps, kinds, _won_by_names(rows, cell, at[1]))


def _kinds(rows: climb.Rows, ks: Sequence[int]) -> Kinds:
    """By the shares of the best mixture that assumes little or much of all columns."""
    drafts = {"least": least_assumed(rows.columns), "most": most_assumed(rows.columns)}
    if drafts["least"] == drafts["most"]:
        return drafts["most"]
    families = {name: product_of(rows.columns, kinds, "VVI") for name, kinds in drafts.items()}
    cells = fit_path(rows.source, families, ks, patience=PATIENCE, passes=0)
    best = min(cells.values(), key=lambda cell: cell.bic)
    return kinds_by_evidence(rows.columns, rows.x, rows.weights, shares_of(best.mixture, rows.source))


def _best(cells: Cells, k: int) -> Cell:
    return min((cell for cell in cells.values() if cell.k == k), key=lambda cell: cell.bic)


def _won_by_names(rows: climb.Rows, cell: Cell, one: Cell) -> float:
    """What columns other than numbers win by groups: log-likelihood given the shares, less half of BIC's penalty."""
    shares = shares_of(cell.mixture, rows.source)
    won, n = 0.0, float(rows.weights.sum())
    parts = zip(cell.mixture.family.parts, cell.mixture.params.parts, one.mixture.params.parts, strict=True)  # type: ignore[attr-defined]
    for (family, columns), own, alone in parts:
        if family.name == "gaussian":
            continue
        block = block_of(np.ascontiguousarray(rows.x[:, columns]), rows.weights)
        gain = (shares * family.log_density(own, block)).sum(axis=1) - family.log_density(alone, block)[:, 0]
        penalty = 0.5 * (family.n_parameters(cell.k) - family.n_parameters(1)) * np.log(n)
        won += float(rows.weights @ gain) - penalty
    return won / n


def choose_mixed(source: Source, view: View, question: Question) -> tuple[Choice, bool]:
    """The verdict, with the mixture of the number taken, and whether columns other than numbers tell groups apart."""
    numbers = AsNumbers(view.of(source))
    margins = view.margins or Margins.plain(source.columns)
    with one_blas_thread():
        drawn = draw(AsNumbers(source), SAMPLE, SAMPLE_SEED)
        rows = climb.Rows(margins, *_once(source.columns, drawn))
        with _one_thread():
            decision = decide_mixed(rows, question.ks)
        cell = decision.cell
        shown = question.ks or sorted({cell.k for cell in decision.cells.values()})
        asked = replace(question, ks=shown, wanted=frozenset({"bic", "icl"}), model=cell.mixture.family)
        criteria, picks = measured(Rows(rows.x, rows.weights), decision.cells, cell, asked)
        mixture, group_of = cell.mixture, decision.group_of
        rare: tuple[float, ...] = ()
        if not drawn.whole and question.rare and len(group_of) == decision.k:
            mixture, rare = mixture_with_rare(
                numbers, mixture, Drawn(rows.x, rows.weights, False), question.ks
            )
            group_of = np.arange(mixture.k)
        if not drawn.whole:
            mixture = anchored(_on_all_rows(numbers, mixture), mixture, len(rare))
    verdict = tell_mixed(decision, picks=picks, sampled=None if drawn.whole else len(drawn.x))
    k = int(group_of.max()) + 1
    verdict = with_rare(verdict, rare, k - len(rare))
    choice = Choice(
        k=k, confidence=verdict.confidence, reasons=verdict.reasons, verdict=verdict.text, table=criteria,
        picks=picks, structure=cell.structure, components=mixture.k, group_of=group_of, model=mixture,
        labels=np.zeros(0, np.int32), alternative=verdict.alternative, view=view,
        seen=min(decision.cells.values(), key=lambda cell: cell.bic).mixture,
    )  # fmt: skip
    return choice, decision.names_carry > 0.0


def _once(columns: Sequence[Column], drawn: Drawn) -> tuple[Array, Array]:
    """Distinct rows and their weights. Where numbers make each row its own, a row written again is no other row."""
    distinct, which = np.unique(drawn.x, axis=0, return_inverse=True)
    weights = np.bincount(which.ravel(), drawn.weights).astype(np.float64)
    values = [len(np.unique(distinct[:, j])) for j, column in enumerate(columns) if column.kind == "numeric"]
    if len(distinct) == len(drawn.x) or max(values, default=0) < OWN_VALUES * len(distinct):
        return drawn.x, drawn.weights
    return distinct, weights * (len(distinct) / weights.sum())


def _one_thread() -> AbstractContextManager[Any]:
    """A step of these families on a sample is many short calls: a second thread would wait for the interpreter."""
    return engine(**vars(current()) | {"n_threads": 1})


# --- all rows ---------------------------------------------------------------------------------------------------


def _on_all_rows(source: Source, mixture: Mixture) -> Mixture:
    """EM over the whole table from where the sample led it."""
    start = MixtureModel(mixture.weights, mixture.params)
    [run] = iterate(EM(mixture.family), source, [start], max_iter=STEPS)
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
