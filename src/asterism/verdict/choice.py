"""A choice of the number of groups, and how it is carried from a sample to the whole table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.data.source import Source
from asterism.engines.journal import checkpointed
from asterism.engines.loop import iterate
from asterism.engines.reduce import map_rows
from asterism.families.assignment import assign
from asterism.families.base import Array
from asterism.methods.em import EM, MixtureModel, pieces
from asterism.methods.posterior import Mixture, classify_rows
from asterism.methods.regions import Regions
from asterism.verdict.tabulate import Table
from asterism.verdict.view import View

STEPS = 20  # convention: of EM on the whole table, from where a sample has led


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
    model: Any = field(
        repr=False
    )  # of the rows as ``view`` shows them: Mixture, Regions, or KMeansFit for "kmeans"
    labels: NDArray[np.int32] = field(repr=False)  # (n,) groups, from the heaviest down; -1 for absent rows
    alternative: int | None = None  # another number of groups that is nearly as good
    view: View = field(default_factory=View, repr=False)  # how the model sees the rows
    seen: Mixture | None = field(
        default=None, repr=False
    )  # the mixture of the least BIC, of rows in that view

    def plot(self) -> Any:
        """Every criterion against k, as a plotly figure."""
        from asterism.verdict.plots import criteria_figure

        return criteria_figure(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything but labels and model."""
        return {
            "version": 1,
            "k": self.k,
            "confidence": self.confidence,
            "alternative": self.alternative,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
            "picks": self.picks,
            "structure": self.structure,
            "components": self.components,
            "sizes": np.bincount(self.labels[self.labels >= 0], minlength=self.k).tolist(),
            "table": [dict(row) for row in self.table],
        }


def fit_on_whole(source: Source, mixture: Mixture) -> Mixture:
    """The mixture of a sample, fitted on to the whole table."""
    start = MixtureModel(mixture.weights, mixture.params)
    with checkpointed(source):
        model = iterate(EM(mixture.family), source, [start], max_iter=STEPS)[0].model
    return replace(mixture, weights=model.weights, params=model.params)


def group_labels(mixture: Mixture | Regions, group_of: NDArray[np.int64], block: Block) -> NDArray[np.int32]:
    """Labels of groups: shares of components of one group add up before the likeliest is taken."""
    if isinstance(mixture, Regions):
        rows = np.where(np.isfinite(block.rows), block.rows, 0.0)
        return np.asarray(mixture.log_densities(rows).argmax(axis=1), np.int32)
    if len(group_of) == int(group_of.max()) + 1:
        return group_of[classify_rows(mixture, block)[0]].astype(np.int32)
    into = np.eye(int(group_of.max()) + 1)[group_of]
    parts = [np.asarray(assign(mixture.scores(p), "soft")[0] @ into).argmax(axis=1) for _, p in pieces(block)]
    return np.concatenate(parts).astype(np.int32)


def heaviest_first(
    source: Source, labels: NDArray[np.int32], group_of: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Labels and components with the heaviest group first; -1 for absent rows."""
    weights: Array = map_rows(source, lambda block: block.weights)
    mass = np.bincount(labels, weights, k)
    new = np.empty(k, np.int64)
    new[np.lexsort((np.arange(k), -mass))] = np.arange(k)
    return np.where(weights > 0, new[labels], -1).astype(np.int32), new[group_of]
