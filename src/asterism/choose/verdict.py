"""From what the criteria say to one number of groups, a confidence and reasons in plain words.

The rule, and what was measured on the way to it, is in ``docs/decisions/011-how-the-verdict-is-formed.md``:

1. Rows that follow each other like the steps of a walk have no groups.
2. Components that BIC chose (normal or Student, any structure) are brought together wherever no valley lies between
   them (``valley``). What is left are the groups; one is "no groups". Where ICL takes 1, valleys must be clearer.
3. Where valleys leave fewer, but ICL takes two or three large components that are clear, these overlap: they are
   taken, with little confidence. Where BIC does not take the same number, they must be clearer.

The other criteria do not vote on k. They say how much to trust it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

WORDS = {
    "bic": "BIC",
    "icl": "ICL",
    "entropy": "merging by entropy",
    "gap": "the gap statistic",
    "silhouette": "the silhouette",
    "stability": "stability",
    "cross_validation": "cross-validated likelihood",
    "mdl": "the shortest code",
    "calinski_harabasz": "Calinski-Harabasz",
    "aic": "AIC",
    "elbow": "the elbow",
    "penalty": "your own penalty",
}
WITNESSES = ("bic", "icl", "entropy", "gap", "silhouette", "stability")  # whose agreement counts
CANNOT_SAY_ONE = ("silhouette", "stability", "elbow", "calinski_harabasz")
AGREE = (0.0, 0.3, 0.5, 0.8, 1.0)  # share of the criteria that take the same number
SOME_RIGHT = (0.2, 0.4, 0.9, 0.91, 0.95)  # how often such a verdict is right: of groups,
NONE_RIGHT = (0.6, 0.75, 0.9, 0.92, 0.95)  # and of no groups
AT_MOST = {"valley": 1.0, "overlap": 0.75, "icl": 0.75}  # by the rule that gave the number
OVERLAP_CLEAR = 0.1  # surprise a row below which overlapping components are clear enough,
OVERLAP_CLEARER = 0.03  # and where BIC takes another number


@dataclass(frozen=True)
class Evidence:
    """All that is known about a table's groups."""

    ks: tuple[int, ...]  # numbers that may be answered
    picks: dict[str, int | None]  # criterion -> its own choice
    groups: int | None  # after merging by valleys; None where the family has no valleys (names, 0/1)
    components: int  # of BIC's mixture
    weakest: float  # p of the least clear valley
    walk: bool
    surprise: float  # of ICL's mixture, a row
    smallest: float  # share of its smallest component
    heavy: bool  # Student components told the rows better
    sampled: int | None  # rows looked at, None: all
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Verdict:
    """The answer."""

    k: int
    found: int  # what the rule said, before it was held to the numbers allowed
    confidence: float  # 0 to 1
    reasons: tuple[str, ...]

    @property
    def text(self) -> str:
        """In plain words, the answer first."""
        head = "There are no groups" if self.found == 1 else f"{self.found} groups"
        if self.k != self.found:
            head += f", but of the numbers allowed {self.k} is the nearest"
        return f"{head} (confidence {self.confidence:.0%}). " + " ".join(self.reasons)


def judge(e: Evidence) -> Verdict:
    """The verdict on the evidence."""
    found, rule = _answer(e)
    confidence = _confidence(e, found, rule)
    reasons = [_because(e, found, rule), *_agreement(e, found), *_beside(e, found), *e.notes]
    k = min(e.ks, key=lambda k: (abs(k - found), k))
    if k != found:
        confidence = min(confidence, 0.5)
    elif k == max(e.ks) and len(e.ks) > 1 and k > 1 and e.components >= max(e.ks):
        reasons.append("It is also the largest number tried: try more.")
        confidence = min(confidence, 0.6)
    return Verdict(k, found, round(confidence, 2), tuple(reason for reason in reasons if reason))


def _answer(e: Evidence) -> tuple[int, str]:
    if e.walk:
        return 1, "walk"
    if e.groups is None:
        return e.picks.get("icl") or 1, "icl"
    if _overlap(e, e.groups):
        return e.picks["icl"] or 1, "overlap"
    return e.groups, "valley"


def _overlap(e: Evidence, groups: int) -> bool:
    """Two or three large components, told apart well by their shape or place though no valley shows."""
    k = e.picks.get("icl") or 1
    clear = OVERLAP_CLEAR if e.picks.get("bic") == k else OVERLAP_CLEARER
    return max(groups, 1) < k <= 3 and e.surprise <= clear and e.smallest >= 0.1


def _confidence(e: Evidence, found: int, rule: str) -> float:
    """How often verdicts with as much agreement were right (``docs/decisions/020``)."""
    if rule == "walk":
        return 0.85
    judged = _judges(e, found)
    agree = sum(e.picks[name] == found for name in judged) / max(len(judged), 1)
    often = float(np.interp(agree, AGREE, NONE_RIGHT if found == 1 else SOME_RIGHT))
    return min(often, AT_MOST[rule])


def _judges(e: Evidence, found: int) -> list[str]:
    """Criteria whose agreement counts: those that were asked and could have said it."""
    return [
        name
        for name in WITNESSES
        if e.picks.get(name) is not None and not (found == 1 and name in CANNOT_SAY_ONE)
    ]


def _because(e: Evidence, found: int, rule: str) -> str:
    if rule == "walk":
        return (
            "Each row is close to the one before it, as in a walk: stretches of it look like groups and are none. "
            "If the order of the rows means nothing, shuffle them and ask again."
        )
    if rule == "icl":
        return "ICL, which wants rows to belong clearly, takes this number."
    if rule == "overlap":
        return (
            f"ICL finds {found} components to which rows clearly belong, but not all have fewer rows between them "
            "than within. "
            "They differ in place or shape; those that overlap may as well be one group of an unusual shape."
        )
    if found > 1:
        seen = "a chance below one in a million" if e.weakest < 1e-6 else f"a chance of {e.weakest:.2g}"
        said = (
            f"Between every two of them there are clearly fewer rows than within them ({seen} for one group)."
        )
        if e.components > found:
            said += (
                f" The best mixture has {e.components} components, but some have no valley between them: groups "
                "that are not quite normal take several."
            )
        return said
    if e.components > 1:
        return (
            f"The best mixture has {e.components} components, but no valley lies between them: the rows are one "
            "group that is not normal (even, skewed or heavy-tailed)."
        )
    return "One normal group tells the rows as well as any mixture."


def _agreement(e: Evidence, found: int) -> list[str]:
    judged = [name for name in WITNESSES if e.picks.get(name) is not None]
    same = [WORDS[name] for name in judged if e.picks[name] == found]
    said = [f"{_listed(same)} {'agree' if len(same) > 1 else 'agrees'}."] if same else []
    for name in judged:
        pick = e.picks[name]
        if pick != found:
            said.append(f"{WORDS[name]} would take {pick}{_excuse(name, pick or 0, found)}.")
    return [text[0].upper() + text[1:] for text in said]


def _excuse(name: str, pick: int, found: int) -> str:
    if name in CANNOT_SAY_ONE and found == 1:
        return ", but it can never say that there are none"
    if name in ("bic", "icl", "entropy") and pick > found:
        return ": it counts components, of which a group that is not normal has several"
    if name == "gap" and pick < found:
        return ": it is careful where groups differ in size or lie in a row"
    if name in ("silhouette", "stability", "gap"):
        return ": it looks at round groups of similar size"
    return ""


def _beside(e: Evidence, found: int) -> list[str]:
    said = []
    if e.heavy and found > 0:
        said.append("Rows far out were told better by heavy-tailed components.")
    if e.sampled is not None:
        said.append(f"Numbers were compared on {e.sampled} rows drawn evenly from the table.")
    return said


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
