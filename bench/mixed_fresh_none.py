"""Tables without groups of the fresh half: one population whose columns were cut, capped, rounded or counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit

from bench.choose_pieces import Array, Rng
from bench.mixed_draft import digits
from bench.mixed_fresh_draft import MONTHS
from bench.mixed_tables import DrawnTable, none, register


def rows(rng: Rng, low: int = 300, high: int = 1500) -> int:
    """From a range, as often below its middle in logarithms as above."""
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


def cut(x: Array, shares: list[float], names: list[str]) -> Array:
    """A number as a category: names in the order of its values, with about these shares."""
    edges = np.quantile(x, np.cumsum(shares)[:-1])
    return np.array(names, object)[np.searchsorted(edges, x)]


def yes(rng: Rng, odds: Array) -> Array:
    return np.where(rng.uniform(size=len(odds)) < expit(odds), "yes", "no").astype(object)


def paid_by_schooling(rng: Rng) -> DrawnTable:
    n = rows(rng)
    schooling = rng.normal(size=n)
    age = np.round(20 + 45 * rng.beta(1.6, 1.8, n))
    pay = np.exp(10.3 + 0.25 * schooling + 0.008 * (age - 40) + 0.35 * rng.normal(size=n))
    degree = cut(
        schooling + 0.5 * rng.normal(size=n), [0.2, 0.4, 0.25, 0.15], ["basic", "trade", "college", "higher"]
    )
    bracket = pd.cut(pay, [0, 20_000, 35_000, 60_000, np.inf], labels=["I", "II", "III", "IV"])
    return none(
        pd.DataFrame({"degree": degree, "age": age, "pay": digits(pay), "bracket": bracket.astype(object)})
    )


def saturation(rng: Rng) -> DrawnTable:
    n = rows(rng, 200, 800)
    light = rng.gamma(2.5, 120, n)
    growth = 30 * light / (rng.uniform(150, 400) + light) * np.exp(0.12 * rng.normal(size=n))
    leaves = rng.poisson(growth / 2)
    site = rng.choice(["north bed", "south bed", "tunnel"], n, p=[0.3, 0.45, 0.25])
    return none(
        pd.DataFrame({"light": digits(light), "growth": digits(growth), "leaves": leaves, "bed": site})
    )


def dose_and_answer(rng: Rng) -> DrawnTable:
    n = rows(rng, 200, 1000)
    dose, weight = np.exp(rng.normal(2.5, 0.6, n)), rng.normal(74, 11, n)
    strength = np.log(dose * 70 / weight) - 2.5
    frame = {
        "dose_mg": digits(dose),
        "weight_kg": digits(weight, 3),
        "answered": yes(rng, 1.5 * strength - 0.2),
    }
    frame["side_effects"] = rng.poisson(np.exp(0.1 + 0.5 * strength))
    frame["marker"] = digits(np.exp(1.0 - 0.4 * strength + 0.4 * rng.normal(size=n)))
    return none(pd.DataFrame(frame))


def follow_up(rng: Rng) -> DrawnTable:
    n = rows(rng)
    age, stage = rng.normal(63, 10, n), rng.normal(size=n)
    time = 60 * np.exp(-0.02 * (age - 63) - 0.3 * stage) * rng.weibull(1.3, n)
    until = rng.uniform(6, 72, n)  # rows enter over years, the study ends on one day
    frame = {
        "age": np.round(age), "months": digits(np.minimum(time, until), 3),
        "event": np.where(time <= until, "died", "alive").astype(object),
        "stage": cut(stage + 0.6 * rng.normal(size=n), [0.35, 0.3, 0.2, 0.15], ["I", "II", "III", "IV"]),
        "nodes": rng.negative_binomial(2, 2 / (2 + np.exp(0.8 + 0.4 * stage))),
    }  # fmt: skip
    return none(pd.DataFrame(frame))


def rounded_answers(rng: Rng) -> DrawnTable:
    n = rows(rng)
    height = rng.normal(171, 9, n)
    weight = 0.9 * (height - 100) + rng.gamma(3, 5, n) - 8
    frame = {"height_said": 5 * np.round(height / 5), "weight_said": 5 * np.round(weight / 5)}
    frame["walk_minutes"] = 10 * np.round(rng.gamma(2, 14, n) / 10)
    frame["sleep_hours"] = np.round(rng.normal(7.1, 0.9, n))
    frame["smokes"] = yes(rng, np.full(n, rng.uniform(-1.5, 0)))
    return none(pd.DataFrame(frame))


def seasons(rng: Rng) -> DrawnTable:
    n = rows(rng)
    day = rng.integers(0, 365, n)
    wave = np.cos(2 * np.pi * (day - 200) / 365)
    warmth = 11 + 5 * wave + 4.5 * rng.normal(size=n)
    frame = {"month": np.array(MONTHS, object)[day * 12 // 365], "warmth": np.round(warmth, 1)}
    frame["cones_sold"] = rng.negative_binomial(4, 4 / (4 + np.exp(2.0 + 0.09 * (warmth - 11))))
    frame["rain_mm"] = np.where(rng.uniform(size=n) < 0.55, 0.0, np.round(rng.gamma(0.9, 6, n), 1))
    frame["open_late"] = yes(rng, 0.15 * (warmth - 13))
    return none(pd.DataFrame(frame))


def forty_rows(rng: Rng) -> DrawnTable:
    n = 40
    height = rng.normal(42, 9, n)
    colour = rng.choice(["white", "pink", "blue"], n, p=[0.45, 0.35, 0.2])
    leaves = rng.poisson(np.maximum(0.3 * height, 1))
    return none(pd.DataFrame({"height": np.round(height, 1), "leaves": leaves, "colour": colour}))


def four_thousand_rows(rng: Rng) -> DrawnTable:
    n = 4000
    balance = np.round(np.exp(rng.normal(7.2, 1.1, n)), 2)
    logins = rng.negative_binomial(1.5, 1.5 / (1.5 + np.exp(1.2 + 0.15 * (np.log(balance) - 7.2))))
    frame = {"balance": balance, "logins": logins, "years": np.floor(rng.exponential(6, n))}
    frame["branch"] = np.array([f"office {j}" for j in range(11)], object)[
        np.minimum(rng.geometric(0.2, n), 11) - 1
    ]
    frame["card"] = cut(
        np.log(balance) + 1.2 * rng.normal(size=n), [0.6, 0.3, 0.1], ["basic", "silver", "gold"]
    )
    return none(pd.DataFrame(frame))


def trees_by_diameter(rng: Rng) -> DrawnTable:
    n = rows(rng, 200, 900)
    diameter = 8 + rng.weibull(1.7, n) * 25
    height = 1.3 + 2.4 * diameter**0.6 * np.exp(0.12 * rng.normal(size=n))
    frame = {"diameter": np.round(diameter, 1), "height": np.round(height, 1)}
    frame["volume"] = digits(4e-5 * diameter**2 * height * np.exp(0.1 * rng.normal(size=n)))
    frame["class"] = pd.cut(
        diameter, [0, 15, 30, 45, 1e3], labels=["pole", "small", "medium", "large"]
    ).astype(object)
    frame["cavities"] = rng.poisson(0.012 * diameter)
    return none(pd.DataFrame(frame))


def exam_with_pass_mark(rng: Rng) -> DrawnTable:
    n = rows(rng)
    skill = rng.normal(size=n)
    parts = {
        f"part_{j}": rng.binomial(20, expit(0.4 + 0.7 * skill + 0.2 * rng.normal(size=n))) for j in range(4)
    }
    total = np.sum(list(parts.values()), axis=0)
    frame = pd.DataFrame(parts).assign(total=total)
    frame["mark"] = pd.cut(total, [-1, 31, 43, 54, 65, 80], labels=["E", "D", "C", "B", "A"]).astype(object)
    frame["passed"] = np.where(total > 31, "yes", "no").astype(object)
    return none(frame)


def claims_and_costs(rng: Rng) -> DrawnTable:
    n = rows(rng, 500, 3000)
    risk, km = rng.gamma(2, 0.5, n), rng.gamma(4, 3.5, n)
    claims = rng.poisson(0.045 * risk * km)
    cost = np.where(claims > 0, rng.gamma(np.maximum(claims, 1) * 1.3, 900), 0.0)
    frame = {"km_thousand": np.round(km, 1), "claims": claims, "cost": np.round(cost)}
    frame["class"] = cut(risk * np.exp(0.5 * rng.normal(size=n)), [0.4, 0.3, 0.2, 0.1], ["A", "B", "C", "D"])
    frame["paint"] = rng.choice(
        ["white", "black", "grey", "red", "blue", "other"], n, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1]
    )
    return none(pd.DataFrame(frame))


register(
    "none",
    {
        "none: pay by schooling": paid_by_schooling,
        "none: saturation": saturation,
        "none: dose and answer": dose_and_answer,
        "none: censored follow-up": follow_up,
        "none: rounded answers": rounded_answers,
        "none: seasons": seasons,
        "none: 40 rows": forty_rows,
        "none: 4,000 rows": four_thousand_rows,
        "none: trees by diameter": trees_by_diameter,
        "none: exam with a pass mark": exam_with_pass_mark,
        "none: claims and costs": claims_and_costs,
    },
    half="fresh",
)
