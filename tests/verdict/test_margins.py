"""The form of each column by evidence: which columns keep theirs, which get another, and what comes of it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nbinom, norm, poisson

import asterism
from asterism.data.margins import Form
from asterism.data.source import ArraySource
from asterism.finding import finding_again
from asterism.metrics import adjusted_rand_score
from asterism.verdict.choose import choose_k
from asterism.verdict.margin_counts import SIZES, count_cost, normal_cost, pointed_cost
from asterism.verdict.margin_fit import Line, NormalMixture, bin_edges, fit_lines
from asterism.verdict.margins import margins_of

# --- what is compared: against brute force ----------------------------------------------------------------------


def density(mixture: NormalMixture, x):
    return norm.pdf(x[:, None], mixture.means, mixture.deviations) @ mixture.weights


@pytest.mark.parametrize("n", [120, 3000])
@pytest.mark.parametrize("unit", [1.0, 1e-4, 1e6])
def test_the_log_likelihood_is_that_of_the_mixture(unit, n):
    rng = np.random.default_rng(0)
    x = np.sort(unit * (5.0 + rng.normal(0, 1, n) + 6 * (rng.random(n) < 0.4)))
    w = rng.uniform(0.5, 1.5, n)
    for mixture in fit_lines([Line.of(x, w, bin_edges(n))])[0]:
        assert mixture.log_likelihood == pytest.approx(w @ np.log(density(mixture, x)), rel=1e-9)


def test_one_component_of_many_values_is_the_normal_distribution():
    x = np.sort(np.random.default_rng(1).standard_t(3, 4000))
    one = fit_lines([Line.of(x, np.ones(4000), bin_edges(4000))])[0][0]
    assert (one.means[0], one.deviations[0]) == pytest.approx((x.mean(), x.std()))
    assert one.log_likelihood == pytest.approx(norm.logpdf(x, x.mean(), x.std()).sum(), rel=1e-9)


def test_bins_lead_to_the_components_of_the_values():
    rng = np.random.default_rng(2)
    x = np.sort(np.r_[rng.normal(0, 1, 2000), rng.normal(6, 0.3, 1500), rng.normal(9, 3, 500)])
    three = fit_lines([Line.of(x, np.ones(4000), bin_edges(4000))])[0][2]
    order = np.argsort(three.means)
    np.testing.assert_allclose(three.means[order], [0, 6, 9], atol=0.4)
    np.testing.assert_allclose(three.deviations[order], [1, 0.3, 3], rtol=0.1)


def test_mixtures_on_a_line_are_as_good_as_scikit_learns():
    from sklearn.mixture import GaussianMixture

    rng = np.random.default_rng(3)
    x = np.sort(np.r_[rng.normal(0, 1, 300), rng.normal(7, 2, 200), rng.normal(20, 1, 100)])
    ours = fit_lines([Line.of(x, np.ones(600), bin_edges(600))])[0][2]
    theirs = GaussianMixture(3, n_init=5, random_state=0, tol=1e-6).fit(x[:, None]).score(x[:, None]) * 600
    assert ours.log_likelihood > theirs - 2.0


def test_lines_are_fitted_as_if_alone():
    rng = np.random.default_rng(4)
    columns = [np.sort(rng.normal(size=n) + 5 * (rng.random(n) < 0.5)) for n in (60, 700, 3000)]
    lines = [Line.of(x, np.ones(len(x)), bin_edges(len(x))) for x in columns]
    for line, together in zip(lines, fit_lines(lines), strict=True):
        alone = fit_lines([line])[0]
        for a, b in zip(alone, together, strict=True):
            assert a.log_likelihood == pytest.approx(b.log_likelihood, abs=0.5)


def test_counts_of_one_rate_cost_what_a_poisson_distribution_does():
    x = np.random.default_rng(5).poisson(4.0, 3000)
    cost = -2 * poisson.logpmf(x, x.mean()).sum() + np.log(3000)
    assert count_cost(np.bincount(x).astype(float)) == pytest.approx(cost, rel=1e-9)


def test_overdispersed_counts_cost_no_more_than_a_negative_binomial():
    x = np.random.default_rng(6).negative_binomial(2, 0.3, 3000)
    size = SIZES[4]
    cost = -2 * nbinom.logpmf(x, size, size / (size + x.mean())).sum() + 2 * np.log(3000)
    assert count_cost(np.bincount(x).astype(float)) <= cost + 1e-6


def test_a_point_at_zero_costs_its_share_and_the_counts_beside_it():
    rng = np.random.default_rng(7)
    x = np.where(rng.random(2000) < 0.4, 0, 1 + rng.poisson(3.0, 2000))
    zeros, more = np.count_nonzero(x == 0), x[x > 0] - 1
    point = zeros * np.log(zeros / 2000) + len(more) * np.log(len(more) / 2000)
    cost = -2 * (point + poisson.logpmf(more, more.mean()).sum()) + 2 * np.log(2000)
    assert pointed_cost(np.bincount(x).astype(float)) == pytest.approx(cost, rel=1e-9)


@pytest.mark.parametrize("form", [Form(), Form("root"), Form("log", least=0.25)])
def test_cells_of_normal_mixtures_have_the_probability_between_their_ends(form):
    mixture = NormalMixture(np.array([0.3, 0.7]), np.array([1.0, 2.0]), np.array([0.5, 0.8]), 0.0, 5)
    histogram = np.array([3.0, 10.0, 20.0, 9.0, 2.0])
    ends = form.of(np.arange(6) - 0.5)
    ends[0] = -np.inf
    cells = np.diff(norm.cdf(ends[:, None], mixture.means, mixture.deviations) @ mixture.weights)
    cost = -2 * histogram @ np.log(cells) + 6 * np.log(histogram.sum())
    assert normal_cost(histogram, form, [mixture], 1) == pytest.approx(cost)


# --- what is decided --------------------------------------------------------------------------------------------


def kinds(draw, n, times=40, **options):
    """How often each form is chosen for columns drawn anew; columns do not touch each other."""
    forms = []
    for first in range(0, times, 20):  # a wide table has neither counts nor points
        seeds = range(first, min(first + 20, times))
        columns = np.column_stack([draw(np.random.default_rng([n, seed]), n) for seed in seeds])
        forms += margins_of(ArraySource(columns), **options).forms
    return Counter(("point " if form.point is not None else "") + form.kind for form in forms)


def normals(rng, n, off=0.0):
    k = rng.integers(2, 5)
    z = rng.choice(k, n, p=rng.dirichlet(np.full(k, 3.0)))
    return off + rng.uniform(-6, 6, k)[z] + rng.uniform(0.5, 2.0, k)[z] * rng.normal(size=n)


def lognormals(rng, n):
    k = rng.integers(1, 4)
    z = rng.choice(k, n, p=rng.dirichlet(np.full(k, 3.0)))
    return np.exp(rng.uniform(-2, 2, k)[z] + rng.uniform(0.3, 0.9, k)[z] * rng.normal(size=n))


KEPT = {
    "normal groups": normals,
    "positive normal groups": lambda rng, n: normals(rng, n, 12.0),
    "rounded normal groups": lambda rng, n: np.round(normals(rng, n, 12.0), 1),
    "even": lambda rng, n: rng.uniform(size=n),
    "projected rings": lambda rng, n: (
        np.cos(rng.uniform(0, 7, n)) * rng.choice([1, 3], n) + rng.normal(0, 0.1, n)
    ),
    "projected arcs": lambda rng, n: np.sin(rng.uniform(0, 3.14, n)) + rng.normal(0, 0.05, n),
    "answers of a survey": lambda rng, n: rng.choice(5, n, p=[0.1, 0.2, 0.3, 0.25, 0.15]) + 1.0,
    "large counts": lambda rng, n: rng.poisson(60, n),
}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("n", [200, 1500])
def test_columns_that_are_simple_as_they_are_stay_so(name, n):
    found = kinds(KEPT[name], n, 100)
    assert found["plain"] >= 95, found


CHANGED = {
    "log-normal": ("log", lambda rng, n: rng.lognormal(3, 1, n)),
    "log-normal groups": ("log", lognormals),
    "rounded log-normal": ("log", lambda rng, n: np.round(rng.lognormal(5, 1, n))),
    "log-normal from 3 on": ("log", lambda rng, n: 3 + rng.lognormal(0, 1, n)),
    "log-normal, turned round": ("log", lambda rng, n: 9 - rng.lognormal(0, 1, n)),
    "exponential": ("log", lambda rng, n: rng.exponential(size=n)),
    "Cauchy": ("asinh", lambda rng, n: rng.standard_cauchy(n)),
    "counts": ("count", lambda rng, n: rng.poisson(4, n)),
    "counts of two rates": ("count", lambda rng, n: rng.poisson(np.where(rng.random(n) < 0.5, 2, 8))),
    "overdispersed counts": ("count", lambda rng, n: rng.negative_binomial(2, 0.3, n)),
    "spend": ("point log", lambda rng, n: rng.lognormal(3, 1, n) * (rng.random(n) > 0.3)),
    "doses": ("point plain", lambda rng, n: rng.normal(10, 1, n) * (rng.random(n) > 0.2)),
}


@pytest.mark.parametrize("name", CHANGED)
def test_columns_that_are_simple_in_another_form_get_it(name):
    form, draw = CHANGED[name]
    found = kinds(draw, 1500)
    assert found[form] >= 36, found


def test_counts_with_zeros_beside_them_stay_one_column_of_counts():
    def draw(rng, n):
        return np.where(rng.random(n) < 0.4, 0, 1 + rng.poisson(5, n))

    assert kinds(draw, 1500)["count"] >= 36


@pytest.mark.parametrize("seed", [2, 3, 6])
def test_columns_that_may_as_well_be_counts_are_where_one_is(seed):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, 800)
    rows = rng.poisson(rng.uniform(1, 12, (3, 5))[z])
    alone = [margins_of(ArraySource(rows[:, [j]])).forms[0].kind for j in range(5)]
    assert 0 < alone.count("count") < 5
    assert {form.kind for form in margins_of(ArraySource(rows)).forms} == {"count"}


def test_numbers_only_means_no_counts_and_no_points():
    assert kinds(CHANGED["counts"][1], 800, numbers_only=True).keys() <= {"plain", "root", "log"}
    assert not any("point" in form for form in kinds(CHANGED["spend"][1], 800, numbers_only=True))
    given = [f"x{j}" for j in range(20)]
    assert kinds(CHANGED["counts"][1], 800, given=given).keys() <= {"plain", "root", "log"}


def test_wide_tables_have_no_counts_and_no_points():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.poisson(4, (900, 30)), rng.lognormal(size=900)])
    assert {form.kind for form in margins_of(ArraySource(rows)).forms} <= {"plain", "root", "log"}
    assert margins_of(ArraySource(rows[:, 11:])).forms[0].kind == "count"


def test_little_evidence_changes_nothing():
    rng = np.random.default_rng(0)
    assert margins_of(ArraySource(rng.lognormal(3, 1, (40, 3)))).is_plain
    assert margins_of(ArraySource(rng.choice([1.0, 10.0, 100.0], (500, 3)))).is_plain
    assert margins_of(ArraySource(np.full((500, 2), 3.0))).is_plain
    holes = np.where(rng.random((500, 2)) < 0.95, np.nan, rng.lognormal(3, 1, (500, 2)))
    assert margins_of(ArraySource(holes)).is_plain


def test_order_unit_and_neighbours_of_a_column_do_not_matter():
    rng = np.random.default_rng(1)
    rows = np.column_stack(
        [rng.lognormal(3, 1, 900), rng.normal(size=900), rng.poisson(3, 900), lognormals(rng, 900)]
    )
    forms = margins_of(ArraySource(rows)).forms
    assert [form.kind for form in forms] == ["log", "plain", "count", "log"]
    assert margins_of(ArraySource(rows[rng.permutation(900)])).forms == forms
    assert margins_of(ArraySource(rows[:, ::-1].copy())).forms == forms[::-1]
    for unit in (1e-3, 1e5):
        again = margins_of(ArraySource(rows[:, [0, 1, 3]] * unit)).forms
        assert [form.kind for form in again] == ["log", "plain", "log"]
        assert again[0].least == pytest.approx(forms[0].least * unit)


def test_a_column_turned_round_has_the_mirrored_form():
    x = np.random.default_rng(2).lognormal(0, 0.8, (600, 1))
    [form], [mirrored] = margins_of(ArraySource(x)).forms, margins_of(ArraySource(-x)).forms
    assert (form.kind, form.sign, mirrored.kind, mirrored.sign) == ("log", 1, "log", -1)
    np.testing.assert_allclose(mirrored.of(-x), -form.of(x))


# --- what a verdict makes of it ---------------------------------------------------------------------------------


def three_groups(seed, n=600):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    rows = np.array([[0, 0, 0, 0], [1.6, 0, 3, 0], [0, 1.6, 0, 3.0]])[z] + rng.normal(
        0, [0.45, 0.45, 1, 1], (n, 4)
    )
    rows[:, :2] = np.exp(rows[:, :2])
    return rows, z


@pytest.mark.parametrize("seed", range(3))
def test_groups_in_lognormal_columns_are_found(seed):
    rows, z = three_groups(seed)
    finding, choice = asterism.find(rows), choose_k(rows, criteria=["bic"])
    assert finding.k == choice.k == 3
    assert adjusted_rand_score(z, finding.labels) > 0.8
    np.testing.assert_array_equal(finding.labels, choice.labels)
    assert finding.columns[0].reason == "numbers, seen by their logarithm"
    centre = finding.profiles[0].centre["x0"]
    assert centre == pytest.approx(rows[finding.labels == 0, 0].mean())  # in the user's units


@pytest.mark.parametrize("seed", range(3))
def test_skewed_columns_without_groups_are_one_group(seed):
    rng = np.random.default_rng(seed)
    spend = rng.lognormal(3, 1, 700) * (rng.random(700) > 0.3)
    assert asterism.find(np.column_stack([rng.lognormal(3, 1, 700), rng.normal(size=700)])).k == 1
    finding = asterism.find(np.column_stack([spend, rng.poisson(3, 700), rng.normal(size=700)]))
    assert finding.k == 1
    assert "exactly 0, the others seen by their logarithm" in finding.columns[0].reason
    assert finding.columns[1].reason == "numbers, seen as counts"
    assert finding.columns[1].kind == "numeric"


@pytest.mark.parametrize("mixed", [False, True])
def test_a_saved_model_sees_new_rows_alike(mixed, tmp_path):
    rows, _ = three_groups(5)
    if mixed:
        rng = np.random.default_rng(5)
        rows = np.column_stack([rows, rng.lognormal(3, 1, len(rows)) * (rng.random(len(rows)) > 0.3)])
    finding = asterism.find(rows, k=3)
    finding.save(tmp_path / "groups.asterism")
    model = asterism.load(tmp_path / "groups.asterism")
    assert model.view.margins == finding.model.view.margins is not None
    assert finding_again(model, rows)[0].columns[0].reason == "numbers, seen by their logarithm"
    labels, probabilities = model.assign(rows)
    np.testing.assert_array_equal(labels, finding.labels)
    np.testing.assert_array_equal(probabilities, finding.probabilities)
    outside = model.assign(np.full((1, rows.shape[1]), -1.0))
    assert np.isfinite(outside.probabilities).all()


def test_centres_and_rows_without_scale_are_as_they_were():
    rows, _ = three_groups(1)
    for options in ({"method": "kmeans"}, {"method": "kmedoids"}, {"scale": False}):
        assert asterism.find(rows, k=3, **options).model.view.margins is None


def test_columns_that_the_user_calls_counts_are_counts():
    rng = np.random.default_rng(3)
    z = rng.integers(0, 2, 400)
    table = pd.DataFrame(
        {"visits": rng.poisson(np.where(z, 3, 14)), "kg": rng.normal(np.where(z, 60, 62), 1)}
    )
    finding = asterism.find(table, kinds={"visits": "count"})
    assert finding.columns[0].kind == "count"
    assert finding.k == 2
    assert adjusted_rand_score(z, finding.labels) > 0.9
    assert finding.profiles[0].centre["visits"] == pytest.approx(table.visits[finding.labels == 0].mean())
    assert "visits" in " ".join(group.sentence for group in finding.explanation.groups)


def test_single_precision_gives_the_same_groups():
    rows, _ = three_groups(2)
    double, single = asterism.find(rows), asterism.find(rows.astype(np.float32))
    assert single.model.view.margins is not None
    assert adjusted_rand_score(double.labels, single.labels) > 0.99


def test_a_column_that_the_user_calls_counts_is_seen_by_its_root_where_counts_are_large() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"grams": rng.poisson(4000, 120), "legs": rng.poisson(4, 120)})
    finding = asterism.find(table, kinds={"grams": "count", "legs": "count"})
    assert [form.kind for form in finding.model.view.margins.forms] == ["root", "plain"]
    assert "square root" in finding.columns[0].reason
    assert finding.k == 1
