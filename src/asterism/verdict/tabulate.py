"""The table: every criterion against k, and the k that each would take by its own rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from asterism.families.base import Family
from asterism.methods.cells import Cell, Cells
from asterism.methods.kmeans import KMeansFit, fit_kmeans_path
from asterism.methods.path import fit_path
from asterism.methods.posterior import labels_of, shares_of
from asterism.metrics.internal import calinski_harabasz
from asterism.verdict.criteria import aic, code_length, icl, largest, least, within_by_column
from asterism.verdict.crossval import cross_validated
from asterism.verdict.elbow import knee, second_differences
from asterism.verdict.gap import gap_statistic
from asterism.verdict.merge import merged_by_entropy
from asterism.verdict.offered import Offered
from asterism.verdict.rows import Rows
from asterism.verdict.stability import Classifier, by_kmeans, most_stable, stability

MOST_REPEATED = 20  # convention: groups beyond which gap, stability and cross-validation are not asked
ENOUGH = 600  # rows for what fits many tables: gap, stability, cross-validation


@dataclass(frozen=True)
class Perturbed:
    """Stability under one way to perturb the rows, and the columns of the table that tell it."""

    name: str  # 1 - r / r_rand
    r: str  # share of rows on which two clusterings differ
    how: Literal["subsample", "noise"]


PERTURBED = (Perturbed("stability", "r", "subsample"), Perturbed("noise_stability", "noise_r", "noise"))


class Table(tuple[dict[str, Any], ...]):
    """One dict a k, all with the same keys; ``to_frame()`` gives a ``pyarrow.Table``."""

    __slots__ = ()

    def to_frame(self) -> Any:
        """A ``pyarrow.Table``; ``.to_pandas()`` takes it on."""
        import pyarrow as pa

        return pa.Table.from_pylist([dict(row) for row in self])

    def column(self, name: str) -> dict[int, float]:
        """A criterion by k, where it is known."""
        return {row["k"]: row[name] for row in self if row.get(name) is not None}


Columns = dict[str, dict[int, Any]]
Picks = dict[str, int | None]


@dataclass(frozen=True)
class Question:
    """What was asked for."""

    ks: Any  # numbers of groups to choose from; None: as many as there are
    wanted: frozenset[str]  # criteria
    model: Any = "gaussian"  # see ``choose_k``
    seed: int = 0
    penalty: Callable[[int], float] | None = None
    precision: Any = None
    rare: bool = True  # whether rare groups of a long table count
    offered: Offered | None = None  # groups of an earlier table


def measured(rows: Rows, cells: Cells, best: Cell, question: Question) -> tuple[Table, Picks]:
    """The table and every criterion's own choice."""
    ks, wanted, seed = question.ks, question.wanted, question.seed
    columns, picks = _likelihoods(cells, ks, wanted, question.penalty)
    if best.k > 1:
        picks["entropy"] = merged_by_entropy(shares_of(best.mixture, rows.source), rows.weights).k
    few = rows.some(ENOUGH, np.random.default_rng([seed, 7]))
    most = len(np.unique(few.x, axis=0)) // 2
    small = [k for k in ks if k <= min(max(most, 1), MOST_REPEATED)]
    _distances(columns, picks, rows, ks, wanted, seed, question.precision)
    if "gap" in wanted:
        found = gap_statistic(few, sorted({1, *small}), seed=seed)
        columns["gap"], columns["gap_error"], picks["gap"] = found.gap, found.error, found.k
    for perturbed in PERTURBED:
        if perturbed.name in wanted:
            several = [k for k in small if k > 1]
            clusterer = by_kmeans if question.model == "kmeans" else _by_mixture(best.mixture.family)
            stable = stability(few, several, clusterer, how=perturbed.how, seed=seed) if several else {}
            columns[perturbed.name] = {k: s.score for k, s in stable.items()}
            columns[perturbed.r] = {k: s.r for k, s in stable.items()}
            columns["r_rand"] = {k: s.r_rand for k, s in stable.items()}
            picks[perturbed.name] = most_stable(stable)
    if "cross_validation" in wanted:
        cv = cross_validated(few, best.mixture.family, small, seed=seed)
        columns["cross_validation"], columns["cross_validation_error"] = cv.mean, cv.error
        picks["cross_validation"] = cv.k_within_error
    table = Table({"k": k, **{name: column.get(k) for name, column in columns.items()}} for k in ks)
    return table, picks


def _likelihoods(
    cells: Cells, ks: Sequence[int], wanted: frozenset[str], penalty: Callable[[int], float] | None
) -> tuple[Columns, Picks]:
    """Of every k the mixture of the least BIC; ICL and AIC choose their own structure."""
    at = {
        k: [cell for cell in cells.values() if cell.k == k]
        for k in sorted({cell.k for cell in cells.values()})
    }
    lead = {k: min(some, key=lambda cell: cell.bic) for k, some in at.items()}
    shown: Columns = {
        "structure": {k: cell.structure for k, cell in lead.items()},
        "log_likelihood": {k: cell.log_likelihood for k, cell in lead.items()},
        "parameters": {k: cell.n_parameters for k, cell in lead.items()},
        "bic": {k: cell.bic for k, cell in lead.items()},
        "icl": {k: min(map(icl_of, some)) for k, some in at.items()},
    }
    if "aic" in wanted:
        shown["aic"] = {k: min(aic(c.log_likelihood, c.n_parameters) for c in some) for k, some in at.items()}
    if penalty is not None:
        shown["penalty"] = {k: -2.0 * lead[k].log_likelihood + float(penalty(k)) for k in lead}
    picks: Picks = {name: least(shown[name]) for name in ("bic", "icl", "aic", "penalty") if name in shown}
    return {name: {k: v for k, v in column.items() if k in ks} for name, column in shown.items()}, picks


def icl_of(cell: Cell) -> float:
    """ICL of a finished mixture."""
    return icl(cell.log_likelihood, cell.n_parameters, cell.total, cell.surprise)


def _distances(
    columns: Columns,
    picks: Picks,
    rows: Rows,
    ks: Sequence[int],
    wanted: frozenset[str],
    seed: int,
    precision: Any,
) -> None:
    """What k-means says: all numbers fitted in the same passes."""
    if not wanted & {"elbow", "mdl", "silhouette", "calinski_harabasz", "scatter_ratio"}:
        return
    several = sorted({1, *ks} | {k + 1 for k in ks if k + 1 <= ks[-1] + 1 and k + 1 < len(rows) // 2})
    fits = fit_kmeans_path(rows.source, several, n_init=5, max_iter=100, seed=seed)
    within = {k: fit.inertia for k, fit in fits.items()}
    columns["within"] = within
    if "elbow" in wanted:
        columns["elbow"], picks["elbow"] = dict(second_differences(within)), knee(within)
    if "calinski_harabasz" in wanted:
        found = {k: calinski_harabasz(within[k], within[1], k, rows.total) for k in ks}
        columns["calinski_harabasz"] = {k: v for k, v in found.items() if v is not None}
        picks["calinski_harabasz"] = largest(columns["calinski_harabasz"])
    if "scatter_ratio" in wanted:
        columns["scatter_ratio"] = {k: (within[1] - w) / w for k, w in within.items() if w > 0}
    if "mdl" in wanted:
        columns["mdl"] = {k: _bits(rows, fits[k].labels, k, precision) for k in ks}
        picks["mdl"] = least(columns["mdl"])
    if "silhouette" in wanted:
        columns["silhouette"] = {k: _silhouette(rows, fits[k]) for k in ks if k > 1}
        picks["silhouette"] = largest(columns["silhouette"])


def _bits(rows: Rows, labels: NDArray[np.int32], k: int, precision: Any) -> float:
    mass = np.bincount(labels, rows.weights, k).astype(np.float64)
    return code_length(mass, within_by_column(rows.x, rows.weights, labels, k), rows.spread, precision).total


def _silhouette(rows: Rows, fit: KMeansFit) -> float:
    from asterism.metrics.silhouette import silhouette_score

    return silhouette_score(rows.x, fit.labels, sample_weight=rows.weights)


def _by_mixture(family: Family) -> Callable[[Rows, Sequence[int], int], dict[int, Classifier]]:
    """Mixtures of one family for ``stability``; rows go to the likeliest component."""

    def cluster(rows: Rows, ks: Sequence[int], seed: int) -> dict[int, Classifier]:  # noqa: ARG001  one signature
        cells = fit_path(rows.source, {"": family}, ks, passes=0)
        return {
            k: lambda other, mixture=cell.mixture: labels_of(mixture, other.source)  # type: ignore[misc]
            for (_, k), cell in cells.items()
        }

    return cluster
