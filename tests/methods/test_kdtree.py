"""Rules are exactly the clusters; splits are at medians."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from asterism import KDTreeClustering
from asterism.data.columns import Column
from asterism.errors import ParameterError, TooFewRowsError
from asterism.methods.kdtree import grow, short_number

COLUMNS = (
    Column("age"),
    Column("size", "ordinal", ("S", "M", "L")),
    Column("member", "boolean", ("no", "yes")),
    Column("town", "categorical", ("Ayr", "Bonn", "Cork", "Delft")),
)


def obeys(rule, row):
    """Evaluate a rule as a reader would, from its words alone."""
    cells = {
        column.name: (None if np.isnan(x) else x if column.kind == "numeric" else column.levels[int(x)])
        for column, x in zip(COLUMNS, row, strict=True)
    }
    return rule == "all rows" or all(_holds(part, cells) for part in rule.split(" and "))


def _holds(part, cells):
    part = part.strip("()")
    may_lack = part.endswith(" or missing")
    words = part.removesuffix(" or missing")
    name = next(c.name for c in COLUMNS if c.name in words.replace("<=", " ").replace("<", " ").split())
    value = cells[name]
    if value is None:
        return may_lack
    if " is one of " in words:
        return value in words.split(" is one of ")[1].split(", ")
    if " is " in words:
        return value == words.split(" is ")[1]
    if words.count("<") == 2:
        low, high = words.split(f" < {name} <= ")
        return float(low) < value <= float(high)
    if " <= " in words:
        return value <= float(words.split(" <= ")[1])
    return value > float(words.split(" > ")[1])


@st.composite
def mixed_rows(draw):
    n = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    rows = np.column_stack(
        [np.round(rng.normal(40, 12, n), draw(st.integers(0, 4))), rng.integers(0, 3, n), rng.integers(0, 2, n),
         rng.integers(0, 4, n)]
    ).astype(float)  # fmt: skip
    rows[rng.random(rows.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    return rows, rng.integers(1, 4, n).astype(float)


@settings(max_examples=60, deadline=None)
@given(mixed_rows(), st.sampled_from(["separating", "widest"]))
def test_each_rule_is_exactly_its_membership(table, how):
    rows, weights = table
    tree = grow(rows, weights, COLUMNS, None, 4, how)
    for k in {1, min(3, tree.n_leaves), tree.n_leaves}:
        labels, rules = tree.labels(rows, k), tree.rules(k)
        assert len(rules) == len(set(labels.tolist())) == k
        for i, row in enumerate(rows):
            assert [obeys(rule, row) for rule in rules] == [label == labels[i] for label in range(k)]


EQUAL_GAINS = np.array([[35, 0, 0, 1], [49, 0, 0, 3], [20, 0, 1, 1], [46, 1, 1, 1], [53, 0, 1, 3]], float)


@settings(max_examples=30, deadline=None)
@given(mixed_rows())
@example((EQUAL_GAINS, np.array([2.0, 1.0, 1.0, 3.0, 3.0])))
def test_weighted_equals_repeated(table):
    rows, weights = table
    copies = np.repeat(rows, weights.astype(int), axis=0)
    ours = grow(rows, weights, COLUMNS, None, 3, "separating")
    theirs = grow(copies, np.ones(len(copies)), COLUMNS, None, 3, "separating")
    assert ours.rules() == theirs.rules()


def test_numbers_are_split_at_the_median():
    X = np.random.default_rng(0).standard_normal((1024, 3))
    tree = KDTreeClustering(16, split="widest").fit(X)
    assert np.bincount(tree.labels_).tolist() == [64] * 16


def test_the_column_that_separates_is_found_beside_wider_ones():
    rng = np.random.default_rng(1)
    X = np.column_stack(
        [1000 * rng.standard_normal(400), np.repeat([0.0, 1.0], 200) + 0.01 * rng.standard_normal(400)]
    )
    assert KDTreeClustering(2).fit(X).rules_ == ["x1 <= 0.5 or missing", "x1 > 0.5"]
    assert KDTreeClustering(2, split="widest").fit(X).rules_[0].startswith("x0 <= ")


def test_names_units_and_levels_of_a_frame_appear_in_rules():
    frame = pa.table(
        {"weight_g": [10.0, 12.0, 11.0, 300.0, 310.0, 320.0], "kind": ["a", "a", "b", "c", "c", "c"]}
    )
    assert KDTreeClustering(2).fit(frame).rules_ == ["weight_g <= 200 or missing", "weight_g > 200"]
    tree = KDTreeClustering(2).fit(frame.select(["kind"]))
    assert tree.rules_ == ["kind is c or missing", "kind is one of a, b"]
    np.testing.assert_array_equal(tree.predict(frame.select(["kind"])), tree.labels_)


def test_cuts_by_k_and_by_depth_are_nested():
    X = np.random.default_rng(2).standard_normal((200, 4))
    tree = KDTreeClustering(12).fit(X)
    finer = tree.labels_
    for k in range(11, 0, -1):
        labels = tree.cut(k=k)
        assert len(set(labels.tolist())) == k == len(tree.rules(k=k))
        assert all(len(set(labels[finer == c].tolist())) == 1 for c in set(finer.tolist()))
        finer = labels
    assert set(tree.cut(depth=0).tolist()) == {0}
    assert KDTreeClustering(None, max_depth=3).fit(X).n_clusters_ == 8


def test_weight_zero_is_absent_but_labelled():
    X = np.array([[0.0], [1.0], [np.inf], [2.0], [3.0]])
    tree = KDTreeClustering(2).fit(X[[0, 1, 3, 4]])
    with_zero = KDTreeClustering(2).fit(np.where(np.isinf(X), 99.0, X), sample_weight=[1, 1, 0, 1, 1])
    assert with_zero.rules_ == tree.rules_
    assert with_zero.labels_.tolist() == [0, 0, 1, 1, 1]


def test_more_clusters_than_distinct_rows_are_refused():
    with pytest.raises(TooFewRowsError, match="n_samples=2"):
        KDTreeClustering(3).fit(np.array([[0.0], [0.0], [1.0]]))
    with pytest.raises(ParameterError, match="Neither"):
        KDTreeClustering(None).fit(np.eye(3))


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_short_numbers_lie_between(a, b):
    low, high = min(a, b), max(a, b)
    if low < high:
        assert low <= short_number(low, high) < high
