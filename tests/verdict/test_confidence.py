"""How sure a verdict is: a frequency that grows with the score and its lead."""

from __future__ import annotations

import numpy as np
import pytest
from zoo import THREE

from asterism.verdict.choose import choose_k
from asterism.verdict.judge import judge
from asterism.verdict.words import Evidence, judge_family


@pytest.mark.parametrize("single", [False, True])
def test_a_higher_score_or_a_longer_lead_is_never_less_sure_and_nothing_is_certain(single):
    ours = judge()
    for scores in (
        [ours.confidence(score, 0.1, single) for score in np.linspace(-0.5, 1.5, 21)],
        [ours.confidence(0.8, lead, single) for lead in np.linspace(0.0, 1.0, 21)],
    ):
        assert scores == sorted(scores)
        assert 0.0 < scores[0] <= scores[-1] < 1.0


def test_a_number_that_is_not_allowed_is_answered_by_the_nearest_with_little_confidence():
    choice = choose_k(THREE, k=[4, 5], criteria=["bic"])
    assert choice.k in (4, 5)
    assert choice.verdict.startswith("3 groups, but of the numbers allowed")
    assert choice.confidence <= 0.5


def test_families_without_places_take_the_number_of_icl_and_say_what_contradicts_it():
    agreed = judge_family(Evidence((1, 2, 3), {"icl": 2, "bic": 2, "entropy": 2}, 2, None))
    contradicted = judge_family(Evidence((1, 2, 3), {"icl": 2, "bic": 3, "entropy": 3}, 2, None))
    assert agreed.k == contradicted.k == 2
    assert contradicted.confidence < agreed.confidence < 1.0
    assert "BIC would take 3" in contradicted.text
    outside = judge_family(Evidence((2, 3), {"icl": 1}, 1, None))
    assert (outside.k, outside.found) == (2, 1)
    assert outside.confidence <= 0.5
