"""One pass of a Gaussian mixture over a block, against a few lines of NumPy that take everything literally."""

from __future__ import annotations

import pickle
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from asterism import _core
from asterism.families.gaussian_pass import (
    Components,
    GaussianPass,
    Table,
    one_mixture,
    sums_of_shares,
    unknown_table,
)

STRUCTURES = ("full", "tied", "diag", "spherical")
EVERY = pytest.mark.parametrize("structure", STRUCTURES)


class Totals(NamedTuple):
    mass: np.ndarray
    shifts: np.ndarray  # new means minus the model's
    scatters: np.ndarray
    log_likelihood: float
    best_log_likelihood: float


def ready(rows, reference, means, factors, log_weights, weights=None, *, known=True) -> GaussianPass:
    """A pass that knows the rows it will meet, as a survey would."""
    table = unknown_table(reference)
    if known:
        w = np.ones(len(rows)) if weights is None else weights
        y = rows[w > 0].astype(float) - reference
        single = rows.dtype == np.float32
        table = Table(reference, y.mean(axis=0), y.var(axis=0) + 1e-30, single, single)
    return GaussianPass(one_mixture(log_weights, means, factors), table)


def told(found: GaussianPass, totals, sums) -> Totals:
    centred = sums.centred
    held = (centred.mass > 0)[:, None]
    shifts = np.where(held, centred.means - found.components.means, 0.0)
    return Totals(centred.mass, shifts, centred.scatters, *totals[0])


def gaussian_pass(rows, weights, reference, means, factors, log_weights, assignment="soft", draws=None):
    found = ready(rows, reference, means, factors, log_weights, weights)
    return told(found, *found.summarize(rows, weights, assignment, draws))


def gaussian_log_density(rows, reference, means, factors, *, known):
    return ready(rows, reference, means, factors, np.zeros(len(means)), known=known).scores(rows)


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
        got = gaussian_pass(x, w, x[0], means - x[0], factors, log_weights)
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
    drawn = gaussian_pass(x, w, x[0], means - x[0], factors, log_weights, "stochastic", draws)
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
def test_a_group_of_proportion_zero_gets_nothing(structure):
    rng = np.random.default_rng(8)
    means, _, factors, log_weights = mixture(rng, 2, 3, structure)
    log_weights[1] = -np.inf
    got = gaussian_pass(np.ones((40, 2)), np.ones(40), np.ones(2), means - 1.0, factors, log_weights)
    assert got.mass[1] == 0.0
    assert not got.shifts[1].any()
    assert np.isfinite(got.scatters).all()


@EVERY
@pytest.mark.parametrize("spread", [2.0, 1e4])  # linear in features; from differences
def test_sums_of_blocks_add_up_also_where_one_came_from_elsewhere(structure, spread):
    rng = np.random.default_rng(11)
    means, covariances, factors, log_weights = mixture(rng, 5, 4, structure, spread)
    x, w = means[rng.integers(4, size=700)] + rng.normal(size=(700, 5)), rng.random(700)
    found = ready(x, x[0], means - x[0], factors, log_weights)
    (one, here), (two, there) = (found.summarize(x[at], w[at]) for at in (slice(300), slice(300, None)))
    sent = pickle.loads(pickle.dumps(there))  # as a worker sends it
    both = here.merge(sent)
    assert type(both) is type(here)
    want = literally(x, w, means, covariances, log_weights)
    agree(told(found, one + two, both), want, means, structure, 1e-12 if spread < 10 else 1e-9)
    moved = ready(x, x[1], means - x[1], factors, log_weights)
    assert not moved.layout.same(found.layout)


@EVERY
@pytest.mark.parametrize("d", [2, 8, 9, 20])
def test_several_mixtures_are_what_each_is_alone(structure, d):
    rng = np.random.default_rng(d)
    ks = (2, 1, 5)
    each = [mixture(rng, d, k, structure) for k in ks]
    x, w = rng.normal(scale=2.0, size=(333, d)), rng.random(333)
    table = Table(x[0], (x - x[0]).mean(axis=0), x.var(axis=0), False, False)
    means, factors, log_weights = (np.concatenate([one[i] for one in each]) for i in (0, 2, 3))
    together = GaussianPass(Components(np.cumsum([0, *ks]), log_weights, means - x[0], factors), table)
    totals, sums = together.summarize(x, w)
    a = 0
    for i, (k, (mu, covariances, _, log_pi)) in enumerate(zip(ks, each, strict=True)):
        mass, new, scatters, height, best = literally(x, w, mu, covariances, log_pi)
        at, s = slice(a, a + k), sums.centred
        assert np.allclose(totals[i], [height, best], rtol=1e-12)
        assert np.allclose(s.mass[at], mass, rtol=1e-11, atol=1e-11)
        assert np.allclose((s.means[at] + x[0] - new) * mass[:, None], 0.0, atol=1e-9)
        own = s.scatters[i : i + 1] if structure == "tied" else s.scatters[at]
        assert np.allclose(own, shaped(scatters, structure), rtol=1e-9, atol=1e-9)
        a += k


@EVERY
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_labels_are_the_largest_scores_to_the_bit(structure, kind):
    rng = np.random.default_rng(13)
    for d, k in [(1, 2), (2, 5), (8, 7), (9, 3), (40, 6)]:
        means, _, factors, log_weights = mixture(rng, d, k, structure, 0.3)
        x = rng.normal(size=(301, d)).astype(kind)
        found = ready(x, x[0].astype(float), means - x[0], factors, log_weights)
        labels, totals = found.classify(x, np.ones(len(x)))
        assert np.array_equal(totals, found.summarize(x, np.ones(len(x)))[0])
        scores = np.empty((len(x), k))
        _core.gaussian_scores(found._core, x, scores)
        assert np.array_equal(labels, scores.argmax(axis=1))


@EVERY
@given(n=st.integers(0, 70), d=st.integers(1, 10), k=st.integers(1, 8), seed=st.integers(0, 99))
def test_a_row_is_scored_alike_wherever_it_stands(structure, n, d, k, seed):
    """Any number of rows, at any address, read-only: no bit of a score hangs on its neighbours."""
    rng = np.random.default_rng(seed)
    means, _, factors, log_weights = mixture(rng, d, k, structure)
    x = rng.normal(size=(n, d))
    found = ready(np.vstack([x, np.zeros((2, d))]), np.zeros(d), means, factors, log_weights)
    whole = found.scores(x)
    assert whole.shape == (n, k)
    for at in range(n):
        row = np.frombuffer(b"12345678" + x[at].tobytes(), offset=8).reshape(1, d)  # read-only
        assert np.array_equal(found.scores(row), whole[at : at + 1])


@EVERY
@pytest.mark.parametrize("d", [2, 9])
def test_a_missing_cell_leaves_no_finite_likelihood(structure, d):
    rng = np.random.default_rng(14)
    means, _, factors, log_weights = mixture(rng, d, 3, structure)
    for kind in (np.float64, np.float32):
        x = rng.normal(size=(100, d)).astype(kind)
        found = ready(x, np.zeros(d), means, factors, log_weights)
        x[57, d - 1] = np.nan
        for assignment in ("soft", "hard"):
            totals, _ = found.summarize(x, np.ones(100), assignment)
            assert not np.isfinite(totals).any()


def test_a_row_that_no_component_can_have_made_is_shared_evenly():
    found = ready(np.zeros((5, 2)), np.zeros(2), np.zeros((4, 2)), np.ones((4, 2)), np.full(4, -np.inf))
    totals, sums = found.summarize(np.zeros((5, 2)), np.full(5, 2.0))
    assert totals[0, 0] == -np.inf
    assert sums.mass.tolist() == [2.5] * 4


def test_float32_is_used_where_it_is_precise_and_nowhere_else():
    means = np.array([[0.0, 0.0], [3.0, 0.0]])
    rows = np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)
    near, thin, far = (
        ready(rows, np.zeros(2), means * scale, np.full((2, 2), factor), np.log([0.5, 0.5]))
        for scale, factor in ((1.0, 1.0), (1.0, 50.0), (1e4, 1.0))
    )
    assert [(p.kind, p.single) for p in (near, thin, far)] == [
        ("diagonal", True),
        ("diagonal", False),
        ("differences", False),
    ]


def test_what_does_not_fit_is_refused():
    found = ready(np.zeros((5, 2)), np.zeros(2), np.zeros((1, 2)), np.ones((1, 2)), np.zeros(1))
    with pytest.raises(_core.ShapeError, match="cell a column"):
        found.summarize(np.zeros((5, 3)), np.ones(5))
    with pytest.raises(_core.ShapeError, match="number a row"):
        found.summarize(np.zeros((5, 2)), np.ones(4))
    with pytest.raises(_core.ShapeError, match="draws"):
        found.summarize(np.zeros((5, 2)), np.ones(5), "stochastic")
    with pytest.raises(_core.ShapeError, match="labels"):
        _core.gaussian_labels(found._core, np.zeros((5, 2)), np.ones(5), np.zeros(4, np.int32))
    with pytest.raises(_core.ShapeError, match="shares"):
        _core.gaussian_sums(np.zeros((5, 2)), np.zeros(2), np.zeros((1, 2)), np.zeros((5, 2)), True)
    with pytest.raises(_core.ShapeError, match="means"):
        _core.gaussian_sums(np.zeros((5, 2)), np.zeros(2), np.zeros((1, 3)), np.zeros((5, 1)), True)
    with pytest.raises(_core.ShapeError, match="scores"):
        _core.gaussian_scores(found._core, np.zeros((5, 2)), np.zeros((5, 2)))
    with pytest.raises(_core.ShapeError, match="lines"):
        _core.Mixtures(2, False, np.array([0, 1]), np.zeros((2, 2)), np.zeros((1, 3)))
    with pytest.raises(_core.ShapeError, match="starts"):
        _core.Mixtures(2, False, np.array([0, 2]), np.zeros((2, 2)), np.zeros((1, 5)))
    with pytest.raises(_core.ShapeError, match="means"):
        _core.Mixtures(4, False, np.array([0, 1]), np.zeros((2, 2)), np.zeros((1, 1)))
    with pytest.raises(TypeError):
        found.summarize(np.zeros((5, 2), np.int64), np.ones(5))


@EVERY
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_sums_of_given_shares_are_those_of_the_formulas(structure, kind):
    rng = np.random.default_rng(15)
    form = {"spherical": "round"}.get(structure, structure)
    for d, k, n in [(1, 1, 0), (1, 2, 5), (3, 4, 1), (9, 3, 200), (33, 2, 130)]:
        x = rng.normal(size=(n, d)).astype(kind)
        shares = rng.random((n, k)) * (rng.random((n, k)) > 0.3)
        reference, means = rng.normal(size=d).astype(kind).astype(float), rng.normal(size=(k, d))
        found = sums_of_shares(x, reference, means, shares, form).centred
        y, mass = x.astype(float) - reference, shares.sum(axis=0)
        new = np.divide(shares.T @ y, mass[:, None], out=np.zeros((k, d)), where=mass[:, None] > 0)
        scatters = np.array([((y - m) * shares[:, c : c + 1]).T @ (y - m) for c, m in enumerate(new)])
        assert np.allclose(found.mass, mass, rtol=1e-13)
        assert np.allclose(found.means, new, rtol=1e-10, atol=1e-11)
        assert np.allclose(found.scatters, shaped(scatters, structure), rtol=1e-9, atol=1e-10)


@EVERY
def test_log_densities_are_scipys(structure):
    rng = np.random.default_rng(9)
    for d, k in [(1, 2), (3, 1), (5, 4), (18, 3)]:
        means, covariances, factors, _ = mixture(rng, d, k, structure)
        x = rng.normal(size=(300, d))
        want = [multivariate_normal(m, c).logpdf(x) for m, c in zip(means, covariances, strict=True)]
        for known in (True, False):
            got = gaussian_log_density(x, x[0], means - x[0], factors, known=known)
            assert np.allclose(got, np.stack(want, axis=1), rtol=1e-12, atol=1e-11)
