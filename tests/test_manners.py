"""What a finding looks like when it is printed, asked with words, watched, and written beside its table."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import asterism
from asterism.cli.main import main
from asterism.cli.output import write_labels
from asterism.engines import bar


def blobs(sizes=(70, 50), gap=12.0, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(gap * g, 1.0, (n, 2)) for g, n in enumerate(sizes)])


def test_a_printed_finding_is_three_lines_that_begin_with_the_verdict() -> None:
    finding = asterism.find(blobs(sizes=(5000, 3000)), k=2)
    lines = repr(finding).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("2 groups")
    assert "5,000, 3,000" in lines[1]
    assert all(len(line) <= 110 for line in lines)


def test_rows_in_no_group_are_counted_in_the_three_lines() -> None:
    finding = asterism.find(blobs(), k=2, outliers=0.05)
    assert f"{int(finding.outliers.sum())} are in no group" in repr(finding)


def test_a_range_in_words_is_that_of_the_command_line() -> None:
    assert [row["k"] for row in asterism.find(blobs(), k="2:4").choice.table] == [2, 3, 4]
    assert asterism.find(blobs(), k="2").k == 2
    found = asterism.choose_k(blobs(), k="1:3", criteria=["bic"])
    assert [row["k"] for row in found.table] == [1, 2, 3]


def test_progress_true_moves_a_bar_on_a_terminal_and_nothing_elsewhere(monkeypatch, capsys) -> None:
    asterism.find(blobs(), k=2, progress=True)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(bar.sys.stderr, "isatty", lambda: True, raising=False)
    assert asterism.find(blobs(sizes=(3000, 1000), gap=1.0), k=2, progress=True).k == 2
    assert asterism.find(blobs(), k=2, progress=False).k == 2


# ------------------------------------------------------------------------------------------------ beside the table


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A table with an identifier, names, holes, and columns called as those of the labels are."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    with (tmp_path / "t.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["person_id", "group", "kilos", "colour", "note"])
        for i in range(120):
            g = i % 2
            kilos = "" if i == 7 else f"{rng.normal(20 * g, 1):.3f}"
            out.writerow([f"=p{i}", f"{rng.normal(9 * g, 1):.2f}", kilos, ["red", "blue"][g], "same"])
    done = CliRunner().invoke(main, ["find", "t.csv", "--k", "2"])
    assert done.exit_code == 0, done.stderr
    return tmp_path


def test_labels_hold_the_row_its_name_and_the_name_of_its_group(written) -> None:
    labels = list(csv.DictReader((written / "t-groups" / "labels.csv").open()))
    table = list(csv.DictReader((written / "t.csv").open()))
    usual = ["row", "group", "probability", "next_group", "next_probability", "typicality", "group_name"]
    assert list(labels[0]) == [*usual, "person_id", "group (table)", "kilos", "colour"]
    for mine, row in zip(labels, table, strict=True):
        assert mine["person_id"] == "'" + row["person_id"]  # no formula
        assert mine["colour"] == row["colour"]
        assert mine["kilos"] == "" if row["kilos"] == "" else float(mine["kilos"]) == float(row["kilos"])
        assert float(mine["group (table)"]) == float(row["group"])


def test_names_of_groups_are_those_of_the_summary(written) -> None:
    import json

    summary = json.loads((written / "t-groups" / "summary.json").read_text())
    names = {str(group["group"]): group["name"] for group in summary["groups"]}
    labels = list(csv.DictReader((written / "t-groups" / "labels.csv").open()))
    assert {row["group"]: row["group_name"] for row in labels} == names


def test_labels_with_columns_are_compared_by_their_group(written) -> None:
    done = CliRunner().invoke(
        main, ["compare", "t-groups/labels.csv", "t.csv", "--reference-column", "colour", "--json"]
    )
    assert done.exit_code == 0, done.stderr
    assert '"adjusted_rand": 1.0' in done.stdout


def test_rows_of_no_group_have_no_name() -> None:
    finding = asterism.find(blobs(), k=2, outliers=0.05)
    names = finding.to_frame()["group_name"].to_pylist()
    assert [name is None for name in names] == (finding.labels < 0).tolist()


def test_levels_of_a_table_cannot_be_formulas() -> None:
    rows = [["=cmd()", 1.0], ["plain", 1.1], ["=cmd()", 1.2], ["plain", 7.0]] * 5
    table = pd.DataFrame(rows, columns=["word", "x"])
    frame = asterism.find(table, k=2, kinds={"word": "categorical"}).to_frame(columns=True)
    assert frame["word"].to_pylist()[0] == "=cmd()"
    out = io.BytesIO()
    write_labels(frame, out)
    cells = [row["word"] for row in csv.DictReader(io.StringIO(out.getvalue().decode()))]
    assert cells[:2] == ["'=cmd()", "plain"]


def test_long_tables_are_not_written_twice(tmp_path, monkeypatch) -> None:
    from asterism.cli import labels

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(labels, "MOST_CELLS", 100)
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in blobs()))
    done = CliRunner().invoke(main, ["find", "t.csv", "--k", "2"])
    assert "labels.csv holds no columns" in done.stderr
    assert (tmp_path / "t-groups" / "labels.csv").read_text().splitlines()[0].endswith("group_name")
