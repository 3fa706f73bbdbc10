"""Moments after a split, a merger and a loan are those of rows that were so divided."""

from __future__ import annotations

import numpy as np
import pytest

from asterism.choose.grow import (
    axes_to_cut,
    cheapest_mergers,
    merge,
    moments_of_labels,
    moments_of_nearest,
    splits,
)
from asterism.choose.sweep import sweep
from asterism.data.source import ArraySource
from asterism.engines.context import engine
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_statistic import GaussianStatistic

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((4000, 3)) @ np.array([[3.0, 0, 0], [1, 1, 0], [0, 0, 0.5]])
PLACES = np.array([[0, 0, 0], [20.0, 0, 0], [0, 9.0, 0], [0, 9.5, 1]])
group_of = np.repeat(np.arange(4), [300, 200, 400, 50]).astype(np.int32)
GROUPS = ROWS[:950] + PLACES[group_of]


def test_moments_of_labels_are_sums_over_rows():
    w = RNG.uniform(0.5, 2.0, len(GROUPS))
    found = moments_of_labels(GROUPS, w, group_of, 5)
    for c in range(4):
        x, v = GROUPS[group_of == c], w[group_of == c]
        np.testing.assert_allclose(found.mass[c], v.sum())
        np.testing.assert_allclose(found.means[c], np.average(x, axis=0, weights=v))
        np.testing.assert_allclose(found.scatters[c], np.cov(x.T, aweights=v, ddof=0) * v.sum())
    assert found.mass[4] == 0.0


def test_moments_of_nearest_are_those_of_rows_so_labelled():
    w = RNG.uniform(0.5, 2.0, len(GROUPS))
    reference, unit = np.array([1.0, -2.0, 5.0]), np.array([2.0, 1.0, 0.5])
    centers = PLACES + RNG.normal(0.0, 0.3, PLACES.shape) - reference
    apart = ((GROUPS - reference)[:, None] - centers[None]) / unit
    labels = (apart**2).sum(axis=2).argmin(axis=1).astype(np.int32)
    found = moments_of_nearest(ArraySource(GROUPS, w), centers, unit, reference)
    true = moments_of_labels(GROUPS - reference, w, labels, 4)
    for part in ("mass", "means", "scatters"):
        np.testing.assert_allclose(getattr(found, part), getattr(true, part), rtol=1e-9, atol=1e-8)


def cut(moments: GaussianStatistic, covariances: np.ndarray) -> np.ndarray:
    return axes_to_cut(moments.mass, moments.scatters, covariances, np.ones(3))


def test_a_split_halves_a_normal_group_across_its_longest_axis():
    whole = moments_of_labels(ROWS, np.ones(len(ROWS)), np.zeros(len(ROWS), np.int32), 1)
    [halves] = splits(whole, cut(whole, whole.scatters / whole.mass[0]))
    axis = np.linalg.eigh(whole.scatters[0])[1][:, -1]
    side = ((ROWS - whole.means[0]) @ axis > 0).astype(np.int32)
    true = moments_of_labels(ROWS, np.ones(len(ROWS)), side, 2)
    order = np.argsort(halves.means @ axis)
    np.testing.assert_allclose(halves.mass, len(ROWS) / 2)
    np.testing.assert_allclose(halves.means[order], true.means, atol=0.15)
    np.testing.assert_allclose(
        halves.scatters[order] / 2000, true.scatters / true.mass[:, None, None], atol=0.35
    )


def test_round_components_are_cut_where_their_rows_are_long():
    whole = moments_of_labels(ROWS, np.ones(len(ROWS)), np.zeros(len(ROWS), np.int32), 1)
    [halves] = splits(whole, cut(whole, np.eye(3)[None]))
    apart = halves.means[1] - halves.means[0]
    axis = np.linalg.eigh(whole.scatters[0])[1][:, -1]
    assert abs(apart @ axis) == pytest.approx(np.linalg.norm(apart), rel=1e-6)


def test_a_merger_has_the_moments_of_both():
    four = moments_of_labels(GROUPS, np.ones(len(GROUPS)), group_of, 4)
    three = moments_of_labels(
        GROUPS, np.ones(len(GROUPS)), np.where(group_of == 3, 2, group_of).astype(np.int32), 3
    )
    found = merge(four, 2, 3)
    for a, b in zip(
        (found.mass, found.means, found.scatters), (three.mass, three.means, three.scatters), strict=True
    ):
        np.testing.assert_allclose(a, b, atol=1e-8)


@pytest.mark.parametrize("form", ["full", "tied", "diag", "round"])
def test_the_two_that_lie_together_are_the_cheapest_to_merge(form):
    four = moments_of_labels(GROUPS, np.ones(len(GROUPS)), group_of, 4)
    assert cheapest_mergers(four, form, 1) == [(2, 3)]


def test_a_sweep_finds_touching_groups_and_is_the_same_on_any_number_of_threads():
    rng = np.random.default_rng(4)
    centers = 1.8 * rng.standard_normal((7, 3))
    x = centers[rng.integers(7, size=3000)] + rng.standard_normal((3000, 3)) * 0.5
    families = {name: GaussianFamily(name) for name in ("VVV", "VII", "EEE")}
    found = []
    for n_threads in (1, 2):
        with engine(n_threads=n_threads):
            found.append(sweep(ArraySource(x), families, range(1, 10)))
    assert [cell.bic for cell in found[0].values()] == [cell.bic for cell in found[1].values()]
    assert min(found[0].values(), key=lambda cell: cell.bic).k == 7
    heights = {place: cell.log_likelihood for place, cell in found[0].items()}
    for name, k in heights:
        if k > 1:
            assert heights[name, k] > heights[name, k - 1] - 3.0, (name, k)
        assert heights["VVV", k] > max(heights["VII", k], heights["EEE", k]) - 3.0
