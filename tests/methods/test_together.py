"""Threads that take blocks by themselves do to the bit what blocks handed out one by one do."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from asterism import GaussianMixture, engine
from asterism.data.source import ArraySource
from asterism.engines.tree import MergeTree
from asterism.errors import AsterismError
from asterism.families import gaussian_passes
from asterism.kernels import wide_visits
from asterism.kernels.claims import add_up
from asterism.kernels.turns import (
    END,
    ENDED,
    WAIT,
    all_done,
    is_other,
    open_other,
    open_pass,
    passes_done,
    take_all,
    take_turn,
    turns_for,
    was_last,
)
from asterism.methods import em, mixture
from asterism.methods.frame import survey


def groups(n: int, d: int, dtype: str, apart: float = 0.8) -> np.ndarray:
    rng = np.random.default_rng(d)
    return (rng.normal(size=(n, d)) + apart * rng.integers(0, 3, size=(n, 1))).astype(dtype)


def fitted(X: np.ndarray, structure: str, **fit: object) -> list[np.ndarray]:
    model = GaussianMixture(3, covariance_type=structure, random_state=0, max_iter=4, tol=0).fit(X, **fit)
    return [model.weights_, model.means_, model.covariances_, model.labels_, np.array(model.history_)]


@pytest.fixture
def passes(monkeypatch):
    """How many passes might follow each other, for each that took its blocks by itself; 0 for others."""
    found = []
    real = em.EM.together

    def together(self, model, rows, size, most, *, look):
        inner = real(self, model, rows, size, most, look=look)
        found.append(0 if inner is None else most)
        return inner

    monkeypatch.setattr(em.EM, "together", together)
    return found


@pytest.mark.parametrize("structure", ["diag", "spherical", "tied"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_same_bits_as_block_by_block_on_any_number_of_threads(structure, dtype, passes):
    X = groups(9000, 40, dtype)
    plain = fitted(X, structure, sample_weight=np.ones(len(X)))  # weights make every block a visit of its own
    assert not passes
    for n_threads in (1, 2, 5):
        with engine(n_threads=n_threads):
            mine = fitted(X, structure)
        assert all(np.array_equal(a, b) for a, b in zip(plain, mine, strict=True))
    assert all(passes)


def test_a_table_with_missing_cells_is_taken_block_by_block(passes):
    X = groups(9000, 40, "float64")
    X[17, 3] = np.nan
    assert np.isfinite(fitted(X, "diag")[-1]).all()
    assert not any(passes)


def test_whole_tables_are_those_that_need_nothing_done():
    X = groups(50, 3, "float64")
    assert ArraySource(X).whole is not None
    assert not ArraySource(X).whole.flags.writeable
    for source in (
        ArraySource(X, np.ones(50)),
        ArraySource(np.asfortranarray(X)),
        ArraySource(X.astype(np.int64)),
    ):
        assert source.whole is None


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13])
def test_sums_are_added_in_the_order_of_the_merge_tree(n):
    class Sum(float):
        def merge(self, other: float) -> Sum:
            return Sum(self + other)

    sums, tree = np.random.default_rng(n).normal(size=(n, 1)), MergeTree(n)
    for i in reversed(range(n)):
        tree.add(i, Sum(sums[i, 0]))
    add_up(sums)
    assert sums[0, 0] == tree.result()


# --- steps that follow each other -----------------------------------------------------------------------------------


@pytest.fixture
def updates(monkeypatch):
    """Steps that Python took."""
    found = []
    real = em.EM.update

    def update(self, model, statistic):
        found.append(model.step)
        return real(self, model, statistic)

    monkeypatch.setattr(em.EM, "update", update)
    return found


def both_ways(X: np.ndarray, updates: list[int], **settings: object) -> tuple[GaussianMixture, int]:
    """A fit that nobody watched, which is to the bit one that was watched; and the steps that Python took of it."""
    k, round_ones = settings["n_components"], settings["covariance_type"] == "spherical"
    precisions = np.full(k if round_ones else (k, X.shape[1]), 0.5)
    means = X[: 20 * k].reshape(k, 20, -1).mean(axis=1)
    start = {"weights_init": np.full(k, 1 / k), "means_init": means, "precisions_init": precisions}
    settings = start | settings
    updates.clear()
    events: list[object] = []
    with engine(progress=events.append):
        watched = GaussianMixture(random_state=0, **settings).fit(X)
    assert len(updates) == watched.n_iter_ == len(events)
    for n_threads in (1, 2, 5):
        updates.clear()
        with engine(n_threads=n_threads):
            mine = GaussianMixture(random_state=0, **settings).fit(X)
        for name in ("weights_", "means_", "covariances_", "labels_", "history_", "n_iter_", "converged_"):
            assert np.array_equal(getattr(watched, name), getattr(mine, name)), name
    return mine, len(updates)


@pytest.mark.parametrize("structure", ["diag", "spherical"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("tol", [0.0, 1e-3])
def test_steps_that_nobody_watches_are_those_that_somebody_does(structure, dtype, tol, updates):
    settings = {"n_components": 4, "covariance_type": structure, "tol": tol, "max_iter": 25}
    X = groups(9000, 40, dtype, apart=0.3)
    X -= X.dtype.type(0.3)  # rows of float32 are multiplied as they are only where 0 is near
    model, by_python = both_ways(X, updates, **settings)
    assert by_python < model.n_iter_


def test_steps_of_hard_assignment_follow_each_other_too(updates):
    settings = {"n_components": 3, "covariance_type": "diag", "assignment": "hard", "tol": 0.0}
    model, by_python = both_ways(groups(6000, 40, "float64"), updates, **settings)
    assert by_python < model.n_iter_


def test_a_group_that_loses_its_rows_on_the_way_is_left_to_python(updates):
    X = groups(3000, 40, "float64")
    start = np.stack([X[:1000].mean(axis=0), X[1000:].mean(axis=0), X.max(axis=0) + 3.0])
    settings = {
        "n_components": 3,
        "covariance_type": "spherical",
        "means_init": start,
        "tol": 0.0,
        "max_iter": 12,
    }
    settings |= {
        "weights_init": np.array([0.5, 0.5 - 1e-7, 1e-7]),
        "precisions_init": np.array([1.0, 1.0, 9.0]),
    }
    both_ways(X, updates, **settings)


def test_means_that_leave_the_reach_of_products_are_left_to_python(updates):
    X = groups(3000, 40, "float32")
    X[:40] += 60.0  # a small group that takes its mean far away from the others
    both_ways(X, updates, n_components=3, covariance_type="diag", tol=0.0, max_iter=15)


@pytest.mark.parametrize(
    "settings", [{"acceleration": "squarem"}, {"frozen": ("weights",)}, {"prior": "conjugate"}]
)
def test_steps_that_are_more_than_means_and_variances_are_taken_one_by_one(settings, updates):
    plain = {"n_components": 3, "covariance_type": "diag", "tol": 0.0, "max_iter": 6}
    model, by_python = both_ways(groups(3000, 40, "float64"), updates, **plain, **settings)
    assert by_python == model.n_iter_


def test_a_moment_is_short_beside_a_large_table(monkeypatch, updates):
    monkeypatch.setattr(wide_visits, "MOMENT", 3 * 3000 * 40 * 3)
    plain = {"n_components": 3, "covariance_type": "diag", "tol": 0.0, "max_iter": 12}
    model, by_python = both_ways(groups(3000, 40, "float64"), updates, **plain)
    assert (model.n_iter_, by_python) == (12, 2)  # four passes at a time, the last of them with labels


@pytest.fixture
def looks(monkeypatch):
    """Passes that Python began to tell labels."""
    found = []
    real = mixture.look_at_all

    def look_at_all(*told):
        found.append(told)
        return real(*told)

    monkeypatch.setattr(mixture, "look_at_all", look_at_all)
    return found


@pytest.mark.parametrize(("tol", "max_iter"), [(0.0, 4), (1e-2, 100)])
def test_a_stretch_that_comes_to_its_end_tells_labels_too(tol, max_iter, updates, looks):
    X = groups(3000, 40, "float64")
    plain = {"n_components": 3, "covariance_type": "diag", "tol": tol, "max_iter": max_iter}
    model, by_python = both_ways(X, updates, **plain)
    assert (model.converged_, by_python, len(looks)) == (tol > 0, 0, 1)  # one: of the fit that was watched
    assert np.array_equal(model.labels_, model.predict(X))


def test_labels_of_many_rows_are_told_block_by_block(monkeypatch, updates, looks):
    monkeypatch.setattr(gaussian_passes, "MOST_LOOKED_AT", 2999)
    plain = {"n_components": 3, "covariance_type": "diag", "tol": 0.0, "max_iter": 5}
    _, by_python = both_ways(groups(3000, 40, "float64"), updates, **plain)
    assert (by_python, len(looks)) == (1, 4)


def test_nobody_waits_for_a_block_whose_visit_failed():
    class Failing:
        length = 3
        lines = np.zeros((4, 4))

        def visit(self, task):
            take_turn(task.turns, len(task.sums))
            raise MemoryError

    task = wide_visits.WideBlocks(Failing(), np.zeros((10, 2)), np.ones(5), 0, np.empty(0))
    with pytest.raises(MemoryError):
        task.take()
    assert take_turn(task.turns, 2)[0] == END
    assert not task.done  # or nobody would ask what went wrong
    assert task.came() is None


# --- turns ----------------------------------------------------------------------------------------------------------


def test_turns_are_taken_once_each_and_a_pass_opens_when_it_is_said_so():
    turns = turns_for(2)
    assert [take_turn(turns, 3) for _ in range(4)] == [(0, 0), (1, 0), (2, 0), (WAIT, 0)]
    assert [was_last(turns, 3, 0) for _ in range(3)] == [False, False, True]
    assert (passes_done(turns, 3), all_done(turns)) == (1, False)
    open_pass(turns, 1)
    assert [take_turn(turns, 3) for _ in range(4)] == [(0, 1), (1, 1), (2, 1), (WAIT, 1)]
    assert [was_last(turns, 3, 1) for _ in range(3)] == [False, False, True]
    open_pass(turns, ENDED)
    assert take_turn(turns, 3)[0] == END
    assert (passes_done(turns, 3), all_done(turns)) == (2, True)


def test_a_pass_may_be_another_than_those_before():
    turns = turns_for(5)
    assert not any(is_other(turns, number) for number in range(5))
    open_other(turns, 2)
    assert [is_other(turns, number) for number in range(5)] == [False, False, True, False, False]
    assert take_turn(turns, 1) == (0, 2)


def test_who_waits_for_a_pass_begins_with_the_next_one():
    turns, found = turns_for(2), []
    assert take_turn(turns, 1) == (0, 0)

    def wait():
        take_all(turns, lambda: found.append(take_turn(turns, 1)) or found[-1][0] != WAIT)

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.05)
    open_pass(turns, 1)
    waiting.join(30)
    assert found[-1] == (0, 1)
    assert set(found[:-1]) <= {(WAIT, 0)}


# --- surveys --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [2, 300, 70_001])
def test_a_survey_is_the_same_to_the_bit_block_by_block(n, dtype):
    X = groups(n, 5, dtype)
    X[n // 2, 3] = np.nan
    frame, moments = survey(ArraySource(X, np.ones(n)))
    for n_threads in (1, 2, 5):
        with engine(n_threads=n_threads):
            mine, theirs = survey(ArraySource(X))
        for name in ("weight", "mean", "rest", "scatter", "low", "high", "observed"):
            assert np.array_equal(getattr(moments, name), getattr(theirs, name)), name
        assert (moments.rows, moments.total, frame.scale) == (theirs.rows, theirs.total, mine.scale)
        assert np.array_equal(frame.reference, mine.reference)


def test_a_survey_names_the_first_infinite_cell_of_a_later_block():
    X = groups(90_000, 5, "float64")
    X[80_123, 2] = X[85_000, 0] = -np.inf
    with pytest.raises(AsterismError, match=r"80123|80124"):
        survey(ArraySource(X))
