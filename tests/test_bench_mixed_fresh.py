"""Parts of the fresh half of mixed tables: their densities against SciPy and sums, and what is drawn against them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import softmax

pytest.importorskip("bench")
from bench import mixed_makers as of
from bench.mixed_fresh_draft import FreshDraft
from bench.mixed_fresh_parts import Copula, Given, Pair, Recorded, SharedTotal, Shares
from bench.mixed_parts import Margin
from bench.mixed_tables import recipes

FRESH = {recipe.name: recipe for recipe in recipes() if recipe.half == "fresh"}


def one(part, **cells: float) -> float:
    """The density of one row in the first group."""
    row = {name: np.array([value]) for name, value in cells.items()}
    return float(np.exp(part.log_density(row)[0, 0]))


def test_a_recorded_number_has_the_mass_of_what_is_rounded_to_it_and_of_all_beyond_the_limits() -> None:
    part = Recorded("x", [stats.norm(7, 2)], 0.5, 4.0, 8.0)
    assert one(part, x=8.0) == pytest.approx(stats.norm(7, 2).sf(7.75))
    assert one(part, x=4.0) == pytest.approx(stats.norm(7, 2).cdf(4.25))
    assert one(part, x=np.nan) == 1.0
    assert sum(one(part, x=x) for x in np.arange(4.0, 8.1, 0.5)) == pytest.approx(1.0)
    drawn = part.draw(np.random.default_rng(0), np.zeros(20_000, np.int64))["x"]
    for x in (4.0, 6.5, 8.0):
        assert np.mean(drawn == x) == pytest.approx(one(part, x=x), abs=0.012)


def test_a_column_given_another_multiplies_the_densities_of_both() -> None:
    first = Margin("x", [stats.gamma(3, scale=2)], np.zeros(1), "gamma")
    part = Given(first, "x", "n", lambda g, x: stats.poisson(0.5 * x + g))
    expected = stats.gamma(3, scale=2).pdf(4.4) * stats.poisson(2.2).pmf(3)
    assert one(part, x=4.4, n=3) == pytest.approx(expected)
    assert one(part, x=4.4, n=np.nan) == pytest.approx(stats.gamma(3, scale=2).pdf(4.4))
    with pytest.raises(ValueError, match="must have all its cells"):
        one(part, x=np.nan, n=3)
    drawn = part.draw(np.random.default_rng(0), np.zeros(20_000, np.int64))
    assert np.polyfit(drawn["x"], drawn["n"], 1) == pytest.approx([0.5, 0.0], abs=0.06)


def test_a_copula_of_log_normal_margins_is_the_multivariate_log_normal() -> None:
    correlation = np.array([[1.0, 0.6, 0.2], [0.6, 1.0, 0.4], [0.2, 0.4, 1.0]])
    sd = np.array([0.5, 0.8, 1.1])
    part = Copula(("a", "b", "c"), [[stats.lognorm(s) for s in sd]], correlation[None])
    logs = stats.multivariate_normal(np.zeros(3), correlation * np.outer(sd, sd))
    x = np.array([0.7, 1.9, 0.4])
    assert one(part, a=x[0], b=x[1], c=x[2]) == pytest.approx(logs.pdf(np.log(x)) / x.prod())
    two = stats.multivariate_normal(np.zeros(2), logs.cov[np.ix_([0, 2], [0, 2])])
    expected = two.pdf(np.log(x[[0, 2]])) / x[[0, 2]].prod()
    assert one(part, a=x[0], b=np.nan, c=x[2]) == pytest.approx(expected)
    drawn = part.draw(np.random.default_rng(0), np.zeros(20_000, np.int64))
    assert np.cov(np.log([drawn[name] for name in "abc"])) == pytest.approx(logs.cov, abs=0.04)


def test_a_pair_sums_over_a_missing_cell_and_is_drawn_with_its_probabilities() -> None:
    p = np.array([[[0.1, 0.2, 0.05], [0.3, 0.05, 0.3]]])
    part = Pair("a", "b", p)
    assert one(part, a=1.0, b=2.0) == pytest.approx(0.3)
    assert one(part, a=1.0, b=np.nan) == pytest.approx(0.65)
    assert one(part, a=np.nan, b=0.0) == pytest.approx(0.4)
    assert one(part, a=np.nan, b=np.nan) == pytest.approx(1.0)
    drawn = part.draw(np.random.default_rng(0), np.zeros(20_000, np.int64))
    assert pd.crosstab(drawn["a"], drawn["b"]).to_numpy() / 20_000 == pytest.approx(p[0], abs=0.015)


def test_counts_of_one_total_have_a_density_that_sums_to_one_and_the_means_that_are_drawn() -> None:
    part = SharedTotal(("a", "b", "c"), [stats.binom(6, 0.7)], np.array([[2.0, 1.0, 0.5]]))
    rows = np.array([x for x in product(range(7), repeat=3) if sum(x) <= 6], float)
    density = np.exp(part.log_density(dict(zip("abc", rows.T, strict=True)))[:, 0])
    assert density.sum() == pytest.approx(1.0)
    drawn = part.draw(np.random.default_rng(0), np.zeros(20_000, np.int64))
    assert [drawn[name].mean() for name in "abc"] == pytest.approx(density @ rows, abs=0.05)


def test_percentages_of_a_whole_are_dirichlet() -> None:
    part = Shares(("a", "b", "c"), np.array([[3.0, 2.0, 4.0]]))
    expected = stats.dirichlet([3.0, 2.0, 4.0]).pdf([0.5, 0.2, 0.3])
    assert one(part, a=50.0, b=20.0, c=30.0) == pytest.approx(expected)
    drawn = part.draw(np.random.default_rng(0), np.zeros(5000, np.int64))
    assert drawn["a"] + drawn["b"] + drawn["c"] == pytest.approx(np.full(5000, 100.0))
    assert drawn["c"].mean() == pytest.approx(400 / 9, abs=1.0)


@pytest.mark.parametrize(
    "maker",
    [
        of.normal(5, 2),
        of.log_normal(5, 0.3),
        of.weibull(5, 2),
        of.gamma(5, 4),
        of.tails(5, 2, 4),
        of.skewed(5, 2),
        of.peaked(5, 2),
        of.bounded(0.6, 8),
    ],
)
def test_a_maker_moves_its_distribution_by_about_standard_deviations(maker) -> None:
    base, moved = maker(0.0, 1.0), maker(1.0, 1.0)
    assert 0.5 <= (moved.median() - base.median()) / base.std() <= 1.7
    assert maker(0.0, 1.3).std() > base.std()


def test_a_column_without_a_gap_says_nothing_of_the_group() -> None:
    t = FreshDraft(np.random.default_rng(0), (3, 3))
    children = {"n": of.counts_over(0.1, 0.0), "c": of.chance(0, 0.1, 10, 0.0), "y": of.line(1, 2, 1, 0.0)}
    t.number("x", of.gamma(10, 2), 0.0, children=children).number(
        "z", of.normal(5, 2), 0.0, step=1, limits=(0, 9)
    )
    t.binomial(["of_9"], 9, 0.4, 0.0).months("month", 0.0).related(
        {"u": of.normal(0, 1), "v": of.gamma(2, 2)}, 0.0, (0.3, 0.3)
    )
    t.pair(("p", ["no", "yes"]), ("q", ["a", "b", "c"]), 0.0, 1.0)
    for part in t.parts:
        density = part.log_density(part.draw(t.rng, np.zeros(50, np.int64)))
        assert density == pytest.approx(np.tile(density[:, :1], 3))


def test_columns_that_others_depend_on_are_never_missing() -> None:
    t = FreshDraft(np.random.default_rng(0), (2, 2), (500, 500))
    t.number("x", of.gamma(10, 2), 3.0, children={"n": of.counts_over(0.1, 2.0)}).shared(["a", "b"], 9, 1.0)
    frame = t.yes_no(["c"], 1.0).missing(0.2).table().frame
    assert not frame[["x", "a", "b"]].isna().any().any()
    assert 0.1 < frame["n"].isna().mean() < 0.3
    assert frame["c"].isna().any()


def test_probabilities_of_groups_by_all_parts_together_are_frequencies() -> None:
    t = FreshDraft(np.random.default_rng(5), (3, 3))
    children = {"n": of.counts_over(0.1, 1.0), "c": of.chance(0, 0.1, 10, 1.0), "y": of.line(1, 2, 1, 1.0)}
    t.number("x", of.gamma(10, 2), 0.8, children=children).number("z", of.normal(5, 2), 0.8, 1, (0, 9))
    t.related({"u": of.skewed(0, 1), "v": of.bounded(0.4, 6)}, 0.8, (0.2, 0.7)).months("month", 0.5)
    t.pair(("p", ["no", "yes"]), ("q", ["a", "b", "c"]), 0.5, 1.0).shared(["d", "e", "f"], 8, 0.5)
    t.percentages(["g", "h", "i"], 0.5).binomial(["of_9"], 9, 0.4, 0.8)
    groups = t.rng.choice(3, 20_000, p=t.shares)
    evidence = np.log(t.shares) + sum(part.log_density(part.draw(t.rng, groups)) for part in t.parts)
    probability = softmax(evidence, axis=1)
    assert 0.4 < probability.max(axis=1).mean() < 0.99
    for low, high in ((0.02, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 0.98)):
        row, group = np.nonzero((probability > low) & (probability < high))
        stated = probability[row, group]
        error = 4 * np.sqrt(np.sum(stated * (1 - stated))) / len(row)
        assert np.mean(groups[row] == group) == pytest.approx(stated.mean(), abs=error)


def test_limits_hold_and_derived_columns_follow_the_tables_that_declare_them() -> None:
    wine = FRESH["wine notes"].table(1).frame
    assert wine["score"].between(80, 100).all()
    taxes = FRESH["tax returns and brackets"].table(1).frame
    highest = taxes["bracket"].map({"0%": 12_000, "15%": 30_000, "28%": 60_000, "42%": np.inf})
    assert (taxes["income"] <= highest).all()
    soil = FRESH["soil samples"].table(1).frame
    assert soil["cadmium"].min() >= 0.2
    assert soil[["sand", "silt", "clay"]].sum(axis=1).to_numpy() == pytest.approx(100.0, abs=0.2)


def test_costs_and_marks_of_tables_without_groups_follow_from_their_causes() -> None:
    claims = FRESH["none: claims and costs"].table(1).frame
    assert ((claims["cost"] > 0) == (claims["claims"] > 0)).all()
    exam = FRESH["none: exam with a pass mark"].table(1).frame
    assert ((exam["passed"] == "yes") == (exam["total"] > 31)).all()
    funnel = FRESH["none: funnel"].table(1).frame
    assert (funnel[["sent", "opened", "clicked", "bought"]].diff(axis=1).iloc[:, 1:] <= 0).all().all()
    assert len(FRESH["none: 40 rows"].table(1).frame) == 40
