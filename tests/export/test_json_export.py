"""The JSON of a model is enough to write one's own: sixty lines, by its page alone, give what ``assign`` gives."""

from __future__ import annotations

import json

import numpy as np
import pytest
from exported_models import CASES, case
from scipy.special import gammaln, logsumexp
from scipy.stats import multivariate_normal, multivariate_t, nbinom, poisson

import asterism

# --- an implementation by docs/methods/export.md alone, row by row ----------------------------------------------


def cell(column, value):
    if value is None:
        return np.nan
    if "levels" in column:
        name = str(value).lower() if isinstance(value, bool) else str(value)
        return float(column["levels"].index(name)) if name in column["levels"] else np.nan
    return float(value)


def feature(entry, x):
    if np.isnan(x) or x == entry.get("not_at"):
        return np.nan
    y = {
        "plain": lambda: x,
        "log": lambda: entry["sign"] * np.log(max(entry["sign"] * (x - entry["shift"]), entry["least"])),
        "root": lambda: np.sqrt(max(x, 0) + 3 / 8),
        "asinh": lambda: np.arcsinh((x - entry["shift"]) / entry["unit"]),
        "count": lambda: max(np.rint(x - entry["shift"]), 0.0),
        "at": lambda: float(x == entry["point"]),
        "is": lambda: float(x == entry["code"]),
        "rank": lambda: x / entry["steps"],
    }[entry["form"]]()
    return (y - entry.get("center", 0)) / entry.get("scale", 1)


def density(part, c, x):
    """log p of the cells that are there, of component c."""
    j = np.flatnonzero(~np.isnan(x))
    x = x[j]
    if not len(j):
        return 0.0
    if part["family"] in ("normal", "student"):
        mean = np.array(part["reference"])[j] + np.array(part["means"][c])[j]
        matrix = np.array(part["covariances"][c]) if "covariances" in part else np.diag(part["variances"][c])
        matrix = matrix[np.ix_(j, j)]
        if part["family"] == "normal":
            return multivariate_normal(mean, matrix).logpdf(x)
        return multivariate_t(mean, matrix, df=part["degrees"][c]).logpdf(x)
    if part["family"] == "levels":
        return sum(part["log_shares"][i][c][int(v)] for i, v in zip(j, x, strict=True))
    if part["family"] == "shares":
        p = np.array(part["shares"][c])[j]
        return gammaln(x.sum() + 1) - gammaln(x + 1).sum() + x @ np.log(p / p.sum())
    total = 0.0
    for i, v in zip(j, x, strict=True):
        if part["family"] == "hurdle":
            total += part["log_zero" if v == 0 else "log_more"][c][i]
            v -= 1
        m, a = part["means"][c][i], part["dispersions"][c][i]
        if v >= 0:
            total += poisson(m).logpmf(v) if a == 0 else nbinom(1 / a, 1 / (1 + a * m)).logpmf(v)
    return total


def shares(model, row):
    """Probabilities of the groups, and log density."""
    x = [cell(column, row[column["name"]]) for column in model["columns"]]
    x = np.array([feature(entry, x[entry["column"]]) for entry in model["features"]])
    if model["directions"] is not None:
        x = np.array(model["directions"]) @ np.nan_to_num(x)
    judge, groups = model["judge"], list(range(model["k"]))
    if judge["kind"] == "mixture":
        groups = judge["groups"]
        scores = np.log(judge["weights"])
        for part in judge["parts"]:
            scores = scores + [density(part, c, x[part["features"]]) for c in range(len(scores))]
        height = logsumexp(scores)
    else:
        away = x - np.array(judge["reference"]) - np.array(judge["offsets"])
        scores = -np.nansum(away**2, axis=1) / judge["unit"]
        cells = np.count_nonzero(~np.isnan(x))
        height = logsumexp(scores) - np.log(len(scores)) - cells / 2 * np.log(np.pi * judge["unit"])
    r = np.exp(scores - logsumexp(scores))
    r = np.array([sum(p for p, own in zip(r, groups, strict=True) if own == g) for g in range(model["k"])])
    none = 0.0
    if (e := model["background"]) is not None:
        there = ~np.isnan(x)
        volume = np.prod((np.array(e["high"]) - np.array(e["low"]))[there])
        none = e["share"] / volume / (e["share"] / volume + (1 - e["share"]) * np.exp(height))
    return (-1 if none > 0.5 else int(r.argmax())), r * (1 - none)


# --- what it says -----------------------------------------------------------------------------------------------

LEFT_OUT = (
    "outliers",
    "medoids",
    "both",
    "EEI",
    "EVI",
    "VEI",
    "VEE",
    "VVE",
    "EEV",
    "VEV",
    "EVV",
    "VII",
    "EVE",
)
WRITTEN = [name for name in CASES if not any(word in name for word in LEFT_OUT)]


@pytest.mark.parametrize("name", WRITTEN)
def test_an_implementation_by_the_page_gives_what_assign_gives(name) -> None:
    model, table = case(name)
    table = table.take(list(range(0, table.num_rows, 19)))
    told = json.loads(asterism.to_json(model))
    assert (told["format"], told["version"]) == ("asterism-export", 1)
    expected = model.assign(table)
    found = [shares(told, row) for row in table.to_pylist()]
    np.testing.assert_array_equal([label for label, _ in found], expected.labels)
    np.testing.assert_allclose([r for _, r in found], expected.probabilities, rtol=0, atol=1e-9)
