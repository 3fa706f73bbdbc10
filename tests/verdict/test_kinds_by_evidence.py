"""Which distribution a column has within groups, by evidence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import nbinom, poisson

from asterism.data.columns import Column
from asterism.verdict.kinds import kinds_by_evidence, least_assumed, most_assumed, possible, product_of

N = 600
FIVE = tuple("12345")
COLUMNS = {
    "numeric": Column("kg"),
    "boolean": Column("smokes", "boolean", ("no", "yes")),
    "categorical": Column("town", "categorical", tuple("abcd")),
    "ordinal": Column("answer", "ordinal", FIVE),
    "count": Column("visits", "count"),
}


def chosen(kind, cells, groups=None):
    """The distribution of a column, with rows in known groups."""
    shares = np.ones((len(cells), 1)) if groups is None else np.eye(int(groups.max()) + 1)[groups]
    weights = np.ones(len(cells))
    return kinds_by_evidence([COLUMNS[kind]], np.asarray(cells, float)[:, None], weights, shares)[0]


DRAWN = {
    "normal": ("numeric", lambda rng: rng.normal(3, 2, N)),
    "bernoulli": ("boolean", lambda rng: rng.random(N) < 0.3),
    "categorical": ("categorical", lambda rng: rng.integers(4, size=N)),
    "ordinal": ("ordinal", lambda rng: np.clip(np.rint(rng.normal(2.6, 1.0, N)), 0, 4)),
    "poisson": ("count", lambda rng: rng.poisson(4, N)),
    "negative binomial": ("count", lambda rng: rng.negative_binomial(2, 0.3, N)),
    "hurdle": ("count", lambda rng: np.where(rng.random(N) < 0.4, 0, 1 + rng.poisson(5, N))),
}


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("seed", range(5))
def test_a_column_drawn_from_a_distribution_has_it(name, seed):
    kind, draw = DRAWN[name]
    assert chosen(kind, draw(np.random.default_rng([1, seed]))) == name


@pytest.mark.parametrize("seed", range(5))
def test_answers_loved_or_hated_have_no_order(seed):
    rng = np.random.default_rng([2, seed])
    assert chosen("ordinal", rng.choice(5, N, p=[0.42, 0.1, 0.03, 0.1, 0.35])) == "categorical"


@pytest.mark.parametrize("seed", range(5))
def test_answers_loved_by_one_group_and_hated_by_the_other_have_an_order_within_them(seed):
    rng = np.random.default_rng([3, seed])
    groups = rng.integers(2, size=N)
    answers = np.clip(np.rint(rng.normal(np.where(groups, 3.7, 0.3), 0.8)), 0, 4)
    assert chosen("ordinal", answers) == "categorical"
    assert chosen("ordinal", answers, groups) == "ordinal"


@pytest.mark.parametrize("seed", range(5))
def test_counts_of_two_rates_are_poisson_within_groups(seed):
    rng = np.random.default_rng([4, seed])
    groups = rng.integers(2, size=N)
    visits = rng.poisson(np.where(groups, 12, 2))
    assert chosen("count", visits) == "negative binomial"
    assert chosen("count", visits, groups) == "poisson"


@pytest.mark.parametrize("size", [1.0, 3.0, 8.0, 1000.0])
def test_counts_are_overdispersed_where_bic_says_so(size):
    x = np.random.default_rng(5).negative_binomial(size, size / (size + 4.0), N)
    best = max(nbinom.logpmf(x, s, s / (s + x.mean())).sum() for s in np.geomspace(0.2, 1e4, 400))
    more = -2 * best + 2 * np.log(N) < -2 * poisson.logpmf(x, x.mean()).sum() + np.log(N)
    assert (chosen("count", x) == "negative binomial") == more


def test_weights_count_as_copies():
    rng = np.random.default_rng(6)
    cells = rng.poisson(4, 150).astype(float)[:, None]
    columns = [COLUMNS["count"]]
    times = rng.integers(1, 4, 150)
    weighted = kinds_by_evidence(columns, cells, times.astype(float), np.ones((150, 1)))
    copied = kinds_by_evidence(
        columns, cells.repeat(times, axis=0), np.ones(times.sum()), np.ones((times.sum(), 1))
    )
    assert weighted == copied


def test_rows_without_weight_say_nothing():
    rng = np.random.default_rng(6)
    cells = np.concatenate([rng.poisson(4, 400), rng.choice([0, 30], 200)]).astype(float)[:, None]
    weights = np.repeat([1.0, 0.0], [400, 200])
    assert kinds_by_evidence([COLUMNS["count"]], cells, weights, np.ones((600, 1))) == ("poisson",)


def test_missing_cells_say_nothing():
    rng = np.random.default_rng(7)
    cells = np.clip(np.rint(rng.normal(2.6, 1.0, N)), 0, 4)
    cells[rng.random(N) < 0.4] = np.nan
    assert chosen("ordinal", cells) == "ordinal"
    assert chosen("count", np.where(rng.random(N) < 0.4, np.nan, rng.poisson(3, N))) == "poisson"


def test_columns_are_decided_one_by_one():
    rng = np.random.default_rng(8)
    columns = [COLUMNS[kind] for kind, _ in DRAWN.values()]
    rows = np.column_stack([draw(rng) for _, draw in DRAWN.values()]).astype(float)
    weights, shares = np.ones(N), np.ones((N, 1))
    together = kinds_by_evidence(columns, rows, weights, shares)
    assert together == tuple(DRAWN)
    assert kinds_by_evidence(columns[::-1], rows[:, ::-1], weights, shares) == together[::-1]


def test_three_ordered_levels_have_as_many_free_shares_either_way():
    assert possible(Column("size", "ordinal", tuple("SML"))) == ("categorical",)
    assert possible(Column("size", "ordinal", ("S", "M", "L", "XL"))) == ("categorical", "ordinal")


def test_what_assumes_most_has_the_fewest_parameters():
    columns = list(COLUMNS.values())
    least, most = (product_of(columns, kinds(columns), "VVI") for kinds in (least_assumed, most_assumed))
    assert least.n_parameters(3) > most.n_parameters(3)


def test_a_family_of_all_kinds_covers_every_column_once():
    columns = list(COLUMNS.values())
    family = product_of(columns, least_assumed(columns), "VVI")
    assert sorted(j for _, js in family.parts for j in js) == list(range(len(columns)))
