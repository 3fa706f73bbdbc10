"""What the making of groups leaves uncertain, against analytic scores and refitted mixtures."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from asterism.data.source import ArraySource
from asterism.explain.first_step import MOST_PARAMETERS, mixing_covariance
from asterism.explain.three_step import Membership
from asterism.families.bernoulli import BernoulliFamily
from asterism.families.gaussian import GaussianFamily
from asterism.methods.mixture import Settings, fit_mixture
from asterism.methods.posterior import Mixture, shares_of

TIGHT = Settings(tol=1e-10, max_iter=2000)


def two_heaps(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.6, rng.normal(0, 1, n), rng.normal(2.5, 1.0, n))[:, None]


def probabilities(theta: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Of two normal groups; theta: logit of the second's share, means, log variance of both."""
    share = 1 / (1 + np.exp(-theta[0]))
    f = norm.pdf(x, theta[1:3], np.exp(theta[3] / 2)) * [1 - share, share]
    return f


def test_it_is_what_another_parametrisation_says() -> None:
    """Scores by numerical differences of a density written down anew, with other parameters."""
    x = two_heaps(500, 0)
    mixture = fit_mixture(ArraySource(x), GaussianFamily("EEI"), 2, TIGHT).mixture
    found = mixing_covariance(mixture, np.arange(2), x, np.ones(500))
    r = shares_of(mixture, ArraySource(x))
    means = r.T @ x[:, 0] / r.sum(axis=0)
    variance = float((r * (x - means) ** 2).sum() / 500)
    theta = np.array([np.log(mixture.weights[1] / mixture.weights[0]), *means, np.log(variance)])
    score, moves = np.empty((500, 4)), np.empty((500, 2, 4))
    for b in range(4):
        step = np.eye(4)[b] * 1e-5
        up, down = probabilities(theta + step, x), probabilities(theta - step, x)
        score[:, b] = (np.log(up.sum(axis=1)) - np.log(down.sum(axis=1))) / 2e-5
        moves[:, :, b] = (up / up.sum(axis=1, keepdims=True) - down / down.sum(axis=1, keepdims=True)) / 2e-5
    labels = r.argmax(axis=1)
    t = np.array([moves[labels == s].mean(axis=0) for s in range(2)]).reshape(4, 4)
    expected = t @ np.linalg.inv(score.T @ score) @ t.T
    assert found is not None
    assert found.reshape(4, 4) == pytest.approx(expected, rel=2e-3, abs=1e-9)


def spread_of_refits(family: object, draw: object, n: int, k: int, times: int) -> np.ndarray:
    """(k, k) deviations of Q, computed for one table with mixtures fitted to others."""
    fixed = draw(n, 0)
    first = fit_mixture(ArraySource(fixed), family, k, TIGHT).mixture
    labels = shares_of(first, ArraySource(fixed)).argmax(axis=1)
    found = []
    for seed in range(1, times + 1):
        other = fit_mixture(ArraySource(draw(n, seed)), family, k, Settings(tol=1e-6, max_iter=200)).mixture
        r = shares_of(Mixture(first.family, other.weights, other.params), ArraySource(fixed))
        if np.corrcoef(r[:, 0], labels == 0)[0, 1] < 0:
            r = r[:, ::-1]
        found.append([r[labels == s].mean(axis=0) for s in range(k)])
    return np.std(found, axis=0)


def test_it_is_how_far_refitted_mixtures_differ() -> None:
    def draw(n: int, seed: int) -> np.ndarray:
        rng = np.random.default_rng([seed, 5])
        z = rng.random(n) < 0.5
        return (rng.random((n, 5)) < np.where(z[:, None], 0.8, 0.25)).astype(float)

    family = BernoulliFamily()
    spread = spread_of_refits(family, draw, 1000, 2, 25)
    x = draw(1000, 0)
    mixture = fit_mixture(ArraySource(x), family, 2, TIGHT).mixture
    u = mixing_covariance(mixture, np.arange(2), x, np.ones(1000))
    assert u is not None
    error = np.sqrt(np.einsum("stst->st", u))
    assert error == pytest.approx(spread, rel=0.4)


def test_weights_count_as_rows() -> None:
    x = two_heaps(300, 1)
    w = np.random.default_rng(0).integers(1, 4, 300).astype(float)
    family = GaussianFamily("VVI")
    mixture = fit_mixture(ArraySource(x, w), family, 2, TIGHT).mixture
    rows = np.repeat(np.arange(300), w.astype(int))
    once = mixing_covariance(mixture, np.arange(2), x, w)
    often = mixing_covariance(mixture, np.arange(2), x[rows], np.ones(len(rows)))
    assert once == pytest.approx(often, rel=1e-2, abs=1e-8)


def test_rows_of_a_label_still_add_up() -> None:
    x = two_heaps(300, 1)
    mixture = fit_mixture(ArraySource(x), GaussianFamily("VVI"), 2, TIGHT).mixture
    u = mixing_covariance(mixture, np.arange(2), x, np.ones(300))
    assert u is not None
    assert u.sum(axis=1) == pytest.approx(0.0, abs=1e-10)


def test_components_of_one_group_leave_nothing_uncertain() -> None:
    x = two_heaps(300, 1)
    mixture = fit_mixture(ArraySource(x), GaussianFamily("VVI"), 2, TIGHT).mixture
    u = mixing_covariance(mixture, np.zeros(2, np.int64), x, np.ones(300))
    assert u == pytest.approx(np.zeros((1, 1, 1, 1)), abs=1e-12)


def test_it_adds_to_errors_and_is_left_out_of_large_models() -> None:
    x = two_heaps(400, 2)
    mixture = fit_mixture(ArraySource(x), GaussianFamily("VVI"), 2, TIGHT).mixture
    u = mixing_covariance(mixture, np.arange(2), x, np.ones(400))
    r = shares_of(mixture, ArraySource(x))
    from asterism.explain.three_step import bch

    y = np.random.default_rng(0).normal(r[:, :1], 1.0)
    with_it, without = Membership(r, np.ones(400), step_one=u), Membership(r, np.ones(400))
    found = bch(with_it, y)
    assert (np.diag(found.covariance(with_it)) >= np.diag(found.covariance(without))).all()
    wide = np.random.default_rng(0).normal(size=(300, 40))
    large = fit_mixture(ArraySource(wide), GaussianFamily("EEE"), 2, Settings(max_iter=1)).mixture
    assert large.n_parameters > MOST_PARAMETERS
    assert mixing_covariance(large, np.arange(2), wide, np.ones(300)) is None
