"""One group of columns of any kind: its margins, its dependence, and tables drawn from it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import multivariate_normal, norm, rankdata

from asterism.data.columns import Column
from asterism.data.margins import Form, Margins
from asterism.verdict.dependence import RIDGE, Margin, OneGroup
from asterism.verdict.null import dip_test

SHARES = {
    "survey": np.array([0.1, 0.2, 0.4, 0.2, 0.1]),
    "skewed": np.array([0.6, 0.25, 0.1, 0.05]),
    "yes or no": np.array([0.3, 0.7]),
    "fine": np.full(40, 1 / 40),
}


def margin_of(shares):
    return Margin.of(np.arange(len(shares), dtype=float), shares)


def ends_of(shares):
    return norm.ppf(np.concatenate([[0.0], np.cumsum(shares)]).clip(0, 1))


def cells_of(a, b, correlation):
    """(levels of a, levels of b) probabilities of two normal variates cut at the shares, by SciPy's distribution."""
    both = multivariate_normal([0, 0], [[1, correlation], [correlation, 1]])
    upto = np.array(
        [[both.cdf([x, y]) for y in np.clip(ends_of(b), -9, 9)] for x in np.clip(ends_of(a), -9, 9)]
    )
    return np.diff(np.diff(upto, axis=0), axis=1)


def ordinal(name, levels):
    return Column(name, "ordinal", tuple(map(str, range(levels))))


def categorical(name, levels):
    return Column(name, "categorical", tuple(map(str, range(levels))))


def one_group(columns, rows, weights=None):
    weights = np.ones(len(rows)) if weights is None else weights
    return OneGroup.of(Margins.plain(tuple(columns)), np.asarray(rows, float), weights)


def correlation_of(group):
    return group.root @ group.root.T


def traited(rng, n, loads):
    """(n, d) normal variates that one trait moves."""
    loads = np.asarray(loads)
    return rng.normal(size=(n, 1)) * loads + rng.normal(size=(n, len(loads))) * np.sqrt(1 - loads**2)


# --- margins ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHARES)
def test_scores_are_means_of_the_normal_variate_within_cells(name):
    shares = SHARES[name]
    wanted = [
        integrate.quad(lambda z: z * norm.pdf(z), low, high)[0] / share
        for (low, high), share in zip(pairwise(ends_of(shares)), shares, strict=True)
    ]
    np.testing.assert_allclose(margin_of(shares).scores, wanted, atol=1e-7)


@pytest.mark.parametrize("correlation", [-0.95, -0.5, 0.0, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("names", [("survey", "skewed"), ("yes or no", "yes or no"), ("survey", "survey")])
def test_the_series_of_coefficients_is_the_covariance_of_scores(names, correlation):
    a, b = (SHARES[name] for name in names)
    one, two = margin_of(a), margin_of(b)
    series = (one.coefficients() * two.coefficients()) @ correlation ** np.arange(1, 17)
    wanted = one.scores @ cells_of(a, b, correlation) @ two.scores
    assert series == pytest.approx(wanted, abs=0.01 if abs(correlation) > 0.9 else 1e-4)


def test_coefficients_add_up_to_most_of_the_spread_of_scores_and_never_to_more():
    for shares in SHARES.values():
        margin = margin_of(shares)
        spread = shares @ margin.scores**2
        assert 0.8 * spread < float((margin.coefficients() ** 2).sum()) <= spread


def test_quantiles_are_the_values_up_to_each_share():
    margin = Margin.of(np.array([3.0, 1.0, 1.0, 7.0]), np.ones(4))
    assert margin.quantiles(np.array([0.0, 0.49, 0.51, 0.74, 0.76, 1.0])).tolist() == [1, 1, 3, 3, 7, 7]


def test_a_missing_cell_has_the_mean_score():
    margin = margin_of(SHARES["survey"])
    scores = margin.scores_of(np.array([4.0, np.nan, 0.0]))
    np.testing.assert_allclose(scores, [margin.scores[4], 0.0, margin.scores[0]])


def test_values_of_rows_that_are_not_in_the_group_are_not_in_its_margin():
    margin = Margin.of(np.array([1.0, 2.0, 9.0]), np.array([1.0, 1.0, 1e-12]))
    assert margin.values.tolist() == [1.0, 2.0]


def two_humps(seed, n=900):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(0, 1, n // 2), rng.normal(7, 1, n - n // 2)])


def has_several_modes(values):
    return dip_test(values, np.ones(len(values)))[0] < 0.05


def drawn_from(margin, n=900):
    return margin.quantiles((np.arange(n) + 0.5) / n)


@pytest.mark.parametrize("seed", range(5))
def test_two_humps_of_a_number_become_one_mode(seed):
    column = two_humps(seed)
    assert has_several_modes(column)
    margin = Margin.of_numbers(column, np.ones(900), Form())
    assert not has_several_modes(drawn_from(margin))
    assert (margin.values.min(), margin.values.max()) == (column.min(), column.max())


@pytest.mark.parametrize("seed", range(5))
def test_the_few_values_between_two_humps_do_not_become_points(seed):
    margin = Margin.of_numbers(two_humps(seed), np.ones(900), Form())
    assert np.diff(margin.upto, prepend=0.0).max() < 5 / 900  # of a bin with 1/24 of the rows, an eighth


def test_the_mode_is_where_the_higher_hump_is():
    rng = np.random.default_rng(5)
    column = np.concatenate([rng.normal(0, 1, 700), rng.normal(7, 1, 200)])
    drawn = drawn_from(Margin.of_numbers(column, np.ones(900), Form()))
    histogram = np.histogram(drawn, np.arange(-3.5, 11))[0]
    assert histogram.argmax() in (2, 3, 4)  # -1.5 to 1.5
    falling = np.diff(histogram[4:])
    assert falling.max() <= 3 * np.sqrt(histogram[8:].max())


def test_two_humps_of_a_logarithm_become_one_mode_of_it():
    margin = Margin.of_numbers(np.exp(two_humps(6)), np.ones(900), Form("log", least=1e-3))
    assert not has_several_modes(np.log(drawn_from(margin)))


def test_two_humps_of_whole_numbers_become_one_mode_of_whole_numbers():
    rng = np.random.default_rng(7)
    column = np.concatenate([rng.poisson(3, 450), rng.poisson(40, 450)]).astype(float)
    drawn = drawn_from(Margin.of_numbers(column, np.ones(900), Form("count")))
    assert (drawn == np.rint(drawn)).all()
    filled = (
        drawn
        + (np.arange(900) - np.searchsorted(drawn, drawn)) / np.bincount(drawn.astype(int))[drawn.astype(int)]
    )
    assert not has_several_modes(filled)


@pytest.mark.parametrize("draw", [np.random.Generator.normal, np.random.Generator.uniform])
def test_one_hump_stays_as_it_is(draw):
    column = draw(np.random.default_rng(3), size=900)
    margin = Margin.of_numbers(column, np.ones(900), Form())
    np.testing.assert_array_equal(margin.values, np.sort(column))
    np.testing.assert_allclose(np.diff(margin.upto), 1 / 900)


def test_what_stands_at_the_point_stays_there():
    column = np.concatenate([np.zeros(100), np.exp(two_humps(8))])
    margin = Margin.of_numbers(column, np.ones(1000), Form("log", least=1e-3, point=0.0, share=0.1))
    drawn = drawn_from(margin, 1000)
    assert abs(np.count_nonzero(drawn == 0) - 100) <= 1
    assert not has_several_modes(np.log(drawn[drawn > 0]))


# --- dependence -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("correlation", [-0.9, -0.4, 0.0, 0.2, 0.6, 0.9])
@pytest.mark.parametrize("names", [("survey", "skewed"), ("yes or no", "survey"), ("skewed", "skewed")])
def test_the_correlation_of_the_variates_is_recovered_from_levels(names, correlation):
    a, b = (SHARES[name] for name in names)
    cells = np.maximum(cells_of(a, b, correlation), 0.0)
    rows = np.indices(cells.shape).reshape(2, -1).T
    group = one_group([ordinal("a", len(a)), ordinal("b", len(b))], rows, 1000 * cells.ravel())
    assert correlation_of(group)[0, 1] == pytest.approx(correlation, abs=0.01)


def test_holes_leave_the_correlation_about_as_it_is():
    rng = np.random.default_rng(5)
    rows = traited(rng, 20_000, [0.8, 0.8])
    rows[rng.random(rows.shape) < 0.3] = np.nan
    group = one_group([Column("a"), Column("b")], rows)
    assert correlation_of(group)[0, 1] == pytest.approx(0.64, abs=0.03)


def test_drawn_tables_have_the_margins_of_the_rows():
    rng = np.random.default_rng(6)
    z = traited(rng, 1000, [0.7, 0.7, 0.7])
    rows = np.column_stack([z[:, 0], np.digitize(z[:, 1], [-1, 0, 0.3]), z[:, 2] > 0.5])
    columns = [Column("kg"), ordinal("answer", 4), Column("smokes", "boolean", ("no", "yes"))]
    drawn = one_group(columns, rows).draw(1000, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(drawn, axis=0), np.sort(rows, axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_drawn_tables_have_the_correlations_of_the_rows(seed):
    rng = np.random.default_rng([7, seed])
    rows = np.digitize(traited(rng, 3000, [0.9, 0.7, 0.5, -0.8]), [-1.2, -0.2, 0.4, 1.3]).astype(float)
    drawn = one_group([ordinal(name, 5) for name in "abcd"], rows).draw(3000, rng)
    np.testing.assert_allclose(np.corrcoef(drawn.T), np.corrcoef(rows.T), atol=0.06)


def test_columns_that_cannot_be_correlated_so_get_correlations_that_can():
    # Pairs of rows that are never known together: their correlations need not fit each other.
    x = np.linspace(-1, 1, 60)
    hole = np.full(60, np.nan)
    rows = np.concatenate([np.column_stack(part) for part in [(x, x, hole), (hole, x, x), (x, hole, -x)]])
    group = one_group([Column(name) for name in "abc"], rows)
    correlation = correlation_of(group)
    np.testing.assert_allclose(np.diagonal(correlation), 1.0)
    assert np.linalg.eigvalsh(correlation).min() > 0


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_dependence_is_that_of_normal_scores(correlation):
    rng = np.random.default_rng(8)
    rows = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], 2000)
    scores = norm.ppf((rankdata(rows, axis=0) - 0.5) / 2000)
    covariance = np.cov(scores.T, bias=True) + RIDGE * np.eye(2)
    r = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    found = one_group([Column("a"), Column("b")], rows).dependence(rows, np.ones(2000))
    assert found == pytest.approx(-1000 * np.log(1 - r**2), rel=0.01, abs=0.1)


def mixed_rows(seed=9, n=1500):
    rng = np.random.default_rng(seed)
    z = traited(rng, n, [0.8, 0.7, 0.8, 0.6])
    town = np.digitize(z[:, 2], [-0.8, 0.0, 0.7])
    columns = [Column("kg"), ordinal("answer", 4), categorical("town", 4), Column("cm")]
    return columns, np.column_stack([z[:, 0], np.digitize(z[:, 1], [-1, 0, 1]), town, z[:, 3]])


def test_names_take_the_order_in_which_they_follow_the_other_columns():
    columns, rows = mixed_rows()
    shuffled = np.array([2, 0, 3, 1])  # code of each town
    rows[:, 2] = shuffled[rows[:, 2].astype(int)]
    order = one_group(columns, rows).margins[2].values.astype(int).tolist()
    assert order in ([2, 0, 3, 1], [1, 3, 0, 2])


def test_codes_of_names_do_not_matter():
    columns, rows = mixed_rows()
    again = rows.copy()
    shuffled = np.array([2, 0, 3, 1])
    again[:, 2] = shuffled[rows[:, 2].astype(int)]
    one, other = one_group(columns, rows), one_group(columns, again)
    np.testing.assert_allclose(np.abs(correlation_of(one)), np.abs(correlation_of(other)), atol=1e-9)
    w = np.ones(len(rows))
    assert one.dependence(rows, w) == pytest.approx(other.dependence(again, w))


def test_the_order_of_columns_and_rows_does_not_matter():
    columns, rows = mixed_rows()
    order = [2, 3, 0, 1]
    one = one_group(columns, rows)
    other = one_group([columns[j] for j in order], rows[::-1, order])
    signs = np.sign(correlation_of(one)[order, 2]) * np.sign(correlation_of(other)[:, 0])
    np.testing.assert_allclose(
        correlation_of(one)[np.ix_(order, order)] * np.outer(signs, signs), correlation_of(other), atol=1e-9
    )
    w = np.ones(len(rows))
    assert one.dependence(rows, w) == pytest.approx(other.dependence(rows[::-1, order], w))


def test_the_same_seed_draws_the_same_table():
    columns, rows = mixed_rows()
    one, other = (one_group(columns, rows).draw(200, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one, other)


# --- names that depend on names ---------------------------------------------------------------------------------


def shops(n=3000, seed=10):
    """Each town has shops of its own, in no order; colours have nothing to do with either."""
    rng = np.random.default_rng(seed)
    town = rng.integers(4, size=n)
    shop = np.array([[3, 7], [0, 5], [6, 2], [1, 4]])[town, rng.integers(2, size=n)]
    columns = [categorical("shop", 8), categorical("town", 4), categorical("colour", 3)]
    return columns, np.column_stack([shop, town, rng.integers(3, size=n)]).astype(float)


def test_names_that_depend_on_names_are_drawn_with_them():
    columns, rows = shops()
    drawn = one_group(columns, rows).draw(3000, np.random.default_rng(0), related=True)
    seen = np.zeros((8, 4))
    np.add.at(seen, tuple(rows[:, :2].astype(int).T), 1)
    again = np.zeros((8, 4))
    np.add.at(again, tuple(drawn[:, :2].astype(int).T), 1)
    assert (again[seen == 0] == 0).all()
    np.testing.assert_allclose(again, seen, atol=5 * np.sqrt(seen.max()))


def test_independent_names_have_no_relatives():
    columns, rows = shops()
    pairs = {frozenset((j, parent)) for j, parent, _ in one_group(columns, rows).relatives}
    assert pairs == {frozenset((0, 1))}
    rng = np.random.default_rng(11)
    free = rng.integers(4, size=(2000, 5)).astype(float)
    assert one_group([categorical(name, 4) for name in "abcde"], free).relatives == ()


def test_a_chain_of_names_is_a_tree_without_a_short_cut():
    rng = np.random.default_rng(12)
    country = rng.integers(3, size=4000)
    town = np.where(
        rng.random(4000) < 0.9, 2 * country + rng.integers(2, size=4000), rng.integers(6, size=4000)
    )
    shop = np.where(
        rng.random(4000) < 0.9, 2 * town + rng.integers(2, size=4000), rng.integers(12, size=4000)
    )
    columns = [categorical("country", 3), categorical("shop", 12), categorical("town", 6)]
    group = one_group(columns, np.column_stack([country, shop, town]))
    assert {frozenset((j, parent)) for j, parent, _ in group.relatives} == {
        frozenset((0, 2)),
        frozenset((1, 2)),
    }
