"""The null of mixed tables: whether rows win more by several components than one group just as dependent does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest, norm

from asterism.data.columns import Column
from asterism.data.margins import Form, Margins
from asterism.methods.path import fit_path
from asterism.verdict.dependence_null import ASKED, LEAST_SPREAD, MixedRows, _evidence, null_of
from asterism.verdict.kinds import product_of
from asterism.verdict.mixed import decide_mixed


def rows_of(columns, cells, forms=None):
    forms = tuple(forms or (Form(),) * len(columns))
    return MixedRows(Margins(tuple(columns), forms), np.ascontiguousarray(cells, float), np.ones(len(cells)))


def questions(d):
    return [Column(f"q{j}", "ordinal", tuple("12345")) for j in range(d)]


def traited(rng, n, loads):
    loads = np.asarray(loads)
    return rng.normal(size=(n, 1)) * loads + rng.normal(size=(n, len(loads))) * np.sqrt(1 - loads**2)


def survey_of_one_trait(seed, n=200):
    z = traited(np.random.default_rng([1, seed]), n, np.full(8, 0.7))
    return rows_of(questions(8), np.digitize(z, [-1.2, -0.4, 0.4, 1.2]))


def survey_of_two_classes(seed, n=200):
    """Half of the answers of each class are high, and inside a class none has to do with another."""
    rng = np.random.default_rng([2, seed])
    high = rng.integers(2, size=(n, 1)) ^ (np.arange(8) % 2)
    upto = np.array([[0.5, 0.8, 0.9, 0.95], [0.05, 0.1, 0.2, 0.5]])
    return rows_of(questions(8), (rng.random((n, 8, 1)) > upto[high]).sum(axis=2))


def one_group(seed, n=100):
    """A number, answers, a town and a yes or no that one trait moves."""
    z = traited(np.random.default_rng([3, seed]), n, [0.7, 0.7, 0.6, 0.6])
    columns = [
        Column("kg"),
        Column("answer", "ordinal", tuple("1234")),
        Column("town", "categorical", tuple("abc")),
        Column("smokes", "boolean", ("no", "yes")),
    ]
    town = np.array([2, 0, 1])[np.digitize(z[:, 2], [-0.5, 0.5])]
    return rows_of(columns, np.column_stack([z[:, 0], np.digitize(z[:, 1], [-1, 0, 1]), town, z[:, 3] > 0]))


ONE_GROUP = ("normal", "ordinal", "categorical", "bernoulli")


def evidence_for_two(rows, kinds):
    """For two groups instead of one, whatever BIC says of them."""
    family = product_of(rows.columns, kinds, "VVI")
    cells = fit_path(rows.source, {"VVI": family}, [1, 2], patience=None, passes=0)
    return null_of(rows, cells["VVI", 1], cells["VVI", 2])


# --- the deviate ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0.0, 5.0])
def test_evidence_of_one_table_among_its_like_is_a_normal_deviate(place):
    rng = np.random.default_rng(4)
    about = np.linspace(-5, 5, 12)
    found = np.empty(4000)
    for i in range(4000):
        gain = 40 + 3 * place + rng.normal(0, 4)
        found[i] = _evidence(gain, place, 40 + 3 * about + rng.normal(0, 4, 12), about)[0]
    assert kstest(found, norm.cdf).pvalue > 0.001
    assert np.mean(np.abs(found) > 2) == pytest.approx(2 * norm.sf(2), abs=0.01)


def test_what_dependence_explains_is_no_evidence():
    about = np.linspace(0, 10, 12)
    gains = 5 + 2 * about + np.tile([0.5, -0.5], 6)
    high, expected = _evidence(25.0, 10.0, gains, about)
    assert expected == pytest.approx(25.0, abs=0.5)
    assert abs(high) < 0.5
    assert _evidence(25.0, 0.0, gains, about)[0] > 4


def test_beyond_the_drawn_tables_the_line_is_not_followed():
    about = np.linspace(0, 10, 12)
    gains = 5 + 2 * about + np.tile([0.5, -0.5], 6)
    assert _evidence(30.0, 1000.0, gains, about) == _evidence(30.0, 10.0, gains, about)


def test_gains_that_hardly_differ_leave_the_chance_of_a_likelihood():
    found = _evidence(LEAST_SPREAD, 0.0, np.zeros(12), np.zeros(12))[0]
    assert 0 < found < 1


# --- tables -----------------------------------------------------------------------------------------------------


def test_evidence_is_about_normal_where_there_is_one_group():
    found = np.array([evidence_for_two(one_group(seed), ONE_GROUP).evidence for seed in range(30)])
    assert abs(found.mean()) < 0.6
    assert 0.5 < found.std() < 1.6
    assert found.max() < 4
    assert np.count_nonzero(found > ASKED) <= 2


def test_one_trait_behind_eight_answers_is_one_group():
    found = [decide_mixed(survey_of_one_trait(seed)) for seed in range(10)]
    assert sum(decision.found == 1 for decision in found) >= 9
    assert sum(decision.top > 1 for decision in found) >= 5  # BIC takes the trait for groups


@pytest.mark.parametrize("seed", range(3))
def test_two_clear_classes_are_two_groups(seed):
    decision = decide_mixed(survey_of_two_classes(seed))
    assert decision.found == 2
    assert decision.null.evidence > ASKED


def test_holes_of_a_table_are_holes_of_the_drawn_ones():
    rows = one_group(0)
    rng = np.random.default_rng(5)
    holes = rng.random(rows.cells.shape) < 0.2
    seen = rows_of(rows.columns, np.where(holes, np.nan, rows.cells))
    assert evidence_for_two(seen, ONE_GROUP).evidence < 4


def test_the_same_rows_have_the_same_evidence_again():
    one, other = (evidence_for_two(one_group(1), ONE_GROUP) for _ in range(2))
    assert one == other


def test_some_rows_are_spread_over_the_table():
    rows = one_group(0)
    some = rows.some(40)
    np.testing.assert_array_equal(some.cells, rows.cells[::3])
    assert rows.some(500).cells.shape == rows.cells.shape
