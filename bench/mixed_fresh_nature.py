"""Tables with groups of the fresh half, from fields, clinics, schools and clubs."""

from __future__ import annotations

import numpy as np

from bench import mixed_makers as of
from bench.choose_pieces import Rng
from bench.mixed_fresh_draft import FreshDraft
from bench.mixed_tables import DrawnTable, register

UNSURE = ["yes", "no", "don't know"]


def soil_samples(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 4), (200, 600))
    t.percentages(["sand", "silt", "clay"], 2.2, even=18).number(
        "ph", of.normal(6.4, 0.5), 2.0, step=0.1, limits=(3, 9)
    )
    t.number("cadmium", of.log_normal(0.35, 0.7), 1.8, step=0.05, limits=(0.2, np.inf))
    t.related({"carbon": of.log_normal(2.1, 0.4), "nitrogen": of.log_normal(0.2, 0.35)}, 2.0, (0.4, 0.7))
    t.levels("horizon", ["A", "B", "C"], 1.0).levels("colour", ["brown", "grey", "red", "black", "pale"], 1.2)
    return t.table()


def plant_traits(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (3, 7), (300, 1200))
    t.related(
        {"height_cm": of.log_normal(55, 0.5), "leaf_area": of.log_normal(18, 0.6), "seed_mg": of.log_normal(3, 0.9)},
        2.6, (0.1, 0.5),
    )  # fmt: skip
    t.binomial(["petals_lost"], 5, 0.4, 1.5).levels(
        "leaf_shape", ["round", "lobed", "needle", "lance", "heart"], 1.5
    )
    t.months("flowers", 2.0).yes_no(["woody", "hairy", "evergreen"], 2.6).levels("collector", 4, 0.0)
    return t.missing(0.12).table()


def bird_counts(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 5), (250, 1000))
    kinds = ["wren", "robin", "crow", "finch", "swift", "gull", "heron", "owl", "tern", "lark", "jay", "rail"]
    first, others = kinds[:3], kinds[3 : int(rng.integers(8, 13))]
    seen = {kind: of.counts_over(0.06, gap=2.4) for kind in first}
    t.number("minutes", of.gamma(45, 9), 0.5, step=5, limits=(5, 180), children=seen)
    t.counts(others, 1.5, 1.8, size=1.5, zeros=(0.25, 1.2))
    return t.levels("observer", 6, 0.0).levels("cover", ["reed", "wood", "field", "town"], 1.0).table()


def clinic_visits(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 5), (300, 1500))
    t.number("pain", of.normal(4.5, 2.2), 2.0, step=1, limits=(0, 10)).counts(
        ["sick_days"], 5, 1.8, 1.5, (0.3, 1.6)
    )
    t.number("weeks", of.weibull(9, 1.3), 2.0, step=1, limits=(0, 104))
    t.levels("reason", ["back", "skin", "cough", "sleep", "stomach", "knee", "head"], 1.2)
    t.number("age", of.normal(45, 12), 1.8, step=1, limits=(0, 100)).yes_no(["referred", "medicine"], 1.8)
    return t.missing(0.15, by_group=1.0, but=["reason", "age"]).table()


def sensor_logs(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 6), (1000, 5000))
    t.related(
        {"flow": of.tails(30, 4, 4), "pressure": of.tails(2.4, 0.3, 4), "noise_db": of.skewed(48, 5)},
        2.4,
        (0.1, 0.5),
    )
    t.number("valve", of.normal(70, 22), 1.8, step=1, limits=(0, 100))
    t.levels("state", ["idle", "ramp", "run", "purge"], 1.4, rare=0.2).yes_no(["alarm"], 2.0)
    return t.number("drift", of.peaked(0, 0.4), 0.0).number("battery", of.bounded(0.7, 6, 100), 1.2).table()


def wine_notes(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 6), (300, 1500))
    kept = of.chance(-0.3, 0.25, 87, gap=1.0, levels=("no", "yes"))
    t.number("score", of.normal(87, 3), 1.8, step=1, limits=(80, 100), children={"cellar": kept})
    t.number("bottle_price", of.log_normal(18, 0.5), 1.8).levels("colour", ["red", "white", "rosé"], 1.3)
    t.yes_no(["oak", "smoke", "citrus", "berry", "pepper", "honey", "grass", "apple"], 2.0)
    return t.ratings(["sweetness"], 1.8, ["dry", "off-dry", "medium", "sweet"]).table()


def opinions_with_holes(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 4), (500, 2500))
    t.ratings(["taxes", "schools", "roads", "police", "parks"], 2.0, (1, 2, 3, 4, 5, 6, 7))
    for item in ("new_bridge", "night_bus", "car_ban"):
        t.levels(item, UNSURE, 1.3, rare=0.4)
    t.ratings(["age_band"], 1.5, ["18-29", "30-44", "45-59", "60-74", "75+"]).levels("district", 11, 0.0)
    return t.missing(0.12, by_group=1.5, but=["age_band", "district"]).table()


def sports_season(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (3, 5), (300, 900))
    made = {
        "goals": of.counts_over(0.003, 2.2),
        "passes": of.counts_over(0.35, 2.4, sd=0.12),
        "fouls": of.counts_over(0.01, 1.8),
    }
    t.number("minutes", of.gamma(1400, 5), 1.2, step=1, limits=(0, 3420), children=made)
    t.levels("position", ["goal", "back", "middle", "wing", "front"], 1.4).number(
        "height_cm", of.normal(182, 6), 1.8, step=1
    )
    return (
        t.levels("foot", ["left", "right", "both"], 0.4)
        .number("fee_million", of.log_normal(4, 0.9), 1.6)
        .table()
    )


def school_marks(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 4), (300, 1500))
    subjects = ["maths", "physics", "english", "history", "art", "sport"]
    t.ratings(subjects, 2.4, (1, 2, 3, 4, 5, 6), trait=0.5).counts(["late"], 2.5, 1.6, size=2)
    t.number("homework_hours", of.gamma(5, 4), 1.8, step=0.5, limits=(0, 30))
    return t.levels("track", ["languages", "science", "arts"], 1.4).yes_no(["club"], 1.6).table()


def diets(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 5), (200, 900))
    t.binomial(["meat_meals", "fish_meals", "fruit_meals", "sweet_meals"], 21, 0.35, 2.0)
    weight = of.line(68, 0.02, 9, gap=0.8)
    t.number("kcal_over", of.normal(0, 260), 1.8, children={"weight": weight}).yes_no(
        ["vitamins", "alcohol"], 1.8
    )
    return t.levels("follows", ["none", "vegan", "low carb", "fasting", "other"], 1.0, rare=0.3).table()


def voters(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 5), (600, 4000))
    parties = ["red", "blue", "green", "yellow", "grey", "none"]
    t.pair(("vote_then", parties), ("vote_now", parties), 1.0, 0.6)
    t.number("age", of.normal(50, 13), 1.6, step=1, limits=(18, 95)).binomial(["turnout_of_8"], 8, 0.6, 2.0)
    t.ratings(["trust_press", "trust_courts"], 1.8, ["none", "little", "some", "much"])
    return t.number("left_right", of.normal(5, 2), 2.0, step=1, limits=(0, 10)).yes_no(["union"], 1.4).table()


def three_columns(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 3), (200, 1500))
    t.number("thickness_mm", of.skewed(12, 2), 3.4).number("scrap", of.gamma(30, 3), 3.0)
    return t.levels("line", ["L1", "L2", "L3", "L4", "L5"], 2.0).table()


def wide_register(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (6, 8), (1000, 4000))
    t.counts([f"tests_{j}" for j in range(4)], 3, 2.0, size=4).yes_no([f"mark_{j}" for j in range(6)], 2.4)
    for j in range(3):
        t.levels(f"ward_{j}", int(rng.integers(3, 10)), 1.2).number(f"level_{j}", of.log_normal(20, 0.5), 2.0)
    t.levels("clerk", 12, 0.0).number("batch", of.weibull(50, 2), 0.0).yes_no(["copy"], 0.0)
    return t.ratings([f"stage_{j}" for j in range(4)], 2.2, ["I", "II", "III", "IV"]).missing(0.05).table()


register(
    "groups",
    {
        "soil samples": soil_samples,
        "plant traits": plant_traits,
        "bird counts": bird_counts,
        "clinic visits": clinic_visits,
        "sensor logs": sensor_logs,
        "wine notes": wine_notes,
        "opinions, don't know": opinions_with_holes,
        "sports season": sports_season,
        "school marks": school_marks,
        "diets": diets,
        "voters": voters,
        "three columns": three_columns,
        "wide register": wide_register,
    },
    half="fresh",
)
