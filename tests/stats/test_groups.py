"""Exact sums of groups and their farthest rows: any split, any order, any history, the same answer."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.engines.reduce import reduce
from asterism.methods.frame import Frame, survey
from asterism.methods.lloyd import Lloyd, centers_at, lloyd_for
from asterism.stats.groups import FarthestRows, Moves, grid_of
from asterism.stats.moments import ColumnMoments

few = settings(max_examples=60, deadline=None)


def summary(rows: np.ndarray, weights: np.ndarray, start: int = 0) -> Moves:
    """The statistic of rows about three fixed centres and one without rows."""
    d = rows.shape[1]
    centers = np.array([0.0, 1.0, 2.0, 1e3])[:, None] * np.ones(d)
    model = centers_at(Frame(np.zeros(d), 0.25, True), centers)
    method = Lloyd(grid_of(np.repeat([60.0, 1.0], d), 30.0, 12))
    return method.summarize(model, block_of(rows, weights, start))


@st.composite
def cut_tables(draw: st.DrawFn):
    """Rows with equal distances among them; and places to cut."""
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    cell = st.integers(-3, 5).map(float) | st.just(np.nan) | st.floats(-5, 5)
    rows = np.array(draw(st.lists(cell, min_size=n * d, max_size=n * d))).reshape(n, d)
    weights = np.array(draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 0.3]), min_size=n, max_size=n)))
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=3)))
    return rows, weights, [0, *cuts, n]


def same(a, b) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=name == "values")
        for name in ("distance", "row", "values")
    )


@few
@given(cut_tables())
def test_any_split_gives_the_sums_and_the_farthest_rows_of_the_whole_to_the_bit(table):
    rows, weights, edges = table
    parts = [summary(rows[a:b], weights[a:b], a) for a, b in pairwise(edges)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    whole = summary(rows, weights)
    assert np.array_equal(merged.sums, whole.sums)
    assert np.isclose(merged.gain, whole.gain, rtol=1e-14)
    assert same(merged.far, whole.far)


@few
@given(cut_tables())
def test_merging_in_any_order_gives_the_same(table):
    rows, weights, edges = table
    a, b = (summary(rows[s], weights[s], s.start) for s in (slice(0, edges[-2]), slice(edges[-2], len(rows))))
    assert np.array_equal(a.merge(b).sums, b.merge(a).sums)
    assert same(a.merge(b).far, b.merge(a).far)


@few
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.floats(1e-3, 1e3))
def test_sums_are_those_of_exact_arithmetic(values, weight):
    """Against fractions: terms are rounded once, sums not at all; what the finer grid drops is below 2^-60."""
    rows = np.array(values)[:, None]
    reach = max(np.abs(rows).max(), 1e-300)
    model = centers_at(Frame(np.zeros(1), 1.0, False), np.zeros((1, 1)))
    method = Lloyd(grid_of(np.array([reach, 1.0]), weight * len(rows), len(rows)))
    moves = method.summarize(model, block_of(rows, np.full(len(rows), weight)))
    exact = sum((Fraction(weight * v) for v in values), Fraction(0))
    got = Fraction(moves.sums[0, 0, 0]) + Fraction(moves.sums[0, 1, 0])
    assert abs(got - exact) <= Fraction(reach) * Fraction(weight) * len(rows) / 2**60
    assert abs(Fraction(float(moves.mass[0, 0])) - Fraction(weight) * len(rows)) <= Fraction(weight) / 2**40


def test_no_rows_give_zero():
    moves = summary(np.zeros((0, 2)), np.zeros(0))
    assert not moves.sums.any()
    assert moves.gain == 0
    assert same(moves.far, FarthestRows.zero(4, 2))


def test_the_earlier_of_two_equally_far_rows_comes_first():
    rows = np.array([[9.0], [-7.0], [9.0], [-7.0], [9.0], [9.0]])  # 7 from centres 2 and 0
    for cut in range(7):
        a, b = summary(rows[:cut], np.ones(cut)), summary(rows[cut:], np.ones(6 - cut), cut)
        assert a.merge(b).far.row.tolist() == [0, 1, 2, 3]


def test_a_row_on_its_centre_or_of_weight_zero_is_never_far():
    far = summary(np.array([[1.0], [50.0], [2.0], [2.5]]), np.array([1.0, 0.0, 1.0, 1.0])).far
    assert far.row.tolist() == [3, -1, -1, -1]
    assert far.distance.tolist() == [0.25, 0.0, 0.0, 0.0]


def test_farthest_rows_are_carried_only_while_a_group_has_no_rows():
    model = centers_at(Frame(np.zeros(1), 0.25, False), np.array([[0.0], [10.0]]))
    method = Lloyd(grid_of(np.array([20.0, 1.0]), 2.0, 2))
    left, right, both = (
        method.summarize(model, block_of(np.array(rows), start=start))
        for rows, start in (([[1.0]], 0), ([[12.0]], 1), ([[1.0], [12.0]], 0))
    )
    assert left.far is not None
    assert right.far is not None
    assert both.far is None
    assert left.merge(right).far is None
    assert left.merge(left).far is not None


@few
@given(st.integers(0, 2**32), st.sampled_from([0.0, 1e6, 1e12]), st.booleans(), st.booleans())
def test_remembering_rows_changes_no_bit(seed, offset, missing, weighted):
    """Steps that add up only the rows that moved make the centres of steps that add up all rows."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(5, 300)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    x = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, size=d) + offset
    start = x[rng.choice(n, k, replace=False)].copy()
    if missing:
        x[rng.random(x.shape) < 0.2] = np.nan
        x[0] = offset
    source = ArraySource(x, rng.exponential(size=n) if weighted else None)
    frame, moments = survey(source)
    method = lloyd_for(frame, moments)
    plain = kept = centers_at(frame, start)
    memory, fresh = method.blank(n), True
    block = next(source.blocks())
    for _ in range(6):
        if method.forgets(kept):
            memory[:], fresh = -1, True
        moves = method.recall(kept, block, memory, fresh=fresh)
        whole = reduce(source, lambda b, model=plain: method.summarize(model, b))
        assert np.isclose(method.objective(kept, moves), method.objective(plain, whole), rtol=1e-9, atol=1e-9)
        kept, plain, fresh = method.update(kept, moves), method.update(plain, whole), False
        assert np.array_equal(kept.offsets, plain.offsets)


def test_moments_of_absent_rows_do_not_widen_the_grid():
    source = ArraySource(np.array([[1.0], [2.0], [1e300]]), [1.0, 1.0, 0.0])
    assert reduce(source, ColumnMoments.of).high[0] == 2.0
