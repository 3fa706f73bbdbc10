"""What a newcomer meets first: the import, the README, the examples, the docstrings."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys

import pytest

import asterism

HEAVY = ["sklearn", "plotly", "dask", "pandas", "pyarrow", "scipy", "polars", "numpy"]
MODULES = [name for _, name, _ in pkgutil.walk_packages(asterism.__path__, "asterism.")]


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_asterism_loads_nothing_heavy() -> None:
    assert not loaded_after("import asterism") & set(HEAVY)


def test_command_line_help_loads_nothing_heavy() -> None:
    help_text = "from asterism.cli.main import main\nmain(['--help'], standalone_mode=False)"
    assert not loaded_after(help_text) & {*HEAVY, "rich"}


def test_every_public_name_can_be_reached() -> None:
    for name in asterism.__all__:
        assert getattr(asterism, name) is not None
        assert name in dir(asterism)
    with pytest.raises(AttributeError, match="no_such_name"):
        asterism.no_such_name  # noqa: B018


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


# ------------------------------------------------------------------------------------------------ README


def first_screen_commands(root) -> list[str]:
    """Lines of the shell blocks above the first section."""
    top = (root / "README.md").read_text(encoding="utf-8").split("\n## ")[0]
    return [line for block in re.findall(r"```bash\n(.*?)```", top, re.S) for line in block.splitlines()]


def test_readme_opens_with_two_commands_of_one_line(root) -> None:
    job, test = first_screen_commands(root)
    assert job.startswith("python3 -m venv ")
    assert " && .venv/bin/pip install . && .venv/bin/asterism find examples/penguins.csv" in job
    assert test.startswith("python3 -m venv ")
    assert test.endswith("pytest")


def test_ci_finds_exactly_the_test_command_of_the_readme(root) -> None:
    pattern = re.search(r"grep -E '(.*)' README.md", (root / ".ci" / "run").read_text(encoding="utf-8"))[1]
    lines = (root / "README.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if re.search(pattern, line)] == [first_screen_commands(root)[1]]


def test_job_of_the_readme_can_be_run_twice(root, tmp_path) -> None:
    words = first_screen_commands(root)[0].split(" && ")[-1].split()
    for _ in range(2):
        command = [sys.executable, "-m", "asterism.cli.main", *words[1:]]
        command[command.index("examples/penguins.csv")] = str(root / "examples" / "penguins.csv")
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["penguins-groups"]


def test_python_of_the_readme_runs(root, capsys, monkeypatch) -> None:
    monkeypatch.chdir(root)
    (code,) = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.S)
    exec(compile(code, "README.md", "exec"), {})
    assert "(1000, 2)" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------ examples


def test_example_by_hand_and_asterism_find_the_same_groups(root, tmp_path) -> None:
    script = root / "examples" / "kmeans_blocks.py"
    env = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    by_hand, ours = (float(s) for s in re.findall(r"sum of squares ([\d.]+)", done.stdout))
    assert ours <= by_hand * 1.001  # the best of several starts; by hand is one
    assert len(re.findall(r"group \d: \d+ penguins", done.stdout)) == 3
