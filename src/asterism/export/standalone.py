"""Groups of rows, as a model of Asterism gives them. Needs NumPy and nothing else.

    labels, probabilities = assign({"column": cells, ...})     # as Asterism's own ``assign``
    python THIS_FILE table.csv > labels.csv

Cells are numbers, names, or None (NaN, too) where they are missing. A name that the model does not know is a missing
cell. Label -1: the row belongs to none of the groups.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

ROWS = 4096  # worked on at a time
LOG_2_PI = math.log(2.0 * math.pi)
TINY = float(np.finfo(np.float64).tiny)
SLACK = (
    1e-9  # for rows on a limit, such as those that limits were made of: rounding may put them on either side
)
MISSING = (
    *("", "NA", "N/A", "n/a", "na", "#N/A", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN"),
    *("null", "NULL", "Null", "None", "?", "-"),
)


# --- what is asked ----------------------------------------------------------------------------------------------


def assign(columns: Mapping[str, Sequence[Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Labels (n,) and probabilities (n, k) of rows, given as a sequence of cells for each column."""
    found = place(columns)
    return found["labels"], found["probabilities"]


def place(columns: Mapping[str, Sequence[Any]]) -> dict[str, np.ndarray]:
    """Labels (n,), probabilities (n, k) and typicality (n,) of rows."""
    rows = features(cells(columns))
    parts = [placed(rows[a : a + ROWS]) for a in range(0, max(len(rows), 1), ROWS)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def placed(rows: np.ndarray) -> dict[str, np.ndarray]:
    """The same of some rows of features."""
    judge = MODEL["judge"]
    own, r, within, density = JUDGES[judge["kind"]](judge, rows)
    known, none = np.full(len(own), np.nan), np.zeros(len(own))
    if MODEL["typicality"] is not None:
        known = typicality(MODEL["typicality"], own, within, rows)
    if MODEL["background"] is not None:
        none = of_background(MODEL["background"], rows, density)
        r = r * (1.0 - none)[:, None]
    out = (none > 0.5) | (known < MODEL["least_typicality"] * (1.0 - SLACK))
    return {"labels": np.where(out, -1, own).astype(np.int32), "probabilities": r, "typicality": known}


# --- cells ------------------------------------------------------------------------------------------------------


def cells(columns: Mapping[str, Sequence[Any]]) -> np.ndarray:
    """(n, columns) numbers and codes of levels; NaN is missing."""
    read = [cells_of(column, columns) for column in MODEL["columns"]]
    return np.column_stack(read)


def cells_of(column: dict[str, Any], columns: Mapping[str, Sequence[Any]]) -> np.ndarray:
    """(n,) of one column; a ``ValueError`` for what cannot be one of its cells."""
    name = column["name"]
    if name not in columns:
        raise ValueError(f"There is no column {name!r}.")
    if "levels" in column:
        codes = {level: float(code) for code, level in enumerate(column["levels"])}
        return np.array([codes.get(spelled(cell), math.nan) for cell in columns[name]], np.float64)
    x = numbers(columns[name], name)
    wrong = np.isinf(x)
    if column["kind"] == "count":
        wrong |= (x < 0) | (x != np.floor(x)) & ~np.isnan(x)
    if wrong.any():
        row = int(wrong.argmax())
        what = "a count" if column["kind"] == "count" else "a finite number"
        raise ValueError(f"Row {row + 1}, column {name!r}: {x[row]!r} is not {what}.")
    return x


def numbers(values: Sequence[Any], name: str) -> np.ndarray:
    """(n,) cells as float64."""
    array = np.asarray(values)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    out = np.empty(len(values))
    for row, cell in enumerate(values):
        try:
            out[row] = math.nan if cell is None or str(cell) == "<NA>" else float(cell)
        except ValueError:
            raise ValueError(f"Row {row + 1}, column {name!r}: {cell!r} is not a number.") from None
    return out


def spelled(cell: Any) -> str | None:
    """The name of a level: 3.0 and 3 are '3', True is 'true', NaN is none."""
    if cell is None or str(cell) in ("nan", "<NA>"):
        return None
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return str(cell)


# --- features ---------------------------------------------------------------------------------------------------


def features(table: np.ndarray) -> np.ndarray:
    """(n, features) what the model sees of the cells."""
    out = np.column_stack([feature(entry, table[:, entry["column"]]) for entry in MODEL["features"]])
    if MODEL["directions"] is None:
        return out
    return np.nan_to_num(out, nan=0.0) @ np.array(MODEL["directions"]).T


def feature(entry: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """(n,) one number a cell, centred and scaled; NaN where the cell is missing, or is the value ``not_at``."""
    with np.errstate(invalid="ignore"):
        y = np.where(np.isnan(x), np.nan, FORMS[entry["form"]](entry, x))
        if "not_at" in entry:
            y = np.where(x == entry["not_at"], np.nan, y)
        return y if "scale" not in entry else (y - entry["center"]) / entry["scale"]


def as_it_is(_: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """The cell itself."""
    return x


def logarithm(entry: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """s log(s (x - shift)), from the least distance on."""
    return entry["sign"] * np.log(np.maximum(entry["sign"] * (x - entry["shift"]), entry["least"]))


def square_root(_: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """sqrt(x + 3/8)"""
    return np.sqrt(np.maximum(x, 0.0) + 0.375)


def asinh(entry: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """asinh((x - shift) / unit)"""
    return np.arcsinh((x - entry["shift"]) / entry["unit"])


def whole_number(entry: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """The nearest whole number, 0 or more, above the shift; halves to even ones."""
    return np.maximum(np.rint(x - entry["shift"]), 0.0)


def at_point(entry: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """1 where the cell is the point, else 0."""
    return (x == entry["point"]).astype(np.float64)


def is_level(entry: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """1 where the cell is the level, else 0."""
    return (x == entry["code"]).astype(np.float64)


def rank(entry: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """0 for the lowest level, 1 for the highest."""
    return x / entry["steps"]


FORMS = {
    "plain": as_it_is,
    "log": logarithm,
    "root": square_root,
    "asinh": asinh,
    "count": whole_number,
    "at": at_point,
    "is": is_level,
    "rank": rank,
}


# --- judges: labels, probabilities, scores within the own groups, log densities of all --------------------------


def mixture(judge: dict[str, Any], rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """s_c = log w_c + log p(x | c), r_c = exp(s_c) / sum exp(s); a group has the sum of its components."""
    weights, groups = np.array(judge["weights"]), np.array(judge["groups"])
    with np.errstate(divide="ignore"):
        scores = np.tile(np.log(weights), (len(rows), 1))
    for part in judge["parts"]:
        scores += FAMILIES[part["family"]](part, rows[:, part["features"]])
    k = MODEL["k"]
    into = np.eye(k)[groups]
    density = log_sum(scores)
    known = np.isfinite(density)
    shares = np.exp(
        np.where(known[:, None], scores - np.where(known, density, 0.0)[:, None], -np.log(len(weights)))
    )
    r = shares @ into
    own = r.argmax(axis=1)
    mine = groups[None, :] == own[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        within = log_sum(np.where(mine, scores, -np.inf)) - np.log(weights @ into)[own]
    return own, r, within, density


def centers(judge: dict[str, Any], rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """The nearest centre over the cells that are there: r_g ~ exp(-d_g^2 / unit)."""
    away = (rows - np.array(judge["reference"]))[:, None, :] - np.array(judge["offsets"])
    squares = np.nansum(away * away, axis=2)
    scores = -squares / judge["unit"]
    seen = np.count_nonzero(~np.isnan(rows), axis=1)
    density = log_sum(scores) - np.log(scores.shape[1]) - 0.5 * seen * np.log(np.pi * judge["unit"])
    return by_distance(squares, judge["unit"], density)


def medoids(judge: dict[str, Any], rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """The nearest medoid, d = sum w_j d_j / sum w_j over the columns that both have: r_g ~ exp(-d_g / unit)."""
    points = np.array(judge["points"], np.float64)
    total = np.zeros((len(rows), len(points)))
    whole = np.zeros_like(total)
    for j, (how, weight) in enumerate(zip(judge["compare"], judge["weights"], strict=True)):
        x, p = rows[:, j][:, None], points[:, j][None, :]
        if how == "range":
            x = (x - judge["low"][j]) / judge["spread"][j]
        known = ~np.isnan(x) & ~np.isnan(p)
        if how == "asymmetric":
            known &= (x != 0) | (p != 0)
        apart = np.abs(x - p) if how == "range" else (x != p).astype(np.float64)
        total += weight * np.where(known, apart, 0.0)
        whole += weight * known
    unknown = np.nan if judge["unknown"] is None else judge["unknown"]
    with np.errstate(invalid="ignore", divide="ignore"):
        distances = np.where(whole > 0, judge["factor"] * total / whole, unknown)
    return by_distance(distances, judge["unit"], np.full(len(rows), np.nan))


def by_distance(distances: np.ndarray, unit: float, density: np.ndarray) -> tuple[np.ndarray, ...]:
    """The least of some distances (n, k); equal shares where one is not known."""
    own = np.where(np.isnan(distances), np.inf, distances).argmin(axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        r = np.exp(-(distances - distances.min(axis=1, keepdims=True)) / unit)
        r /= r.sum(axis=1, keepdims=True)
        r[np.isnan(r).any(axis=1)] = 1.0 / distances.shape[1]
        return own, r, -distances[np.arange(len(own)), own] / unit, density


def regions(judge: dict[str, Any], rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Kernels of the nearest known rows, Student's with ``degrees``: r_g ~ sum of those of group g."""
    known, labels = np.array(judge["rows"]), np.array(judge["labels"])
    weights, log_widths = np.array(judge["weights"]), np.array(judge["log_widths"])
    rows, v, d, k = np.nan_to_num(rows, nan=0.0), judge["degrees"], known.shape[1], MODEL["k"]
    m = min(judge["nearest"], len(known))
    norm = math.lgamma((v + d) / 2) - math.lgamma(v / 2) - 0.5 * d * math.log(v * math.pi)
    scores = np.full((len(rows), k), -np.inf)
    for a in range(0, len(rows), 256):
        apart = np.zeros((len(rows[a : a + 256]), len(known)))
        for j in range(d):
            apart += (rows[a : a + 256, j][:, None] - known[:, j]) ** 2
        near = np.argsort(apart, axis=1, kind="stable")[:, :m]
        squares = np.take_along_axis(apart, near, axis=1)
        width = log_widths[near]
        kernel = norm - 0.5 * (v + d) * np.log1p(squares / np.exp(width) ** 2 / v) - d * width
        kernel += np.log(weights[near] / weights.sum())
        for g in range(k):
            scores[a : a + 256, g] = log_sum(np.where(labels[near] == g, kernel, -np.inf))
    density = log_sum(scores)
    own = scores.argmax(axis=1)
    share = np.bincount(labels, weights) / weights.sum()
    within = np.maximum(scores[np.arange(len(own)), own] - np.log(share[own]), -1e6)
    return own, np.exp(scores - density[:, None]), within, density


def tree(judge: dict[str, Any], rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Down the splits to a leaf."""
    own = np.zeros(len(rows), np.int64)
    waiting = [(0, np.arange(len(rows)))]
    while waiting:
        i, mine = waiting.pop()
        node = judge["nodes"][i]
        if "group" in node:
            own[mine] = node["group"]
            continue
        x = rows[mine, node["feature"]]
        left = np.isin(x, node["levels"]) if "levels" in node else x <= node["at_most"]
        left = np.where(np.isnan(x), node["missing_left"], left)
        waiting += [(node["left"], mine[left]), (node["right"], mine[~left])]
    return certain(own)


def rules(judge: dict[str, Any], rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """The first rule that is met; -1 where none is. A missing cell meets no condition."""
    own = np.full(len(rows), -1)
    for rule in reversed(judge["rules"]):
        met = np.ones(len(rows), bool)
        for c in rule["conditions"]:
            x = rows[:, c["feature"]]
            if "levels" in c:
                met &= np.isin(x, c["levels"])
            else:
                met &= (x > c.get("above", -np.inf)) & (x <= c.get("at_most", np.inf))
        own[met] = rule["group"]
    return certain(own)


def certain(own: np.ndarray) -> tuple[np.ndarray, ...]:
    """A rule leaves no doubt: probability 1, or 0 for all groups of a row of none."""
    nothing = np.full(len(own), np.nan)
    return own, (own[:, None] == np.arange(MODEL["k"])).astype(np.float64), nothing, nothing


def log_sum(scores: np.ndarray) -> np.ndarray:
    """(n,) log sum_c exp s_c"""
    top = scores.max(axis=1)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return safe + np.log(np.exp(scores - safe[:, None]).sum(axis=1))


JUDGES = {
    "mixture": mixture,
    "centers": centers,
    "medoids": medoids,
    "regions": regions,
    "tree": tree,
    "rules": rules,
}


# --- families: log densities (n, k) of the cells that are there -------------------------------------------------


def normal(part: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """-p/2 log 2 pi - log det(S)/2 - D/2, for the p cells that are there; D = (x - m)' S^-1 (x - m) of them."""
    squares, heights, seen = mahalanobis(part, rows)
    return -0.5 * (seen[:, None] * LOG_2_PI + squares) + heights


def student(part: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """log G((v + p)/2) - log G(v/2) - p/2 log(v pi) - log det(S)/2 - (v + p)/2 log(1 + D/v)"""
    squares, heights, seen = mahalanobis(part, rows)
    v, p = np.array(part["degrees"]), seen[:, None]
    constant = log_gamma((v + p) / 2) - log_gamma(v / 2) - p / 2 * np.log(v * np.pi)
    return constant + heights - (v + p) / 2 * np.log1p(squares / v)


def mahalanobis(part: dict[str, Any], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n, k) D and -log det(S)/2 of the cells that are there, and (n,) how many these are."""
    means, y = np.array(part["means"]), rows - np.array(part["reference"])
    there = ~np.isnan(y)
    if "variances" in part:
        variances = np.array(part["variances"])
        z = (y[:, None, :] - means) / np.sqrt(variances)
        heights = -0.5 * (there @ np.log(variances).T)
        return np.nansum(z * z, axis=2), heights, there.sum(axis=1)
    squares, heights = np.zeros((len(y), len(means))), np.zeros((len(y), len(means)))
    for seen, mine in patterns(there):
        for c, matrix in enumerate(part["covariances"]):
            if not seen.any():
                continue
            lower = np.linalg.cholesky(np.array(matrix)[np.ix_(seen, seen)])
            z = np.linalg.solve(lower, (y[mine][:, seen] - means[c, seen]).T)
            squares[mine, c] = (z * z).sum(axis=0)
            heights[mine, c] = -np.log(np.diag(lower)).sum()
    return squares, heights, there.sum(axis=1)


def patterns(there: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Which cells are there, and the rows that have just these."""
    found, group = np.unique(there, axis=0, return_inverse=True)
    for i, seen in enumerate(found):
        yield seen, np.flatnonzero(group.ravel() == i)


def categories(part: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """sum over columns of the log share of the level"""
    return sum_over(part["log_shares"], rows, level_of)


def level_of(table: list[list[float]], codes: np.ndarray) -> np.ndarray:
    """(n, k) from the log shares (k, L) of one column."""
    shares = np.array(table)
    if ((codes < 0) | (codes >= shares.shape[1]) | (codes != np.floor(codes))).any():
        raise ValueError("A cell is not one of the codes of its levels.")
    return shares.T[codes.astype(np.int64)]


def sum_over(tables: list[Any], rows: np.ndarray, score: Any) -> np.ndarray:
    """Scores (m, k) of the known cells of each column, added up."""
    out: Any = 0.0
    for j, table in enumerate(tables):
        known = ~np.isnan(rows[:, j])
        own = score(table, rows[known, j])
        whole = np.zeros((len(rows), own.shape[1]))
        whole[known] = own
        out = out + whole
    return np.asarray(out)


def negative_binomial(part: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """Negative binomial counts; a dispersion of 0 is Poisson's distribution."""
    require_counts(rows)
    return sum_over(
        list(zip(columns_of(part["means"]), columns_of(part["dispersions"]), strict=True)), rows, log_count
    )


def hurdle(part: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """A share of zeros, and negative binomial counts beyond 1."""
    require_counts(rows)
    names = ("log_zero", "log_more", "means", "dispersions")
    return sum_over(list(zip(*(columns_of(part[name]) for name in names), strict=True)), rows, log_hurdle)


def log_hurdle(column: Any, x: np.ndarray) -> np.ndarray:
    """(n, k) of one column."""
    log_zero, log_more, means, dispersions = column
    beyond = log_more + log_count((means, dispersions), np.maximum(x - 1.0, 0.0))
    return np.where(x[:, None] == 0, log_zero, beyond)


def log_count(column: Any, x: np.ndarray) -> np.ndarray:
    """(n, k) T(x) - log x! + x log(m / (1 + a m)) - log(1 + a m) / a, T(x) = sum over i < x of log(1 + a i)"""
    m, a = column
    t, x = a * m, x[:, None]
    spread = np.divide(np.log1p(t), t, out=np.ones_like(t), where=t > 0)
    return rising(a, x) + x * (np.log(np.maximum(m, TINY)) - np.log1p(t)) - m * spread - log_gamma(x + 1.0)


def rising(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """T(x); by Stirling's formula where a is small, for there gamma functions would cancel."""
    r = 1.0 / np.maximum(a, 0.01)
    wide = log_gamma(x + r) - log_gamma(r) - x * np.log(r)
    b = np.maximum(a, TINY)
    t = b * x
    small = np.minimum(t, 0.01)  # (t - log(1 + t)) / t^2 by its series
    series = np.polyval([(-1.0) ** n / (n + 2) for n in range(7, -1, -1)], small)
    gap = np.where(t < 0.01, series, (t - np.log1p(t)) / np.maximum(t, 0.01) ** 2)
    near = x * np.log1p(t) - x * gap * t - np.log1p(t) / 2 + stirling(b / (1.0 + t)) - stirling(b)
    return np.where(a <= 0.01, np.where(a > 0, near, 0.0), wide)


def stirling(b: np.ndarray) -> np.ndarray:
    """What log G(1/b) is above Stirling's formula, for small b."""
    return b / 12.0 - b**3 / 360.0 + b**5 / 1260.0


def multinomial(part: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """Multinomial counts, given the total m of those that are known."""
    require_counts(rows)
    known = ~np.isnan(rows)
    x, p = np.where(known, rows, 0.0), np.array(part["shares"])
    m = x.sum(axis=1)[:, None]
    arrangements = log_gamma(m + 1.0) - log_gamma(x + 1.0).sum(axis=1)[:, None]
    whole = np.where(known.all(axis=1)[:, None], 1.0, known @ p.T)
    return arrangements + x @ np.log(np.maximum(p, TINY)).T - m * np.log(np.maximum(whole, TINY))


def columns_of(table: list[list[float]]) -> list[np.ndarray]:
    """(k,) the parameters of each column."""
    return list(np.array(table).T)


def require_counts(rows: np.ndarray) -> None:
    """Whole numbers from 0 on, or missing."""
    if ((rows < 0) | (rows != np.floor(rows)) & ~np.isnan(rows)).any():
        raise ValueError("A cell is not a count: counts are 0, 1, 2, ...")


def log_gamma(x: np.ndarray) -> np.ndarray:
    """log of the gamma function, of numbers that repeat each other"""
    values, places = np.unique(x, return_inverse=True)
    return np.array([math.lgamma(value) for value in values])[places].reshape(np.shape(x))


FAMILIES = {
    "normal": normal,
    "student": student,
    "levels": categories,
    "counts": negative_binomial,
    "hurdle": hurdle,
    "shares": multinomial,
}


# --- rows that belong to none -----------------------------------------------------------------------------------


def of_background(background: dict[str, Any], rows: np.ndarray, density: np.ndarray) -> np.ndarray:
    """(n,) probability of evenly spread rows: e / V against (1 - e) p(x)."""
    share, widths = background["share"], np.log(np.array(background["high"]) - np.array(background["low"]))
    with np.errstate(over="ignore", invalid="ignore"):
        odds = np.log1p(-share) + density - math.log(share) + ~np.isnan(rows) @ widths
        return np.where(np.isnan(odds), 0.0, 1.0 / (1.0 + np.exp(odds)))


def typicality(known: dict[str, Any], own: np.ndarray, within: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(n,) the share of the group that is as unusual or more; missing cells count as usual."""
    scores = within + (np.isnan(rows) * np.array(known["cell_scores"])[own]).sum(axis=1)
    out = np.full(len(own), np.nan)
    for g, (knots, table, weight) in enumerate(
        zip(known["scores"], known["shares"], known["weights"], strict=True)
    ):
        s, least = scores[own == g], 1.0 / (1.0 + weight)
        with np.errstate(over="ignore"):
            inside = least + np.exp(np.interp(s, knots, np.log(np.maximum(table, TINY))))
            value = np.where(s + SLACK * (1.0 + np.abs(s)) >= knots[0], inside, least * np.exp(s - knots[0]))
        out[own == g] = np.clip(value, TINY, 1.0)
    return out


# --- constants --------------------------------------------------------------------------------------------------

MODEL: dict[str, Any] = {}


# --- command line -----------------------------------------------------------------------------------------------


def main() -> None:
    """Labels of a CSV file, to standard output."""
    parser = argparse.ArgumentParser(description="Groups for the rows of a CSV file.")
    parser.add_argument("table", help="CSV file with a line of names; - is standard input")
    parser.add_argument("--delimiter", default=",")
    options = parser.parse_args()
    if options.table == "-":
        read = list(csv.DictReader(sys.stdin, delimiter=options.delimiter))
    else:
        with open(options.table, encoding="utf-8-sig", newline="") as file:
            read = list(csv.DictReader(file, delimiter=options.delimiter))
    try:
        labels_, r = assign(
            {name: [cell_in_text(row.get(name)) for row in read] for name in (read[0] if read else ())}
        )
    except ValueError as error:
        sys.exit(str(error))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["row", "group", *(f"probability_{g}" for g in range(r.shape[1]))])
    for row, (label, probabilities) in enumerate(zip(labels_.tolist(), r.tolist(), strict=True)):
        out.writerow([row, label, *map(repr, probabilities)])


def cell_in_text(text: str | None) -> str | None:
    """A cell of a text file without blanks around it; None where it is missing."""
    return None if text is None or text.strip() in MISSING else text.strip()


if __name__ == "__main__":
    main()
