"""Outcomes in groups: SciPy's tests where groups are sure, coverage where they are not, and words."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from asterism.data.columns import Column
from asterism.errors import DataError, ParameterError
from asterism.explain.outcome import METHODS, outcome_of
from asterism.explain.three_step import Membership

NUMBER = Column("spend")
YES = Column("left", "boolean", ("no", "yes"))
COLOUR = Column("colour", "categorical", ("blue", "green", "red"))


def sure(z: np.ndarray) -> Membership:
    return Membership(np.eye(int(z.max()) + 1)[z], np.ones(len(z)))


def unsure(n: int, seed: int, apart: float = 1.8) -> tuple[Membership, np.ndarray, np.random.Generator]:
    """Two normal groups in one column whose probabilities are known."""
    rng = np.random.default_rng(seed)
    z = (rng.random(n) < 0.4).astype(int)
    x = rng.normal(apart * z, 1.0)
    second = 0.4 * stats.norm.pdf(x, apart) / (0.4 * stats.norm.pdf(x, apart) + 0.6 * stats.norm.pdf(x))
    return Membership(np.column_stack([1 - second, second]), np.ones(n)), z, rng


def test_two_sure_groups_get_welchs_t_test() -> None:
    rng = np.random.default_rng(0)
    z = np.repeat([0, 1], [40, 15])
    y = rng.normal(z, 1.0 + z)
    found = outcome_of(sure(z), y, NUMBER)
    peer = stats.ttest_ind(y[z == 0], y[z == 1], equal_var=False)
    assert found.test is not None
    assert found.test.statistic == pytest.approx(peer.statistic**2)
    assert found.test.df_within == pytest.approx(peer.df)
    assert found.test.p == pytest.approx(peer.pvalue)
    for g, group in enumerate(found.groups):
        own = y[z == g]
        low, high = stats.t.interval(0.95, len(own) - 1, own.mean(), stats.sem(own))
        assert (group.corrected.low, group.corrected.high) == pytest.approx((low, high))


def test_several_sure_groups_get_welchs_analysis_of_variance() -> None:
    """The worked formula of Welch (1951)."""
    rng = np.random.default_rng(1)
    z = np.repeat([0, 1, 2], [30, 12, 20])
    y = rng.normal(0.4 * z, 1.0 + z)
    n = np.bincount(z)
    means = np.array([y[z == g].mean() for g in range(3)])
    w = n / np.array([y[z == g].var(ddof=1) for g in range(3)])
    center = w @ means / w.sum()
    tail = ((1 - w / w.sum()) ** 2 / (n - 1)).sum()
    statistic = (w @ (means - center) ** 2 / 2) / (1 + 2 * 1 / 8 * tail)
    found = outcome_of(sure(z), y, NUMBER).test
    assert found is not None
    assert found.statistic == pytest.approx(statistic)
    assert found.df_within == pytest.approx(8 / (3 * tail))


def test_levels_of_sure_groups_are_their_shares() -> None:
    z = np.repeat([0, 1], 30)
    codes = np.r_[np.repeat([0, 1, 2], [15, 10, 5]), np.repeat([0, 1, 2], [3, 7, 20])].astype(float)
    found = outcome_of(sure(z), codes, COLOUR)
    assert found.estimates == pytest.approx(np.array([[15, 10, 5], [3, 7, 20]]) / 30)
    assert [group.level for group in found.groups] == ["blue", "green", "red"] * 2
    assert found.test is not None
    assert found.test.df == 2
    peer = stats.chi2_contingency([[15, 10, 5], [3, 7, 20]])  # another test of the same thing
    assert found.test.statistic == pytest.approx(peer.statistic, rel=0.6)
    assert found.test.p < 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_the_truth_is_held_where_labels_are_wrong(method: str) -> None:
    """Forty tables of known probabilities: the naive intervals miss, the corrected ones do not."""
    held, naive = [], []
    for seed in range(40):
        known, z, rng = unsure(500, seed)
        found = outcome_of(known, rng.normal(2.0 * z, 1.0), NUMBER, method)
        for truth, group in zip((0.0, 2.0), found.groups, strict=True):
            held.append(group.corrected.low <= truth <= group.corrected.high)
            naive.append(group.naive.low <= truth <= group.naive.high)
    assert np.mean(held) > 0.87  # four deviations below 0.95 of 80
    assert np.mean(naive) < 0.3


@pytest.mark.parametrize("method", METHODS)
def test_shares_of_yes_are_corrected_and_stay_shares(method: str) -> None:
    known, z, rng = unsure(2000, 3)
    found = outcome_of(known, (rng.random(2000) < np.where(z, 0.9, 0.1)).astype(float), YES, method)
    assert found.kind == "binary"
    assert found.estimates == pytest.approx([0.1, 0.9], abs=0.05)
    assert abs(found.groups[0].naive.value - 0.1) > 0.05
    all_or_none = outcome_of(known, (z == 1).astype(float), YES, method)
    for group in all_or_none.groups:
        assert 0.0 <= group.corrected.low <= group.corrected.value <= group.corrected.high <= 1.0


def test_noise_is_rarely_said_to_differ() -> None:
    said = []
    for seed in range(60):
        known, _, rng = unsure(300, seed)
        test = outcome_of(known, rng.normal(size=300), NUMBER).test
        assert test is not None
        said.append(test.p < 0.05)
    assert np.mean(said) <= 0.15


def test_rows_without_a_cell_are_left_out_and_counted() -> None:
    known, z, rng = unsure(400, 0)
    y = rng.normal(z, 1.0)
    y[::4] = np.nan
    found = outcome_of(known, y, NUMBER)
    kept = ~np.isnan(y)
    alone = outcome_of(Membership(known.shares[kept], known.weights[kept]), y[kept], NUMBER)
    assert (found.rows, found.left_out) == (300, 100)
    assert found.estimates == pytest.approx(alone.estimates)
    assert "100 more without a cell" in str(found)


def test_a_group_whose_rows_have_no_cell_is_said_to_be_unknown() -> None:
    z = np.repeat([0, 1, 2], 20)
    y = np.random.default_rng(0).normal(z, 1.0)
    y[z == 1] = np.nan
    found = outcome_of(sure(z), y, NUMBER)
    assert math.isnan(found.groups[1].corrected.value)
    assert found.groups[2].corrected.value == pytest.approx(y[z == 2].mean())
    assert "group 1" in " ".join(found.warnings)


def test_groups_that_cannot_be_told_apart_are_named() -> None:
    known, z, rng = unsure(500, 0, apart=0.4)
    found = outcome_of(known, rng.normal(z, 1.0), NUMBER)
    assert any("hardly be told apart" in said for said in found.warnings)
    far, z, rng = unsure(500, 0, apart=5.0)
    assert outcome_of(far, rng.normal(z, 1.0), NUMBER).warnings == ()


def test_one_group_has_a_mean_and_no_test() -> None:
    y = np.arange(10.0)
    found = outcome_of(Membership(np.ones((10, 1)), np.ones(10)), y, NUMBER)
    assert found.test is None
    assert found.groups[0].corrected == found.groups[0].naive
    assert found.groups[0].corrected.value == 4.5


def test_an_outcome_that_does_not_vary_differs_nowhere() -> None:
    known, _, _ = unsure(100, 0)
    for method in METHODS:
        found = outcome_of(known, np.full(100, 3.0), NUMBER, method)
        assert found.test is None
        assert found.estimates == pytest.approx(3.0)


def test_what_cannot_be_used_is_refused() -> None:
    known, _, _ = unsure(50, 0)
    with pytest.raises(ParameterError, match="Methods there are: bch, ml"):
        outcome_of(known, np.zeros(50), NUMBER, "lca")
    with pytest.raises(DataError, match="No row"):
        outcome_of(known, np.full(50, np.nan), NUMBER)
    with pytest.raises(DataError, match="infinite"):
        outcome_of(known, np.r_[np.inf, np.zeros(49)], NUMBER)


def test_it_can_be_written_and_read_by_people_and_programs() -> None:
    known, z, rng = unsure(300, 0)
    found = outcome_of(known, rng.normal(2000.0 + 3.0 * z, 1.0), NUMBER)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["groups"][0]["corrected"]["value"] == found.groups[0].corrected.value
    assert plain["test"]["p"] == found.test.p
    lines = str(found).splitlines()
    assert lines[0].startswith("'spend': means by BCH, 300 rows, entropy 0.")
    assert "1,999.8" in lines[2]  # digits enough for the interval to have a width
    assert lines[-1].startswith("The groups differ: F(1,")
