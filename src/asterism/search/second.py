"""A second opinion: medoids on Gower's dissimilarity, which knows nothing of mixtures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.source import ArraySource, Source
from asterism.engines.context import engine
from asterism.engines.reduce import map_rows
from asterism.methods.medoids import fit_medoids

SECOND = 2000  # rows that the second opinion is asked about


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
