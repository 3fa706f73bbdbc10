"""Queries of models, run: what the database says of rows is what ``assign`` says."""

from __future__ import annotations

import numpy as np
import pytest
import sqlglot
from exported_models import CASES, MEASURES, case, complete
from sql_databases import answers

import asterism
from asterism.export.dialects import DIALECTS

STRUCTURED = [name for name in MEASURES if len(name) == 3 and name not in ("EII", "VVV", "EVE")]


def check(name: str, rows: list[tuple]) -> None:
    model, table = case(name)
    expected = model.assign(table)
    labels, probabilities = answers(rows, model.k)
    known = np.ones(len(labels), bool)
    if "medoids" in name:  # a query does not place rows that have no cell in common with a medoid
        known = ~np.isnan(labels)
        assert known[complete(table)].all()
    np.testing.assert_array_equal(labels[known], expected.labels[known])
    np.testing.assert_allclose(probabilities[known], expected.probabilities[known], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_duckdb_says_what_assign_says(name, database) -> None:
    model, table = case(name)
    check(name, database("duckdb")(asterism.to_sql(model, "duckdb", keep=["id"]), table))


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
@pytest.mark.parametrize("name", [name for name in CASES if name not in STRUCTURED])
def test_other_databases_say_so_too(name, dialect, database) -> None:
    model, table = case(name)
    check(name, database(dialect)(asterism.to_sql(model, dialect, keep=["id"]), table))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_can_be_read(dialect) -> None:
    for name in ("forms", "directions, background", "medoids"):
        query = asterism.to_sql(case(name)[0], dialect)
        (parsed,) = sqlglot.parse(query, read=dialect)
        assert parsed.find(sqlglot.exp.Command) is None
        assert parsed.named_selects[-1] == "asterism_probability_2"
