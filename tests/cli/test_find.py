"""``asterism find`` from the command line to the files it leaves."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest
from click.testing import CliRunner

from asterism.cli.main import main

FILES = ["groups.asterism", "labels.csv", "report.html", "summary.json"]
REPEATABLE = [name for name in FILES if name != "report.html"]  # which tells time and memory
PROGRAM = [sys.executable, "-m", "asterism.cli.main"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of one's own to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def find(*words: str, stdin=None):
    return CliRunner().invoke(main, ["find", *map(str, words)], input=stdin)


def blobs(path, n=40, seed=0) -> None:
    """Three round groups, far apart."""
    rng = np.random.default_rng(seed)
    rows = np.vstack([rng.normal(10 * g, 1, (n + 10 * g, 2)) for g in range(3)])
    path.write_text("a,b\n" + "\n".join(f"{a:.4f},{b:.4f}" for a, b in rows) + "\n")


def left_behind(folder) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


# ------------------------------------------------------------------------------------------------ the job


def test_penguins_end_to_end(here, penguins) -> None:
    result = find(penguins, "--ignore", "species")
    assert result.exit_code == 0, result.stderr
    folder = here / "penguins-groups"
    assert left_behind(here) == ["penguins-groups"]
    assert left_behind(folder) == FILES
    assert "groups" in result.stdout
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    labels = list(csv.DictReader((folder / "labels.csv").open()))
    assert len(labels) == summary["rows"] == 344
    sizes = [sum(row["group"] == str(g) for row in labels) for g in range(summary["k"])]
    assert sizes == [group["size"] for group in summary["groups"]]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == 344
    assert all(float(row["probability"]) >= float(row["next_probability"]) for row in labels)
    kinds = {column["name"]: column["kind"] for column in summary["columns"]}
    assert kinds["bill_length_mm"] == "numeric"
    assert kinds["island"] == "categorical"
    assert [column["name"] for column in summary["ignored"]] == ["species"]
    missing = {column["name"]: column["missing"] for column in summary["columns"]}
    assert missing["bill_length_mm"] == penguins.read_text().count(",NA,NA,NA,NA,")


def test_clear_groups_are_found(here) -> None:
    blobs(here / "t.csv")
    summary = json.loads(find("t.csv", "--json").stdout)
    assert summary["version"] == 3
    assert summary["k"] == 3
    assert [group["size"] for group in summary["groups"]] == [60, 50, 40]
    centres = [group["centre"]["a"] for group in summary["groups"]]
    assert centres == pytest.approx([20, 10, 0], abs=0.6)
    assert [row["k"] for row in summary["choice"]["table"]] == list(range(1, 11))


def test_every_column_is_shown_with_its_kind_and_why(here, penguins) -> None:
    text = find(penguins, "--ignore", "species", "--method", "kmeans", "--k", "2").stdout
    for name in penguins.read_text().splitlines()[0].split(","):
        assert f"  {name} " in text


def test_same_seed_gives_the_same_files_on_any_number_of_threads(here, penguins) -> None:
    seen = set()
    for threads in (1, 2):
        result = find(penguins, "--force", "--seed", "7", "--k", "2:4", "--threads", threads)
        contents = tuple((here / "penguins-groups" / name).read_bytes() for name in REPEATABLE)
        seen.add((result.stdout, contents))
    assert len(seen) == 1


def test_one_k_is_taken_as_it_is_and_a_range_is_tried(here) -> None:
    blobs(here / "t.csv")
    one = json.loads(find("t.csv", "--k", "4", "--json").stdout)
    assert (one["k"], len(one["groups"])) == (4, 4)
    some = json.loads(find("t.csv", "--k", "1:4", "--json", "--force").stdout)
    assert [row["k"] for row in some["choice"]["table"]] == [1, 2, 3, 4]


def test_kinds_can_be_overruled(here, penguins) -> None:
    words = [
        "--kind",
        "year=ordinal:2007,2008,2009",
        "--kind",
        "sex=ignored",
        "--k",
        "2",
        "--method",
        "kmeans",
        "--json",
    ]
    summary = json.loads(find(penguins, *words).stdout)
    columns = {column["name"]: column for column in summary["columns"]}
    assert columns["year"]["kind"] == "ordinal"
    assert columns["year"]["levels"] == ["2007", "2008", "2009"]
    assert "sex" in [column["name"] for column in summary["ignored"]]


def test_weight_two_counts_as_two_rows(here) -> None:
    blobs(here / "t.csv")
    head, *rows = (here / "t.csv").read_text().splitlines()
    (here / "w.csv").write_text(
        "\n".join([f"{head},w", *(f"{row},{1 + (i < 40)}" for i, row in enumerate(rows))])
    )
    (here / "r.csv").write_text("\n".join([head, *rows[:40], *rows]))
    weighted = json.loads(find("w.csv", "--weights", "w", "--method", "kmeans", "--k", "3", "--json").stdout)
    repeated = json.loads(find("r.csv", "--method", "kmeans", "--k", "3", "--json").stdout)
    assert weighted["k"] == repeated["k"] == 3
    for a, b in zip(weighted["groups"], repeated["groups"], strict=True):
        assert a["share"] == pytest.approx(b["share"])
        assert a["centre"] == pytest.approx(b["centre"])


def test_standard_input(here) -> None:
    blobs(here / "t.csv")
    piped = find("-", "--method", "kmeans", "--k", "3", "--json", stdin=(here / "t.csv").read_bytes())
    assert piped.exit_code == 0, piped.stderr
    assert left_behind(here) == ["stdin-groups", "t.csv"]
    named = json.loads(find("t.csv", "--method", "kmeans", "--k", "3", "--json").stdout)
    assert json.loads(piped.stdout) | {"table": "t.csv"} == named


def test_out_names_the_folder_and_quiet_says_nothing(here) -> None:
    blobs(here / "t.csv")
    result = find("t.csv", "--method", "kmeans", "--k", "3", "--out", "deep/er", "--quiet")
    assert result.exit_code == 0
    assert left_behind(here / "deep" / "er") == FILES
    assert result.stderr == ""
    assert "deep/er" in find("t.csv", "--method", "kmeans", "--k", "3", "--out", "deep/er", "--force").stderr


# ------------------------------------------------------------------------------------------------ missing cells


def holey(path) -> None:
    blobs(path)
    lines = path.read_text().splitlines()
    lines[3] = ",5.0"
    lines[7] = "1.0,"
    path.write_text("\n".join(lines))


def test_missing_keep_uses_every_row(here) -> None:
    holey(here / "t.csv")
    summary = json.loads(find("t.csv", "--method", "kmeans", "--k", "3", "--json").stdout)
    assert sum(group["size"] for group in summary["groups"]) == summary["rows"] == 150
    assert [column["missing"] for column in summary["columns"]] == [1, 1]


def test_missing_drop_leaves_rows_out_and_says_so(here) -> None:
    holey(here / "t.csv")
    result = find("t.csv", "--method", "kmeans", "--k", "3", "--missing", "drop")
    assert "2 left out" in result.stdout
    labels = list(csv.DictReader((here / "t-groups" / "labels.csv").open()))
    assert [row["row"] for row in labels if row["group"] == ""] == ["2", "6"]
    summary = json.loads((here / "t-groups" / "summary.json").read_text())
    assert summary["rows_left_out"] == 2
    assert sum(group["size"] for group in summary["groups"]) == 148


def test_missing_drop_of_every_row_is_refused(here) -> None:
    (here / "t.csv").write_text("a,b\n1,\n,2\n3,\n4,\n,5\n,6\n,7\n")
    result = find("t.csv", "--method", "kmeans", "--k", "3", "--missing", "drop")
    assert result.exit_code == 3
    assert "mostly missing" in result.stderr
    assert "'a'" in result.stderr  # the column with more holes
    assert left_behind(here) == ["t.csv"]


def test_missing_refuse_names_the_first_cell(here) -> None:
    holey(here / "t.csv")
    result = find("t.csv", "--missing", "refuse")
    assert result.exit_code == 3
    assert "line 4, column 'a'" in result.stderr
    assert left_behind(here) == ["t.csv"]


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("content", "words", "said"),
    [
        ("a,b\n1,2\n3,4,5\n", [], "t.csv"),
        ("", [], "t.csv"),
        ("a,b\n", [], ""),
        ("a,b\n1,2\n1,2\n", [], "column"),
        ("a,b\n1,5\n2,oops\n3,9\n", ["--kind", "b=numeric"], "line 3, column 'b'"),
        ("a,b\n1,2\n3,4\n1,2\n", ["--k", "3"], "2 distinct rows"),
        ("a,b\n1,-2\n3,4\n", ["--weights", "b"], "line 2"),
    ],
    ids=[
        "ragged",
        "empty",
        "no rows",
        "constant",
        "text among numbers",
        "k above distinct rows",
        "bad weight",
    ],
)
def test_bad_tables_exit_with_3_and_write_nothing(here, content, words, said) -> None:
    (here / "t.csv").write_text(content)
    result = find("t.csv", *words)
    assert result.exit_code == 3, result.stderr
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert left_behind(here) == ["t.csv"]


def test_wrong_file_names_it(here) -> None:
    result = find("nowhere.csv")
    assert result.exit_code == 3
    assert "nowhere.csv" in result.stderr
    assert left_behind(here) == []


@pytest.mark.parametrize(
    "words",
    [
        ["--k", "0"],
        ["--k", "5:2"],
        ["--k", "three"],
        ["--kind", "a"],
        ["--kind", "a=funny"],
        ["--kind", "nosuch=numeric"],
        ["--ignore", "nosuch"],
        ["--weights", "nosuch"],
        ["--threads", "0"],
        ["--memory", "lots"],
        ["--seed", "-1"],
        ["--missing", "perhaps"],
        ["--nosuchoption"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2_and_writes_nothing(here, words) -> None:
    blobs(here / "t.csv")
    result = find("t.csv", *words)
    assert result.exit_code == 2, result.stderr
    assert "Traceback" not in result.stderr
    assert left_behind(here) == ["t.csv"]


def test_few_rows_are_described_not_refused(here) -> None:
    (here / "t.csv").write_text("a,b\n1,2\n3,5\n")
    result = find("t.csv")
    assert result.exit_code == 0, result.stderr
    assert "no groups" in result.stdout


def test_repeated_rows_are_never_split_further_than_they_differ(here) -> None:
    (here / "t.csv").write_text("a,b\n" + "1,2\n2,3\n9,9\n" * 20)
    numbers = ("--kind", "a=numeric", "--kind", "b=numeric")
    assert json.loads(find("t.csv", "--json", *numbers).stdout)["k"] <= 3
    summary = json.loads(find("t.csv", "--k", "2", "--json", "--force", *numbers).stdout)
    assert [group["size"] for group in summary["groups"]] == [40, 20]
    refused = find("t.csv", "--k", "4", "--force", *numbers)
    assert refused.exit_code == 3
    assert "3 distinct rows" in refused.stderr


def test_columns_that_repeat_each_other_show_no_groups_of_their_levels(here) -> None:
    (here / "t.csv").write_text("a,b\n" + "1,2\n3,5\n9,9\n" * 20)
    summary = json.loads(find("t.csv", "--json").stdout)
    assert summary["k"] == 1
    assert [(column["name"], column["reason"]) for column in summary["ignored"]] == [("b", "repeats 'a'")]


# ------------------------------------------------------------------------------------------------ overwriting


def test_overwriting_is_refused_before_the_work(here) -> None:
    blobs(here / "t.csv")
    assert find("t.csv", "--method", "kmeans", "--k", "3").exit_code == 0
    before = {name: (here / "t-groups" / name).read_bytes() for name in FILES}
    (here / "t.csv").write_text("not,a\ntable")  # never read: the folder is looked at first
    result = find("t.csv")
    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert {name: (here / "t-groups" / name).read_bytes() for name in FILES} == before
    assert left_behind(here) == ["t-groups", "t.csv"]


def test_force_replaces_results_but_never_the_files_of_others(here) -> None:
    blobs(here / "t.csv")
    assert find("t.csv", "--method", "kmeans", "--k", "3").exit_code == 0
    assert find("t.csv", "--method", "kmeans", "--k", "2", "--force").exit_code == 0
    assert json.loads((here / "t-groups" / "summary.json").read_text())["k"] == 2
    result = find("t.csv", "--out", ".", "--force")
    assert result.exit_code == 2
    assert "t.csv" in result.stderr
    assert left_behind(here) == ["t-groups", "t.csv"]


# ------------------------------------------------------------------------------------------------ not settled


def test_interrupted_search_is_the_best_so_far_and_strict_refuses_it(here, monkeypatch) -> None:
    from asterism.search import choosing

    def stopped(*args, **options):
        raise KeyboardInterrupt

    blobs(here / "t.csv")
    monkeypatch.setattr(choosing, "choose_formed", stopped)
    result = find("t.csv", "--strict")
    assert result.exit_code == 4
    assert left_behind(here) == ["t.csv"]
    result = find("t.csv", "--json")
    assert result.exit_code == 130
    assert "best so far" in result.stderr
    summary = json.loads(result.stdout)
    assert summary["interrupted"]
    assert summary["k"] == 3
    assert left_behind(here / "t-groups") == FILES


def interrupted(folder, ready: Callable[[], bool], seconds: float = 60.0) -> subprocess.Popen[bytes]:
    """Run ``asterism find`` on t.csv, with Ctrl-C as soon as it is ``ready``."""
    code = (
        "import pathlib, time\n"
        "from asterism.engines import loop\n"
        "from asterism.cli.main import main\n"
        "advance, passes = loop._advance, []\n"
        "def slowly(*args, **how):\n"
        "    passes.append(0)\n"
        "    pathlib.Path(f'pass{len(passes)}').touch()\n"
        "    if len(passes) == 2: time.sleep(60)\n"
        "    advance(*args, **how)\n"
        "loop._advance = slowly\n"
        "main(['find', 't.csv'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    give_up = time.monotonic() + seconds
    while not ready() and process.poll() is None and time.monotonic() < give_up:
        time.sleep(0.02)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    return process


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process there")
def test_interrupt_keeps_the_best_so_far_and_says_so(here) -> None:
    blobs(here / "t.csv")
    process = interrupted(here, (here / "pass2").exists)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"interrupted" in out + errors
    assert b"Traceback" not in errors
    assert left_behind(here / "t-groups") == FILES


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process there")
def test_interrupt_before_anything_is_found_writes_nothing(here) -> None:
    os.mkfifo(here / "t.csv")  # reading it waits for a writer, which comes and says nothing
    writers = []

    def is_read() -> bool:
        with suppress(OSError):  # nobody reads it yet: Python is importing, and may lose Ctrl-C meanwhile
            writers.append(os.open(here / "t.csv", os.O_WRONLY | os.O_NONBLOCK))
        return bool(writers)

    process = interrupted(here, is_read)
    out, errors = process.communicate(timeout=60)
    os.close(writers[0])
    assert process.returncode == 130, errors
    assert out == b""
    assert b"Traceback" not in errors
    assert not (here / "t-groups").exists()


# ------------------------------------------------------------------------------------------------ as a program


def test_data_goes_to_stdout_and_messages_to_stderr(here, penguins) -> None:
    env = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(
        [*PROGRAM, "find", penguins, "--k", "2", "--method", "kmeans", "--json"],
        capture_output=True,
        text=True,
        env=env,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 344
    assert "Wrote" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_hostile_names_cannot_steer_the_terminal(here) -> None:
    blobs(here / "t.csv")
    text = (here / "t.csv").read_text()
    (here / "t.csv").write_text(text.replace("a,b", "a\x1b[31m,b", 1))
    result = find("t.csv", "--method", "kmeans", "--k", "3")
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout


# ------------------------------------------------------------------------------------------------ more options


def test_reference_takes_no_part_and_is_compared(here, penguins) -> None:
    result = find(penguins, "--reference", "species", "--ignore", "island", "--k", "3", "--json")
    told = json.loads(result.stdout)
    assert [c["name"] for c in told["ignored"]] == ["species", "island"]
    assert told["reference"]["rows"] == 344
    from sklearn.metrics import adjusted_rand_score

    labels = [row["group"] for row in csv.DictReader((here / "penguins-groups" / "labels.csv").open())]
    species = [row["species"] for row in csv.DictReader(penguins.open())]
    assert told["reference"]["adjusted_rand"] == pytest.approx(adjusted_rand_score(species, labels))


def test_standard_input_has_a_reference_and_names_of_rows(here) -> None:
    blobs(here / "t.csv")
    lines = (here / "t.csv").read_text().splitlines()
    rows = [f"{line},{'ab'[j % 2]},r{j}" for j, line in enumerate(lines[1:])]
    text = "\n".join([lines[0] + ",side,name", *rows])
    result = find("-", "--reference", "side", "--id", "name", "--k", "3", "--method", "kmeans", "--json",
                  stdin=text.encode())  # fmt: skip
    assert json.loads(result.stdout)["reference"]["rows"] == len(rows)
    with (here / "stdin-groups" / "labels.csv").open() as file:
        assert [row["name"] for row in csv.DictReader(file)] == [f"r{j}" for j in range(len(rows))]


def test_how_a_file_was_read_is_said_and_kept(here) -> None:
    blobs(here / "t.csv")
    lines = (here / "t.csv").read_text().splitlines()
    (here / "t.csv").write_text("\n".join(["Größe", "", *lines]), encoding="latin-1")
    result = find(
        "t.csv", "--rename", f"{lines[0].split(',')[0]}=länge", "--k", "3", "--method", "kmeans", "--json"
    )
    told = json.loads(result.stdout)
    assert "Windows-1252" in told["notes"][0]
    assert "'Größe'" in told["notes"][1]
    assert told["columns"][0]["name"] == "länge"
    for note in told["notes"]:
        assert note in result.stderr
    plain = json.loads(find("t.csv", "--header", "3", "--dry-run", "--json").stdout)
    assert plain["rows"] == len(lines) - 1
    assert plain["notes"] == told["notes"][:1]


@pytest.mark.parametrize("method", ["gaussian", "kmeans", "kmedoids"])
def test_methods_can_be_chosen(here, method) -> None:
    blobs(here / "t.csv")
    told = json.loads(find("t.csv", "--method", method, "--k", "3", "--json").stdout)
    assert told["method"] == method
    assert [group["size"] for group in told["groups"]] == [60, 50, 40]


def test_dry_run_writes_nothing_and_says_what_it_would_do(here, penguins) -> None:
    result = find(penguins, "--dry-run", "--k", "2:4")
    assert result.exit_code == 0, result.stderr
    assert "344 rows" in result.stdout
    assert "2 to 4" in result.stdout
    assert "MB" in result.stdout
    assert left_behind(here) == []
    told = json.loads(find(penguins, "--dry-run", "--json").stdout)
    assert told["memory_bytes"] > 0
    assert told["seconds"] > 0


def test_ids_are_copied_and_cannot_be_formulas(here) -> None:
    blobs(here / "t.csv")
    head, *rows = (here / "t.csv").read_text().splitlines()
    names = ["=1+1", "+2", "-3", "@SUM(A1)", "plain", "a=b"]
    lines = [f"{row},{names[i] if i < len(names) else f'n{i}'}" for i, row in enumerate(rows)]
    (here / "t.csv").write_text("\n".join([f"{head},id", *lines]))
    assert find("t.csv", "--id", "id", "--method", "kmeans", "--k", "3").exit_code == 0
    found = [row["id"] for row in csv.DictReader((here / "t-groups" / "labels.csv").open())]
    assert found[:6] == ["'=1+1", "'+2", "'-3", "'@SUM(A1)", "plain", "a=b"]


def test_cluster_that_does_not_answer_is_a_usage_error(here) -> None:
    blobs(here / "t.csv")
    result = find("t.csv", "--cluster", "not an address")
    assert result.exit_code == 2
    assert "not an address" in result.stderr
