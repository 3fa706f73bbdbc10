"""Hurdle columns against SciPy's distributions and its optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import expit, logit

from asterism.data.block import block_of
from asterism.errors import DataError
from asterism.families.base import Facts
from asterism.families.hurdle import HurdleFamily, Hurdles
from asterism.families.negative_binomial import MOST_COUNT
from asterism.stats.moments import ColumnMoments


def params(q, m, a):
    return Hurdles(*(np.array([[value]]) for value in (q, m, a)))


def log_p(x, q, m, a):
    """By SciPy."""
    beyond = stats.nbinom.logpmf(x - 1, 1 / a, 1 / (1 + a * m))
    return np.where(x == 0, np.log(q), np.log1p(-q) + beyond)


def prepared(rows, **settings):
    moments = ColumnMoments.of(block_of(np.asarray(rows, np.float64)))
    names = tuple(f"x{j}" for j in range(moments.mean.size))
    return HurdleFamily(**settings).prepared(Facts(names, moments, np.zeros(len(names))))


def with_zeros(share, m, a, n, seed):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < share, 0.0, 1.0 + rng.poisson(m * rng.gamma(1 / a, a, n)))


# --- density ---


@pytest.mark.parametrize("q", [1e-6, 0.3, 0.9])
@pytest.mark.parametrize(("m", "a"), [(0.01, 5.0), (7.3, 0.3), (400.0, 1e-3)])
def test_density_is_scipys(q, m, a):
    x = np.array([0, 1, 2, 6, 40, MOST_COUNT, MOST_COUNT + 2, 50_000.0])
    got = HurdleFamily().log_density(params(q, m, a), block_of(x[:, None]))[:, 0]
    np.testing.assert_allclose(got, log_p(x, q, m, a), rtol=1e-10)


def test_a_missing_cell_says_nothing():
    rows = np.array([[0.0, np.nan], [np.nan, 3.0], [0.0, 3.0]])
    both = Hurdles(np.array([[0.4, 0.2]]), np.array([[1.0, 5.0]]), np.array([[0.5, 0.1]]))
    one, other, together = HurdleFamily().log_density(both, block_of(rows))[:, 0]
    assert one == pytest.approx(np.log(0.4))
    assert together == pytest.approx(one + other)


# --- estimate ---


@pytest.mark.parametrize("worth", [0.0, 1.0, 5.0])
@pytest.mark.parametrize(("q", "m", "a"), [(0.5, 5, 0.5), (0.9, 2, 1.0), (0.02, 10, 2.0)])
def test_estimate_is_where_scipys_optimiser_ends(q, m, a, worth):
    x = with_zeros(q, m, a, 150, seed=3)
    w = np.random.default_rng(4).random(150)
    family = prepared(x[:, None], prior=worth)
    fit = family.estimate(family.statistic(None, block_of(x[:, None], w), w[:, None]), None)
    usual = family.usual[0]

    def height(p):
        q, m, a = expit(p[0]), np.exp(p[1]), np.exp(np.clip(p[2], -12.0, 12.0))  # where SciPy has digits
        beta = worth / 2 * (np.log(q) + np.log1p(-q))
        return w @ log_p(x, q, m, a) + beta + worth * (p[1] - m / usual - a)

    best = max(
        -optimize.minimize(
            lambda p: -height(p), [0.0, np.log(x.mean() + 0.1), np.log(start)], method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 6000},
        ).fun
        for start in (1e-2, 0.5)
    )  # fmt: skip
    own = [logit(fit.zeros[0, 0]), np.log(fit.means[0, 0]), np.log(max(fit.dispersions[0, 0], 1e-12))]
    assert height(own) >= best - 1e-7


def test_fewer_zeros_than_counts_have_are_found_as_well_as_more():
    x = np.column_stack([with_zeros(q, 1.0, 0.5, 20_000, seed=5) for q in (0.02, 0.8)])
    family = prepared(x)
    fit = family.estimate(family.statistic(None, block_of(x), np.ones((len(x), 1))), None)
    np.testing.assert_allclose(fit.zeros[0], [0.02, 0.8], atol=0.01)
    np.testing.assert_allclose(fit.means[0], 1.0, rtol=0.1)


def test_a_prior_leaves_nothing_impossible():
    rows = np.array([[0.0]] * 6 + [[8.0]] * 6)
    family = prepared(rows, prior="conjugate")
    fit = family.estimate(family.statistic(None, block_of(rows), np.repeat(np.eye(2), 6, axis=0)), None)
    np.testing.assert_allclose(fit.zeros[:, 0], [6.5 / 7, 0.5 / 7])
    assert (family.log_density(fit, block_of(rows)) > -50).all()


def test_a_column_of_zeros_alone_is_sure_of_them():
    rows = np.column_stack([np.arange(5.0), np.zeros(5)])
    family = HurdleFamily()
    fit = family.estimate(family.statistic(None, block_of(rows), np.ones((5, 1))), None)
    assert fit.zeros[0].tolist() == [0.2, 1.0]
    assert np.isfinite(fit.means).all()


# --- the rest ---


def test_samples_have_the_mean_that_missing_cells_get():
    own = params(0.6, 3.0, 0.5)
    drawn = HurdleFamily().sample(own, 0, 40_000, np.random.default_rng(0))
    [[expected]] = HurdleFamily().impute(own, block_of(np.array([[np.nan]])), np.ones((1, 1)))
    assert expected == pytest.approx(0.4 * 4.0)
    assert drawn.mean() == pytest.approx(expected, rel=0.03)
    assert (drawn == 0).mean() == pytest.approx(0.6, abs=0.01)


def test_a_cell_that_is_no_count_is_refused_with_the_value_that_was_given():
    with pytest.raises(DataError, match=r"value 2\.5 is not a count"):
        HurdleFamily().log_density(params(0.5, 1.0, 0.0), block_of(np.array([[1.0], [2.5]])))


def test_sums_can_be_extrapolated_and_come_back():
    x = with_zeros(0.3, 5.0, 1.0, 50, seed=8)[:, None]
    family = prepared(x)
    statistic = family.statistic(None, block_of(x), np.ones((50, 2)) / 2)
    vector = family.flatten(statistic)
    again = family.unflatten(vector, statistic)
    for part, own in zip(again.parts, statistic.parts, strict=True):
        np.testing.assert_allclose(part.mass, own.mass)
    np.testing.assert_allclose(family.flatten(again), vector)
    assert family.unflatten(-vector, statistic) is None
    vector[4] = 10.0  # more zeros than cells
    assert family.unflatten(vector, statistic) is None
