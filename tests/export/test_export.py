"""What can be exported, names that would break out of their place, and the command line."""

from __future__ import annotations

import ast
import csv
import doctest
import json
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from click.testing import CliRunner
from exported_models import any_shape, case, cells_of, mixture, numbers, survey_rows, table_of
from hypothesis import given, settings
from hypothesis import strategies as st
from sql_databases import answers, run_duckdb, run_sqlite

import asterism
from asterism.cli.main import main
from asterism.data.columns import Column
from asterism.errors import ParameterError
from asterism.explain.typicality import typicality_of
from asterism.export.dialects import DIALECTS
from asterism.export.python import literal
from asterism.export.sql import score_of
from asterism.families.categorical import CategoricalFamily
from asterism.families.gaussian import GaussianFamily
from asterism.families.product import ProductFamily
from asterism.modelfile import save

PETS = pa.table(
    {
        "kg": [4.1, 3.9, 4.4, None, 30.2, 28.1, 25.3, 2.0, 1.9, None],
        "says": ["meow", "meow", "meow", "purr", "woof", "woof", None, "tweet", "tweet", "moo"],
        "age": [1, 2, 3, 4, 5, 6, 7, 8, 9, None],
    }
)


def imported(model) -> dict:
    found = {"__name__": "groups"}
    exec(compile(asterism.to_python(model), "groups.py", "exec"), found)
    return found


def said_everywhere(model, table: pa.Table, k: int) -> list[np.ndarray]:
    """Labels by the Python file and by two databases."""
    if "id" not in table.column_names:
        table = table.append_column("id", pa.array(np.arange(table.num_rows)))
    found = [imported(model)["assign"](cells_of(table))[0]]
    for dialect, run in (("duckdb", run_duckdb), ("sqlite", run_sqlite)):
        found.append(answers(run(asterism.to_sql(model, dialect, keep=["id"]), table), k)[0])
    return found


# --- what can be exported ---------------------------------------------------------------------------------------


def test_a_tree_of_rules_gives_its_own_labels_with_missing_cells_and_new_levels() -> None:
    tree = asterism.KDTreeClustering(4).fit(PETS.slice(0, 9))
    new = pa.table(
        {"kg": [4.0, None, 99.0, 2.0], "says": ["moo", None, "woof", "purr"], "age": [2, 5, None, 9]}
    )
    for labels in said_everywhere(tree, PETS.slice(0, 9), 4):
        np.testing.assert_array_equal(labels, tree.labels_)
    known = pa.table({**cells_of(new), "says": [None, None, "woof", "purr"]})  # a new level is a missing cell
    for labels in said_everywhere(tree, new, 4):
        np.testing.assert_array_equal(labels, tree.predict(known))


def test_rules_of_an_explanation_give_the_first_that_is_met() -> None:
    finding = asterism.find(
        PETS.slice(0, 9).append_column("w", pa.array([1.0] * 8 + [2.0])), k=2, method="kmeans"
    )
    groups = finding.explanation.groups
    order = sorted((g for g in range(2) if groups[g].rule), key=lambda g: (-groups[g].rule.precision, g))
    rows = next(finding.encoded.source.blocks()).rows
    expected = np.full(len(rows), -1)
    for g in reversed(order):
        expected[groups[g].rule.met_by(rows)] = g
    assert len(set(expected)) > 1
    for labels in said_everywhere(
        finding.explanation, PETS.slice(0, 9).append_column("w", pa.array([1.0] * 8 + [2.0])), 2
    ):
        np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize(
    "estimator",
    [
        asterism.KMeans(3, random_state=0),
        asterism.KMedoids(3, metric="gower", random_state=0),
        asterism.GaussianMixture(3, covariance_type="tied", random_state=0),
        asterism.StudentMixture(3, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_fitted_estimators_give_their_own_labels(estimator) -> None:
    rows = numbers()
    fitted = estimator.fit(rows)
    for labels in said_everywhere(fitted, table_of(case("VVV")[0], rows), 3):
        np.testing.assert_array_equal(labels, fitted.predict(rows))


def test_a_mixture_over_a_table_of_kinds_gives_its_own_labels() -> None:
    rows, columns = survey_rows()
    table = table_of(mixture_of_kinds(), rows).select([c.name for c in columns[:4]])
    fitted = asterism.MixedMixture(
        3, kinds={"size": f"ordinal:{','.join(columns[2].levels)}"}, random_state=0
    ).fit(table)
    for labels in said_everywhere(fitted, table, 3):
        np.testing.assert_array_equal(labels, fitted.predict(table))


def mixture_of_kinds():
    return case("mixed columns")[0]


def test_a_finding_its_model_and_its_file_are_written_alike(tmp_path) -> None:
    finding = asterism.find(numbers(), k=2, method="kmeans")
    finding.save(tmp_path / "m.asterism")
    for write in (asterism.to_json, asterism.to_python, asterism.to_sql):
        assert write(finding) == write(finding.model) == write(tmp_path / "m.asterism")


def test_rows_that_find_left_out_are_left_out_by_exports() -> None:
    rows = np.vstack([numbers(), [[40.0, -40.0, 40.0]]])
    finding = asterism.find(rows, k=3, method="kmeans", outliers=0.05)
    assert (finding.labels < 0).sum() > 3
    for labels in said_everywhere(finding, table_of(finding.model, rows), 3):
        np.testing.assert_array_equal(labels, finding.model.assign(rows).labels)


def test_regions_are_refused_in_sql_and_the_remedy_is_named() -> None:
    with pytest.raises(ParameterError, match="--python"):
        asterism.to_sql(any_shape()[0])


@pytest.mark.parametrize("model", [3, asterism.PCA().fit(numbers())], ids=["a number", "components"])
def test_what_has_no_groups_is_refused(model) -> None:
    with pytest.raises(ParameterError, match="cannot be exported"):
        asterism.to_json(model)


@dataclass(frozen=True)
class Read(Column):
    """A column with a reading."""

    reading: Any = None


def test_columns_made_in_ways_no_export_knows_are_refused() -> None:
    model, _ = case("VVV")
    first, *others = model.columns
    made = replace(model, columns=(Read(first.name, reading=SimpleNamespace(form="moment")), *others))
    with pytest.raises(ParameterError, match=r"'x0' .* \(moment\)"):
        asterism.to_sql(made)
    cleaned = replace(model, columns=(Read(first.name, reading=SimpleNamespace(form="numbers")), *others))
    assert asterism.to_sql(cleaned) == asterism.to_sql(model)


# --- cells that assign refuses, and cells nobody would -----------------------------------------------------------


@pytest.mark.parametrize("run", [("duckdb", run_duckdb), ("sqlite", run_sqlite)], ids=lambda run: run[0])
def test_rows_that_assign_refuses_have_no_group(run) -> None:
    dialect, ask = run
    model, _ = case("mixed columns")
    rows, _ = survey_rows()
    table = table_of(model, rows[:5])
    bad = table.set_column(1, "age", pa.array([20.0, np.inf, 20.0, 1e300, np.nan]))
    bad = bad.set_column(6, "visits", pa.array([1.0, 1.0, 2.5, 1.0, 0.0]))
    labels, probabilities = answers(ask(asterism.to_sql(model, dialect, keep=["id"]), bad), 3)
    np.testing.assert_array_equal(np.isnan(labels), [False, True, True, True, False])
    assert np.isnan(probabilities).all(axis=1).tolist() == np.isnan(labels).tolist()


@pytest.mark.parametrize(
    ("column", "value"), [("age", np.inf), ("visits", 2.5), ("visits", -1), ("age", "old")]
)
def test_the_python_file_names_a_cell_it_cannot_take(column, value) -> None:
    cells = cells_of(table_of(case("mixed columns")[0], survey_rows()[0][:3]))
    cells[column][1] = value
    with pytest.raises(ValueError, match=f"Row 2, column '{column}'"):
        imported(case("mixed columns")[0])["assign"](cells)


def test_rows_that_lack_more_cells_than_are_written_out_have_no_group_and_the_query_says_so() -> None:
    model, table = case("VVV")
    expected, lacking = (
        model.assign(table).labels,
        np.isnan(np.array([list(row.values()) for row in table.to_pylist()], float)).sum(axis=1),
    )
    for patterns, most in ((1, 0), (4, 1), (7, 2), (8, 3)):
        query = asterism.to_sql(model, patterns=patterns, keep=["id"])
        labels, _ = answers(run_duckdb(query, table), 3)
        np.testing.assert_array_equal(labels[lacking <= most], expected[lacking <= most])
        assert np.isnan(labels[lacking > most]).all()
        assert ("has the group NULL." in query) == (most < 3)


def test_levels_are_known_however_a_database_keeps_them() -> None:
    family = ProductFamily(((GaussianFamily("EEI"), (0,)), (CategoricalFamily((2, 2), "conjugate"), (1, 2))))
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=60), rng.integers(0, 2, 60), rng.integers(0, 2, 60)]).astype(
        float
    )
    columns = (
        Column("x"),
        Column("year", "categorical", ("2007", "2008")),
        Column("on", "boolean", ("false", "true")),
    )
    model = mixture(rows, family, columns, k=2)
    expected = model.assign(
        pa.table({"x": rows[:, 0], "year": 2007 + rows[:, 1].astype(int), "on": rows[:, 2] == 1})
    )
    for year in (
        rows[:, 1] + 2007.0,
        rows[:, 1].astype(int) + 2007,
        [str(2007 + int(v)) for v in rows[:, 1]],
    ):
        table = pa.table({"id": np.arange(60), "x": rows[:, 0], "year": year, "on": rows[:, 2] == 1})
        for dialect, run in (("duckdb", run_duckdb), ("sqlite", run_sqlite)):
            labels, r = answers(run(asterism.to_sql(model, dialect, keep=["id"]), table), 2)
            np.testing.assert_array_equal(labels, expected.labels)
            np.testing.assert_allclose(r, expected.probabilities, rtol=0, atol=1e-9)


def test_a_word_among_numbers_is_no_zero_in_sqlite() -> None:
    model, _ = case("VVV")
    table = pa.table(
        {"id": [0, 1, 2], "x0": ["1.5", "abc", ""], "x1": ["1e0", "1", "1"], "x2": ["-2", "1", "1"]}
    )
    labels, _ = answers(run_sqlite(asterism.to_sql(model, "sqlite", keep=["id"]), table), 3)
    assert np.isnan(labels).tolist() == [False, True, False]
    assert labels[0] == model.assign([[1.5, 1.0, -2.0]]).labels[0]


# --- names ------------------------------------------------------------------------------------------------------

HOSTILE = (
    "'; DROP TABLE your_table; --",
    '"; DROP TABLE your_table; --',
    "a\nb -- c",
    "back\\",
    "\\'",
    "`tick`",
    "p0",
    "gr\u00fc\u00df \U0001f600 \u2028",
    "/* */ $$ {x} %s ?",
    '"""',
    "'''",
)


def hostile_model():
    rng = np.random.default_rng(0)
    g = np.repeat([0, 1], 60)
    rows = np.column_stack(
        [*(rng.normal(3 * g, 1) for _ in HOSTILE), rng.integers(0, 6, 120) + 5 * g]
    ).astype(float)
    columns = (*(Column(name) for name in HOSTILE), Column("level", "categorical", HOSTILE))
    d = len(HOSTILE)
    family = ProductFamily(
        ((GaussianFamily("VVI"), tuple(range(d))), (CategoricalFamily((d,), "conjugate"), (d,)))
    )
    return mixture(rows, family, columns, k=2), rows


def test_no_name_breaks_out_of_its_place() -> None:
    model, rows = hostile_model()
    table = table_of(model, rows)
    expected = model.assign(table).labels
    for labels in said_everywhere(model, table, 2):
        np.testing.assert_array_equal(labels, expected)
    assert [c["name"] for c in json.loads(asterism.to_json(model))["columns"]] == [*HOSTILE, "level"]


def test_no_name_breaks_out_of_its_place_in_a_server(database) -> None:
    model, rows = hostile_model()
    table = table_of(model, rows)
    labels, _ = answers(database("postgres")(asterism.to_sql(model, "postgres", keep=["id"]), table), 2)
    np.testing.assert_array_equal(labels, model.assign(table).labels)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_hostile_names_as_names(dialect) -> None:
    model, _ = hostile_model()
    (parsed,) = sqlglot.parse(asterism.to_sql(model, dialect), read=dialect)
    assert len(parsed.named_selects) == len(HOSTILE) + 4
    if dialect != "bigquery":  # whose escapes in names the parser leaves as they are
        assert parsed.named_selects[: len(HOSTILE)] == list(HOSTILE)
    levels = {literal.name for literal in parsed.find_all(sqlglot.exp.Literal) if literal.is_string}
    levels |= {literal.name.replace(2 * "\\", "\\") for literal in parsed.find_all(sqlglot.exp.ByteString)}
    assert set(HOSTILE) <= levels


TEXTS = st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))), min_size=20)


@settings(max_examples=10, deadline=None)
@given(TEXTS)
def test_texts_and_names_come_back_from_a_database(texts) -> None:
    for run, name in ((run_duckdb, "duckdb"), (run_sqlite, "sqlite")):
        dialect = DIALECTS[name]
        parts = [
            f"SELECT {j} AS place, {dialect.text(text)} AS {dialect.name('name ' + text)}"
            for j, text in enumerate(texts)
        ]
        found = run(" UNION ALL ".join(parts), pa.table({"x": [1]}))
        assert [text for _, text in sorted(found)] == texts
    assert [ast.literal_eval(literal(text)) for text in texts] == texts


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=50))
def test_numbers_come_back_to_the_bit(values) -> None:
    query = f"SELECT {', '.join(map(DIALECTS['duckdb'].number, values))}"
    assert list(run_duckdb(query, pa.table({"x": [1]}))[0]) == values
    assert [ast.literal_eval(literal(value)) for value in values] == values
    assert all("--" not in f"-{dialect.number(value)}" for dialect in DIALECTS.values() for value in values)


@pytest.mark.parametrize("name", ["zero \0 byte", "half \ud800"])
def test_characters_that_no_database_takes_are_refused(name) -> None:
    with pytest.raises(ParameterError, match="no database takes"):
        DIALECTS["duckdb"].text(name)


@pytest.mark.parametrize("keep", [["asterism_group"], ["id", "id"]])
def test_names_to_keep_are_those_of_columns_once(keep) -> None:
    with pytest.raises(ParameterError, match="columns to keep"):
        asterism.to_sql(case("VVV")[0], keep=keep)


def test_a_dialect_nobody_knows_is_refused() -> None:
    with pytest.raises(ParameterError, match="'oracle'"):
        asterism.to_sql(case("VVV")[0], "oracle")


# --- limits -----------------------------------------------------------------------------------------------------


@given(st.integers(2, 40), st.floats(0.001, 0.99), st.integers(0, 100))
def test_the_limit_of_a_score_is_that_of_its_typicality(n, least, seed) -> None:
    scores = np.sort(np.random.default_rng(seed).normal(size=n))
    known = typicality_of(np.zeros(n, int), scores, np.ones(n), 1, np.zeros((1, 1)))
    bound = score_of(known.scores[0], known.shares[0], known.weights[0], least)
    step = 1e-9 * (1 + abs(bound))
    below, above = known.of(np.zeros(2, int), np.array([bound - step, bound + step]))
    assert below < least
    assert above >= least or bound > scores[-1]


# --- the Python file --------------------------------------------------------------------------------------------


def test_the_python_file_imports_numpy_and_the_standard_library_alone() -> None:
    for name in ("mixed columns", "centres", "any shape"):
        module = ast.parse(asterism.to_python(case(name)[0]))
        nodes = [node for node in ast.walk(module) if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
        names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        assert names - sys.stdlib_module_names - {"collections.abc"} == {"numpy"}


def test_the_python_file_has_no_function_it_does_not_need() -> None:
    text = asterism.to_python(case("centres")[0])
    functions = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    assert {"assign", "centers", "rank", "is_level"} <= functions
    assert not functions & {"mixture", "normal", "medoids", "regions", "tree", "logarithm"}
    assert all(text.count(name) > 1 for name in functions)
    assert "\n\n\n\n" not in text


def test_the_python_file_gives_labels_of_a_csv_file(tmp_path) -> None:
    model, table = case("mixed columns")
    (tmp_path / "groups.py").write_text(asterism.to_python(model), encoding="utf-8")
    with (tmp_path / "new.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        for row in table.to_pylist():
            writer.writerow(
                ["NA" if v is None else str(v).lower() if isinstance(v, bool) else v for v in row.values()]
            )
    command = [sys.executable, "-I", str(tmp_path / "groups.py"), str(tmp_path / "new.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    expected = model.assign(table)
    assert [int(row["group"]) for row in rows] == expected.labels.tolist()
    np.testing.assert_allclose(
        [float(row["probability_1"]) for row in rows], expected.probabilities[:, 1], atol=1e-9
    )


# --- command line -----------------------------------------------------------------------------------------------


@pytest.fixture
def model_file(tmp_path):
    save(case("EEE")[0], tmp_path / "m.asterism")
    return str(tmp_path / "m.asterism")


@pytest.mark.parametrize(
    ("options", "write"),
    [
        (
            ["--sql", "postgres", "--table", "t", "--keep", "id"],
            lambda m: asterism.to_sql(m, "postgres", table="t", keep=["id"]),
        ),
        (["--sql", "duckdb", "--complete"], lambda m: asterism.to_sql(m, "duckdb", patterns=1)),
        (["--python"], asterism.to_python),
        (["--json"], asterism.to_json),
    ],
)
def test_the_command_writes_what_the_functions_write(model_file, tmp_path, options, write) -> None:
    shown = CliRunner().invoke(main, ["export", model_file, *options])
    assert (shown.exit_code, shown.stdout) == (0, write(model_file))
    out = tmp_path / "out"
    kept = CliRunner().invoke(main, ["export", model_file, *options, "--out", str(out)])
    assert (kept.exit_code, kept.stdout, out.read_text(encoding="utf-8")) == (0, "", write(model_file))
    again = CliRunner().invoke(main, ["export", model_file, *options, "--out", str(out)])
    assert again.exit_code == 2
    assert "--force" in again.stderr


@pytest.mark.parametrize("options", [[], ["--python", "--json"]])
def test_the_command_asks_for_one_target(model_file, options) -> None:
    done = CliRunner().invoke(main, ["export", model_file, *options])
    assert done.exit_code == 2
    assert "--sql" in done.stderr


def test_the_command_knows_every_dialect() -> None:
    from asterism.cli.export import DATABASES

    assert set(DATABASES) == set(DIALECTS)


# --- the page ---------------------------------------------------------------------------------------------------


def test_examples_of_the_page_are_true(root) -> None:
    failed, tried = doctest.testfile(str(root / "docs" / "methods" / "export.md"), module_relative=False)
    assert tried > 10
    assert failed == 0


def test_options_of_the_page_are_known(root) -> None:
    from asterism.cli.export import export

    text = (root / "docs" / "methods" / "export.md").read_text(encoding="utf-8")
    known = {name for option in export.params for name in option.opts}
    assert set(re.findall(r"--[a-z][a-z-]+", text)) <= known


def test_the_page_names_every_entry(root) -> None:
    text = (root / "docs" / "methods" / "export.md").read_text(encoding="utf-8")

    def names(told) -> set[str]:
        if isinstance(told, list):
            return set().union(*map(names, told)) if told and isinstance(told[0], dict | list) else set()
        return set(told) | set().union(*map(names, told.values())) if isinstance(told, dict) else set()

    for name in (
        "mixed columns, outliers",
        "forms",
        "medoids",
        "centres, background",
        "student full",
        "any shape",
    ):
        for entry in names(json.loads(asterism.to_json(case(name)[0]))) - {"name"}:
            assert entry in text, entry
