"""Tables without groups whose columns depend on each other, as in one population: traits, curves, pairs, trends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import expit

from bench.choose_pieces import Rng
from bench.mixed_draft import digits
from bench.mixed_none import (
    MARGINS,
    answers,
    category,
    ceiling,
    gamma,
    ladder,
    linked,
    log_normal,
    normal,
    percent,
    poisson,
    rows,
    shaped,
    spend,
    student,
    yes_no,
)
from bench.mixed_tables import DrawnTable, none, register

ORDERED = tuple(margin for margin in MARGINS if margin is not category)


def survey(traits: int, margin: Callable[..., object]) -> Callable[[Rng], DrawnTable]:
    """Answers that a few traits move."""

    def draw(rng: Rng) -> DrawnTable:
        d = int(rng.integers(3, 6)) * traits + 3
        return none(shaped(rng, linked(rng, rows(rng, 400, 2000), d, traits, (0.4, 0.8)), [margin] * d))

    return draw


def region_of_city(rng: Rng) -> DrawnTable:
    n, cities = rows(rng, 400, 2000), int(rng.integers(5, 12))
    city = rng.choice(cities, n, p=rng.dirichlet(np.full(cities, 3.0)))
    region = rng.permutation(np.arange(cities) % int(rng.integers(2, 5)))[city]
    frame = pd.DataFrame({"city": [f"city_{c}" for c in city], "region": [f"region_{r}" for r in region]})
    frame["age"] = np.round(rng.normal(44, 14, n))
    return none(
        frame.assign(income=log_normal(rng)(rng.uniform(size=n)), owner=yes_no(rng)(rng.uniform(size=n)))
    )


def code_and_name(rng: Rng) -> DrawnTable:
    frame = shaped(rng, rng.uniform(size=(rows(rng), 4)), [category, normal, poisson, yes_no])
    names = {name: f"K{17 * i + 3}" for i, name in enumerate(sorted(set(frame["category_1"])))}
    return none(frame.assign(code=frame["category_1"].map(names)))


def body(rng: Rng) -> DrawnTable:
    n = rows(rng)
    height = rng.normal(170, 8, n)
    weight = np.exp(4.2 + 0.011 * (height - 170) + rng.normal(0, 0.13, n))
    age = 18 + rng.gamma(3, 9, n)
    pressure = 100 + 0.5 * age + 0.2 * (weight - 68) + rng.normal(0, 9, n)
    frame = pd.DataFrame({"height_cm": height, "weight_kg": weight, "age": age, "systolic": pressure}).round(
        1
    )
    return none(
        frame.assign(
            blood=category(rng)(rng.uniform(size=n)), weight_lb=(2.20462 * frame["weight_kg"]).round(1)
        )
    )


def pairs_of_categories(rng: Rng) -> DrawnTable:
    n, frame = rows(rng, 600, 2500), {}
    for pair in range(int(rng.integers(2, 4))):
        a, b = rng.integers(2, 6, 2)
        joint = rng.dirichlet(np.full(a * b, 0.8))
        cell = rng.choice(a * b, n, p=joint)
        frame |= {
            f"pair_{pair}_a": [f"a{c}" for c in cell // b],
            f"pair_{pair}_b": [f"b{c}" for c in cell % b],
        }
    return none(pd.DataFrame(frame).assign(size=gamma(rng)(rng.uniform(size=n))))


def trends(rng: Rng) -> DrawnTable:
    n = rows(rng)
    t = rng.uniform(0, 1, n)
    frame = pd.DataFrame(
        {"year": 1990 + np.floor(30 * t), "price": digits(np.exp(3 + t + rng.normal(0, 0.2, n)))}
    )
    frame["sales"] = rng.poisson(4 + 12 * t)
    frame["online"] = np.where(rng.uniform(size=n) < expit(5 * t - 2.5), "yes", "no")
    return none(frame.assign(shop=category(rng)(rng.uniform(size=n))))


def curve(rng: Rng) -> DrawnTable:
    n, bend = rows(rng), rng.uniform(0.3, 0.8)
    x = rng.normal(size=n)
    frame = pd.DataFrame({"x": x, "y": bend * x**2 + rng.normal(0, 0.5, n), "z": rng.normal(5, 2, n)}).round(
        3
    )
    return none(frame.assign(kind=category(rng)(rng.uniform(size=n))))


def ratios(rng: Rng) -> DrawnTable:
    n = rows(rng)
    sold, shown = rng.gamma(2, 40, n), rng.gamma(5, 60, n)
    frame = pd.DataFrame(
        {"sold": sold, "shown": shown, "ratio": sold / shown, "staff": 1 + rng.poisson(sold / 40)}
    )
    return none(frame.round(3).assign(owner=yes_no(rng)(rng.uniform(size=n))))


def uneven_spread(rng: Rng) -> DrawnTable:
    n = rows(rng)
    income = np.exp(10.3 + rng.normal(0, 0.6, n))
    spent = income * rng.beta(4, 8, n)
    frame = pd.DataFrame(
        {"income": income.round(-1), "spent": spent.round(-1), "children": rng.poisson(1.1, n)}
    )
    return none(frame.assign(plan=category(rng)(rng.uniform(size=n))))


def compositions(rng: Rng) -> DrawnTable:
    n, d = rows(rng), int(rng.integers(3, 6))
    shares = 100 * rng.dirichlet(rng.uniform(1.5, 6, d), n)
    frame = pd.DataFrame(shares.round(1), columns=[f"percent_{j + 1}" for j in range(d)])
    return none(frame.assign(lab=category(rng)(rng.uniform(size=n))))


def holes_by_value(rng: Rng) -> DrawnTable:
    """Who earns more says less often what: missing cells depend on other columns, as in one population."""
    frame = shaped(
        rng,
        linked(rng, rows(rng, 400, 2000), 6, 1, (0.3, 0.7)),
        [log_normal, normal, answers, poisson, yes_no, percent],
    )
    rank = frame["normal_2"].rank(pct=True).to_numpy()
    hidden = rng.uniform(size=len(frame)) < 0.3 * rank
    return none(frame.assign(log_normal_1=frame["log_normal_1"].where(~hidden)))


def copula(
    traits: int, d: tuple[int, int], least: int = 400, most: int = 2500
) -> Callable[[Rng], DrawnTable]:
    """Any ordered margins, related by traits, and a category beside them."""

    def draw(rng: Rng) -> DrawnTable:
        picked = rng.integers(len(ORDERED), size=rng.integers(d[0], d[1] + 1))
        ranks = linked(rng, rows(rng, least, most), len(picked), traits, (0.3, 0.85))
        frame = shaped(rng, ranks, [ORDERED[j] for j in picked])
        return none(frame.assign(site=category(rng)(rng.uniform(size=len(frame)))))

    return draw


def one_trait(*margins: Callable[..., object]) -> Callable[[Rng], DrawnTable]:
    """Columns of these margins that one trait moves."""

    def draw(rng: Rng) -> DrawnTable:
        return none(
            shaped(rng, linked(rng, rows(rng, 400, 2000), len(margins), 1, (0.5, 0.85)), list(margins))
        )

    return draw


register(
    "none",
    {
        "none: survey, one trait": survey(1, answers),
        "none: survey, two traits": survey(2, answers),
        "none: yes or no, one trait": survey(1, yes_no),
        "none: ladders, one trait": survey(1, ladder),
        "none: ratings with a ceiling, one trait": survey(1, ceiling),
        "none: city and region": region_of_city,
        "none: code and name": code_and_name,
        "none: height, weight, age": body,
        "none: pairs of categories": pairs_of_categories,
        "none: trends": trends,
        "none: a curve and a category": curve,
        "none: ratios": ratios,
        "none: uneven spread": uneven_spread,
        "none: compositions": compositions,
        "none: missing by value": holes_by_value,
        "none: related incomes": one_trait(log_normal, log_normal, gamma, yes_no),
        "none: related counts": one_trait(poisson, poisson, poisson, spend),
        "none: related tails": one_trait(student, student, normal, ladder),
        "none: any margins, one trait": copula(1, (4, 9)),
        "none: any margins, three traits": copula(3, (8, 14)),
        "none: any margins, 5,000 rows": copula(1, (5, 8), 5000, 5000),
    },
)
