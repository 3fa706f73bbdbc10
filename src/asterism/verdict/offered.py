"""Groups of an earlier table as one more proposal.

They are compared like any other proposal, and taken where the judge expects nearly as much of them as of the best:
groups that are known already need no better reason to stay. Where the table does not differ from the earlier one
beyond chance (``follow.drift``), there is no reason for other groups at all, if these can be had.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asterism.data.source import ArraySource, Source
from asterism.engines.reduce import map_rows
from asterism.errors import AsterismError
from asterism.families.gaussian import GaussianFamily
from asterism.methods.mixture import Settings, Start, fit_mixture
from asterism.methods.posterior import shares_of
from asterism.methods.starts import one_hot
from asterism.verdict.propose import STRUCTURES, Field, Proposal, in_order, proposed, with_enough
from asterism.verdict.rows import draw

Array = NDArray[np.float64]
Index = NDArray[np.int64]
NEARLY = (
    0.05  # convention: adjusted Rand index expected; ``verdict.decide`` calls so much less an answer, too
)
STEPS = 50  # convention: of EM from the old groups


@dataclass(frozen=True, eq=False)
class Offered:
    """Groups of an earlier model, in the rows of the table."""

    labels: NDArray[np.int32]  # (n,) their likeliest old group
    k: int  # old groups
    same: bool  # the table does not differ from the earlier one beyond chance
    convex: bool  # normal groups, one component each

    def of_sample(self, seen: Source, most: int, seed: int) -> Index:
        """(m,) the old groups of the rows that ``draw(seen, most, seed)`` draws."""
        weights = map_rows(seen, lambda block: block.weights)
        codes = ArraySource(self.labels[:, None].astype(np.float64), weights)
        return draw(codes, most, seed).x[:, 0].astype(np.int64)

    @property
    def lead(self) -> float:
        """By how much another proposal must be better."""
        return np.inf if self.same else NEARLY


def proposals_of(field: Field, labels: Index, *, convex: bool) -> list[Proposal]:
    """The partition by old groups, of distinct rows in their order, and normal groups that start from it."""
    groups = with_enough(field, in_order(labels))
    if not groups.any():
        return [Proposal("one", groups)]
    found = [Proposal("density", groups)]
    return [*_normal(field, groups), *found] if convex else found


def _normal(field: Field, groups: Index) -> list[Proposal]:
    """By the structure of the least BIC, where EM keeps all groups."""
    rows, k = ArraySource(field.near.rows, field.near.weights), int(groups.max()) + 1
    d, found = rows.n_columns, []
    for name in STRUCTURES:
        if name in ("VVV", "VVI") and np.bincount(groups).min() <= d + 1:
            continue
        start = Start(shares=one_hot(groups, k))
        try:
            fit = fit_mixture(rows, GaussianFamily(name), k, Settings(max_iter=STEPS), start)
        except AsterismError:
            continue  # too few rows for it
        labels = in_order(shares_of(fit.mixture, rows).argmax(axis=1))
        if int(labels.max()) + 1 == k:
            bic = -2.0 * fit.log_likelihood + fit.mixture.n_parameters * float(np.log(fit.total))
            found.append((bic, proposed(fit.mixture, shares_of(fit.mixture, rows), np.arange(k))))
    return [min(found, key=lambda pair: pair[0])[1]] if found else []
