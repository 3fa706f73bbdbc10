"""Parts of the newer half of mixed tables: their densities against SciPy, sums and integrals, and what is drawn."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import softmax

pytest.importorskip("bench")
from bench import mixed_makers as of
from bench.mixed_makers import whole
from bench.mixed_newer_draft import NewerDraft, count_by, mark_by, number_by, per_unit, size_by, slope
from bench.mixed_newer_parts import Asked, Clock, Cloud, Followed, Heaped, Moved, OneCause, Ranks, Steps
from bench.mixed_parts import Margin
from bench.mixed_tables import recipes

NEWER = {recipe.name: recipe for recipe in recipes() if recipe.half == "newer"}
N = 20_000


def one(part, **cells: float) -> float:
    """The density of one row in the first group."""
    row = {name: np.array([float(value)]) for name, value in cells.items()}
    return float(np.exp(part.log_density(row)[0, 0]))


def drawn(part) -> dict[str, np.ndarray]:
    return part.draw(np.random.default_rng(0), np.zeros(N, np.int64))


# --- parts --------------------------------------------------------------------------------------------------------


def test_an_hour_has_a_density_over_the_day_that_goes_on_after_midnight() -> None:
    part = Clock("h", np.array([23.0]), np.array([2.0]))
    assert integrate.quad(lambda h: one(part, h=h), 0, 24)[0] == pytest.approx(1.0)
    assert one(part, h=22.0) == pytest.approx(one(part, h=0.0))
    assert one(part, h=np.nan) == 1.0
    hours = drawn(part)["h"]
    assert hours.min() >= 0
    assert hours.max() < 24
    late = integrate.quad(lambda h: one(part, h=h), 20, 24)[0]
    assert np.mean(hours >= 20) == pytest.approx(late, abs=0.015)


def test_an_hour_of_no_concentration_is_any_hour() -> None:
    part = Clock("h", np.array([5.0]), np.zeros(1))
    assert [one(part, h=h) for h in (0.0, 5.0, 17.0)] == pytest.approx([1 / 24] * 3)


def test_a_column_asked_of_some_has_cells_only_where_the_answer_was_yes() -> None:
    part = Asked("smokes", np.array([0.3]), Margin("n", [stats.poisson(9)], np.zeros(1), "Poisson"))
    assert one(part, smokes=0, n=np.nan) == pytest.approx(0.7)
    assert one(part, smokes=1, n=7) == pytest.approx(0.3 * stats.poisson(9).pmf(7))
    cells = drawn(part)
    assert np.array_equal(np.isnan(cells["n"]), cells["smokes"] == 0)
    assert cells["smokes"].mean() == pytest.approx(0.3, abs=0.015)


def test_ranks_have_probabilities_that_sum_to_one_and_are_drawn_with_them() -> None:
    part = Ranks(("a", "b", "c"), np.array([[5.0, 3.0, 2.0]]))
    assert one(part, a=2, b=1, c=3) == pytest.approx(0.3 * 5 / 7)
    total = sum(one(part, **dict(zip("abc", ranks, strict=True))) for ranks in permutations((1, 2, 3)))
    assert total == pytest.approx(1.0)
    cells = drawn(part)
    same = (cells["a"] == 2) & (cells["b"] == 1) & (cells["c"] == 3)
    assert same.mean() == pytest.approx(0.3 * 5 / 7, abs=0.015)


def test_steps_multiply_the_probabilities_of_their_moves() -> None:
    part = Steps(("p", "q", "r"), np.array([[0.2, 0.8]]), np.array([[[0.9, 0.1], [0.4, 0.6]]]))
    assert one(part, p=1, q=0, r=0) == pytest.approx(0.8 * 0.4 * 0.9)
    assert sum(one(part, p=p, q=q, r=r) for p, q, r in product((0, 1), repeat=3)) == pytest.approx(1.0)
    cells = drawn(part)
    same = (cells["p"] == 1) & (cells["q"] == 0) & (cells["r"] == 0)
    assert same.mean() == pytest.approx(0.8 * 0.4 * 0.9, abs=0.015)


def test_a_time_that_was_cut_off_tells_that_the_event_came_later() -> None:
    lives = stats.weibull_min(1.5, scale=30)
    part = Followed("t", "died", [lives], stats.uniform(10, 40))
    assert one(part, t=12.0, died=1) == pytest.approx(lives.pdf(12.0))
    assert one(part, t=12.0, died=0) == pytest.approx(lives.sf(12.0))
    cells = drawn(part)
    seen = integrate.quad(lambda t: lives.pdf(t) * stats.uniform(10, 40).sf(t), 0, 50)[0]
    assert cells["died"].mean() == pytest.approx(seen, abs=0.015)


def test_counts_of_one_cause_integrate_over_the_gamma_number_of_the_row() -> None:
    part = OneCause(("a", "b", "c"), np.array([[2.0, 0.7, 4.0]]), np.array([1.8]))
    cause = stats.gamma(1.8, scale=1 / 1.8)

    def density(*counts: tuple[int, float]) -> float:
        def both(w: float) -> float:
            return float(cause.pdf(w) * np.prod([stats.poisson(m * w).pmf(x) for x, m in counts]))

        return integrate.quad(both, 0, 60)[0]

    assert one(part, a=3, b=0, c=5) == pytest.approx(density((3, 2.0), (0, 0.7), (5, 4.0)), rel=1e-6)
    assert one(part, a=np.nan, b=2, c=np.nan) == pytest.approx(density((2, 0.7)), rel=1e-6)
    assert one(part, a=np.nan, b=np.nan, c=np.nan) == pytest.approx(1.0)
    cells = drawn(part)
    assert np.cov(cells["a"], cells["c"])[0, 1] == pytest.approx(2 * 4 / 1.8, rel=0.08)
    assert cells["b"].mean() == pytest.approx(0.7, abs=0.03)


def test_columns_that_a_trait_moves_integrate_over_it() -> None:
    movers = (number_by(60, 8, 0.6)(0.4), count_by(5, 0.4)(-0.3), mark_by(9, 0.6, 0.5)(0.2))
    part = Moved(("x", "n", "r"), [lambda g, t, of=of: of(t) for of in movers], 1)

    def both(t: float) -> float:
        x, n, r = (mover(np.array([t])) for mover in movers)
        return float((x.pdf(71.0) * n.pmf(8) * r.pmf(7))[0] * stats.norm.pdf(t))

    assert one(part, x=71.0, n=8, r=7) == pytest.approx(integrate.quad(both, -9, 9)[0], rel=1e-4)
    assert one(part, x=71.0, n=np.nan, r=np.nan) == pytest.approx(stats.norm(63.2, 8).pdf(71.0), rel=1e-4)
    cells = drawn(part)
    assert cells["x"].std() == pytest.approx(8, rel=0.03)
    assert np.corrcoef(cells["x"], cells["n"])[0, 1] > 0.25


def test_a_trait_leaves_the_spread_of_a_log_normal_number_as_it_is() -> None:
    made = size_by(48, 0.3, -0.5)(0.5)
    part = Moved(("y",), [lambda g, t: made(t)], 1)
    expected = stats.lognorm(0.3, scale=48 * np.exp(0.15))
    assert one(part, y=40.0) == pytest.approx(expected.pdf(40.0), rel=1e-6)


def test_a_heaped_number_has_probabilities_that_sum_to_one_with_more_of_the_round_ones() -> None:
    part = Heaped("age", [stats.norm(41, 6)], np.array([0.4]), 1, 10)
    masses = {x: one(part, age=x) for x in range(0, 90)}
    assert sum(masses.values()) == pytest.approx(1.0)
    of_ten = stats.norm(41, 6).cdf(45) - stats.norm(41, 6).cdf(35)
    of_one = stats.norm(41, 6).cdf(40.5) - stats.norm(41, 6).cdf(39.5)
    assert masses[40] == pytest.approx(0.4 * of_ten + 0.6 * of_one)
    cells = drawn(part)["age"]
    for x in (38, 40, 50):
        assert np.mean(cells == x) == pytest.approx(masses[x], abs=0.015)


def test_a_cloud_leaves_missing_cells_out_and_is_far_in_all_columns_at_once() -> None:
    mean, shape = np.array([[1.0, 2.0, 3.0]]), np.array([[[1.0, 0.5, 0.2], [0.5, 2.0, 0.1], [0.2, 0.1, 1.5]]])
    part = Cloud(("a", "b", "c"), mean, shape, 5.0)
    assert one(part, a=0, b=4, c=2) == pytest.approx(
        stats.multivariate_t(mean[0], shape[0], 5).pdf([0, 4, 2])
    )
    assert one(part, a=np.nan, b=4, c=np.nan) == pytest.approx(stats.t(5, 2, np.sqrt(2)).pdf(4))
    cells = np.column_stack(list(drawn(part).values()))
    assert np.cov(cells.T) == pytest.approx(shape[0] * 5 / 3, rel=0.15, abs=0.06)
    far = np.abs(cells - mean) > 4
    assert far[far[:, 0], 2].mean() > 5 * far[:, 2].mean()


# --- drafts -------------------------------------------------------------------------------------------------------


def full_draft(rng: np.random.Generator, by: float) -> NewerDraft:
    """Every column that a draft adds, groups ``by`` times as far apart as one may wish."""
    t = NewerDraft(rng, (3, 3))
    t.clock("hour", 0.5 * by).heaped("age", of.normal(40, 9), by, 1, 5, 0.3)
    t.heaped("many", of.gamma(12, 3), by, 1, 10, 0.3).only_if("any", 0.4, by)
    t.ranked(["r1", "r2", "r3"], 0.5 * by).steps(["s1", "s2"], ["a", "b", "c"], 0.5 * by)
    t.followed("time", "event", of.weibull(20, 1.4), by, stats.uniform(5, 40), ("lives", "died"))
    t.of_one_cause(["c1", "c2"], 4, by, 2.0).moved({"m1": number_by(5, 2, 0.5), "m2": count_by(6, 0.3)}, by)
    t.cloud({"t1": (0, 1), "t2": (5, 2)}, by, 6).growth(
        ["w0", "w1", "w2"], (0, 1, 2), (5, 1), (2, 0.5), 0.4, by
    )
    t.profile(["p1", "p2", "p3"], 3.0, 0.4, 0.3 * by, 0.5).genes(["g1", "g2"], 0.1 * by)
    children = {"rent": per_unit(9, 0.2, by), "tax": slope(3, 2, 20, by, by=0.1 * by)}
    return t.number("area", of.log_normal(60, 0.3), by, children=children)


def test_probabilities_of_groups_by_all_parts_together_are_frequencies() -> None:
    t = full_draft(np.random.default_rng(5), 0.5)
    groups = t.rng.choice(3, N, p=t.shares)
    evidence = np.log(t.shares) + sum(part.log_density(part.draw(t.rng, groups)) for part in t.parts)
    probability = softmax(evidence, axis=1)
    assert 0.4 < probability.max(axis=1).mean() < 0.99
    for low, high in ((0.02, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 0.98)):
        row, group = np.nonzero((probability > low) & (probability < high))
        stated = probability[row, group]
        error = 4 * np.sqrt(np.sum(stated * (1 - stated))) / len(row)
        assert np.mean(groups[row] == group) == pytest.approx(stated.mean(), abs=error)


def test_a_column_without_a_gap_says_nothing_of_the_group() -> None:
    t = full_draft(np.random.default_rng(0), 0.0)
    unequal_spreads = {"OneCause", "Cloud"}
    for part in t.parts:
        if type(part).__name__ not in unequal_spreads:
            density = part.log_density(part.draw(t.rng, np.zeros(50, np.int64)))
            assert density == pytest.approx(np.tile(density[:, :1], 3)), part.names


def test_graded_groups_stand_in_one_order_or_its_reverse_on_every_column() -> None:
    t = NewerDraft(np.random.default_rng(3), (4, 4), graded=True)
    places = np.array([t.places(3.0) for _ in range(30)])
    signs = [stats.spearmanr(place, t.order).statistic for place in places]
    assert np.abs(signs) == pytest.approx(np.ones(30))
    assert {round(sign) for sign in signs} == {-1, 1}


def test_cells_go_missing_neither_where_they_were_not_asked_for_nor_where_others_need_them() -> None:
    t = full_draft(np.random.default_rng(1), 1.0)
    frame = t.missing(0.2).table().frame
    assert not frame[["any", "r1", "s1", "time", "event", "area"]].isna().any().any()
    assert np.array_equal(frame["many"].isna(), frame["any"] == "no")
    for name in ("hour", "age", "c1", "m1", "t2", "w1", "g1", "rent"):
        assert 0.1 < frame[name].isna().mean() < 0.3


def test_repeated_measurements_differ_between_rows_by_start_and_rate() -> None:
    t = NewerDraft(np.random.default_rng(0), (2, 2)).growth("abc", (0, 1, 2), (5, 1.0), (2, 0.5), 0.4, 0.0)
    cells = np.array(list(drawn(t.parts[0]).values()))
    assert np.cov(cells)[0, 0] == pytest.approx(1.0 + 0.16, rel=0.06)
    assert np.cov(cells)[2, 2] == pytest.approx(1.0 + 4 * 0.25 + 0.16, rel=0.06)
    assert np.cov(cells)[0, 2] == pytest.approx(1.0, rel=0.08)


def test_whole_numbers_stay_floating_where_cells_are_missing() -> None:
    assert whole(np.array([1.0, 2.0])).dtype == np.int64
    assert whole(np.array([1.0, np.nan])).dtype == np.float64


# --- tables -------------------------------------------------------------------------------------------------------


def test_columns_follow_from_others_as_the_tables_that_declare_them_say() -> None:
    homes = NEWER["homes to let"].table(1).frame
    assert homes.groupby("quarter")["bank"].nunique().max() == 1
    asked = NEWER["asked of some"].table(1).frame
    assert np.array_equal(asked["weekly_hours"].isna(), asked["works"] == "no")
    wishes = NEWER["ranked wishes"].table(1).frame
    assert (np.sort(wishes.iloc[:, :6], axis=1) == np.arange(1, 7)).all()
    pricks = NEWER["allergy tests"].table(1).frame
    assert (pricks["positive"] == pricks.loc[:, "birch":"latex"].sum(axis=1)).all()
    bills = NEWER["freelancers"].table(1).frame
    assert (bills["quarter"] - bills[["january", "february", "march"]].sum(axis=1)).abs().max() < 0.01


def test_tables_without_groups_are_one_population_cut_capped_or_computed() -> None:
    fees = NEWER["none: fees and their parts"].table(1).frame
    assert (fees["total"] - fees["net"] - fees["tax"]).abs().max() < 0.011
    visits = NEWER["none: dropouts"].table(1).frame.filter(like="kg_visit").isna().to_numpy()
    assert (np.diff(visits.astype(int), axis=1) >= 0).all()  # who left does not come again
    assert visits[:, -1].any()
    towns = NEWER["none: places in places"].table(1).frame
    assert towns.groupby("town")["county"].nunique().max() == 1
    assert towns.groupby("county")["country"].nunique().max() == 1
    incomes = NEWER["none: capped incomes"].table(1).frame
    assert incomes["income"].max() == 150_000
    admitted = NEWER["none: admitted"].table(1).frame
    assert admitted[["test", "interview", "school"]].sum(axis=1).min() >= 180 + 13 * 1.5 - 1.5
    assert np.corrcoef(admitted["test"], admitted["interview"])[0, 1] < 0.1  # 0.25 among all who applied
    assert NEWER["none: 150 rows, 22 columns"].table(2).frame.shape == (150, 22)
