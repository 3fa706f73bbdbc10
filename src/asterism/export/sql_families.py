"""Log densities of components in SQL: for each part of a model, terms that the scores of its components add up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from asterism.export.describe import Entry
from asterism.export.dialects import total
from asterism.export.sql_normal import limits, normal, student
from asterism.export.sql_query import Query, Terms

LOG_2_PI = math.log(2.0 * math.pi)
TINY = float(np.finfo(np.float64).tiny)
SMALL = 0.01  # derived: dispersions from here on; below, differences of gamma functions lose digits
SHIFT = 8  # derived: from here on the terms of Stirling's series that are left out are below 1e-15
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


Writer = Callable[[Query, Entry, int, Sequence[str]], Terms]


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
    "normal": Family(normal, limits),
    "student": Family(student, limits),
    "levels": Family(_levels),
    "counts": Family(_counts),
    "hurdle": Family(_hurdle),
    "shares": Family(_shares),
}
COUNTED = ("counts", "hurdle", "shares")  # families whose cells must be counts
