"""Mixtures that move as a stack go where each would have gone by itself."""

from __future__ import annotations

import numpy as np
import pytest

from asterism.data.reblocked import Reblocked
from asterism.data.source import ArraySource
from asterism.engines.context import engine
from asterism.families.gaussian import GaussianFamily
from asterism.methods.em import EM
from asterism.methods.frame import survey
from asterism.methods.mixture import facts_of
from asterism.methods.stack import advance
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
    return em, source, [model_of(em, sample.block, shares) for shares in starts]


def both(em, source, starts, steps=12):
    return (advance(em, source, starts, steps, complete=complete) for complete in (True, False))


def same(one, other, rtol=1e-7):
    (height, a), (true_height, b) = one, other
    np.testing.assert_allclose(height, true_height, rtol=1e-9)
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
    em, source, starts = candidates(np.repeat(x, w.astype(int), axis=0), structure)
    x[w == 0] = np.inf
    weighted = advance(em, ArraySource(x, w), starts, 8, complete=True)
    copies = advance(em, source, starts, 8, complete=True)
    for one, other in zip(weighted, copies, strict=True):
        same(one, other)


@pytest.mark.parametrize("structure", ["EEE", "VII", "VVI", "VVV"])
def test_same_bits_for_any_number_of_threads(structure):
    em, source, starts = candidates(table(5000), structure)
    heights = []
    for n_threads in (1, 3):
        with engine(n_threads=n_threads):
            ends = advance(em, Reblocked(source, 512), starts, 5, complete=True)
            heights.append([height for height, _ in ends])
    assert heights[0] == heights[1]


def test_a_component_without_rows_is_put_where_there_are_some():
    x = np.vstack([table(200), np.full((3, 3), 50.0) + 1e-9 * np.eye(3)])
    em, source, (three, five) = candidates(x, "VVV", ks=(3, 5))
    lonely = five.params.means.copy()
    lonely[2] = 1e6
    five = type(five)(five.weights, type(five.params)(lonely, five.params.covariances))
    stacked, alone = both(em, source, [three, five])
    for (_, one), (_, other) in zip(stacked, alone, strict=True):
        assert one.repairs == other.repairs
    assert one.repairs > 0
    assert np.isfinite(stacked[1][0])


def test_likelihoods_never_fall():
    em, source, starts = candidates(table(seed=3), "VVV")
    heights = [[height for height, _ in advance(em, source, starts, n, complete=True)] for n in range(1, 15)]
    assert (np.diff(heights, axis=0) >= -1e-9 * np.abs(heights[0])).all()
