"""Tables with groups of the fresh half, from trades and services: bookings, tickets, loans, claims, taxes, baskets.

The kinds of this half were written without knowing the rule that is measured on them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from bench import mixed_fresh_linked, mixed_fresh_nature, mixed_fresh_none  # noqa: F401 - they register theirs
from bench import mixed_makers as of
from bench.choose_pieces import Rng
from bench.mixed_fresh_draft import FreshDraft
from bench.mixed_tables import DrawnTable, register


def hotel_bookings(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (3, 6), (500, 3000))
    cancelled = of.chance(-0.8, 0.012, 40, gap=1.0, levels=("kept", "cancelled"))
    t.number("lead_days", of.gamma(40, 1.6), 2.0, step=1, limits=(0, 500), children={"status": cancelled})
    t.number("rate", of.log_normal(110, 0.3), 2.2).counts(["nights"], 3, 2.0, size=4).counts(
        ["children"], 0.8, 1.8
    )
    t.pair(("channel", ["desk", "site", "agency", "group"]), ("board", ["room", "half", "full"]), 1.2, 0.5)
    return t.months("arrival", 1.5).yes_no(["parking"], 1.5).table()


def repair_tickets(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 5), (300, 1500))
    messages, reopened = (
        of.counts_over(0.5, gap=1.6),
        of.chance(-1.0, 0.05, 10, gap=1.5, levels=("closed", "reopened")),
    )
    t.number("hours", of.weibull(12, 1.4), 2.0, step=0.5, children={"messages": messages, "state": reopened})
    t.gamma("parts_cost", 45, 2.0, 2.0, zeros=(0.4, 2.0)).levels("product", 8, 1.0, rare=0.15)
    t.ratings(["priority"], 2.0, ["low", "normal", "high", "urgent"]).levels("shift", ["early", "late"], 0.0)
    return t.number("device_age", of.gamma(4, 4), 2.0).table()


def subscriptions(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 6), (400, 2000))
    t.levels("plan", ["trial", "solo", "team", "firm", "campus"], 1.3).yes_no(["auto_renew", "invoice"], 1.8)
    t.number("seats", of.log_normal(9, 0.8), 2.0, step=1, limits=(1, 5000))
    t.number("used_share", of.bounded(0.55, 7), 2.0, step=0.01, limits=(0, 1))
    t.binomial(["active_months"], 12, 0.6, 2.2).counts(["tickets"], 2, 1.8, size=1.5)
    return t.missing(0.08, by_group=1.0).table()


def library_loans(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 5), (300, 1500))
    t.shared(["novels", "comics", "guides", "music", "films"], 24, 2.0)
    t.number("age", of.skewed(38, 11), 1.8, step=1, limits=(5, 95)).gamma(
        "fines", 4, 1.5, 1.2, zeros=(0.6, 1.8)
    )
    t.levels("branch", 6, 0.0).levels("weekday", ["Mo", "Tu", "We", "Th", "Fr", "Sa"], 0.7)
    return t.yes_no(["reserves", "renews"], 1.8).table()


def insurance_claims(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 4), (800, 5000))
    t.counts(["claims"], 1.2, 1.8, zeros=(0.5, 1.8)).gamma("paid", 1900, 1.2, 1.6, zeros=(0.65, 2.0))
    t.number("premium", of.log_normal(520, 0.35), 2.2).number("vehicle_years", of.gamma(7, 3), 2.0)
    t.ratings(["bonus"], 2.0, [0, 1, 2, 3, 4, 5, 6, 7]).levels("area", 9, 0.6)
    t.number("driver_age", of.normal(46, 11), 2.0, step=1, limits=(18, 99))
    return t.yes_no(["garage", "second_driver"], 1.6).table()


def tax_returns(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 4), (400, 2500))
    t.number("income", of.log_normal(41_000, 0.55), 2.2, step=1000, limits=(0, np.inf))
    t.gamma("deductions", 2400, 1.8, 1.5, zeros=(0.4, 1.8)).counts(["dependants"], 1.3, 1.8)
    t.levels("filing", ["single", "joint", "widowed", "separate"], 1.4, rare=0.3).yes_no(
        ["self_employed"], 2.0
    )
    t.number("age", of.normal(47, 10), 2.0, step=1, limits=(16, 99)).gamma(
        "capital", 900, 1.0, 1.6, zeros=(0.55, 2.2)
    )
    edges, names = [-1, 12_000, 30_000, 60_000, np.inf], ["0%", "15%", "28%", "42%"]
    return t.also(bracket=lambda frame: pd.cut(frame["income"], edges, labels=names).astype(object)).table()


def machine_faults(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (5, 8), (900, 4000), least=0.03)
    t.related(
        {"vibration": of.log_normal(2.1, 0.35), "current": of.skewed(14, 2), "heat": of.normal(61, 5)},
        3.0,
        (0.2, 0.6),
    )
    t.levels("code", [f"E{j:02d}" for j in range(1, 13)], 1.6).yes_no(["oil", "door", "belt", "fuse"], 2.6)
    return t.number("since_service", of.weibull(700, 1.5), 2.6).counts(["restarts"], 3, 2.4).table()


def grocery_baskets(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 5), (400, 2000))
    goods = ["milk", "eggs", "rice", "beer", "wine", "fish", "beef", "tofu", "nuts", "soap", "cake", "tea"]
    t.yes_no(goods[: int(rng.integers(8, 13))], 2.4)
    t.pair(("bread", ["no", "yes"]), ("butter", ["no", "yes"]), 0.9, 0.7)
    return t.pair(("pasta", ["no", "yes"]), ("sauce", ["no", "yes"]), 0.9, 0.7).yes_no(["bag"], 0.0).table()


def car_inspections(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 5), (300, 2000))
    faults, passed = (
        of.counts_over(0.025, gap=1.5),
        of.chance(0.7, -0.02, 90, gap=1.2, levels=("fail", "pass")),
    )
    t.number("km_thousand", of.gamma(90, 4), 2.2, step=1, children={"faults": faults, "result": passed})
    t.related({"power_kw": of.log_normal(85, 0.3), "mass_kg": of.log_normal(1350, 0.16)}, 2.2, (0.4, 0.7))
    t.number("co_ppm", of.log_normal(22, 0.8), 1.8, step=1, limits=(10, 400))
    return (
        t.levels("maker", 10, 1.0, rare=0.2)
        .levels("fuel", ["petrol", "diesel", "gas", "battery"], 1.3)
        .table()
    )


def flights(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 5), (500, 3000))
    missed = of.chance(-2.0, 0.03, 5, gap=0.8)
    t.number("delay", of.peaked(5, 12), 1.8, step=1, children={"missed_link": missed})
    fuel = of.line(1.2, 0.004, 0.8, gap=1.5)
    t.number("distance_km", of.log_normal(1100, 0.5), 2.2, children={"fuel_t": fuel}).binomial(
        ["full_rows"], 30, 0.8, 2.0
    )
    t.months("departs", 1.3, ["night", "dawn", "morning", "noon", "afternoon", "evening"])
    return t.levels("carrier", 7, 1.0).levels("gate", 4, 0.0).table()


def energy_meters(rng: Rng) -> DrawnTable:
    t = FreshDraft(rng, (2, 4), (200, 700))
    t.percentages(["night_pct", "morning_pct", "day_pct", "evening_pct"], 2.0)
    bill = of.line(60, 0.28, 45, gap=0.6)
    t.number("kwh", of.log_normal(2800, 0.35), 1.8, children={"bill": bill})
    t.number("solar_kw", of.gamma(5, 3), 1.5).levels("heating", ["gas", "pump", "oil", "district"], 1.2)
    return t.yes_no(["charger"], 1.8).number("phase_shift", of.tails(0, 1, 3), 0.0).table()


register(
    "groups",
    {
        "hotel bookings": hotel_bookings,
        "repair tickets": repair_tickets,
        "subscriptions": subscriptions,
        "library loans": library_loans,
        "insurance claims": insurance_claims,
        "tax returns and brackets": tax_returns,
        "machine faults": machine_faults,
        "grocery baskets": grocery_baskets,
        "car inspections": car_inspections,
        "flights": flights,
        "energy meters": energy_meters,
    },
    half="fresh",
)
