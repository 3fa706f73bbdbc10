"""``asterism tree`` from the command line to the files it leaves."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.cluster import hierarchy

from asterism.cli.main import main

FILES = ["dendrogram.html", "labels.csv", "linkage.csv"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tree(*words):
    return CliRunner().invoke(main, ["tree", *map(str, words)])


def blobs(path):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(10 * g, 1, (20 + g, 2)) for g in range(3)])
    path.write_text("a,b\n" + "\n".join(f"{a!r},{b!r}" for a, b in rows.tolist()) + "\n")
    return rows


def test_tree_of_a_table_end_to_end(here):
    rows = blobs(here / "points.csv")
    result = tree("points.csv", "--json", "--no-scale")
    assert result.exit_code == 0, result.stderr
    folder = here / "points-tree"
    assert sorted(entry.name for entry in folder.iterdir()) == FILES
    summary = json.loads(result.stdout)
    assert (summary["version"], summary["k"], summary["sizes"], summary["linkage"]) == (
        1,
        3,
        [22, 21, 20],
        "ward",
    )
    merges = list(csv.DictReader((folder / "linkage.csv").open()))
    heights = [float(merge["height"]) for merge in merges]
    np.testing.assert_allclose(heights, hierarchy.linkage(rows, "ward")[:, 2], rtol=1e-10)
    labels = [int(row["cluster"]) for row in csv.DictReader((folder / "labels.csv").open())]
    assert labels == [2] * 20 + [1] * 21 + [0] * 22
    page = (folder / "dendrogram.html").read_text(encoding="utf-8")
    assert "cluster 2" in page
    assert 'src="http' not in page


def test_nothing_is_overwritten_without_force(here):
    blobs(here / "points.csv")
    assert tree("points.csv").exit_code == 0
    again = tree("points.csv")
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert tree("points.csv", "--force", "--k", "2").exit_code == 0


def test_missing_cells_are_taken_by_average_linkage_and_refused_by_ward(here, penguins):
    result = tree(penguins, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["linkage"] == "average"
    refused = tree(penguins, "--linkage", "ward", "--out", "other")
    assert refused.exit_code == 3
    assert "missing" in refused.stderr
    assert not (here / "other").exists()
