"""How unusual a row is within its group."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, multivariate_normal

import asterism
from asterism.explain.typicality import KNOTS, TAIL_KNOTS, TAIL_SHARE, typicality_of

NO_CELLS = np.zeros((1, 1))


def blobs(sizes=(60, 40, 30), d=3, gap=8.0):
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(gap * g, 1, (n, d)) for g, n in enumerate(sizes)])


def by_counting(scores, weights, s):
    """The definition, row by row."""
    return (1 + weights[scores <= s].sum()) / (1 + weights.sum())


@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 3)), min_size=1, max_size=60),
    st.integers(0, 10**6),
)
def test_typicality_of_the_rows_themselves_is_the_share_that_scores_no_higher(pairs, seed) -> None:
    scores, weights = (np.array(values, float) for values in zip(*pairs, strict=True))
    order = np.random.default_rng(seed).permutation(len(scores))
    table = typicality_of(np.zeros(len(scores), int), scores[order], weights[order], 1, NO_CELLS)
    found = table.of(np.zeros(len(scores), int), scores)
    np.testing.assert_allclose(found, [by_counting(scores, weights, s) for s in scores], rtol=1e-12)


def test_weight_is_copies_and_weight_zero_is_absent() -> None:
    scores = np.random.default_rng(1).normal(size=30)
    zero = np.zeros(31, int)
    table = typicality_of(zero, np.append(scores, -99.0), np.append(np.full(30, 2.0), 0.0), 1, NO_CELLS)
    copies = typicality_of(np.zeros(60, int), np.repeat(scores, 2), np.ones(60), 1, NO_CELLS)
    np.testing.assert_array_equal(table.of(zero[:30], scores), copies.of(zero[:30], scores))


def test_a_table_of_quantiles_keeps_the_tail_of_many_rows() -> None:
    scores = np.sort(np.random.default_rng(2).normal(size=50_000))
    zero = np.zeros(len(scores), int)
    table = typicality_of(zero, scores, np.ones(len(scores)), 1, NO_CELLS)
    assert table.scores.shape == (1, KNOTS)
    true = (2 + np.arange(len(scores))) / (1 + len(scores))
    step = (TAIL_SHARE / true[0]) ** (1 / (TAIL_KNOTS - 1)) - 1  # from knot to knot
    np.testing.assert_allclose(table.of(zero, scores), true, rtol=step)
    np.testing.assert_allclose(table.of(zero[:1], scores[:1]), true[0], rtol=1e-9)


def test_rows_beyond_all_that_was_seen_are_less_typical_the_farther_and_never_zero() -> None:
    table = typicality_of(np.zeros(9, int), np.arange(9.0), np.ones(9), 1, NO_CELLS)
    found = table.of(np.zeros(4, int), np.array([-0.01, -3.0, -50.0, -np.inf]))
    assert (np.diff(found) < 0).all()
    assert found[0] <= 1 / 10
    assert found[-1] > 0


def test_typicality_of_normal_groups_is_the_tail_of_chi_square() -> None:
    rng = np.random.default_rng(3)
    x = np.vstack([rng.normal(0, 1, (4000, 3)), rng.normal(30, 2, (2000, 3))])
    finding = asterism.find(x, k=2)
    center, spread = np.repeat([0.0, 30.0], [4000, 2000]), np.repeat([1.0, 2.0], [4000, 2000])
    far = (((x - center[:, None]) / spread[:, None]) ** 2).sum(axis=1)
    assert np.abs(finding.typicality - chi2.sf(far, 3)).max() < 0.05
    assert all(0.005 < share < 0.015 for share in finding.unusual_shares)


def test_merged_components_are_scored_by_their_own_density() -> None:
    rng = np.random.default_rng(4)
    rows = np.vstack([rng.normal(0, 1, (80, 2)), rng.normal(4, 1, (80, 2)), rng.normal(20, 1, (40, 2))])
    from asterism.data.block import block_of
    from asterism.groups.judges import MixtureJudge

    m = asterism.GaussianMixture(3, random_state=0).fit(rows)
    at = np.argsort(m.means_[:, 0])
    groups = np.empty(3, int)
    groups[at] = [0, 0, 1]
    labels = np.repeat([0, 1], [160, 40]).astype(np.int32)
    found = MixtureJudge.of(m._mixture, groups).log_density_within(block_of(rows), labels)
    dense = np.array([w * multivariate_normal(a, c).pdf(rows)
                      for w, a, c in zip(m.weights_, m.means_, m.covariances_, strict=True)])  # fmt: skip
    for g in (0, 1):
        own = labels == g
        true = np.log(dense[groups == g].sum(axis=0) / m.weights_[groups == g].sum())
        np.testing.assert_allclose(found[own], true[own], rtol=1e-9)


@pytest.mark.parametrize("method", ["auto", "kmeans", "kmedoids", "mixed"])
def test_every_model_knows_typicality_and_keeps_it_in_its_file(method, tmp_path) -> None:
    table = pd.DataFrame(blobs(), columns=["a", "b", "c"])
    if method == "mixed":
        table["name"] = np.repeat(["p", "q", "r"], (60, 40, 30))
    finding = asterism.find(table, k=3, method="auto" if method == "mixed" else method)
    assert finding.typicality.shape == (130,)
    for g in range(3):
        mine = np.sort(finding.typicality[finding.labels == g])
        assert 0 < mine[0] < 0.1
        assert mine[-1] == 1.0
    finding.save(tmp_path / "m.asterism")
    again = asterism.load(tmp_path / "m.asterism").assign(table)
    np.testing.assert_array_equal(again.typicality, finding.typicality)
    np.testing.assert_array_equal(finding.to_frame()["typicality"].to_numpy(), finding.typicality)
    far = table.iloc[:1].assign(a=1e4)
    assert finding.model.assign(far).typicality[0] < 1 / 60


def test_a_missing_cell_is_as_usual_as_such_cells_are() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(0, 1, (3000, 4)) * [1.0, 1e3, 1e-3, 1.0]
    holes = x.copy()
    holes[rng.random(x.shape) < 0.2] = np.nan
    finding = asterism.find(holes, k=1, outliers="none")
    for lost in range(3):
        mine = finding.typicality[np.isnan(holes).sum(axis=1) == lost]
        # rows of known cells vary less the more are missing, but none of them is usual or unusual on the whole
        assert abs(np.median(mine) - 0.5) < 0.1
    unusual = finding.model.assign([[5.0, np.nan, 0.0, 0.0], [0.0, np.nan, 0.0, 0.0]]).typicality
    assert unusual[0] < 0.01 < 0.5 < unusual[1]


def test_rows_that_were_left_out_have_no_typicality() -> None:
    x = blobs()
    x[3, 1] = np.nan
    finding = asterism.find(x, k=3, missing="drop")
    assert np.isnan(finding.typicality[3])
    assert np.isnan(finding.typicality).sum() == 1
    assert finding.to_frame()["typicality"].to_pylist()[3] is None
    assert finding.n_left_out == 1
    assert not finding.outliers.any()


def test_equal_rows_are_all_typical() -> None:
    finding = asterism.find(np.ones((5, 2)), outliers="none")
    np.testing.assert_array_equal(finding.typicality, 1.0)
