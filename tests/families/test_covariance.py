"""Covariance structures on their own: counts, optimality, units, repairs, priors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import invgamma, invwishart, multivariate_normal, ortho_group

from asterism.errors import ParameterError
from asterism.families.covariance import (
    FLOOR,
    STRUCTURES,
    Covariances,
    Repair,
    estimate,
    expected_log_density,
    n_parameters,
    n_variance_parameters,
    structure_of,
)
from asterism.families.priors import ConjugatePrior, default_prior, log_prior, shrink

ALL = tuple(STRUCTURES)


def draw_statistics(seed, k=3, d=3, rows=30):
    """Weights and scatters of k groups that differ in every way."""
    rng = np.random.default_rng(seed)
    counts = rng.uniform(0.5, 2.0, k) * rows
    scatters = np.empty((k, d, d))
    for c in range(k):
        y = rng.normal(size=(rows, d)) @ (rng.normal(size=(d, d)) + np.diag(rng.uniform(0.2, 3.0, d)))
        scatters[c] = counts[c] * np.cov(y.T).reshape(d, d) * np.exp(rng.normal())
    return counts, scatters


def member(name, k, d, rng, spread=1.0):
    """Any covariances of a structure, (k, d, d), straight from its three letters."""
    volume, shape, orientation = name

    def varied(letter, draw):
        return [draw()] * k if letter == "E" else [draw() for _ in range(k)]

    def round_shape():
        logs = rng.normal(scale=spread, size=d)
        return np.exp(logs - logs.mean())

    volumes = varied(volume, lambda: np.exp(rng.normal(scale=spread)))
    shapes = [np.ones(d)] * k if shape == "I" else varied(shape, round_shape)
    axes = [np.eye(d)] * k if orientation == "I" else varied(orientation, lambda: turn(d, rng))
    return np.stack([v * (D * a) @ D.T for v, a, D in zip(volumes, shapes, axes, strict=True)])


def turn(d, rng):
    return ortho_group.rvs(d, random_state=rng) if d > 1 else np.eye(1)


def q_of(covariances, counts, scatters):
    """Q from its formula."""
    logs = np.linalg.slogdet(covariances)[1]
    traces = np.trace(np.linalg.solve(covariances, scatters), axis1=1, axis2=2)
    return -0.5 * float(counts @ logs + traces.sum())


# --- counts -----------------------------------------------------------------------------------------------------


def test_parameter_counts_of_three_groups_in_four_columns():
    names = ["EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV"]
    expected = dict(zip(names, (15, 17, 18, 20, 24, 26, 24, 26, 30, 32, 36, 38, 42, 44), strict=True))
    assert {name: n_parameters(name, 3, 4) for name in ALL} == expected


@pytest.mark.parametrize("name", ALL)
def test_parameters_count_the_dimensions_of_the_set_of_members(name):
    """The rank of the derivative of Σ in the structure's own coordinates, at a random member."""
    k, d = 3, 3
    rng = np.random.default_rng(5)
    letters = dict(zip(("volume", "shape", "axes"), name, strict=True))
    sizes = {part: {"E": 1, "V": k, "I": 0}[letter] for part, letter in letters.items()}
    base = [turn(d, rng) for _ in range(max(sizes["axes"], 1))] if sizes["axes"] else [np.eye(d)]
    skews = [np.outer(np.eye(d)[i], np.eye(d)[j]) for i in range(d) for j in range(i)]

    def covariances(theta):
        volume, theta = theta[: sizes["volume"]], theta[sizes["volume"] :]
        shape, theta = theta[: sizes["shape"] * d].reshape(-1, d), theta[sizes["shape"] * d :]
        angles = theta.reshape(-1, len(skews)) if len(theta) else np.zeros((1, len(skews)))
        out = []
        for c in range(k):
            logs = shape[c % len(shape)] if len(shape) else np.zeros(d)
            A = np.exp(volume[c % len(volume)] + logs - logs.mean())
            S = np.einsum("p,pij->ij", angles[c % len(angles)], skews)
            D = base[c % len(base)] @ (np.eye(d) + (S - S.T))  # to first order a rotation
            out.append((D * A) @ D.T)
        return np.concatenate([m[np.triu_indices(d)] for m in out])

    size = sizes["volume"] + sizes["shape"] * d + sizes["axes"] * len(skews)
    at = np.concatenate(
        [rng.normal(size=size - sizes["axes"] * len(skews)), np.zeros(sizes["axes"] * len(skews))]
    )
    steps = 1e-6 * np.eye(size)
    jacobian = np.stack([(covariances(at + e) - covariances(at - e)) / 2e-6 for e in steps])
    assert np.linalg.matrix_rank(jacobian, tol=1e-6) == n_variance_parameters(name, k, d)


def test_one_column_has_two_structures():
    assert structure_of("E", 1).name == structure_of("EVV", 1).name == "EII"
    assert structure_of("V", 1).name == structure_of("full", 1).name == "VII"
    assert n_parameters("V", 4, 1) == 3 * 4 - 1
    with pytest.raises(ParameterError, match="one column"):
        structure_of("V", 2)
    with pytest.raises(ParameterError, match="VEV"):
        structure_of("round", 2)


# --- optimality -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_estimate_is_a_member_of_its_structure(name):
    counts, scatters = draw_statistics(1)
    volumes, shapes, axes = estimate(name, counts, scatters).decomposed()
    if name[0] == "E":
        np.testing.assert_allclose(volumes, volumes[0], rtol=1e-12)
    ordered = np.sort(shapes, axis=1)
    if name[1] != "V":
        np.testing.assert_allclose(ordered, np.broadcast_to(ordered[0], ordered.shape), rtol=1e-10)
    if name[1] == "I":
        np.testing.assert_allclose(shapes, 1.0, rtol=1e-12)
    full = estimate(name, counts, scatters).full()
    if name[2] == "I":
        np.testing.assert_array_equal(full, full * np.eye(3))
    if name[2] == "E":  # matrices with the same axes commute
        np.testing.assert_allclose(full[0] @ full[1], full[1] @ full[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        (axes * (volumes[:, None] * shapes)[:, None, :]) @ axes.swapaxes(1, 2), full, atol=1e-12
    )


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_q_is_not_below_that_of_random_members(name, seed):
    counts, scatters = draw_statistics(seed, k=2 + seed, d=2 + seed % 2)
    rng = np.random.default_rng(seed)
    found = estimate(name, counts, scatters)
    best = q_of(found.full(), counts, scatters)
    assert best == pytest.approx(expected_log_density(found, counts, scatters), rel=1e-12)
    k, d = scatters.shape[:2]
    scale = np.trace(scatters.sum(axis=0)) / (counts.sum() * d)
    for _ in range(300):
        other = scale * member(name, k, d, rng)
        assert q_of(other, counts, scatters) <= best + 1e-9 * abs(best)


@pytest.mark.parametrize("name", ["VEI", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "EVI"])
def test_q_is_not_below_that_of_a_general_optimiser(name):
    counts, scatters = draw_statistics(7, k=2, d=2)
    best = expected_log_density(estimate(name, counts, scatters), counts, scatters)
    letters = {"E": 1, "V": 2, "I": 0}
    a, b, c = (letters[letter] for letter in name)

    def loss(theta):
        volume, shape, angle = theta[:a], theta[a : a + b], theta[a + b :]
        out = []
        for g in range(2):
            s, t = shape[g % b], (angle[g % c] if c else 0.0)
            D = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
            out.append((D * np.exp([volume[g % a] + s, volume[g % a] - s])) @ D.T)
        return -q_of(np.stack(out), counts, scatters)

    rng = np.random.default_rng(0)
    starts = rng.normal(size=(6, a + b + c))
    others = [minimize(loss, start, method="L-BFGS-B", bounds=[(-8, 8)] * (a + b + c)) for start in starts]
    top = -min(other.fun for other in others)
    assert best >= top - 1e-7 * abs(top)
    assert best == pytest.approx(top, rel=1e-6)  # and the optimiser did find it


@pytest.mark.parametrize("name", ["EVE", "VVE"])
def test_q_never_falls_from_the_last_axes(name):
    """From any previous covariances, however bad a start its axes are."""
    rng = np.random.default_rng(3)
    for seed in range(20):
        counts, scatters = draw_statistics(seed, k=3, d=4)
        before = Covariances.given(name, member(name, 3, 4, rng))
        after = estimate(name, counts, scatters, before)
        assert expected_log_density(after, counts, scatters) >= expected_log_density(before, counts, scatters)
        np.testing.assert_allclose(after.axes[0].T @ after.axes[0], np.eye(4), atol=1e-13)


def test_common_axes_are_recovered_where_they_exist():
    rng = np.random.default_rng(0)
    truth = member("VVE", 4, 6, rng)
    counts = np.array([10.0, 20.0, 30.0, 40.0])
    np.testing.assert_allclose(
        estimate("VVE", counts, truth * counts[:, None, None]).full(), truth, atol=1e-9
    )


@pytest.mark.parametrize("name", ALL)
def test_one_group_needs_no_structure_of_groups(name):
    counts, scatters = draw_statistics(2, k=1)
    wider = {"V": "VVV", "E": "VVV", "I": "VII" if name[1] == "I" else "VVI"}[name[2]]
    np.testing.assert_allclose(
        estimate(name, counts, scatters).full(),
        estimate(wider, counts, scatters).full(),
        rtol=1e-9,
        atol=1e-12,
    )


# --- forms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_every_form_is_of_the_same_covariances(name):
    found = estimate(name, *draw_statistics(4))
    full = found.full()
    assert full.shape == (3, 3, 3)
    np.testing.assert_allclose(found.log_determinants(), np.linalg.slogdet(full)[1], rtol=1e-12)
    np.testing.assert_allclose(found.diagonals(), np.diagonal(full, axis1=1, axis2=2), rtol=1e-14)
    factors = found.inverse_factors()
    np.testing.assert_array_equal(factors, np.tril(factors))
    assert (np.diagonal(factors, axis1=1, axis2=2) > 0).all()
    np.testing.assert_allclose(
        factors @ full @ factors.swapaxes(1, 2), np.broadcast_to(np.eye(3), full.shape), atol=1e-12
    )
    np.testing.assert_allclose(found.precisions() @ full, np.broadcast_to(np.eye(3), full.shape), atol=1e-11)
    again = Covariances.given(name, full)
    np.testing.assert_allclose(again.full(), full, rtol=1e-12, atol=1e-12)
    if found.diagonal:
        np.testing.assert_allclose(found.root_precisions() ** -2, found.diagonals())
    else:
        with pytest.raises(ParameterError, match="inverse_factors"):
            found.root_precisions()


def test_shapes_are_those_of_scikit_learn():
    counts, scatters = draw_statistics(4)
    shapes = {
        name: estimate(name, counts, scatters).like_sklearn().shape
        for name in ("full", "tied", "diag", "spherical")
    }
    assert shapes == {"full": (3, 3, 3), "tied": (3, 3), "diag": (3, 3), "spherical": (3,)}
    for name in shapes:
        found = estimate(name, counts, scatters)
        values, inverses = found.like_sklearn(), found.precisions_like_sklearn()
        product = values @ inverses if name in ("full", "tied") else values * inverses
        np.testing.assert_allclose(
            product,
            np.broadcast_to(np.eye(3), product.shape) if name in ("full", "tied") else 1.0,
            atol=1e-11,
        )


@pytest.mark.parametrize("name", [s for s in ALL if STRUCTURES[s].diagonal])
def test_diagonals_are_enough_for_aligned_structures(name):
    counts, scatters = draw_statistics(6)
    diagonals = np.diagonal(scatters, axis1=1, axis2=2)
    np.testing.assert_array_equal(
        estimate(name, counts, diagonals).variances, estimate(name, counts, scatters).variances
    )


@pytest.mark.parametrize("name", ["EII", "EEI", "EEE"])
def test_the_pooled_scatter_is_enough_for_common_covariances(name):
    counts, scatters = draw_statistics(6)
    pooled = scatters.sum(axis=0, keepdims=True)
    prior = default_prior(np.zeros(3), np.eye(3), 3)
    for given_prior in (None, prior):
        a = estimate(name, counts, scatters, prior=given_prior)
        b = estimate(name, counts, pooled, prior=given_prior)
        np.testing.assert_allclose(a.full(), b.full(), rtol=1e-13)
        assert a.k == b.k == 3


# --- units ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("unit", [1e-30, 1e-9, 1e30])
def test_units_change_nothing(name, unit):
    for seed in range(3):
        counts, scatters = draw_statistics(seed, d=4)
        if seed == 2:
            scatters[0] = 0.0  # a collapsed group too
        plain = estimate(name, counts, scatters)
        other = estimate(name, counts, scatters * unit**2)
        assert plain.repairs == other.repairs
        # a local optimum is known to the root of rounding in its axes; everything else to rounding
        rtol = 1e-6 if STRUCTURES[name].local else 1e-9
        np.testing.assert_allclose(other.full() / unit**2, plain.full(), rtol=rtol, atol=rtol * 1e-2)
        np.testing.assert_allclose(
            other.log_determinants() - 8 * np.log(unit), plain.log_determinants(), rtol=rtol, atol=rtol
        )
        assert np.isfinite(other.inverse_factors()).all()


@pytest.mark.parametrize("name", [s for s in ALL if STRUCTURES[s].free_units])
def test_each_column_may_have_units_of_its_own(name):
    counts, scatters = draw_statistics(8, d=3)
    units = np.array([1e-30, 1.0, 1e25])
    plain = estimate(name, counts, scatters)
    other = estimate(name, counts, scatters * np.outer(units, units))
    assert other.repairs == ()
    np.testing.assert_allclose(other.full() / np.outer(units, units), plain.full(), rtol=1e-9, atol=1e-13)


# --- repairs ----------------------------------------------------------------------------------------------------


def broken(kind, k=3, d=4):
    """Statistics with something wrong in group 1, or everywhere."""
    counts, scatters = draw_statistics(9, k=k, d=d)
    if kind == "empty":
        counts[1], scatters[1] = 0.0, 0.0
    elif kind == "nearly empty":
        counts[1], scatters[1] = 1e-300, 1e-310
    elif kind == "identical rows":
        scatters[1] = 0.0
    elif kind == "all identical":
        scatters[:] = 0.0
    elif kind == "two rows":
        y = np.arange(1.0, d + 1)
        counts[1], scatters[1] = 2.0, np.outer(y, y)
    elif kind == "fewer rows than columns everywhere":
        y = np.random.default_rng(0).normal(size=(k, 2, d))
        counts[:], scatters[:] = 3.0, np.einsum("cri,crj->cij", y, y)
    elif kind == "duplicated column":
        T = np.eye(d)
        T[3] = T[0]
        scatters = T @ scatters @ T.T
    elif kind == "constant column":
        scatters[:, 2, :] = scatters[:, :, 2] = 0.0
    return counts, scatters


KINDS = (
    "empty",
    "nearly empty",
    "identical rows",
    "all identical",
    "two rows",
    "fewer rows than columns everywhere",
    "duplicated column",
    "constant column",
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALL)
def test_broken_groups_end_in_usable_covariances(name, kind):
    counts, scatters = broken(kind)
    for prior in (None, default_prior(np.zeros(4), np.eye(4), 3)):
        found = estimate(name, counts, scatters, None, prior)
        factors = found.inverse_factors()
        assert np.isfinite(factors).all()
        assert np.isfinite(found.log_determinants()).all()
        assert np.isfinite(expected_log_density(found, counts, found.full()))
        again = estimate(name, counts, scatters, found, prior)
        better = expected_log_density(again, counts, scatters) - expected_log_density(found, counts, scatters)
        assert prior is not None or better >= -1e-9 * counts.sum()


def test_repairs_name_groups_and_columns():
    assert estimate("VVV", *broken("empty")).repairs == (Repair(1, (), "empty"),)
    assert estimate("VVV", *broken("identical rows")).repairs == (Repair(1, (0, 1, 2, 3), "collapsed"),)
    assert estimate("EEE", *broken("duplicated column")).repairs == (Repair(None, (0, 3), "collapsed"),)
    assert estimate("VVI", *broken("constant column")).repairs == tuple(
        Repair(c, (2,), "collapsed") for c in range(3)
    )
    assert estimate("EEI", *broken("identical rows")).repairs == ()
    assert estimate("VII", *broken("constant column")).repairs == ()
    words = estimate("VVV", *broken("constant column")).repairs[1].describe(["a", "b", "c", "d"])
    assert words == "group 1 has no spread of its own in 'c'"
    assert "no rows" in Repair(1, (), "empty").describe()


@pytest.mark.parametrize("name", ALL)
def test_sound_statistics_are_left_alone(name):
    assert estimate(name, *draw_statistics(11, k=4, d=5)).repairs == ()


def test_no_direction_is_below_the_floor():
    counts, scatters = broken("two rows")
    variances = np.array([1.0, 1e3, 0.3, 4.0])
    found = estimate("VVV", counts, scatters, column_variances=variances)
    standard = found.full() / np.sqrt(np.outer(variances, variances))
    assert np.linalg.eigvalsh(standard).min() >= FLOOR * (1 - 1e-6)
    assert np.linalg.eigvalsh(standard[1])[0] == pytest.approx(FLOOR, rel=1e-6)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(ALL),
    k=st.integers(1, 4),
    d=st.integers(1, 4),
    rank=st.integers(0, 4),
)
def test_estimates_exist_and_improve_on_the_last_whatever_the_statistics(seed, name, k, d, rank):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(k, rank, d)) * 10.0 ** rng.integers(-3, 4, size=d)
    scatters = np.einsum("cri,crj->cij", y, y)
    counts = rng.uniform(0, 3, k) * rng.integers(0, 2, k) + rng.uniform(0, 1e-3, k)
    variances = 10.0 ** rng.uniform(-3, 3, d)
    first = estimate(name, counts, scatters, column_variances=variances)
    z = rng.normal(size=(k, 6, d))
    scatters = scatters + np.einsum("cri,crj->cij", z, z) * rng.integers(0, 2, k)[:, None, None]
    second = estimate(name, counts, scatters, first, column_variances=variances)
    assert np.isfinite(second.inverse_factors()).all()
    gain = expected_log_density(second, counts, scatters) - expected_log_density(first, counts, scatters)
    size = abs(expected_log_density(first, counts, scatters)) + counts.sum()
    assert gain >= -1e-9 * size


# --- priors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_map_maximises_likelihood_times_prior(name):
    """Against members all around, with means that move too."""
    counts, scatters = draw_statistics(12, k=2, d=2)
    rng = np.random.default_rng(0)
    xbar = rng.normal(size=(2, 2)) * 3
    prior = ConjugatePrior(np.array([0.5, -0.5]), 0.7, 5.0, np.array([[2.0, 0.3], [0.3, 1.0]]))
    means, with_step = shrink(prior, counts, xbar, scatters)
    found = estimate(name, counts, with_step, None, prior)

    def posterior(covariances, mu):
        away = xbar - mu
        about = scatters + counts[:, None, None] * np.einsum("ci,cj->cij", away, away)
        return expected_log_density(covariances, counts, about) + log_prior(prior, covariances, mu)

    best = posterior(found, means)
    scale = float(found.volumes().mean())
    for _ in range(100):
        other = Covariances.given(name, scale * member(name, 2, 2, rng, spread=0.5))
        assert posterior(other, means) <= best + 1e-9 * abs(best)
    for _ in range(30):
        assert posterior(found, means + 0.05 * rng.normal(size=means.shape)) < best


def test_log_prior_is_the_density_of_scipy_up_to_a_constant():
    prior = ConjugatePrior(np.array([0.5, -0.5]), 0.7, 5.0, np.array([[2.0, 0.3], [0.3, 1.0]]))
    rng = np.random.default_rng(1)

    def differences(name, exact):
        gaps = []
        for _ in range(5):
            S, mu = member(name, 2, 2, rng), rng.normal(size=(2, 2))
            normal = sum(
                multivariate_normal(prior.mean, S[c] / prior.shrinkage).logpdf(mu[c]) for c in range(2)
            )
            gaps.append(log_prior(prior, Covariances.given(name, S), mu) - normal - exact(S))
        return np.ptp(gaps)

    wishart = invwishart(5, prior.scale)
    assert differences("VVV", lambda S: sum(wishart.logpdf(s) for s in S)) < 1e-10
    assert differences("EEE", lambda S: wishart.logpdf(S[0])) < 1e-10
    columns = [invgamma(5 / 2, scale=scale / 2) for scale in np.diag(prior.scale)]
    assert (
        differences("EEI", lambda S: sum(g.logpdf(v) for g, v in zip(columns, np.diag(S[0]), strict=True)))
        < 1e-10
    )
    one = invgamma(5 / 2, scale=np.diag(prior.scale).mean() / 2)
    assert differences("VII", lambda S: sum(one.logpdf(s[0, 0]) for s in S)) < 1e-10


def test_default_prior_cuts_the_table_into_k_parts():
    prior = default_prior(np.zeros(2), 8.0 * np.eye(2), 4)
    np.testing.assert_allclose(prior.scale, 2.0 * np.eye(2))
    assert (prior.degrees, prior.shrinkage) == (4.0, 0.01)
    with pytest.raises(ParameterError, match="shrinkage"):
        ConjugatePrior(np.zeros(1), -1.0, 3.0, np.ones((1, 1)))
