"""Tables with groups of the newer half, about what people do: buying, riding, working, dwelling, standing trial.

The kinds of this half were written after those of the fresh half had been read, again without knowing the rule that
is measured on them.
"""

from __future__ import annotations

from scipy import stats

from bench import mixed_makers as of
from bench import mixed_newer_linked, mixed_newer_nature, mixed_newer_none  # noqa: F401 - they register theirs
from bench.choose_pieces import Rng
from bench.mixed_newer_draft import NewerDraft, count_by, mark_by, number_by, per_unit, size_by
from bench.mixed_tables import DrawnTable, register

STARS = (1, 2, 3, 4, 5)


def shoppers(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (2, 5), (500, 3000))
    t.of_one_cause(["fresh", "frozen", "drinks", "baby", "garden", "toys"], 5, 2.4, size=2.5)
    t.gamma("coupons_eur", 6, 1.5, 1.6, zeros=(0.5, 1.8)).clock("usual_hour", 1.2)
    t.levels("payment", ["cash", "card", "phone"], 1.2).number(
        "distance_km", of.weibull(5, 1.2), 1.4, step=0.5
    )
    return t.levels("store", 14, 0.0, rare=0.1).table()


def web_sessions(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (2, 4), (800, 3000))
    pages = ["home", "search", "item", "cart", "help", "account"]
    t.steps([f"page_{j}" for j in range(1, 7)], pages, 1.1, stay=0.3)
    t.number("seconds", of.log_normal(110, 0.9), 2.0, step=1, limits=(1, 1800)).clock("hour", 0.8)
    t.counts(["errors"], 0.5, 1.8, zeros=(0.6, 1.0)).levels("browser", 8, 0.7, rare=0.4)
    return t.yes_no(["logged_in"], 1.6).table()


def ranked_wishes(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (2, 4), (300, 1500))
    t.ranked(["pay", "time_off", "training", "colleagues", "safety", "short_way"], 1.3)
    t.heaped("age", of.bounded(0.45, 14, 90), 1.6, step=1, coarse=5, share=0.25).levels("trade", 9, 0.7)
    return t.ratings(["content"], 1.5, STARS).yes_no(["part_time"], 1.2).table()


def asked_of_some(rng: Rng) -> DrawnTable:
    """A health survey: cigarettes of those who smoke, hours of those who work, and so on."""
    t = NewerDraft(rng, (2, 4), (500, 2500))
    t.heaped("cigarettes", of.gamma(12, 3), 1.6, step=1, coarse=5, share=0.5).only_if("smokes", 0.35, 1.8)
    t.number("weekly_hours", of.normal(34, 8), 2.0, step=1, limits=(1, 70)).only_if("works", 0.65, 2.0)
    t.number("age_at_first", of.skewed(27, 4), 1.8, step=1).only_if("has_children", 0.55, 1.8)
    t.number("age", of.normal(48, 13), 2.0, step=1, limits=(18, 95))
    return t.ratings(["health"], 1.8, ["bad", "fair", "good", "excellent"]).levels("county", 12, 0.0).table()


def bus_trips(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (2, 5), (600, 3000))
    t.number(
        "stops", of.gamma(18, 6), 1.6, step=1, limits=(2, 70), children={"boarded": of.counts_over(2.2, 2.0)}
    )
    t.number("late_min", of.skewed(2, 3), 1.8, step=1).clock("leaves", 1.4)
    t.levels("line", [f"{j}" for j in range(1, 17)], 1.0).levels(
        "weather", ["dry", "rain", "snow"], 0.0, rare=0.9
    )
    return t.yes_no(["low_floor", "articulated"], 1.8).table()


def bicycle_hire(rng: Rng) -> DrawnTable:
    """Groups ride at speeds of their own: kilometres against minutes lie on lines of other slopes."""
    of_speed = per_unit(0.2, 0.22, 2.6)
    t = NewerDraft(rng, (2, 3), (400, 2500))
    t.number(
        "minutes",
        of.log_normal(18, 0.6),
        1.2,
        step=1,
        limits=(1, 600),
        children={"km": of_speed},
    )
    t.clock("from_hour", 1.4).yes_no(["member", "electric"], 2.0)
    t.levels("station", 18, 0.6).number("age", of.skewed(33, 8), 1.5, step=1, limits=(16, 80))
    return t.missing(0.07, by_group=1.0).table()


def appraisals(rng: Rng) -> DrawnTable:
    """Staff: one impression moves all marks."""
    t = NewerDraft(rng, (2, 4), (250, 1500))
    t.ratings(["speed", "care", "ideas", "manners", "leads"], 1.8, STARS, trait=0.7)
    t.number("years_in", of.gamma(7, 1.5), 1.8, step=1, limits=(0, 30)).log_normal({"pay": (3900, 0.25)}, 2.2)
    t.counts(["sick_days"], 6, 1.6, size=1.2).counts(["courses"], 1.5, 1.6)
    return t.levels("site", ["Turin", "Leeds", "Gdynia", "Porto"], 0.8).yes_no(["night_shift"], 1.8).table()


def court_cases(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (2, 5), (400, 2500))
    charges = [
        "theft",
        "fraud",
        "assault",
        "drugs",
        "driving",
        "damage",
        "arson",
        "forgery",
        "threat",
        "other",
    ]
    t.levels("charge", charges, 1.4, rare=0.1).heaped(
        "months", of.gamma(20, 2), 2.0, step=1, coarse=6, share=0.6
    )
    t.counts(["convictions"], 2.5, 1.8, size=1).number("age", of.skewed(31, 8), 1.6, step=1, limits=(14, 90))
    t.number("bail", of.log_normal(4000, 0.9), 1.8, step=500, limits=(0, 50_000)).only_if(
        "released", 0.6, 1.6
    )
    return t.levels("plea", ["guilty", "not guilty", "none"], 1.2).levels("judge", 15, 0.0).table()


def homes_to_let(rng: Rng) -> DrawnTable:
    """Groups differ by what a square metre costs."""
    t = NewerDraft(rng, (2, 5), (400, 3000))
    rent = per_unit(13, 0.2, 1.8)
    t.number("area_m2", of.log_normal(68, 0.35), 1.6, step=1, limits=(12, 400), children={"rent": rent})
    t.number("built", of.normal(1970, 24), 1.6, step=10, limits=(1900, 2020)).counts(["floor"], 2.2, 1.5)
    t.levels(
        "quarter", ["Altona", "Barmbek", "Eilbek", "Harburg", "Horn", "Hamm", "Winterhude", "Lokstedt"], 1.2
    )
    east = {"Barmbek", "Eilbek", "Horn", "Hamm"}
    t.also(bank=lambda frame: frame["quarter"].isin(east).map({True: "east", False: "west"}))
    return t.yes_no(["lift", "balcony", "kitchen"], 1.8).missing(0.08, by_group=1.2, but=["quarter"]).table()


def school_quarters(rng: Rng) -> DrawnTable:
    """Classes of pupils from poorer to richer quarters: one order on every column."""
    t = NewerDraft(rng, (2, 4), (300, 2000), graded=True)
    t.related({"reading": of.normal(500, 70), "maths": of.normal(495, 75)}, 1.6, (0.3, 0.6))
    t.ratings(["books_at_home"], 1.6, ["0-10", "11-25", "26-100", "101-200", "200+"])
    t.counts(["days_missed"], 7, 1.5, size=2).yes_no(["free_lunch", "own_desk"], 1.8)
    t.number("parents_schooling", of.normal(12, 2), 1.6, step=1, limits=(4, 20))
    return t.levels("born_in", ["spring", "summer", "autumn", "winter"], 0.0).table()


def telephone_plans(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (3, 6), (600, 3000))
    t.number("data_gb", of.gamma(7, 1.4), 2.2, step=0.1, limits=(0, 20)).gamma(
        "roaming", 9, 1.2, 2.0, zeros=(0.6, 2.2)
    )
    t.related({"call_min": of.log_normal(120, 0.8), "texts": of.log_normal(30, 1.0)}, 2.2, (0.1, 0.4))
    t.number("age", of.normal(44, 11), 2.0, step=1, limits=(14, 99)).levels(
        "tariff", ["S", "M", "L", "XL"], 1.5
    )
    return (
        t.number("contract_years", of.weibull(4, 1.2), 1.6, step=1, limits=(0, 25))
        .yes_no(["child_card"], 1.8)
        .table()
    )


def road_accidents(rng: Rng) -> DrawnTable:
    """Coarse columns only."""
    t = NewerDraft(rng, (2, 4), (1500, 3000))
    t.levels("limit", [30, 50, 70, 100, 130], 1.5).clock("hour", 1.6).counts(["hurt"], 1.3, 1.8).counts(
        ["cars"], 2, 1.5
    )
    t.pair(("light", ["day", "dusk", "dark"]), ("surface", ["dry", "wet", "ice"]), 0.9, 0.6)
    t.ratings(["severity"], 1.8, ["slight", "serious", "fatal"]).levels("crossing", 6, 1.1, rare=0.3)
    return t.yes_no(["alcohol", "bicycle"], 2.0).months("month", 0.6).table()


def museum_visits(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (3, 6), (300, 1500))
    t.heaped("stay_min", of.log_normal(75, 0.4), 2.4, step=5, coarse=30, share=0.4).counts(
        ["party"], 2.5, 2.4
    )
    t.levels("language", ["de", "en", "fr", "it", "pl", "zh"], 1.6, rare=0.2).clock("enters", 1.6)
    t.gamma("shop_eur", 14, 2, 1.8, zeros=(0.6, 2.0)).levels(
        "ticket", ["full", "child", "group", "member", "free"], 1.6
    )
    return t.ratings(["pleased"], 1.8, STARS).missing(0.1, by_group=1.5, but=["ticket"]).table()


def test_takers(rng: Rng) -> DrawnTable:
    """Right answers, minutes and pauses that one ability moves within every group of learners."""
    t = NewerDraft(rng, (2, 3), (300, 1500))
    tasks = {
        "vocabulary": mark_by(30, 0.6, 0.5),
        "grammar": mark_by(24, 0.5, 0.5),
        "listening": mark_by(15, 0.6, 0.4),
    }
    t.moved(tasks | {"minutes": size_by(48, 0.3, -0.5), "pauses": count_by(6, -0.3)}, 2.0)
    t.levels("mother_tongue", 10, 1.0).number("months_learnt", of.gamma(14, 2), 1.6, step=1)
    return t.yes_no(["lives_abroad"], 1.6).table()


def freelancers(rng: Rng) -> DrawnTable:
    """Invoices: amounts with far tails that are far together, many zeros, a repeated total."""
    t = NewerDraft(rng, (2, 4), (300, 1500))
    for month in ("january", "february", "march"):
        t.gamma(month, 2600, 2.5, 1.8, zeros=(0.25, 1.8))
    t.also(quarter=lambda frame: frame[["january", "february", "march"]].sum(axis=1).round(2))
    t.counts(["clients"], 4, 1.8, size=3).heaped(
        "rate", of.log_normal(62, 0.3), 2.0, step=1, coarse=10, share=0.7
    )
    return t.levels("field", ["text", "code", "design", "law", "film"], 1.2).yes_no(["agency"], 1.5).table()


def overnight_travel(rng: Rng) -> DrawnTable:
    t = NewerDraft(rng, (3, 5), (400, 2000))
    t.pareto("km", 250, 2.5, 2.4).counts(["nights"], 4, 2.2, size=2).levels(
        "by", ["rail", "car", "plane", "coach"], 1.6
    )
    t.ratings(["comfort", "price", "speed", "climate"], 1.7, (1, 2, 3, 4, 5, 6, 7), trait=0.5)
    t.months("month", 1.2).number("booked_days", of.weibull(45, 1.1), 1.8, step=1, limits=(0, 365))
    return t.margin("bags", [stats.binom(3, p) for p in rng.uniform(0.2, 0.8, t.k)], "binomial").table()


def watches_at_night(rng: Rng) -> DrawnTable:
    """Nights and moods of people who wear a watch; one strain moves pulse, steps and naps."""
    t = NewerDraft(rng, (2, 4), (200, 900))
    worn = {"pulse": number_by(63, 8, 0.6), "steps": size_by(7200, 0.45, -0.6), "naps": count_by(3, 0.4)}
    t.moved(worn, 2.0).clock("to_bed", 2.2).number(
        "sleep_h", of.normal(7.0, 0.9), 1.8, step=0.1, limits=(0, 14)
    )
    t.ratings(["mood", "energy"], 1.7, ["low", "so-so", "good", "high"])
    return t.number("screen_h", of.gamma(3.5, 3), 1.6).levels("model", 5, 0.0).missing(0.06).table()


register(
    "groups",
    {
        "shoppers of one size": shoppers,
        "web sessions": web_sessions,
        "ranked wishes": ranked_wishes,
        "asked of some": asked_of_some,
        "bus trips": bus_trips,
        "bicycle hire": bicycle_hire,
        "appraisals": appraisals,
        "court cases": court_cases,
        "homes to let": homes_to_let,
        "school quarters": school_quarters,
        "telephone plans": telephone_plans,
        "road accidents": road_accidents,
        "museum visits": museum_visits,
        "test takers": test_takers,
        "freelancers": freelancers,
        "overnight travel": overnight_travel,
        "watches at night": watches_at_night,
    },
    half="newer",
)
