from __future__ import annotations

from contextlib import ExitStack

import pytest
from sql_databases import postgres, run_duckdb, run_sqlite


@pytest.fixture(scope="session")
def database(tmp_path_factory):
    """Databases by name; the server is started when it is first asked for, and stopped at the end."""
    server = None

    def found(dialect: str):
        nonlocal server
        if dialect != "postgres":
            return {"duckdb": run_duckdb, "sqlite": run_sqlite}[dialect]
        if server is None:
            try:
                server = rest.enter_context(postgres(tmp_path_factory.mktemp("postgres")))
            except RuntimeError as why:
                server = why
        if isinstance(server, RuntimeError):
            pytest.skip(str(server))
        return server

    with ExitStack() as rest:
        yield found
