"""Mixtures with a component for rows that belong to none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

import asterism
from asterism import GaussianMixture
from asterism.errors import DataError


def in_noise(seed=0, n=400, share=0.2, d=2):
    rng = np.random.default_rng(seed)
    x = 0.04 * rng.standard_normal((n, d)) + np.linspace(0.25, 0.75, 2)[np.arange(n) % 2, None]
    noise = round(share * n)
    x[:noise] = rng.random((noise, d))
    return x


def brute_force(x, weights, means, precisions, steps):
    """EM row by row: components, and one uniform density over the box."""
    k, n = len(weights), len(x)
    height = -np.log(np.ptp(x, axis=0)).sum()
    pi, mu, sigma = 0.95 * weights, means.copy(), np.linalg.inv(precisions)
    noise, climbed = 0.05, []
    for step in range(steps + 1):
        s = np.column_stack(
            [np.log(pi[c]) + multivariate_normal(mu[c], sigma[c]).logpdf(x) for c in range(k)]
            + [np.full(n, np.log(noise) + height)]
        )
        total = logsumexp(s, axis=1)
        climbed.append(total.mean())
        if step == steps:
            return pi, mu, sigma, noise, climbed, np.exp(s - total[:, None])
        r = np.exp(s - total[:, None])
        pi, noise = r[:, :k].sum(axis=0) / n, r[:, k].sum() / n
        for c in range(k):
            mu[c] = r[:, c] @ x / r[:, c].sum()
            y = x - mu[c]
            sigma[c] = (r[:, c, None] * y).T @ y / r[:, c].sum()


def test_em_with_noise_is_that_by_brute_force() -> None:
    x = in_noise()
    weights, means = np.array([0.6, 0.4]), np.array([[0.2, 0.3], [0.7, 0.8]])
    precisions = np.stack([np.eye(2) / 0.02] * 2)
    pi, mu, sigma, noise, climbed, r = brute_force(x, weights, means, precisions, 7)
    m = GaussianMixture(
        2, noise_component=True, weights_init=weights, means_init=means, precisions_init=precisions,
        max_iter=7, tol=0.0,
    ).fit(x)  # fmt: skip
    np.testing.assert_allclose(m.weights_, pi, rtol=1e-9)
    np.testing.assert_allclose(m.means_, mu, rtol=1e-9)
    np.testing.assert_allclose(m.covariances_, sigma, rtol=1e-8)
    assert m.noise_weight_ == pytest.approx(noise, rel=1e-9)
    assert m.noise_log_density_ == pytest.approx(-np.log(np.ptp(x, axis=0)).sum())
    np.testing.assert_allclose(m.history_, climbed, rtol=1e-9)
    np.testing.assert_allclose(m.predict_proba(x), r[:, :2], atol=1e-9)
    best = r.argmax(axis=1)
    assert (m.predict(x) == np.where(best == 2, -1, best)).all()
    assert (m.labels_ == m.predict(x)).all()
    assert m.score(x) == pytest.approx(climbed[-1])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["full", "tied", "diag", "spherical", "VEV"]), st.booleans())
def test_the_likelihood_never_falls_and_shares_add_up(seed, structure, gaps) -> None:
    x = in_noise(seed, n=120)
    if gaps:
        x[np.random.default_rng(seed).random(x.shape) < 0.1] = np.nan
        x = x[~np.isnan(x).all(axis=1)]
    m = GaussianMixture(2, covariance_type=structure, noise_component=True, random_state=0).fit(x)
    assert (np.diff(m.history_) >= -1e-9).all()
    assert m.weights_.sum() + m.noise_weight_ == pytest.approx(1.0)
    p = m.predict_proba(x)
    assert p.shape == (len(x), 2)
    none = 1.0 - p.sum(axis=1)
    assert (none > -1e-9).all()
    # the density of a row is that of its components over what noise leaves them
    widths = np.nanmax(x, axis=0) - np.nanmin(x, axis=0)
    uniform = -np.where(np.isnan(x), 0.0, np.log(widths)).sum(axis=1)
    sure = none > 1e-6
    np.testing.assert_allclose(
        m.score_samples(x)[sure],
        (np.log(m.noise_weight_) + uniform - np.log(none))[sure],
        rtol=1e-6,
        atol=1e-6,
    )


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_groups_in_noise_are_found_as_if_there_were_none(share) -> None:
    x = in_noise(1, n=1000, share=share, d=5)
    m = GaussianMixture(2, noise_component=True, random_state=0).fit(x)
    assert m.noise_weight_ == pytest.approx(share, abs=0.01)
    np.testing.assert_allclose(np.sort(m.means_[:, 0]), [0.25, 0.75], atol=0.01)
    np.testing.assert_allclose(np.sqrt(np.diagonal(m.covariances_, axis1=1, axis2=2)), 0.04, atol=0.006)
    found = m.predict(x) < 0
    assert found[: round(1000 * share)].mean() > 0.97
    assert found[round(1000 * share) :].mean() < 0.01
    assert m.predict(np.full((1, 5), 40.0)).tolist() == [-1]


def test_a_table_without_noise_has_next_to_none() -> None:
    x = in_noise(2, n=600, share=0.0)
    m = GaussianMixture(2, noise_component=True, random_state=0).fit(x)
    plain = GaussianMixture(2, random_state=0).fit(x)
    assert m.noise_weight_ < 0.02
    assert (plain.noise_weight_, plain.noise_log_density_) == (0.0, -np.inf)
    np.testing.assert_allclose(np.sort(m.means_, axis=0), np.sort(plain.means_, axis=0), atol=0.01)


def test_rows_drawn_from_it_have_noise_in_the_box_alone() -> None:
    x = in_noise(3, n=800)
    m = GaussianMixture(2, noise_component=True, random_state=0).fit(x)
    rows, labels = m.sample(2000)
    assert set(labels.tolist()) == {-1, 0, 1}
    noise = rows[labels == -1]
    assert len(noise) / 2000 == pytest.approx(m.noise_weight_, abs=0.05)
    assert (noise >= x.min(axis=0)).all()
    assert (noise <= x.max(axis=0)).all()


def test_weight_is_copies_and_any_number_of_threads_gives_the_same_bits() -> None:
    x = in_noise(4, n=200)
    times = np.random.default_rng(0).integers(1, 3, len(x))
    given_start = {"means_init": [[0.25, 0.25], [0.75, 0.75]], "noise_component": True}
    one = GaussianMixture(2, **given_start).fit(x, sample_weight=times)
    two = GaussianMixture(2, **given_start).fit(np.repeat(x, times, axis=0))
    np.testing.assert_allclose(one.means_, two.means_, atol=1e-6)
    assert one.noise_weight_ == pytest.approx(two.noise_weight_, abs=1e-6)
    fits = []
    for threads in (1, 2):
        with asterism.engine(n_threads=threads):
            fits.append(GaussianMixture(2, noise_component=True, random_state=0).fit(x))
    np.testing.assert_array_equal(fits[0].means_, fits[1].means_)
    assert fits[0].noise_weight_ == fits[1].noise_weight_


def test_warm_start_goes_on_from_the_last_fit() -> None:
    x = in_noise(5)
    m = GaussianMixture(2, noise_component=True, warm_start=True, random_state=0, tol=1e-9, max_iter=500).fit(
        x
    )
    before = m.lower_bound_
    m.fit(x)
    assert m.n_iter_ <= 3
    assert m.lower_bound_ >= before - 1e-9


def test_a_constant_column_has_no_volume_and_is_named() -> None:
    x = np.column_stack([in_noise(), np.ones(400)])
    with pytest.raises(DataError, match="x2"):
        GaussianMixture(2, noise_component=True).fit(x)
