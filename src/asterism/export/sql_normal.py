"""Normal and t components in SQL.

Where columns are independent within components, a missing cell drops out of a sum. Otherwise the density of the cells
that are there is written by the chain rule,

    log p(x_o) = sum over j in o of log N(x_j; its mean given the cells of o before it),

one line for every column and every set of cells missing before it. Sets of at most so many missing cells are written
as make no more than ``patterns`` of them; a row that lacks more has the group NULL, and the query says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from asterism.export.describe import Entry
from asterism.export.dialects import total
from asterism.export.sql_query import Query, Terms

LOG_2_PI = math.log(2.0 * math.pi)
MOST_BITS = 52  # derived: whole numbers that double precision holds


def normal(query: Query, part: Entry, index: int, rows: Sequence[str]) -> Terms:
    """Diagonal: log N of every cell that is there. Otherwise by the chain rule."""
    if "covariances" in part:
        squares, heights = _chain(query, part, index, rows, LOG_2_PI)
        half = query.number(-0.5)
        return Terms(
            [[f"{half} * {square}", height] for square, height in zip(squares, heights, strict=True)]
        )
    names = _offsets(query, part, index, rows)
    number, out = query.number, []
    for means, variances in zip(part["means"], part["variances"], strict=True):
        terms = []
        for y, m, v in zip(names, means, variances, strict=True):
            away = f"({y} - {number(m)})"
            height, precision = -0.5 * (LOG_2_PI + math.log(v)), 0.5 / v
            terms.append(f"COALESCE({number(height)} - {away} * {away} * {number(precision)}, {number(0.0)})")
        out.append(terms)
    return Terms(out)


def student(query: Query, part: Entry, index: int, rows: Sequence[str]) -> Terms:
    """log G((v + p)/2) - log G(v/2) - p/2 log(v pi) - log det(S)/2 - (v + p)/2 log(1 + D/v)"""
    number, d = query.number, len(rows)
    if "covariances" in part:
        squares, heights = _chain(query, part, index, rows, 0.0)
    else:
        squares, heights = _diagonal(query, part, index, rows)
    one = [f"CASE WHEN {row} IS NULL THEN {number(0.0)} ELSE {number(1.0)} END" for row in rows]
    query.add(
        "squares", {f"d{index}_{c}": text for c, text in enumerate(squares)} | {f"seen{index}": total(one)}
    )
    out = []
    for c, v in enumerate(part["degrees"]):
        constants = [
            math.lgamma((v + p) / 2) - math.lgamma(v / 2) - p / 2 * math.log(v * math.pi)
            for p in range(d + 1)
        ]
        whens = " ".join(f"WHEN {p} THEN {number(value)}" for p, value in enumerate(constants))
        tail = f"({number(v)} + seen{index}) * LN({number(1.0)} + d{index}_{c} / {number(v)})"
        out.append([f"CASE seen{index} {whens} END", heights[c], f"{number(-0.5)} * {tail}"])
    return Terms(out)


def _offsets(query: Query, part: Entry, index: int, rows: Sequence[str]) -> list[str]:
    """Rows less the reference that means are counted from."""
    names = [f"n{index}_{j}" for j in range(len(rows))]
    pairs = zip(rows, part["reference"], strict=True)
    query.add("offsets", {n: f"{row} - {query.number(r)}" for n, (row, r) in zip(names, pairs, strict=True)})
    return names


def _diagonal(query: Query, part: Entry, index: int, rows: Sequence[str]) -> tuple[list[str], list[str]]:
    """D and -log det(S)/2 of each component, over the cells that are there."""
    names, number = _offsets(query, part, index, rows), query.number
    squares, heights = [], []
    for means, variances in zip(part["means"], part["variances"], strict=True):
        aways = [f"({y} - {number(m)})" for y, m in zip(names, means, strict=True)]
        terms = [
            f"COALESCE({a} * {a} / {number(v)}, {number(0.0)})" for a, v in zip(aways, variances, strict=True)
        ]
        squares.append(total(terms))
        logs = [
            f"CASE WHEN {y} IS NULL THEN {number(0.0)} ELSE {number(-0.5 * math.log(v))} END"
            for y, v in zip(names, variances, strict=True)
        ]
        heights.append(total(logs))
    return squares, heights


def _chain(
    query: Query, part: Entry, index: int, rows: Sequence[str], per_cell: float
) -> tuple[list[str], list[str]]:
    """D of each component, and -log det(S)/2 - p/2 ``per_cell``, over the p cells that are there."""
    names, number, d = _offsets(query, part, index, rows), query.number, len(rows)
    sets = missing_sets(d, query.patterns)
    bits = [
        f"CASE WHEN {y} IS NULL THEN {number(2.0**j)} ELSE {number(0.0)} END" for j, y in enumerate(names)
    ]
    several = len(sets) > 1
    if several:
        query.add("gaps", {f"g{index}_{j}": total(bits[:j]) for j in range(1, d + 1)})
    lines: dict[str, str] = {}
    heights = []
    for c, (means, matrix) in enumerate(zip(part["means"], part["covariances"], strict=True)):
        about = [f"({y} - {number(m)})" for y, m in zip(names, means, strict=True)]
        logs: dict[tuple[int, frozenset[int]], float] = {}
        for j in range(d):
            whens = []
            for gone in dict.fromkeys(frozenset(i for i in gone if i < j) for gone in sets if j not in gone):
                seen = [i for i in range(j) if i not in gone]
                line = last_line(np.array(matrix), [*seen, j])
                logs[j, gone] = math.log(line[-1])
                text = total(
                    [f"{number(w)} * {about[i]}" for i, w in zip([*seen, j], line, strict=True) if w]
                )
                whens.append((code_of(gone), text))
            lines[f"z{index}_{c}_{j}"] = _by_gap(query, names[j], f"g{index}_{j}", whens, j, several)
        of_set = [
            (code_of(gone), sum(logs[j, frozenset(i for i in gone if i < j)] for j in range(d) if j not in gone)
             - 0.5 * per_cell * (d - len(gone)))
            for gone in sets
        ]  # fmt: skip
        cases = " ".join(f"WHEN {number(code)} THEN {number(value)}" for code, value in of_set)
        heights.append(f"CASE g{index}_{d} {cases} END" if several else number(of_set[0][1]))
    query.add("lines", lines)
    squares = [total([f"z{index}_{c}_{j} * z{index}_{c}_{j}" for j in range(d)]) for c in range(len(heights))]
    return [f"({square})" for square in squares], heights


def _by_gap(query: Query, cell: str, gap: str, whens: list[tuple[float, str]], j: int, several: bool) -> str:
    """The line of a column, by the cells that are missing before it; 0 where its own cell is."""
    if not several:
        return whens[0][1]
    if j == 0:
        return f"COALESCE({whens[0][1]}, {query.number(0.0)})"
    cases = " ".join(f"WHEN {query.number(code)} THEN {text}" for code, text in whens)
    return f"CASE WHEN {cell} IS NULL THEN {query.number(0.0)} ELSE CASE {gap} {cases} END END"


def missing_sets(d: int, patterns: int) -> list[frozenset[int]]:
    """Sets of missing columns: none, then all of one, of two, ... while they are no more than ``patterns``.

    >>> [sorted(gone) for gone in missing_sets(2, 256)], len(missing_sets(10, 256)), len(missing_sets(40, 1))
    ([[], [0], [1], [0, 1]], 176, 1)
    """
    found = [frozenset[int]()]
    for size in range(1, d + 1 if d <= MOST_BITS else 1):
        if len(found) + math.comb(d, size) > patterns:
            break
        found += [frozenset(gone) for gone in combinations(range(d), size)]
    return found


def code_of(gone: frozenset[int]) -> float:
    """A number for a set of columns."""
    return float(sum(2.0**j for j in gone))


def last_line(matrix: Any, columns: list[int]) -> list[float]:
    """w with w (x - m) = (x_j - its mean given the others) / its standard deviation given them, j the last column.

    >>> last_line(np.array([[4.0, 2.0], [2.0, 2.0]]), [0, 1])
    [-0.5, 1.0]
    """
    lower = np.linalg.cholesky(matrix[np.ix_(columns, columns)])
    unit = np.zeros(len(columns))
    unit[-1] = 1.0
    line: list[float] = np.linalg.solve(lower.T, unit).tolist()  # the last line of the inverse
    return line


def limits(query: Query, part: Entry) -> str:
    """What rows with missing cells are not placed."""
    d = len(part["features"])
    if "covariances" not in part or query.told["directions"] is not None:
        return ""
    most = max(len(gone) for gone in missing_sets(d, query.patterns))
    if most == d:
        return ""
    named = "no cell" if most == 0 else "more than one cell" if most == 1 else f"more than {most} cells"
    lacking = "a cell" if most == 0 else named
    return f"Columns depend on each other within groups: a row that lacks {lacking} of these {d} has the group NULL."
