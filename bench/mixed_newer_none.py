"""Tables without groups of the newer half: one population that grew, was chosen, capped, or filled in a form."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit

from bench.choose_pieces import Rng
from bench.mixed_fresh_none import cut, rows, yes
from bench.mixed_tables import DrawnTable, none, register


def growing_up(rng: Rng) -> DrawnTable:
    """Children of 2 to 18 years: height, weight and class at school follow from age."""
    n = rows(rng, 300, 1500)
    age, tall = rng.uniform(2, 18, n), rng.normal(size=n)
    height = 78 + 95 * (1 - np.exp(-0.12 * (age - 1))) * (1 + 0.035 * tall) + 1.5 * rng.normal(size=n)
    mass = (13 + 0.2 * tall) * (height / 100) ** 2 * (1 + 0.025 * age) * np.exp(0.1 * rng.normal(size=n))
    stage = pd.cut(age, [0, 6, 10, 16, 19], labels=["before", "first", "second", "third"]).astype(object)
    frame = {
        "age": np.round(age, 1),
        "height": np.round(height, 1),
        "mass": np.round(mass, 1),
        "school": stage,
    }
    return none(
        pd.DataFrame(frame | {"siblings": rng.poisson(1.3, n), "glasses": yes(rng, -2.2 + 0.09 * age)})
    )


def seedlings(rng: Rng) -> DrawnTable:
    """Heights on six days, each plant with a start and a rate of its own."""
    n = rows(rng, 150, 600)
    start, rate = rng.normal(1.2, 0.2, n), np.exp(rng.normal(-1.2, 0.25, n))
    frame = {
        f"cm_day_{d}": np.round(start + rate * d + 0.25 * rng.normal(size=n), 1)
        for d in (3, 6, 9, 12, 15, 18)
    }
    frame["leaves"] = 2 + rng.poisson(8 * rate)
    frame["tray"] = rng.choice(["t1", "t2", "t3", "t4", "t5", "t6"], n)
    return none(pd.DataFrame(frame))


def admitted(rng: Rng) -> DrawnTable:
    """Only those whose sum of marks reached a bar are in the table."""
    n = rows(rng, 300, 1500)
    skill = 0.5 * rng.normal(size=(6 * n, 1))
    marks = skill + rng.normal(size=(6 * n, 3)) * np.sqrt(0.75)
    marks = marks[marks.sum(axis=1) > 1.5][:n]
    frame = pd.DataFrame(np.round(60 + 13 * marks), columns=["test", "interview", "school"])
    frame["age"] = 18 + rng.geometric(0.45, len(frame)) - 1
    return none(
        frame.assign(grant=yes(rng, -0.6 + 0.4 * marks[:, 0]), sport=yes(rng, np.full(len(frame), -0.9)))
    )


def capped_incomes(rng: Rng) -> DrawnTable:
    """A body of incomes with a tail of a power, capped at what the office publishes."""
    n = rows(rng, 500, 3000)
    age = np.round(20 + 60 * rng.beta(1.8, 2.2, n))
    body = np.exp(10.2 + 0.012 * (age - 45) - 0.0006 * (age - 45) ** 2 + 0.5 * rng.normal(size=n))
    income = np.where(body > 60_000, 60_000 * (body / 60_000) ** 1.7, body)
    wealth = income * np.sinh(rng.normal(0.7, 0.8, n)) * (age - 15) / 30  # some owe more than they own
    frame = {"age": age, "income": np.round(np.minimum(income, 150_000), -2), "wealth": np.round(wealth, -2)}
    frame["class"] = cut(
        np.log(income) + 0.6 * rng.normal(size=n), [0.3, 0.5, 0.2], ["lower", "middle", "upper"]
    )
    return none(pd.DataFrame(frame | {"owns": yes(rng, 1.1 * (np.log(income) - 10.3) + 0.03 * (age - 45))}))


def defaults_of_a_form(rng: Rng) -> DrawnTable:
    """Many leave what the form proposed: a mass at one value of each column, not of the same rows."""
    n = rows(rng)
    frame = {
        "quantity": rng.geometric(0.3, n),
        "days": np.round(rng.gamma(4, 4, n)),
        "tip_pct": rng.gamma(4, 3, n),
    }
    for name, value, share in (("quantity", 1, 0.3), ("days", 14, 0.35), ("tip_pct", 10.0, 0.4)):
        frame[name] = np.where(rng.uniform(size=n) < share, value, np.round(frame[name], 1))
    frame["country"] = np.where(
        rng.uniform(size=n) < 0.3, "AF", rng.choice(["DE", "FR", "US", "JP"], n)
    ).astype(object)
    return none(pd.DataFrame(frame | {"mail": yes(rng, np.full(n, 0.8))}))


def two_assays(rng: Rng) -> DrawnTable:
    """The larger the amount, the larger the error of both devices."""
    n = rows(rng, 150, 900)
    amount = rng.gamma(1.6, 12, n)
    frame = {
        f"device_{name}": np.round(np.abs(amount + (0.6 + 0.14 * amount) * rng.normal(size=n)), 2)
        for name in "ab"
    }
    frame["dilution"] = pd.cut(amount, [0, 10, 25, 1e4], labels=["1:1", "1:10", "1:100"]).astype(object)
    frame["operator"] = rng.choice(["AK", "MB", "RT"], n, p=[0.5, 0.3, 0.2])
    return none(pd.DataFrame(frame | {"bubbles": rng.poisson(0.9, n)}))


def dropouts(rng: Rng) -> DrawnTable:
    """Visits of a study: who leaves does not come again, the likelier the heavier."""
    n = rows(rng, 300, 1200)
    mass, there = 92 + 13 * rng.normal(size=n), np.ones(n, bool)
    frame = {"arm": rng.choice(["a", "b"], n), "age": np.round(rng.normal(51, 10, n))}
    for visit in range(1, 6):
        mass = mass - 0.9 + 1.8 * rng.normal(size=n)
        frame[f"kg_visit_{visit}"] = np.where(there, np.round(mass, 1), np.nan)
        there &= rng.uniform(size=n) > expit(-2.6 + 0.03 * (mass - 90))
    return none(pd.DataFrame(frame | {"drugs": rng.poisson(2.1, n)}))


def warranties(rng: Rng) -> DrawnTable:
    """Kilometres follow from months, claims from kilometres; months are capped at the end of the warranty."""
    n = rows(rng)
    months = np.minimum(rng.gamma(2.2, 11, n), 36)
    km = months * np.exp(rng.normal(7.0, 0.45, n))
    claims = rng.poisson(0.00002 * km)
    frame = {"months": np.round(months), "km": np.round(km, -2), "claims": claims}
    frame["cost"] = np.where(claims > 0, np.round(rng.gamma(np.maximum(claims, 1) * 1.5, 160)), 0.0)
    frame["engine"] = rng.choice(["1.0", "1.4", "1.6", "2.0"], n, p=[0.2, 0.4, 0.25, 0.15])
    return none(pd.DataFrame(frame))


def spread_by_age(rng: Rng) -> DrawnTable:
    """Reaction times whose middle and spread grow with age."""
    n = rows(rng)
    age = rng.uniform(18, 88, n)
    slow = np.exp(rng.normal(0, 0.06 + 0.004 * (age - 18)))
    frame = {"age": np.round(age), "simple_ms": np.round(250 * slow * (1 + 0.004 * (age - 18)))}
    frame["choice_ms"] = np.round(
        390 * slow**1.2 * np.exp(0.1 * rng.normal(size=n)) * (1 + 0.005 * (age - 18))
    )
    frame["slips"] = rng.poisson(1.5 * slow)
    return none(pd.DataFrame(frame | {"hand": np.where(rng.uniform(size=n) < 0.11, "left", "right")}))


def one_fee_of_many_parts(rng: Rng) -> DrawnTable:
    """Net, discount, tax and total: columns that are functions of others."""
    n = rows(rng, 300, 2000)
    pieces, price = 1 + rng.poisson(4, n), np.round(np.exp(rng.normal(2.6, 0.6, n)), 2)
    discount = np.select([pieces >= 9, pieces >= 5], [0.1, 0.05], 0.0)
    net = np.round(pieces * price * (1 - discount), 2)
    frame = pd.DataFrame({"pieces": pieces, "price": price, "discount": discount, "net": net})
    frame["tax"] = (0.19 * net).round(2)
    frame["total"] = frame["net"] + frame["tax"]
    return none(frame.assign(week_day=rng.choice(["Mo", "Tu", "We", "Th", "Fr"], n)))


def savings_books(rng: Rng) -> DrawnTable:
    """Balances compound; the rate follows from the term."""
    n = rows(rng, 200, 1200)
    put, years = np.round(np.exp(rng.normal(8.2, 0.9, n)), -1), rng.integers(1, 16, n)
    rate = np.round(0.8 + 0.9 * np.log(years + 1), 2)
    frame = pd.DataFrame({"put_in": put, "years": years, "rate": rate})
    frame["balance"] = (put * (1 + rate / 100) ** years).round(2)
    frame["term"] = pd.cut(years, [0, 3, 8, 15], labels=["short", "medium", "long"]).astype(object)
    return none(frame.assign(joint=yes(rng, np.full(n, -0.5)), visits=rng.negative_binomial(1.2, 0.3, n)))


def few_rows_many_columns(rng: Rng) -> DrawnTable:
    """150 rows of 22 columns that are independent but for a few weak common causes of the numbers."""
    load = 0.5 * rng.normal(size=(2, 12))
    x = 20 + 4 * (rng.normal(size=(150, 2)) @ load + rng.normal(size=(150, 12)))
    frame = pd.DataFrame(np.round(x, 1), columns=[f"value_{j}" for j in range(12)])
    for j in range(6):
        frame[f"sign_{j}"] = yes(rng, np.full(150, rng.normal()))
    for j in range(4):
        frame[f"count_{j}"] = rng.poisson(np.exp(rng.uniform(0, 2)), 150)
    return none(frame)


register(
    "none",
    {
        "none: growing up": growing_up,
        "none: seedlings": seedlings,
        "none: admitted": admitted,
        "none: capped incomes": capped_incomes,
        "none: defaults of a form": defaults_of_a_form,
        "none: two assays": two_assays,
        "none: dropouts": dropouts,
        "none: warranties": warranties,
        "none: spread by age": spread_by_age,
        "none: fees and their parts": one_fee_of_many_parts,
        "none: savings books": savings_books,
        "none: 150 rows, 22 columns": few_rows_many_columns,
    },
    half="newer",
)
