from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.data.block import block_of
from asterism.stats.sample import RowSample, exponentials

N, SIZE = 400, 40
VALUES = np.random.default_rng(7).lognormal(size=(N, 2))
WEIGHTS = np.random.default_rng(8).choice([0.0, 0.5, 1.0, 4.0], size=N)
RATES = np.where(WEIGHTS > 0, WEIGHTS * (1 + VALUES[:, 0]), 0.0)


def sample(a: int = 0, b: int = N, seed: int = 0, size: int = SIZE, rates: np.ndarray = RATES) -> RowSample:
    return RowSample.of(block_of(VALUES[a:b], WEIGHTS[a:b], a), rates[a:b], size, seed)


def same(a: RowSample, b: RowSample) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in RowSample.__slots__)


@settings(max_examples=80, deadline=None)
@given(cuts=st.lists(st.integers(0, N), max_size=5), seed=st.integers(0, 2**63 - 1))
def test_any_split_gives_the_same_sample(cuts, seed):
    merged = RowSample.zero(SIZE, 2)
    for a, b in pairwise([0, *sorted(cuts), N]):
        merged = merged.merge(sample(a, b, seed))
    assert same(merged, sample(seed=seed))
    assert len(merged.rank) == SIZE + 1


@settings(max_examples=40, deadline=None)
@given(cuts=st.tuples(st.integers(0, N), st.integers(0, N)))
def test_merge_is_commutative_and_associative_and_zero_changes_nothing(cuts):
    p, q = sorted(cuts)
    a, b, c = sample(0, p), sample(p, q), sample(q, N)
    zero = RowSample.zero(SIZE, 2)
    assert same(a.merge(b), b.merge(a))
    assert same(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert same(a.merge(zero), a)
    assert same(zero.merge(a), a)
    assert same(zero.merge(zero), zero)


def test_totals_over_the_sample_are_unbiased_estimates_of_the_table():
    """The mean over seeds of each estimated total is within four of its standard errors."""
    exact = np.array([WEIGHTS.sum(), *(WEIGHTS @ VALUES), *(WEIGHTS @ VALUES**2)])
    totals = []
    for seed in range(2000):
        rows, w = sample(seed=seed).estimates()
        assert len(rows) == SIZE
        totals.append([w.sum(), *(w @ rows), *(w @ rows**2)])
    error = np.std(totals, axis=0, ddof=1) / np.sqrt(len(totals))
    assert (np.abs(np.mean(totals, axis=0) - exact) < 4 * error).all()
    assert (error < exact / 40).all()  # and the standard errors are small enough to tell


def test_rows_are_drawn_in_proportion_to_their_rates():
    """The first row drawn is row i with probability rate_i / sum of rates."""
    first = np.array([sample(seed=seed, size=1).row[0] for seed in range(4000)])
    heavy = np.argsort(RATES)[-40:]
    seen = np.isin(first, heavy).sum()
    assert scipy.stats.binomtest(int(seen), 4000, RATES[heavy].sum() / RATES.sum()).pvalue > 1e-4


def test_a_row_without_rate_is_never_in_and_a_small_table_is_whole():
    assert (RATES[sample().row] > 0).all()
    everything = sample(size=N)
    assert everything.whole
    assert len(everything.row) == (RATES > 0).sum()
    rows, w = everything.estimates()
    assert w.sum() == pytest.approx(WEIGHTS.sum(), rel=1e-14)
    assert np.array_equal(np.sort(everything.row), np.flatnonzero(RATES > 0))
    assert np.array_equal(rows, VALUES[everything.row])
    assert sample(rates=np.zeros(N)).whole
    assert not sample(size=10).whole


def test_variates_are_exponential_for_consecutive_rows_and_seeds():
    assert scipy.stats.kstest(exponentials(np.arange(20_000), 3), "expon").pvalue > 1e-3
    assert scipy.stats.kstest([exponentials(np.array([5]), s)[0] for s in range(5000)], "expon").pvalue > 1e-3
    a, b = exponentials(np.arange(20_000), 1), exponentials(np.arange(20_000), 2)
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.03
    assert abs(np.corrcoef(a[1:], a[:-1])[0, 1]) < 0.03
