"""One decision: what cannot matter does not; groups of any shape; no groups where there are none."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import asterism
from asterism.verdict.decide import decide
from asterism.verdict.seen import Seen, order_of_values, principal_directions, spread_in_cells


def moons(rng: np.random.Generator, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    a = rng.uniform(0, np.pi, n)
    first, second = np.c_[np.cos(a), np.sin(a)], np.c_[1 - np.cos(a), 0.4 - np.sin(a)]
    return np.vstack([first, second]) + 0.06 * rng.normal(size=(2 * n, 2)), np.repeat([0, 1], n)


def rings(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    angle, radius = rng.uniform(0, 2 * np.pi, 450), np.repeat([1.0, 3.0], [150, 300])
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)] + 0.1 * rng.normal(size=(450, 2)), radius > 2


def blobs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    truth = np.repeat([0, 1, 2], [80, 60, 50])
    return rng.normal(size=(190, 3)) + 6.0 * np.eye(3)[truth], truth


TABLES = {"moons": moons, "rings": rings, "blobs": blobs}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("seed", range(3))
def test_groups_of_any_shape_are_found(name, seed):
    x, truth = TABLES[name](np.random.default_rng(seed))
    finding = asterism.find(x)
    assert finding.k == len(np.unique(truth))
    assert adjusted_rand_score(truth, finding.labels) > 0.95


@pytest.mark.parametrize("name", TABLES)
def test_what_cannot_matter_does_not(name):
    rng = np.random.default_rng(5)
    x, _ = TABLES[name](rng)
    order = rng.permutation(len(x))
    plain = asterism.find(x)
    changed = {
        "rows": asterism.find(x[order]).labels[np.argsort(order)],
        "columns": asterism.find(x[:, ::-1]).labels,
        "signs": asterism.find(-x).labels,
        "units": asterism.find(x * np.array([1000.0, 0.02, 7.0])[: x.shape[1]] - 40.0).labels,
        "seed": asterism.find(x, seed=11).labels,
        "copies": asterism.find(np.repeat(x, 2, axis=0), weights=np.full(2 * len(x), 0.5)).labels[::2],
    }
    for change, labels in changed.items():
        assert adjusted_rand_score(plain.labels, labels) > 0.99, change


@pytest.mark.parametrize("name", TABLES)
def test_a_saved_model_of_any_shape_assigns_the_same(name, tmp_path):
    x, _ = TABLES[name](np.random.default_rng(2))
    finding = asterism.find(x)
    finding.save(tmp_path / "groups.asterism")
    assignment = asterism.load(tmp_path / "groups.asterism").assign(x)
    np.testing.assert_array_equal(assignment.labels, finding.labels)
    np.testing.assert_allclose(finding.probabilities.sum(axis=1), 1.0)
    assert (finding.probabilities.argmax(axis=1) == finding.labels).all()


def test_tables_without_groups_get_none():
    rng = np.random.default_rng(3)
    angle = rng.uniform(0, 2 * np.pi, 400)
    tables = {
        "normal": rng.normal(size=(300, 2)),
        "even": rng.uniform(size=(300, 2)),
        "skewed": rng.exponential(size=(300, 3)),
        "heavy": rng.standard_t(3, (300, 2)),
        "one ring": np.c_[np.cos(angle), np.sin(angle)] + 0.1 * rng.normal(size=(400, 2)),
        "factors": rng.normal(size=(200, 2)) @ rng.normal(size=(2, 12)) + rng.normal(size=(200, 12)),
    }
    assert {name: asterism.find(x).k for name, x in tables.items()} == dict.fromkeys(tables, 1)


def test_groups_in_noise_are_still_found():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2, -1], [200, 200, 200, 150])
    centers = np.array([(0, 0), (9, 0), (4, 8), (0, 0)])
    x = rng.normal(size=(750, 2)) * 0.8 + centers[truth]
    x[truth < 0] = rng.uniform((-4, -4), (13, 12), (150, 2))
    found = asterism.find(x)
    assert adjusted_rand_score(truth[truth >= 0], found.labels[truth >= 0]) > 0.9


def test_equal_rows_are_one_row_of_their_weight():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 2))
    seen = Seen.of(np.vstack([x, x[:20]]), np.ones(70))
    assert len(seen.rows) == 50
    np.testing.assert_allclose(np.sort(seen.weights), np.r_[np.ones(30), np.full(20, 2.0)])
    np.testing.assert_array_equal(seen.place[50:], seen.place[:20])


def test_the_order_of_values_knows_nothing_of_the_order_of_rows_and_columns():
    x = np.random.default_rng(2).gamma(2.0, size=(80, 4))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    shuffled = np.random.default_rng(3).permutation(80)
    first = x[order_of_values(x, np.ones(80))]
    second = x[shuffled][:, ::-1]
    np.testing.assert_allclose(second[order_of_values(second, np.ones(80))][:, ::-1], first)


def test_marks_of_a_ruler_are_spread_over_their_cells():
    x = np.random.default_rng(0).integers(0, 5, (200, 2)).astype(float)
    spread = spread_in_cells(x)
    assert (np.rint(spread) == x).all()
    assert all(len(np.unique(column)) == 200 for column in spread.T)


def test_directions_are_those_beyond_noise():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 12))
    x[:, :6] += 2.0 * rng.normal(size=(400, 1))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    axes = principal_directions(np.cov(x.T), 400.0)
    assert len(axes) == 2  # one factor, and at least two directions
    assert np.abs(axes[0, :6]).min() > 3 * np.abs(axes[0, 6:]).max()


def test_numbers_that_are_not_allowed_are_not_answered():
    x, _ = blobs(np.random.default_rng(0))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    decision = decide(x, np.ones(len(x)), [2, 5])
    assert decision.found == 3
    assert decision.k in (2, 5)
