"""Drift: calibrated on models fitted to few rows, seen where it is, said in the table's own units."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import asterism
from asterism.cli.main import main
from asterism.data.columns import Column
from asterism.data.encode import Encoding
from asterism.data.like import read_like
from asterism.data.source import ArraySource
from asterism.distances.neighbours import Neighbours
from asterism.errors import ParameterError
from asterism.explain.typicality import UNUSUAL
from asterism.families.gaussian import GaussianFamily
from asterism.groups.baseline import held_out_standing, standing_of, with_baseline
from asterism.groups.judges import CentersJudge, MixtureJudge, RegionsJudge
from asterism.groups.model import GroupModel
from asterism.groups.outliers import with_outliers
from asterism.methods.kmeans import fit_kmeans
from asterism.methods.mixture import Settings, fit_mixture
from asterism.methods.regions import Regions
from asterism.verdict.view import View

D = 4
CENTERS = np.array([[0.0, 0, 0, 0], [5, 0, 0, 0], [0, 5, 0, 0]])


def month(rng, n=400, shift=0.0, column=3):
    x = rng.normal(size=(n, D)) + CENTERS[rng.choice(3, n, p=[0.5, 0.3, 0.2])]
    x[:, column] += shift
    return x


def model_of(rows, kind="mixture"):
    """A model of three groups without a search: what ``find`` makes of its answer."""
    source = ArraySource(rows)
    view = View()
    if kind == "mixture":
        judge = MixtureJudge.of(fit_mixture(source, GaussianFamily("VVV"), 3, Settings(max_iter=100)).mixture)
    elif kind == "centres":
        view = View(Encoding(source.columns, np.zeros(D), np.ones(D)))
        fit = fit_kmeans(view.of(source), 3, n_init=3)
        judge = CentersJudge(fit.model, fit.inertia / len(rows))
    else:
        view = View(Encoding(source.columns, np.zeros(D), np.ones(D)))
        near = Neighbours.of(rows, np.ones(len(rows)), 20)
        labels = ((rows[:, None] - CENTERS) ** 2).sum(2).argmin(1)
        judge = RegionsJudge(Regions.of(near, labels))
    model = GroupModel(source.columns, view, judge)
    labels, _ = model.labels_and_doubt(source)
    return with_baseline(with_outliers(model, source, labels, "none", 0).model, source)


@pytest.mark.parametrize("kind", ["mixture", "centres", "regions"])
def test_rows_of_the_fit_stand_as_fresh_rows_do(kind):
    """Where the rows were part of the fit they stand higher; held out they stand where fresh ones do."""
    plain, held, fresh = [], [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows = month(rng, 200)
        model = model_of(rows, kind)
        source = ArraySource(rows)
        plain.append(standing_of(model, source).height.mean())
        held.append(held_out_standing(model, source).height.mean())
        fresh.append(standing_of(model, read_like(month(rng, 4000), model.columns)[0]).height.mean())
    gap = np.subtract(held, fresh)
    error = gap.std(ddof=1) / np.sqrt(len(gap))
    assert abs(gap.mean()) < 3 * error + 0.02
    assert np.mean(np.subtract(plain, fresh)) > abs(gap.mean())


def test_a_region_without_its_own_row_is_the_region_of_the_other_rows():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    one = np.zeros(60, np.int64)
    whole = RegionsJudge(Regions.of(Neighbours.of(rows, np.ones(60), 12), one))
    block = next(ArraySource(rows).blocks())
    gains = whole.own_kernels(block, np.zeros(60, np.int32), True)[:, 0]
    without = []
    for i in range(60):
        others = np.delete(rows, i, axis=0)
        fitted = Regions.of(Neighbours.of(others, np.ones(59), 12), one[1:])
        without.append(fitted.log_densities(rows[i : i + 1])[0, 0] + np.log(59 / 60))
    full = whole.regions.log_densities(rows)[:, 0]
    np.testing.assert_allclose(full - gains, without, atol=1e-9)


@pytest.mark.parametrize("kind", ["mixture", "centres", "regions"])
def test_fresh_rows_raise_few_alarms_and_shifted_ones_many(kind):
    fresh = shifted = 0
    for seed in range(10):
        rng = np.random.default_rng([5, seed])
        model = model_of(month(rng), kind)
        fresh += sum(asterism.check(model, month(rng)).drifted for _ in range(2))
        shifted += asterism.check(model, month(rng, shift=0.5)).drifted
    assert fresh <= 4  # of 20: at a rate of 5% five or more in 0.3% of trials
    assert shifted >= 9


@pytest.fixture(scope="module")
def shop():
    rng = np.random.default_rng(3)

    def table(n):
        z = rng.integers(0, 2, n)
        return pd.DataFrame(
            {
                "spend": np.exp(rng.normal(3 + 2 * z, 0.3)),
                "age": rng.normal(40 + 20 * z, 5),
                "city": np.where(rng.random(n) < 0.2 + 0.6 * z, "Rome", "Oslo"),
            }
        )

    return asterism.find(table(300), k=2).model, table


def sentences(found):
    return [d.sentence for d in found.differences if d.counts]


def test_new_levels_missing_cells_and_missing_columns_are_told(shop):
    model, table = shop
    new = table(300)
    new.loc[:40, "city"] = "Bern"
    new["age"] = new["age"].where(np.arange(300) > 30)
    found = asterism.check(model, new.drop(columns="spend"))
    about = {(d.about, d.column) for d in found.differences if d.counts}
    assert {("columns", "spend"), ("missing", "age"), ("new levels", "city")} <= about
    assert any("'Bern'" in text for text in sentences(found))
    assert ("missing", "city") not in about  # cells with a new level are not missing


def test_a_shift_is_told_in_the_units_of_the_table(shop):
    model, table = shop
    new = table(300)
    new["spend"] *= 1.5
    told = sentences(asterism.check(model, new))
    [text] = [t.split("(")[0] for t in told if t.startswith("'spend': typical value")]
    before, now = (float(word) for word in text.split() if word.replace(".", "").isdigit())
    assert now / before == pytest.approx(1.5, rel=0.2)


def test_a_model_file_keeps_the_baseline_to_the_bit(shop, tmp_path):
    table = shop[1]
    asterism.find(table(300), k=2).save(tmp_path / "m.asterism")
    again = asterism.load(tmp_path / "m.asterism")
    new = table(200)
    first = asterism.check(tmp_path / "m.asterism", new)
    assert first.to_dict() == asterism.check(again, new).to_dict()
    assert again.names == asterism.load(tmp_path / "m.asterism").names != ()


def test_a_model_without_a_baseline_says_what_cannot_be_checked(shop):
    from dataclasses import replace

    model, table = shop
    found = asterism.check(replace(model, baseline=None, names=()), table(300))
    assert not found.drifted
    assert "earlier version" in found.notes[0]
    assert {d.about for d in found.differences} == {"shares"}


def test_what_is_no_model_is_refused():
    with pytest.raises(ParameterError, match="no model of groups"):
        asterism.check(42, [[1.0]])


def test_the_command_ends_with_0_or_3_and_tells_the_same_as_json(tmp_path):
    rng = np.random.default_rng(0)

    def table(name, shift):
        rows = np.vstack([rng.normal(0, 1, (80, 2)), rng.normal(8, 1, (60, 2))])
        rows[:, 0] += shift
        pd.DataFrame(rows, columns=["a", "b"]).to_csv(tmp_path / name, index=False)
        return str(tmp_path / name)

    model = str(tmp_path / "m.asterism")
    asterism.find(table("old.csv", 0.0), k=2).save(model)
    run = CliRunner().invoke
    quiet = run(main, ["check", model, table("same.csv", 0.0)])
    loud = run(main, ["check", model, table("moved.csv", 1.0), "--json"])
    assert quiet.exit_code == 0, quiet.output
    assert "has not drifted" in quiet.stdout
    assert loud.exit_code == 3
    told = json.loads(loud.stdout)
    assert told["drifted"]
    assert told["version"] == 1
    assert any(d["column"] == "a" and d["counts"] for d in told["differences"])
    page = run(main, ["check", model, str(tmp_path / "moved.csv")])
    assert "Beyond chance" in page.stdout
    assert "'a'" in page.stdout


def test_a_table_that_cannot_be_read_is_bad_data_too(tmp_path):
    model = tmp_path / "m.asterism"
    asterism.find(np.vstack([np.zeros((9, 1)), np.ones((9, 1))]) + np.arange(18)[:, None] / 99, k=2).save(
        model
    )
    done = CliRunner().invoke(main, ["check", str(model), str(tmp_path / "none.csv")])
    assert done.exit_code == 3


def test_columns_of_levels_are_counted_by_level():
    from asterism.groups.figures import Ruler

    ruler = Ruler(
        (Column("c", "categorical", ("x", "y")),),
        np.full((1, 15), np.inf),
        np.full((1, 1, 15), np.inf),
        np.zeros(63),
    )
    rows = np.array([[0.0], [1.0], [1.0], [np.nan]])
    assert ruler.counts(rows, np.array([1.0, 2.0, 3.0, 9.0]), None).tolist() == [1.0, 5.0]
    assert 0 < UNUSUAL < 0.05
