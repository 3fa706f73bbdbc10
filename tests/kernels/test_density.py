"""One visit of a block by a Gaussian mixture, against a few lines of NumPy that take everything literally."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from asterism.data.block import block_of, frozen
from asterism.kernels import density
from asterism.kernels.density import Normals, visit_of
from asterism.kernels.normals import single_size
from asterism.kernels.shares import sum_scores

STRUCTURES = ("full", "tied", "diag", "spherical")
EVERY = pytest.mark.parametrize("structure", STRUCTURES)


def gaussian_pass(rows, weights, reference, means, factors, *rest):
    # read-only, as blocks are: for arrays that can be written to, every kernel would be compiled once more
    return density.gaussian_pass(frozen(rows), frozen(weights), reference, Normals(means, factors), *rest)


def gaussian_log_density(rows, reference, means, factors):
    return density.gaussian_log_density(frozen(rows), reference, Normals(means, factors))


def mixture(rng, d: int, k: int, structure: str, spread: float = 2.0):
    means = rng.normal(scale=spread, size=(k, d))
    a = rng.normal(size=(k, d, d)) / np.sqrt(d)
    covariances = a @ a.transpose(0, 2, 1) + 0.3 * np.eye(d)
    if structure == "tied":
        covariances = np.repeat(covariances[:1], k, axis=0)
    if structure == "diag":
        covariances = covariances * np.eye(d)
    if structure == "spherical":
        covariances = covariances[:, :1, :1] * np.eye(d)
    factors = np.linalg.inv(np.linalg.cholesky(covariances))
    diagonals = np.diagonal(factors, axis1=1, axis2=2).copy()
    shaped = {"full": factors, "tied": factors[:1], "diag": diagonals, "spherical": diagonals[:, :1]}
    return means, covariances, shaped[structure], np.log(rng.dirichlet(np.ones(k)))


def literally(x, w, means, covariances, log_weights, pick=None):
    """Mass, new means, scatters (k, d, d), log-likelihood and its hard twin."""
    densities = [multivariate_normal(m, c).logpdf(x) for m, c in zip(means, covariances, strict=True)]
    scores = np.stack([np.atleast_1d(p) for p in densities], axis=1) + log_weights
    heights = logsumexp(scores, axis=1)
    r = np.exp(scores - heights[:, None])
    r = (np.eye(len(means))[pick(scores, r)] if pick else r) * w[:, None]
    mass = r.sum(axis=0)
    new = np.array([r[:, c] @ x / mass[c] if mass[c] > 0 else means[c] for c in range(len(means))])
    scatters = np.array([((x - m) * r[:, c : c + 1]).T @ (x - m) for c, m in enumerate(new)])
    return mass, new, scatters, w @ heights, w @ scores.max(axis=1)


def shaped(scatters: np.ndarray, structure: str) -> np.ndarray:
    if structure == "tied":
        return scatters.sum(axis=0, keepdims=True)
    if structure == "spherical":
        return np.trace(scatters, axis1=1, axis2=2)[:, None]
    return np.diagonal(scatters, axis1=1, axis2=2) if structure == "diag" else scatters


def agree(got, want, means, structure, tol=1e-12):
    mass, new, scatters, total, best = want
    scatters = shaped(scatters, structure)
    assert np.allclose(got.mass, mass, rtol=tol, atol=tol * mass.sum())
    # A group with next to no rows has a mean that is mostly rounding: what counts is mass times mean.
    assert np.allclose(got.shifts * mass[:, None], (new - means) * mass[:, None], atol=10 * tol * mass.sum())
    assert np.allclose(got.scatters, scatters, rtol=tol, atol=10 * tol * np.abs(scatters).max())
    assert np.isclose(got.log_likelihood, total, rtol=tol)
    assert np.isclose(got.best_log_likelihood, best, rtol=tol)


@EVERY
@pytest.mark.parametrize("d", [1, 2, 3, 4, 7, 16, 17, 40])
def test_totals_are_those_of_the_formulas(structure, d):
    rng = np.random.default_rng(d)
    for k, n in [(1, 300), (2, 129), (5, 128), (12, 500)]:
        means, covariances, factors, log_weights = mixture(rng, d, k, structure)
        x = rng.normal(scale=2.0, size=(n, d))
        w = rng.choice([0.0, 1.0, 2.5], size=n)
        block = block_of(x, w)
        got = gaussian_pass(block.rows, block.weights, x[0], means - x[0], factors, log_weights)
        agree(got, literally(x, w, means, covariances, log_weights), means, structure)


@EVERY
def test_hard_and_drawn_groups_take_whole_rows(structure):
    rng = np.random.default_rng(1)
    means, covariances, factors, log_weights = mixture(rng, 3, 4, structure)
    x, w, draws = rng.normal(size=(400, 3)), rng.random(400), rng.random(400)
    hard = gaussian_pass(x, w, x[0], means - x[0], factors, log_weights, "hard")
    agree(
        hard,
        literally(x, w, means, covariances, log_weights, lambda s, r: s.argmax(axis=1)),
        means,
        structure,
    )
    drawn = gaussian_pass(x, w, x[0], means - x[0], factors, log_weights, "draw", draws)
    by_draw = lambda s, r: (np.cumsum(r, axis=1) <= draws[:, None]).sum(axis=1)  # noqa: E731
    agree(drawn, literally(x, w, means, covariances, log_weights, by_draw), means, structure)


@EVERY
@pytest.mark.parametrize("d", [2, 20])
def test_float32_rows_lose_float32_rounding_and_no_more(structure, d):
    rng = np.random.default_rng(2)
    means, covariances, factors, log_weights = mixture(rng, d, 5, structure)
    x, w = rng.normal(scale=2.0, size=(1000, d)).astype(np.float32), np.ones(1000)
    got = gaussian_pass(x, w, x[0].astype(float), means - x[0], factors, log_weights)
    agree(got, literally(x.astype(float), w, means, covariances, log_weights), means, structure, 3e-6)


@EVERY
def test_float32_rows_of_nearly_dependent_columns_are_taken_in_float64(structure):
    rng = np.random.default_rng(3)
    means, covariances, factors, log_weights = mixture(rng, 3, 2, structure, 1.0)
    covariances, factors = covariances * 1e-8, factors * 1e4  # groups 10,000 standard deviations apart
    x = (means[rng.integers(2, size=500)] + 1e-4 * rng.normal(size=(500, 3))).astype(np.float32)
    got = gaussian_pass(x, np.ones(500), x[0].astype(float), means - x[0], factors, log_weights)
    agree(
        got, literally(x.astype(float), np.ones(500), means, covariances, log_weights), means, structure, 1e-9
    )


@EVERY
def test_groups_far_apart_keep_their_digits(structure):
    """A million standard deviations: one tied product about the middle would keep four digits of a scatter."""
    rng = np.random.default_rng(4)
    means, covariances, factors, log_weights = mixture(rng, 3, 3, structure, 1e6)
    x = means[rng.integers(3, size=600)] + rng.normal(size=(600, 3))
    got = gaussian_pass(x, np.ones(600), x[0], means - x[0], factors, log_weights)
    agree(got, literally(x, np.ones(600), means, covariances, log_weights), means, structure, 1e-9)


@EVERY
def test_a_table_far_from_zero_gives_the_same_totals(structure):
    rng = np.random.default_rng(5)
    means, _, factors, log_weights = mixture(rng, 2, 3, structure)
    x = np.round(rng.normal(size=(500, 2)) * 64) / 64  # so that adding 1e10 is exact
    near = gaussian_pass(x, np.ones(500), x[0], means - x[0], factors, log_weights)
    far = gaussian_pass(x + 1e10, np.ones(500), x[0] + 1e10, means - x[0], factors, log_weights)
    for a, b in zip(near, far, strict=True):
        assert np.array_equal(a, b)


@EVERY
def test_rows_a_thousand_deviations_from_every_group_are_shared_all_the_same(structure):
    rng = np.random.default_rng(6)
    means, covariances, factors, log_weights = mixture(rng, 2, 3, structure, 1.0)
    x = np.vstack([rng.normal(size=(50, 2)), 1500.0 * rng.normal(size=(30, 2))])  # log densities near -1e6
    got = gaussian_pass(x, np.ones(80), x[0], means - x[0], factors, log_weights)
    agree(got, literally(x, np.ones(80), means, covariances, log_weights), means, structure, 1e-9)
    assert got.mass.sum() == pytest.approx(80.0)


@EVERY
def test_absent_rows_may_hold_anything(structure):
    rng = np.random.default_rng(7)
    for d in (2, 20):
        means, _, factors, log_weights = mixture(rng, d, 3, structure)
        x, w = rng.normal(size=(300, d)), np.where(np.arange(300) % 7 == 0, 0.0, 1.0)
        clean = gaussian_pass(x, w, x[1], means - x[1], factors, log_weights)
        reference = x[1].copy()
        x[::7] = np.array([np.nan, np.inf, -np.inf, 1e300])[np.arange(43) % 4][:, None]
        dirty = gaussian_pass(x, w, reference, means - reference, factors, log_weights)
        for a, b in zip(clean, dirty, strict=True):
            assert np.array_equal(a, b)


@EVERY
def test_a_group_of_proportion_zero_gets_nothing(structure):
    rng = np.random.default_rng(8)
    means, _, factors, log_weights = mixture(rng, 2, 3, structure)
    log_weights[1] = -np.inf
    got = gaussian_pass(np.ones((40, 2)), np.ones(40), np.ones(2), means - 1.0, factors, log_weights)
    assert got.mass[1] == 0.0
    assert not got.shifts[1].any()
    assert np.isfinite(got.scatters).all()


@EVERY
@pytest.mark.parametrize("spread", [2.0, 1e4])  # about one point; group by group
def test_sums_of_blocks_add_up_also_where_one_came_from_elsewhere(structure, spread):
    rng = np.random.default_rng(11)
    means, covariances, factors, log_weights = mixture(rng, 5, 4, structure, spread)
    x, w = means[rng.integers(4, size=700)] + rng.normal(size=(700, 5)), rng.random(700)
    visit = visit_of(Normals(means - x[0], factors), x[0], log_weights, np.dtype(float))
    other = pickle.loads(pickle.dumps(visit))  # as a worker sends it
    assert visit.same(other)
    here, there = ((frozen(x[at]), frozen(w[at]), 0, np.empty(0)) for at in (slice(300), slice(300, None)))
    one, two = visit.sums(*here), other.sums(*there)
    assert np.array_equal(two, visit.sums(*there))
    want = literally(x, w, means, covariances, log_weights)
    agree(visit.totals(one + two), want, means, structure, 1e-12 if spread < 10 else 1e-9)
    moved = visit_of(Normals(means - x[1], factors), x[1], log_weights, np.dtype(float))
    assert not visit.same(moved)


def test_float32_arithmetic_asks_for_a_reference_that_float32_holds():
    rng = np.random.default_rng(12)
    means, _, factors, log_weights = mixture(rng, 3, 2, "diag", 1.0)
    kinds = []
    for at in (np.full(3, 0.5), np.full(3, 0.1), np.full(3, 1e300)):
        size = single_size(at, np.ones(3))
        visit = density.visit_for(Normals(means, factors), at, log_weights, np.dtype(np.float32), size)
        kinds.append(visit.kind)
    assert kinds == [np.float32, np.float64, np.float64]


@EVERY
def test_log_densities_are_scipys(structure):
    rng = np.random.default_rng(9)
    for d, k in [(1, 2), (3, 1), (5, 4), (18, 3)]:
        means, covariances, factors, _ = mixture(rng, d, k, structure)
        x = rng.normal(size=(300, d))
        got = gaussian_log_density(x, x[0], means - x[0], factors)
        want = [multivariate_normal(m, c).logpdf(x) for m, c in zip(means, covariances, strict=True)]
        assert np.allclose(got, np.stack(want, axis=1), rtol=1e-12, atol=1e-11)


def test_sums_of_scores_are_scipys_and_labels_the_first_of_the_largest():
    rng = np.random.default_rng(10)
    scores = np.round(rng.normal(scale=30.0, size=(500, 6)))
    scores[3] = -np.inf
    heights, tops, labels = np.empty(500), np.empty(500), np.empty(500, np.int32)
    sum_scores(scores, heights, tops, labels)
    assert np.allclose(heights, logsumexp(scores, axis=1), rtol=1e-14)
    assert np.array_equal(tops, scores.max(axis=1))
    assert np.array_equal(labels, scores.argmax(axis=1))
