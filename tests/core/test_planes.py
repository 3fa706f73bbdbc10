"""Planes of two axes: each is turned to its best angle, and matrices and axes stay what they belong to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from asterism import _core
from asterism._core import Angle

RULES = list(Angle)


def some_matrices(seed: int, k: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((k, d, d)) * 2.0 ** rng.uniform(-2, 2, size=(k, 1, d))
    return roots @ roots.swapaxes(1, 2)


def turned_once(
    matrices: np.ndarray, weights: np.ndarray, how: Angle
) -> tuple[np.ndarray, np.ndarray, float]:
    turned, axes = matrices.copy(), np.eye(matrices.shape[1])
    largest = _core.turn_planes(turned, axes, weights, how)
    return turned, axes, largest


def height(matrices: np.ndarray, weights: np.ndarray) -> float:
    return float(weights @ np.log(np.diagonal(matrices, axis1=1, axis2=2)).sum(axis=1))


@pytest.mark.parametrize("how", RULES)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 5), d=st.integers(1, 7))
@settings(max_examples=25, deadline=None)
def test_matrices_are_those_along_the_axes_and_no_sweep_rises(how, seed, k, d):
    matrices, weights = some_matrices(seed, k, d), np.arange(1.0, k + 1.0)
    turned, axes, _ = turned_once(matrices, weights, how)
    np.testing.assert_allclose(axes @ axes.T, np.eye(d), atol=1e-13)
    size = np.abs(matrices).max()
    np.testing.assert_allclose(turned, axes @ matrices @ axes.T, atol=1e-12 * size)
    before, after = height(matrices, weights), height(turned, weights)
    assert after <= before + 1e-12 * (1 + abs(before))


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 5))
@settings(max_examples=25, deadline=None)
def test_a_searched_plane_is_below_every_angle_tried_and_at_the_foot_of_a_wide_valley(seed, k):
    matrices, weights = some_matrices(seed, k, 2), np.arange(1.0, k + 1.0)
    turned, _, _ = turned_once(matrices, weights, Angle.SEARCH)

    def at(angle: float) -> float:
        c, s = np.cos(angle), np.sin(angle)
        axes = np.array([[c, s], [-s, c]])
        return height(axes @ matrices @ axes.T, weights)

    tried = [at(t) for t in np.linspace(-np.pi / 4, np.pi / 4, 13)]
    assert height(turned, weights) <= min(tried) + 1e-12 * (1 + abs(min(tried)))
    mild = matrices + np.trace(matrices, axis1=1, axis2=2)[:, None, None] * np.eye(2)  # one wide valley
    turned, _, _ = turned_once(mild, weights, Angle.SEARCH)
    matrices = mild
    least = minimize_scalar(at, bounds=(-np.pi / 4, np.pi / 4), method="bounded", options={"xatol": 1e-10})
    assert height(turned, weights) <= least.fun + 1e-9


def test_without_weights_groups_count_by_their_mean_length():
    matrices = some_matrices(3, 3, 4) * np.array([1.0, 5.0, 0.2])[:, None, None]
    lengths = np.exp(np.log(np.diagonal(matrices, axis1=1, axis2=2)).mean(axis=1))
    first = matrices[:, :2, :2]  # one plane: nothing has moved yet
    mean = np.exp(np.log(np.diagonal(first, axis1=1, axis2=2)).mean(axis=1))
    by_length, _, angle = turned_once(first, np.empty(0), Angle.TANGENT)
    given, _, same = turned_once(first, mean, Angle.TANGENT)
    assert angle == pytest.approx(same, rel=1e-12)
    np.testing.assert_allclose(by_length, given, rtol=1e-10)
    before = lengths.sum()
    for _ in range(20):
        matrices, _, _ = turned_once(matrices, np.empty(0), Angle.TANGENT)
        after = np.exp(np.log(np.diagonal(matrices, axis1=1, axis2=2)).mean(axis=1)).sum()
        assert after <= before * (1 + 1e-12)
        before = after


def test_matrices_with_common_axes_become_diagonal():
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    matrices = np.stack([axes * rng.uniform(0.1, 10, 6) @ axes.T for _ in range(4)])
    turned = matrices
    for _ in range(20):
        turned, _, largest = turned_once(turned, np.ones(4), Angle.NEWTON)
    off = turned - turned * np.eye(6)
    assert np.abs(off).max() < 1e-9
    assert largest < 1e-9


@pytest.mark.parametrize("how", RULES)
def test_a_group_without_spread_turns_nothing_into_nan(how):
    matrices = some_matrices(5, 3, 4)
    matrices[0] = 0.0
    turned, axes, largest = turned_once(matrices, np.ones(3), how)
    assert np.isfinite(turned).all()
    assert np.isfinite(axes).all()
    assert np.isfinite(largest)
