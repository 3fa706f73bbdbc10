from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.metrics import calinski_harabasz_score

from asterism.choose.scatter import calinski_harabasz, choose_by_scatter, verdict
from asterism.errors import WeightError


@dataclass(frozen=True)
class Fit:
    inertia: float
    n_iter: int = 3
    status: str = "settled"


def scatter(x, labels) -> float:
    return sum(((x[labels == g] - x[labels == g].mean(axis=0)) ** 2).sum() for g in np.unique(labels))


@pytest.mark.parametrize("k", [2, 3, 7])
def test_index_is_scikit_learns(k) -> None:
    rng = np.random.default_rng(k)
    x, labels = rng.normal(size=(90, 4)), np.arange(90) % k
    ours = calinski_harabasz(scatter(x, labels), scatter(x, np.zeros(90)), k, 90.0)
    assert ours == pytest.approx(calinski_harabasz_score(x, labels))


def test_index_is_undefined_for_one_group_and_for_as_many_groups_as_rows() -> None:
    assert calinski_harabasz(5.0, 5.0, 1, 10.0) is None
    assert calinski_harabasz(0.0, 5.0, 10, 10.0) is None


def test_perfect_groups_are_chosen_and_the_fewest_of_them() -> None:
    fits = {1: Fit(100.0), 2: Fit(40.0), 3: Fit(0.0), 4: Fit(0.0)}
    choice = choose_by_scatter(fits, [2, 3, 4], 50.0, asked=False)
    assert choice.k == 3
    assert math.isinf(choice.chosen.calinski_harabasz)
    assert choice.chosen.explained == 1.0


def test_verdict_says_what_the_index_cannot_tell() -> None:
    choice = choose_by_scatter({1: Fit(100.0), 2: Fit(20.0), 3: Fit(19.0)}, [1, 2, 3], 50.0, asked=False)
    words = verdict(choice)
    assert words.startswith("2 groups, which explain 80% of the spread")
    assert "Of k = 2 to 3" in words  # k = 1 has no index, so it was not compared
    assert "Calinski-Harabasz" in words
    assert "cannot say that a table has no groups" in words


def test_verdict_at_the_end_of_the_range_asks_for_more() -> None:
    fits = {1: Fit(100.0), 2: Fit(50.0), 3: Fit(1.0)}
    assert "largest number tried" in verdict(choose_by_scatter(fits, [2, 3], 50.0, asked=False))


def test_verdict_of_a_given_number_claims_no_comparison() -> None:
    words = verdict(choose_by_scatter({1: Fit(100.0), 3: Fit(30.0)}, [3], 50.0, asked=True))
    assert "That number was given" in words
    assert "Calinski" not in words


@pytest.mark.parametrize(
    ("status", "said"), [("interrupted", "interrupted"), ("step limit", "stopped at a limit")]
)
def test_verdict_tells_of_searches_that_did_not_settle(status, said) -> None:
    fits = {1: Fit(100.0), 2: Fit(30.0, status=status)}
    choice = choose_by_scatter(fits, [2], 50.0, asked=True)
    assert said in verdict(choice)
    assert not choice.settled


def test_weights_that_sum_to_one_cannot_compare_numbers_of_groups() -> None:
    fits = {1: Fit(1.0), 2: Fit(0.5), 3: Fit(0.3)}
    with pytest.raises(WeightError, match=r"sum to 1,.*Multiply the weights"):
        choose_by_scatter(fits, [2, 3], 1.0, asked=False)
