"""Tables without groups whose columns do not depend on each other, whatever their margins are.

Also the means by which others depend: ``linked`` draws ranks that are related by common traits, and ``shaped`` gives
ranks any margin, so that no rank correlation changes with the margin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from bench.choose_pieces import Array, Rng
from bench.mixed_draft import LADDER, Draft, digits
from bench.mixed_tables import DrawnTable, none, register

Margin = Callable[[Rng], Callable[[Array], Any]]


def rows(rng: Rng, least: int = 300, most: int = 2000) -> int:
    return round(np.exp(rng.uniform(*np.log((least, most)))))


def linked(rng: Rng, n: int, d: int, traits: int = 1, strength: tuple[float, float] = (0.4, 0.8)) -> Array:
    """Ranks (n, d) in 0 to 1 of normal columns that ``traits`` common traits move, one trait a column."""
    t = rng.normal(size=(n, traits))
    load = rng.uniform(*strength, d) * rng.choice((-1, 1), d, p=(0.3, 0.7))
    z = load * t[:, np.arange(d) % traits] + np.sqrt(1 - load**2) * rng.normal(size=(n, d))
    return np.asarray(stats.norm.cdf(z))


# --- margins: ranks in 0 to 1 -> cells ----------------------------------------------------------------------------


def log_normal(rng: Rng) -> Callable[[Array], Any]:
    median, sd = np.exp(rng.uniform(1, 10)), rng.uniform(0.4, 1.1)
    return lambda u: digits(median * np.exp(sd * stats.norm.ppf(u)))


def normal(rng: Rng) -> Callable[[Array], Any]:
    mean, sd = rng.uniform(-50, 200), rng.uniform(1, 30)
    return lambda u: digits(mean + sd * stats.norm.ppf(u))


def even(rng: Rng) -> Callable[[Array], Any]:
    low, wide = rng.uniform(0, 50), rng.uniform(1, 100)
    return lambda u: digits(low + wide * u)


def gamma(rng: Rng) -> Callable[[Array], Any]:
    of = stats.gamma(rng.uniform(0.7, 5), scale=rng.uniform(1, 100))
    return lambda u: digits(of.ppf(u))


def percent(rng: Rng) -> Callable[[Array], Any]:
    of = stats.beta(*rng.uniform(1.1, 4, 2), scale=100)  # one mode
    return lambda u: np.round(of.ppf(u), 1)


def student(rng: Rng) -> Callable[[Array], Any]:
    of = stats.t(rng.uniform(1.8, 4))
    return lambda u: digits(of.ppf(u))


def poisson(rng: Rng) -> Callable[[Array], Any]:
    of = stats.poisson(np.exp(rng.uniform(-0.5, 2.7)))
    return lambda u: of.ppf(u).astype(np.int64)


def overdispersed(rng: Rng) -> Callable[[Array], Any]:
    size, mean = rng.uniform(0.6, 4), np.exp(rng.uniform(0, 3))
    return lambda u: stats.nbinom(size, size / (size + mean)).ppf(u).astype(np.int64)


def spend(rng: Rng) -> Callable[[Array], Any]:
    share, of = rng.uniform(0.15, 0.75), gamma(rng)
    return lambda u: np.where(u < share, 0.0, of(np.clip((u - share) / (1 - share), 1e-12, None)))


def yes_no(rng: Rng) -> Callable[[Array], Any]:
    share = rng.uniform(0.15, 0.85)
    return lambda u: np.where(u < share, "no", "yes")


def answers(rng: Rng) -> Callable[[Array], Any]:
    ends = np.sort(stats.norm.cdf(np.linspace(-1.3, 1.3, 4) + rng.normal(0, 0.25, 4) + rng.normal(0, 0.4)))
    return lambda u: 1 + np.searchsorted(ends, u)


def ceiling(rng: Rng) -> Callable[[Array], Any]:
    middle, sd = rng.uniform(7, 9), rng.uniform(1, 2.5)
    return lambda u: np.clip(np.round(middle + sd * stats.norm.ppf(u)), 0, 10).astype(np.int64)


def ladder(rng: Rng) -> Callable[[Array], Any]:
    inner = answers(rng)
    return lambda u: np.array(LADDER, dtype=object)[inner(u) - 1]


def category(rng: Rng) -> Callable[[Array], Any]:
    ends = rng.dirichlet(np.full(int(rng.integers(2, 10)), 2.0)).cumsum()[:-1]
    names = np.array([f"type_{chr(97 + i)}" for i in rng.permutation(len(ends) + 1)], dtype=object)
    return lambda u: names[np.searchsorted(ends, u)]


def shaped(rng: Rng, ranks: Array, margins: list[Margin]) -> pd.DataFrame:
    """Columns (n, d) of these margins."""
    return pd.DataFrame({f"{margin.__name__}_{j + 1}": margin(rng)(u)
                         for j, (margin, u) in enumerate(zip(margins, ranks.T, strict=True))})  # fmt: skip


# --- tables -------------------------------------------------------------------------------------------------------


def free(*margins: Margin, least: int = 300, most: int = 2000) -> Callable[[Rng], DrawnTable]:
    """Columns of these margins that do not depend on each other."""

    def draw(rng: Rng) -> DrawnTable:
        ranks = rng.uniform(size=(rows(rng, least, most), len(margins)))
        return none(shaped(rng, ranks, list(margins)))

    return draw


def drawn_margins(d: tuple[int, int], least: int = 300, most: int = 2000) -> Callable[[Rng], DrawnTable]:
    """Independent columns whose margins are drawn as well."""

    def draw(rng: Rng) -> DrawnTable:
        picked = rng.integers(len(MARGINS), size=rng.integers(d[0], d[1] + 1))
        return none(
            shaped(rng, rng.uniform(size=(rows(rng, least, most), len(picked))), [MARGINS[j] for j in picked])
        )

    return draw


def holes(rng: Rng) -> DrawnTable:
    t = Draft(rng, (1, 1)).normal({"age": (50, 12), "bmi": (27, 4)}, 0.0).log_normal({"crp": (4, 1.0)}, 0.0)
    t.counts(["visits"], 3, 0.0).levels("ward", 4, 0.0).yes_no(["smoker"], 0.0)
    return t.missing(rng.uniform(0.05, 0.2)).table()


def duplicates(rng: Rng) -> DrawnTable:
    frame = shaped(
        rng, rng.uniform(size=(rows(rng, 150, 600), 5)), [log_normal, normal, category, answers, poisson]
    )
    return none(frame.iloc[np.sort(rng.integers(len(frame), size=3 * len(frame)))].reset_index(drop=True))


def scales_mixed(rng: Rng) -> DrawnTable:
    n, wide = rows(rng), rng.uniform(2, 4)
    scale = np.where(rng.uniform(size=(n, 1)) < 0.3, wide, 1.0)
    frame = pd.DataFrame(scale * rng.normal(size=(n, 3)), columns=["error_a", "error_b", "error_c"]).round(3)
    return none(
        frame.assign(site=category(rng)(rng.uniform(size=n)), count=poisson(rng)(rng.uniform(size=n)))
    )


MARGINS: tuple[Margin, ...] = (
    log_normal, normal, even, gamma, percent, student, poisson, overdispersed, spend, yes_no, answers, ceiling,
    ladder, category,
)  # fmt: skip

register(
    "none",
    {
        "none: income, normal, category": free(log_normal, normal, category),
        "none: counts and yes or no": free(poisson, poisson, yes_no),
        "none: even and category": free(even, even, category),
        "none: categories": free(category, category, category, category, category),
        "none: zero spend": free(spend, spend, normal, category),
        "none: heavy tails": free(student, student, student, yes_no),
        "none: percentages": free(percent, percent, percent, answers),
        "none: ratings with a ceiling": free(ceiling, ceiling, ceiling, ceiling, yes_no),
        "none: overdispersed counts": free(overdispersed, overdispersed, overdispersed, poisson),
        "none: ladders": free(ladder, ladder, ladder, answers, answers),
        "none: incomes alone": free(log_normal, gamma, log_normal, spend),
        "none: 60 rows": drawn_margins((3, 6), 60, 60),
        "none: 5,000 rows": drawn_margins((4, 8), 5000, 5000),
        "none: 25 columns": drawn_margins((25, 25), 500, 2000),
        "none: any margins": drawn_margins((4, 12)),
        "none: missing cells": holes,
        "none: rows written again": duplicates,
        "none: scales mixed": scales_mixed,
    },
)
