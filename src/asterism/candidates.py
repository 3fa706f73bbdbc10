"""What ``find`` tries on a table, and what it makes of it.

plan     which families suit the columns, how rows are seen (as they are, scaled, reduced), and why
choose   mixtures of every number and structure on a sample, one verdict (``choose``)
settle   the chosen model on all rows; k-means or medoids instead, where the user wants those
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from asterism.engines.reduce import map_rows, reduce
from asterism.engines.threads import one_blas_thread
from asterism.families.base import Family
from asterism.families.bernoulli import BernoulliFamily
from asterism.families.categorical import CategoricalFamily
from asterism.families.gaussian import GaussianFamily
from asterism.families.ordinal import OrdinalFamily
from asterism.families.product import ProductFamily
from asterism.judges import CentersJudge, Judge, MedoidsJudge, MixtureJudge, View
from asterism.methods.em import EM, MixtureModel
from asterism.methods.kmeans import fit_kmeans, fit_kmeans_path
from asterism.methods.medoids import fit_medoids
from asterism.methods.pca import fit_pca
from asterism.methods.posterior import Mixture
from asterism.stats.moments import ColumnMoments

SAMPLE = 2000  # rows that structures are compared on
WIDE = 24  # columns beyond which a table of numbers is reduced first
KEPT = 0.9  # share of the spread that reduced rows keep
MOST_DIRECTIONS = 12
STARTS = 5  # of k-means: with one, k = 3 on the penguins ends 10% above the best sum of squares known
SECOND = 2000  # rows that the second opinion is asked about
SETTLE = 40  # steps of EM on all rows: the sample has led it near its end
MIXED_STRUCTURES = ("EEI", "VVI", "EEE", "VVV")


# --- plan -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Plan:
    """How a table is to be looked at."""

    method: str  # "gaussian", "mixed", "kmeans" or "kmedoids": who makes the groups
    view: View  # of the rows the mixture is made of
    families: Mapping[str, Family]  # that compete, by structure; none: those of normal groups
    said: str  # what was decided and why


def plan_for(source: Source, encoded: EncodedSource, method: str, seed: int) -> Plan:
    """The plan of a table: its kinds of column and its shape decide."""
    numeric = all(column.kind == "numeric" for column in source.columns)
    d = encoded.n_columns
    if not numeric and d <= 4 * WIDE and method != "gaussian":
        some = any(column.kind == "numeric" for column in source.columns)
        families = {s: mixed_family(source.columns, s) for s in (MIXED_STRUCTURES if some else ("EEI",))}
        said = "A mixture in which each column has a distribution of its own kind."
        return Plan("mixed" if method == "auto" else method, View(), families, said)
    wanted = "gaussian" if method in ("auto", "mixed") else method
    if d <= WIDE:
        return Plan(wanted, View(encoded.encoding), {}, "Mixtures of normal groups, in the scaled columns.")
    axes, kept = _directions(encoded, seed)
    said = (
        f"{d} columns are many: mixtures of normal groups in {len(axes)} principal directions, which hold "
        f"{kept:.0%} of the spread."
    )
    return Plan(wanted, View(encoded.encoding, axes), {}, said)


def mixed_family(columns: Sequence[Column], structure: str) -> ProductFamily:
    """A family for each kind of column; priors keep a level that a small group lacks from being impossible there."""
    where = {kind: tuple(j for j, c in enumerate(columns) if c.kind == kind) for kind in MADE_OF}
    parts = (
        (MADE_OF[kind](structure, tuple(len(columns[j].levels) for j in js)), js)
        for kind, js in where.items()
        if js
    )
    return ProductFamily(tuple(parts))


MADE_OF: dict[str, Any] = {
    "numeric": lambda structure, _: GaussianFamily(structure),
    "categorical": lambda _, levels: CategoricalFamily(levels, "conjugate"),
    "boolean": lambda *_: BernoulliFamily("conjugate"),
    "ordinal": lambda _, levels: OrdinalFamily(levels, "conjugate"),
}


def _directions(encoded: EncodedSource, seed: int) -> tuple[NDArray[np.float64], float]:
    """Principal directions (m, D) of a sample (missing cells at their means), and the share they hold."""
    rows = draw(encoded, SAMPLE, seed)
    table = ArraySource(np.nan_to_num(rows.x), rows.weights)
    found = fit_pca(table, None, seed=seed)
    share = np.cumsum(found.variances) / max(float(found.variances.sum()), np.finfo(float).tiny)
    m = min(int(np.searchsorted(share, KEPT)) + 1, MOST_DIRECTIONS, len(share))
    return np.ascontiguousarray(found.directions[:m]), float(share[m - 1])


# --- choose -----------------------------------------------------------------------------------------------------


def chosen(
    used: Source, encoded: EncodedSource, plan: Plan, ks: Sequence[int], seed: int
) -> tuple[Choice, bool]:
    """The verdict, and whether somebody stopped the search: then k-means on a sample says what it can."""
    try:
        if not plan.families:
            return choose_for_find(plan.view.of(used), ks, seed=seed), False
        return _of_many_kinds(AsNumbers(used), plan, ks, seed), False
    except KeyboardInterrupt:
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


# --- settle -----------------------------------------------------------------------------------------------------


def settle(
    used: Source, encoded: EncodedSource, plan: Plan, choice: Choice, seed: int
) -> tuple[View, Judge, str]:
    """How rows are seen, the judge of all rows, and the method that it is of."""
    if isinstance(choice.model, Mixture) and plan.method in ("gaussian", "mixed"):
        return plan.view, MixtureJudge.of(choice.model, choice.group_of), plan.method
    total = float(reduce(used, ColumnMoments.of).total)
    if plan.method == "kmedoids":
        found = fit_medoids(used, choice.k, metric="gower", seed=seed)
        return View(), MedoidsJudge(found.model, found.inertia / total), "kmedoids"
    # An interrupted search has centres of a sample; they judge all rows as they are.
    fit = (
        fit_kmeans(encoded, choice.k, n_init=STARTS, seed=seed)
        if isinstance(choice.model, Mixture)
        else choice.model
    )
    weight = total if isinstance(choice.model, Mixture) else min(total, float(SAMPLE))
    return View(encoded.encoding), CentersJudge(fit.model, fit.inertia / weight), "kmeans"


# --- second opinion ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SecondOpinion:
    """What a method of another kind says of the same number of groups, on a sample of the rows."""

    method: str
    agreement: float  # adjusted Rand index of the two labelings: 1 the same groups, 0 as by chance
    rows: int

    def __str__(self) -> str:
        how = (
            "agrees"
            if self.agreement > 0.8
            else "agrees in part"
            if self.agreement > 0.4
            else "sees other groups"
        )
        told = f"(adjusted Rand index {self.agreement:.2f})"
        return f"A second opinion, medoids by Gower's dissimilarity, {how} {told}."


def second_opinion(used: Source, labels: NDArray[np.int32], k: int, seed: int) -> SecondOpinion | None:
    """k medoids on Gower's dissimilarity, beside the labels; None where there is nothing to compare."""
    from asterism.metrics import adjusted_rand_score

    if k < 2:
        return None
    rows = _some_rows(used, labels, seed)
    table = ArraySource(rows[0], rows[1], used.columns)
    if len(np.unique(rows[0], axis=0)) < 2 * k or len(set(rows[2].tolist())) < 2:
        return None
    with engine():
        fit = fit_medoids(table, k, metric="gower", seed=seed)
    agreement = float(adjusted_rand_score(rows[2], fit.labels, sample_weight=rows[1]))
    return SecondOpinion("kmedoids", agreement, len(rows[0]))


def _some_rows(
    used: Source, labels: NDArray[np.int32], seed: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Rows drawn evenly of those that count and are in a group, their weights and labels."""
    weights = map_rows(used, _weights)
    there = np.flatnonzero((weights > 0) & (labels >= 0))
    if len(there) > SECOND:
        there = np.sort(np.random.default_rng([seed, 2]).choice(there, SECOND, replace=False))
    found = []
    for place in np.unique(there // used.block_rows):
        for block in used.blocks(int(place), int(place) + 1):
            mine = there[there // used.block_rows == place]
            found.append(block.rows[mine - block.start].astype(np.float64))
    return np.concatenate(found), weights[there], labels[there]


def _weights(block: Any) -> NDArray[np.float64]:
    return np.asarray(block.weights)


def asked_for(choice: Choice) -> Choice:
    """The choice of one number that the user gave: nothing was compared, and the words say so."""
    groups = "1 group" if choice.k == 1 else f"{choice.k} groups"
    said = "That number was given, so nothing was compared."
    return replace(choice, verdict=f"{groups}. {said}", reasons=(said,), confidence=1.0)
