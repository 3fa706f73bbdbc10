"""What the pages on fewer dimensions say works: their examples, their commands, the films."""

import doctest
import importlib.util
import re
import shlex

import numpy as np
import pytest
from click.testing import CliRunner

from asterism.cli.main import main
from asterism.data.pictures import write_picture

PAGES = ["nonlinear", "ppca", "quantizer", "svd", "visual_words"]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_the_page_work(root, page):
    failed, tried = doctest.testfile(str(root / "docs" / "methods" / f"{page}.md"), module_relative=False)
    assert tried > 3
    assert failed == 0


@pytest.mark.parametrize(("page", "least"), [("reduce", 3), ("quantizer", 3)])
def test_the_commands_of_the_page_work(root, penguins, tmp_path, monkeypatch, page, least):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "penguins.csv").write_bytes(penguins.read_bytes())
    picture = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    write_picture(tmp_path / "photo.png", picture)
    text = (root / "docs" / "methods" / f"{page}.md").read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"```bash\n(.*?)```", text, re.S))
    commands = [line for line in blocks.splitlines() if line.startswith("asterism ")]
    assert len(commands) >= least
    for command in commands:
        result = CliRunner().invoke(main, shlex.split(command, comments=True)[1:])
        assert result.exit_code == 0, (command, result.stderr)


def test_the_films_example_tells_two_tastes_apart(root, capsys):
    spec = importlib.util.spec_from_file_location("films", root / "examples" / "films.py")
    films = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(films)
    filled, view = films.main()
    ratings, names = np.array(list(films.RATINGS.values())), list(films.RATINGS)
    np.testing.assert_array_equal(filled[~np.isnan(ratings)], ratings[~np.isnan(ratings)])
    assert filled[names.index("Cleo"), 2] > 3.5  # as Ada and Ben, who like the same films
    assert filled[names.index("Gia"), 1] < 2.5  # as Eve and Finn
    space, letters = view.items[:3, 0], view.items[3:, 0]
    assert space.min() * letters.max() < 0
    fans, others = view.users[:4, 0], view.users[4:8, 0]
    assert (np.sign(fans) == np.sign(space[0])).all()
    assert (np.sign(others) == np.sign(letters[0])).all()
    assert view.strengths[0] > 2 * view.strengths[1]
    assert "Concept 2" in capsys.readouterr().out
