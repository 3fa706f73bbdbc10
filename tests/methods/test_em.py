"""EM: it climbs, it stops, it can be hard, stochastic, frozen and accelerated."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.engines.loop import iterate
from asterism.engines.threads import one_blas_thread
from asterism.families.assignment import draws_for
from asterism.families.base import Family
from asterism.families.gaussian import GaussianFamily
from asterism.methods.em import EM, MixtureModel
from asterism.methods.frame import survey
from asterism.methods.mixture import facts_of
from asterism.methods.posterior import Mixture, bound_of, told
from asterism.methods.starts import expected_of, started


@pytest.fixture(autouse=True)
def _one_blas_thread():
    """As in a fit: on tiny matrices a pool of threads costs a hundred times what it saves."""
    with one_blas_thread():
        yield


def groups(n=150, d=2, k=3, apart=3.0, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) + apart * rng.normal(size=(k, d))[rng.integers(0, k, n)]
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows


def prepared(rows, family):
    source = ArraySource(rows)
    frame, moments = survey(source)
    return family.prepared(facts_of(source, family, frame, moments))


def beginning(em, rows, k, seed=0):
    shares = np.random.default_rng(seed).dirichlet(np.full(k, 0.3), len(rows))
    return started(em, expected_of(em, shares, block_of(rows)))


def heights(em, model, block, steps):
    """The log-posterior before each of some steps, and the model after them; no step is taken back."""
    out = []
    for _ in range(steps):
        expected = em.summarize(model, block)
        out.append(-em.objective(model, expected))
        model = replace(em.update(replace(model, before=None), expected), repairs=99)
    return np.array(out), model


def test_no_step_lowers_the_log_posterior():
    """Some of the 10,000 cases of ``python -m bench.monotone``."""
    worst_fall = pytest.importorskip("bench.monotone").worst_fall
    for seed in range(80):
        kept, plain, structure = worst_fall(seed)
        assert kept <= 1e-10, f"case {seed}, {structure}: {kept}"
        # A collapsed component's density is rounded more coarsely: plain steps show it, and a run takes them back.
        assert plain <= (1e-8 if structure.endswith("collapsed") else 1e-10), f"case {seed}, {structure}"


@pytest.mark.parametrize("structure", ["VVV", "VEI"])
def test_hard_assignment_climbs_the_classification_likelihood(structure):
    rows = groups()
    em = EM(prepared(rows, GaussianFamily(structure)), "hard")
    found, model = heights(em, beginning(em, rows, 3), block_of(rows), 10)
    assert (np.diff(found) >= -1e-9 * np.abs(found[1:])).all()
    mixture = Mixture(em.family, model.weights, model.params)
    best = mixture.scores(block_of(rows)).max(axis=1).sum()
    assert -em.objective(model, em.summarize(model, block_of(rows))) == pytest.approx(best, rel=1e-12)


def test_draws_depend_on_row_numbers_and_step_alone():
    rows = np.zeros((100, 1))
    whole = draws_for(block_of(rows), 3, 7)
    for cut in (1, 4, 33):
        parts = [draws_for(block_of(rows[:cut]), 3, 7), draws_for(block_of(rows[cut:], start=cut), 3, 7)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert not np.array_equal(draws_for(block_of(rows), 3, 8), whole)


def test_stochastic_shares_are_those_of_soft_assignment_on_average():
    rows = groups(40, apart=1.0)
    soft = EM(prepared(rows, GaussianFamily("VVV")))
    model = beginning(soft, rows, 3)
    expected = soft.summarize(model, block_of(rows)).mass
    drawn = [
        replace(soft, assignment="stochastic").summarize(replace(model, step=i), block_of(rows)).mass
        for i in range(2000)
    ]
    error = np.std(drawn, axis=0) / np.sqrt(2000)
    assert (np.abs(np.mean(drawn, axis=0) - expected) < 5 * error).all()


def test_log_likelihood_is_bound_plus_divergence():
    rows = groups(missing=0.2)
    em = EM(prepared(rows, GaussianFamily("VVV")))
    _, model = heights(em, beginning(em, rows, 3), block_of(rows), 5)
    mixture, source = Mixture(em.family, model.weights, model.params), ArraySource(rows)
    q = np.random.default_rng(0).dirichlet(np.ones(3), len(rows))
    bound = bound_of(mixture, source, q)
    total = told(mixture, source).log_likelihood
    assert bound.value + bound.divergence == pytest.approx(total, rel=1e-12)
    assert bound.divergence > 1.0
    assert bound_of(mixture, source, None).divergence == pytest.approx(0.0, abs=1e-9)
    assert bound_of(mixture, source, None).value == pytest.approx(total, rel=1e-12)


def test_frozen_proportions_stay():
    rows = groups()
    em = EM(prepared(rows, GaussianFamily("VVV")), frozen=frozenset({"weights"}))
    model = beginning(em, rows, 3)
    after = em.update(model, em.summarize(model, block_of(rows)))
    np.testing.assert_array_equal(after.weights, model.weights)


@dataclass(frozen=True)
class Clumsy(GaussianFamily):
    """A family whose estimate is wrong from the third on."""

    def estimate(self, statistic, previous):
        params = super().estimate(statistic, previous)
        CALLS.append(1)
        return replace(params, means=params.means + 5.0) if len(CALLS) > 3 else params


CALLS: list[int] = []


def test_a_step_that_leads_down_is_taken_back():
    CALLS.clear()
    rows = groups()
    em = EM(prepared(rows, Clumsy("VVV")), tol=0.0)
    run = iterate(em, ArraySource(rows), [beginning(em, rows, 3)], max_iter=50)[0]
    assert run.model.fell
    assert run.status == "settled"
    honest = EM(prepared(rows, GaussianFamily("VVV")))
    kept = -honest.objective(run.model, honest.summarize(run.model, block_of(rows)))
    assert kept == pytest.approx(max(-value for value in run.history), rel=1e-12)


def test_it_stops_when_parameters_are_still():
    rows = groups()
    em = EM(prepared(rows, GaussianFamily("VVV")), tol=1e-6, stop="parameters")
    run = iterate(em, ArraySource(rows), [beginning(em, rows, 3)], max_iter=1000)[0]
    after = em.update(run.model, em.summarize(run.model, block_of(rows)))
    assert run.status == "settled"
    np.testing.assert_allclose(after.params.means, run.model.params.means, atol=1e-5)


@pytest.mark.parametrize("structure", ["VVV", "EEE", "VVI", "VEE"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_accelerator_never_lowers_and_needs_fewer_steps(structure, missing):
    rows = groups(400, apart=1.2, missing=missing, seed=4)
    plain = EM(prepared(rows, GaussianFamily(structure)), tol=1e-7)
    fast = replace(plain, accelerated=True)
    start = beginning(plain, rows, 3)
    slow_run = iterate(plain, ArraySource(rows), [start], max_iter=2000)[0]
    fast_run = iterate(fast, ArraySource(rows), [start], max_iter=2000)[0]
    assert (np.diff(fast_run.history) <= 1e-9 * np.abs(fast_run.history[1:])).all()
    assert fast_run.objective <= slow_run.objective + 1e-3 * len(rows)
    assert fast_run.steps < slow_run.steps


def test_a_checkpointed_model_goes_on_as_it_was():
    rows = groups(missing=0.1)
    em = EM(prepared(rows, GaussianFamily("VEV")))
    _, model = heights(em, beginning(em, rows, 3), block_of(rows), 3)
    again = em.unpack(em.pack(model))
    for one in (model, again):
        assert isinstance(one, MixtureModel)
    a = em.update(model, em.summarize(model, block_of(rows)))
    b = em.update(again, em.summarize(again, block_of(rows)))
    np.testing.assert_array_equal(a.params.means, b.params.means)
    assert (a.gain, a.seen) == (b.gain, b.seen)


def test_the_gaussian_is_a_family():
    family: Family = GaussianFamily("VVV")
    assert family.name == "gaussian"
