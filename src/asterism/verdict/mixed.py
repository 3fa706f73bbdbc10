"""How many groups a table of several kinds of column has.

    sample  ->  distributions of columns by evidence (``kinds``)  ->  mixtures of every number and structure
            ->  proposals  ->  one judge (``mixed_evidence``, ``judge``)  ->  all rows

Proposals are mixtures, the best ones with components brought together, and the groups that the judge of numbers
finds in the columns of numbers alone, which may have any shape. The evidence of each includes a null: what one group
with the margins as they are and the dependence that one group explains would win by as many components
(``dependence_null``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import block_of
from asterism.data.columns import NUMBERS, Column
from asterism.data.encode import EncodedSource
from asterism.data.margins import Margins
from asterism.data.source import ArraySource, Piece, Source
from asterism.engines.context import current, engine
from asterism.engines.journal import checkpointed, note, unnoted
from asterism.engines.loop import iterate
from asterism.engines.threads import one_blas_thread
from asterism.methods.cells import Cell, Cells
from asterism.methods.em import EM, MixtureModel
from asterism.methods.encoding import standard_encoding
from asterism.methods.path import fit_path
from asterism.methods.posterior import Mixture, shares_of
from asterism.verdict.choice import Choice
from asterism.verdict.decide import NEARLY, decide
from asterism.verdict.dependence_null import MixedRows, Null, null_of
from asterism.verdict.judge import judge
from asterism.verdict.kinds import Kinds, kinds_by_evidence, least_assumed, most_assumed, product_of
from asterism.verdict.margins import margins_of
from asterism.verdict.mixed_evidence import MixedProposal, measure_mixed
from asterism.verdict.propose import brought_together
from asterism.verdict.rare_components import anchored
from asterism.verdict.rare_model import mixture_with_rare
from asterism.verdict.rows import Drawn, Rows, draw, filled
from asterism.verdict.tabulate import Question, measured
from asterism.verdict.view import SAMPLE_SEED, View, view_of_numbers
from asterism.verdict.words import tell_mixed, with_rare

SAMPLE = 2000  # convention: rows that structures are compared on
USUAL_K = range(1, 21)  # convention: numbers tried where none are given, up to where BIC likes them less
Array = NDArray[np.float64]
Index = NDArray[np.int64]
STRUCTURES = ("EEI", "VVI", "EEE", "VVV")
PASSES = 2  # convention: up and down
KEPT = 2  # convention: structures that are searched thoroughly, and mixtures whose components are brought together
PATIENCE = 3  # convention: numbers in a row that BIC likes less, after which no larger ones are tried
STEPS = 40  # convention: EM steps on all rows, where the sample has led near the end
# Measured on the tables that the judge was fitted to: 1.2% of 427 without groups are above it, 24% of 603 with some.
SURE_OF_NUMBERS = 0.7  # adjusted Rand index that the judge of numbers expects of its own groups
LEAST_DISTINCT = 3  # convention: rows without which numbers alone have no groups to show
OWN_VALUES = 0.5  # convention: of the distinct rows, a number that has so many values makes each row its own


@dataclass(frozen=True, eq=False)
class MixedDecision:
    """The groups of some rows."""

    found: int  # groups of the best proposal of any number
    proposal: MixedProposal  # the best of the numbers allowed
    score: float  # adjusted Rand index expected of the best proposal
    confidence: float  # how often such a number is right
    other: int | None  # the best proposal's number among the others, where that is nearly as good
    cells: Cells
    top: int  # components of the mixture of the least BIC
    null: Null | None  # None: no mixture of several components is better than one
    kinds: Kinds

    @property
    def k(self) -> int:
        """Groups."""
        return self.proposal.k

    @property
    def by_numbers(self) -> bool:
        """Whether the groups are those of the columns of numbers alone, of any shape."""
        return self.proposal.cell is None


def decide_mixed(rows: MixedRows, ks: Sequence[int] | None = None) -> MixedDecision:
    """The groups of some rows."""
    kinds, cells = mixtures_of(rows, ks)
    best = {k: _best(cells, k) for k in sorted({cell.k for cell in cells.values()})}
    top = min(best, key=lambda k: best[k].bic)
    if ks is not None and len(set(ks)) == 1:
        k = min(best, key=lambda k: (abs(k - ks[0]), k))
        return MixedDecision(k, _of_mixture(rows, best[k]), 0.0, 1.0, None, cells, top, None, kinds)
    null, proposals, names, evidence = evidence_of(rows, cells)
    ours, numbers_of_groups = judge("mixed"), np.array([proposal.k for proposal in proposals])
    scores = ours.scores(names, evidence) - np.where(numbers_of_groups > 1, ours.lead, 0.0)
    if max(proposal.score for proposal in proposals) > SURE_OF_NUMBERS:
        scores[numbers_of_groups == 1] = -np.inf  # there are groups in the numbers alone
    first = int(scores.argmax())
    found = int(numbers_of_groups[first])
    others = np.flatnonzero(numbers_of_groups != found)
    lead = float(scores[first] - scores[others].max()) if len(others) else 1.0
    other = int(numbers_of_groups[others[scores[others].argmax()]]) if len(others) and lead < NEARLY else None
    allowed = np.isin(numbers_of_groups, list(ks)) if ks is not None else np.ones(len(scores), bool)
    if allowed.any():
        proposal = proposals[int(np.where(allowed, scores, -np.inf).argmax())]
    else:
        k = min((k for k in best if k in (ks or ())), key=lambda k: (abs(k - found), k), default=max(best))
        proposal = _of_mixture(rows, best[k])
    confidence = ours.confidence(float(scores[first]), lead, found == 1)
    return MixedDecision(found, proposal, float(scores[first]), confidence, other, cells, top, null, kinds)


def mixtures_of(rows: MixedRows, ks: Sequence[int] | None = None) -> tuple[Kinds, Cells]:
    """Distributions of the columns, and mixtures of every number and the leading structures."""
    most = max(len(np.unique(rows.cells, axis=0)) - 1, 1)
    wanted = set(ks or USUAL_K)
    tried = [k for k in range(1, max(wanted) + 1) if k <= max(most, min(wanted))]
    kinds = _kinds(rows, tried)
    structures = STRUCTURES if "normal" in kinds else STRUCTURES[:1]
    families = {name: product_of(rows.columns, kinds, name) for name in structures}
    quick = fit_path(rows.source, families, tried, patience=PATIENCE, passes=0)
    best = sorted(quick.values(), key=lambda cell: cell.bic)
    leading = list(dict.fromkeys(cell.structure for cell in best))[:KEPT]
    asked = ks is not None and 1 not in wanted  # numbers that were asked for must be there
    patience = None if asked else PATIENCE
    families = {name: families[name] for name in leading}
    return kinds, fit_path(rows.source, families, tried, patience=patience, passes=PASSES)


def evidence_of(
    rows: MixedRows, cells: Cells
) -> tuple[Null | None, list[MixedProposal], tuple[str, ...], Array]:
    """The null, all proposals, and the names and numbers (proposals, names) of the evidence of each."""
    best = {k: _best(cells, k) for k in sorted({cell.k for cell in cells.values()})}
    top = min(best, key=lambda k: best[k].bic)
    null = null_of(rows, best[1], best[top]) if top > 1 and 1 in best else None
    proposals = propose_mixed(rows, cells, numbers=top > 1)
    return null, proposals, *measure_mixed(rows, null, best, proposals)


# --- proposals --------------------------------------------------------------------------------------------------


def propose_mixed(rows: MixedRows, cells: Cells, *, numbers: bool = True) -> list[MixedProposal]:
    """One group, every mixture, the best ones with components brought together, and the groups of numbers alone."""
    found = [_of_mixture(rows, _best(cells, min(cell.k for cell in cells.values())))]
    several = sorted((cell for cell in cells.values() if cell.k > found[0].k), key=lambda cell: cell.bic)
    mixtures = [_of_mixture(rows, cell) for cell in several]
    merged = [
        MixedProposal("merged", one.shares @ np.eye(int(group_of.max()) + 1)[group_of], one.cell, group_of)
        for one in mixtures[:KEPT]
        for group_of in brought_together(one.shares, rows.weights)
    ]
    alone = _by_numbers(rows) if numbers else None
    if alone is not None and alone[0].max() > 0:
        labels, score = alone
        found.append(MixedProposal("numbers", np.eye(int(labels.max()) + 1)[labels], None, score=score))
    return found + [p for p in (*mixtures, *merged) if (np.bincount(p.labels, minlength=p.k) > 0).all()]


def _of_mixture(rows: MixedRows, cell: Cell) -> MixedProposal:
    return MixedProposal("mixture", shares_of(cell.mixture, rows.source), cell, np.arange(cell.k))


def _by_numbers(rows: MixedRows) -> tuple[Index, float] | None:
    """(n,) the groups that the judge of numbers finds in the columns of numbers, and its score; None: no numbers."""
    table = ArraySource(rows.cells, rows.weights, rows.margins.columns)
    view = numbers_alone(table)
    if view is None:
        return None
    formed = view.of(table)
    scaled = view_of_numbers(EncodedSource(formed, standard_encoding(formed, scale=True)))
    seen = replace(view, encoding=scaled.encoding, axes=scaled.axes).of(table)
    x = np.concatenate([np.asarray(block.rows, np.float64) for block in seen.blocks()])
    complete = filled(Drawn(x, rows.weights, True))
    if len(np.unique(complete.x, axis=0)) < LEAST_DISTINCT:
        return None
    with unnoted():
        decision = decide(complete.x, complete.weights)
    return decision.proposal.labels[decision.seen.place], decision.score


def numbers_alone(table: Source) -> View | None:
    """The view of the columns of numbers, in forms found without the others; None: there are none."""
    names = tuple(column.name for column in table.columns if column.kind not in NUMBERS)
    if len(names) == len(table.columns):
        return None
    forms = margins_of(table, numbers_only=True)
    return View(margins=None if forms.is_plain else forms, aside=names)


def _kinds(rows: MixedRows, ks: Sequence[int]) -> Kinds:
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


def choose_mixed(source: Source, view: View, question: Question) -> Choice | None:
    """The verdict, with the mixture of the number taken; None where the groups are those of numbers alone."""
    numbers = AsNumbers(view.of(source))
    margins = view.margins or Margins.plain(source.columns)
    with one_blas_thread():
        drawn = draw(AsNumbers(source), SAMPLE, SAMPLE_SEED)
        rows = MixedRows(margins, *_once(source.columns, drawn))
        note(view=view)
        with _one_thread():
            decision = decide_mixed(rows, _numbers(question))
        cell, group_of = decision.proposal.cell, decision.proposal.group_of
        if cell is None or (decision.null is not None and _idle_names(rows, decision)):
            return None
        note(mixed=decision)
        shown = question.ks or sorted({cell.k for cell in decision.cells.values()})
        asked = replace(question, ks=shown, wanted=frozenset({"bic", "icl"}), model=cell.mixture.family)
        criteria, picks = measured(Rows(rows.x, rows.weights), decision.cells, cell, asked)
        mixture = cell.mixture
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
    return Choice(
        k=k, confidence=verdict.confidence, reasons=verdict.reasons, verdict=verdict.text, table=criteria,
        picks=picks, structure=cell.structure, components=mixture.k, group_of=group_of, model=mixture,
        labels=np.zeros(0, np.int32), alternative=verdict.alternative, view=view,
        seen=min(decision.cells.values(), key=lambda cell: cell.bic).mixture,
    )  # fmt: skip


def _idle_names(rows: MixedRows, decision: MixedDecision) -> bool:
    """Whether columns other than numbers win less by the groups than half of BIC's penalty for their parameters.

        sum_n w_n [ sum_c r_nc log p_j(x_nj | c) - log p_j(x_nj) ]  <  1/2 (parameters of k - parameters of 1) log n

    Then groups differ in numbers alone, and the judge of numbers knows groups of any shape.
    """
    cell, one = decision.proposal.cell, _best(decision.cells, 1)
    if decision.k == 1 or cell is None or all(column.kind not in NUMBERS for column in rows.margins.columns):
        return False
    shares = shares_of(cell.mixture, rows.source)
    won, n = 0.0, float(rows.weights.sum())
    parts = zip(cell.mixture.family.parts, cell.mixture.params.parts, one.mixture.params.parts, strict=True)  # type: ignore[attr-defined]
    for (family, columns), own, alone in parts:
        if family.name != "gaussian":
            block = block_of(np.ascontiguousarray(rows.x[:, columns]), rows.weights)
            gain = (shares * family.log_density(own, block)).sum(axis=1) - family.log_density(alone, block)[
                :, 0
            ]
            penalty = 0.5 * (family.n_parameters(cell.k) - family.n_parameters(1)) * np.log(n)
            won += float(rows.weights @ gain) - penalty
    return won <= 0.0


def _numbers(question: Question) -> Sequence[int] | None:
    """The numbers to choose from; that of the groups of an earlier table, where this one does not differ from it."""
    old = question.offered
    if old is None or not old.same or (question.ks is not None and old.k not in question.ks):
        return question.ks  # type: ignore[no-any-return]
    return [old.k]


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
    with checkpointed(source):
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
