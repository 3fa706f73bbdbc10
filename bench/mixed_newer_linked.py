"""Tables without groups of the newer half: answers, places, counts and times of one population that go together."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit

from bench.choose_pieces import Rng
from bench.mixed_draft import LADDER, digits
from bench.mixed_fresh_none import cut, rows, yes
from bench.mixed_newer_parts import Ranks
from bench.mixed_tables import DrawnTable, none, register


def two_traits_three_scales(rng: Rng) -> DrawnTable:
    """Worry and trust, related to each other, on scales of five, of seven and of no or yes."""
    n = rows(rng, 300, 2000)
    worry = rng.normal(size=n)
    trust = -0.4 * worry + np.sqrt(0.84) * rng.normal(size=n)
    frame = {}
    for j in range(4):
        frame[f"worry_{j}"] = np.clip(np.round(3 + 0.8 * worry + 0.8 * rng.normal(size=n)), 1, 5).astype(int)
        frame[f"trust_{j}"] = np.clip(np.round(4 + 1.1 * trust + 1.1 * rng.normal(size=n)), 1, 7).astype(int)
    for j in range(3):
        frame[f"did_{j}"] = yes(rng, rng.normal(0, 0.5) + 0.8 * worry + 0.5 * trust)
    return none(pd.DataFrame(frame))


def styles_of_answering(rng: Rng) -> DrawnTable:
    """Some use the whole scale, some its middle, all degrees between; some agree to everything a little more."""
    n = rows(rng, 300, 2000)
    wide, agrees = np.exp(0.35 * rng.normal(size=(n, 1))), 0.35 * rng.normal(size=(n, 1))
    x = 3 + agrees + wide * (0.7 * rng.normal(size=(n, 9)) + 0.3 * rng.normal(size=9))
    frame = pd.DataFrame(np.clip(np.round(x), 1, 5).astype(int), columns=[f"item_{j}" for j in range(9)])
    return none(frame.assign(minutes=digits(np.exp(rng.normal(2.2, 0.4, n)))))


def theory_test(rng: Rng) -> DrawnTable:
    """Right or wrong with chances to guess, from easy to hard; their number and whether it suffices."""
    n, items = rows(rng), 12
    skill = rng.normal(size=(n, 1))
    p = 0.2 + 0.8 * expit(1.6 * (skill - np.linspace(-2.0, 1.2, items)))
    frame = pd.DataFrame(
        (rng.uniform(size=(n, items)) < p).astype(int), columns=[f"item_{j}" for j in range(items)]
    )
    right = frame.sum(axis=1)
    return none(
        frame.assign(right=right, passed=np.where(right >= 8, "yes", "no"), tries=rng.geometric(0.6, n))
    )


def one_order_of_preference(rng: Rng) -> DrawnTable:
    """Ranks of five desserts by everybody's common worths."""
    n, names = rows(rng, 300, 1500), ("cake", "fruit", "ice", "cheese", "pudding")
    cells = Ranks(names, np.exp(rng.normal(0, 0.7, (1, 5)))).draw(rng, np.zeros(n, np.int64))
    frame = pd.DataFrame(cells).astype(int)
    return none(frame.assign(age=np.round(18 + 60 * rng.beta(1.6, 2, n)), often=rng.choice(LADDER, n)))


def year_round(rng: Rng) -> DrawnTable:
    """A hotel in the mountains: length of the day, warmth and guests follow from the day of the year."""
    n = rows(rng)
    turn = 2 * np.pi * rng.uniform(size=n)
    warm = 8 - 7 * np.cos(turn - 0.5) + 4 * rng.normal(size=n)
    frame = {
        "week": np.floor(52 * turn / (2 * np.pi)) + 1,
        "daylight_h": np.round(12 - 2.5 * np.cos(turn), 1),
    }
    frame["warmth"] = np.round(warm, 1)
    frame["guests"] = rng.negative_binomial(6, 6 / (6 + 30 * np.exp(-0.35 * np.cos(turn))))
    frame["snow"] = yes(rng, -0.4 * (warm - 2))
    return none(pd.DataFrame(frame | {"chef": rng.choice(["Ana", "Ben", "Cem"], n)}))


def places_in_places(rng: Rng) -> DrawnTable:
    """Town, county and country: each determines the next; towns have very different sizes."""
    n, towns = rows(rng, 500, 3000), 30
    shares = 1 / np.arange(1, towns + 1) ** 0.8
    town = rng.choice(towns, n, p=shares / shares.sum())
    county, country = rng.permutation(towns)[town] % 9, np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    frame = {"town": [f"town {c}" for c in town], "county": [f"county {c}" for c in county]}
    frame["country"] = [f"country {c}" for c in country[county]]
    frame["visitors"] = rng.negative_binomial(1.5, 1.5 / (1.5 + 20), n)
    return none(
        pd.DataFrame(frame | {"fare": digits(rng.gamma(3, 9, n)), "return": yes(rng, np.full(n, 0.4))})
    )


def up_a_mountain(rng: Rng) -> DrawnTable:
    """Kinds of trees replace each other slowly with height, as warmth and counts of beetles do."""
    n = rows(rng, 300, 1200)
    metres = rng.uniform(400, 2000, n)
    liking = -(((metres[:, None] - np.array([500, 900, 1300, 1700])) / 500) ** 2) + rng.gumbel(size=(n, 4))
    frame = {
        "metres": np.round(metres, -1),
        "tree": np.array(["oak", "beech", "fir", "larch"], object)[liking.argmax(axis=1)],
    }
    frame["warmth"] = np.round(14 - 0.0065 * metres + 1.2 * rng.normal(size=n), 1)
    frame["beetles"] = rng.negative_binomial(2, 2 / (2 + np.exp(3.2 - 0.001 * metres)))
    return none(
        pd.DataFrame(frame | {"girth_cm": digits(np.exp(rng.normal(4.6, 0.35, n) - 0.0002 * metres))})
    )


def organs_of_one_size(rng: Rng) -> DrawnTable:
    """Beetles: five lengths that one size moves almost alone; sexes do not differ."""
    n = rows(rng, 150, 600)
    size = 0.18 * rng.normal(size=n)
    frame = {
        part: digits(median * np.exp(power * size + 0.05 * rng.normal(size=n)), 3)
        for part, median, power in (
            ("head", 2.1, 0.8),
            ("horn", 5.0, 1.9),
            ("wing", 14, 1.0),
            ("leg", 9, 0.9),
        )
    }
    frame |= {"sex": rng.choice(["f", "m"], n), "eggs_seen": rng.poisson(np.exp(1.0 + 1.5 * size))}
    return none(pd.DataFrame(frame))


def accident_proneness(rng: Rng) -> DrawnTable:
    """Counts that are all larger for those who take more risks, and how they drive."""
    n = rows(rng, 400, 2500)
    prone = rng.gamma(2, 0.5, n)
    frame = {
        name: rng.poisson(mean * prone) for name, mean in (("fines", 1.6), ("bumps", 0.9), ("near_misses", 4))
    }
    frame["speed_over"] = np.round(6 * prone**0.5 + 3 * rng.normal(size=n), 1)
    frame["belt"] = yes(rng, 2.4 - 0.5 * prone)
    return none(pd.DataFrame(frame | {"km": np.round(np.exp(rng.normal(9.3, 0.5, n)), -2)}))


def river_levels(rng: Rng) -> DrawnTable:
    """Five days in a row, and the warning that follows from the last one."""
    n = rows(rng, 200, 1500)
    level, frame = rng.normal(size=n), {}
    for day in range(1, 6):
        level = 0.85 * level + np.sqrt(1 - 0.85**2) * rng.normal(size=n)
        frame[f"level_day_{day}"] = np.round(120 * np.exp(0.35 * level))
    frame["warning"] = pd.cut(level, [-9, 0.8, 1.6, 9], labels=["none", "yellow", "red"]).astype(object)
    return none(pd.DataFrame(frame | {"gauge": rng.choice([f"G{j}" for j in range(7)], n)}))


def queue(rng: Rng) -> DrawnTable:
    """Waits grow without bound as a counter nears what it can serve."""
    n = rows(rng, 300, 2000)
    load = 0.95 * rng.beta(3, 2, n)
    length = rng.geometric(1 - load) - 1
    frame = {
        "load": np.round(load, 2),
        "in_line": length,
        "open_counters": 1 + rng.binomial(5, 0.3 + 0.4 * load),
    }
    frame["wait_min"] = digits(rng.gamma(length + 1, 2.5))
    frame["left_early"] = yes(rng, -3 + 0.25 * length)
    return none(pd.DataFrame(frame | {"window": rng.choice(["A", "B", "C", "D"], n)}))


def lottery(rng: Rng) -> DrawnTable:
    """Even whole numbers and even categories, independent of each other."""
    n = rows(rng, 300, 3000)
    frame = {f"ball_{j}": rng.integers(1, 50, n) for j in range(3)}
    frame |= {
        "digit": rng.integers(0, 10, n),
        "day": rng.choice(["We", "Sa"], n),
        "stake": rng.choice([1, 2, 5, 10], n),
    }
    return none(pd.DataFrame(frame | {"shop": [f"shop {j}" for j in rng.integers(0, 25, n)]}))


def followers(rng: Rng) -> DrawnTable:
    """Tails of powers that go together, as in networks."""
    n = rows(rng, 400, 3000)
    z = rng.normal(size=(n, 3)) @ np.linalg.cholesky([[1, 0.6, 0.5], [0.6, 1, 0.4], [0.5, 0.4, 1]]).T
    u = stats.norm.cdf(z)
    sizes = (("followers", 1.1, 60), ("follows", 2.0, 150), ("posts", 1.5, 30))
    frame = {}
    for j, (name, tail, scale) in enumerate(sizes):
        frame[name] = np.floor(stats.lomax(tail, scale=scale).ppf(u[:, j]))
    frame["verified"] = yes(rng, -6 + 0.7 * np.log1p(frame["followers"]))
    frame["years"] = np.floor(rng.gamma(4, 1.4, n))
    return none(pd.DataFrame(frame | {"theme": rng.choice(["dark", "light"], n)}))


def many_codes(rng: Rng) -> DrawnTable:
    """Categories of 20, 40 and 60 levels after Zipf beside numbers, nothing related but a count and its cost."""
    n = rows(rng, 500, 3000)
    frame = {}
    for name, levels in (("trade", 20), ("product", 40), ("postcode", 60)):
        shares = 1 / np.arange(1, levels + 1)
        frame[name] = [f"{name[0]}{c:02d}" for c in rng.choice(levels, n, p=shares / shares.sum())]
    units = 1 + rng.negative_binomial(1, 0.25, n)
    frame |= {"units": units, "cost": digits(units * np.exp(rng.normal(2, 0.5, n)))}
    return none(pd.DataFrame(frame | {"rating": cut(rng.normal(size=n), [0.2, 0.5, 0.3], ["C", "B", "A"])}))


register(
    "none",
    {
        "none: two traits, three scales": two_traits_three_scales,
        "none: styles of answering": styles_of_answering,
        "none: theory test": theory_test,
        "none: one order of preference": one_order_of_preference,
        "none: the year round": year_round,
        "none: places in places": places_in_places,
        "none: up a mountain": up_a_mountain,
        "none: organs of one size": organs_of_one_size,
        "none: proneness to accidents": accident_proneness,
        "none: river levels": river_levels,
        "none: queue": queue,
        "none: lottery": lottery,
        "none: followers": followers,
        "none: many codes": many_codes,
    },
    half="newer",
)
