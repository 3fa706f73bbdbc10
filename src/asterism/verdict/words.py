"""A decision in plain words: the answer first, what it rests on, what else it could be, which criteria agree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from asterism.verdict.decide import Decision

if TYPE_CHECKING:
    from asterism.verdict.mixed import MixedDecision

WORDS = {
    "bic": "BIC",
    "icl": "ICL",
    "entropy": "merging by entropy",
    "gap": "the gap statistic",
    "silhouette": "the silhouette",
    "stability": "stability",
}
CANNOT_SAY_ONE = ("silhouette", "stability")
WALK = 0.85  # measured: docs/decisions/020
FAMILY_RIGHT = 0.75  # measured, as above: of families without places, how often ICL's number is right
FAR_APART = 3.0  # convention: from there on it is said
NOT_ALLOWED = 0.5  # convention: the confidence of a number that is only the nearest of those allowed


@dataclass(frozen=True)
class Evidence:
    """What is known of a table whose rows have no places between them."""

    ks: tuple[int, ...]  # numbers that may be answered
    picks: dict[str, int | None]  # criterion -> its own choice
    components: int  # of the mixture that ICL takes
    sampled: int | None  # rows compared, None: all


@dataclass(frozen=True)
class Verdict:
    """The answer."""

    k: int
    found: int  # before it was held to the numbers allowed
    confidence: float  # 0 to 1
    reasons: tuple[str, ...]
    alternative: int | None = None
    rare: tuple[float, ...] = ()  # rows of the rare groups, which k counts and ``found`` does not
    large: int = 0  # groups beside those, where there are any

    @property
    def text(self) -> str:
        """In plain words, the answer first."""
        head = "There are no groups" if self.found == 1 else f"{self.found} groups"
        if self.alternative is not None:
            head = _either(self.found, self.alternative)
        if not self.rare and self.k != self.found:
            head += f", but of the numbers allowed {self.k} is the nearest"
        if self.rare:
            sure = self.alternative is None or self.large != self.found
            head = head if self.large > 1 and not sure else _large_ones(self.large)
            head += f" and {_rare_ones(self.rare)}, found in all rows"
        return f"{head} (confidence {self.confidence:.0%}). " + " ".join(self.reasons)


def tell(
    decision: Decision, *, walk: bool, picks: dict[str, int | None], sampled: int | None, columns: int
) -> Verdict:
    """The decision on rows of numbers; ``columns`` of the table."""
    found = 1 if walk else decision.found
    other = None if walk or decision.other is None else decision.other.k
    reasons = [
        _because(decision, walk),
        _otherwise(found, other),
        *_agreement(picks, found),
        _sampled(sampled),
        _unseen(float(decision.seen.weights.sum()), columns) if found == 1 and not walk else "",
    ]
    confidence = WALK if walk else decision.confidence
    if decision.k != found:
        confidence = min(confidence, NOT_ALLOWED)
    return Verdict(decision.k, found, round(confidence, 2), tuple(filter(None, reasons)), other)


def tell_mixed(decision: MixedDecision, *, picks: dict[str, int | None], sampled: int | None) -> Verdict:
    """The decision on rows with columns of several kinds."""
    found, k = decision.found, decision.k
    reasons = [
        _because_mixed(decision), _otherwise(found, decision.other), *_agreement(picks, found), _sampled(sampled)
    ]  # fmt: skip
    confidence = decision.confidence if k == found else min(decision.confidence, NOT_ALLOWED)
    return Verdict(k, found, round(confidence, 2), tuple(filter(None, reasons)), decision.other)


def _because_mixed(decision: MixedDecision) -> str:
    null = decision.null
    if null is None:
        return "One group tells the rows as well as any mixture." if decision.found == 1 else ""
    share = min(max(null.explained, 0.0), 1.0)
    would = f"one group whose columns depend on each other as these do explains {share:.0%} of what it wins"
    if decision.found == 1:
        return f"The best mixture has {decision.top} components, but {would}."
    each = "Each group is a component of a mixture"
    if len(decision.proposal.group_of) > decision.k:
        each = "Groups are components of a mixture, those that share rows taken together"
    return f"{each}; {would}."


def with_rare(verdict: Verdict, sizes: tuple[float, ...], large: int) -> Verdict:
    """The verdict on a sample, of whose groups so many are large, with those beside that only all rows show.

    >>> print(with_rare(Verdict(3, 3, 0.9, ()), (410.0, 130.0), 3).text.strip())
    3 large groups and 2 rare groups of 410 and 130 rows, found in all rows (confidence 90%).
    """
    return replace(verdict, k=large + len(sizes), large=large, rare=sizes) if sizes else verdict


def _large_ones(k: int) -> str:
    return "1 large group" if k == 1 else f"{k} large groups"


def _rare_ones(sizes: tuple[float, ...]) -> str:
    rows = _listed([f"{size:.0f}" for size in sizes])
    return f"1 rare group of {rows} rows" if len(sizes) == 1 else f"{len(sizes)} rare groups of {rows} rows"


def judge_family(e: Evidence) -> Verdict:
    """The verdict where groups have no places between them: the number of ICL."""
    found = e.picks.get("icl") or 1
    k = min(e.ks, key=lambda k: (abs(k - found), k))
    reasons = ["ICL, which wants rows to belong clearly, takes this number.", *_agreement(e.picks, found)]
    agree = np.mean([e.picks[name] == found for name in WORDS if e.picks.get(name) is not None] or [True])
    confidence = min(FAMILY_RIGHT, 0.35 + 0.5 * float(agree))
    if k != found:
        confidence = min(confidence, NOT_ALLOWED)
    elif k == max(e.ks) > 1:
        reasons.append("It is also the largest number tried: try more.")
    return Verdict(k, found, round(confidence, 2), tuple(filter(None, [*reasons, _sampled(e.sampled)])))


def _because(decision: Decision, walk: bool) -> str:
    if walk:
        return (
            "Each row is close to the one before it, as in a walk: stretches of it look like groups and are none. "
            "If the order of the rows means nothing, shuffle them and ask again."
        )
    if decision.found == 1:
        if decision.field.best.k > 1:
            return (
                f"The best mixture has {decision.field.best.k} components, but they lie together like one group that "
                "is not normal (even, skewed, curved or heavy-tailed)."
            )
        return "One normal group tells the rows as well as any mixture."
    clear = decision.depth > 1.0
    group_of = decision.proposal.group_of
    if group_of is None:
        seen = "Groups of any shape"
    elif len(group_of) > decision.k:
        seen = "Groups made of several normal components"
    else:
        seen = "Convex groups, each a normal component"
    return f"{seen}: " + (
        "on the best way from each to another the density falls deeper than chance makes it fall in one of a hundred "
        "tables without groups."
        if clear
        else "some of them touch or overlap, and are told apart by place and shape rather than by a valley."
    )


def nearest_seen(rows: float, columns: int) -> float:
    """Standard deviations that two groups of equal size must be apart to be seen in so many rows.

    Nearer than 2 they have no valley between them. Of d columns of noise in n rows the direction with most spread has
    (1 + sqrt(d / n))^2; two groups a apart have 1 + a^2 / 4 along the line between them, and must have more.

    >>> round(nearest_seen(20, 200), 1), nearest_seen(100_000, 2)
    (8.1, 2.0)

    References
    ----------
    1. Baik, Ben Arous, Peche (2005), Phase transition of the largest eigenvalue for nonnull complex sample covariance
       matrices. Annals of Probability 33:1643-1697.
    """
    return max(2.0, 2.0 * float(np.sqrt((1.0 + np.sqrt(columns / rows)) ** 2 - 1.0)))


def _unseen(rows: float, columns: int) -> str:
    apart = nearest_seen(rows, columns)
    if apart < FAR_APART:
        return ""
    return (
        f"{rows:.0f} rows of {columns} columns show two groups of equal size only where they are more than "
        f"{apart:.1f} standard deviations apart: nearer ones would have been missed."
    )


def _either(found: int, other: int) -> str:
    if 1 in (found, other):
        groups = max(found, other)
        first, second = ("No groups", f"{groups} groups") if found == 1 else (f"{groups} groups", "none")
        return f"{first}, or {second}"
    return f"{found} or {other} groups"


def _otherwise(found: int, other: int | None) -> str:
    if other is None:
        return ""
    if other == 1:
        return "The rows may as well be one group of an unusual shape: more rows would tell."
    if found == 1:
        return f"{other} if parts of one uneven cloud count as groups."
    fewer = (
        "groups that nearly touch count as one" if other < found else "parts of a group count by themselves"
    )
    return f"{other} if {fewer}; the rows do not decide between the two."


def _agreement(picks: dict[str, int | None], found: int) -> list[str]:
    judged = [name for name in WORDS if picks.get(name) is not None]
    same = [WORDS[name] for name in judged if picks[name] == found]
    said = [f"{_listed(same)} {'agree' if len(same) > 1 else 'agrees'}."] if same else []
    said += [
        f"{WORDS[name]} would take {picks[name]}{_excuse(name, picks[name] or 0, found)}."
        for name in judged
        if picks[name] != found
    ]
    return [text[0].upper() + text[1:] for text in said]


def _excuse(name: str, pick: int, found: int) -> str:
    if name in CANNOT_SAY_ONE and found == 1:
        return ", but it can never say that there are none"
    if name in ("bic", "icl", "entropy") and pick > found:
        return ": it counts components, of which a group that is not normal has several"
    if name == "gap" and pick < found:
        return ": it is careful where groups differ in size or lie in a row"
    if name in ("silhouette", "stability", "gap"):
        return ": it is about round groups of similar size"
    return ""


def _sampled(rows: int | None) -> str:
    return "" if rows is None else f"Numbers were compared on {rows} rows drawn evenly from the table."


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
