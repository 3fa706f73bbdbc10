"""Tables with groups about people: incomes, counts, yes and no, categories and ladders side by side."""

from __future__ import annotations

from scipy import stats

from bench.choose_pieces import Rng
from bench.mixed_draft import Draft
from bench.mixed_tables import DrawnTable, register

EDUCATION = ("none", "primary", "secondary", "bachelor", "master", "doctorate")


def incomes(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4))
    t.log_normal({"income": (32_000, 0.45), "savings": (9_000, 0.9)}, gap=1.8)
    t.normal({"age": (44, 8), "commute_minutes": (35, 9)}, gap=1.8)
    return t.gamma("rent", 900, 6, gap=1.0).yes_no(["owns_car"], 1.5).table()


def incomes_with_tails(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 3), (500, 2000))
    t.pareto("income", 20_000, 2.2, gap=2.0).pareto("donations", 60, 1.6, gap=1.5)
    t.normal({"age": (48, 7), "years_of_school": (12, 1.8), "hours_of_work": (37, 5)}, gap=2.2)
    return t.levels("region", ["north", "south", "east", "west"], 0.6).table()


def customers(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 5), (500, 2500))
    t.gamma("spend", 80, 2.5, gap=2.0, zeros=(0.3, 1.8)).counts(["visits", "returns"], 5, gap=2.2)
    t.normal({"age": (41, 9)}, gap=2.0).log_normal({"basket": (38, 0.5)}, gap=2.0)
    return t.levels("plan", ["free", "plus", "pro"], 1.3).yes_no(["newsletter", "app"], 2.0).table()


def patients(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (300, 1500))
    t.normal({"age": (58, 10), "systolic": (132, 13), "bmi": (27, 3.5)}, gap=1.8, related=0.4)
    t.log_normal({"crp": (4.0, 0.7), "creatinine": (85, 0.25)}, gap=2.0)
    return t.yes_no(["smoker", "diabetes", "statin"], 2.0).levels("ward", 4, 0.5).table()


def patients_missing_by_group(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (500, 2000))
    t.normal({"age": (60, 9), "pulse": (74, 9), "temperature": (37.2, 0.5)}, gap=2.2)
    t.log_normal({"crp": (6, 0.8), "troponin": (12, 0.9), "lactate": (1.6, 0.4)}, gap=2.2)
    t.yes_no(["chest_pain", "diabetes"], 2.2).levels("triage", ["green", "yellow", "orange", "red"], 1.0)
    return t.missing(0.1, by_group=1.2, but=["age"]).table()


def employees(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 5), (400, 2000))
    t.log_normal({"salary": (48_000, 0.3)}, gap=2.2).gamma("tenure_years", 6, 2.0, gap=1.6)
    t.normal({"age": (42, 7), "hours": (38, 4)}, gap=1.8).ratings(
        ["grade"], 2.0, ["A", "B", "C", "D", "E", "F"]
    )
    t.levels("department", ["sales", "finance", "research", "plant", "office", "support"], 1.4)
    return t.yes_no(["remote", "leads_team"], 2.2).table()


def borrowers(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (500, 2500))
    t.log_normal({"amount": (8_000, 0.6), "income": (36_000, 0.4)}, gap=2.0, related=0.4)
    t.normal({"rate": (6.5, 1.2)}, gap=2.0).counts(["late_payments"], 2, gap=2.0, size=2)
    t.levels("purpose", ["car", "home", "study", "business", "medical", "wedding", "other"], 1.3, rare=0.2)
    return t.levels("months", [12, 24, 36, 60], 1.2).yes_no(["owner"], 2.0).table()


def households(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 5), (500, 2000))
    t.counts(["people", "cars"], 2.5, gap=2.0).log_normal(
        {"rent": (850, 0.3), "power_kwh": (2900, 0.35)}, gap=2.0
    )
    t.normal({"rooms_area": (78, 14)}, gap=2.0)
    t.levels("city", ["Ulm", "Kiel", "Bonn", "Jena", "Trier", "Halle"], 1.2)
    region = {
        "Ulm": "south",
        "Trier": "west",
        "Bonn": "west",
        "Kiel": "north",
        "Jena": "east",
        "Halle": "east",
    }
    return t.also(region=lambda frame: frame["city"].map(region)).yes_no(["garden"], 2.0).table()


def students(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (300, 1200))
    places = t.places(1.6)
    t.margin(
        "score",
        [stats.beta(9 * p, 9 * (1 - p), scale=100) for p in 1 / (1 + 2.72 ** -(0.4 + 0.6 * places))],
        "beta",
    )
    t.gamma("hours_a_week", 7, 3, gap=1.5).counts(["absences"], 4, gap=1.5, size=3)
    t.normal({"reading": (52, 8), "science": (50, 8)}, gap=1.8, related=0.3)
    return t.ratings(["parents_education"], 1.6, EDUCATION).yes_no(["works", "siblings"], 1.5).table()


def athletes(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 5), (300, 1500))
    t.normal({"height_cm": (178, 6), "weight_kg": (73, 7), "arm_span_cm": (180, 6)}, gap=2.4, related=0.6)
    t.normal({"resting_pulse": (58, 6)}, gap=2.0).log_normal({"body_fat": (13, 0.22)}, gap=2.0)
    return (
        t.levels("sport", ["rowing", "track", "ball", "swim"], 1.3).counts(["injuries"], 1.5, gap=1.5).table()
    )


def visitors(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (500, 3000))
    t.counts(["pages", "clicks"], 8, gap=1.8, size=3).log_normal({"seconds": (95, 0.8)}, gap=2.0)
    t.gamma("order_value", 60, 3, gap=1.5, zeros=(0.6, 2.0)).levels(
        "device", ["phone", "desktop", "tablet"], 1.2
    )
    return t.levels("source", 5, 1.2, rare=0.3).yes_no(["returning", "logged_in"], 2.0).table()


def donors(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (400, 2000))
    for name in ("appeal", "online", "legacy"):
        t.gamma(name, 45, 2.5, gap=1.8, zeros=(0.45, 2.2))
    t.normal({"age": (55, 9)}, gap=2.0)
    return (
        t.counts(["letters"], 6, gap=2.0).levels("channel", ["post", "mail", "phone", "street"], 1.3).table()
    )


register(
    "groups",
    {
        "incomes beside normals": incomes,
        "incomes with tails": incomes_with_tails,
        "customers": customers,
        "patients": patients,
        "patients, missing by group": patients_missing_by_group,
        "employees": employees,
        "borrowers": borrowers,
        "households": households,
        "students": students,
        "athletes": athletes,
        "visitors": visitors,
        "donors": donors,
    },
)
