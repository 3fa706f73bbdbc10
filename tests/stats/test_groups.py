"""Totals of groups and their farthest rows: any split, any order, the same answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.data.block import block_of
from asterism.methods.frame import Frame
from asterism.methods.kmeans import Lloyd, centers_at
from asterism.stats.groups import FarthestRows, GroupTotals

few = settings(max_examples=60, deadline=None)


def summary(rows: np.ndarray, weights: np.ndarray, start: int = 0, shift: float = 0.0):
    """The statistic of rows about three fixed centres and one without rows: totals, and the farthest rows."""
    d = rows.shape[1]
    centers = shift + np.array([0.0, 1.0, 2.0, 1e3])[:, None] * np.ones(d)
    model = centers_at(Frame(np.zeros(d), 0.25, True), centers)
    statistic = Lloyd().summarize(model, block_of(rows, weights, start))
    return statistic.groups, statistic.far


@st.composite
def cut_tables(draw: st.DrawFn):
    """Whole numbers, so that sums are exact and equal distances are common; and places to cut."""
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    cell = st.integers(-3, 5).map(float) | st.just(np.nan)
    rows = np.array(draw(st.lists(cell, min_size=n * d, max_size=n * d))).reshape(n, d)
    weights = np.array(draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 0.5]), min_size=n, max_size=n)))
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=3)))
    return rows, weights, [0, *cuts, n]


def same(a, b) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=name == "values")
        for name in type(a).__slots__
    )


@few
@given(cut_tables())
def test_any_split_gives_the_totals_and_the_farthest_rows_of_the_whole(table):
    rows, weights, edges = table
    d = rows.shape[1]
    totals, far = GroupTotals.zero(4, d, d), FarthestRows.zero(4, d)
    for a, b in pairwise(edges):
        part = summary(rows[a:b], weights[a:b], a)
        totals, far = totals.merge(part[0]), far.merge(part[1])
    whole = summary(rows, weights)
    assert same(totals, whole[0])
    assert same(far, whole[1])


@few
@given(cut_tables())
def test_merging_in_any_order_gives_the_same(table):
    rows, weights, edges = table
    a, b = (summary(rows[s], weights[s], s.start) for s in (slice(0, edges[-2]), slice(edges[-2], len(rows))))
    for left, right in zip(a, b, strict=True):
        assert same(left.merge(right), right.merge(left))


def test_no_rows_give_zero():
    totals, far = summary(np.zeros((0, 2)), np.zeros(0))
    assert same(totals, GroupTotals.zero(4, 2, 2))
    assert same(far, FarthestRows.zero(4, 2))


def test_the_earlier_of_two_equally_far_rows_comes_first():
    rows = np.array([[9.0], [-7.0], [9.0], [-7.0], [9.0], [9.0]])  # 7 from centres 2 and 0
    for cut in range(7):
        a, b = summary(rows[:cut], np.ones(cut)), summary(rows[cut:], np.ones(6 - cut), cut)
        assert a[1].merge(b[1]).row.tolist() == [0, 1, 2, 3]


def test_a_row_on_its_centre_or_of_weight_zero_is_never_far():
    far = summary(np.array([[1.0], [50.0], [2.0], [2.5]]), np.array([1.0, 0.0, 1.0, 1.0]))[1]
    assert far.row.tolist() == [3, -1, -1, -1]
    assert far.distance.tolist() == [0.25, 0.0, 0.0, 0.0]


def test_marks_are_equal_exactly_when_the_labels_are():
    rng = np.random.default_rng(0)
    rows, weights = rng.normal(size=(400, 2)), np.ones(400)
    mark_of = {}
    for changed in _changes(rows):
        labels = ((changed[:, None] - np.arange(3.0)[:, None]) ** 2).sum(axis=2).argmin(axis=1)
        mark = summary(changed, weights)[0].mark
        assert mark_of.setdefault(labels.tobytes(), mark) == mark
    assert len(set(mark_of.values())) == len(mark_of) > 500


def _changes(rows: np.ndarray) -> Iterator[np.ndarray]:
    """The rows, hardly moved; one put elsewhere; two that trade places; three in line whose changes could cancel."""
    yield rows
    yield rows + 1e-12
    for i in range(200):
        for there, values in [([i], [0]), ([i], [1]), ([i, i + 200], [0, 2]), ([i, i + 200], [2, 0])]:
            changed = rows.copy()
            changed[there] = np.array(values)[:, None]
            yield changed
        changed = np.zeros_like(rows)
        changed[[i, i + 50, i + 100]] = np.array([1, 2, 1] if i % 2 else [2, 1, 2])[:, None]
        yield changed


def test_farthest_rows_are_carried_only_while_a_group_has_no_rows():
    model = centers_at(Frame(np.zeros(1), 0.25, False), np.array([[0.0], [10.0]]))
    left, right, both = (
        Lloyd().summarize(model, block_of(np.array(rows), start=start))
        for rows, start in (([[1.0]], 0), ([[12.0]], 1), ([[1.0], [12.0]], 0))
    )
    assert left.far is not None
    assert right.far is not None
    assert both.far is None
    assert left.merge(right).far is None
    assert left.merge(left).far is not None
