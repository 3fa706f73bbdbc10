"""``asterism find`` with a column of known groups, files of pairs and sizes."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.csv
import pytest
from click.testing import CliRunner

from asterism.cli.known import judged_pairs
from asterism.cli.main import main
from asterism.errors import DataError


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2)) + 3.0 * (np.arange(60) % 2)[:, None]
    says = [["low", "high"][i % 2] if i < 6 else "" for i in range(60)]
    lines = [f"{a:.3f},{b:.3f},{word}" for (a, b), word in zip(rows, says, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,says", *lines]) + "\n")
    return tmp_path


def test_all_that_can_be_known_at_once(table):
    (table / "same.csv").write_text("one,other\n10,13\n")
    (table / "apart.csv").write_text("one,other\n20,22\n")
    (table / "judged.csv").write_text("first,second,same\n30,31,yes\n31,30,yes\n30,31,no\n40,42,different\n")
    command = "find t.csv --k 2 --known says --together same.csv --apart apart.csv --pairs judged.csv"
    found = CliRunner().invoke(main, [*command.split(), "--min-size", "28", "--max-size", "32", "--json"])
    assert found.exit_code == 0, found.stderr
    told = json.loads(found.stdout)
    assert {group["name"] for group in told["groups"]} == {"low", "high"}
    labels = pyarrow.csv.read_csv(table / "t-groups" / "labels.csv")["group"].to_numpy()
    assert len(set(labels[[0, 2, 4]])) == len(set(labels[[1, 3, 5]])) == 1
    assert labels[0] != labels[1]
    assert labels[10] == labels[13]
    assert labels[30] == labels[31]
    assert labels[20] != labels[22]
    assert labels[40] != labels[42]
    assert sorted(np.bincount(labels)) >= [28, 28]
    assert max(np.bincount(labels)) <= 32


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ("--known nothing", 2, "nothing"),
        ("--known says --k 1", 2, "2 labels are known ('high', 'low'), but at most 1 group"),
        ("--pairs tie.csv", 3, "as often that rows 1 and 2 are together as that they are apart"),
        ("--together bad.csv", 3, "'x' is not a row number"),
        ("--apart far.csv", 3, "(0, 60), but the table has 60 rows"),
        ("--known says --apart same.csv", 3, "rows 1 and 3 are to be apart, but both are known as 'low'"),
    ],
)
def test_what_contradicts_itself_is_refused_and_nothing_written(table, options, code, words):
    (table / "tie.csv").write_text("first,second,same\n0,1,yes\n1,0,no\n")
    (table / "bad.csv").write_text("a,b\nx,1\n")
    (table / "far.csv").write_text("a,b\n0,60\n")
    (table / "same.csv").write_text("a,b\n0,2\n")
    found = CliRunner().invoke(main, ["find", "t.csv", *options.split()])
    assert found.exit_code == code
    assert words in found.stderr
    assert not (table / "t-groups").exists()


def test_of_several_judgements_of_a_pair_most_count(tmp_path):
    path = tmp_path / "judged.csv"
    path.write_text("first,second,same\n1,0,yes\n0,1,yes\n0,1,no\n3,2,no\n")
    assert judged_pairs(str(path)) == ([(0, 1)], [(2, 3)])
    path.write_text("first,second,same\n1,0,yes\n0,1,no\n")
    with pytest.raises(DataError, match="rows 1 and 2"):
        judged_pairs(str(path))
