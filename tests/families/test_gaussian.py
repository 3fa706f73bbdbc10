"""The Gaussian family against scipy's densities, scikit-learn's steps and the algebra of conditional normals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Peer

from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.engines.threads import one_blas_thread
from asterism.families.assignment import assign
from asterism.families.covariance import STRUCTURES, Covariances
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_pass import GaussianParams
from asterism.methods.em import EM, MixtureModel
from asterism.methods.frame import survey
from asterism.methods.mixture import facts_of
from asterism.methods.starts import expected_of, started

every_structure = pytest.mark.parametrize("structure", list(STRUCTURES))


@pytest.fixture(autouse=True)
def _one_blas_thread():
    """As in a fit: on tiny matrices a pool of threads costs a hundred times what it saves."""
    with one_blas_thread():
        yield


def table(n=200, d=3, k=3, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.concatenate(
        [rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3.0 * rng.normal(size=d) for _ in range(k)]
    )
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows


def prepared(rows, structure, **settings):
    source = ArraySource(rows)
    frame, moments = survey(source)
    family = GaussianFamily(structure, **settings)
    return family.prepared(facts_of(source, family, frame, moments))


def fitted(rows, structure, k=3, steps=3, **settings):
    """A family and parameters some steps after a start from thirds of the rows."""
    em = EM(prepared(rows, structure, **settings))
    block = block_of(rows)
    shares = np.eye(k)[np.arange(len(rows)) * k // len(rows)]
    model = started(em, expected_of(em, shares, block))
    for _ in range(steps):
        model = em.update(model, em.summarize(model, block))
    return em, model


def dense(family, params):
    return family.reference + params.means, params.covariances.full()


@every_structure
def test_log_density_is_scipys(structure):
    rows = table()
    em, model = fitted(rows, structure)
    means, covariances = dense(em.family, model.params)
    expected = [multivariate_normal(m, s).logpdf(rows) for m, s in zip(means, covariances, strict=True)]
    np.testing.assert_allclose(
        em.family.log_density(model.params, block_of(rows)), np.transpose(expected), 1e-9
    )


@every_structure
def test_missing_cells_leave_the_marginal_density(structure):
    rows = table(missing=0.3)
    em, model = fitted(rows, structure)
    means, covariances = dense(em.family, model.params)
    found = em.family.log_density(model.params, block_of(rows))
    for row, heights in zip(rows[::17], found[::17], strict=True):
        o = np.flatnonzero(~np.isnan(row))
        expected = [
            multivariate_normal(m[o], s[np.ix_(o, o)]).logpdf(row[o]) if len(o) else 0.0
            for m, s in zip(means, covariances, strict=True)
        ]
        np.testing.assert_allclose(heights, expected, rtol=1e-10, atol=1e-10)


def test_a_marginal_is_the_integral_over_the_missing_cell():
    em, model = fitted(table(d=2, missing=0.1), "VVV")
    grid = np.linspace(-80.0, 80.0, 200_001)
    x = 0.7
    whole = em.family.log_density(model.params, block_of(np.column_stack([np.full_like(grid, x), grid])))
    integral = np.trapezoid(np.exp(whole), grid, axis=0)
    found = em.family.log_density(model.params, block_of(np.array([[x, np.nan]])))
    np.testing.assert_allclose(np.exp(found[0]), integral, rtol=1e-10)


@every_structure
def test_statistic_of_missing_cells_is_their_conditional_expectation(structure):
    """Row by row, with the textbook's formulas and no grouping by pattern."""
    rows = table(n=15, missing=0.4, seed=3)
    em, model = fitted(table(), structure)
    family, params = em.family, model.params
    mass = np.random.default_rng(1).random((len(rows), 3))
    found = family.statistic(params, block_of(rows), mass)
    means, covariances = dense(family, params)
    pooled = np.zeros((3, 3, 3))
    for c in range(3):
        total, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
        for row, r in zip(rows, mass[:, c], strict=True):
            o, m = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
            s = covariances[c]
            filled, spread = row.copy(), np.zeros((3, 3))
            gain = s[np.ix_(m, o)] @ np.linalg.inv(s[np.ix_(o, o)])
            filled[m] = means[c][m] + gain @ (row[o] - means[c][o])
            spread[np.ix_(m, m)] = s[np.ix_(m, m)] - gain @ s[np.ix_(o, m)]
            total, first = total + r, first + r * filled
            second += r * (np.outer(filled, filled) + spread)
        mean = first / total
        pooled[c] = second - total * np.outer(mean, mean)
        np.testing.assert_allclose(found.mass[c], total)
        np.testing.assert_allclose(family.reference + found.means[c], mean, rtol=1e-9, atol=1e-9)
    expected = {
        "full": pooled,
        "tied": pooled.sum(axis=0, keepdims=True),
        "diag": np.diagonal(pooled, axis1=1, axis2=2),
        "round": np.trace(pooled, axis1=1, axis2=2)[:, None],
    }
    np.testing.assert_allclose(found.scatters, expected[family.form], rtol=1e-8, atol=1e-8)


@every_structure
@pytest.mark.parametrize("assignment", ["soft", "hard", "stochastic"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_fused_pass_is_the_plain_one(structure, assignment, missing):
    rows = table(missing=missing)
    em, model = fitted(rows, structure)
    weights = np.random.default_rng(5).integers(1, 4, len(rows)).astype(float)
    draws = np.random.default_rng(6).random(len(rows))
    block, log_weights = block_of(rows, weights), np.log(model.weights)
    mass, climbed, sums = em.family.summarize(model.params, log_weights, block, assignment, draws)
    found = sums.centred
    r, heights = assign(em.family.log_density(model.params, block) + log_weights, assignment, draws)
    expected = em.family.statistic(model.params, block, r * weights[:, None])
    np.testing.assert_allclose(mass, r.T @ weights, rtol=1e-9)
    np.testing.assert_allclose(climbed, weights @ heights, rtol=1e-11)
    np.testing.assert_allclose(found.means, expected.means, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.scatters, expected.scatters, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("added", [0.0, 0.01])
def test_steps_are_scikit_learns(covariance_type, added):
    rows = table()
    start = rows[[10, 300, 500]]
    family = prepared(rows, covariance_type, added=added)
    weights, block = np.full(3, 1 / 3), block_of(rows)
    identity = np.repeat(np.eye(3)[None], 3, axis=0)
    shape = {"full": identity, "tied": np.eye(3), "diag": np.ones((3, 3)), "spherical": np.ones(3)}
    em = EM(family)
    params = GaussianParams(start - family.reference, Covariances.given(family.structure, identity))
    model = MixtureModel(weights, params)
    for steps in range(1, 6):
        model = em.update(model, em.summarize(model, block))
        with pytest.warns(ConvergenceWarning):  # it was not meant to
            peer = Peer(
                3, covariance_type=covariance_type, reg_covar=added, max_iter=steps, tol=0.0, weights_init=weights,
                means_init=start, precisions_init=shape[covariance_type],
            ).fit(rows)  # fmt: skip
        means, covariances = dense(family, model.params)
        np.testing.assert_allclose(model.weights, peer.weights_, rtol=1e-9)
        np.testing.assert_allclose(means, peer.means_, rtol=1e-8, atol=1e-9)
        expected = peer.covariances_
        if covariance_type == "diag":
            expected = expected[:, :, None] * np.eye(3)
        elif covariance_type == "spherical":
            expected = expected[:, None, None] * np.eye(3)
        np.testing.assert_allclose(covariances, np.broadcast_to(expected, (3, 3, 3)), rtol=1e-7, atol=1e-9)


def test_parameters_of_all_structures_are_counted():
    names = "EII VII EEI VEI EVI VVI EEE VEE EVE VVE EEV VEV EVV VVV"
    counts = dict(zip(names.split(), [15, 17, 18, 20, 24, 26, 24, 26, 30, 32, 36, 38, 42, 44], strict=True))
    found = {s: GaussianFamily(s).at(np.zeros(4)).n_parameters(3) + 2 for s in STRUCTURES}
    assert found == counts


@pytest.mark.parametrize("structure", ["VVV", "EEE", "VVI", "VEV"])
def test_samples_have_the_moments_of_their_component(structure):
    em, model = fitted(table(), structure)
    means, covariances = dense(em.family, model.params)
    drawn = em.family.sample(model.params, 1, 200_000, np.random.default_rng(0))
    spread = np.sqrt(np.diagonal(covariances[1]))
    assert np.abs((drawn.mean(axis=0) - means[1]) / spread).max() < 0.01
    assert np.abs((np.cov(drawn.T) - covariances[1]) / np.outer(spread, spread)).max() < 0.02


def test_imputed_cells_are_conditional_means():
    rows = table(missing=0.3)
    em, model = fitted(rows, "VVV")
    block = block_of(rows)
    r, _ = assign(em.family.log_density(model.params, block) + np.log(model.weights), "soft")
    filled = em.family.impute(model.params, block, r)
    seen = ~np.isnan(rows)
    np.testing.assert_array_equal(filled[seen], rows[seen])
    means, covariances = dense(em.family, model.params)
    i = int(np.flatnonzero(seen.sum(axis=1) == 2)[0])
    o, m = np.flatnonzero(seen[i]), np.flatnonzero(~seen[i])
    expected = 0.0
    for c in range(3):
        slopes = covariances[c][np.ix_(m, o)] @ np.linalg.inv(covariances[c][np.ix_(o, o)])
        expected = expected + r[i, c] * (means[c][m] + slopes @ (rows[i, o] - means[c][o]))
    np.testing.assert_allclose(filled[i, m], expected, rtol=1e-9)


def test_frozen_means_and_covariances_stay():
    rows = table()
    _, before = fitted(rows, "VVV", steps=0)
    _, means_kept = fitted(rows, "VVV", frozen=frozenset({"means"}))
    _, spread_kept = fitted(rows, "VVV", frozen=frozenset({"covariances"}))
    np.testing.assert_array_equal(means_kept.params.means, before.params.means)
    assert not np.allclose(means_kept.params.matrices, before.params.matrices)
    np.testing.assert_array_equal(spread_kept.params.matrices, before.params.matrices)
    assert not np.allclose(spread_kept.params.means, before.params.means)


@every_structure
def test_packed_parameters_are_the_same_parameters(structure):
    em, model = fitted(table(), structure)
    again = em.family.unpack(em.family.pack(model.params))
    block = block_of(table(seed=9))
    np.testing.assert_array_equal(
        em.family.log_density(again, block), em.family.log_density(model.params, block)
    )


def test_without_a_table_sums_are_float64():
    """Only a survey tells whether float32 is enough; ``at`` knows a point and nothing else."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3)).astype(np.float32) * np.float32(1e-25)
    family = GaussianFamily("diag").at(x[0].astype(float))
    block = block_of(x)
    params = family.estimate(family.statistic(None, block, np.ones((200, 1))), None)
    found = family.summarize(params, np.zeros(1), block, "soft")[2].centred
    assert np.allclose(found.scatters[0] / 200, x.astype(float).var(axis=0), rtol=1e-9)


@pytest.mark.parametrize("structure", ["VII", "VVI"])
def test_a_group_without_spread_is_held_up_by_the_floor(structure):
    rows = table(n=200, d=20, k=2, seed=5)
    rows[:90] = 7.0
    labels = np.r_[np.zeros(90, int), np.ones(310, int)]
    family = prepared(rows, structure)
    block = block_of(rows)
    params = family.estimate(family.statistic(None, block, np.eye(2)[labels]), None)
    told = family.summarize(params, np.log([0.2, 0.8]), block, "soft")[2]
    after = family.estimate(told, params)
    assert [mended.component for mended in after.covariances.repairs] == [0]
    assert family.collapsed(after, None)[0].all()
    assert not family.collapsed(after, None)[1].any()
