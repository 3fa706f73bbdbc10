"""How five databases write the same things: names, texts, numbers, types, and where a step must stay a step.

Nothing of a model reaches a query but through ``name``, ``text`` and ``number``, so that no name of a column and no
level can end its literal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from asterism.errors import ParameterError

SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
WHOLE = re.compile(r"-?\d+")
MOST_ARGUMENTS = 50  # derived: SQLite takes 100 to 127 arguments of a function
MOST_TERMS = 100  # derived: expressions nest 1000 deep at most in SQLite and DuckDB


@dataclass(frozen=True)
class Dialect:
    """What one database asks of a query; those with a class of their own ask more."""

    title: str
    real: str = "DOUBLE"  # type of numbers in double precision
    words: str = "VARCHAR"  # type of texts
    mark: str = '"'  # around names
    backslash: bool = False  # whether a backslash escapes in texts
    greatest: str = "GREATEST"
    as_step: str = "AS"  # a step of WITH
    fence: str = ""  # what ends a step, so that it is not written into the next one again and again

    # --- what may hold anything ---

    def name(self, text: str) -> str:
        """A name of a column, whatever is in it."""
        _require_text(text, "The name of a column")
        if self.mark == "`":
            return (
                "`"
                + text.replace("\\", "\\\\").replace("`", "\\`").replace("\n", "\\n").replace("\r", "\\r")
                + "`"
            )
        return f'"{text.replace(chr(34), 2 * chr(34))}"'

    def table(self, text: str) -> str:
        """A table; parts of a plain name are left as they are, so that the database finds it in its own way."""
        return text if SIMPLE.fullmatch(text) else self.name(text)

    def text(self, value: str) -> str:
        """A text, whatever is in it."""
        _require_text(value, "A level")
        if not self.backslash:
            return "'" + value.replace("'", "''") + "'"
        for char, escaped in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r")):
            value = value.replace(char, escaped)
        return f"'{value}'"

    def number(self, value: float) -> str:
        """A number in double precision, with as many digits as bring it back to the bit."""
        if not math.isfinite(value):
            raise ParameterError(f"{value!r} is no number that a query can hold.", "The model is damaged.")
        digits = repr(float(value))
        digits = digits if "e" in digits else f"{digits}e0"
        return (
            f"({digits})" if value < 0 or digits.startswith("-") else digits
        )  # two minus signs begin a comment

    # --- cells ---

    def as_number(self, cell: str) -> str:
        """A cell in double precision; NaN is missing."""
        return f"NULLIF(CAST({cell} AS {self.real}), CAST('NaN' AS {self.real}))"

    def as_text(self, cell: str, levels: Sequence[str]) -> str:  # noqa: ARG002  one signature for all
        """A cell as the name of a level."""
        return f"CAST({cell} AS {self.words})"

    # --- expressions ---

    def most(self, terms: Sequence[str]) -> str:
        """The greatest of some numbers."""
        while len(terms) > 1:
            runs = [terms[a : a + MOST_ARGUMENTS] for a in range(0, len(terms), MOST_ARGUMENTS)]
            terms = [run[0] if len(run) == 1 else f"{self.greatest}({', '.join(run)})" for run in runs]
        return terms[0]

    def steps(self, steps: Sequence[tuple[str, dict[str, str], str]], last: str) -> str:
        """A query: steps (name, columns, what they are of), and a last SELECT."""
        written = [
            f"{name} {self.as_step} (\n  SELECT\n{listed(columns)}\n  FROM {source}{self.fence}\n)"
            for name, columns, source in steps
        ]
        return "WITH\n" + ",\n".join(written) + f"\n{last}"


@dataclass(frozen=True)
class DuckDB(Dialect):
    """Whole numbers in columns of floats are spelled '3.0' there, and '3' as levels."""

    def as_text(self, cell: str, levels: Sequence[str]) -> str:
        """Without the '.0' of whole floats, where a level is a whole number."""
        plain = super().as_text(cell, levels)
        if not any(WHOLE.fullmatch(level) for level in levels):
            return plain
        return (
            f"CASE WHEN typeof({cell}) IN ('DOUBLE', 'FLOAT') "
            f"THEN regexp_replace({plain}, '[.]0$', '') ELSE {plain} END"
        )


@dataclass(frozen=True)
class Postgres(Dialect):
    """A text with a backslash says so, whatever the server's settings."""

    def text(self, value: str) -> str:
        """With E where it has to be."""
        plain = super().text(value)
        return "E" + plain.replace("\\", "\\\\") if "\\" in value else plain


@dataclass(frozen=True)
class BigQuery(Dialect):
    """NaN equals nothing there."""

    def as_number(self, cell: str) -> str:
        """A cell in double precision; NaN is missing."""
        number = f"CAST({cell} AS FLOAT64)"
        return f"IF(IS_NAN({number}), NULL, {number})"


@dataclass(frozen=True)
class Snowflake(Dialect):
    """Numbers are decimal ones there, unless they are made of a text."""

    def number(self, value: float) -> str:
        """From a text: a decimal number would not hold 1e-300."""
        digits = super().number(value).strip("()")
        return f"'{digits}'::FLOAT"


@dataclass(frozen=True)
class SQLite(Dialect):
    """Any cell may be of any type there, and a word would become the number 0."""

    def as_number(self, cell: str) -> str:
        """A number, written or stored; infinity, which no row may have, for a word."""
        return (
            f"CASE WHEN typeof({cell}) <> 'text' THEN CAST({cell} AS REAL) WHEN TRIM({cell}) = '' THEN NULL "
            f"WHEN {cell} GLOB '*[0-9]*' AND NOT {cell} GLOB '*[^-+.0-9eE]*' THEN CAST({cell} AS REAL) "
            "ELSE 9e999 END"
        )

    def as_text(self, cell: str, levels: Sequence[str]) -> str:
        """Compared letter by letter; whole floats without their '.0', truth values by their names."""
        plain = f"CAST({cell} AS TEXT)"
        cases = ""
        if any(WHOLE.fullmatch(level) for level in levels):
            whole = f"CAST({cell} AS INTEGER)"
            cases += f"WHEN typeof({cell}) = 'real' AND {cell} = {whole} THEN CAST({whole} AS TEXT) "
        if set(levels) == {"false", "true"}:
            cases += f"WHEN typeof({cell}) = 'integer' THEN CASE {cell} WHEN 0 THEN 'false' WHEN 1 THEN 'true' END "
        return f"{f'CASE {cases}ELSE {plain} END' if cases else plain} COLLATE BINARY"


DIALECTS: dict[str, Dialect] = {
    "duckdb": DuckDB("DuckDB"),
    # OFFSET 0 and MATERIALIZED keep a step a step: written into the next one, it would be worked out many times over.
    "postgres": Postgres("PostgreSQL", "DOUBLE PRECISION", "TEXT", fence="\n  OFFSET 0"),
    "bigquery": BigQuery("BigQuery", "FLOAT64", "STRING", "`", backslash=True),
    "snowflake": Snowflake("Snowflake", "FLOAT", backslash=True),
    "sqlite": SQLite("SQLite", "REAL", "TEXT", greatest="MAX", as_step="AS MATERIALIZED"),
}


def dialect_of(name: str) -> Dialect:
    """The dialect of this name."""
    if name not in DIALECTS:
        raise ParameterError(f"dialect is {name!r}.", f"Dialects there are: {', '.join(DIALECTS)}.")
    return DIALECTS[name]


def listed(columns: dict[str, str]) -> str:
    """Columns of a SELECT, one a line."""
    return ",\n".join(
        f"    {expression}" if expression == name else f"    {expression} AS {name}"
        for name, expression in columns.items()
    )


def total(terms: Sequence[str]) -> str:
    """A sum that nests no deeper than databases allow."""
    while len(terms) > MOST_TERMS:
        runs = [terms[a : a + MOST_TERMS] for a in range(0, len(terms), MOST_TERMS)]
        terms = [run[0] if len(run) == 1 else f"({' + '.join(run)})" for run in runs]
    return " + ".join(terms)


def _require_text(value: str, what: str) -> None:
    """No database takes a zero byte or half a character."""
    whole = "\0" not in value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        whole = False
    if not whole:
        raise ParameterError(
            f"{what}, {value!a}, holds a character that no database takes.",
            "Rename it and find the groups again, or export the model as Python.",
        )
