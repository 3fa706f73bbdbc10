"""Hartigan's dip against its definition by chords, and what is known of it without computing."""

from __future__ import annotations

import numpy as np
import pytest
from arrays import assert_refused, assert_same_anywhere
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism import _core


def left(x: np.ndarray, below: np.ndarray, above: np.ndarray) -> float:
    """Half of what F rises above the greatest convex minorant of its lower corners: the lowest of all chords."""
    worst = 0.0
    for i in range(len(x)):
        chords = [
            below[a] + (below[b] - below[a]) * (x[i] - x[a]) / (x[b] - x[a]) if b > a else below[i]
            for a in range(i + 1)
            for b in range(i, len(x))
        ]
        worst = max(worst, above[i] - min(chords))
    return worst / 2


def dip_by_chords(x: np.ndarray, w: np.ndarray) -> float:
    above = np.cumsum(w)
    below = above - w
    back = -x[::-1], 1 - above[::-1], 1 - below[::-1]
    n = len(x)
    sides = [
        (left(*(part[: m + 1] for part in (x, below, above))), left(*(part[: n - m] for part in back)))
        for m in range(n)
    ]
    return min(max(pair) for pair in sides)


@given(n=st.integers(1, 9), seed=st.integers(0, 10**6))
@settings(max_examples=25)
def test_dip_is_the_least_distance_to_a_single_hump(n, seed):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.choice([0.1, 1.0, 5.0], n) * rng.random(n) + np.arange(n) * 0.01)
    w = rng.integers(1, 5, n).astype(float)
    w /= w.sum()
    assert _core.dip(x, w) == pytest.approx(dip_by_chords(x, w), abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 10, 1001])
def test_even_values_have_the_least_dip_there_is(n):
    assert _core.dip(np.arange(n, dtype=float), np.full(n, 1 / n)) == pytest.approx(0.5 / n, rel=1e-9)


def test_two_far_heaps_have_the_largest():
    x = np.concatenate([np.arange(500) * 1e-9, 1e6 + np.arange(500) * 1e-9])
    assert _core.dip(x, np.full(1000, 1e-3)) == pytest.approx(0.25, rel=1e-2)


def test_foreign_arrays_are_refused_and_bits_are_the_same_anywhere():
    x, w = np.arange(9.0) ** 2, np.full(9, 1 / 9)
    assert_refused(_core.dip, x, w)
    assert_same_anywhere(_core.dip, x, w)
    with pytest.raises(_core.ShapeError, match="one length"):
        _core.dip(x, w[:5])
