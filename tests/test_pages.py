"""Commands and examples of the README, the tutorial and the page on find are run as they are written."""

from __future__ import annotations

import doctest
import re
import shlex

import pytest
from click.testing import CliRunner

from asterism.cli.main import main

PAGES = {"README.md": 4, "docs/tutorial.md": 9}  # page -> commands it has at least


def commands(text: str) -> list[str]:
    blocks = re.findall(r"```bash\n(.*?)```", text, re.S)
    return [line for block in blocks for line in block.splitlines() if line.startswith("asterism ")]


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_the_page_run_in_their_order(root, penguins, tmp_path, monkeypatch, page) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "penguins.csv").write_bytes(penguins.read_bytes())
    found = commands((root / page).read_text(encoding="utf-8"))
    assert len(found) >= PAGES[page]
    for command in found:
        result = CliRunner().invoke(main, shlex.split(command, comments=True)[1:])
        assert result.exit_code == 0, (command, result.stderr)


def test_examples_of_the_tutorial_are_true(root, penguins, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "penguins.csv").write_bytes(penguins.read_bytes())
    failed, tried = doctest.testfile(str(root / "docs" / "tutorial.md"), module_relative=False)
    assert tried > 6
    assert failed == 0


def test_every_page_that_is_linked_is_there(root) -> None:
    for page in (root / "README.md", root / "docs" / "tutorial.md", root / "docs" / "methods" / "find.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (page.name, target)


def test_every_option_of_the_page_on_find_is_known(root) -> None:
    from asterism.cli.assign import assign
    from asterism.cli.find import find

    known = {name for command in (find, assign) for option in command.params for name in option.opts}
    text = (root / "docs" / "methods" / "find.md").read_text(encoding="utf-8")
    assert set(re.findall(r"--[a-z][a-z-]+", text)) <= known
