from __future__ import annotations

import pytest

from asterism.cli.output import refuse_overwrite, whole_folder
from asterism.errors import OutputExistsError

OURS = ("labels.csv", "summary.txt")


def filled(folder, *names):
    folder.mkdir()
    for name in names:
        (folder / name).write_text("old")
    return folder


def test_folder_appears_whole(tmp_path) -> None:
    target = tmp_path / "deep" / "out"
    with whole_folder(target, False, OURS) as folder:
        (folder / "labels.csv").write_text("new")
        assert not target.exists()
    assert (target / "labels.csv").read_text() == "new"
    assert [entry.name for entry in target.parent.iterdir()] == ["out"]


def test_failure_leaves_nothing(tmp_path) -> None:
    def fail():
        with whole_folder(tmp_path / "out", False, OURS) as folder:
            (folder / "labels.csv").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_failure_under_force_leaves_the_old_results(tmp_path) -> None:
    target = filled(tmp_path / "out", *OURS)

    def fail():
        with whole_folder(target, True, OURS):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    assert (target / "labels.csv").read_text() == "old"


def test_force_replaces_all_of_the_old_results(tmp_path) -> None:
    target = filled(tmp_path / "out", *OURS)
    with whole_folder(target, True, OURS) as folder:
        (folder / "labels.csv").write_text("new")
    assert {entry.name: entry.read_text() for entry in target.iterdir()} == {"labels.csv": "new"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_results_are_not_replaced_without_force_and_the_error_says_how(tmp_path) -> None:
    target = filled(tmp_path / "out", "labels.csv")
    with pytest.raises(OutputExistsError, match="--force"):
        refuse_overwrite(target, False, OURS)


def test_files_of_others_are_never_replaced(tmp_path) -> None:
    target = filled(tmp_path / "out", "labels.csv", "thesis.tex")
    with pytest.raises(OutputExistsError, match=r"thesis\.tex"):
        refuse_overwrite(target, True, OURS)


def test_file_in_the_way_is_never_replaced(tmp_path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(OutputExistsError, match="not a folder"):
        refuse_overwrite(tmp_path / "out", True, OURS)


def test_empty_folder_needs_no_force(tmp_path) -> None:
    with whole_folder(filled(tmp_path / "out"), False, OURS) as folder:
        (folder / "labels.csv").write_text("new")
    assert (tmp_path / "out" / "labels.csv").read_text() == "new"
