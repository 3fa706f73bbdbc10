"""Databases that queries are run in: one function each, from a query and a table to rows."""

from __future__ import annotations

import csv
import io
import math
import os
import pwd
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

PORT = "54329"  # of a socket in a folder of its own: nothing else can be there


def run_duckdb(query: str, table: pa.Table) -> list[tuple]:
    with duckdb.connect() as database:
        database.register("your_table", table)
        return database.execute(query).fetchall()


def run_sqlite(query: str, table: pa.Table) -> list[tuple]:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE your_table ({', '.join(map(quoted, table.column_names))})")
    rows = [tuple(row.values()) for row in table.to_pylist()]
    database.executemany(f"INSERT INTO your_table VALUES ({', '.join('?' * table.num_columns)})", rows)
    found = database.execute(query).fetchall()
    database.close()
    return found


class Postgres:
    """A server of its own, for as long as the tests take."""

    def __init__(self, folder: Path, user: str | None) -> None:
        self.folder, self.user = folder, user

    def __call__(self, query: str, table: pa.Table) -> list[tuple]:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(
            ["" if v is None else v for v in row.values()] for row in table.to_pylist()
        )
        columns = ", ".join(f"{quoted(f.name)} {TYPES[str(f.type)]}" for f in table.schema)
        script = f"DROP TABLE IF EXISTS your_table; CREATE TABLE your_table ({columns});\n"
        script += f"COPY your_table FROM STDIN WITH (FORMAT csv);\n{text.getvalue()}\\.\n"
        found = self.psql(script + query)
        return [tuple(None if v == "" else v for v in row) for row in csv.reader(io.StringIO(found))]

    def psql(self, script: str) -> str:
        command = ["psql", "-h", str(self.folder), "-p", PORT, "-d", "postgres", "-q", "-t", "--csv"]
        done = subprocess.run(
            [*command, "-v", "ON_ERROR_STOP=1"],
            input=script, capture_output=True, text=True, check=False, user=self.user, cwd="/",
            env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning", "PGCLIENTENCODING": "UTF8"},
        )  # fmt: skip
        if done.returncode == 2:  # psql's own code for a connection that there is not, or no longer
            pytest.skip(f"the server does not answer: {done.stderr[:200]}")
        assert done.returncode == 0, done.stderr[:2000]
        return done.stdout


TYPES = {"int64": "bigint", "double": "double precision", "string": "text", "bool": "boolean"}


@contextmanager
def postgres(folder: Path) -> Iterator[Postgres]:
    """A server; a ``RuntimeError`` says why there is none."""
    if not all(shutil.which(name) for name in ("initdb", "pg_ctl", "psql")):
        raise RuntimeError("no PostgreSQL here")
    user = None
    if os.getuid() == 0:  # the server will not be run by root
        known = {entry.pw_name for entry in pwd.getpwall()}
        user = next((name for name in ("postgres", "nobody") if name in known), None)
        if user is None:
            raise RuntimeError("PostgreSQL is not run by root, and there is no other user")
        for part in (folder, *folder.parents[:2]):
            part.chmod(0o755)
        shutil.chown(folder, user)
    options = f"-c listen_addresses='' -c fsync=off -p {PORT} -k {folder}"
    data, log = str(folder / "data"), str(folder / "log")
    run = {"capture_output": True, "text": True, "check": False, "user": user, "cwd": "/"}
    made = subprocess.run(["initdb", "-D", data, "-A", "trust", "-N", "-E", "UTF8", "--locale=C"], **run)
    started = made.returncode == 0 and subprocess.run(
        ["pg_ctl", "-D", data, "-l", log, "-w", "-o", options, "start"],
        **{
            **run,
            "capture_output": False,
            "text": None,
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
        },
    )
    if not started or started.returncode:
        raise RuntimeError(f"PostgreSQL does not start: {made.stderr[-300:]}")
    try:
        yield Postgres(folder, user)
    finally:
        subprocess.run(["pg_ctl", "-D", data, "-m", "immediate", "stop"], **run)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def answers(rows: list[tuple], k: int) -> tuple[np.ndarray, np.ndarray]:
    """Groups (NaN for NULL) and probabilities, in the order of the first column."""
    values = np.array([[math.nan if v is None else float(v) for v in row] for row in rows])
    values = values[np.argsort(values[:, 0])]
    return values[:, 1], values[:, 2 : 2 + k]
