"""Ctrl-C keeps the best of the search so far, and --resume ends with the bits of a search that was never stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

import asterism
from asterism.cli.main import main
from asterism.engines import journal
from asterism.engines.journal import digest_of
from asterism.errors import ModelFileError
from asterism.methods import path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process there")
REPEATABLE = ("groups.asterism", "labels.csv", "summary.json")
SEARCH = ["find", "t.csv", "--k", "1:4"]

# Where a search waits for its Ctrl-C: what is patched, and at which call of it.
AT_START = ("asterism.verdict.choose", "decide", 1)
IN_THE_PATH = ("asterism.methods.path", "_Path.visit", 12)
AFTER_THE_PATH = ("asterism.verdict.decide", "propose", 1)
AFTER_THE_DECISION = ("asterism.verdict.choose", "measured", 1)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(7 * g, 1, (30 + 10 * g, 2)) for g in range(3)])
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(f"{a:.4f},{b:.4f}" for a, b in rows) + "\n")
    return tmp_path


def run(*words: str):
    return CliRunner().invoke(main, list(words))


def stopped(folder, where, *words: str):
    """Run a search in a process of its own, with Ctrl-C where it waits; code, stdout, stderr."""
    module, name, call = where
    code = (
        "import importlib, pathlib, time\n"
        "from asterism.cli.main import main\n"
        f"owner = importlib.import_module({module!r})\n"
        f"*inside, name = {name!r}.split('.')\n"
        "for part in inside: owner = getattr(owner, part)\n"
        "real, calls = getattr(owner, name), []\n"
        "def waiting(*args, **how):\n"
        "    calls.append(0)\n"
        f"    if len(calls) == {call}:\n"
        "        pathlib.Path('waits').touch()\n"
        "        time.sleep(120)\n"
        "    return real(*args, **how)\n"
        "setattr(owner, name, waiting)\n"
        f"main({[*SEARCH, *words]!r})"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    give_up = time.monotonic() + 120
    while not (folder / "waits").exists() and process.poll() is None and time.monotonic() < give_up:
        time.sleep(0.02)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=120)
    (folder / "waits").unlink(missing_ok=True)
    assert "Traceback" not in errors
    return process.returncode, out, errors


def bits(folder) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in REPEATABLE}


def test_mixtures_fitted_so_far_are_kept_on_ctrl_c(here) -> None:
    code, _, errors = stopped(here, IN_THE_PATH)
    assert code == 130, errors
    summary = json.loads((here / "t-groups/summary.json").read_text())
    assert summary["interrupted"]
    assert "mixtures fitted so far" in summary["verdict"]
    assert "k-means" not in summary["verdict"]
    assert summary["method"] == "gaussian"
    assert {"k", "bic", "icl"} <= set(summary["choice"]["table"][0])
    assert asterism.load(here / "t-groups/groups.asterism").assign("t.csv").labels.max() + 1 == summary["k"]


def test_k_means_on_a_sample_is_said_where_nothing_was_fitted(here) -> None:
    code, out, errors = stopped(here, AT_START)
    assert code == 130, errors
    assert "before any mixture was fitted" in " ".join(out.split())
    assert "--resume" not in errors
    assert run(*SEARCH, "--resume").exit_code == 2


def test_a_decision_stands_and_the_resumed_search_has_the_same_bits(here, monkeypatch) -> None:
    assert run(*SEARCH, "--out", "whole").exit_code == 0
    code, out, errors = stopped(here, AFTER_THE_DECISION)
    assert code == 130, errors
    assert "--resume goes on" in errors
    assert "criteria were not compared" in " ".join(out.split())
    assert out.split("\n\n")[1].startswith("3 groups")
    assert run(*SEARCH).exit_code == 2  # neither --resume nor --force
    fitted = []
    climb = path._Path.climb

    def climbed(self, *args):
        if journal.journal() is not None:  # the search; stability has paths of its own after it
            fitted.append(self.passes)
        return climb(self, *args)

    monkeypatch.setattr(path._Path, "climb", climbed)
    done = run(*SEARCH, "--resume")
    assert done.exit_code == 0, done.stderr
    assert not any(fitted)  # the path came from the checkpoint; those of criteria have no second pass
    assert bits(here / "t-groups") == bits(here / "whole")
    assert not (here / "t-groups/checkpoint").exists()


def test_a_checkpoint_is_of_one_table_and_its_options(here) -> None:
    stopped(here, AFTER_THE_PATH)
    assert run("find", "t.csv", "--k", "1:5", "--resume").exit_code == 6
    lines = (here / "t.csv").read_text()
    (here / "t.csv").write_text(lines.replace(lines.splitlines()[1], "0.5,0.5"))
    done = run(*SEARCH, "--resume")
    assert done.exit_code == 6
    assert "another table" in done.stderr
    (here / "t-groups/checkpoint/search.json").write_text("[]")
    assert run(*SEARCH, "--resume").exit_code == 6
    assert run(*SEARCH, "--force").exit_code == 0
    assert not (here / "t-groups/checkpoint").exists()


def test_a_damaged_stage_is_no_stage(here, monkeypatch) -> None:
    stopped(here, AFTER_THE_PATH)
    [stage] = (here / "t-groups/checkpoint").glob("*.stage")
    stage.write_bytes(stage.read_bytes()[:100])
    assert run(*SEARCH, "--resume").exit_code == 6


def test_files_of_others_in_the_checkpoint_are_not_removed(here) -> None:
    stopped(here, AFTER_THE_PATH)
    (here / "t-groups/checkpoint/thesis.tex").write_text("mine")
    done = run(*SEARCH, "--force")
    assert done.exit_code == 2
    assert "thesis.tex" in done.stderr
    assert (here / "t-groups/checkpoint/thesis.tex").exists()


def test_in_python_a_folder_is_all_it_takes(here, monkeypatch) -> None:
    from asterism.verdict import choose

    rows = np.loadtxt("t.csv", delimiter=",", skiprows=1)
    whole = asterism.find(rows, k=[1, 2, 3])
    measured = choose.measured

    def interrupted(*args, **how):
        raise KeyboardInterrupt

    monkeypatch.setattr(choose, "measured", interrupted)
    first = asterism.find(rows, k=[1, 2, 3], engine=asterism.engine(checkpoint="kept"))
    assert first.interrupted
    assert first.k == 3
    monkeypatch.setattr(choose, "measured", measured)
    again = asterism.find(rows, k=[1, 2, 3], engine=asterism.engine(checkpoint="kept"))
    assert not again.interrupted
    assert (again.probabilities == whole.probabilities).all()
    assert not (here / "kept").exists()
    monkeypatch.setattr(choose, "measured", interrupted)
    asterism.find(rows, k=[1, 2, 3], engine=asterism.engine(checkpoint="kept"))
    with pytest.raises(ModelFileError, match="another table"):
        asterism.find(rows[1:], k=[1, 2, 3], engine=asterism.engine(checkpoint="kept"))


def test_digests_tell_values_types_and_order_apart() -> None:
    one = np.arange(4.0)
    different = [
        one,
        one.astype(np.float32),
        one.reshape(2, 2),
        one[::-1].copy(),
        [one, one],
        {"a": one},
        "a",
    ]
    assert len({digest_of(part) for part in different}) == len(different)
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})


def test_short_searches_write_nothing_on_their_way(here, monkeypatch) -> None:
    written = []
    monkeypatch.setattr(journal, "WORTH", 1e9)  # seconds
    monkeypatch.setattr(journal.Journal, "write", lambda self: written.append(self))
    assert run(*SEARCH).exit_code == 0
    assert not written


def test_columns_of_several_kinds_keep_their_decision_and_their_mixtures(here, penguins, monkeypatch) -> None:
    from asterism.verdict import mixed

    def interrupted(*args, **how):
        raise KeyboardInterrupt

    kinds = {"species": "ignored"}
    monkeypatch.setattr(mixed, "measured", interrupted)
    found = asterism.find(penguins, kinds=kinds, k=[1, 2, 3])
    assert found.interrupted
    assert found.settings["method"] == "mixed"
    assert "criteria were not compared" in found.verdict
    monkeypatch.setattr(mixed, "evidence_of", interrupted)
    found = asterism.find(penguins, kinds=kinds, k=[1, 2, 3])
    assert "mixtures fitted so far" in found.verdict
    assert found.model.assign(penguins).labels.tolist() == found.labels.tolist()
