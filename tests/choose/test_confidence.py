"""How sure a verdict is: by how many criteria agree with it."""

from __future__ import annotations

import pytest

from asterism.choose.verdict import WITNESSES, Evidence, judge


def verdict(groups: int, agreeing: int, **changes):
    """On groups that ``agreeing`` of the six criteria take too; the others take seven."""
    picks = {name: groups if i < agreeing else 7 for i, name in enumerate(reversed(WITNESSES))}
    facts = {"ks": tuple(range(1, 11)), "picks": picks, "groups": groups, "components": groups, "weakest": 1e-9,
             "walk": False, "surprise": 1.0, "smallest": 0.3, "heavy": False, "sampled": None}  # fmt: skip
    return judge(Evidence(**(facts | changes)))


@pytest.mark.parametrize("groups", [1, 4])
def test_more_agreement_is_never_less_sure_and_nothing_is_certain(groups):
    said = [verdict(groups, agreeing).confidence for agreeing in range(7)]
    assert said == sorted(said)
    assert said[0] < said[-1] < 1.0


def test_a_verdict_that_most_criteria_contradict_is_not_called_sure():
    assert [verdict(4, agreeing).confidence >= 0.9 for agreeing in range(7)] == [False] * 3 + [True] * 4


def test_what_cannot_say_one_is_not_asked_about_it():
    assert verdict(1, 6).confidence == verdict(1, 6, picks=dict.fromkeys(("bic", "icl"), 1)).confidence
    silent = {"bic": 1, "icl": 1, "entropy": 1, "gap": 1, "silhouette": 4, "stability": 3}
    assert verdict(1, 6, picks=silent).confidence == verdict(1, 6).confidence


def test_overlapping_components_walks_and_numbers_not_allowed_are_held_back():
    overlap = verdict(2, 6, picks=dict.fromkeys(WITNESSES, 3), surprise=0.01)
    assert (overlap.k, overlap.confidence) == (3, 0.75)
    assert verdict(4, 6, walk=True).k == 1
    outside = verdict(1, 6, ks=(2, 3))
    assert (outside.k, outside.found) == (2, 1)
    assert outside.confidence <= 0.5
