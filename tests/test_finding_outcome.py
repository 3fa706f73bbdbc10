"""``finding.outcome`` and ``asterism find --outcome``: from a table to whether its groups differ."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import asterism
from asterism.cli.main import main
from asterism.data.columns import Column
from asterism.errors import DataError, ParameterError
from asterism.explain.outcome import Outcome

N = 300
ASIDE = {"spend": "ignored", "left": "ignored", "colour": "ignored"}


@pytest.fixture(scope="module")
def customers() -> pa.Table:
    """Two overlapping groups in two columns, and three columns that depend on the group."""
    rng = np.random.default_rng(0)
    z = (np.arange(N) >= 180).astype(int)
    x = rng.normal(2.2 * z[:, None], 1.0, (N, 2))
    spend = rng.normal(10.0 + 4.0 * z, 1.0)
    spend[:10] = np.nan
    left = rng.random(N) < np.where(z, 0.8, 0.2)
    colour = np.array(["red", "green", "blue"])[np.where(rng.random(N) < 0.5, z, 2)]
    weights = rng.integers(1, 3, N)
    return pa.table(
        {"a": x[:, 0], "b": x[:, 1], "w": weights, "left": left, "colour": colour,
         "spend": pa.array(spend, from_pandas=True)}
    )  # fmt: skip


@pytest.fixture(scope="module")
def finding(customers) -> asterism.Finding:
    return asterism.find(customers, k=2, kinds=ASIDE | {"w": "ignored"})


def test_a_column_that_was_left_out_is_compared(finding) -> None:
    found = finding.outcome("spend")
    assert isinstance(found, Outcome)
    assert (found.rows, found.left_out, found.kind, found.step_one) == (290, 10, "numeric", True)
    assert found.test is not None
    assert found.test.p < 1e-6
    naive = np.array([group.naive.value for group in found.groups])
    assert np.ptp(found.estimates) > np.ptp(naive)  # wrong labels bring means together
    assert finding.outcome("left").kind == "binary"
    assert finding.outcome("colour").estimates.sum(axis=1) == pytest.approx(1.0)
    assert finding.outcome("spend", method="ml").estimates == pytest.approx(found.estimates, abs=0.5)


def test_cells_may_be_given_themselves(finding, customers) -> None:
    by_name = finding.outcome("spend").estimates
    cells = customers["spend"].to_pandas()
    assert finding.outcome(cells).estimates == pytest.approx(by_name)
    assert finding.outcome(cells.to_numpy()).estimates == pytest.approx(by_name)
    names = finding.outcome(["yes" if left else "no" for left in customers["left"].to_pylist()])
    assert names.estimates == pytest.approx(finding.outcome("left").estimates)


def test_step_one_widens_intervals(finding) -> None:
    from dataclasses import replace

    from asterism.explain.outcome import outcome_of
    from asterism.groups.membership import membership_of

    known, rows = membership_of(finding.model, finding.encoded.source, finding.labels)
    y = np.random.default_rng(0).normal(5.0 * known.shares[:, 1], 1.0)
    column = Column("y")
    whole, alone = outcome_of(known, y, column), outcome_of(replace(known, step_one=None), y, column)
    assert len(rows) == N
    for a, b in zip(whole.groups, alone.groups, strict=True):
        assert a.corrected.error > b.corrected.error


def test_weights_are_copies_where_they_are_whole(customers) -> None:
    weighted = asterism.find(customers, k=2, kinds=ASIDE, weights="w")
    found = weighted.outcome("left")
    sampling = weighted.outcome("left", weights="sampling")
    assert (found.sampling, sampling.sampling) == (False, True)
    assert found.estimates == pytest.approx(sampling.estimates)
    assert sampling.groups[0].corrected.error > found.groups[0].corrected.error
    with pytest.raises(ParameterError, match="weights is 'often'"):
        weighted.outcome("left", weights="often")


def test_what_cannot_be_compared_is_said(finding, customers) -> None:
    with pytest.raises(ParameterError, match="made of 'a'"):
        finding.outcome("a")
    with pytest.raises(ParameterError, match="spend"):
        finding.outcome("spent")
    with pytest.raises(DataError, match=r"3 cells, the table 300 rows"):
        finding.outcome([1.0, 2.0, 3.0])
    read_before = asterism.find(asterism.read(customers, kinds=ASIDE | {"w": "ignored"}), k=2)
    with pytest.raises(ParameterError, match="Give the cells of 'spend'"):
        read_before.outcome("spend")
    assert read_before.outcome(customers["spend"].to_pandas()).rows == 290


def test_rows_that_were_dropped_take_no_part(customers) -> None:
    cells = customers["a"].to_pylist()
    cells[-1] = None
    table = customers.set_column(0, "a", pa.array(cells))
    found = asterism.find(table, k=2, kinds=ASIDE | {"w": "ignored"}, missing="drop").outcome("left")
    assert found.rows == N - 1


def test_centres_have_no_first_step(customers) -> None:
    found = asterism.find(customers, k=2, method="kmeans", kinds=ASIDE | {"w": "ignored"}).outcome("spend")
    assert not found.step_one
    assert found.test is not None


def test_the_command_line_shows_it_everywhere(customers, tmp_path, monkeypatch) -> None:
    import pyarrow.csv

    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(customers.select(["a", "b", "spend", "left"]), tmp_path / "customers.csv")
    words = ["find", "customers.csv", "--k", "2", "--outcome", "spend", "--outcome", "left"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.stderr
    assert "Outcome 'spend': means by BCH, 290 rows, 10 more without a cell" in result.stdout
    assert "Outcome 'left': shares of true by BCH" in result.stdout
    folder = tmp_path / "customers-groups"
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert [outcome["column"] for outcome in summary["outcomes"]] == ["spend", "left"]
    assert {column["name"] for column in summary["ignored"]} == {"spend", "left"}
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "What they are good for" in page
    assert page.count("<caption>&#39;") == 2
    piped = CliRunner().invoke(
        main, ["find", "-", *words[2:]], input=(tmp_path / "customers.csv").read_bytes()
    )
    assert piped.exit_code == 0, piped.stderr
    assert "Outcome 'spend': means by BCH, 290 rows" in piped.stdout


def test_the_page_on_outcomes_is_true(root) -> None:
    import doctest

    failed, tried = doctest.testfile(str(root / "docs" / "methods" / "outcome.md"), module_relative=False)
    assert tried > 8
    assert failed == 0
