"""What people say of pairs of rows, "same" or "different", beside what a clustering says.

A clustering says "same" of rows i and j with

    p_ij = sum_c r_ic r_jc        0 or 1 for labels; for soft memberships the chance that both are in one group

and a judgement of weight w adds to the counts

    said "same":       TP += w p_ij    FN += w (1 - p_ij)
    said "different":  FP += w p_ij    TN += w (1 - p_ij)

Several people may judge a pair and may disagree: each judgement counts, and the pairs they are split on are reported.
Agreement among them is the share of pairs of judgements on one pair of rows that say the same, and Krippendorff's
alpha, which takes chance out of it: 1 - observed / expected disagreement.

References
----------
1. Krippendorff (2019), Content Analysis, 4th ed., chapter 12.
2. Cochran (1977), Sampling Techniques, 3rd ed., 5.5: optimum allocation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.data.source import checked_weights
from asterism.errors import DataError, ParameterError
from asterism.metrics.asking import pairs_to_ask
from asterism.metrics.labels import labels_of
from asterism.metrics.pairs import share
from asterism.stats.contingency import totals

__all__ = ["Annotator", "JudgedPairs", "SplitPair", "judged_pairs_score", "pairs_to_ask"]

SUMS_TO_ONE = 1e-6


@dataclass(frozen=True, slots=True)
class Annotator:
    """One person beside the clustering, and beside the others."""

    name: Any
    judgements: float  # their weight
    accuracy: float  # share of them that the clustering agrees with
    agreement: float  # share of the others' judgements on the same pairs that say the same; NaN where none


@dataclass(frozen=True, slots=True)
class SplitPair:
    """A pair of rows that people disagree about."""

    first: int
    second: int
    same: float  # weight of the judgements that say "same"
    different: float
    together: float  # p_ij: what the clustering says


@dataclass(frozen=True)
class JudgedPairs:
    """A clustering beside judgements of pairs. Shares of nothing are 1."""

    tp: float
    fp: float
    fn: float
    tn: float
    n_judgements: int  # of weight above 0
    n_pairs: int  # different pairs of rows among them
    agreement: float  # of people among each other; NaN where no pair was judged twice
    alpha: float  # Krippendorff's; NaN where no pair was judged twice, 1 where nobody could disagree
    annotators: tuple[Annotator, ...]  # one each, in the order of their names
    disagreements: tuple[SplitPair, ...]  # most evenly split first
    ask_next: NDArray[np.int64]  # (m, 2) pairs worth a judgement, the most informative first

    @property
    def accuracy(self) -> float:
        """(TP + TN) / all."""
        return share(self.tp + self.tn, self.tp + self.fp + self.fn + self.tn)

    @property
    def precision(self) -> float:
        """TP / (TP + FP)."""
        return share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """TP / (TP + FN)."""
        return share(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float:
        """2 TP / (2 TP + FP + FN)."""
        return share(2 * self.tp, 2 * self.tp + self.fp + self.fn)


def judged_pairs_score(
    labels: Any,
    pairs: Any,
    same: Any,
    *,
    annotators: Any = None,
    sample_weight: Any = None,
    ask: int = 10,
    random_state: int | None = 0,
) -> JudgedPairs:
    """Score a clustering by a partial list of judgements on pairs of rows.

    ``labels``         (n,) labels, or (n, k) soft memberships whose rows sum to 1
    ``pairs``          (m, 2) row numbers, from 0; a pair may be judged several times
    ``same``           (m,) True where the two rows belong together, in the judge's opinion
    ``annotators``     (m,) who said so; everything is one person's if not given
    ``sample_weight``  (m,) how much each judgement counts
    ``ask``            how many pairs to propose for the next judgements

    >>> labels = [0, 0, 1, 1, 2, 3, 4, 5]
    >>> s = judged_pairs_score(labels, [[0, 1], [2, 3], [4, 7], [6, 7]], [True, False, True, False], ask=0)
    >>> s.tp, s.fp, s.fn, s.tn, s.accuracy
    (1.0, 1.0, 1.0, 1.0, 0.5)
    """
    member = Membership.of(labels)
    judged = Judgements.of(member.n, pairs, same, annotators, sample_weight)
    p = member.together(judged.pairs)
    said, w = judged.same, judged.weights
    yes, no = w * said, w * ~said
    agreement, alpha = judged.agreement()
    next_pairs = pairs_to_ask(
        labels, ask, judged=judged.pairs, same=said, sample_weight=w, random_state=random_state
    )
    return JudgedPairs(
        tp=float(yes @ p),
        fp=float(no @ p),
        fn=float(yes @ (1.0 - p)),
        tn=float(no @ (1.0 - p)),
        n_judgements=len(w),
        n_pairs=judged.n_distinct,
        agreement=agreement,
        alpha=alpha,
        annotators=judged.by_annotator(p),
        disagreements=judged.splits(p),
        ask_next=next_pairs,
    )


@dataclass(frozen=True)
class Membership:
    """Hard or soft groups of rows."""

    codes: NDArray[Any] | None  # (n,) of a hard clustering
    shares: NDArray[np.float64] | None  # (n, k) of a soft one
    n: int

    @classmethod
    def of(cls, labels: Any) -> Membership:
        """From labels (n,) or memberships (n, k)."""
        array = np.asarray(labels)
        if array.ndim != 2 or array.shape[1] == 1:
            codes = labels_of(array).codes
            return cls(codes, None, len(codes))
        shares = array.astype(np.float64)
        bad = np.flatnonzero(~(np.abs(shares.sum(axis=1) - 1.0) <= SUMS_TO_ONE) | (shares < 0).any(axis=1))
        if len(bad):
            raise DataError(
                f"the memberships are {shares[bad[0]].tolist()}.",
                "Soft memberships are 0 or more and sum to 1 in every row.",
                row=int(bad[0]),
            )
        return cls(None, shares, len(shares))

    def together(self, pairs: NDArray[np.int64]) -> Vector:
        """(m,) p_ij of pairs."""
        i, j = pairs.T
        if self.shares is None:
            assert self.codes is not None
            same: NDArray[np.bool_] = self.codes[i] == self.codes[j]
            return same.astype(np.float64)
        p: Vector = np.einsum("ij,ij->i", self.shares[i], self.shares[j])
        return p


@dataclass(frozen=True)
class Judgements:
    """Checked judgements, each pair with the smaller row first."""

    pairs: NDArray[np.int64]  # (m, 2)
    same: NDArray[np.bool_]  # (m,)
    weights: Vector  # (m,) above 0
    who: NDArray[Any]  # (m,) codes of the annotators
    names: NDArray[Any]  # their names
    pair: NDArray[np.intp]  # (m,) number of the pair among the different ones
    n_distinct: int

    @classmethod
    def of(cls, n: int, pairs: Any, same: Any, annotators: Any, sample_weight: Any) -> Judgements:
        """Check what was given."""
        table = np.asarray(pairs)
        if table.size == 0:
            table = np.zeros((0, 2), np.int64)
        if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
            raise ParameterError("pairs is not a list of two row numbers each.", "Give whole numbers (m, 2).")
        said = np.asarray(same)
        if said.shape != (len(table),) or not np.isin(said, (0, 1)).all():
            raise ParameterError(
                f"same has the shape {said.shape} for {len(table)} pairs, or holds more than True and False.",
                "Give True (same) or False (different) for every pair.",
            )
        outside = np.flatnonzero(((table < 0) | (table >= n)).any(axis=1) | (table[:, 0] == table[:, 1]))
        if len(outside):
            raise DataError(
                f"judgement {outside[0]} is about rows {table[outside[0]].tolist()} of {n} rows.",
                "Give two different rows of the table, counted from 0.",
            )
        m = len(table)
        w = np.ones(m) if sample_weight is None else checked_weights(sample_weight, m)
        by = np.zeros(m, np.int64) if annotators is None else np.asarray(annotators)
        if by.shape != (m,):
            raise ParameterError(f"annotators has the shape {by.shape} for {m} judgements.", "Give one each.")
        kept = w > 0
        ordered = np.sort(table[kept].astype(np.int64), axis=1)
        who = labels_of(by[kept], what="annotators")
        _, place = np.unique(ordered[:, 0] * max(n, 1) + ordered[:, 1], return_inverse=True)
        distinct = int(place.max()) + 1 if len(place) else 0
        return cls(ordered, said[kept].astype(bool), w[kept], who.codes, who.levels, place, distinct)

    def votes(self) -> NDArray[np.float64]:
        """(distinct pairs, 2) weight of "different" and of "same"."""
        return totals(2 * self.pair + self.same, self.weights, 2 * self.n_distinct).reshape(-1, 2)

    def agreement(self) -> tuple[float, float]:
        """Share of agreeing pairs of judgements on one pair of rows; Krippendorff's alpha (nominal)."""
        votes = self.votes()
        each = votes.sum(axis=1)
        several = each > 1
        if not several.any():
            return float("nan"), float("nan")
        v, m = votes[several], each[several]
        agreeing = (v * (v - 1)).clip(0).sum(axis=1)
        agreement = float(agreeing.sum() / (m * (m - 1)).sum())
        observed = float((2 * v[:, 0] * v[:, 1] / (m - 1)).sum() / m.sum())
        different, same = v.sum(axis=0)
        expected = float(2 * different * same / (m.sum() * (m.sum() - 1)))
        return agreement, 1.0 - observed / expected if expected > 0 else 1.0

    def by_annotator(self, p: Vector) -> tuple[Annotator, ...]:
        """Each person beside the clustering and beside the others."""
        k = len(self.names)
        right = np.where(self.same, p, 1.0 - p)
        mass = np.bincount(self.who, self.weights, k)
        hits = np.bincount(self.who, self.weights * right, k)
        votes = self.votes()[self.pair]
        own = votes[np.arange(len(self.pair)), self.same.astype(int)] - self.weights
        others = votes.sum(axis=1) - self.weights
        agreeing = np.bincount(self.who, self.weights * own, k)
        asked = np.bincount(self.who, self.weights * others, k)
        found = zip(self.names.tolist(), mass, hits, agreeing, asked, strict=True)
        return tuple(
            Annotator(name, float(m), share(h, m), float(a / o) if o > 0 else float("nan"))
            for name, m, h, a, o in found
        )

    def splits(self, p: Vector) -> tuple[SplitPair, ...]:
        """Pairs with votes for both, the most evenly split first."""
        votes = self.votes()
        split = np.flatnonzero(votes.min(axis=1, initial=np.inf) > 0) if len(votes) else np.zeros(0, int)
        first = np.zeros(self.n_distinct, np.int64)
        first[self.pair[::-1]] = np.arange(len(self.pair))[::-1]  # where each pair was first judged
        even = votes[split].min(axis=1, initial=np.inf) / votes[split].sum(axis=1) if len(split) else split
        order = split[np.argsort(-even, kind="stable")]
        return tuple(
            SplitPair(int(i), int(j), float(yes), float(no), float(p[at]))
            for at, (i, j), (no, yes) in zip(
                first[order], self.pairs[first[order]], votes[order], strict=True
            )
        )
