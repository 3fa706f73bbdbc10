"""Rows of a background of evenly spread rows, and the least typical rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import asterism
from asterism.errors import ParameterError
from asterism.groups.background import Background, find_background
from asterism.groups.outliers import checked_outliers, least_typical
from asterism.methods.noise import Box

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return pytest.importorskip("bench.outliers")


def blobs_in_noise(seed=0, n=1000, share=0.2, d=5):
    rng = np.random.default_rng(seed)
    noise = round(share * n)
    x = 0.03 * rng.standard_normal((n, d)) + np.linspace(0.2, 0.8, 3)[np.arange(n) % 3, None]
    x[:noise] = rng.random((noise, d))
    return x, np.arange(n) < noise


# --- evidence ---


@pytest.mark.parametrize(
    "name",
    [
        "normal",
        "t3",
        "t3 in each column",
        "lognormal",
        "uniform",
        "exponential",
        "laplace",
        "triangular",
        "t3 groups",
    ],
)
@pytest.mark.parametrize(("n", "d"), [(200, 2), (1000, 5)])
def test_tables_without_noise_have_no_background(tables, name, n, d) -> None:
    k, table = tables.WITHOUT[name]
    for seed in (100, 101):
        assert tables.background_of(table(np.random.default_rng(seed), n, d), k)[0] is None


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("d", [2, 5])
def test_noise_beside_groups_is_found_with_its_share_and_its_rows(tables, share, d) -> None:
    found, rows = tables.background_of(
        tables.noisy(np.random.default_rng(103), 1000, d, share), tables.GROUPS
    )
    assert found == pytest.approx(share, abs=0.05)
    noise = np.arange(1000) < round(1000 * share)
    assert rows[noise].mean() > 0.7
    assert rows[~noise].mean() < 0.03


def flat_density(center, sd):
    def log_density(z):
        return -((z - center) ** 2).sum(axis=1) / (2 * sd**2) - z.shape[1] / 2 * np.log(2 * np.pi * sd**2)

    return log_density


def test_copies_weights_units_and_order_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    x = np.vstack([rng.normal(0.5, 0.03, (400, 2)), rng.random((80, 2))])
    f = flat_density(0.5, 0.03)
    plain = find_background(x, np.ones(480), f)
    copies = find_background(np.repeat(x, 2, axis=0), np.full(960, 0.5), f)
    order = rng.permutation(480)
    shuffled = find_background(x[order], np.ones(480), f)
    units = np.array([1e3, 1e-4])
    scaled = find_background(x * units, np.ones(480), lambda z: f(z / units) - np.log(units).sum())
    assert plain.background is not None
    for other in (copies, shuffled, scaled):
        assert other.background is not None
        assert other.share == pytest.approx(plain.share, rel=1e-9)
        assert other.gain == pytest.approx(plain.gain, rel=1e-6)
        assert other.clumping == pytest.approx(plain.clumping, abs=1e-9)


def test_a_small_group_that_was_not_found_is_no_background() -> None:
    rng = np.random.default_rng(2)
    x = np.vstack([rng.normal(0.2, 0.02, (500, 2)), rng.normal(0.8, 0.02, (60, 2)), [[0.0, 0.0], [1.0, 1.0]]])
    assert find_background(x, np.ones(len(x)), flat_density(0.2, 0.02)).background is None


def test_probability_of_the_background_is_bayes_rule_and_a_missing_cell_takes_its_column_out() -> None:
    background = Background(0.25, Box(np.array([0.0, 0.0]), np.array([2.0, 5.0])))
    rows = np.array([[1.0, 1.0], [1.0, np.nan], [99.0, -99.0]])
    f = np.array([0.3, 0.7, 1e-9])
    u = np.array([0.1, 0.5, 0.1])
    found = background.probability(rows, np.log(f))
    np.testing.assert_allclose(found, 0.25 * u / (0.25 * u + 0.75 * f), rtol=1e-12)


# --- find ---


def test_find_calls_noise_none_and_says_so_everywhere(tmp_path) -> None:
    x, noise = blobs_in_noise(share=0.1)
    table = pd.DataFrame(x, columns=list("abcde"))
    finding = asterism.find(table, k=3)
    assert finding.model.background is not None
    assert finding.outliers[noise].mean() > 0.9
    assert finding.outliers[~noise].mean() < 0.02
    assert finding.n_left_out == 0
    assert sum(p.size for p in finding.profiles) == (finding.labels >= 0).sum()
    p = finding.probabilities
    assert (p.sum(axis=1)[finding.outliers] < 0.5).all()
    assert (p.sum(axis=1)[~finding.outliers] >= 0.5).all()
    told = finding.to_dict()
    assert told["rows_outliers"] == finding.outliers.sum()
    assert told["background_share"] == pytest.approx(0.1, abs=0.02)
    frame = finding.to_frame().to_pandas()
    assert (frame["group"] == finding.labels).all()
    none = frame[finding.outliers]
    np.testing.assert_allclose(none["probability"], 1 - p.sum(axis=1)[finding.outliers], atol=1e-12)
    near = p[finding.outliers].max(axis=1) > 0  # the other rows are so far out that no group is likely at all
    assert (none["next_group"] == p[finding.outliers].argmax(axis=1))[near].all()
    finding.save(tmp_path / "m.asterism")
    again = asterism.load(tmp_path / "m.asterism")
    assert (again.assign(table).labels == finding.labels).all()
    assert again.assign(pd.DataFrame([[9.0] * 5], columns=list("abcde"))).labels.tolist() == [-1]


def test_none_leaves_every_row_in_a_group() -> None:
    x, _ = blobs_in_noise(share=0.1)
    finding = asterism.find(x, k=3, outliers="none")
    assert finding.model.background is None
    assert (finding.labels >= 0).all()


@pytest.mark.parametrize("method", ["auto", "kmeans", "kmedoids"])
def test_a_share_is_that_share_of_the_least_typical_rows(method) -> None:
    rng = np.random.default_rng(3)
    x = np.vstack([rng.normal(0, 1, (120, 3)), rng.normal(9, 1, (80, 3))])
    finding = asterism.find(x, k=2, method=method, outliers=0.05)
    assert finding.outliers.sum() == 10
    assert finding.typicality[finding.outliers].max() <= finding.typicality[~finding.outliers].min()
    assert (finding.model.assign(x).labels == finding.labels).all()
    assert (asterism.find(x, k=2, method=method, outliers="5%").labels == finding.labels).all()
    assert finding.to_frame()["group"].to_pylist() == finding.labels.tolist()


def test_a_share_is_of_the_weight_and_never_more() -> None:
    typicality, w = np.array([0.9, 0.2, 0.1, 0.3, np.nan]), np.array([1.0, 5.0, 1.0, 3.0, 1.0])
    out, least = least_typical(typicality, w, 0.3)
    assert out.tolist() == [False, False, True, False, False]
    assert least == 0.2
    out, _ = least_typical(typicality, w, 0.45)
    assert out.tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("wrong", [-0.1, 0.5, "60%", "some", None, True, np.nan])
def test_what_is_no_share_is_refused_with_a_remedy(wrong) -> None:
    with pytest.raises(ParameterError, match="2%"):
        checked_outliers(wrong)


def test_a_background_that_would_swallow_a_group_is_not_taken() -> None:
    rng = np.random.default_rng(4)
    x = np.vstack([rng.normal(0.5, 0.02, (700, 2)), rng.random((300, 2))])
    finding = asterism.find(x, k=2)
    assert (np.bincount(finding.labels[finding.labels >= 0], minlength=2) > 0).all()
    assert {p.group for p in finding.profiles} == {0, 1}


def test_the_same_bits_for_any_number_of_threads() -> None:
    x, _ = blobs_in_noise(n=6000, share=0.15)
    one, two = (asterism.find(x, k=3, engine=asterism.engine(n_threads=t)) for t in (1, 2))
    assert (one.labels == two.labels).all()
    np.testing.assert_array_equal(one.typicality, two.typicality)
    np.testing.assert_array_equal(one.probabilities, two.probabilities)


def test_a_model_of_an_earlier_version_assigns_and_says_what_it_lacks(tmp_path) -> None:
    from dataclasses import replace

    from click.testing import CliRunner

    from asterism import modelfile
    from asterism.cli.main import main

    x = pd.DataFrame(np.vstack([np.eye(2), 9 + np.eye(2), -np.eye(2)]), columns=["a", "b"])
    finding = asterism.find(x, k=2)
    modelfile.save(replace(finding.model, typicality=None), tmp_path / "old.asterism")
    again = asterism.load(tmp_path / "old.asterism")
    assert again.typicality is None
    assert (again.assign(x).labels == finding.labels).all()
    assert np.isnan(again.assign(x).typicality).all()
    x.to_csv(tmp_path / "t.csv", index=False)
    done = CliRunner().invoke(main, ["assign", str(tmp_path / "old.asterism"), str(tmp_path / "t.csv")])
    assert done.exit_code == 0
    assert "find the groups again" in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("typicality.scores", np.ones((1, 3))),
        ("background.high", np.full(5, -99.0)),
        ("typicality.weights", -np.ones(3)),
    ],
)
def test_a_file_with_impossible_tables_is_refused(name, value, tmp_path) -> None:
    from asterism import modelfile
    from asterism.errors import ModelFileError

    x, _ = blobs_in_noise(share=0.2)
    model = asterism.find(x, k=3).model
    assert model.background is not None
    arrays: dict = {}
    spec = {
        "columns": [{"name": c.name, "kind": c.kind, "levels": []} for c in model.columns],
        "view": modelfile._packed_view(model.view, arrays),
        "judge": modelfile._packed_judge(model.judge, arrays),
        "about": {},
        **modelfile._packed_rest(model, arrays),
    }
    assert modelfile._restored(spec, arrays).background.share == model.background.share
    with pytest.raises((ModelFileError, *modelfile.WRONG)):
        modelfile._restored(spec, {**arrays, name: value})
