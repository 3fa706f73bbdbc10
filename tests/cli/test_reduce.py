"""``asterism reduce`` from the command line to the files it leaves."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from asterism.cli.main import main

FILES = ["components.html", "loadings.csv", "scores.csv", "variance.csv"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def reduce(*words):
    return CliRunner().invoke(main, ["reduce", *map(str, words)])


def table(path, gaps=0.0):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(120, 5))
    holes = rng.random(rows.shape) < gaps
    cells = [
        ["" if h else repr(float(x)) for x, h in zip(r, g, strict=True)]
        for r, g in zip(rows, holes, strict=True)
    ]
    path.write_text("a,b,c,d,e\n" + "\n".join(",".join(row) for row in cells) + "\n")
    return rows


def numbers(path):
    rows = list(csv.reader(path.open()))
    return rows[0], np.array([[float(x) for x in row[1:]] for row in rows[1:]])


def test_reduce_a_table_end_to_end(here):
    rows = table(here / "points.csv")
    result = reduce("points.csv", "--json", "--no-scale", "--components", 2)
    assert result.exit_code == 0, result.stderr
    folder = here / "points-reduced"
    assert sorted(entry.name for entry in folder.iterdir()) == FILES
    summary = json.loads(result.stdout)
    centred = rows - rows.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False) ** 2
    np.testing.assert_allclose(summary["share"], values[:2] / values.sum(), rtol=1e-9)
    head, scores = numbers(folder / "scores.csv")
    _, loadings = numbers(folder / "loadings.csv")
    assert head == ["row", "pc1", "pc2"]
    np.testing.assert_allclose(scores, centred @ loadings, atol=1e-9)
    np.testing.assert_allclose(loadings.T @ loadings, np.eye(2), atol=1e-9)
    assert summary["dimension"]["above_chance"] == 2
    page = (folder / "components.html").read_text(encoding="utf-8")
    assert "variance held" in page
    assert "pc1 (" in page
    assert 'src="http' not in page


def test_missing_cells_are_taken_by_probabilistic_pca(here):
    rows = table(here / "points.csv", gaps=0.15)
    result = reduce("points.csv", "--json", "--no-scale", "--components", "95%")
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary["components"] == 2
    assert summary["missing_cells"]
    assert summary["method"].startswith("probabilistic")
    _, scores = numbers(here / "points-reduced" / "scores.csv")
    _, loadings = numbers(here / "points-reduced" / "loadings.csv")
    whole = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][:2]
    assert np.linalg.svd(whole @ loadings, compute_uv=False).min() > 0.99
    assert scores.shape == (120, 2)


def test_the_variance_table_is_printed_and_nothing_overwritten(here):
    table(here / "points.csv")
    first = reduce("points.csv")
    assert first.exit_code == 0
    assert "component   variance   share  together" in first.stdout
    assert "hold more than noise would: 2." in first.stdout
    again = reduce("points.csv")
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert reduce("points.csv", "--force", "--quiet").exit_code == 0


@pytest.mark.parametrize("words", [["9"], ["0"], ["120%"], ["many"]])
def test_what_there_cannot_be_is_refused(here, words):
    table(here / "points.csv")
    result = reduce("points.csv", "--components", *words)
    assert result.exit_code == 2
    assert "component" in result.stderr
    assert not (here / "points-reduced").exists()


def test_a_share_of_the_variance_takes_as_few_components_as_hold_it(here):
    rows = table(here / "points.csv")
    summary = json.loads(reduce("points.csv", "--json", "--no-scale", "-m", "99%").stdout)
    values = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False) ** 2
    held = np.cumsum(values) / values.sum()
    assert summary["components"] == int(np.argmax(held >= 0.99)) + 1


def test_weights_count_as_copies(here):
    text = "a,b,n\n1,2,3\n2,1,1\n5,7,2\n4,4,0\n"
    (here / "weighted.csv").write_text(text)
    (here / "copies.csv").write_text("a,b\n1,2\n1,2\n1,2\n2,1\n5,7\n5,7\n")
    weighted = json.loads(
        reduce("weighted.csv", "--weights", "n", "--kind", "n=numeric", "--json", "-m", 2).stdout
    )
    copies = json.loads(reduce("copies.csv", "--json", "-m", 2).stdout)
    np.testing.assert_allclose(weighted["variance"], copies["variance"], rtol=1e-12)


def test_mixed_columns_and_names_that_look_like_formulas_or_markup(here):
    (here / "odd.csv").write_text(
        "=SUM(A1),<b>x</b>,kind\n" + "".join(f"{i % 7 + 0.5},{i * i},{'xyz'[i % 3]}\n" for i in range(30))
    )
    result = reduce("odd.csv", "--json", "-m", 1)
    assert result.exit_code == 0, result.stderr
    names = [row[0] for row in csv.reader((here / "odd-reduced" / "loadings.csv").open())][1:]
    assert names == ["'=SUM(A1)", "<b>x</b>", "kind=x", "kind=y", "kind=z"]
    page = (here / "odd-reduced" / "components.html").read_text(encoding="utf-8")
    assert "<b>x" not in page.split("Plotly.newPlot")[-1]
