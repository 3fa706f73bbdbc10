"""Starts for components of any orientation: groups in directions in which rows hardly differ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn.metrics import adjusted_rand_score

from asterism import GaussianMixture, StudentMixture
from asterism.methods.discriminant import THINNEST, Sphering, with_common_covariance


def hidden_groups(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three groups far apart in two of d directions, in which rows differ a tenth as much as in the others."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    rows = rng.standard_normal((n, d)) * np.where(np.arange(d) < d - 2, 4.0, 0.3)
    angle = 2 * np.pi * group / 3
    rows[:, -2:] += 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    return rows @ np.linalg.qr(rng.standard_normal((d, d)))[0], group


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


@pytest.mark.parametrize("last_bits", [0.0, 1e-13])
@pytest.mark.parametrize("seed", range(6))
def test_a_table_larger_than_its_sample_finds_them(seed: int, last_bits: float) -> None:
    X, group = hidden_groups(9_000, 60, seed % 3)  # 5,700 parameters, and 4,096 rows in a sample
    X *= 1.0 + last_bits * np.random.default_rng(seed).standard_normal(X.shape)
    found = GaussianMixture(3, random_state=seed).fit(X)
    assert adjusted_rand_score(group, found.labels_) > 0.99


@pytest.mark.parametrize("d", [20, 60])
def test_more_starts_are_never_worse(d: int) -> None:
    """With 60 columns the sample is larger than usual."""
    X, _ = hidden_groups(5_000, d, seed=5)
    heights = [GaussianMixture(4, n_init=n, random_state=0).fit(X).lower_bound_ for n in (1, 2, 4)]
    assert heights == sorted(heights)


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
def test_components_that_share_a_covariance_reach_their_log_likelihood(seed: int, k: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    w, labels = rng.uniform(0.5, 2.0, 40), np.arange(40) % k
    rows = rng.standard_normal((40, d)) @ rng.standard_normal((d, d)) + labels[:, None]
    centred = rows - np.average(rows, axis=0, weights=w)
    root = np.linalg.cholesky((centred * w[:, None]).T @ centred / w.sum())
    z = np.linalg.solve(
        root, centred.T
    ).T  # round to the last bits: components may be a thousand times thinner
    means = np.array([np.average(z[labels == c], axis=0, weights=w[labels == c]) for c in range(k)])
    about = z - means[labels]
    within = (about * w[:, None]).T @ about / w.sum() + THINNEST * np.eye(d)
    share = np.bincount(labels, w) / w.sum()
    densities = [share[c] * multivariate_normal(means[c], within).pdf(z) for c in range(k)]
    alone = multivariate_normal(np.zeros(d), np.eye(d)).logpdf(z)
    found, height = with_common_covariance(z, w, labels == np.arange(k)[:, None], steps=1)
    assert height == pytest.approx(np.average(np.log(sum(densities)) - alone, weights=w), rel=1e-3, abs=1e-3)
    np.testing.assert_allclose(softmax(found.scores(z), axis=0), densities / sum(densities), atol=1e-3)


def test_their_height_is_the_same_in_any_coordinates() -> None:
    rng = np.random.default_rng(3)
    rows, turn, w = rng.standard_normal((200, 6)), rng.standard_normal((6, 6)), np.ones(200)
    shares = rng.integers(3, size=200) == np.arange(3)[:, None]
    heights = [
        with_common_covariance(Sphering.of(seen, w).sphered(seen), w, shares, steps=5)[1]
        for seen in (rows, rows @ turn)
    ]
    assert heights[0] == pytest.approx(heights[1], abs=1e-4)


def test_a_rule_found_among_sphered_rows_holds_for_rows_as_they_are() -> None:
    X, group = hidden_groups(900, 20)
    w = np.ones(900)
    sphering = Sphering.of(X, w)
    found, _ = with_common_covariance(sphering.sphered(X), w, group == np.arange(3)[:, None])
    assert (sphering.undone(found).labels(X) == found.labels(sphering.sphered(X))).all()


def test_components_without_rows_and_without_spread_do_no_harm() -> None:
    rng = np.random.default_rng(0)
    sides = np.repeat([0, 1], 50)
    rows = np.column_stack([sides, rng.standard_normal(100)]).astype(float)
    z = Sphering.of(rows, np.ones(100)).sphered(rows)
    found, height = with_common_covariance(z, np.ones(100), sides == np.arange(3)[:, None])
    assert len(found.heights) == 2
    assert np.isfinite(height)
    assert (found.labels(z) == sides).all()


def test_sphered_rows_are_round_and_twin_or_constant_columns_do_no_harm() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((500, 4)) @ rng.standard_normal((4, 4))
    sphered = Sphering.of(rows, np.ones(500)).sphered(rows)
    np.testing.assert_allclose(np.cov(sphered.T, bias=True), np.eye(4), atol=1e-6)
    odd = np.column_stack([rows, rows[:, 0], np.full(500, 7.0)])
    assert np.abs(Sphering.of(odd, np.ones(500)).sphered(odd)[:, 4:]).max() < 1e-3
