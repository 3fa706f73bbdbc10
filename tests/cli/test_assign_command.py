"""``asterism assign`` and ``asterism report``: a saved model meets new rows."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

from asterism.cli.main import main


def run(*words, stdin=None):
    return CliRunner().invoke(main, list(map(str, words)), input=stdin)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and its groups."""
    folder = tmp_path_factory.mktemp("assign")
    rng = np.random.default_rng(0)
    rows = [(f"n{i}", *rng.normal(10 * (i % 2), 1, 2), "red" if i % 2 else "blue") for i in range(80)]
    text = "id,a,b,colour\n" + "".join(f"{n},{a:.4f},{b:.4f},{c}\n" for n, a, b, c in rows)
    (folder / "t.csv").write_text(text)
    done = run("find", folder / "t.csv", "--k", "2", "--ignore", "id", "--out", folder / "out")
    assert done.exit_code == 0, done.stderr
    return folder


def test_labels_of_the_same_table_are_the_same(folder) -> None:
    done = run("assign", folder / "out" / "groups.asterism", folder / "t.csv")
    assert done.exit_code == 0, done.stderr
    lines = (folder / "out" / "labels.csv").read_text().splitlines()
    assert done.stdout.splitlines() == [",".join(line.split(",")[:6]) for line in lines]
    assert "Not used: 'id'" in done.stderr


def test_standard_input_and_one_row(folder) -> None:
    done = run("assign", folder / "out" / "groups.asterism", "-", stdin=b"colour,b,a\nred,10.1,9.8\n")
    assert done.exit_code == 0, done.stderr
    [row] = csv.DictReader(io.StringIO(done.stdout))
    assert float(row["probability"]) > 0.99


def test_unseen_levels_and_missing_columns(folder, tmp_path) -> None:
    (tmp_path / "new.csv").write_text("a,b,colour\n0,0,green\n10,10,red\n")
    done = run("assign", folder / "out" / "groups.asterism", tmp_path / "new.csv")
    assert done.exit_code == 0
    assert "'green'" in done.stderr
    (tmp_path / "less.csv").write_text("a,colour\n0,blue\n")
    done = run("assign", folder / "out" / "groups.asterism", tmp_path / "less.csv")
    assert done.exit_code == 3
    assert "--missing-columns missing" in done.stderr
    done = run(
        "assign", folder / "out" / "groups.asterism", tmp_path / "less.csv", "--missing-columns", "missing"
    )
    assert done.exit_code == 0
    assert "no column 'b'" in done.stderr


def test_out_is_whole_and_not_overwritten(folder, tmp_path) -> None:
    words = (
        "assign",
        folder / "out" / "groups.asterism",
        folder / "t.csv",
        "--id",
        "id",
        "--out",
        tmp_path / "l.csv",
    )
    assert run(*words).exit_code == 0
    assert (tmp_path / "l.csv").read_text().startswith("id,row,group")
    done = run(*words)
    assert done.exit_code == 2
    assert "--force" in done.stderr
    done = run(*words, "--force", "--json", "--quiet")
    assert json.loads(done.stdout)["rows"] == 80
    assert [entry.name for entry in tmp_path.iterdir()] == ["l.csv"]


def test_damaged_models_exit_with_6(folder, tmp_path) -> None:
    data = bytearray((folder / "out" / "groups.asterism").read_bytes())
    data[-3] ^= 1
    (tmp_path / "bad.asterism").write_bytes(data)
    for path in (tmp_path / "bad.asterism", tmp_path / "none.asterism", folder / "t.csv"):
        done = run("assign", path, folder / "t.csv")
        assert done.exit_code == 6, done.stderr
        assert "Traceback" not in done.stderr


def test_report_of_a_saved_model(folder, tmp_path) -> None:
    done = run("report", folder / "out" / "groups.asterism", folder / "t.csv", "--out", tmp_path / "r.html")
    assert done.exit_code == 0, done.stderr
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")[:2000]
    done = run("report", folder / "out" / "groups.asterism", folder / "t.csv", "--out", tmp_path / "r.html")
    assert done.exit_code == 2
