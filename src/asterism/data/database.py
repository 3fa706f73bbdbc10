"""What is asked of a database: one of its tables, or a query."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from asterism.errors import DataError, ParameterError

SHOWN = 20  # tables named in a message


def query_of(sql: str | None, tables: Sequence[str], file: str) -> tuple[str, str]:
    """The query for what the user wants (a table, a query, or nothing where there is one table), and its title.

    >>> query_of(None, ["visits"], "shop.db")
    ('select * from "visits"', "table 'visits' of 'shop.db'")
    """
    if not tables and sql is None:
        raise DataError(f"{file!r} holds no table.", "Give a database with a table.")
    if sql is None and len(tables) > 1:
        raise ParameterError(
            f"{file!r} holds {len(tables)} tables: {_listed(tables)}.",
            f"Say which with sql (--sql on the command line): a name such as {tables[0]!r}, or a query.",
        )
    wanted = tables[0] if sql is None else sql.strip().rstrip(";")
    if wanted in tables:
        quoted = wanted.replace('"', '""')
        return f'select * from "{quoted}"', f"table {wanted!r} of {file!r}"
    if len(wanted.split()) == 1:
        close = get_close_matches(wanted, tables, 1)
        meant = f"Did you mean {close[0]!r}? " if close else ""
        raise ParameterError(f"{file!r} has no table {wanted!r}.", f"{meant}It has {_listed(tables)}.")
    return wanted, f"the query of {file!r}"


def refused_query(query: str, bad: Exception, tables: Sequence[str]) -> ParameterError:
    """What a database said of a query."""
    said = str(bad).splitlines()[0].rstrip(".")
    return ParameterError(
        f"The database refused the query {query[:80]!r}: {said[:200]}.", f"Its tables are {_listed(tables)}."
    )


def _listed(tables: Sequence[str]) -> str:
    return ", ".join(map(repr, tables[:SHOWN])) + (", ..." if len(tables) > SHOWN else "")
