"""``asterism columns``: every column, before anything is fitted."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from asterism.cli.main import main


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "people.csv"
    lines = [
        f'{i},"${x:,.2f}",{["low", "high"][i % 2]},{99 if i % 9 == 0 else i % 5 + 1},'
        f"note {i} of somebody and his {i} cats"
        for i, x in enumerate(rng.lognormal(7, 1, 120))
    ]
    path.write_text("customer_id,income,level,q1,note\n" + "\n".join(lines) + "\n")
    return str(path)


def run(*args):
    result = CliRunner().invoke(main, list(args))
    return result.exit_code, result.output


def test_columns_are_shown_with_kinds_and_reasons(table):
    code, text = run("columns", table)
    assert code == 0
    assert "Used 3 of 5 columns; 1 numbers the rows, 1 looks like free text." in text
    assert "amounts in USD" in text
    assert "99 taken for missing" in text


def test_columns_as_json_and_as_the_user_wants_them(table):
    code, text = run(
        "columns", table, "--json", "--na", "q1=", "--kind", "level=categorical", "--ignore", "note"
    )
    told = json.loads(text)
    assert code == 0
    assert {c["name"]: c["kind"] for c in told["columns"]} == {
        "income": "numeric", "level": "categorical", "q1": "ordinal",
    }  # fmt: skip
    assert told["columns"][2]["levels"] == ["1", "2", "3", "4", "5", "99"]
    assert told["rows"] == 120


def test_lines_are_no_wider_than_they_may_be(table, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    _, text = run("columns", table)
    assert max(map(len, text.splitlines())) <= 70


def test_a_column_that_does_not_exist_is_refused(table):
    code, text = run("columns", table, "--na", "q2=99")
    assert code == 2
    assert "na names the column 'q2'" in text
