"""Log densities of components in SQL: for each part of a model, terms that the scores of its components add up.

A missing cell drops out of every sum. Normal components with covariances need more than that: the density of the
cells that are there is written by the chain rule,

    log p(x_o) = sum over j in o of log N(x_j; its mean given the cells of o before it),

one line for every column and every set of cells missing before it. Sets of at most so many missing cells are written
as make no more than ``patterns`` of them; a row that lacks more has the group NULL, and the query says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from asterism.export.describe import Entry
from asterism.export.dialects import total
from asterism.export.sql_query import Query

LOG_2_PI = math.log(2.0 * math.pi)
TINY = float(np.finfo(np.float64).tiny)
MOST_BITS = 52  # derived: whole numbers that double precision holds
SMALL = 0.01  # derived: dispersions from here on; below, differences of gamma functions lose digits
SHIFT = 8  # derived: from here on the terms of Stirling's series that are left out are below 1e-15
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


@dataclass
class Terms:
    """What a part adds to scores."""

    scores: list[list[str]]  # of each component
    common: list[str] = field(
        default_factory=list
    )  # of all alike: of no account for shares, but for densities


Writer = Callable[[Query, Entry, int, Sequence[str]], Terms]


# --- normal -----------------------------------------------------------------------------------------------------


def _normal(query: Query, part: Entry, index: int, rows: Sequence[str]) -> Terms:
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


def _student(query: Query, part: Entry, index: int, rows: Sequence[str]) -> Terms:
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


def last_line(matrix: np.ndarray, columns: list[int]) -> list[float]:
    """w with w (x - m) = (x_j - its mean given the others) / its standard deviation given them, j the last column.

    >>> last_line(np.array([[4.0, 2.0], [2.0, 2.0]]), [0, 1])
    [-0.5, 1.0]
    """
    lower = np.linalg.cholesky(matrix[np.ix_(columns, columns)])
    unit = np.zeros(len(columns))
    unit[-1] = 1.0
    line: list[float] = np.linalg.solve(lower.T, unit).tolist()  # the last line of the inverse
    return line


def _normal_limits(query: Query, part: Entry) -> str:
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


# --- levels -----------------------------------------------------------------------------------------------------


def _levels(query: Query, part: Entry, index: int, rows: Sequence[str]) -> Terms:  # noqa: ARG001  one signature for all
    """The log share of the level; a code that is none makes the score NULL."""
    number = query.number
    out: list[list[str]] = [[] for _ in part["log_shares"][0]]
    for row, table in zip(rows, part["log_shares"], strict=True):
        for c, shares in enumerate(table):
            whens = " ".join(f"WHEN {number(code)} THEN {number(share)}" for code, share in enumerate(shares))
            out[c].append(f"CASE WHEN {row} IS NULL THEN {number(0.0)} ELSE CASE {row} {whens} END END")
    return Terms(out)


# --- counts -----------------------------------------------------------------------------------------------------


def _counts(query: Query, part: Entry, index: int, rows: Sequence[str]) -> Terms:
    """T(x) - log x! + x log(m / (1 + a m)) - log(1 + a m) / a"""
    scores = _log_counts(query, part, index, rows)
    zero = query.number(0.0)
    out = [[f"COALESCE({text}, {zero})" for text in own] for own in scores]
    return Terms(out, _factorials(query, index, rows))


def _hurdle(query: Query, part: Entry, index: int, rows: Sequence[str]) -> Terms:
    """A share of zeros, and counts beyond 1."""
    number = query.number
    beyond = {f"b{index}_{j}": f"CASE WHEN {row} > 0 THEN {row} - 1 END" for j, row in enumerate(rows)}
    query.add("beyond", beyond)
    scores = _log_counts(query, part, index, list(beyond))
    out = []
    for c, own in enumerate(scores):
        out.append(
            [
                f"CASE WHEN {row} = 0 THEN {number(part['log_zero'][c][j])} "
                f"WHEN {row} > 0 THEN {number(part['log_more'][c][j])} + {text} ELSE {number(0.0)} END"
                for j, (row, text) in enumerate(zip(rows, own, strict=True))
            ]
        )
    return Terms(out, _factorials(query, index, list(beyond)))


def _log_counts(query: Query, part: Entry, index: int, rows: Sequence[str]) -> list[list[str]]:
    """Scores of each component and column, without log x!, NULL where the cell is missing."""
    number, steps, out = query.number, {}, []
    for c, (means, dispersions) in enumerate(zip(part["means"], part["dispersions"], strict=True)):
        own = []
        for j, (x, m, a) in enumerate(zip(rows, means, dispersions, strict=True)):
            t, name = a * m, f"{index}_{c}_{j}"
            slope = math.log(max(m, TINY)) - math.log1p(t)
            height = m * (math.log1p(t) / t if t > 0 else 1.0)
            terms = [f"{x} * {number(slope)} - {number(height)}"]
            if a > SMALL:
                r = 1.0 / a
                steps[f"r{name}"] = f"{x} + {number(r)}"
                terms.append(
                    f"{log_gamma(query, f'r{name}')} - {number(math.lgamma(r))} - {x} * {number(math.log(r))}"
                )
            elif a > 0:
                steps[f"l{name}"] = log_one_plus(query, f"{number(a)} * {x}")
                terms.append(_rising(query, x, f"l{name}", a))
            own.append(f"({' + '.join(terms)})")
        out.append(own)
    query.add("counted", steps)
    return out


def log_one_plus(query: Query, t: str) -> str:
    """log(1 + t) with all its digits, also of small t: 2 atanh(t / (2 + t))."""
    return f"{query.number(2.0)} * ATANH({t} / ({query.number(2.0)} + {t}))"


def _rising(query: Query, x: str, log: str, a: float) -> str:
    """T(x) for small a, by Stirling's formula, with ``log`` = log(1 + a x):

    x log - x (t - log)/t - log/2 + s(a/(1 + t)) - s(a), t = a x; its second term by a series where t is small.
    """
    number = query.number
    t = f"({number(a)} * {x})"
    series = number((-1.0) ** 7 / 9)
    for n in range(6, -1, -1):
        series = f"({number((-1.0) ** n / (n + 2))} + {t} * {series})"
    gap = f"CASE WHEN {t} < {number(SMALL)} THEN {x} * {t} * {series} ELSE {x} - {log} / {number(a)} END"
    b = f"({number(a)} / ({number(1.0)} + {t}))"
    edge = f"{b} * ({number(1 / 12)} - {b} * {b} * ({number(1 / 360)} - {b} * {b} * {number(1 / 1260)}))"
    start = a / 12.0 - a**3 / 360.0 + a**5 / 1260.0
    return f"{x} * {log} - ({gap}) - {log} / 2 + {edge} - {number(start)}"


def log_gamma(query: Query, z: str) -> str:
    """log G(z) of a column, z > 0: Stirling's series at z + 8, and the factors from z to z + 8 taken off."""
    number = query.number
    far = f"({z} + {number(float(SHIFT))})"
    series = number(STIRLING[-1])
    for term in STIRLING[-2::-1]:
        series = f"({number(term)} + {series} / ({far} * {far}))"
    first, second = (
        " * ".join(f"({z} + {number(float(i))})" for i in span) for span in (range(4), range(4, SHIFT))
    )
    body = f"({z} + {number(SHIFT - 0.5)}) * LN({far}) - {far} + {number(0.5 * LOG_2_PI)} + {series} / {far}"
    return f"({body} - LN({first}) - LN({second}))"


def _factorials(query: Query, index: int, rows: Sequence[str]) -> list[str]:
    """-log x!, where densities are asked for."""
    if not query.wants_density:
        return []
    steps = {f"h{index}_{j}": f"{row} + {query.number(1.0)}" for j, row in enumerate(rows)}
    query.add("factorials", steps)
    return [f"COALESCE(-{log_gamma(query, name)}, {query.number(0.0)})" for name in steps]


def _shares(query: Query, part: Entry, index: int, rows: Sequence[str]) -> Terms:
    """log m! - sum log x! + sum x log p - m log(sum of p over the cells that are there), m the total of these."""
    number, zero = query.number, query.number(0.0)
    query.add("totals", {f"m{index}": total([f"COALESCE({row}, {zero})" for row in rows])})
    known = {
        f"w{index}_{c}": total(
            [
                f"CASE WHEN {row} IS NULL THEN {zero} ELSE {number(p)} END"
                for row, p in zip(rows, own, strict=True)
            ]
        )
        for c, own in enumerate(part["shares"])
    }
    query.add("known", known)
    gone = " OR ".join(f"{row} IS NULL" for row in rows)
    out = []
    for c, own in enumerate(part["shares"]):
        terms = [
            f"COALESCE({row} * {number(math.log(max(p, TINY)))}, {zero})"
            for row, p in zip(rows, own, strict=True)
        ]
        whole = (
            f"CASE WHEN w{index}_{c} > {number(TINY)} THEN LN(w{index}_{c}) ELSE {number(math.log(TINY))} END"
        )
        out.append([*terms, f"CASE WHEN {gone} THEN -m{index} * {whole} ELSE {zero} END"])
    common = _factorials(query, index, rows)
    if common:
        query.add("sums", {f"o{index}": f"m{index} + {number(1.0)}"})
        common.append(log_gamma(query, f"o{index}"))
    return Terms(out, common)


@dataclass(frozen=True)
class Family:
    """How a family is written."""

    terms: Writer
    limits: Callable[[Query, Entry], str] = lambda *_: ""  # rows that it cannot place, in a sentence


FAMILIES = {
    "normal": Family(_normal, _normal_limits),
    "student": Family(_student, _normal_limits),
    "levels": Family(_levels),
    "counts": Family(_counts),
    "hurdle": Family(_hurdle),
    "shares": Family(_shares),
}
COUNTED = ("counts", "hurdle", "shares")  # families whose cells must be counts
