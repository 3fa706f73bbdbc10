"""Judges in SQL: from scores to the shares of groups, ``p0``, ``p1``, ...; or straight to the group, ``own``.

p_g = sum over components c of g of exp(s_c - top) / the same sum over all
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from asterism.errors import ParameterError
from asterism.export.describe import Entry
from asterism.export.dialects import total
from asterism.export.sql_families import FAMILIES
from asterism.export.sql_query import Query

LEAST_LOG = -600.0  # derived: exp of less is nothing beside 1, and PostgreSQL takes underflow for an error


def _mixture(query: Query, rows: Sequence[str]) -> None:
    """s_c = log w_c + log p(x | c)"""
    judge, number = query.told["judge"], query.number
    weights, groups = judge["weights"], judge["groups"]
    alive = [c for c, weight in enumerate(weights) if weight > 0]
    scores, common = {c: [number(math.log(weights[c]))] for c in alive}, []
    for index, part in enumerate(judge["parts"]):
        found = FAMILIES[part["family"]].terms(query, part, index, [rows[i] for i in part["features"]])
        common += found.common
        for c in alive:
            scores[c] += found.scores[c]
    query.add("scores", {f"s{c}": total(terms) for c, terms in scores.items()})
    if query.wants_density:
        query.add("common", {"common": total(common or [number(0.0)])})
    members = [[c for c in alive if groups[c] == g] for g in range(query.told["k"])]
    _shares(query, members, 1.0)
    density = "highest + LN(whole) + common"
    shares = np.bincount(groups, weights, query.told["k"])
    within = [
        f"highest + CASE WHEN q{g} > 0 THEN LN(q{g}) ELSE {number(LEAST_LOG)} END + common"
        f" - {number(math.log(share) if share > 0 else 0.0)}"
        for g, share in enumerate(shares.tolist())
    ]
    _densities(query, density, within)


def _centers(query: Query, rows: Sequence[str]) -> None:
    """s_g = minus the squared distance over the cells that are there."""
    judge, number, k = query.told["judge"], query.number, query.told["k"]
    names = [f"n0_{j}" for j in range(len(rows))]
    pairs = zip(names, rows, judge["reference"], strict=True)
    query.add("offsets", {name: f"{row} - {number(r)}" for name, row, r in pairs})
    scores = {}
    for g, center in enumerate(judge["offsets"]):
        aways = [f"({name} - {number(c)})" for name, c in zip(names, center, strict=True)]
        scores[f"s{g}"] = f"-({total([f'COALESCE({a} * {a}, {number(0.0)})' for a in aways])})"
    query.add("scores", scores)
    unit = judge["unit"]
    _shares(query, [[g] for g in range(k)], unit)
    cell = number(0.5 * (math.log(math.pi) + math.log(unit)))
    cells = [f"CASE WHEN {row} IS NULL THEN {number(0.0)} ELSE {cell} END" for row in rows]
    density = f"highest / {number(unit)} + LN(whole) - {number(math.log(k))} - ({total(cells)})"
    _densities(query, density, [f"s{g} / {number(unit)}" for g in range(k)])


def _medoids(query: Query, rows: Sequence[str]) -> None:
    """s_g = minus the mean (or sum) over columns of what a row and a medoid differ by in each."""
    judge, number, k = query.told["judge"], query.number, query.told["k"]
    ready = {
        f"n0_{j}": f"({row} - {number(judge['low'][j])}) / {number(judge['spread'][j])}"
        if how == "range"
        else row
        for j, (row, how) in enumerate(zip(rows, judge["compare"], strict=True))
    }
    query.add("ready", ready)
    sums: dict[str, str] = {}
    for g, point in enumerate(judge["points"]):
        apart, whole = [number(0.0)], [number(0.0)]
        for name, how, weight, p in zip(ready, judge["compare"], judge["weights"], point, strict=True):
            if p is None:
                continue
            known = f"{name} IS NOT NULL" if how != "asymmetric" or p != 0 else f"{name} <> 0"
            away = (
                f"ABS({name} - {number(p)})"
                if how == "range"
                else f"CASE WHEN {name} = {number(p)} THEN 0 ELSE 1 END"
            )
            apart.append(f"CASE WHEN {known} THEN {number(weight)} * {away} ELSE {number(0.0)} END")
            whole.append(f"CASE WHEN {known} THEN {number(weight)} ELSE {number(0.0)} END")
        sums |= {f"t{g}": total(apart), f"u{g}": total(whole)}
    query.add("compared", sums)
    unknown = "NULL" if judge["unknown"] is None else number(-judge["unknown"])
    factor = number(-judge["factor"])
    scores = {f"s{g}": f"CASE WHEN u{g} > 0 THEN {factor} * t{g} / u{g} ELSE {unknown} END" for g in range(k)}
    query.add("scores", scores)
    _shares(query, [[g] for g in range(k)], judge["unit"])
    _densities(query, "NULL", [f"s{g} / {number(judge['unit'])}" for g in range(k)])


def _shares(query: Query, members: list[list[int]], unit: float) -> None:
    """Shares of groups, from scores in some unit."""
    number = query.number
    alive = sorted(c for own in members for c in own)
    # A score that is not known makes all shares unknown: GREATEST passes it over in some databases.
    known = " AND ".join(f"s{c} IS NOT NULL" for c in alive)
    query.add(
        "highest", {"highest": f"CASE WHEN {known} THEN {query.dialect.most([f's{c}' for c in alive])} END"}
    )
    below = f"<= {number(LEAST_LOG * unit)} THEN {number(0.0)}"
    per = "" if unit == 1.0 else f" / {number(unit)}"
    query.add(
        "powers",
        {f"e{c}": f"CASE WHEN s{c} - highest {below} ELSE EXP((s{c} - highest){per}) END" for c in alive},
    )
    sums = {f"q{g}": total([f"e{c}" for c in own]) if own else number(0.0) for g, own in enumerate(members)}
    query.add("sums", {"whole": total([f"e{c}" for c in alive]), **sums})
    query.add("shares", {f"p{g}": f"q{g} / whole" for g in range(len(members))})


def _densities(query: Query, density: str, within: list[str]) -> None:
    if query.wants_density:
        query.add("densities", {"density": density} | {f"within{g}": text for g, text in enumerate(within)})


# --- rules ------------------------------------------------------------------------------------------------------


def _tree(query: Query, rows: Sequence[str]) -> None:
    """Splits within splits."""
    nodes = query.told["judge"]["nodes"]

    def below(i: int, depth: int) -> str:
        node = nodes[i]
        if "group" in node:
            return str(node["group"])
        row = rows[node["feature"]]
        left = (
            f"{row} IN ({_codes(query, node)})"
            if "levels" in node
            else f"{row} <= {query.number(node['at_most'])}"
        )
        left = f"{left} OR {row} IS NULL" if node["missing_left"] else left
        pad = "  " * (depth + 3)
        return (
            f"CASE WHEN {left}\n{pad}THEN {below(node['left'], depth + 1)}"
            f"\n{pad}ELSE {below(node['right'], depth + 1)} END"
        )

    query.add("placed", {"own": below(0, 0)})


def _rules(query: Query, rows: Sequence[str]) -> None:
    """The first rule that is met."""
    whens = "".join(
        f"\n      WHEN {' AND '.join(_condition(query, rows, c) for c in rule['conditions'])} THEN {rule['group']}"
        for rule in query.told["judge"]["rules"]
    )
    query.add("placed", {"own": f"CASE{whens} ELSE -1 END" if whens else "-1"})


def _condition(query: Query, rows: Sequence[str], c: Entry) -> str:
    row = rows[c["feature"]]
    if "levels" in c:
        return f"{row} IN ({_codes(query, c)})"
    limits = [f"{row} > {query.number(c['above'])}"] if "above" in c else []
    limits += [f"{row} <= {query.number(c['at_most'])}"] if "at_most" in c else []
    return " AND ".join(limits)


def _codes(query: Query, entry: Entry) -> str:
    return ", ".join(query.number(float(code)) for code in entry["levels"])


def _regions(query: Query, rows: Sequence[str]) -> None:  # noqa: ARG001  one signature for all
    raise ParameterError(
        "Groups of any shape are known by the rows near a place, and a query cannot look for these.",
        "Export the model as Python (--python), which needs only NumPy, or find groups with method='gaussian'.",
    )


JUDGES: dict[str, Callable[[Query, Sequence[str]], None]] = {
    "mixture": _mixture,
    "centers": _centers,
    "medoids": _medoids,
    "tree": _tree,
    "rules": _rules,
    "regions": _regions,
}
