"""Tables with groups of the newer half, from wards, laboratories, stables, streams, plants and power lines."""

from __future__ import annotations

import numpy as np
from scipy import stats

from bench import mixed_makers as of
from bench.choose_pieces import Rng
from bench.mixed_newer_draft import NewerDraft, slope
from bench.mixed_tables import DrawnTable, register


def emergency_ward(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (3, 6), (500, 3000))
    t.heaped("age", of.bounded(0.5, 7, 100), 2.2, step=1, coarse=10, share=0.15).clock("arrives", 1.2)
    t.ratings(["urgency"], 2.2, (1, 2, 3, 4, 5)).number(
        "stay_h", of.weibull(5, 1.3), 2.0, step=0.5, limits=(0, 72)
    )
    t.related({"pulse": of.normal(86, 13), "breaths": of.log_normal(17, 0.2)}, 2.2, (0.2, 0.5))
    t.levels("complaint", 12, 1.4, rare=0.1).log_normal({"d_dimer": (0.5, 0.9), "lactate": (1.5, 0.5)}, 2.0)
    return (
        t.yes_no(["ambulance", "admitted"], 2.0).missing(0.15, by_group=1.3, but=["age", "urgency"]).table()
    )


def tumours_followed(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (2, 4), (250, 1200))
    t.followed("months", "status", of.weibull(50, 1.3), 2.0, stats.uniform(6, 90), ("alive", "died"))
    t.number("age", of.normal(62, 9), 1.6, step=1).counts(["nodes"], 3, 1.8, size=1)
    t.number("size_mm", of.log_normal(22, 0.5), 1.8, step=1, limits=(1, 150))
    t.ratings(["grade"], 2.0, ["G1", "G2", "G3"]).number(
        "er", of.bounded(0.5, 2.5), 2.0, step=0.05, limits=(0, 1)
    )
    return t.levels("histology", ["ductal", "lobular", "mucinous", "other"], 1.2, rare=0.5).table()


def genotypes(rng: Rng) -> DrawnTable:
    """Two to four populations by the alleles at 20 places of the genome."""
    t = NewerDraft(rng, (2, 4), (200, 1200))
    t.genes([f"rs{rng.integers(100, 999)}{j}" for j in range(20)], 0.3)
    return t.levels("plate", 6, 0.0).levels("sex", ["f", "m"], 0.0).missing(0.02).table()


def gene_activity(rng: Rng) -> DrawnTable:
    """Few rows, many columns, most of which tell nothing."""
    t = NewerDraft(rng, (2, 3), (200, 350))
    t.cloud({f"g{j:02d}": (8, 1.2) for j in range(5)}, 2.4, freedom=8).log_normal(
        {f"g{j:02d}": (300, 0.8) for j in range(5, 8)}, 2.0, related=0.4
    )
    t.normal({f"g{j:02d}": (7, 1) for j in range(8, 19)}, 0.0, related=0.3)
    return (
        t.levels("batch", 4, 0.0)
        .number("age", of.normal(55, 12), 0.0, step=1)
        .yes_no(["mutated"], 2.2)
        .table()
    )


def piglets(rng: Rng) -> DrawnTable:
    """Weights at five ages: groups gain at rates of their own."""
    t = NewerDraft(rng, (2, 4), (200, 1000))
    weeks = (0, 2, 4, 6, 8)
    t.growth([f"kg_week_{w}" for w in weeks], weeks, (1.5, 0.3), (1.9, 0.25), 0.2, 2.4)
    t.counts(["litter"], 11, 1.8).levels("breed", ["Duroc", "Landrace", "Pietrain"], 1.2).yes_no(
        ["treated"], 1.0
    )
    return t.number("dam_parity", of.gamma(3, 3), 1.4, step=1, limits=(1, 9)).levels("pen", 8, 0.0).table()


def load_profiles(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (2, 5), (200, 1000))
    t.profile([f"kw_{h:02d}h" for h in range(0, 24, 3)], 0.6, 0.5, 1.0, memory=0.6)
    t.counts(["people"], 2.5, 1.4).number("area_m2", of.log_normal(95, 0.3), 1.4, step=1)
    return (
        t.levels("tariff", ["flat", "night", "hourly"], 1.2).yes_no(["electric_car", "boiler"], 1.6).table()
    )


def pumps(rng: Rng) -> DrawnTable:
    """Groups stand near each other and differ by how their far-tailed numbers go together."""
    t = NewerDraft(rng, (2, 3), (500, 2500))
    t.cloud({"flow": (41, 3), "head": (18, 2), "power": (5.5, 0.6), "noise": (71, 4)}, 1.7, freedom=5)
    t.counts(["trips"], 1.5, 1.6, zeros=(0.3, 1.4)).ratings(["seal"], 1.6, ["dry", "damp", "drips", "leaks"])
    return t.levels("maker", 7, 0.8).number("hours_run", of.weibull(9000, 1.6), 1.4, step=100).table()


def stream_insects(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (3, 6), (250, 1000), least=0.08)
    t.of_one_cause(
        ["mayflies", "stoneflies", "caddis", "midges", "worms", "snails", "beetles"], 9, 2.6, size=2
    )
    t.number("ph", of.normal(7.2, 0.5), 1.8, step=0.1).number(
        "temperature", of.normal(11, 2.5), 1.8, step=0.5
    )
    t.ratings(["order"], 1.6, (1, 2, 3, 4, 5)).levels("bed", ["rock", "gravel", "sand", "silt"], 1.3)
    return t.months("sampled", 0.0).table()


def catches(rng: Rng) -> DrawnTable:
    """Length and mass of fish are nearly one number within a kind; kinds differ by how fat they are."""
    t = NewerDraft(rng, (2, 5), (300, 1500))
    t.related({"length_cm": of.log_normal(38, 0.22), "mass_g": of.log_normal(700, 0.6)}, 1.6, (0.85, 0.95))
    t.number("depth_m", of.gamma(60, 3), 1.8, step=5, limits=(0, 400)).counts(
        ["parasites"], 4, 1.6, 1, (0.3, 1.5)
    )
    t.binomial(["fin_rays"], 20, 0.6, 2.0).levels("gear", ["trawl", "line", "net", "trap"], 1.1).months(
        "month", 1.0
    )
    return t.levels("vessel", 9, 0.3).table()


def sherds(rng: Rng) -> DrawnTable:
    """Pottery: traces below what the device sees, decoration, much that is broken off."""
    t = NewerDraft(rng, (2, 5), (200, 700))
    t.related(
        {"iron": of.log_normal(5, 0.25), "calcium": of.log_normal(3, 0.5), "titan": of.normal(0.8, 0.1)},
        2.4,
        (0, 0.5),
    )
    t.number("nickel", of.log_normal(22, 0.6), 2.0, step=1, limits=(10, np.inf))
    t.number("wall_mm", of.skewed(7, 1.2), 1.6, step=0.5).levels(
        "colour", ["red", "buff", "grey", "black"], 1.6
    )
    t.levels("decoration", ["none", "comb", "cord", "paint", "stamp"], 1.6, rare=0.3).levels("pit", 11, 0.0)
    return t.missing(0.2).table()


def allergy_tests(rng: Rng) -> DrawnTable:
    """Pricks of which one sensitivity makes more positive; their number stands beside them."""
    t = NewerDraft(rng, (2, 3), (500, 2000))
    pricks = ["birch", "hazel", "rye", "timothy", "mugwort", "cat", "dog", "mite", "mould", "latex"]
    t.ratings(pricks, 2.2, (0, 1), trait=0.6).number(
        "ige", of.log_normal(90, 1.1), 1.8, step=1, limits=(2, 2000)
    )
    t.also(positive=lambda frame: frame[pricks].sum(axis=1)).number(
        "age", of.bounded(0.3, 6, 90), 1.4, step=1
    )
    return t.yes_no(["asthma"], 1.6).months("worst_month", 1.4).table()


def dairy_farms(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (2, 4), (200, 900))
    milk = slope(200, 6.5, 900, 1.8, by=0.12)
    t.percentages(["grass_pct", "maize_pct", "grain_pct", "fallow_pct"], 2.0, even=14)
    t.number("feed_kg", of.normal(900, 260), 1.6, children={"milk_kg": milk}).counts(
        ["cows"], 60, 1.8, size=3
    )
    t.pareto("hectares", 60, 3.0, 1.6).levels("tenure", ["own", "lease", "both"], 1.0)
    return t.yes_no(["organic", "robot"], 1.8).number("farmer_age", of.normal(52, 10), 0.6, step=1).table()


def wind_turbines(rng: Rng) -> DrawnTable:
    """Groups win more or less power from the same wind, and lose more or fewer cells."""
    t = NewerDraft(rng, (2, 3), (800, 3000), least=0.08)
    power = slope(0, 150, 90, 2.4, by=0.1)
    t.number("wind", of.weibull(8, 2.2), 0.8, children={"power_kw": power}).number(
        "pitch", of.peaked(3, 2), 1.6
    )
    t.related({"bearing_c": of.normal(55, 6), "oil_c": of.skewed(48, 4)}, 1.6, (0.4, 0.7))
    t.counts(["resets"], 1.0, 1.6, size=1).levels(
        "state", ["run", "curtailed", "idle", "fault"], 1.2, rare=0.6
    )
    return t.missing(0.06, by_group=1.5).table()


register(
    "groups",
    {
        "emergency ward": emergency_ward,
        "tumours, followed": tumours_followed,
        "genotypes": genotypes,
        "gene activity": gene_activity,
        "piglets": piglets,
        "load profiles": load_profiles,
        "pumps": pumps,
        "stream insects": stream_insects,
        "catches": catches,
        "sherds": sherds,
        "allergy tests": allergy_tests,
        "dairy farms": dairy_farms,
        "wind turbines": wind_turbines,
    },
    half="newer",
)
