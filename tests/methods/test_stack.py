"""Mixtures that move as a stack go where each would have gone by itself."""

from __future__ import annotations

import numpy as np
import pytest

from asterism.choose.together import Candidate, advance, in_small_blocks
from asterism.data.source import ArraySource
from asterism.engines.context import engine
from asterism.families.gaussian import GaussianFamily
from asterism.methods.em import EM
from asterism.methods.frame import survey
from asterism.methods.mixture import facts_of
from asterism.methods.starts import model_of, one_hot, sample_of

STRUCTURES = (
    "EII",
    "VII",
    "EEI",
    "VEI",
    "EVI",
    "VVI",
    "EEE",
    "VEE",
    "EVE",
    "VVE",
    "EEV",
    "VEV",
    "EVV",
    "VVV",
)


def table(n=500, d=3, apart=3.0, seed=0):
    rng = np.random.default_rng(seed)
    centers = apart * rng.standard_normal((4, d))
    return centers[rng.integers(4, size=n)] + rng.standard_normal((n, d)) * [1.0, 2.0, 0.5][:d]


def candidates(x, structure, weights=None, ks=(1, 2, 3, 5)):
    """Mixtures of several sizes, each from rows dealt out by chance."""
    source = ArraySource(x, weights)
    frame, moments = survey(source)
    family = GaussianFamily(structure)
    em = EM(family.prepared(facts_of(source, family, frame, moments)), tol=1e-5)
    sample = sample_of(source, frame, moments, 5, 0)
    near = ((sample.y[:, None, :] - sample.y[None, :5, :]) ** 2).sum(axis=2)
    starts = [one_hot(near[:, :k].argmin(axis=1).astype(np.int32), k) for k in ks]
    return source, [Candidate(em, model_of(em, sample.block, shares)) for shares in starts]


def both(source, starts, steps=12):
    return (advance(source, starts, steps, complete=complete) for complete in (True, False))


def same(one, other, rtol=1e-7):
    assert one.settled == other.settled
    np.testing.assert_allclose(one.height, other.height, rtol=1e-9)
    a, b = one.candidate.model, other.candidate.model
    np.testing.assert_allclose(a.weights, b.weights, rtol=rtol, atol=1e-9)
    np.testing.assert_allclose(a.params.means, b.params.means, rtol=rtol, atol=1e-6)
    np.testing.assert_allclose(a.params.covariances.full(), b.params.covariances.full(), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_stack_goes_where_its_mixtures_would(structure):
    stacked, alone = both(*candidates(table(), structure))
    for one, other in zip(stacked, alone, strict=True):
        same(one, other)


@pytest.mark.parametrize("structure", ["EEE", "VII", "VVI", "VVV"])
def test_groups_very_far_apart(structure):
    stacked, alone = both(*candidates(table(apart=1e3), structure))
    for one, other in zip(stacked, alone, strict=True):
        same(one, other)


@pytest.mark.parametrize("structure", ["EEE", "VII", "VVI", "VVV"])
def test_weights_are_copies_and_absent_rows_may_hold_anything(structure):
    x = table(120)
    w = np.random.default_rng(1).integers(0, 4, len(x)).astype(float)
    _, starts = candidates(np.repeat(x, w.astype(int), axis=0), structure)
    x[w == 0] = np.inf
    weighted = advance(ArraySource(x, w), starts, 8, complete=True)
    copies = advance(ArraySource(np.repeat(x, w.astype(int), axis=0)), starts, 8, complete=True)
    for one, other in zip(weighted, copies, strict=True):
        same(one, other)


@pytest.mark.parametrize("structure", ["EEE", "VII", "VVI", "VVV"])
def test_same_bits_for_any_number_of_threads(structure):
    source, starts = candidates(table(5000), structure)
    assert in_small_blocks(source).n_blocks == 10
    heights = []
    for n_threads in (1, 3):
        with engine(n_threads=n_threads):
            heights.append([one.height for one in advance(source, starts, 5, complete=True)])
    assert heights[0] == heights[1]


@pytest.mark.parametrize("structure", ["EEE", "VII", "VVI", "VVV"])
@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e8, 1.0), (0.0, 1e-30)])
def test_float32_is_enough_to_compare_mixtures_wherever_a_table_lies(structure, offset, scale):
    source, starts = candidates((table(2000) + offset) * scale, structure)
    rough = advance(source, starts, 4, complete=True, rough=True)
    exact = advance(source, starts, 4, complete=True)
    for one, other in zip(rough, exact, strict=True):
        np.testing.assert_allclose(one.height, other.height, rtol=1e-6)
        a, b = (end.candidate.model.params.means / scale for end in (one, other))
        np.testing.assert_allclose(a, b, atol=1e-3)
    differ = any(one.height != other.height for one, other in zip(rough, exact, strict=True))
    assert differ == (scale == 1.0)  # squares of 1e-60 are not for float32


def test_a_component_without_rows_is_put_where_there_are_some():
    x = np.vstack([table(200), np.full((3, 3), 50.0) + 1e-9 * np.eye(3)])
    source, starts = candidates(x, "VVV", ks=(3, 5))
    em, model = starts[1].em, starts[1].model
    lonely = model.params.means.copy()
    lonely[2] = 1e6
    model = type(model)(model.weights, type(model.params)(lonely, model.params.covariances))
    stacked, alone = both(source, [starts[0], Candidate(em, model)])
    for one, other in zip(stacked, alone, strict=True):
        assert one.candidate.model.repairs == other.candidate.model.repairs
    assert one.candidate.model.repairs > 0
    assert np.isfinite(one.height)


def test_likelihoods_never_fall():
    source, starts = candidates(table(seed=3), "VVV")
    heights = [[one.height for one in advance(source, starts, n, complete=True)] for n in range(1, 15)]
    assert (np.diff(heights, axis=0) >= -1e-9 * np.abs(heights[0])).all()


def test_the_gain_of_a_mixture_on_its_way_is_that_of_the_step_to_its_height():
    source, starts = candidates(table(), "VVV", ks=(3, 5))
    two, three = (advance(source, starts, steps, complete=True) for steps in (2, 3))
    for before, after in zip(two, three, strict=True):
        assert not after.settled
        assert after.gain == after.height - before.height > 0.0
