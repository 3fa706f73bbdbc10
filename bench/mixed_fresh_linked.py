"""Tables without groups of the fresh half: columns of one population that flow from each other or share causes."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from bench.choose_pieces import Rng
from bench.mixed_draft import digits
from bench.mixed_fresh_none import cut, rows, yes
from bench.mixed_tables import DrawnTable, none, register


def detection_limit(rng: Rng) -> DrawnTable:
    n = rows(rng, 200, 800)
    load = rng.normal(size=n)
    frame = {}
    for metal, limit in (("lead", 4.0), ("zinc", 20.0), ("nickel", 2.0), ("arsenic", 1.5)):
        logs = np.log(2 * limit) + 0.5 * load + 0.6 * rng.normal(size=n)
        frame[metal] = digits(np.maximum(np.exp(logs), limit), 3)
    frame["depth"] = cut(rng.normal(size=n) - 0.4 * load, [0.5, 0.3, 0.2], ["top", "middle", "deep"])
    return none(pd.DataFrame(frame))


def left_to_right(rng: Rng) -> DrawnTable:
    n = rows(rng)
    place = rng.normal(size=n)
    homes = np.array([-1.5, -0.7, 0.0, 0.7, 1.5])  # a voter votes for a near party, with noise
    liking = -0.7 * (place[:, None] - homes) ** 2 + rng.gumbel(size=(n, 5))
    frame = {
        "party": np.array(["left", "green", "centre", "liberal", "right"], object)[liking.argmax(axis=1)]
    }
    for item in ("tax", "rent", "border"):
        frame[item] = np.clip(np.round(4 + 0.8 * place + 1.2 * rng.normal(size=n)), 1, 7)
    frame["age"] = np.round(18 + 70 * rng.beta(1.7, 2.0, n))
    frame["voted"] = yes(rng, 0.3 + 0.03 * (frame["age"] - 45))
    return none(pd.DataFrame(frame))


def funnel(rng: Rng) -> DrawnTable:
    n = rows(rng)
    sent = rng.negative_binomial(5, 5 / (5 + 60), n)
    opened = rng.binomial(sent, rng.beta(6, 8, n))
    clicked = rng.binomial(opened, rng.beta(3, 12, n))
    bought = rng.binomial(clicked, 0.25)
    frame = {"sent": sent, "opened": opened, "clicked": clicked, "bought": bought}
    frame["value"] = np.where(bought > 0, np.round(rng.gamma(np.maximum(bought, 1) * 2.0, 18), 2), 0.0)
    frame["list"] = rng.choice(["spring", "autumn", "news"], n)
    return none(pd.DataFrame(frame))


def addresses(rng: Rng) -> DrawnTable:
    n = rows(rng, 300, 2000)
    east, north = rng.normal(0, 4, n), rng.normal(0, 3, n)
    rent = 14 - 0.35 * np.hypot(east, north) + 1.5 * rng.normal(size=n)
    quarter = np.where(north > 0, "N", "S").astype(object) + np.where(east > 0, "E", "W").astype(object)
    frame = {"east_km": np.round(east, 2), "north_km": np.round(north, 2), "quarter": quarter}
    frame["rent_m2"] = np.round(rent, 1)
    frame["rooms"] = 1 + rng.poisson(1.6 + 0.15 * np.hypot(east, north))
    return none(pd.DataFrame(frame))


def one_after_the_other(rng: Rng) -> DrawnTable:
    """Yes or no where each good makes the next one likelier."""
    n = rows(rng, 300, 2000)
    goods = ["bread", "butter", "jam", "tea", "milk", "sugar", "flour", "eggs", "yeast"]
    frame, before = {}, np.zeros(n)
    for good in goods:
        frame[good] = yes(rng, rng.uniform(-1.0, 0.3) + rng.uniform(0.4, 1.4) * before)
        before = (frame[good] == "yes").astype(float)
    return none(pd.DataFrame(frame))


def doubt_with_age(rng: Rng) -> DrawnTable:
    n = rows(rng)
    age, opinion = np.round(18 + 65 * rng.beta(1.5, 1.7, n)), rng.normal(size=n)
    frame = {"age": age}
    for item in ("wind", "solar", "gas", "atom"):
        answer = np.clip(np.round(3 + 0.6 * opinion + 0.9 * rng.normal(size=n)), 1, 5)
        unknown = yes(rng, -2.4 + 0.03 * (age - 40)) == "yes"
        frame[item] = np.where(unknown, np.nan, answer)
    frame["bill"] = np.where(rng.uniform(size=n) < 0.1, np.nan, digits(np.exp(rng.normal(4.3, 0.4, n))))
    return none(pd.DataFrame(frame))


def joint_extremes(rng: Rng) -> DrawnTable:
    """A Student copula under skewed margins: what is large is large together."""
    n = rows(rng, 400, 2500)
    r = rng.uniform(0.2, 0.6)
    z = rng.normal(size=(n, 3)) @ np.linalg.cholesky(np.full((3, 3), r) + (1 - r) * np.eye(3)).T
    u = stats.t(4).cdf(z / np.sqrt(rng.chisquare(4, n) / 4)[:, None])
    frame = {
        "wind": stats.weibull_min(2, scale=9).ppf(u[:, 0]),
        "wave": stats.gumbel_r(2.5, 0.6).ppf(u[:, 1]),
    }
    frame = {name: digits(x) for name, x in frame.items()} | {
        "damage": digits(stats.lomax(3, scale=40).ppf(u[:, 2]))
    }
    frame["port"] = rng.choice(["A", "B", "C", "D", "E"], n, p=[0.4, 0.25, 0.15, 0.12, 0.08])
    return none(pd.DataFrame(frame))


def workloads(rng: Rng) -> DrawnTable:
    """Counts over an exposure that varies, and a total that repeats them."""
    n = rows(rng)
    days = rng.integers(3, 31, n)
    counts = {
        name: rng.poisson(rate * days) for name, rate in (("calls", 0.9), ("mails", 1.6), ("visits", 0.15))
    }
    frame = pd.DataFrame({"days": days} | counts)
    frame["contacts"] = frame["calls"] + frame["mails"] + frame["visits"]
    frame["load"] = cut(frame["contacts"] + rng.normal(0, 8, n), [0.3, 0.5, 0.2], ["light", "usual", "heavy"])
    return none(frame)


def wide_and_weak(rng: Rng) -> DrawnTable:
    """Many columns of all kinds that a few weak causes move."""
    n, d = rows(rng, 300, 1200), int(rng.integers(15, 26))
    load = 0.35 * rng.normal(size=(4, d))
    u = stats.norm.cdf(
        (rng.normal(size=(n, 4)) @ load + rng.normal(size=(n, d))) / np.sqrt(1 + (load**2).sum(axis=0))
    )
    frame = {}
    for j in range(d):
        x, kind = u[:, j], j % 5
        if kind == 0:
            frame[f"measure_{j}"] = digits(stats.gumbel_l(60, 7).ppf(x))
        elif kind == 1:
            frame[f"events_{j}"] = stats.geom(rng.uniform(0.2, 0.5)).ppf(x).astype(int) - 1
        elif kind == 2:
            frame[f"kind_{j}"] = cut(rng.permutation(x), [0.4, 0.3, 0.2, 0.1], ["k", "l", "m", "n"])
        elif kind == 3:
            frame[f"share_{j}"] = np.round(stats.beta(2, 5).ppf(x), 3)
        else:
            frame[f"flag_{j}"] = x > rng.uniform(0.3, 0.8)
    return none(pd.DataFrame(frame))


def triangular_and_capped(rng: Rng) -> DrawnTable:
    """Independent margins: a triangle, a cap at 100, a geometric count, names after Zipf."""
    n = rows(rng, 200, 1500)
    names = 1 / np.arange(1, 13)
    frame = {"offer": np.round(rng.triangular(20, 35, 90, n), 1)}
    frame["filled"] = np.minimum(np.round(rng.normal(88, 14, n)), 100)
    frame["tries"] = rng.geometric(rng.uniform(0.3, 0.6), n)
    frame["town"] = rng.choice([f"town {j}" for j in range(12)], n, p=names / names.sum())
    frame["error"] = np.round(rng.laplace(0, 2, n), 2)
    return none(pd.DataFrame(frame))


register(
    "none",
    {
        "none: detection limits": detection_limit,
        "none: left to right": left_to_right,
        "none: funnel": funnel,
        "none: addresses": addresses,
        "none: one after the other": one_after_the_other,
        "none: doubt with age": doubt_with_age,
        "none: joint extremes": joint_extremes,
        "none: workloads": workloads,
        "none: wide and weak": wide_and_weak,
        "none: triangle, cap, Zipf": triangular_and_capped,
    },
    half="fresh",
)
