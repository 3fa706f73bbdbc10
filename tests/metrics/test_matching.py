"""Clusters matched to classes: the worked table, brute force over permutations, laws."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism import metrics
from asterism.errors import DataError, ParameterError

few = settings(max_examples=80, deadline=None)
small = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=25)

# Clusters C1 .. C4 down, classes R2, R1, R3 across: the overlap table of the worked example.
OVERLAP = np.array([[3, 1, 2], [0, 0, 1], [7, 1, 8], [2, 0, 1]])
CLASSES = np.array(["R2", "R1", "R3"])


def rows_of(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    clusters, classes = np.indices(table.shape).reshape(2, -1)
    return np.repeat(CLASSES[classes], table.ravel()), np.repeat(clusters + 1, table.ravel())


def test_greedy_matching_of_the_worked_table() -> None:
    matching = metrics.match_clusters(*rows_of(OVERLAP))
    assert matching.pairs == {1: "R2", 2: "R1", 3: "R3", 4: None}
    assert matching.overlap.tolist() == [3, 0, 8, 0]
    assert matching.accuracy == (3 + 0 + 8) / 26
    assert matching.unmatched_clusters == [4]
    assert matching.unmatched_classes == []


def test_weights_of_cells_give_the_same_matching_as_rows() -> None:
    clusters, classes = np.indices(OVERLAP.shape).reshape(2, -1)
    matching = metrics.match_clusters(CLASSES[classes], clusters + 1, sample_weight=OVERLAP.ravel())
    assert matching.accuracy == 11 / 26
    assert metrics.matched_accuracy(*rows_of(OVERLAP), "optimal") == best_by_enumeration()


def best_by_enumeration() -> float:
    """The best three clusters for the three classes of the worked table."""
    return max(OVERLAP[list(p), range(3)].sum() for p in permutations(range(4), 3)) / 26


def best_by_force(a: np.ndarray, b: np.ndarray) -> float:
    """Every way to name the clusters of b with labels, more of them than needed."""
    names = range(max(a.max(), b.max()) + 1)
    return max(float(np.mean(np.array(p)[b] == a)) for p in permutations(names))


@few
@given(rows=small)
def test_optimal_matching_is_the_best_of_all_permutations(rows) -> None:
    a, b = np.array(rows).T
    best = best_by_force(a, b)
    assert metrics.matched_accuracy(a, b, "optimal") == pytest.approx(best)
    assert metrics.clustering_distance(a, b) == pytest.approx(1 - best)
    greedy = metrics.matched_accuracy(a, b, "greedy")
    assert best / 2 - 1e-12 <= greedy <= best + 1e-12


@few
@given(rows=small)
def test_matching_is_one_to_one_and_leaves_over_only_what_is_too_many(rows) -> None:
    a, b = np.array(rows).T
    for how in ("greedy", "optimal"):
        matching = metrics.match_clusters(a, b, how)
        used = [name for name in matching.pairs.values() if name is not None]
        assert len(set(used)) == len(used) == min(len(set(a)), len(set(b)))
        own = [matching.pairs[cluster] for cluster in b.tolist()]
        assert matching.accuracy == pytest.approx(
            np.mean([x == y for x, y in zip(own, a.tolist(), strict=True)])
        )


@few
@given(rows=st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=25))
def test_clustering_distance_is_a_metric(rows) -> None:
    a, b, c = np.array(rows).T
    d = metrics.clustering_distance
    assert d(a, a) == 0.0
    assert d(a, b) == pytest.approx(d(b, a))
    assert d(a, c) <= d(a, b) + d(b, c) + 1e-12


def test_one_row_a_cluster_is_not_rewarded() -> None:
    assert metrics.matched_accuracy([0] * 5 + [1] * 5, np.arange(10)) == 0.2


def test_stability_of_equal_and_of_random_labelings() -> None:
    rng = np.random.default_rng(0)
    base = np.repeat([0, 1, 2], 1000)
    same = metrics.stability_score([base, (base + 1) % 3, (base + 2) % 3])
    assert (same.r, same.r_rand, same.score) == (0.0, 2 / 3, 1.0)
    chance = metrics.stability_score([rng.permutation(base) for _ in range(4)])
    assert len(chance.distances) == 6
    assert 0 <= chance.score < 0.1
    assert metrics.stability_score([[0] * 5, [3] * 5]).score == 1.0


def test_stability_compares_the_rows_both_know() -> None:
    a, b = np.array([0, 0, 1, 1, -1]), np.array([-1, 5, 6, 6, 6])
    found = metrics.stability_score([a, b])
    assert (found.r, found.k) == (0.0, 2)
    with pytest.raises(DataError, match="no row in common"):
        metrics.stability_score([[0, -1], [-1, 0]])
    with pytest.raises(DataError, match="fewer than two"):
        metrics.stability_score([[0, 1]])


def test_unknown_way_of_matching_is_refused() -> None:
    with pytest.raises(ParameterError, match="greedy"):
        metrics.match_clusters([0], [0], "best")


def test_no_rows() -> None:
    assert metrics.matched_accuracy([], []) == 1.0
    assert metrics.clustering_distance([], []) == 0.0
