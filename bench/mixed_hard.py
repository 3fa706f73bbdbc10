"""Tables with groups hard in one way: repeated columns, columns that carry nothing, odd margins; and all at once."""

from __future__ import annotations

import numpy as np
from scipy import stats

from bench.choose_pieces import Rng
from bench.mixed_draft import LADDER, Draft
from bench.mixed_tables import DrawnTable, register


def repeated_units(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4)).normal({"weight_kg": (71, 7), "height_cm": (172, 6), "age": (44, 8)}, gap=2.4)
    t.levels("sport", ["run", "swim", "bike"], 1.3).counts(["sessions"], 4, gap=2.0)
    return t.also(
        weight_lb=lambda f: (2.20462 * f["weight_kg"]).round(1),
        height_in=lambda f: (f["height_cm"] / 2.54).round(1),
    ).table()


def repeated_names(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 3)).normal({"price": (24, 4), "weight": (310, 40), "rating": (3.4, 0.5)}, gap=2.4)
    t.levels("product", 5, 1.2)
    code = {f"product_{c}": f"P-{37 * i + 11}" for i, c in enumerate("abcde")}
    return t.also(code=lambda f: f["product"].map(code)).yes_no(["stocked"], 1.5).table()


def nothing_in_most(rng: Rng) -> DrawnTable:
    t = (
        Draft(rng, (2, 4), (500, 2000))
        .normal({"x1": (0, 1), "x2": (10, 3)}, gap=2.6)
        .log_normal({"x3": (5, 0.5)}, gap=2.4)
    )
    t.levels("c1", 3, 1.6).counts(["n1"], 5, gap=2.4)
    t.normal({f"u{j}": (50, 10) for j in range(4)}, gap=0.0).log_normal(
        {"v1": (100, 0.8), "v2": (7, 0.5)}, gap=0.0
    )
    t.counts(["n2", "n3"], 3, gap=0.0).yes_no(["b1", "b2"], 0.0)
    return t.levels("c2", 4, 0.0).levels("c3", 7, 0.0).table()


def unequal(rng: Rng) -> DrawnTable:
    t = Draft(rng, n=(1500, 4000), shares=[0.6, 0.25, 0.1, 0.03, 0.02][: int(rng.integers(3, 6))])
    t.normal({"length": (120, 9), "width": (44, 4), "depth": (18, 2)}, gap=3.2).log_normal(
        {"mass": (900, 0.25)}, gap=3.0
    )
    return t.levels("material", ["oak", "pine", "beech", "ash"], 1.6).counts(["knots"], 6, gap=2.5).table()


def one_small(rng: Rng) -> DrawnTable:
    t = Draft(rng, n=(1500, 3000), shares=[0.97, 0.03])
    t.log_normal({"amount": (45, 0.6)}, gap=3.2).normal({"hour": (14, 2.2), "distance": (12, 3)}, gap=3.2)
    return t.yes_no(["foreign", "online"], 3.0).levels("shop", 6, 1.5).table()


def skewed(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 3), (400, 2000))
    for name in ("dose", "delay", "depth"):
        at = t.places(2.6)
        t.margin(
            name,
            [stats.skewnorm(6 * s, loc=10 + m) for s, m in zip(rng.choice((-1, 1), t.k), at, strict=True)],
            "skew normal",
        )
    return t.gamma("cost", 300, 2, gap=1.8).levels("site", 3, 1.4).table()


def heavy_tails(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (400, 2000))
    for name in ("return", "spread", "lag", "slope"):
        t.margin(name, [stats.t(3, loc=m) for m in t.places(4.2)], "Student t")
    return t.levels("market", 4, 1.0).yes_no(["hedged"], 1.5).table()


def related_incomes(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (400, 2000))
    t.log_normal({"income": (34_000, 0.4), "rent": (800, 0.3), "savings": (8_000, 0.8)}, gap=2.4, related=0.6)
    return t.normal({"age": (45, 8)}, gap=2.2).levels("tenure", ["rents", "owns", "shares"], 1.4).table()


def two_of_four(rng: Rng) -> DrawnTable:
    t = Draft(rng, (3, 3), (300, 1500)).log_normal({"revenue": (5e6, 0.9), "debt": (8e5, 1.0)}, gap=2.6)
    return t.normal({"margin": (8, 2), "growth": (3, 2)}, gap=2.6).table()


def holes_everywhere(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (500, 2500))
    t.normal({"ph": (7.1, 0.4), "oxygen": (8.5, 1.1), "clarity": (2.6, 0.5)}, gap=2.6)
    t.log_normal({"nitrate": (3, 0.6), "phosphate": (0.2, 0.6)}, gap=2.6).counts(["taxa"], 12, gap=2.4)
    t.levels("bed", ["mud", "sand", "rock"], 1.6).ratings(["smell"], 1.8, LADDER)
    return t.missing(0.2).table()


def all_together(rng: Rng) -> DrawnTable:
    t = Draft(rng, (3, 6), (800, 4000))
    t.log_normal({"income": (33_000, 0.5)}, gap=1.6).gamma("spend", 70, 2, gap=1.3, zeros=(0.35, 1.5))
    t.counts(["visits"], 5, gap=1.6).counts(["calls"], 3, gap=1.2, size=2)
    t.normal({"height": (171, 7), "weight": (70, 8)}, gap=1.5, related=0.6)
    t.ratings([f"q{j}" for j in range(1, 6)], 1.2, trait=0.6).loved_or_hated(["brand_a", "brand_b"], 1.2)
    t.yes_no(["car", "garden", "pet"], 1.5).levels("city", 8, 0.9, rare=0.2).levels("plan", 3, 0.9)
    t.normal({"noise_1": (0, 1), "noise_2": (5, 2)}, gap=0.0).yes_no(["coin"], 0.0)
    region = {f"city_{c}": f"r{i // 3}" for i, c in enumerate("abcdefgh")}
    return t.also(region=lambda f: f["city"].map(region)).missing(0.05, by_group=0.6).table()


def many_groups(rng: Rng) -> DrawnTable:
    t = Draft(rng, (6, 8), (1500, 5000)).normal({"x": (0, 1), "y": (0, 1), "z": (0, 1)}, gap=3.4)
    t.log_normal({"size": (40, 0.3)}, gap=3.0).counts(["parts"], 9, gap=2.8)
    return t.levels("colour", 6, 1.8).levels("form", 4, 1.8).table()


def only_categories_differ(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 3), (600, 2500))
    for j, n in enumerate((3, 4, 5, 6, 3, 4)):
        t.levels(f"habit_{j + 1}", n, 1.9)
    return t.log_normal({"income": (30_000, 0.6)}, gap=0.0).normal({"age": (45, 14)}, gap=0.0).table()


def only_numbers_differ(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 5), (400, 2000)).normal({"na": (60, 8), "k": (4, 0.5)}, gap=2.8)
    t.log_normal({"fe": (90, 0.5), "zn": (11, 0.3)}, gap=2.8)
    return (
        t.levels("lab", 5, 0.0)
        .yes_no(["repeat"], 0.0)
        .also(batch=lambda f: np.arange(len(f)) % 7 + 1)
        .table()
    )


register(
    "groups",
    {
        "repeated, kg and lb": repeated_units,
        "repeated, code and name": repeated_names,
        "columns that carry nothing": nothing_in_most,
        "groups from 2% to 60%": unequal,
        "one group of 3%": one_small,
        "skewed groups": skewed,
        "heavy tails in groups": heavy_tails,
        "related incomes": related_incomes,
        "two log-normals of four": two_of_four,
        "a fifth missing": holes_everywhere,
        "all together": all_together,
        "many groups": many_groups,
        "only categories differ": only_categories_differ,
        "only numbers differ": only_numbers_differ,
    },
)
