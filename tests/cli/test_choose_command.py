"""``asterism choose``: the table of criteria, the verdict, and the files."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from asterism.cli.main import main


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Two groups of 40, a column of names beside them."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(0, 1, (40, 2)), rng.normal(9, 1, (40, 2))])
    lines = [f"{x:.6f},{y:.6f},{'red' if i % 3 else 'blue'}" for i, (x, y) in enumerate(rows)]
    (tmp_path / "two.csv").write_text("\n".join(["x,y,colour", *lines]) + "\n")
    return tmp_path / "two.csv"


def choose(*words: str):
    return CliRunner().invoke(main, ["choose", *words])


def test_the_verdict_is_printed_and_its_files_agree_with_it(table) -> None:
    done = choose("two.csv", "--k", "1:3", "--out", "why")
    assert done.exit_code == 0, done.stderr
    assert "2 groups (confidence" in done.stdout
    assert "'colour'" in done.stderr
    chosen = [line for line in done.stdout.splitlines() if line.strip().startswith("2*")]
    assert len(chosen) == 1
    choice = json.loads((table.parent / "why/choice.json").read_text())
    assert (choice["version"], choice["k"], choice["sizes"]) == (1, 2, [40, 40])
    with (table.parent / "why/criteria.csv").open() as file:
        criteria = list(csv.DictReader(file))
    assert [row["k"] for row in criteria] == ["1", "2", "3"]
    assert min(criteria, key=lambda row: float(row["bic"]))["k"] == "2"
    with (table.parent / "why/labels.csv").open() as file:
        labels = [row["group"] for row in csv.DictReader(file)]
    assert len(set(labels[:40])) == len(set(labels[40:])) == 1
    assert labels[0] != labels[-1]
    assert "plotly" in (table.parent / "why/criteria.html").read_text()
    again = choose("two.csv", "--k", "1:3", "--out", "why")
    assert again.exit_code != 0
    assert "--force" in again.stderr


def test_wrong_words_and_tables_end_with_their_exit_codes(table) -> None:
    assert choose("two.csv", "--model", "moons").exit_code == 2
    assert choose("missing.csv").exit_code in (2, 3)
    (table.parent / "names.csv").write_text("a\nred\nblue\nred\nblue\n")
    done = choose("names.csv")
    assert done.exit_code == 3
    assert "Traceback" not in done.stderr
