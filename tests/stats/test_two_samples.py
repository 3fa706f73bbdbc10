"""Probabilities of counts, beside SciPy's of the rows that were counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from asterism.stats.two_samples import holm, in_any_order, in_rising_places, more_often, rank_deviate

counts = st.lists(st.integers(0, 40), min_size=4, max_size=4)


@given(counts, counts)
def test_rising_places_are_mann_and_whitneys_test(before, now):
    a, b = (np.repeat(np.arange(4.0), n) for n in (before, now))
    found = in_rising_places(np.array(before, float), np.array(now, float))
    if min(len(a), len(b)) < 8 or len(np.unique(np.concatenate([a, b]))) < 2:
        assert found.p == 1.0
    else:
        theirs = stats.mannwhitneyu(b, a, method="asymptotic", use_continuity=False)
        assert found.p == pytest.approx(theirs.pvalue, rel=1e-9)


def test_any_order_is_pearsons_test_where_rows_are_many():
    table = np.array([[50.0, 30.0, 20.0], [35.0, 45.0, 25.0]])
    assert in_any_order(*table).p == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)


def test_two_places_with_few_rows_are_fishers_test():
    table = np.array([[3.0, 97.0], [9.0, 91.0]]) / [[1, 1], [1, 1]]
    few = np.array([[1.0, 99.0], [7.0, 93.0]])
    assert in_any_order(*few).p == pytest.approx(stats.fisher_exact(few.astype(int)).pvalue)
    assert more_often(*table).p == pytest.approx(
        stats.fisher_exact(table[::-1].astype(int), alternative="greater").pvalue
    )


@given(
    st.lists(st.integers(0, 200), min_size=2, max_size=9),
    st.lists(st.integers(0, 200), min_size=2, max_size=9),
)
def test_the_order_of_places_and_of_samples_does_not_matter_in_any_order(before, now):
    m = min(len(before), len(now))
    a, b = np.array(before[:m], float), np.array(now[:m], float)
    p = in_any_order(a, b).p
    assert 0 <= p <= 1
    assert in_any_order(b, a).p == pytest.approx(p)
    assert in_any_order(a[::-1], b[::-1]).p == pytest.approx(p)


def test_the_size_of_a_shift_is_in_standard_deviations():
    rng = np.random.default_rng(0)
    borders = stats.norm.ppf(np.arange(1, 16) / 16)
    a, b = (np.bincount(np.searchsorted(borders, rng.normal(m, 1, 50_000)), minlength=16) for m in (0.0, 0.3))
    assert rank_deviate(a.astype(float), b.astype(float))[1] == pytest.approx(0.3, abs=0.02)


def test_chance_gives_small_probabilities_as_often_as_they_say():
    rng = np.random.default_rng(1)
    found = [
        (in_any_order(a, b).p, in_rising_places(a, b).p)
        for a, b in (rng.multinomial(300, [0.7, 0.2, 0.08, 0.02], 2).astype(float) for _ in range(2000))
    ]
    assert (np.array(found) <= 0.05).mean(axis=0) == pytest.approx([0.05, 0.05], abs=0.015)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_never_lowers_a_probability_and_keeps_their_order(p):
    adjusted = holm(p)
    assert all(q >= x or x == 1.0 for q, x in zip(adjusted, p, strict=True))
    order = np.argsort(p, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()
    assert min(adjusted) == min(1.0, len(p) * min(p))
