"""Negative binomial columns against SciPy's distribution, its optimisers, and sums written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from asterism.data.block import block_of
from asterism.errors import DataError
from asterism.families.base import Facts
from asterism.families.negative_binomial import (
    MOST_COUNT,
    Dispersed,
    NegativeBinomialFamily,
    _log_rising,
    _rising_slope,
)
from asterism.families.poisson import PoissonFamily, Rates
from asterism.stats.moments import ColumnMoments


def density(x, m, a):
    params = Dispersed(np.array([[m]]), np.array([[a]]))
    return NegativeBinomialFamily().log_density(params, block_of(np.asarray(x, np.float64)[:, None]))[:, 0]


def prepared(rows, **settings):
    moments = ColumnMoments.of(block_of(np.asarray(rows, np.float64)))
    names = tuple(f"x{j}" for j in range(moments.mean.size))
    return NegativeBinomialFamily(**settings).prepared(Facts(names, moments, np.zeros(len(names))))


def counts_of(m, a, n, seed):
    rng = np.random.default_rng(seed)
    return rng.poisson(m * rng.gamma(1 / a, a, n)).astype(float)


def height(p, x, w, worth, usual):
    """Weighted log-likelihood and log prior at (log m, log a), by SciPy."""
    m, a = np.exp(p)
    return w @ stats.nbinom.logpmf(x, 1 / a, 1 / (1 + a * m)) + worth * (p[0] - m / usual - a)


# --- density ---


@pytest.mark.parametrize("a", [1e-3, 0.3, 5.0])
@pytest.mark.parametrize("m", [0.01, 7.3, 400.0])
def test_density_is_scipys(m, a):
    x = np.array([0, 1, 5, 40, MOST_COUNT, MOST_COUNT + 1, 50_000.0])  # the last two are beyond the tables
    np.testing.assert_allclose(density(x, m, a), stats.nbinom.logpmf(x, 1 / a, 1 / (1 + a * m)), rtol=1e-10)


@pytest.mark.parametrize("a", [0.0, 1e-300, 1e-18])
def test_no_dispersion_is_poissons_distribution(a):
    x = np.array([0, 1, 5, 40, 3000.0])
    np.testing.assert_allclose(density(x, 7.3, a), stats.poisson.logpmf(x, 7.3), rtol=1e-12)


@pytest.mark.parametrize("a", [0.0, 1e-9, 1e-4, 0.009999, 0.010001, 0.5, 1e6])
@pytest.mark.parametrize("x", [1, 3, 50, 3000])
def test_closed_forms_are_their_sums(a, x):
    i = np.arange(x)
    got, slope = (f(np.array([a]), np.array([float(x)]))[0] for f in (_log_rising, _rising_slope))
    assert got == pytest.approx(np.log1p(a * i).sum(), rel=1e-10, abs=1e-11)
    assert slope == pytest.approx((i / (1 + a * i)).sum(), rel=1e-9, abs=1e-9)


def test_a_component_of_zeros_gives_them_probability_one():
    params = Dispersed(np.array([[0.0], [3.0]]), np.array([[0.0], [0.5]]))
    scores = NegativeBinomialFamily().log_density(params, block_of(np.array([[0.0], [2.0]])))
    assert scores[0, 0] == 0.0
    assert scores[1, 0] < -700 < scores[1, 1]


# --- estimate ---


@pytest.mark.parametrize("worth", [0.0, 1.0, 5.0])
@pytest.mark.parametrize(("m", "a"), [(50, 0.05), (5, 0.5), (1, 1.0), (0.5, 3.0), (10, 4.0), (100, 0.2)])
@pytest.mark.parametrize("top", [None, 3])
def test_estimate_is_where_scipys_optimiser_ends(m, a, worth, top):
    x, usual = counts_of(m, a, 80, seed=3), 20.0
    w = np.random.default_rng(4).random(80)
    top = int(x.max()) if top is None else top  # counts above it are listed instead of tabulated
    family = NegativeBinomialFamily(worth, ("x",), (usual,), (top,))
    fit = family.estimate(family.statistic(None, block_of(x[:, None], w), w[:, None]), None)
    own = (fit.means[0, 0], fit.dispersions[0, 0])
    starts = [(x.mean() + 0.1, s) for s in (1e-3, 0.1, 1.0)]
    best = max(
        -optimize.minimize(
            lambda p: -height(p, x, w, worth, usual), np.log(start), method="Nelder-Mead",
            options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000},
        ).fun
        for start in starts
    )  # fmt: skip
    assert height(np.log(own), x, w, worth, usual) >= best - 1e-7


def test_counts_no_wider_than_poissons_have_no_dispersion():
    x = np.array([3.0, 4, 5, 4, 3, 5, 4])
    family = prepared(x[:, None])
    fit = family.estimate(family.statistic(None, block_of(x[:, None]), np.ones((7, 1))), None)
    assert (fit.means[0, 0], fit.dispersions[0, 0]) == (4.0, 0.0)
    np.testing.assert_allclose(
        family.log_density(fit, block_of(x[:, None])),
        PoissonFamily().log_density(Rates(np.array([[4.0]])), block_of(x[:, None])),
    )


def test_dispersion_of_many_rows_is_the_true_one():
    x = np.column_stack([counts_of(m, a, 20_000, seed=5) for m, a in [(4.0, 0.5), (80.0, 0.02), (1.0, 2.0)]])
    family = prepared(x)
    fit = family.estimate(family.statistic(None, block_of(x), np.ones((len(x), 1))), None)
    np.testing.assert_allclose(fit.dispersions[0], [0.5, 0.02, 2.0], rtol=0.1)


def test_counts_above_the_histograms_top_are_as_good_as_those_below():
    """A table may have larger counts than the sample that the family was prepared on."""
    x = counts_of(30, 0.7, 300, seed=6)[:, None]
    x[5] = 9000.0
    mass = np.random.default_rng(7).dirichlet([1.0, 1.0], 300)
    fits = []
    for top in (2, 40, 1999):
        family = NegativeBinomialFamily(None, ("x",), (30.0,), (top,))
        parts = [family.statistic(None, block_of(x[s]), mass[s]) for s in (slice(0, 7), slice(7, 300))]
        fits.append(family.estimate(parts[0].merge(parts[1]), None))
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.means, fits[0].means, rtol=1e-12)
        np.testing.assert_allclose(fit.dispersions, fits[0].dispersions, rtol=1e-9)


def test_a_prior_keeps_a_component_of_zeros_from_excluding_other_counts():
    rows = np.array([[0.0]] * 6 + [[8.0]] * 6)
    family = prepared(rows, prior="conjugate")
    mass = np.repeat(np.eye(2), 6, axis=0)
    fit = family.estimate(family.statistic(None, block_of(rows), mass), None)
    assert 0 < fit.means[0, 0] < 0.5
    assert family.log_density(fit, block_of(np.array([[8.0]])))[0, 0] > -50


def test_a_column_of_very_large_counts_is_refused_by_name():
    with pytest.raises(DataError, match=r"column 'x1'.*largest count is 2001.*logarithm"):
        prepared([[1.0, 2001.0], [2.0, 3.0]])


def test_sums_can_be_extrapolated_and_come_back():
    x = counts_of(5, 1.0, 50, seed=8)[:, None]
    family = NegativeBinomialFamily(None, ("x",), (5.0,), (4,))
    statistic = family.statistic(None, block_of(x), np.ones((50, 2)) / 2)
    again = family.unflatten(family.flatten(statistic), statistic)
    np.testing.assert_allclose(again.counts, statistic.counts)
    np.testing.assert_allclose(again.beyond, statistic.beyond)
    assert family.unflatten(-family.flatten(statistic), statistic) is None
