"""Rules: what they say is what they do, and they find what there is to find."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_score, recall_score
from sklearn.tree import DecisionTreeClassifier

from asterism.data.columns import Column
from asterism.data.source import ArraySource
from asterism.explain.rules import Condition, counted, find_rule
from asterism.methods.kdtree import short_number

COLUMNS = (
    Column("a"),
    Column("b"),
    Column("colour", "categorical", ("blue", "green", "red", "grey")),
    Column("grade", "ordinal", ("low", "mid", "high")),
)


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [rng.normal(size=n), rng.normal(size=n), rng.integers(0, 4, n), rng.integers(0, 3, n)]
    )


def rule_for(x, members, weights=None):
    w = np.ones(len(x)) if weights is None else weights
    return find_rule(x, w, members, COLUMNS, range(4))


def f1(x, conditions, members):
    met = np.ones(len(x), bool)
    for condition in conditions:
        met &= condition.met_by(x)
    return 2 * (met & members).sum() / (met.sum() + members.sum())


def test_a_box_is_found_exactly() -> None:
    x = table()
    members = (x[:, 0] > 0.2) & (x[:, 1] <= 0.5) & (x[:, 3] >= 1)
    found = rule_for(x, members)
    assert f1(x, found, members) == 1.0
    assert [c.column.name for c in found] == ["a", "b", "grade"]
    assert str(found[2]) == "grade is at least mid"


def test_a_range_is_one_condition() -> None:
    x = table()
    members = (x[:, 0] > -0.5) & (x[:, 0] <= 0.5)
    (only,) = rule_for(x, members)
    assert f1(x, [only], members) == 1.0
    assert " < a ≤ " in str(only)


def test_levels_that_mark_a_group_are_listed() -> None:
    x = table()
    assert [str(c) for c in rule_for(x, np.isin(x[:, 2], [0, 2]))] == ["colour is blue or red"]
    assert [str(c) for c in rule_for(x, x[:, 2] != 3)] == ["colour is not grey"]


def test_at_least_as_good_as_one_condition_by_brute_force() -> None:
    rng = np.random.default_rng(3)
    for seed in range(5):
        x = table(80, seed)
        members = rng.random(80) < 1 / (1 + np.exp(-2 * x[:, 0] - x[:, 1]))
        best = 0.0
        for j, way in itertools.product((0, 1), (1, -1)):
            for cut in x[:, j]:
                met = way * x[:, j] >= way * cut
                best = max(best, 2 * (met & members).sum() / (met.sum() + members.sum()))
        assert f1(x, rule_for(x, members), members) >= best - 0.01  # what a condition must add


def test_no_worse_than_the_best_leaf_of_a_tree_of_depth_three() -> None:
    for seed in range(5):
        x = table(400, seed)
        members = (x[:, 0] + 0.7 * x[:, 1] > 0.5) & (x[:, 3] > 0)
        tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(x, members)
        leaves = tree.apply(x)
        best = max(
            2 * ((leaves == leaf) & members).sum() / ((leaves == leaf).sum() + members.sum())
            for leaf in set(leaves)
        )
        assert f1(x, rule_for(x, members), members) >= best - 0.01


def test_nothing_to_find_gives_no_condition() -> None:
    x = np.ones((20, 4))
    assert rule_for(x, np.arange(20) < 8) == ()


def test_missing_cells_meet_no_condition() -> None:
    x = table()
    x[::5, 0] = np.nan
    (only,) = rule_for(x, x[:, 0] > 0)
    assert not only.met_by(x)[::5].any()


def test_weight_zero_is_absent_and_weight_three_is_three_rows() -> None:
    x = table(90)
    members = x[:, 0] + 0.3 * x[:, 1] > 0.2
    w = np.arange(90) % 4
    weighted = rule_for(x, members, w.astype(float))
    repeated = rule_for(np.repeat(x, w, axis=0), np.repeat(members, w))
    assert weighted == repeated


def test_precision_and_recall_are_counted_over_the_whole_table() -> None:
    x = table(500)
    labels = (x[:, 0] + 0.5 * x[:, 1] > 0).astype(int)
    rules = [(Condition(COLUMNS[0], 0, high=0.1),), (Condition(COLUMNS[0], 0, low=0.1),)]
    for g, rule in enumerate(counted(ArraySource(x, columns=COLUMNS), labels, rules)):
        met = rule.met_by(x)
        assert rule.precision == pytest.approx(precision_score(labels == g, met))
        assert rule.recall == pytest.approx(recall_score(labels == g, met))


@given(st.floats(-1e6, 1e6), st.floats(1e-9, 1e6))
def test_short_thresholds_divide_as_asked(low, gap) -> None:
    high = low + gap
    if high > low:
        assert low <= short_number(low, high) < high


def test_thresholds_are_written_as_they_divide() -> None:
    assert str(Condition(Column("kg"), 0, high=51234.5)) == "kg ≤ 51234.5"
    assert str(Condition(Column("mm"), 0, low=41.4, high=48.3)) == "41.4 < mm ≤ 48.3"
