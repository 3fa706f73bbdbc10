"""Rows with missing cells, many of one pattern or each with its own, against SciPy and textbook formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from asterism.families.covariance import Covariances
from asterism.families.gaussian_pass import GaussianParams
from asterism.families.missing import MANY, Conditional, Rare, views

D, K, N = 6, 3, 9


def components(seed: int, structure: str = "VVV", thin: float = 1.0) -> GaussianParams:
    """K components; the smallest variance of each is ``thin`` times what it would be."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((K, D, D)))[0]
    variances = rng.uniform(0.5, 2.0, (K, D))
    variances[:, 0] *= thin
    matrices = (axes * variances[:, None, :]) @ axes.transpose(0, 2, 1)
    if structure == "EEE":
        matrices = np.repeat(matrices[:1], K, axis=0)
    return GaussianParams(rng.standard_normal((K, D)), Covariances.given(structure, matrices))


def rows_missing(rng: np.random.Generator, m: int) -> np.ndarray:
    """(N, D) rows, each of which misses m cells of its own."""
    y = rng.standard_normal((N, D))
    for row in y:
        row[rng.permutation(D)[:m]] = np.nan
    return y


@pytest.mark.parametrize("structure", ["VVV", "EEE"])
@pytest.mark.parametrize("m", range(D + 1))
def test_rows_with_patterns_of_their_own_have_the_marginal_density_of_scipy(structure, m):
    params, y = components(m, structure), rows_missing(np.random.default_rng(m), m)
    view = Rare.of(params.means, params.whiteners, y)
    matrices = params.covariances.full()
    want = np.zeros((N, K))
    for i, row in enumerate(y):
        seen = ~np.isnan(row)
        for c in range(K if seen.any() else 0):
            part = multivariate_normal(params.means[c, seen], matrices[c][np.ix_(seen, seen)])
            want[i, c] = part.logpdf(row[seen])
    np.testing.assert_allclose(view.log_density(y), want, rtol=0, atol=1e-11)
    assert view.observed == D - m


@pytest.mark.parametrize("thin", [1.0, 1e-8])
@pytest.mark.parametrize("m", range(1, D))
def test_missing_cells_are_expected_and_spread_as_their_conditional_distribution_says(m, thin):
    params, rng = components(m, thin=thin), np.random.default_rng(m)
    y, mass = rows_missing(rng, m), rng.uniform(0.0, 2.0, (N, K))
    view = Rare.of(params.means, params.whiteners, y)
    about, spread = np.empty((K, N, D)), np.zeros((K, D, D))
    for i, row in enumerate(y):
        o, g = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        for c, s in enumerate(params.covariances.full()):
            slopes = np.linalg.solve(s[np.ix_(o, o)], s[np.ix_(o, g)]).T
            about[c, i, o] = row[o] - params.means[c, o]
            about[c, i, g] = slopes @ about[c, i, o]
            spread[c][np.ix_(g, g)] += mass[i, c] * (s[np.ix_(g, g)] - slopes @ s[np.ix_(o, g)])
    np.testing.assert_allclose(view.deviations(y), about, rtol=0, atol=1e-13 / thin**0.5)
    np.testing.assert_allclose(view.spread(mass), spread, rtol=0, atol=1e-12 / thin**0.5)


@pytest.mark.parametrize("thin", [1.0, 1e-8])
def test_both_views_of_a_pattern_tell_the_same(thin):
    params, rng = components(1, thin=thin), np.random.default_rng(1)
    seen = np.array([True, False, True, True, False, True])
    y = np.where(seen, rng.standard_normal((N, D)), np.nan)
    mass = rng.uniform(0.0, 2.0, (N, K))
    one = Conditional.of(params.means, params.matrices, seen)
    other = Rare.of(params.means, params.whiteners, y)
    near = 1e-12 / thin**0.5
    np.testing.assert_allclose(one.squares(y), other.squares(y), rtol=near)
    np.testing.assert_allclose(one.log_density(y), other.log_density(y), rtol=near)
    np.testing.assert_allclose(one.deviations(y), other.deviations(y), rtol=0, atol=near)
    np.testing.assert_allclose(one.spread(mass), other.spread(mass), rtol=0, atol=near)


def test_every_row_is_in_one_view_and_many_of_a_pattern_share_theirs():
    params, rng = components(0), np.random.default_rng(0)
    y = np.concatenate([rows_missing(rng, m) for m in range(D + 1)])
    often = np.where(np.arange(D) == 2, np.nan, rng.standard_normal((MANY, D)))
    y = rng.permutation(np.concatenate([y, often]))
    found = list(views(params, y))
    taken = np.concatenate([rows for _, rows in found])
    assert sorted(taken.tolist()) == list(range(len(y)))
    shared = [rows for view, rows in found if isinstance(view, Conditional)]
    assert len(shared) == 1
    assert len(shared[0]) >= MANY
    assert np.isnan(y[shared[0], 2]).all()
    for view, rows in found:
        assert set((~np.isnan(y[rows])).sum(axis=1)) == {view.observed}
