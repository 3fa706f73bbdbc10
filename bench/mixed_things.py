"""Tables with groups about things: machines, films, species, crops, cars, houses, parcels; counts of all sorts."""

from __future__ import annotations

import numpy as np
from scipy import stats

from bench.choose_pieces import Rng
from bench.mixed_draft import LADDER, Draft
from bench.mixed_tables import DrawnTable, register


def machines(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 5), (400, 2000))
    t.normal({"temperature": (64, 4), "pressure": (5.2, 0.5)}, gap=2.2, related=0.3)
    t.gamma("vibration", 2.4, 4, gap=2.0).counts(["faults"], 4, gap=1.8, zeros=(0.3, 1.5))
    t.levels("vendor", ["Aker", "Bosk", "Cerf", "Dorn", "Elva"], 1.0)
    return t.ratings(["state"], 2.0, ["new", "good", "worn", "poor"]).table()


def films(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 6), (500, 2000))
    t.normal({"minutes": (108, 12), "score": (6.2, 0.8)}, gap=2.0).log_normal(
        {"budget": (18e6, 0.7)}, gap=2.2
    )
    t.counts(["awards"], 3, gap=2.0, size=2).yes_no(["sequel"], 2.0)
    genres = ["drama", "comedy", "action", "horror", "family", "crime", "romance", "documentary"]
    return t.levels("genre", genres, 1.6, rare=0.15).levels("rating", ["G", "PG", "PG-13", "R"], 1.4).table()


def species(rng: Rng) -> DrawnTable:
    t = Draft(rng, (3, 7), (300, 1500))
    t.normal({"bill_mm": (42, 2.6), "wing_mm": (196, 7), "tarsus_mm": (31, 1.6)}, gap=2.6, related=0.5)
    t.log_normal({"mass_g": (410, 0.12)}, gap=2.5).levels(
        "colour", ["grey", "brown", "black", "white", "red"], 1.6
    )
    return t.levels("habitat", ["coast", "marsh", "wood"], 1.3).levels("sex", ["female", "male"], 0.0).table()


def crops(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 5), (300, 1500))
    t.normal({"yield_t": (6.1, 0.8), "ph": (6.4, 0.4)}, gap=2.2).gamma("rain_mm", 480, 12, gap=2.0)
    t.counts(["pests"], 6, gap=2.0, size=4).levels("soil", ["clay", "loam", "sand", "peat"], 1.5)
    return t.yes_no(["irrigated", "organic"], 2.2).table()


def houses(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (400, 2000))
    t.log_normal({"area_m2": (115, 0.28), "price": (310_000, 0.35)}, gap=2.2, related=0.5)
    t.counts(["rooms"], 5, gap=1.8).normal({"built": (1974, 11)}, gap=2.2)
    t.ratings(["energy_class"], 1.8, list("ABCDEFG")).levels("heating", ["gas", "oil", "pump", "wood"], 1.3)
    return t.missing(0.05).table()


def cars(rng: Rng) -> DrawnTable:
    t = Draft(rng, (3, 6), (300, 1500))
    t.normal({"power_kw": (96, 13), "consumption": (6.4, 0.8), "length_cm": (436, 17)}, gap=2.4, related=0.5)
    t.log_normal({"price": (24_000, 0.25), "km": (52_000, 0.6)}, gap=2.2)
    return t.levels("gearbox", ["manual", "automatic"], 1.5).levels("doors", [2, 3, 4, 5], 1.4).table()


def parcels(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (500, 2500))
    scales = np.exp(0.5 * t.places(2.0))
    t.margin("distance_km", [stats.weibull_min(1.8, scale=180 * s) for s in scales], "Weibull")
    t.gamma("weight_kg", 3.2, 3, gap=2.0).gamma("insured", 120, 2, gap=1.6, zeros=(0.5, 2.0))
    t.levels("service", ["night", "day", "slow"], 1.5).yes_no(["damaged", "signed", "returned"], 2.0)
    return t.normal({"hours": (31, 5)}, gap=2.0).table()


def poisson_counts(rng: Rng) -> DrawnTable:
    return Draft(rng, (2, 4), (300, 1500)).counts([f"item_{j}" for j in range(5)], 6, gap=2.4).table()


def overdispersed_counts(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 4), (400, 2000)).counts([f"reads_{j}" for j in range(7)], 14, gap=1.9, size=3)
    return t.table()


def counts_with_zeros(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 3), (500, 2500))
    return t.counts([f"claims_{j}" for j in range(6)], 5, gap=2.2, zeros=(0.3, 1.5)).table()


def counts_and_yes_no(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 3), (400, 2000))
    return (
        t.counts(["calls", "mails", "visits"], 5, gap=2.0).yes_no([f"uses_{c}" for c in "abcd"], 2.4).table()
    )


def rare_events(rng: Rng) -> DrawnTable:
    t = Draft(rng, (2, 3), (500, 2500))
    t.counts(["stops", "alarms", "repairs", "complaints"], 1.2, gap=2.6)
    t.normal({"load": (55, 7), "speed": (80, 8)}, gap=2.0)
    return t.ratings(["noise_heard"], 1.8, LADDER).table()


register(
    "groups",
    {
        "machines": machines,
        "films": films,
        "species": species,
        "crops": crops,
        "houses, missing": houses,
        "cars": cars,
        "parcels": parcels,
        "counts, Poisson": poisson_counts,
        "counts, overdispersed": overdispersed_counts,
        "counts with zeros": counts_with_zeros,
        "counts and yes or no": counts_and_yes_no,
        "rare events": rare_events,
    },
)
