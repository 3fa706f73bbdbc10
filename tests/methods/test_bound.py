"""EM and k-means where something is known of some rows, beside all labelings there are."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from asterism import engine
from asterism.data.source import ArraySource
from asterism.engines.loop import iterate
from asterism.families.gaussian import GaussianFamily
from asterism.methods.bound import Bound
from asterism.methods.bound_em import BoundEM, fit_bound_mixture
from asterism.methods.bound_kmeans import BoundLloyd, fit_bound_kmeans
from asterism.methods.frame import survey
from asterism.methods.linked import Known
from asterism.methods.lloyd import centers_at, lloyd_for
from asterism.methods.mixture import facts_of
from asterism.methods.starts import given_shares

few = settings(max_examples=25, deadline=None)
ROWS = 6


@st.composite
def facts(draw, sizes=False):
    """What may be known of six rows in two groups without contradiction, drawn from a labeling."""
    truth = draw(
        st.lists(st.integers(0, 1), min_size=ROWS, max_size=ROWS).filter(lambda z: 0 < sum(z) < ROWS)
    )
    pairs = [(i, j) for i in range(ROWS) for j in range(i + 1, ROWS)]
    kept = draw(st.lists(st.sampled_from(pairs), max_size=4, unique=True))
    known = draw(st.lists(st.booleans(), min_size=ROWS, max_size=ROWS))
    what = {
        "together": [(i, j) for i, j in kept if truth[i] == truth[j]],
        "apart": [(i, j) for i, j in kept if truth[i] != truth[j]],
        "labels": [str(z) if said and i < 3 else None for i, (z, said) in enumerate(zip(truth, known, strict=True))],
    }  # fmt: skip
    if not any(what["labels"]):
        del what["labels"]
    if sizes:
        small = min(np.bincount(truth, minlength=2))
        what |= {"min_size": int(small), "max_size": ROWS - int(small)}
    return Known.of(ROWS, **what)


def allowed(known, z):
    """Whether a labeling keeps what is known."""
    sizes = np.bincount(z, minlength=2)
    return (
        all(z[i] == z[j] for i, j in known.together)
        and all(z[i] != z[j] for i, j in known.apart)
        and all(z[i] == int(known.names[c]) for i, c in enumerate(known.labels) if c >= 0)
        and (not known.sized or (sizes.min() >= known.least and sizes.max() <= known.most))
    )


def bound_of(known, source, k=2):
    return Bound.of(known, source, np.array([int(name) for name in known.names], np.int32), k)


def em_of(known, x, weights=None, **settings):
    source = ArraySource(x, weights)
    frame, moments = survey(source)
    family = GaussianFamily("EEI").prepared(facts_of(source, GaussianFamily("EEI"), frame, moments))
    return source, BoundEM(family, bound=bound_of(known, source), group_of=np.arange(2), **settings)


def rows_of(seed):
    return np.random.default_rng(seed).normal(size=(ROWS, 2))


def log_parts(em, model, x):
    """(n, 2) log pi_g p(x | g), from SciPy."""
    covariances = model.params.covariances.full()
    means = em.family.reference + model.params.means
    return np.stack(
        [np.log(w) + multivariate_normal(m, s).logpdf(x) for w, m, s in zip(model.weights, means, covariances)],  # noqa: B905
        axis=1,
    )  # fmt: skip


# --- the E-step -------------------------------------------------------------------------------------------------


@few
@given(facts(), st.integers(0, 99))
def test_objective_and_shares_of_em_are_sums_over_all_labelings(known, seed):
    x = rows_of(seed)
    source, em = em_of(known, x)
    model = given_shares(em, source, np.random.default_rng(seed).dirichlet([1, 1], ROWS), 2)
    parts = log_parts(em, model, x)
    ways = [z for z in product(range(2), repeat=ROWS) if allowed(known, z)]
    heights = np.array([parts[np.arange(ROWS), z].sum() for z in ways])
    run = iterate(em, source_without(source, em), [model], max_iter=1)[0]
    assert -run.history[0] == pytest.approx(np.log(np.exp(heights).sum()), rel=1e-9)
    p = np.exp(heights) / np.exp(heights).sum()
    shares, _ = em.shares(model)
    for row, r in zip(em.bound.rows, shares, strict=True):
        assert r[1] == pytest.approx(p @ [z[row] for z in ways], abs=1e-9)


def source_without(source, em):
    from asterism.data.absent import WithoutRows

    return WithoutRows(source, em.bound.rows)


@few
@given(facts(sizes=True), st.integers(0, 99))
def test_the_best_groups_are_the_best_of_all_labelings(known, seed):
    scores = np.random.default_rng(seed).normal(size=(ROWS, 2))
    bound = bound_of(known, ArraySource(scores))
    labels, height = bound.best(scores[bound.rows])
    free = np.ones(ROWS, bool)
    free[bound.rows] = False
    z = scores.argmax(axis=1)
    z[bound.rows] = labels[bound.chunks]
    assert allowed(known, z)
    ways = [w for w in product(range(2), repeat=ROWS) if allowed(known, w)]
    best = max(scores[np.arange(ROWS), w].sum() for w in ways)
    assert height + scores[free].max(axis=1).sum() == pytest.approx(best)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 999), st.integers(1, 9), st.integers(10, 20))
def test_shares_within_sizes_are_the_best_there_are(seed, least, most):
    """Beside a general solver: the maximum of sum q s + entropy of q under the bounds of its sums."""
    from scipy.optimize import LinearConstraint, minimize

    scores = np.random.default_rng(seed).normal([1.5, 0.0], size=(20, 2))
    bound = bound_of(Known.of(20, min_size=least, max_size=most), ArraySource(scores))
    q, height = bound.shares(scores)
    sizes = q.sum(axis=0)
    assert sizes.min() >= least - 1e-6
    assert sizes.max() <= most + 1e-6

    def minus(first):
        r = np.clip(np.stack([first, 1 - first], axis=1), 1e-12, 1)
        return -float((r * (scores - np.log(r))).sum())

    bounds = LinearConstraint(np.ones((1, 20)), max(least, 20 - most), min(most, 20 - least))
    found = minimize(minus, q[:, 0], constraints=bounds, bounds=[(1e-9, 1)] * 20, method="SLSQP")
    assert height == pytest.approx(-minus(q[:, 0]), abs=1e-6)
    assert height >= -found.fun - 1e-6


# --- whole fits -------------------------------------------------------------------------------------------------


@few
@given(facts(sizes=True), st.integers(0, 99))
def test_em_never_falls(known, seed):
    x = rows_of(seed)
    source, em = em_of(known, x, tol=0.0)
    start = given_shares(em, source, np.random.default_rng(seed).dirichlet([1, 1], ROWS), 2)
    history = fit_bound_mixture(source, em, [start], 8).history
    assert all(after <= before + 1e-7 * (1 + abs(before)) for before, after in pairwise(history))


@few
@given(facts(sizes=True), st.integers(0, 99))
def test_kmeans_keeps_what_is_known_and_ends_at_a_minimum(known, seed):
    x = rows_of(seed)
    source = ArraySource(x)
    fit = fit_bound_kmeans(source, bound_of(known, source), [x[:2], x[2:4]], tol=0.0)
    assert allowed(known, fit.labels)
    centers = fit.model.positions
    squares = ((x[:, None] - centers) ** 2).sum(axis=2)
    ways = [z for z in product(range(2), repeat=ROWS) if allowed(known, z)]
    best = min(squares[np.arange(ROWS), z].sum() for z in ways)
    assert fit.inertia == pytest.approx(best)  # no labeling is better for these centres
    assert fit.inertia == pytest.approx(squares[np.arange(ROWS), fit.labels].sum())
    for g in set(fit.labels):
        np.testing.assert_allclose(centers[g], x[fit.labels == g].mean(axis=0), atol=1e-9)
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(fit.run.history))


def test_from_every_start_kmeans_finds_the_best_labeling_of_all():
    known = Known.of(ROWS, together=[(0, 5)], apart=[(1, 2)], max_size=4)
    x = rows_of(7)

    def inertia(z):
        return sum(((x[np.array(z) == g] - x[np.array(z) == g].mean(axis=0)) ** 2).sum() for g in set(z))

    ways = [z for z in product(range(2), repeat=ROWS) if allowed(known, z)]
    starts = [np.array([x[np.array(z) == g].mean(axis=0) for g in (0, 1)]) for z in ways if len(set(z)) == 2]
    source = ArraySource(x)
    fit = fit_bound_kmeans(source, bound_of(known, source), starts)
    assert fit.inertia == pytest.approx(min(map(inertia, ways)))


def test_weights_count_as_copies():
    """Of a known row and of one in a pair: copies of a row are together with it."""
    x = rows_of(1)
    weights = np.array([2.0, 1, 1, 3, 1, 1])
    known = Known.of(ROWS, labels=["0", None, None, None, "1", None], together=[(2, 3)])
    source, em = em_of(known, x, weights)
    copies = np.repeat(np.arange(ROWS), weights.astype(int))
    at = {row: np.flatnonzero(copies == row).tolist() for row in range(ROWS)}
    again = Known.of(
        len(copies),
        labels=[["0", None, None, None, "1", None][row] for row in copies],
        together=[(at[2][0], other) for other in at[3]],
    )
    source2 = ArraySource(x[copies])
    em2 = BoundEM(em.family, bound=bound_of(again, source2), group_of=np.arange(2))
    start = given_shares(em, source, np.random.default_rng(0).dirichlet([1, 1], ROWS), 2)
    one = fit_bound_mixture(source, em, [start], 5)
    two = fit_bound_mixture(source2, em2, [start], 5)
    np.testing.assert_allclose(one.history, two.history, rtol=1e-9)


def test_a_row_of_weight_0_is_absent():
    x = np.vstack([rows_of(2), [[np.inf, np.nan]]])
    weights = np.append(np.ones(ROWS), 0.0)
    what = {"labels": ["0", None, "1", None, None, None], "apart": [(3, 4)]}
    source, em = em_of(Known.of(ROWS, **what), x[:-1])
    start = given_shares(em, source, np.random.default_rng(0).dirichlet([1, 1], ROWS), 2)
    plain = fit_bound_mixture(source, em, [start], 5)
    with_absent = Known.of(ROWS + 1, **{**what, "labels": [*what["labels"], "1"]})
    source2 = ArraySource(x, weights)
    em2 = BoundEM(em.family, bound=bound_of(with_absent, source2), group_of=np.arange(2))
    assert fit_bound_mixture(source2, em2, [start], 5).history == plain.history


def test_rows_together_are_of_one_group_not_of_one_component():
    """One group of two far components: a row in each may be together, and stay where they are."""
    rng = np.random.default_rng(0)
    x = np.vstack([rng.normal(c, 0.3, (20, 2)) for c in ([0, 0], [8, 0], [0, 8])])
    known = Known.of(60, together=[(0, 20)])
    source = ArraySource(x)
    frame, moments = survey(source)
    family = GaussianFamily("EEI").prepared(facts_of(source, GaussianFamily("EEI"), frame, moments))
    em = BoundEM(
        family, bound=Bound.of(known, source, np.zeros(0, np.int32), 2), group_of=np.array([0, 0, 1])
    )
    start = given_shares(em, source, np.eye(3)[np.repeat([0, 1, 2], 20)], 3)
    run = fit_bound_mixture(source, em, [start], 50)
    shares, _ = em.shares(run.model)
    np.testing.assert_allclose(shares, [[1, 0, 0], [0, 1, 0]], atol=1e-6)


@pytest.mark.parametrize("sized", [False, True])
def test_the_same_bits_for_any_number_of_threads_and_blocks(sized):
    rng = np.random.default_rng(0)
    x = np.vstack([rng.normal(0, 1, (5000, 3)), rng.normal(2, 1, (3000, 3))])
    what = {"min_size": 3800} if sized else {}
    labels = [None] * 8000
    labels[3], labels[7000] = "0", "1"
    known = Known.of(8000, labels=labels, together=[(1, 7999)], apart=[(4, 5000)], **what)
    source = ArraySource(x)
    found = []
    for threads in (1, 3):
        with engine(n_threads=threads):
            bound = bound_of(known, source)
            fit = fit_bound_kmeans(source, bound, [x[[0, 7000]]], max_iter=3)
            found.append(fit.model.positions)
    assert (found[0] == found[1]).all()


def test_a_step_of_kmeans_is_that_of_lloyd_where_nothing_is_known():
    x = rows_of(3)
    source = ArraySource(x)
    frame, moments = survey(source)
    lloyd = lloyd_for(frame, moments)
    start = centers_at(frame, x[:2])
    method = BoundLloyd(lloyd, bound_of(Known.of(ROWS), source))
    one = iterate(method, source, [method.beside(start)], max_iter=1)[0].model.centers
    two = iterate(lloyd, source, [start], max_iter=1)[0].model
    assert (one.offsets == two.offsets).all()
