"""``asterism compare``: labelings from files beside each other, and beside judgements."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from sklearn import metrics as peer

from asterism.cli.main import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compare(*words: str):
    return CliRunner().invoke(main, ["compare", *map(str, words)])


def write(path, header: str, *rows: str) -> None:
    path.write_text("\n".join([header, *rows]) + "\n")


def test_groups_beside_the_species_of_the_same_table(here, penguins) -> None:
    assert CliRunner().invoke(main, ["find", str(penguins), "--ignore", "species", "--k", "3"]).exit_code == 0
    result = compare("penguins-groups/labels.csv", penguins, "--json")
    assert result.exit_code == 0, result.stderr
    scores = json.loads(result.stdout)
    groups = [
        line.split(",")[1] for line in (here / "penguins-groups/labels.csv").read_text().splitlines()[1:]
    ]
    header, *lines = penguins.read_text().splitlines()
    species = [line.split(",")[header.split(",").index("species")] for line in lines]
    assert scores["version"] == 1
    assert scores["rows"] == 344
    assert scores["adjusted_rand"] == pytest.approx(peer.adjusted_rand_score(species, groups))
    expected = peer.adjusted_mutual_info_score(species, groups)
    assert scores["adjusted_mutual_information"] == pytest.approx(expected)
    text = compare("penguins-groups/labels.csv", penguins).stdout
    assert "adjusted rand" in text
    assert "matched accuracy" in text


def test_rows_without_a_label_are_left_out_and_weights_count_as_copies(here) -> None:
    write(here / "a.csv", "row,group", "0,1", "1,", "2,2", "3,2")
    write(here / "b.csv", "name,n", "x,2", "x,5", "y,1", "x,1")
    scores = json.loads(
        compare("a.csv", "b.csv", "--reference-column", "name", "--weights", "n", "--json").stdout
    )
    assert (scores["rows"], scores["left_out"]) == (3, 1)
    assert scores["rand"] == pytest.approx(peer.rand_score(list("xxyx"), [1, 1, 2, 2]))


def test_judgements_of_pairs(here) -> None:
    write(here / "a.csv", "group", "0", "0", "1", "1", "2")
    write(
        here / "j.csv",
        "first,second,same,annotator",
        "0,1,yes,ann",
        "2,3,no,ann",
        "0,1,different,bob",
        "1,4,0,bob",
    )
    scores = json.loads(compare("a.csv", "--pairs", "j.csv", "--json", "--ask", "3").stdout)
    assert [scores[f"{t}_{p}"] for t in ("true", "false") for p in ("positive", "negative")] == [1, 1, 2, 0]
    assert scores["disagreements"] == [[0, 1]]
    assert len(scores["ask_next"]) == 3
    assert scores["annotators"]["ann"] == {"judgements": 2, "accuracy": 0.5}
    assert "disagreements" in compare("a.csv", "--pairs", "j.csv").stdout


def test_what_is_wrong_is_told_with_its_exit_code(here) -> None:
    write(here / "a.csv", "group", "0", "1")
    write(here / "b.csv", "group", "0")
    write(here / "c.csv", "u,v", "0,1", "1,1")
    write(here / "j.csv", "first,second,same", "0,1,perhaps")
    for words, code, said in [
        (["a.csv"], 2, "REFERENCE"),
        (["a.csv", "b.csv"], 3, "2 rows"),
        (["a.csv", "c.csv"], 2, "--reference-column"),
        (["a.csv", "c.csv", "--reference-column", "w"], 2, "has no column 'w'"),
        (["a.csv", "none.csv"], 3, "not there"),
        (["a.csv", "--pairs", "j.csv"], 3, "row 1, column 'same'"),
    ]:
        result = compare(*words)
        assert result.exit_code == code, (words, result.stderr)
        assert said in result.stderr
        assert result.stdout == ""
