"""How many groups: every criterion in one table, one verdict, how sure it is, and why.

draw rows -> mixtures of every k and structure -> BIC's components -> valleys -> groups -> verdict -> whole table
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.choose.families import HEAVY, Compared, compared_for
from asterism.choose.null import walks
from asterism.choose.rows import Drawn, Rows, draw, spread_in_cells
from asterism.choose.tabulate import Question, Table, icl_of, measured
from asterism.choose.valley import SURE, VERY_SURE, Groups, groups_by_valleys
from asterism.choose.verdict import Evidence, judge
from asterism.data.block import Block
from asterism.data.read import read
from asterism.data.source import ArraySource, Source
from asterism.engines.loop import iterate
from asterism.engines.reduce import map_rows, reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import DataError, ParameterError, TooFewRowsError
from asterism.families.assignment import assign
from asterism.families.base import Array
from asterism.methods.cells import Cell, Cells
from asterism.methods.em import EM, MixtureModel, pieces
from asterism.methods.kmeans import fit_kmeans
from asterism.methods.path import fit_path
from asterism.methods.posterior import Mixture, classify_rows, imputed, shares_of
from asterism.stats.moments import ColumnMoments

LOOKED_AT = 3000  # rows that numbers are compared on
PATIENCE = 5  # numbers in a row that BIC likes less, after which a structure is not asked for larger ones
CRITERIA = (
    "aic", "bic", "icl", "mdl", "cross_validation", "elbow", "gap", "stability", "silhouette",
    "calinski_harabasz", "scatter_ratio", "penalty",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Choice:
    """How many groups, and how that came about."""

    k: int
    confidence: float  # 0 to 1
    reasons: tuple[str, ...]  # plain words
    verdict: str  # the answer and the reasons
    table: Table  # one row a k: every criterion
    picks: dict[str, int | None]  # criterion -> the k it would take
    structure: str | None  # of the mixture: a covariance structure, "student VVV", a family's name
    components: int  # of the mixture: more than k where groups are not normal
    group_of: NDArray[np.int64]  # (components,) the group of each
    model: Any = field(repr=False)  # Mixture, or KMeansFit for "kmeans"
    labels: NDArray[np.int32] = field(repr=False)  # (n,) groups, from the heaviest down; -1 for absent rows

    def plot(self) -> Any:
        """Every criterion against k, as a plotly figure."""
        from asterism.choose.plots import criteria_figure

        return criteria_figure(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything but labels and model."""
        return {
            "version": 1,
            "k": self.k,
            "confidence": self.confidence,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "picks": self.picks,
            "structure": self.structure,
            "components": self.components,
            "sizes": np.bincount(self.labels[self.labels >= 0], minlength=self.k).tolist(),
            "table": [dict(row) for row in self.table],
        }


def choose_k(
    X: Any,
    model: Any = "gaussian",
    k: int | Iterable[int] = range(1, 11),
    criteria: str | Sequence[str] = "all",
    *,
    sample_weight: Any = None,
    random_state: Any = None,
    penalty: Callable[[int], float] | None = None,
    precision: Any = None,
    structures: Sequence[str] | None = None,
) -> Choice:
    """Choose the number of groups of a table.

    ``X``           path, ``Source``, data frame or array; columns are taken in their own units
    ``model``       "gaussian" (normal and heavy-tailed mixtures of several covariance structures), "kmeans",
                    "student", "poisson", "bernoulli", "categorical", "multinomial", or a family
    ``k``           numbers of groups to choose from; with 1 among them the answer may be "there are no groups"
    ``criteria``    "all", or names out of ``CRITERIA``: what else is put into the table. The verdict needs BIC, ICL
                    and valleys and is the same for any choice, only its confidence listens to the others
    ``penalty``     a function p(k): the table gets a column -2 log-likelihood + p(k)
    ``precision``   (d,) or one number: cells' precision for the code length; 1/1000 of each column's spread if None
    ``structures``  covariance structures to choose from

    Tables of more than 3,000 rows are judged by an even sample; labels and model are of the whole table.

    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (80, 2)), rng.normal(9, 1, (60, 2))])
    >>> choice = choose_k(X, random_state=0, criteria=["bic", "icl"])
    >>> choice.k, np.bincount(choice.labels).tolist()
    (2, [80, 60])
    """
    from asterism.estimators.base import seed_of

    wanted = _wanted(criteria, penalty)
    source = _as_source(X, sample_weight)
    seed = seed_of(random_state) % 2**31
    compared = compared_for(model, source.n_columns, structures)
    with one_blas_thread():
        moments = reduce(source, ColumnMoments.of)
        drawn = draw(source, LOOKED_AT, seed)
        ks = _numbers(k, drawn)
        if compared.continuous:
            drawn = replace(drawn, x=spread_in_cells(drawn.x, seed))
        cells = _cells(drawn, compared, ks)
        question = Question(ks, wanted, model, seed, penalty, precision)
        return decided(source, moments, drawn, cells, question, compared.valleys)


def decided(
    source: Source,
    moments: ColumnMoments,
    drawn: Drawn,  # of the source
    cells: Cells,  # mixtures of these rows
    question: Question,
    valleys: bool = True,
) -> Choice:
    """What mixtures that have been fitted say."""
    best = min(cells.values(), key=lambda cell: cell.bic)
    clearest = min(cells.values(), key=icl_of)
    rows = _complete(drawn, best)
    groups = _groups(rows, best, clearest, valleys, question.seed)
    table, picks = measured(rows, cells, best, question)
    evidence = Evidence(
        ks=tuple(question.ks),
        picks=picks,
        groups=groups.k if valleys else None,
        components=best.k,
        weakest=groups.weakest,
        walk=valleys and walks(source, moments.variance),
        surprise=clearest.surprise / clearest.total,
        smallest=float(clearest.mass.min() / clearest.total),
        heavy=best.structure.startswith(HEAVY) and question.model != "student",
        sampled=None if drawn.whole else len(drawn.x),
    )
    verdict = judge(evidence)
    k = verdict.k
    if isinstance(question.model, str) and question.model == "kmeans":
        fitted: Any = fit_kmeans(source, k, n_init=5, seed=question.seed)
        labels, group_of, structure = fitted.labels, np.arange(k), None
    else:
        cell, group_of = _for_number(cells, best, groups, k)
        fitted = cell.mixture if drawn.whole else _on_whole(source, cell)
        labels = map_rows(source, partial(_group_labels, fitted, group_of))
        structure = cell.structure
    labels, group_of = _heaviest_first(source, labels, group_of, k)
    return Choice(
        k=k, confidence=verdict.confidence, reasons=verdict.reasons, verdict=verdict.text, table=table, picks=picks,
        structure=structure, components=len(group_of), group_of=group_of, model=fitted, labels=labels,
    )  # fmt: skip


def choose_for_find(
    source: Source, ks: Iterable[int] | None = None, *, seed: int = 0, model: Any = "gaussian"
) -> Choice:
    """For ``asterism.find``: a source that is encoded already, and the numbers allowed (1 to 10 if None)."""
    return choose_k(source, model, range(1, 11) if ks is None else ks, ["silhouette", "gap", "stability"],
                    random_state=seed)  # fmt: skip


# --- what was asked for -----------------------------------------------------------------------------------------


def _as_source(X: Any, sample_weight: Any) -> Source:
    source = read(X, weights=None if isinstance(X, Source) else sample_weight)
    if isinstance(X, Source) and sample_weight is not None:
        from asterism.estimators.base import WeightedSource

        source = WeightedSource(source, sample_weight)
    for column in source.columns:
        if column.kind == "categorical":
            raise DataError(
                "the cells are names without an order, but mixtures of numbers are compared.",
                "Leave the column out, encode it, or use asterism.find, which takes mixed tables.",
                column=column.name,
            )
    return source


def _wanted(criteria: str | Sequence[str], penalty: Any) -> frozenset[str]:
    if criteria == "all":
        return frozenset(CRITERIA) - (frozenset() if penalty else {"penalty"})
    names = [criteria] if isinstance(criteria, str) else list(criteria)
    for name in names:
        if name not in CRITERIA:
            raise ParameterError(
                f"There is no criterion {name!r}.", f"Give 'all', or some of {', '.join(CRITERIA)}."
            )
    return frozenset(names) | {"bic", "icl"} | ({"penalty"} if penalty else frozenset())


def _numbers(k: int | Iterable[int], drawn: Drawn) -> list[int]:
    given = list(k) if isinstance(k, Iterable) else [k]
    whole = all(isinstance(number, int | np.integer) and not isinstance(number, bool) for number in given)
    if not given or not whole or min(given) < 1:
        raise ParameterError(f"k is {k!r}.", "Give whole numbers, 1 or more.")
    distinct = len(np.unique(drawn.x, axis=0))
    ks = sorted({int(number) for number in given if number <= max(distinct - 1, 1)})
    if not ks:
        raise TooFewRowsError(
            f"{min(given)} groups or more were asked for, but the table has {distinct} distinct rows that count.",
            f"Ask for fewer than {distinct}.",
        )
    return ks


# --- mixtures and groups ----------------------------------------------------------------------------------------


def _cells(drawn: Drawn, compared: Compared, ks: list[int]) -> Cells:
    total, d = float(drawn.weights.sum()), drawn.x.shape[1]
    distinct = len(np.unique(drawn.x, axis=0))
    tried = sorted({1, *ks, *range(1, min(ks[-1] + compared.extra, max(distinct - 1, 1)) + 1)})
    table, families = ArraySource(drawn.x, drawn.weights), compared.families
    search = partial(
        fit_path,
        table,
        within=lambda name, number: compared.large_enough(name, number, total, d),
        patience=PATIENCE if ks[0] == 1 else None,  # numbers that were asked for must be there
    )
    heavy = {name: family for name, family in families.items() if name.startswith(HEAVY)}
    if len(heavy) in (0, len(families)):
        return search(families, tried)
    cells = search({name: family for name, family in families.items() if name not in heavy}, tried)
    lead = min(cells.values(), key=lambda cell: cell.bic)
    # Heavy tails cost more and take no more components: only of the leading structure, up to its number.
    name = HEAVY + lead.structure
    fewer = [number for number in tried if number <= lead.k]
    return cells | search({name: heavy[name]}, fewer, known=cells) if name in heavy else cells


def _complete(drawn: Drawn, best: Cell) -> Rows:
    """The rows without holes: missing cells are what the best mixture expects there."""
    if not np.isnan(drawn.x).any():
        return Rows(drawn.x, drawn.weights)
    return Rows(imputed(best.mixture, ArraySource(drawn.x, drawn.weights)), drawn.weights)


def _groups(rows: Rows, best: Cell, clearest: Cell, valleys: bool, seed: int) -> Groups:
    """BIC's components brought together. Where ICL sees no groups, a valley has to be clearer to be believed."""
    if not valleys or best.k == 1:
        return Groups(np.arange(best.k))
    shares = shares_of(best.mixture, rows.source)
    return groups_by_valleys(rows, shares, seed, SURE if clearest.k > 1 else VERY_SURE)


# --- the whole table --------------------------------------------------------------------------------------------


def _for_number(cells: Cells, best: Cell, groups: Groups, k: int) -> tuple[Cell, NDArray[np.int64]]:
    """The mixture to answer with: BIC's with its components merged to k groups, or the best one of k components."""
    if groups.k == k:
        return best, groups.group_of
    own = [cell for cell in cells.values() if cell.k == k]
    if own:
        return min(own, key=lambda cell: cell.bic), np.arange(k)
    return best, np.minimum(np.arange(best.k), k - 1)


def _on_whole(source: Source, cell: Cell) -> Mixture:
    """The mixture of a sample, fitted on to the whole table."""
    start = MixtureModel(cell.mixture.weights, cell.mixture.params)
    model = iterate(EM(cell.mixture.family), source, [start], max_iter=50)[0].model
    return replace(cell.mixture, weights=model.weights, params=model.params)


def _group_labels(mixture: Mixture, group_of: NDArray[np.int64], block: Block) -> NDArray[np.int32]:
    """Labels of groups: shares of components of one group add up before the likeliest is taken."""
    if len(group_of) == int(group_of.max()) + 1:
        return group_of[classify_rows(mixture, block)[0]].astype(np.int32)
    into = np.eye(int(group_of.max()) + 1)[group_of]
    parts = [np.asarray(assign(mixture.scores(p), "soft")[0] @ into).argmax(axis=1) for _, p in pieces(block)]
    return np.concatenate(parts).astype(np.int32)


def _heaviest_first(
    source: Source, labels: NDArray[np.int32], group_of: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    weights: Array = map_rows(source, lambda block: block.weights)
    mass = np.bincount(labels, weights, k)
    new = np.empty(k, np.int64)
    new[np.lexsort((np.arange(k), -mass))] = np.arange(k)
    return np.where(weights > 0, new[labels], -1).astype(np.int32), new[group_of]
