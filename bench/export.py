"""Whether exported models say of rows what ``assign`` (or ``predict``) says, and how fast: 10,000 rows each.

    python -m bench.export                     a minute or two
    python -m bench.export --rows 100000 --databases duckdb

Columns of the result: rows whose label differs (rows on a border to twelve digits not counted), the largest
difference of a probability, and thousands of rows a second; for the model itself, the Python file, DuckDB and
SQLite. A tenth of the cells is missing.
"""

from __future__ import annotations

import argparse
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

import asterism
from asterism.families.covariance import STRUCTURES

TIE = 1e-12


def groups_of_numbers(rng: np.random.Generator, n: int, d: int = 5) -> pa.Table:
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.linspace(0.4, 1.5, d)
    rows = rng.normal(size=(n, d)) @ turn + rng.normal(0, 2.5, (4, d))[rng.integers(4, size=n)]
    return pa.table({f"x{j}": rows[:, j] for j in range(d)})


def groups_of_counts(rng: np.random.Generator, n: int, d: int = 4) -> pa.Table:
    rates = rng.gamma(2.0, 3.0, (4, d))[rng.integers(4, size=n)]
    return pa.table({f"x{j}": rng.poisson(rng.gamma(2.0, rates[:, j] / 2.0)) for j in range(d)})


def survey(rng: np.random.Generator, n: int) -> pa.Table:
    """Columns of every kind, some with forms and points."""
    g = rng.integers(4, size=n)
    spend = np.exp(rng.normal(2 + g, 0.8))
    spend[rng.random(n) < 0.3] = 0.0
    return pa.table(
        {
            "age": rng.normal(25 + 10 * g, 4),
            "income": np.exp(rng.normal(9 + 0.4 * g, 0.5)),
            "spend": spend,
            "visits": rng.poisson(1 + 3 * g),
            "colour": np.array(["red", "green", "blue", "it's grey"])[(g + (rng.random(n) < 0.3)) % 4],
            "answer": np.array(["1", "2", "3", "4", "5"])[np.clip(g + rng.integers(-1, 2, n), 0, 4)],
            "member": rng.random(n) < 0.1 + 0.2 * g,
        }
    )


def with_gaps(rng: np.random.Generator, table: pa.Table, share: float = 0.1) -> pa.Table:
    return pa.table(
        {
            name: pa.array(table.column(name).to_pylist(), mask=rng.random(table.num_rows) < share)
            for name in table.column_names
        }
    )


Case = tuple[str, Any, pa.Table, Callable[[pa.Table], tuple[Any, Any]]]


def cases(n: int, fitted: int) -> Iterator[Case]:
    """Models of ``fitted`` rows, and tables of n others with the same groups."""
    for name, make, options in (
        ("k-means of numbers", groups_of_numbers, {"method": "kmeans"}),
        ("k-means of all kinds", survey, {"method": "kmeans"}),
        ("medoids of all kinds", survey, {"method": "kmedoids"}),
        ("mixture of numbers", groups_of_numbers, {"method": "gaussian"}),
        ("mixture, outliers 2%", groups_of_numbers, {"method": "gaussian", "outliers": 0.02}),
        ("mixture of all kinds", survey, {"method": "mixed", "kinds": {"answer": "ordinal:1,2,3,4,5"}}),
    ):
        table = make(np.random.default_rng(0), n + fitted)
        model = asterism.find(table.slice(n), k=4, **options).model
        yield name, model, with_gaps(np.random.default_rng(1), table.slice(0, n)), model.assign
    table = groups_of_numbers(np.random.default_rng(2), n + fitted)
    for structure in STRUCTURES:
        fit = asterism.GaussianMixture(4, covariance_type=structure, max_iter=20, random_state=0)
        yield _fitted(f"normal {structure}", fit, table, n)
    yield _fitted("student", asterism.StudentMixture(4, max_iter=20, random_state=0), table, n)
    table = groups_of_counts(np.random.default_rng(3), n + fitted)
    for family in ("poisson", "negative_binomial", "hurdle", "multinomial"):
        yield _fitted(family, asterism.Mixture(family, 4, max_iter=20, random_state=0), table, n)
    table = survey(np.random.default_rng(4), n + fitted)
    tree = asterism.KDTreeClustering(8).fit(table.slice(n))
    yield (
        "rules of a tree",
        tree,
        with_gaps(np.random.default_rng(5), table.slice(0, n)),
        lambda t: (tree.predict(t), None),
    )


def _fitted(name: str, estimator: Any, table: pa.Table, n: int) -> Case:
    estimator.fit(np.column_stack(table.slice(n).columns))
    new = with_gaps(np.random.default_rng(6), table.slice(0, n))

    def ask(table: pa.Table) -> tuple[Any, Any]:
        rows = np.column_stack([column.to_numpy() for column in table.columns]).astype(float)
        return estimator.predict(rows), estimator.predict_proba(rows)

    return name, estimator, new, ask


# --- who is asked -----------------------------------------------------------------------------------------------


def by_python(model: Any, table: pa.Table) -> tuple[Any, Any, float]:
    module: dict[str, Any] = {"__name__": "groups"}
    exec(compile(asterism.to_python(model), "groups.py", "exec"), module)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    start = time.perf_counter()
    labels, r = module["assign"](columns)
    return labels, r, time.perf_counter() - start


def by_duckdb(model: Any, table: pa.Table) -> tuple[Any, Any, float]:
    import duckdb

    with duckdb.connect() as database:
        database.execute("SET threads TO 1")
        database.register("arrived", table.append_column("id", pa.array(np.arange(table.num_rows))))
        database.execute("CREATE TABLE your_table AS SELECT * FROM arrived")
        return _asked(
            lambda query: database.execute(query).fetchall(), asterism.to_sql(model, "duckdb", keep=["id"])
        )


def by_sqlite(model: Any, table: pa.Table) -> tuple[Any, Any, float]:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE your_table ({', '.join(table.column_names)}, id)")
    rows = [(*row.values(), i) for i, row in enumerate(table.to_pylist())]
    database.executemany(f"INSERT INTO your_table VALUES ({', '.join('?' * (table.num_columns + 1))})", rows)
    query = asterism.to_sql(model, "sqlite", keep=["id"])
    return _asked(lambda text: database.execute(text).fetchall(), query)


def _asked(run: Callable[[str], list[Any]], query: str) -> tuple[Any, Any, float]:
    start = time.perf_counter()
    found = run(query)
    seconds = time.perf_counter() - start
    values = np.array([[np.nan if v is None else v for v in row] for row in sorted(found)], float)
    return values[:, 1], values[:, 2:] if values.shape[1] > 2 else None, seconds


ASKED = {"python": by_python, "duckdb": by_duckdb, "sqlite": by_sqlite}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--fitted", type=int, default=2_000)
    parser.add_argument("--databases", nargs="*", default=["duckdb", "sqlite"])
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    wanted = ["python", *options.databases]
    print(
        f"{'':24}{'assign':>9}"
        + "".join(f"{who + ': wrong':>16}{'prob.':>9}{'k rows/s':>10}" for who in wanted)
    )
    for name, model, table, ask in cases(options.rows, options.fitted):
        if options.only not in name:
            continue
        ask(table.slice(0, 1000))
        start = time.perf_counter()
        labels, r = ask(table)
        line = f"{name:24}{options.rows / 1e3 / (time.perf_counter() - start):9.0f}"
        tied = np.zeros(len(labels), bool) if r is None else _tied(r)
        for who in wanted:
            own, shares, seconds = ASKED[who](model, table)
            known = ~np.isnan(own) if who != "python" else np.ones(len(own), bool)
            wrong = int(((own != labels) & known & ~tied).sum())
            apart = 0.0 if r is None else float(np.abs(shares - r)[known].max())
            unplaced = f"{wrong}" + (f" ({(~known).sum()} NULL)" if not known.all() else "")
            line += f"{unplaced:>16}{apart:9.0e}{options.rows / 1e3 / seconds:10.0f}"
        print(line, flush=True)


def _tied(r: np.ndarray) -> np.ndarray:
    best = np.sort(r, axis=1)
    return best[:, -1] - best[:, -2] < TIE


if __name__ == "__main__":
    main()
