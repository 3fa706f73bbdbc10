"""What a sweep's search keeps, hands on, and looks at."""

from __future__ import annotations

import numpy as np
import pytest

from asterism.choose.matched import matched
from asterism.choose.peaks import NEAR, Peaks, distances
from asterism.choose.race import AHEAD, hopeful
from asterism.choose.together import Advanced, Candidate
from asterism.data.source import ArraySource
from asterism.families.covariance import Covariances
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_pass import GaussianParams
from asterism.methods.em import EM, MixtureModel
from asterism.methods.frame import survey
from asterism.methods.starts import sample_of

FAMILY = GaussianFamily("VII")


def mixture(*places: float, spread: float = 1.0) -> Candidate:
    """Two columns, round groups on a line."""
    means = np.column_stack([places, np.zeros(len(places))])
    covariances = Covariances("VII", len(places), np.full((len(places), 2), spread**2))
    weights = np.full(len(places), 1.0 / len(places))
    return Candidate(EM(FAMILY), MixtureModel(weights, GaussianParams(means, covariances)))


def end(height: float, *places: float, gain: float = 0.0) -> Advanced:
    return Advanced(height, False, lambda: mixture(*places), gain)


def test_the_distance_of_mixtures_does_not_ask_for_the_order_of_components():
    assert distances([mixture(0, 5), mixture(5, 0)])[0, 1] == 0.0
    assert distances([mixture(0, 5), mixture(0, 7)])[0, 1] == pytest.approx(0.5 * 4.0)
    # Where one has two components in a place, the other has one elsewhere: seen from the other side.
    found = distances([mixture(0, 0, 5), mixture(0, 5, 9), mixture(0, 5, 0)])
    np.testing.assert_allclose(found, np.array([[0, 16, 0], [16, 0, 16], [0, 16, 0]]) / 3.0, atol=1e-12)


def test_the_distance_of_mixtures_is_in_standard_deviations_within_components():
    wide = [mixture(0, 10, spread=2.0), mixture(0, 14, spread=2.0)]
    assert distances(wide)[0, 1] == pytest.approx(0.5 * 4.0)


def test_peaks_keep_the_highest_that_lie_apart():
    step = np.sqrt(NEAR)
    peaks = Peaks(most=2)
    peaks.add([end(5.0, 0, 9), end(9.0, 0, 5), end(9.05, 0, 5 + step), end(7.0, 0, 9 + step)])
    assert [height for height, _ in peaks.found] == [9.05, 7.0]
    peaks.add([end(8.0, 3, 20)])
    assert [height for height, _ in peaks.found] == [9.05, 8.0]


def test_a_mixture_that_is_behind_but_faster_goes_on_and_one_in_the_same_place_does_not():
    first, twin = end(-100.0, 0, 5, gain=1.0), end(-101.0, 0, 5.1, gain=50.0)
    fast, slow = end(-120.0, 0, 9, gain=20.1 / AHEAD), end(-120.0, 0, 13, gain=19.9 / AHEAD)
    assert hopeful([first, twin, fast, slow]) == [first, fast]


def table(n: int, d: int = 3) -> np.ndarray:
    rng = np.random.default_rng(2)
    return 2.0 * rng.integers(0, 3, (n, 1)) + rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 7.0


def loglikelihoods(x: np.ndarray, w: np.ndarray, models: list[np.ndarray]) -> np.ndarray:
    """A row's mean log density under mixtures of unit normal groups with these centres."""
    return np.array(
        [
            np.average(
                np.log(np.exp(-0.5 * ((x[:, None] - c[None]) ** 2).sum(axis=2)).mean(axis=1)), weights=w
            )
            for c in models
        ]
    )


def test_a_matched_sample_tells_mixtures_apart_like_the_table():
    x = table(30_000)
    rng = np.random.default_rng(3)
    models = [x[rng.choice(len(x), 5)] for _ in range(40)]
    true = loglikelihoods(x, np.ones(len(x)), models)
    plain, better = [], []
    for seed in range(4):
        source = ArraySource(x)
        sample = sample_of(source, *survey(source), 5, seed)
        assert len(sample.w) < len(x) / 2
        for errors, one in ((plain, sample), (better, matched(source, sample, seed))):
            errors.append(np.std(loglikelihoods(one.block.rows, one.w, models) - true))
    assert np.mean(better) < 0.5 * np.mean(plain)


def test_a_matched_sample_has_the_weight_it_had_and_the_mean_of_the_table():
    x = table(20_000)
    w = np.random.default_rng(5).uniform(0.0, 2.0, len(x))
    source = ArraySource(x, w)
    sample = sample_of(source, *survey(source), 5, 0)
    found = matched(source, sample, 0)
    assert found.w.sum() == pytest.approx(sample.w.sum())
    np.testing.assert_allclose(
        np.average(found.block.rows, axis=0, weights=found.w), np.average(x, axis=0, weights=w), rtol=1e-9
    )
    np.testing.assert_allclose(found.block.rows - found.y, sample.block.rows - sample.y, atol=1e-9)


def test_flat_groups_and_small_tables_are_left_alone():
    small = ArraySource(table(500))
    sample = sample_of(small, *survey(small), 5, 0)
    assert matched(small, sample, 0) is sample
    x = table(20_000)
    x[:, 1] = x[:, 0] > 8.0  # in most groups a constant
    source = ArraySource(x)
    found = matched(source, sample_of(source, *survey(source), 5, 0), 0)
    assert np.isfinite(found.block.rows).all()
    assert (found.w > 0).all()
