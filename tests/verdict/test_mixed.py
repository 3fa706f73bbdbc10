"""Tables with columns of several kinds: none where there are none, and the groups where there are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import asterism
from asterism.metrics import adjusted_rand_score
from asterism.verdict.choose import choose_k

PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"

# --- no groups --------------------------------------------------------------------------------------------------


def incomes(rng, n):
    """One log-normal, one normal column, one category."""
    colour = rng.choice(["red", "green", "blue"], n, p=[0.5, 0.3, 0.2])
    return {"income": rng.lognormal(8, 0.8, n), "cm": rng.normal(170, 9, n), "colour": colour}


def visits(rng, n):
    return {"visits": rng.poisson(3, n), "calls": rng.poisson(5, n), "member": rng.choice(["yes", "no"], n)}


def towns(rng, n):
    """A city has one region."""
    city = rng.integers(9, size=n)
    region = np.array(["north", "south", "west"])[city // 3]
    return {"city": np.array(list("abcdefghi"))[city], "region": region, "age": rng.normal(40, 10, n)}


def survey(rng, n):
    """One trait behind eight answers."""
    answers = 1 + np.digitize(
        0.7 * rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, 8)), [-1.2, -0.4, 0.4, 1.2]
    )
    return {f"q{j}": column for j, column in enumerate(answers.T)}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("table", "n"), [(incomes, 200), (visits, 200), (towns, 200), (survey, 300)])
def test_tables_without_groups_have_none(table, n, seed):
    finding = asterism.find(pd.DataFrame(table(np.random.default_rng([1, seed]), n)))
    assert finding.k == 1, finding.verdict


# --- groups -----------------------------------------------------------------------------------------------------


def two_kinds(seed, n=200):
    rng = np.random.default_rng([2, seed])
    of = rng.integers(2, size=n)
    drink = np.where(rng.random(n) < 0.85, np.where(of, "tea", "coffee"), rng.choice(["milk", "water"], n))
    answer = np.clip(np.rint(rng.normal(np.where(of, 4.2, 2.0), 0.8)), 1, 5).astype(int)
    return pd.DataFrame(
        {
            "kg": rng.normal(60 + 12 * of, 5),
            "visits": rng.poisson(np.where(of, 9, 3)),
            "drink": drink,
            "answer": answer,
        }
    ), of


def profiles(seed, n=300):
    """Three groups in eight answers, each with a distribution of its own that may have several modes."""
    rng = np.random.default_rng([3, seed])
    of = rng.integers(3, size=n)
    upto = rng.dirichlet(np.full(5, 0.5), (3, 8)).cumsum(axis=-1)[..., :4]
    answers = 1 + (rng.random((n, 8, 1)) > upto[of]).sum(axis=2)
    return pd.DataFrame(answers, columns=[f"q{j}" for j in range(8)]), of


def rings(seed, n=200):
    rng = np.random.default_rng([4, seed])
    of = rng.integers(2, size=n)
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.where(of, 4, 1) + rng.normal(0, 0.15, n)
    idle = rng.choice(["p", "q", "r"], n)
    return pd.DataFrame({"x": radius * np.cos(angle), "y": radius * np.sin(angle), "idle": idle}), of


@pytest.mark.parametrize("seed", range(2))
def test_groups_in_columns_of_every_kind_are_found(seed):
    table, truth = two_kinds(seed)
    finding = asterism.find(table)
    assert finding.k == 2
    assert adjusted_rand_score(truth, finding.labels) > 0.9


@pytest.mark.parametrize("seed", range(2))
def test_groups_whose_answers_have_several_modes_are_found(seed):
    table, truth = profiles(seed)
    assert adjusted_rand_score(truth, asterism.find(table).labels) >= 0.6


def test_rings_beside_an_idle_category_are_found_by_the_numbers():
    table, truth = rings(0)
    finding = asterism.find(table)
    assert finding.k == 2
    assert adjusted_rand_score(truth, finding.labels) > 0.95
    assert "numbers alone" in finding.verdict


def test_groups_far_apart_in_two_numbers_are_found_beside_even_dates_and_an_idle_name():
    rng = np.random.default_rng(6)
    of = np.arange(300) % 2
    table = pd.DataFrame(
        {
            "kg": rng.normal(5 + 7 * of, 1),
            "price": rng.normal(900 + 1600 * of, 200),
            "day": rng.uniform(0, 365, 300),
        }
    ).assign(colour=rng.choice(["red", "blue"], 300))
    finding = asterism.find(table)
    assert finding.k == 2
    assert adjusted_rand_score(of, finding.labels) > 0.99


def test_penguins_are_six_groups_by_species_and_sex():
    table = pd.read_csv(PENGUINS)
    known = table.sex.notna()
    finding = asterism.find(table)
    assert finding.k == 6
    assert adjusted_rand_score((table.species + table.sex)[known].to_numpy(), finding.labels[known]) > 0.9


# --- what cannot matter -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    table, _ = two_kinds(1)
    return table, asterism.find(table)


DRINKS = {"tea": "z", "coffee": "m", "milk": "a", "water": "k"}
AGAIN = {
    "levels by other names": lambda table: table.assign(drink=table.drink.map(DRINKS)),
    "columns in another order": lambda table: table[["answer", "drink", "kg", "visits"]],
    "other units": lambda table: table.assign(kg=2.20462 * table.kg),
    "a category written twice": lambda table: table.assign(getraenk=table.drink.map(DRINKS)),
}


@pytest.mark.parametrize("name", AGAIN)
def test_it_does_not_matter_how_a_table_is_written(found, name):
    table, one = found
    other = asterism.find(AGAIN[name](table))
    assert other.k == one.k == 2
    np.testing.assert_array_equal(other.labels, one.labels)


def test_the_order_of_rows_does_not_matter(found):
    table, one = found
    order = np.random.default_rng(0).permutation(len(table))
    other = asterism.find(table.iloc[order])
    assert other.k == one.k
    np.testing.assert_array_equal(other.labels, one.labels[order])


def test_the_seed_does_not_matter(found):
    table, one = found
    np.testing.assert_array_equal(asterism.find(table, seed=7).labels, one.labels)


# --- what is asked for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3])
def test_a_given_number_is_kept(k):
    table, _ = two_kinds(0)
    finding = asterism.find(table, k=k)
    assert finding.k == k
    assert np.unique(finding.labels).tolist() == list(range(k))


def test_the_answer_is_one_of_the_numbers_allowed():
    table, _ = two_kinds(0)
    assert asterism.find(table, k=range(3, 5)).k == 3


def test_choose_k_and_find_agree_on_a_table_with_counts():
    rng = np.random.default_rng(5)
    of = rng.integers(3, size=300)
    rates = np.array([[1, 4, 2], [4, 1, 0.5], [2, 6, 5]])
    rows = np.column_stack([rng.poisson(rates[of]), rng.normal(3.0 * of, 1.0)])
    finding = asterism.find(rows)
    assert any(column.kind == "count" for column in finding.model.view.modelled(finding.columns))
    choice = choose_k(rows, criteria=["bic", "icl"])
    assert choice.k == finding.k == 3
    np.testing.assert_array_equal(choice.labels, finding.labels)
    assert adjusted_rand_score(of, finding.labels) > 0.8
