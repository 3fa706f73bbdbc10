"""Starts for components of any orientation: groups in directions in which rows hardly differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score

from asterism import GaussianMixture, StudentMixture
from asterism.data.block import block_of
from asterism.methods.discriminant import LEAST, Sphering
from asterism.methods.starts import Sample, one_hot, tightness


def hidden_groups(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three groups far apart in two of d directions, in which rows differ a tenth as much as in the others."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    rows = rng.standard_normal((n, d)) * np.where(np.arange(d) < d - 2, 4.0, 0.3)
    angle = 2 * np.pi * group / 3
    rows[:, -2:] += 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    return rows @ np.linalg.qr(rng.standard_normal((d, d)))[0], group


def sample_of_rows(rows: np.ndarray, weights: np.ndarray | None = None) -> Sample:
    w = np.ones(len(rows)) if weights is None else weights
    unit = np.where(np.ptp(rows, axis=0) > 0, rows.std(axis=0), 1.0)
    return Sample(block_of(rows, w), rows - rows[0], unit, whole=True)


@pytest.mark.parametrize("structure", ["tied", "full", "VEE", "EVV"])
@pytest.mark.parametrize("seed", range(3))
def test_groups_apart_where_rows_hardly_differ_are_found(structure: str, seed: int) -> None:
    X, group = hidden_groups(900, 20, seed)
    found = GaussianMixture(3, covariance_type=structure, random_state=seed).fit(X)
    assert adjusted_rand_score(group, found.labels_) > 0.99


@pytest.mark.parametrize("seed", range(4))
def test_a_small_group_apart_where_rows_hardly_differ_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    few = rng.random(900) < 0.07
    rows = rng.standard_normal((900, 20)) * np.where(np.arange(20) < 19, 4.0, 0.25)
    rows[few, -1] += 2.0
    X = rows @ np.linalg.qr(rng.standard_normal((20, 20)))[0]
    found = GaussianMixture(2, covariance_type="tied", random_state=seed).fit(X)
    assert adjusted_rand_score(few, found.labels_) > 0.98


def test_heavy_tailed_components_find_them_too() -> None:
    X, group = hidden_groups(600, 12, seed=4)
    found = StudentMixture(3, random_state=0).fit(X)
    assert adjusted_rand_score(group, found.labels_) > 0.99


def test_a_table_larger_than_its_sample_finds_them() -> None:
    X, group = hidden_groups(9_000, 60, seed=1)  # 5,700 parameters, and 4,096 rows in a sample
    found = GaussianMixture(3, random_state=0).fit(X)
    assert adjusted_rand_score(group, found.labels_) > 0.99


def test_missing_and_absent_cells_do_not_hide_them() -> None:
    X, group = hidden_groups(900, 20, seed=2)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.01] = np.nan
    weights = np.ones(len(X))
    weights[:20], X[:20] = 0.0, np.inf
    found = GaussianMixture(3, random_state=0).fit(X, sample_weight=weights)
    whole = np.isfinite(X).all(axis=1)  # a row without a cell may not be told where it belongs
    assert adjusted_rand_score(group[whole], found.labels_[whole]) > 0.99


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 4), d=st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_tightness_is_the_log_likelihood_of_rows_that_are_told_their_group(seed: int, k: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    rows, w = rng.standard_normal((40, d)) @ rng.standard_normal((d, d)), rng.uniform(0.5, 2.0, 40)
    labels = np.arange(40) % k
    sample = sample_of_rows(rows, w)
    total, direct = w.sum(), 0.0
    means = np.array(
        [np.average(sample.standard[labels == c], axis=0, weights=w[labels == c]) for c in range(k)]
    )
    about = sample.standard - means[labels]
    within = (about * w[:, None]).T @ about / total + LEAST * np.eye(d)
    for c in range(k):
        mine = labels == c
        share = w[mine].sum() / total
        heights = multivariate_normal(means[c], within).logpdf(sample.standard[mine])
        direct += float(np.atleast_1d(w[mine]) @ (np.log(share) + np.atleast_1d(heights))) / total
    # The mean of the squared distances is d, but for what LEAST adds.
    constant = -0.5 * d * np.log(2 * np.pi) - 0.5 * np.trace(
        np.linalg.solve(within, within - LEAST * np.eye(d))
    )
    assert tightness(sample, one_hot(labels, k)) + constant == pytest.approx(direct, rel=1e-9, abs=1e-9)


def test_order_of_tightness_is_the_same_in_any_coordinates() -> None:
    rng = np.random.default_rng(3)
    rows, turn = rng.standard_normal((200, 6)), rng.standard_normal((6, 6))
    guesses = [one_hot(rng.integers(3, size=200), 3) for _ in range(6)]
    plain = [tightness(sample_of_rows(rows), guess) for guess in guesses]
    other = [tightness(sample_of_rows(rows @ turn), guess) for guess in guesses]
    np.testing.assert_allclose(np.diff(plain), np.diff(other), atol=1e-6)


def test_sphered_rows_are_round_and_twin_or_constant_columns_do_no_harm() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((500, 4)) @ rng.standard_normal((4, 4))
    sphered = Sphering.of(rows, np.ones(500)).sphered(rows)
    np.testing.assert_allclose(np.cov(sphered.T, bias=True), np.eye(4), atol=1e-6)
    odd = np.column_stack([rows, rows[:, 0], np.full(500, 7.0)])
    assert np.abs(Sphering.of(odd, np.ones(500)).sphered(odd)[:, 4:]).max() < 1e-3
