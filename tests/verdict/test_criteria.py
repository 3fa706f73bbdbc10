"""Single criteria against brute force, NumPy, scikit-learn and hand-made numbers."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from zoo import THREE

from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.families.gaussian import GaussianFamily
from asterism.methods.path import fit_path
from asterism.verdict.criteria import aic, bic, code_length, icl
from asterism.verdict.crossval import cross_validated
from asterism.verdict.elbow import knee, second_differences
from asterism.verdict.gap import gap_statistic
from asterism.verdict.merge import merged_by_entropy
from asterism.verdict.null import Steps, dip_chance, dip_test
from asterism.verdict.rows import Rows
from asterism.verdict.stability import by_kmeans, stability
from asterism.verdict.valley import groups_by_valleys, valley_between


def rows(x):
    return Rows(np.ascontiguousarray(x, float), np.ones(len(x)))


# --- likelihoods and codes --------------------------------------------------------------------------------------


def test_aic_bic_icl_by_hand():
    assert aic(-100.0, 5) == 210.0
    assert bic(-100.0, 5, 50.0) == pytest.approx(200.0 + 5 * math.log(50.0))
    assert icl(-100.0, 5, 50.0, 3.0) == pytest.approx(206.0 + 5 * math.log(50.0))


def test_the_code_of_assignments_is_their_entropy():
    code = code_length(np.array([10.0, 20.0, 30.0]), np.array([5.0]), np.array([1.0]))
    shares = np.array([1, 2, 3]) / 6
    assert code.assignments == pytest.approx(60 * -(shares * np.log2(shares)).sum())


def test_a_tenfold_precision_costs_log2_of_ten_bits_a_cell():
    mass, within, spread = np.array([40.0, 60.0]), np.array([3.0, 8.0]), np.array([1.0, 2.0])
    coarse, fine = code_length(mass, within, spread, 0.01), code_length(mass, within, spread, 0.001)
    assert fine.residuals - coarse.residuals == pytest.approx(100 * 2 * math.log2(10))


def test_the_shortest_code_takes_the_true_number():
    lengths = {}
    for k in (1, 2, 3, 4):
        from sklearn.cluster import KMeans

        labels = KMeans(k, n_init=5, random_state=0).fit_predict(THREE)
        within = sum(((THREE[labels == g] - THREE[labels == g].mean(0)) ** 2).sum(0) for g in range(k))
        lengths[k] = code_length(np.bincount(labels).astype(float), within, THREE.std(0)).total
    assert min(lengths, key=lengths.get) == 3


# --- elbow and gap ----------------------------------------------------------------------------------------------


def test_the_knee_is_the_largest_second_difference():
    curve = dict(enumerate([100.0, 95.0, 40.0, 35.0, 33.0], start=1))
    assert second_differences(curve) == {2: -50.0, 3: 50.0, 4: 3.0}
    assert knee(curve) == 3
    assert knee({1: 5.0, 2: 3.0}) is None


def test_the_gap_takes_three_for_three_groups_and_one_for_even_rows():
    assert gap_statistic(rows(THREE), range(1, 6)).k == 3
    even = np.random.default_rng(0).uniform(size=(200, 2))
    assert gap_statistic(rows(even), range(1, 6)).k == 1


# --- the dip ----------------------------------------------------------------------------------------------------


def brute_dip(values):
    """The nearest distribution with one hump, by a linear program for every place of the hump."""
    x = np.sort(values)
    return min(distance_with_hump_at(x, m) for m in range(len(x)))


def distance_with_hump_at(x, m):
    """Least t with a G, convex before x_m and concave after it, that is within t of F on both sides of every step.

    Unknown are G just before (0 .. n-1) and at (n .. 2n-1) every value, and t. G leaps nowhere but at x_m.
    """
    n = len(x)
    size, upper, limits = 2 * n + 1, [], []

    def at_most(terms, limit):
        row = np.zeros(size)
        for place, factor in terms:
            row[place] += factor
        upper.append(row)
        limits.append(limit)

    for i in range(n):
        for place, f in ((i, i / n), (n + i, (i + 1) / n)):
            at_most([(place, 1), (2 * n, -1)], f)
            at_most([(place, -1), (2 * n, -1)], -f)
        at_most([(i, 1), (n + i, -1)], 0)
        if i != m:
            at_most([(n + i, 1), (i, -1)], 0)
        if i + 1 < n:
            at_most([(n + i, 1), (i + 1, -1)], 0)
    for i in range(n - 2):
        left, right = 1 / (x[i + 1] - x[i]), 1 / (x[i + 2] - x[i + 1])
        # slopes of two neighbouring pieces: from just after a value to just before the next
        first, last = [(i + 1, left), (n + i, -left)], [(i + 2, right), (n + i + 1, -right)]
        if i + 2 <= m:
            at_most([*first, *((p, -f) for p, f in last)], 0)
        if i >= m:
            at_most([*last, *((p, -f) for p, f in first)], 0)
    cost = np.r_[np.zeros(2 * n), 1.0]
    found = linprog(cost, A_ub=np.array(upper), b_ub=limits, bounds=[(None, None)] * (2 * n) + [(0, None)])
    return found.fun if found.success else 1.0


@pytest.mark.parametrize("seed", range(6))
def test_the_dip_is_the_distance_to_the_nearest_single_hump(seed):
    rng = np.random.default_rng(seed)
    values = np.r_[rng.normal(0, 1, 5), rng.normal(4, 1, 4)] if seed % 2 else rng.uniform(size=8)
    _, dip = dip_test(values, np.ones(len(values)))
    assert dip == pytest.approx(brute_dip(values), abs=1e-7)


def test_the_dip_of_even_steps_is_the_least_there_is():
    assert dip_test(np.arange(20.0), np.ones(20))[1] == pytest.approx(1 / 40)


def test_the_dip_of_two_far_heaps_is_a_quarter():
    assert dip_test(np.r_[np.zeros(5), np.full(5, 9.0)], np.ones(10))[1] == pytest.approx(0.25)


@given(st.lists(st.integers(0, 12), min_size=3, max_size=25), st.integers(1, 3))
def test_weights_are_copies_to_the_dip(values, copies):
    x = np.array(values, float)
    once = dip_test(x, np.full(len(x), float(copies)))
    again = dip_test(np.repeat(x, copies), np.ones(copies * len(x)))
    assert once == pytest.approx(again, abs=1e-12)


def test_even_rows_are_called_two_humps_as_seldom_as_stated():
    rng = np.random.default_rng(0)
    chances = np.array([dip_test(rng.uniform(size=150), np.ones(150))[0] for _ in range(800)])
    assert 0.02 < (chances <= 0.05).mean() < 0.08
    assert dip_chance(0.2, 1000) < 1e-6


# --- nothing at all ---------------------------------------------------------------------------------------------


def test_a_walk_is_told_from_sorted_groups_and_from_rows_in_no_order():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.standard_normal((400, 2)), axis=0)
    for table, wanders in (
        (walk, True),
        (rng.permutation(walk), False),
        (THREE, False),
        (np.sort(walk, axis=0), False),
    ):
        steps = Steps.of(block_of(table))
        assert steps.walks(table.var(axis=0)) is wanders


def test_steps_of_blocks_merge():
    walk = np.cumsum(np.random.default_rng(0).standard_normal((100, 2)), axis=0)
    parts = Steps.of(block_of(walk[:60])).merge(Steps.of(block_of(walk[60:])))
    assert parts.count.tolist() == [98.0, 98.0]  # the step across the border is left out
    np.testing.assert_allclose(
        parts.squares, (np.diff(walk[:60], axis=0) ** 2).sum(0) + (np.diff(walk[60:], axis=0) ** 2).sum(0)
    )


# --- valleys and merging ----------------------------------------------------------------------------------------


def test_halves_of_one_group_have_no_valley_and_two_groups_have():
    x = np.random.default_rng(0).uniform(size=(400, 2))
    assert valley_between(rows(x[x[:, 0] < 0.5]), rows(x[x[:, 0] >= 0.5])).p > 0.05
    assert valley_between(rows(THREE[:80]), rows(THREE[80:160])).p < 1e-6


def test_in_many_columns_a_cut_is_not_taken_for_a_valley():
    x = np.random.default_rng(0).standard_normal((100, 60))
    side = x[:, :5].sum(axis=1) > 0
    assert valley_between(rows(x[side]), rows(x[~side])).p > 0.05


def test_components_of_one_box_become_one_group():
    rng = np.random.default_rng(0)
    x = np.vstack([rng.uniform(size=(300, 2)), rng.uniform([3, 0], [4, 1], (300, 2))])
    quarter = (x[:, 0] > 0.5).astype(int) + (x[:, 0] > 3) + (x[:, 0] > 3.5)
    groups = groups_by_valleys(rows(x), np.eye(4)[quarter])
    assert groups.k == 2
    assert groups.group_of[0] == groups.group_of[1] != groups.group_of[2] == groups.group_of[3]


def test_merging_by_entropy_finds_the_pair_that_lowers_it_most():
    rng = np.random.default_rng(0)
    r = rng.dirichlet(np.full(4, 0.3), 50)

    def entropy(shares):
        return -np.sum(shares[shares > 0] * np.log(shares[shares > 0]))

    def merged(a, b):
        return entropy(np.c_[np.delete(r, [a, b], axis=1), r[:, a] + r[:, b]])

    best = min(merged(a, b) for a, b in permutations(range(4), 2))
    found = merged_by_entropy(r, np.ones(50))
    assert found.entropy[4] == pytest.approx(entropy(r))
    assert found.entropy[3] == pytest.approx(best)
    assert found.entropy[1] == pytest.approx(0.0, abs=1e-12)


# --- stability, cross-validation, the sweep ---------------------------------------------------------------------


@pytest.mark.parametrize("how", ["subsample", "noise"])
def test_three_groups_come_back_and_five_do_not(how):
    found = stability(rows(THREE), [3, 5], by_kmeans, how=how)
    assert found[3].score > 0.97
    assert found[3].r_rand == pytest.approx(2 / 3)
    assert found[3].score == pytest.approx(1 - found[3].r / found[3].r_rand)
    assert found[5].score < found[3].score - 0.1


def test_held_out_likelihood_is_that_of_rows_left_out():
    found = cross_validated(rows(THREE), GaussianFamily("VVV"), [1, 3, 8])
    assert found.k_within_error == 3
    from sklearn.mixture import GaussianMixture
    from sklearn.model_selection import cross_val_score

    theirs = cross_val_score(
        GaussianMixture(1, reg_covar=0), np.random.default_rng(0).permutation(THREE), cv=5
    ).mean()
    assert found.mean[1] == pytest.approx(theirs, abs=0.02)


def test_the_sweep_is_at_least_as_good_as_scikit_learn_in_every_cell():
    from sklearn.mixture import GaussianMixture

    names = {"full": "VVV", "tied": "EEE", "diag": "VVI", "spherical": "VII"}
    cells = fit_path(ArraySource(THREE), {name: GaussianFamily(name) for name in names}, range(1, 6))
    for (name, k), cell in cells.items():
        theirs = GaussianMixture(k, covariance_type=name, random_state=0).fit(THREE).bic(THREE)
        assert cell.bic <= theirs + 0.5
