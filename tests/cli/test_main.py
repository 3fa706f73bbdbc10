"""The group itself: exit codes, words instead of tracebacks, stdout for data alone."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

import asterism
from asterism.cli import find as find_module
from asterism.cli.main import main
from asterism.errors import (
    DataError,
    MemoryBudgetError,
    ModelFileError,
    NotConvergedError,
    OutputExistsError,
    ParameterError,
)


@pytest.fixture
def fail_with(monkeypatch):
    """Make the work of ``asterism find`` end in an exception."""

    def arrange(error: BaseException) -> None:
        def work(_options):
            raise error

        monkeypatch.setattr(find_module, "run", work)

    return arrange


def test_version_and_help() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == f"asterism {asterism.__version__}\n"
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    assert "find" in result.output


def test_unknown_command_and_missing_table_are_usage_errors() -> None:
    assert CliRunner().invoke(main, ["fnid"]).exit_code == 2
    assert CliRunner().invoke(main, ["find"]).exit_code == 2


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ParameterError("p", "do q."), 2),
        (OutputExistsError("p", "do q."), 2),
        (DataError("p", "do q.", row=3, column="c"), 3),
        (NotConvergedError("p", "do q."), 4),
        (MemoryBudgetError("p", "do q."), 5),
        (ModelFileError("p", "do q."), 6),
    ],
)
def test_our_errors_end_in_one_line_with_their_remedy_and_exit_code(fail_with, error, code) -> None:
    fail_with(error)
    result = CliRunner().invoke(main, ["find", "t.csv"])
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr == f"asterism: {error}\n"
    assert result.stderr.endswith("do q.\n")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "Interrupted"),
        (MemoryError(), 5, "memory"),
        (PermissionError(13, "Permission denied", "somewhere"), 1, "Permission denied: somewhere."),
        (ZeroDivisionError("oh"), 1, "ZeroDivisionError: oh"),
    ],
)
def test_other_errors_are_told_without_a_traceback(fail_with, error, code, said) -> None:
    fail_with(error)
    result = CliRunner().invoke(main, ["find", "t.csv"])
    assert result.exit_code == code
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_debug_shows_the_traceback(fail_with) -> None:
    fail_with(ZeroDivisionError("oh"))
    result = CliRunner().invoke(main, ["find", "t.csv", "--debug"])
    assert result.exit_code == 1
    assert "Traceback" in result.stderr


def test_closed_pipe_is_no_error(penguins, tmp_path) -> None:
    code = (
        "import os, sys\n"
        "from asterism.cli import find, main\n"
        "def work(_options):\n"
        "    os.close(0)\n"
        "    for _ in range(10000): print('x' * 100)\n"
        "find.run = work\n"
        "main.main(['find', 't.csv'])"
    )
    command = [sys.executable, "-c", code]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    process.stdout.read(10)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert errors == b""
