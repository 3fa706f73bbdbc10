"""Judgements of pairs: the worked sample of four pairs, brute force, soft clusterings, several people."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism import metrics
from asterism.errors import DataError, ParameterError, WeightError

few = settings(max_examples=50, deadline=None)


def test_four_pairs_one_of_each_kind() -> None:
    groups = {"a": 0, "b": 0, "c": 1, "d": 1, "e": 2, "f": 2, "g": 3, "h": 4}
    rows = list(groups)
    pairs = [[rows.index(x) for x in pair] for pair in ("ab", "cd", "eh", "gh")]
    s = metrics.judged_pairs_score(list(groups.values()), pairs, [True, False, True, False])
    assert (s.tp, s.fp, s.fn, s.tn) == (1, 1, 1, 1)
    assert (s.accuracy, s.precision, s.recall, s.f1) == (0.5, 0.5, 0.5, 0.5)


@few
@given(
    labels=st.lists(st.integers(0, 2), min_size=4, max_size=8),
    truth=st.lists(st.integers(0, 2), min_size=8, max_size=8),
)
def test_all_pairs_judged_by_classes_are_the_pairs_of_the_labelings(labels, truth) -> None:
    truth = truth[: len(labels)]
    pairs = list(combinations(range(len(labels)), 2))
    judged = metrics.judged_pairs_score(labels, pairs, [truth[i] == truth[j] for i, j in pairs])
    s = metrics.pair_scores(truth, labels)
    assert (judged.tp, judged.fp, judged.fn, judged.tn) == (s.tp, s.fp, s.fn, s.tn)
    assert len(judged.ask_next) == 0  # nothing is left to ask


def test_a_soft_clustering_of_zeros_and_ones_is_a_hard_one() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=30)
    pairs = np.array(list(combinations(range(30), 2)))[rng.permutation(435)[:60]]
    same = rng.random(60) < 0.5
    hard = metrics.judged_pairs_score(labels, pairs, same)
    soft = metrics.judged_pairs_score(np.eye(3)[labels], pairs, same)
    assert (hard.tp, hard.fp, hard.fn, hard.tn) == (soft.tp, soft.fp, soft.fn, soft.tn)


def test_soft_pairs_count_by_the_chance_of_being_together() -> None:
    r = np.array([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]])
    s = metrics.judged_pairs_score(r, [[0, 1], [2, 0]], [True, False], ask=0)
    apart = 0.8 * 0.1 + 0.2 * 0.9
    assert (s.tp, s.fn, s.fp, s.tn) == pytest.approx((0.5, 0.5, apart, 1 - apart))


def test_people_who_disagree_are_reported() -> None:
    labels = [0, 0, 1, 1]
    pairs = [[0, 1], [1, 0], [0, 1], [0, 2], [2, 0], [1, 3]]
    same = [True, True, False, False, False, True]
    who = ["ann", "bob", "cid", "ann", "bob", "cid"]
    s = metrics.judged_pairs_score(labels, pairs, same, annotators=who)
    assert (s.n_judgements, s.n_pairs) == (6, 3)
    [split] = s.disagreements
    assert (split.first, split.second, split.same, split.different, split.together) == (0, 1, 2, 1, 1)
    # pairs of judgements on one pair of rows: 3 on (0, 1), one of them agreeing; 1 on (0, 2), agreeing
    assert s.agreement == 2 / 4
    people = {person.name: person for person in s.annotators}
    assert [people[name].accuracy for name in ("ann", "bob", "cid")] == [1.0, 1.0, 0.0]
    assert [people[name].agreement for name in ("ann", "bob", "cid")] == [2 / 3, 2 / 3, 0.0]


def krippendorff(units: list[list[bool]]) -> float:
    """From the matrix of coincidences, as in the textbook."""
    o = np.zeros((2, 2))
    for unit in units:
        for i, a in enumerate(unit):
            for j, b in enumerate(unit):
                if i != j:
                    o[int(a), int(b)] += 1 / (len(unit) - 1)
    n = o.sum(axis=1)
    return 1 - (n.sum() - 1) * o[0, 1] / (n[0] * n[1])


def test_alpha_is_krippendorffs() -> None:
    units = [[True, True, False], [True, True], [False, False, False], [True, False]]
    pairs = [[0, u + 1] for u, unit in enumerate(units) for _ in unit]
    same = [said for unit in units for said in unit]
    s = metrics.judged_pairs_score([0] * 5, pairs, same)
    assert s.alpha == pytest.approx(krippendorff(units))


def test_weights_of_judgements_count_as_copies() -> None:
    labels, pairs, same = [0, 0, 1, 1], np.array([[0, 1], [0, 2], [2, 3], [1, 2]]), np.array([1, 0, 0, 1])
    w = np.array([3, 0, 2, 1])
    a = metrics.judged_pairs_score(labels, pairs, same, sample_weight=w)
    b = metrics.judged_pairs_score(labels, np.repeat(pairs, w, axis=0), np.repeat(same, w))
    assert (a.tp, a.fp, a.fn, a.tn) == (b.tp, b.fp, b.fn, b.tn) == (3, 2, 1, 0)
    with pytest.raises(WeightError):
        metrics.judged_pairs_score(labels, pairs, same, sample_weight=-w)


def test_no_judgements() -> None:
    s = metrics.judged_pairs_score([0, 1, 1], [], [])
    assert (s.tp, s.accuracy, s.n_pairs) == (0, 1.0, 0)
    assert math.isnan(s.agreement)


@pytest.mark.parametrize(
    ("pairs", "same", "error"),
    [([[0, 3]], [True], DataError), ([[1, 1]], [True], DataError), ([[0, 1]], [2], ParameterError),
     ([[0, 1]], [True, False], ParameterError), ([0, 1], [True], ParameterError)],
)  # fmt: skip
def test_impossible_judgements_are_refused(pairs, same, error) -> None:
    with pytest.raises(error):
        metrics.judged_pairs_score([0, 1, 1], pairs, same)


def test_memberships_must_sum_to_one() -> None:
    with pytest.raises(DataError, match="row 2"):
        metrics.judged_pairs_score([[0.5, 0.5], [0.9, 0.3]], [[0, 1]], [True])


# --- what to ask next -------------------------------------------------------------------------------------------


def test_soft_clusterings_ask_about_pairs_that_could_go_either_way() -> None:
    r = np.array([[1.0, 0.0], [0.97, 0.03], [0.45, 0.55], [0.02, 0.98], [0.0, 1.0]])
    asked = metrics.pairs_to_ask(r, 4)
    assert all(2 in pair for pair in asked.tolist())
    p = (r @ r.T)[tuple(metrics.pairs_to_ask(r, 10).T)]
    assert (np.diff(np.abs(p - 0.5)) >= -1e-12).all()


def test_questions_are_new_pairs_of_different_rows_and_repeatable() -> None:
    labels = np.repeat([0, 1, 2], [50, 10, 3])
    judged = metrics.pairs_to_ask(labels, 20)
    again = metrics.pairs_to_ask(labels, 20, judged=judged, same=np.ones(20, bool))
    everyone = np.vstack([judged, again])
    assert len(np.unique(everyone, axis=0)) == 40
    assert (everyone[:, 0] < everyone[:, 1]).all()
    assert np.array_equal(judged, metrics.pairs_to_ask(labels, 20))


def test_contested_groups_are_asked_about_more_than_settled_ones() -> None:
    labels = np.repeat([0, 1], 100)
    first = np.array([(i, i + 50) for i in range(40)])
    judged = np.vstack([first, first + 100])
    same = np.r_[np.ones(40, bool), np.arange(40) % 2 == 0]  # of the second group people say what they like
    within = [tuple(labels[pair]) for pair in metrics.pairs_to_ask(labels, 200, judged=judged, same=same)]
    assert within.count((1, 1)) > 3 * within.count((0, 0))
