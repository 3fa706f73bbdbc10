"""One decision: the proposal that the judge expects most of, what else it could be, and how sure that is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asterism.engines.context import Stages
from asterism.methods.even_linkage import cut, join_evenly
from asterism.verdict.evidence import measure
from asterism.verdict.judge import judge
from asterism.verdict.offered import Offered, proposals_of
from asterism.verdict.propose import MOST_COMPONENTS, Field, Proposal, in_order, propose
from asterism.verdict.seen import Seen

Array = NDArray[np.float64]
Index = NDArray[np.int64]
NEARLY = 0.05  # convention: a proposal expected to be worse by less than this is an answer, too
MOST_GROUPS = 60  # convention: numbers tried where none are given


@dataclass(frozen=True, eq=False)
class Decision:
    """The groups of some rows."""

    found: int  # groups of the best proposal of any number
    proposal: Proposal  # the best of the numbers allowed
    seen: Seen
    field: Field
    score: float  # adjusted Rand index expected of the best proposal
    confidence: float  # how often such a number is right
    other: Proposal | None  # the best of another number, where that is nearly as good
    depth: float  # evidence of the weakest valley between groups, above 1: clear; 0 for one group

    @property
    def k(self) -> int:
        """Groups."""
        return self.proposal.k


def decide(
    rows: Array,
    weights: Array,
    allowed: Collection[int] | None = None,
    offered: tuple[Offered, Index] | None = None,
) -> Decision:
    """The groups of complete rows (n, d), columns in standard units; of any number if none are given.

    ``offered``  groups of an earlier model, and those of these rows (n,)
    """
    stages = Stages("groups", 3)
    seen = Seen.of(rows, weights)
    most = MOST_GROUPS if allowed is None else max(allowed)
    field = Field.of(seen.rows, seen.weights, max(most, min(MOST_COMPONENTS, 2 * most)))
    stages.done()
    proposals = propose(field, max(most, 2))
    known = [] if offered is None else _offered(field, seen, proposals, *offered)
    stages.done()
    names, evidence = measure(field, proposals)
    stages.done()
    ours = judge()
    ks = np.array([proposal.k for proposal in proposals])
    scores = ours.scores(names, evidence) - np.where(ks > 1, ours.lead, 0.0)
    best = int(scores.argmax())
    if offered is not None and known:
        likeliest = max(known, key=lambda i: float(scores[i]))
        best = likeliest if scores[likeliest] >= scores[best] - offered[0].lead else best
    found = int(ks[best])
    others = np.flatnonzero(ks != found)
    lead = float(scores[best] - scores[others].max()) if len(others) else 1.0
    other = proposals[int(others[scores[others].argmax()])] if len(others) and lead < NEARLY else None
    possible = np.isin(ks, list(allowed)) if allowed is not None else np.ones(len(ks), bool)
    if possible[best]:
        proposal = proposals[best]
    elif possible.any():
        proposal = proposals[int(np.where(possible, scores, -np.inf).argmax())]
    else:
        proposal = _of_number(field, min(allowed or {1}, key=lambda k: (abs(k - found), k)))
    depth = _weakest_valley(field, proposals[best]) if found > 1 else 0.0
    return Decision(
        found, proposal, seen, field, float(scores[best]),
        ours.confidence(float(scores[best]), lead, found == 1), other, depth,
    )  # fmt: skip


def _offered(
    field: Field, seen: Seen, proposals: list[Proposal], offered: Offered, labels: Index
) -> list[int]:
    """Places of the old groups among the proposals; those that are not there yet join them."""
    own = np.zeros(len(seen.rows), np.int64)
    own[seen.place] = labels
    places = []
    for proposal in proposals_of(field, own, convex=offered.convex):
        equal = [i for i, other in enumerate(proposals) if np.array_equal(other.labels, proposal.labels)]
        if not equal:
            proposals.append(proposal)
        places += equal[:1] or [len(proposals) - 1]
    return places


def _weakest_valley(field: Field, proposal: Proposal) -> float:
    """The least, over groups, of the clearest valley that parts a group from another."""
    valleys = [valley for tree in field.trees for valley in tree.valleys]
    clearest = np.zeros(proposal.k)
    for valley in valleys:
        sides = [int(np.bincount(proposal.labels[peak]).argmax()) for peak in valley.peaks]
        if sides[0] != sides[1]:
            clearest[sides] = np.maximum(clearest[sides], valley.evidence)
    return float(clearest.min())


def _of_number(field: Field, k: int) -> Proposal:
    """A number that no proposal has: the nearest mixture, or linkage."""
    pairs, lengths = field.near.tree
    sizes = np.maximum(np.rint(field.near.weights), 1).astype(np.int64)
    n = len(field.near.rows)
    order = join_evenly(pairs, lengths, sizes, 0.1)
    return Proposal("linkage", in_order(cut(pairs, n, order[: n - min(k, n)])))
