"""A model as one query: every row's group and probabilities, step by step.

    cells       numbers and codes of levels                  features    forms, scales
    (axes)      principal directions                         terms       what the judge adds up
    scores      of the components                            shares      of the groups
    placed      the likeliest group                          and the last SELECT: or none, -1

Each step names what the next one uses, so nothing is worked out twice. Sums are those of ``standalone``, in the same
order but for nesting. What ``assign`` refuses with an error (an infinite cell, 2.5 visits) has the group NULL.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from asterism.errors import ParameterError
from asterism.explain.typicality import LEAST
from asterism.export.describe import Entry
from asterism.export.dialects import dialect_of, total
from asterism.export.sql_families import COUNTED, FAMILIES
from asterism.export.sql_judges import JUDGES, LEAST_LOG
from asterism.export.sql_query import OWN, Query

LARGEST = float(np.finfo(np.float64).max)
FARTHEST = 1e100  # convention: of a feature; its square still is a number, wherever overflow is an error
SLACK = 1e-9  # convention: for rows on a limit, which rounding may put on either side; as in ``standalone``
MOST_COUNT = 2.0**53  # derived: whole numbers that double precision holds


def written(
    told: Entry,
    dialect: str = "duckdb",
    table: str = "your_table",
    keep: Sequence[str] = (),
    patterns: int = 256,
) -> str:
    """The query, of what ``describe`` says of a model; see ``asterism.to_sql`` for the arguments."""
    query = Query(told, dialect_of(dialect), patterns)
    names = [column["name"] for column in told["columns"]]
    kept = list(keep) or names
    clash = [name for name in kept if name.startswith(OWN)]
    if clash or len(set(kept)) < len(kept):
        raise ParameterError(
            f"The columns to keep are {', '.join(map(repr, kept))}.",
            f"Name each once; names that begin with {OWN!r} are those of the result.",
        )
    _cells(query, kept)
    _features(query)
    _readable(query)
    rows = _directions(query)
    JUDGES[told["judge"]["kind"]](query, rows)
    last = {query.dialect.name(name): f"kept{j}" for j, name in enumerate(kept)}
    last |= _result(query, rows)
    return f"{_heading(query)}{query.written(query.dialect.table(table), last)};\n"


# --- cells and features -----------------------------------------------------------------------------------------


def _cells(query: Query, kept: Sequence[str]) -> None:
    """Columns of the table as numbers, and as codes of levels; what a model does not know is missing."""
    dialect = query.dialect
    columns = {f"kept{j}": dialect.name(name) for j, name in enumerate(kept)}
    for j, column in enumerate(query.told["columns"]):
        cell = dialect.name(column["name"])
        if "levels" not in column:
            columns[f"x{j}"] = dialect.as_number(cell)
            continue
        whens = " ".join(
            f"WHEN {dialect.text(level)} THEN {query.number(code)}"
            for code, level in enumerate(column["levels"])
        )
        columns[f"x{j}"] = f"CASE {dialect.as_text(cell, column['levels'])} {whens} END"
    query.add("cells", columns)


def _features(query: Query) -> None:
    """What the model sees of the cells."""
    columns = {}
    for i, entry in enumerate(query.told["features"]):
        x = f"x{entry['column']}"
        taken = FORMS[entry["form"]](query, entry, x)
        if "not_at" in entry:
            taken = f"CASE WHEN {x} <> {query.number(entry['not_at'])} THEN {taken} END"
        if "scale" in entry:
            taken = f"({taken} - {query.number(entry['center'])}) / {query.number(entry['scale'])}"
        columns[f"f{i}"] = taken
    query.add("features", columns)


def _log(query: Query, entry: Entry, x: str) -> str:
    away = f"({x} - {query.number(entry['shift'])})"
    away = away if entry["sign"] > 0 else f"(-{away})"
    least = query.number(entry["least"])
    inside = f"CASE WHEN {away} > {least} THEN {away} WHEN {x} IS NOT NULL THEN {least} END"
    return f"LN({inside})" if entry["sign"] > 0 else f"(-LN({inside}))"


def _count(query: Query, entry: Entry, x: str) -> str:
    """The nearest whole number, halves to even ones, 0 or more."""
    y = f"({x} - {query.number(entry['shift'])})" if entry["shift"] else x
    up = f"FLOOR({y} + {query.number(0.5)})"
    odd = f"{up} - {y} = {query.number(0.5)} AND {up} / 2 <> FLOOR({up} / 2)"
    return f"CASE WHEN {y} <= 0 THEN {query.number(0.0)} WHEN {odd} THEN {up} - 1 ELSE {up} END"


FORMS: dict[str, Any] = {
    "plain": lambda _, __, x: x,
    "log": _log,
    "root": lambda q, _, x: f"SQRT(CASE WHEN {x} < 0 THEN {q.number(0.0)} ELSE {x} END + {q.number(0.375)})",
    "asinh": lambda q, e, x: f"ASINH(({x} - {q.number(e['shift'])}) / {q.number(e['unit'])})",
    "count": _count,
    "at": lambda q, e, x: _indicator(q, x, e["point"]),
    "is": lambda q, e, x: _indicator(q, x, e["code"]),
    "rank": lambda q, e, x: f"{x} / {q.number(e['steps'])}",
}


def _indicator(query: Query, x: str, value: float) -> str:
    one, zero = query.number(1.0), query.number(0.0)
    return f"CASE WHEN {x} = {query.number(value)} THEN {one} WHEN {x} IS NOT NULL THEN {zero} END"


def _readable(query: Query) -> None:
    """Whether ``assign`` would take the row; and features, without those too far out to be squared."""
    told, far = query.told, query.number(FARTHEST)
    limits = []
    for j, column in enumerate(told["columns"]):
        if "levels" not in column:
            limits.append(f"(x{j} IS NULL OR ABS(x{j}) <= {query.number(LARGEST)})")
        if column["kind"] == "count":
            limits.append(_is_count(query, f"x{j}"))
    for part in told["judge"].get("parts", []):
        if part["family"] in COUNTED and told["directions"] is None:
            limits += [_is_count(query, f"f{i}") for i in part["features"]]
    places = range(len(told["features"]))
    limits += [f"(f{i} IS NULL OR ABS(f{i}) <= {far})" for i in places]
    near = {f"y{i}": f"CASE WHEN ABS(f{i}) <= {far} THEN f{i} END" for i in places}
    query.add("readable", {"readable": f"CASE WHEN {' AND '.join(limits)} THEN 1 ELSE 0 END", **near})


def _is_count(query: Query, x: str) -> str:
    return f"({x} IS NULL OR ({x} >= 0 AND {x} <= {query.number(MOST_COUNT)} AND {x} = FLOOR({x})))"


def _directions(query: Query) -> list[str]:
    """The names of what the judge takes: features, or their products with principal directions."""
    axes, zero = query.told["directions"], query.number(0.0)
    rows = [f"y{i}" for i in range(len(query.told["features"]))]
    if axes is None:
        return rows
    products = {
        f"a{m}": total(
            [f"{query.number(v)} * COALESCE({row}, {zero})" for row, v in zip(rows, axis, strict=True)]
        )
        for m, axis in enumerate(axes)
    }
    query.add("directions", products)
    return list(products)


# --- the result -------------------------------------------------------------------------------------------------


def _result(query: Query, rows: Sequence[str]) -> dict[str, str]:
    """The group, its probability and those of all groups; NULL where the row cannot be read."""
    told, k = query.told, query.told["k"]
    if told["judge"]["kind"] in ("tree", "rules"):
        return {f"{OWN}group": "CASE WHEN readable = 1 THEN own END"}
    query.add("likeliest", {"most": query.dialect.most([f"p{g}" for g in range(k)])})
    whens = " ".join(f"WHEN p{g} THEN {g}" for g in range(k))
    query.add("placed", {"own": f"CASE WHEN readable = 1 THEN CASE most {whens} END END"})
    factor, out = "", []
    if told["background"] is not None:
        _background(query, rows)
        factor = f" * ({query.number(1.0)} - even)"
        out.append(f"even > {query.number(0.5)}")
    if query.wants_typicality:
        out.append(_untypical(query, rows))
    group = f"CASE WHEN {' OR '.join(out)} THEN -1 ELSE own END" if out else "own"
    result = {f"{OWN}group": group}
    result |= {f"{OWN}probability_{g}": f"CASE WHEN own IS NOT NULL THEN p{g}{factor} END" for g in range(k)}
    return result


def _background(query: Query, rows: Sequence[str]) -> None:
    """1 / (1 + exp(odds)) of evenly spread rows, odds = log (1 - e) p(x) - log e / V."""
    e, number = query.told["background"], query.number
    widths = np.log(np.array(e["high"]) - np.array(e["low"])).tolist()
    volume = [
        f"CASE WHEN {row} IS NULL THEN {number(0.0)} ELSE {number(w)} END"
        for row, w in zip(rows, widths, strict=True)
    ]
    log_odds = float(np.log1p(-e["share"]) - np.log(e["share"]))
    query.add("odds", {"odds": total([f"density + {number(log_odds)}", *volume])})
    inside = f"{number(1.0)} / ({number(1.0)} + EXP(odds))"
    limits = f"WHEN odds > {number(-LEAST_LOG)} THEN {number(0.0)} WHEN odds < {number(LEAST_LOG)} THEN {number(1.0)}"
    query.add("evenly", {"even": f"CASE {limits} ELSE {inside} END"})


def _untypical(query: Query, rows: Sequence[str]) -> str:
    """Whether the score within the own group, missing cells filled in, is below that of the least typicality."""
    known, number = query.told["typicality"], query.number
    least = query.told["least_typicality"]
    bounds, whens = [], []
    for g in range(query.told["k"]):
        table = known["scores"][g], known["shares"][g], known["weights"][g]
        bound = score_of(*table, least * (1.0 - SLACK))
        bounds.append(f"WHEN {g} THEN {number(bound - SLACK * (1.0 + abs(bound)))}")
        gone = [
            f"CASE WHEN {row} IS NULL THEN {number(cell)} ELSE {number(0.0)} END"
            for row, cell in zip(rows, known["cell_scores"][g], strict=True)
            if cell
        ]
        whens.append(f"WHEN {g} THEN {total([f'within{g}', *gone])}")
    query.add(
        "scored", {"score": f"CASE own {' '.join(whens)} END", "bound": f"CASE own {' '.join(bounds)} END"}
    )
    return "score < bound"


def score_of(scores: Sequence[float], shares: Sequence[float], weight: float, least: float) -> float:
    """The least score with a typicality of ``least`` or more, by halving: typicality rises with the score.

    >>> round(score_of([-3.0, -2.0, -1.0, 0.0], [0.2, 0.4, 0.6, 0.8], 4.0, 0.4), 9)
    -3.0
    """

    def typical(score: float) -> float:
        floor = 1.0 / (1.0 + weight)
        if score < scores[0]:
            return float(floor * np.exp(score - scores[0]))
        return float(floor + np.exp(np.interp(score, scores, np.log(np.maximum(shares, LEAST)))))

    low, high = scores[0] - 800.0, scores[-1]
    if typical(high) < least:
        return LARGEST
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (low, middle) if typical(middle) >= least else (middle, high)
    return high


# --- text -------------------------------------------------------------------------------------------------------


def _heading(query: Query) -> str:
    """What a reader of the query should know, in comments; names are written so that none can end its line."""
    told = query.told
    names = ", ".join(json.dumps(column["name"]) for column in told["columns"])
    lines = [
        f"{told['k']} groups, by a model of Asterism {told['asterism']}, for {query.dialect.title}.",
        f"Columns: {names}.",
        f"{OWN}group is -1 for a row of no group, and NULL for one that cannot be placed: a cell that is",
        "infinite, or no count where a count must be.",
    ]
    notes = [
        note
        for part in told["judge"].get("parts", [])
        if (note := FAMILIES[part["family"]].limits(query, part))
    ]
    return "".join(f"-- {line}\n" for line in [*lines, *notes])
