"""choose_k: the verdict on tables whose number of groups is known, and what it promises its users."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from zoo import THREE, boxes, without_groups

import asterism
from asterism.data.source import ArraySource
from asterism.engines.context import engine
from asterism.errors import ParameterError, TooFewRowsError
from asterism.verdict.choose import choose_k

ROOT = Path(__file__).resolve().parents[2]
QUICK = ["silhouette"]
NULLS = without_groups()


@pytest.fixture(scope="module")
def three():
    return choose_k(THREE, k=range(1, 6), random_state=0)


def test_three_clear_groups_are_found_and_labelled(three):
    assert three.k == 3
    assert three.confidence >= 0.9
    truth = np.repeat(np.arange(3), 80)
    assert asterism.metrics.adjusted_rand_score(truth, three.labels) > 0.98
    assert three.verdict.startswith("3 groups")


def test_every_criterion_is_in_the_table_with_its_choice(three):
    frame = three.table.to_frame()
    assert frame.num_rows == 5
    likelihoods = {"aic", "bic", "icl", "cross_validation", "cross_validation_error", "structure"}
    distances = {
        "within",
        "elbow",
        "gap",
        "gap_error",
        "silhouette",
        "calinski_harabasz",
        "scatter_ratio",
        "mdl",
    }
    perturbed = {"stability", "r", "noise_stability", "noise_r", "r_rand"}
    assert likelihoods | distances | perturbed <= set(frame.column_names)
    for name in ("bic", "icl", "gap", "silhouette", "stability"):
        assert three.picks[name] == 3


def test_stability_is_told_with_what_chance_would_give(three):
    for row in three.table:
        if row["k"] == 1:
            assert row["r_rand"] is None  # one group always agrees with itself
            continue
        assert row["r_rand"] == pytest.approx((row["k"] - 1) / row["k"])
        for name, r in (("stability", "r"), ("noise_stability", "noise_r")):
            assert 0 <= row[r] <= 1
            assert row[name] == pytest.approx(1 - row[r] / row["r_rand"])
    assert three.table.column("noise_r")[3] == 0  # far groups: noise moves no row to another
    assert three.picks["noise_stability"] == 3


def test_the_figure_shows_every_criterion_and_the_verdict(three):
    figure = three.plot()
    names = {trace.name for trace in figure.data}
    assert {"bic", "icl", "gap", "stability", "noise_stability", "silhouette"} <= names
    assert "3 groups" in figure.layout.title.text


def test_silhouettes_in_the_table_are_those_of_scikit_learn(three):
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    scaled = (THREE - THREE.mean(axis=0)) / THREE.std(axis=0)  # as the verdict sees numbers
    labels = KMeans(3, n_init=5, random_state=0).fit_predict(scaled)
    assert three.table.column("silhouette")[3] == pytest.approx(silhouette_score(scaled, labels), abs=1e-9)


@pytest.mark.parametrize("name", NULLS)
def test_a_table_without_groups_gets_the_verdict_one(name):
    choice = choose_k(NULLS[name], k=range(1, 7), criteria=QUICK, random_state=0)
    assert choice.k == 1
    assert choice.verdict.startswith("There are no groups")
    assert set(choice.labels) == {0}


def test_three_species_are_found_by_four_measurements():
    rows = list(csv.DictReader((ROOT / "examples" / "penguins.csv").open()))
    names = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    rows = [row for row in rows if all(row[name] not in ("", "NA") for name in names)]
    x = np.array([[float(row[name]) for name in names] for row in rows])
    species = [row["species"] for row in rows]
    choice = choose_k((x - x.mean(axis=0)) / x.std(axis=0), k=range(1, 7), criteria=QUICK, random_state=0)
    assert choice.k == 3
    assert asterism.metrics.adjusted_rand_score(species, choice.labels) > 0.9


def test_even_boxes_are_groups_though_bic_splits_them():
    choice = choose_k(boxes(), k=range(1, 7), criteria=QUICK, random_state=0)
    assert choice.k == 3
    assert sorted(np.bincount(choice.labels)) == [150, 150, 150]


def test_marks_of_a_ruler_are_no_groups():
    rng = np.random.default_rng(3)
    table = np.c_[rng.standard_normal((300, 2)), rng.integers(0, 3, 300)]
    assert choose_k(table, k=range(1, 6), criteria=QUICK, random_state=0).k == 1


def test_rows_sorted_by_group_are_no_walk():
    sorted_by_group = choose_k(THREE, k=range(1, 5), criteria=QUICK, random_state=0)
    shuffled = choose_k(
        np.random.default_rng(0).permutation(THREE), k=range(1, 5), criteria=QUICK, random_state=0
    )
    assert sorted_by_group.k == shuffled.k == 3


def test_same_seed_same_answer_on_any_number_of_threads():
    def run(threads):
        with engine(n_threads=threads):
            return choose_k(THREE, k=range(1, 5), criteria=["stability"], random_state=7)

    one, two = run(1), run(2)
    assert one.table == two.table
    assert one.verdict == two.verdict
    np.testing.assert_array_equal(one.labels, two.labels)


def test_rows_of_weight_zero_are_absent():
    far = np.vstack([THREE, np.full((40, 2), 30.0) + np.random.default_rng(0).normal(size=(40, 2))])
    weights = np.r_[np.ones(len(THREE)), np.zeros(40)]
    choice = choose_k(far, k=range(1, 6), criteria=QUICK, sample_weight=weights, random_state=0)
    assert choice.k == 3
    assert (choice.labels[-40:] == -1).all()
    assert choose_k(far, k=range(1, 6), criteria=QUICK, random_state=0).k == 4


def test_the_likelihood_criteria_take_weights_as_copies():
    weights = np.where(np.arange(len(THREE)) % 2 == 0, 2.0, 1.0)
    weighted = choose_k(THREE, k=[1, 2, 3], criteria=["bic"], sample_weight=weights, random_state=0)
    copied = choose_k(np.repeat(THREE, weights.astype(int), axis=0), k=[1], criteria=["bic"], random_state=0)
    assert weighted.k == 3
    # One normal component has its optimum in closed form: the same for copies and weights, but for the rounding
    # that repeated values are taken for.
    assert weighted.table[0]["bic"] == pytest.approx(copied.table[0]["bic"], rel=0.02)


@pytest.mark.parametrize("table", ["groups", "none"])
def test_a_verdict_on_weighted_rows_is_that_on_repeated_rows(table):
    rng = np.random.default_rng(4)
    x = np.vstack([THREE[::2], THREE[1::8]]) if table == "groups" else rng.standard_normal((140, 2))
    weights = rng.integers(1, 4, len(x))
    weighted = choose_k(x, k=range(1, 6), criteria=QUICK, sample_weight=weights, random_state=0)
    repeated = choose_k(np.repeat(x, weights, axis=0), k=range(1, 6), criteria=QUICK, random_state=0)
    assert weighted.k == repeated.k == (3 if table == "groups" else 1)
    np.testing.assert_array_equal(np.repeat(weighted.labels, weights), repeated.labels)


def test_k_means_and_poisson_can_be_asked_too():
    means = choose_k(THREE, "kmeans", range(1, 6), QUICK, random_state=0)
    assert (means.k, means.structure) == (3, None)
    rng = np.random.default_rng(0)
    counts = np.vstack([rng.poisson(3, (80, 2)), rng.poisson(40, (80, 2))]).astype(float)
    assert choose_k(counts, "poisson", range(1, 5), ["bic"], random_state=0).k == 2


def test_a_penalty_of_ones_own_is_a_column_and_chooses():
    heavy = choose_k(THREE, k=range(1, 5), criteria=["bic"], penalty=lambda k: 1e6 * k, random_state=0)
    column, bic = heavy.table.column("penalty"), heavy.table
    assert heavy.picks["penalty"] == 1
    assert column[2] == pytest.approx(-2 * bic[1]["log_likelihood"] + 2e6)


def test_where_one_is_not_allowed_the_verdict_still_says_it():
    choice = choose_k(NULLS["normal"], k=range(2, 5), criteria=QUICK, random_state=0)
    assert choice.k == 2
    assert choice.verdict.startswith("There are no groups, but of the numbers allowed 2")
    assert choice.confidence <= 0.5


def test_missing_cells_are_welcome():
    holes = THREE.copy()
    holes[np.random.default_rng(0).uniform(size=holes.shape) < 0.05] = np.nan
    assert choose_k(holes, k=range(1, 5), criteria=QUICK, random_state=0).k == 3


def test_find_and_choose_k_give_the_same_groups():
    for x in (THREE, boxes(), NULLS["normal"]):
        choice, finding = choose_k(ArraySource(x), criteria=QUICK), asterism.find(x, outliers="none")
        assert choice.k == finding.k
        np.testing.assert_array_equal(choice.labels, finding.labels)


def test_without_a_range_there_is_no_cut_at_ten():
    rng = np.random.default_rng(1)
    x = np.vstack(
        [rng.normal(c, 1.0, (60, 2)) for c in 12.0 * np.array([(i, j) for i in range(4) for j in range(3)])]
    )
    assert choose_k(x, criteria=QUICK).k == asterism.find(x).k == 12


def test_two_answers_that_are_nearly_as_good_are_both_told():
    rng = np.random.default_rng(0)
    told = [
        choose_k(np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(gap, 1, (60, 2))]), criteria=QUICK)
        for gap in np.linspace(1.0, 4.0, 13)
    ]
    undecided = [choice for choice in told if choice.alternative is not None]
    assert undecided, "between one cloud and two groups lies a table that does not decide"
    for choice in undecided:
        assert choice.alternative != choice.k
        assert " or " in choice.verdict.split("(")[0]


def test_bad_wishes_name_the_remedy():
    with pytest.raises(ParameterError, match="criterion 'nonsense'"):
        choose_k(THREE, criteria=["nonsense"])
    with pytest.raises(ParameterError, match="k is"):
        choose_k(THREE, k=[0, 1])
    with pytest.raises(ParameterError, match="model is 'nonsense'"):
        choose_k(THREE, "nonsense")
    with pytest.raises(TooFewRowsError):
        choose_k(THREE[:3], k=[9])
