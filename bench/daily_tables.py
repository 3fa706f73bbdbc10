"""36 tables of daily life, written without knowledge of the rule that takes their columns for what they are.

Each is a function of a seed that plants 2 to 6 groups in 300 to 50,000 rows and says how the file is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bench import daily_cells as write
from bench.daily_draft import Draft

AGREE = ("strongly disagree", "disagree", "neither", "agree", "strongly agree")
OFTEN = ("never", "rarely", "sometimes", "often", "always")
LOW = ("low", "medium", "high")
SIZES = ("XS", "S", "M", "L", "XL")


@dataclass(frozen=True)
class Layout:
    """How a table is written."""

    form: str = "csv"  # csv, jsonl, json, xlsx, parquet
    delimiter: str = ","
    encoding: str = "utf-8"
    title: tuple[str, ...] = ()  # lines above the names
    total: bool = False  # a line of totals below the rows
    packing: str = ""  # gzip


@dataclass(frozen=True)
class Recipe:
    """One kind of table."""

    name: str
    rows: int
    groups: int
    layout: Layout
    fill: Callable[[Draft], object]
    shares: tuple[float, ...] = ()
    holes: float = 0.0

    def draft(self, seed: int, rows: int | None = None) -> Draft:
        """The table by a seed; ``rows`` for a shorter one."""
        rng = np.random.default_rng([seed, *self.name.encode()])
        made = Draft(rows or self.rows, self.groups, rng, self.shares or None, holes=self.holes)
        self.fill(made)
        return made


RECIPES: dict[str, Recipe] = {}


def table(
    rows: int, groups: int, layout: Layout | None = None, **more: object
) -> Callable[..., Callable[[Draft], object]]:
    """Register the function below under its name."""

    def register(fill: Callable[[Draft], object]) -> Callable[[Draft], object]:
        recipe = Recipe(fill.__name__, rows, groups, layout or Layout(), fill)
        RECIPES[fill.__name__] = replace(recipe, **more)  # type: ignore[arg-type]
        return fill

    return register


GERMAN = Layout(delimiter=";", encoding="cp1252")
CSV = Layout()


@table(600, 2)
def parcels(t: Draft) -> None:
    t.aside("tracking", write.ids(t.n, t.rng, "DE{:06d}X")).number("weight", 6, 1, write.unit("kg"), low=0.1)
    t.number("length", 45, 6, write.unit("cm", 0, ""), low=5).number(
        "width", 30, 5, write.unit("cm", 0, ""), low=3
    )
    t.names("service", ("standard", "express", "pickup"))


@table(1200, 3)
def invoices(t: Draft) -> None:
    t.aside("invoice_no", write.ids(t.n, t.rng)).number("net", 400, 0.35, write.dollars, log=True)
    t.number("balance", 50, 30, write.dollars).number("discount", 8, 2, write.percent(), low=0, high=40)
    t.counts("positions", 2).aside("currency", ["USD"] * t.n).names("terms", ("net 30", "net 60", "prepaid"))


@table(900, 3, replace(GERMAN, title=("Umsätze 2024", ""), total=True))
def umsatz(t: Draft) -> None:
    t.names("Filiale", ("Köln", "München", "Nürnberg", "Ulm")).number(
        "Betrag", 900, 0.3, write.euros, log=True
    )
    t.number("Gewicht", 12, 2, write.comma(1), low=0.5).number("Rabatt", 10, 2, write.percent(""), low=0)
    t.moments("Datum", write.day("%d.%m.%Y"))


@table(500, 4)
def survey(t: Draft) -> None:
    t.aside("respondent", range(1, t.n + 1))
    for j in range(1, 6):
        t.order(f"q{j}", AGREE, gap=2.2)
    t.order("visits", OFTEN, gap=2.2).number("age", 42, 6, write.whole(), low=18, high=95)


@table(800, 3)
def ratings(t: Draft) -> None:
    for name in ("food", "service", "price", "noise", "parking"):
        t.order(name, tuple("1234567"), gap=2.4, sort="order").sentinel(name, "99")
    t.aside("remark", write.remarks(t.n, t.rng))


@table(3000, 3)
def logins(t: Draft) -> None:
    t.aside("user", write.uuids(t.n, t.rng)).daily("at", write.moment()).number(
        "session", 20, 4, write.unit("min"), low=0.5
    )
    t.names("device", ("phone", "laptop", "tablet")).counts("clicks", 6, 2.2)


@table(1500, 3, holes=0.04)
def laboratory(t: Draft) -> None:
    t.aside("sample_id", write.ids(t.n, t.rng, "S-{}")).number(
        "glucose", 95, 9, write.unit("mg/dL", 0), blank="n/a"
    )
    t.values("crp", np.maximum(6 * np.exp(0.6 * t.score(1.8)), 2), write.at_least(2.001), blank="-")
    t.number("hb", 13.5, 0.7, write.plain(1), blank="unknown").number(
        "ldl", 120, 14, write.whole(), blank="unknown"
    )
    t.yes_no("smoker", "N", "Y")


@table(2500, 4)
def homes(t: Draft) -> None:
    t.aside("listing", write.ids(t.n, t.rng)).number("price", 350_000, 0.2, write.thousands(), log=True)
    t.number("area", 95, 12, write.unit("m²", 0), low=15).counts("rooms", 2, 1.6).towns(
        "latitude", "longitude"
    )
    t.values("year_built", np.round(np.clip(1975 + 11 * t.score(1.6), 1850, 2024)), write.whole()).yes_no(
        "garden"
    )


@table(20_000, 5)
def orders(t: Draft) -> None:
    t.aside("order_id", write.ids(t.n, t.rng)).aside("customer_mail", write.mails(t.n, t.rng))
    t.number("amount", 60, 0.4, write.pounds, log=True).counts("items", 1.5, 2.0)
    t.moments("ordered", write.day(), sd=30).names("channel", ("web", "shop", "app", "phone"))
    t.aside("zip", write.zips(t.n, t.rng))


@table(700, 3, Layout(form="jsonl"))
def sensors(t: Draft) -> None:
    t.aside("device.id", write.ids(t.n, t.rng, "dev-{}")).number("reading.temperature", 21, 1.5)
    t.number("reading.humidity", 55, 4, write.plain(1)).number("battery", 60, 6, write.percent(""), low=0)
    t.daily("time", write.moment("%Y-%m-%dT%H:%M:%SZ")).names("state", ("idle", "heating", "cooling"))


@table(450, 2, Layout(form="xlsx", title=("Members of the club", "as of May"), total=False))
def members(t: Draft) -> None:
    t.aside(
        "name",
        [
            f"{f.capitalize()} {s}"
            for f, s in zip(t.rng.choice(write.FIRST, t.n), write.surnames(t.n, t.rng), strict=True)
        ],
    )
    t.number("age", 40, 7, write.whole(), low=14).order(
        "level", ("beginner", "intermediate", "advanced"), gap=2.4
    )
    t.moments("joined", write.day(), mean=-900, sd=250).yes_no("active", "inactive", "active").number(
        "fee", 30, 4, write.euros
    )


@table(1000, 3, replace(CSV, encoding="utf-16"))
def patients(t: Draft) -> None:
    t.aside("patient_id", write.ids(t.n, t.rng, "P{}")).number("height", 172, 5, write.unit("cm", 0), low=120)
    t.number("weight", 75, 7, write.unit("kg")).copy("weight", "weight_lb", lambda v: f"{v * 2.20462:.1f}")
    t.order("pain", ("none", "mild", "moderate", "severe")).yes_no("diabetes", "nein", "ja")
    t.number("systolic", 128, 8, write.whole())


@table(1800, 4, holes=0.03)
def cars(t: Draft) -> None:
    t.aside("plate", write.ids(t.n, t.rng, "M-AB {}")).number(
        "mileage", 80_000, 0.25, write.thousands(), log=True
    )
    t.number("power", 110, 14, write.unit("kW", 0)).number("consumption", 6.5, 0.6, write.unit("l/100km"))
    t.names("fuel", ("petrol", "diesel", "electric", "hybrid")).number(
        "price", 18_000, 0.2, write.dollars, log=True
    )
    t.moments("registered", write.day("%d/%m/%Y"), mean=-700, sd=200)


@table(1000, 3, Layout(form="parquet"))
def articles(t: Draft) -> None:
    t.aside("url", [f"https://example.org/{name}" for name in write.ids(t.n, t.rng, "a{}")])
    t.vector("embedding", 6).number("words", 600, 0.3, write.whole(), log=True).names(
        "section", ("news", "sport", "arts", "home")
    )


@table(12_000, 4)
def calls(t: Draft) -> None:
    t.aside("phone", write.phones(t.n, t.rng)).daily("called", write.moment("%d.%m.%Y %H:%M"))
    t.number("duration", 180, 0.45, write.unit("s", 0), log=True).counts("transfers", 0.6, 2.4)
    t.order("mood", LOW).names("topic", ("bill", "outage", "contract", "other"))


@table(650, 3, replace(GERMAN, encoding="utf-8"))
def haushalt(t: Draft) -> None:
    t.number("Einkommen", 3200, 0.25, write.thousands("."), log=True).number(
        "Miete", 850, 90, write.euros, low=200
    )
    t.order(
        "Zustimmung",
        ("stimme gar nicht zu", "stimme eher nicht zu", "teils teils", "stimme eher zu", "stimme voll zu"),
        gap=2.4,
    )
    t.yes_no("Auto", "nein", "ja").counts("Personen", 1.2, 1.9).aside(
        "Ort", write.skewed(write.surnames(250, t.rng), t.n, t.rng), "crowd"
    )


@table(50_000, 4, replace(CSV, packing="gzip"))
def rides(t: Draft) -> None:
    t.aside("ride", write.ids(t.n, t.rng)).daily("start", write.moment()).number(
        "distance", 4, 0.35, write.unit("km"), log=True
    )
    t.number("fare", 14, 0.3, write.dollars, log=True).yes_no("tip", "0", "1").names(
        "payment", ("cash", "card", "app")
    )


@table(900, 2)
def donors(t: Draft) -> None:
    spend = np.where(
        t.rng.random(t.n) < np.where(t.z == 0, 0.7, 0.15), 0.0, 50 * np.exp(0.9 * t.rng.normal(size=t.n))
    )
    t.values("gift", spend, write.dollars).counts("letters", 2, 2.5).number(
        "age", 55, 7, write.whole(), low=18
    )
    t.yes_no("member").aside("mail", write.mails(t.n, t.rng))


@table(2000, 5)
def products(t: Draft) -> None:
    t.aside("sku", write.ids(t.n, t.rng, "SKU{}")).number("price", 25, 0.35, write.plain(), log=True)
    t.number("weight_g", 300, 0.3, write.whole(), log=True).order("size", SIZES, gap=2.2)
    t.names("category", ("toys", "books", "tools", "garden", "food")).number(
        "margin", 30, 3, write.percent("")
    )
    t.counts("stock", 12, 2.2)


@table(1100, 3)
def flights(t: Draft) -> None:
    t.aside("flight", write.ids(t.n, t.rng, "LH{}")).values(
        "departure", np.clip(12 + 1.3 * t.score(3.0), 0.5, 23.4), write.clock, sort="moment"
    )
    t.number("delay", 12, 5, write.unit("min", 0)).number(
        "distance", 1500, 0.25, write.thousands(" "), log=True
    )
    t.names("carrier", ("alpha", "beta", "gamma"))


@table(800, 4, Layout(form="json"))
def players(t: Draft) -> None:
    t.aside("name", write.surnames(t.n, t.rng)).number("stats.speed", 28, 1.5, write.plain(1)).counts(
        "stats.goals", 2, 2.2
    )
    t.number("stats.passes", 60, 6, write.whole()).names(
        "position", ("keeper", "back", "mid", "front"), sure=0.8
    )
    t.number("value", 2e6, 0.35, write.thousands(), log=True)


@table(400, 3, Layout(form="xlsx", title=("Stock take", ""), total=True))
def stock(t: Draft) -> None:
    t.names("shelf", ("A", "B", "C", "D")).number("pieces", 120, 14, write.whole(), low=1).number(
        "value", 900, 0.25, write.plain(), log=True
    )
    t.order("turnover", LOW, gap=2.4)


@table(1600, 3, holes=0.05)
def employees(t: Draft) -> None:
    t.aside("employee_id", range(10_000, 10_000 + t.n)).number(
        "salary", 48_000, 0.16, write.dollars, log=True, blank="unknown"
    )
    t.number("tenure", 7, 1.2, write.unit("years"), low=0, blank="-").order(
        "education", ("primary", "secondary", "bachelor", "master", "doctorate")
    )
    t.yes_no("remote", "FALSE", "TRUE").order(
        "satisfaction", ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied")
    )
    t.moments("hired", write.american, mean=-1200, sd=320)


@table(6000, 3)
def web(t: Draft) -> None:
    t.aside("session", write.uuids(t.n, t.rng)).number("load", 1.4, 0.3, write.unit("s", 2), log=True)
    t.number("size", 800, 0.4, write.unit("KB", 0), log=True).number(
        "bounce", 35, 5, write.percent(), low=0, high=100
    )
    t.names("browser", ("Firefox", "Chrome", "Safari", "Edge")).aside(
        "referrer", write.skewed(write.surnames(400, t.rng), t.n, t.rng), "crowd"
    )


@table(300, 2)
def wine(t: Draft) -> None:
    t.number("alcohol", 12.5, 0.6, write.unit("% vol", 1)).number(
        "sugar", 6, 0.4, write.unit("g/l"), log=True
    )
    t.order("rating", tuple("12345"), gap=2.6).number("price", 14, 0.25, write.euros, log=True).yes_no(
        "organic"
    )


@table(5000, 6)
def stations(t: Draft) -> None:
    t.aside("station", write.ids(t.n, t.rng, "ST{}")).towns("lat", "lon", 0.4).number(
        "elevation", 400, 60, write.unit("m", 0)
    )
    t.number("rain", 700, 0.15, write.unit("mm", 0), log=True).number(
        "temperature", 10, 1.1, write.unit("°C")
    )


@table(1400, 3)
def credit(t: Draft) -> None:
    t.aside("account", write.ids(t.n, t.rng, "00{}")).number("limit", 4000, 0.35, write.thousands(), log=True)
    t.number("used", 45, 7, write.percent(""), low=0, high=100).number(
        "income", 2800, 300, write.whole()
    ).sentinel("income", "-1")
    t.number("score", 620, 40, write.whole()).sentinel("score", "9999", 0.05).yes_no("late", "No", "Yes")


@table(750, 3)
def exams(t: Draft) -> None:
    t.aside("pupil", write.surnames(t.n, t.rng)).number("maths", 60, 6, write.whole(), low=0, high=100)
    t.number("reading", 62, 6, write.whole(), low=0, high=100).order("grade", ("F", "D", "C", "B", "A"))
    t.counts("absences", 2, 2.4).aside("school", ["Northside"] * t.n)


@table(1300, 4, replace(GERMAN, total=True))
def energie(t: Draft) -> None:
    t.aside("Zähler", write.ids(t.n, t.rng, "Z{}")).number(
        "Verbrauch", 3500, 0.22, write.thousands("."), log=True
    )
    t.number("Fläche", 110, 12, write.comma(1)).names("Heizung", ("Öl", "Gas", "Wärmepumpe", "Fernwärme"))
    t.number("Preis", 31, 1.4, write.comma(2))


@table(2200, 3)
def messages(t: Draft) -> None:
    t.aside("text", write.remarks(t.n, t.rng)).aside("sender", write.mails(t.n, t.rng))
    t.daily("sent", write.moment("%m/%d/%Y %I:%M %p")).counts("attachments", 0.7, 2.5).number(
        "size", 40, 0.5, write.unit("kB", 0), log=True
    )
    t.order("priority", LOW)


@table(950, 3, holes=0.06)
def gardens(t: Draft) -> None:
    t.number("height", 1.6, 0.15, write.unit("m", 2), low=0.1, blank="?").number(
        "ph", 6.5, 0.3, write.plain(1), blank="NA"
    )
    t.names("soil", ("clay", "sand", "loam"), blank="unknown").order(
        "sun", ("full shade", "half shade", "sun"), gap=2.4
    )
    t.moments("planted", write.day("%d %b %Y"), sd=40)


@table(30_000, 3)
def meters(t: Draft) -> None:
    t.aside("row", range(t.n)).number("kwh", 9, 0.35, write.plain(3), log=True).number(
        "voltage", 230, 1.5, write.unit("V")
    )
    t.aside("vendor", ["ACME"] * t.n).number("load", 40, 5, write.percent("")).names(
        "tariff", ("day", "night", "flat")
    )


@table(520, 3)
def trips(t: Draft) -> None:
    t.number("nights", 6, 1, write.whole(), low=1).number("cost", 800, 0.25, write.euros, log=True)
    t.moments("from", write.day("%B %d, %Y"), sd=35).names(
        "purpose", ("business", "family", "visit", "sport")
    )
    t.order("comfort", ("poor", "fair", "good", "very good", "excellent"))


@table(1700, 4)
def shops(t: Draft) -> None:
    t.aside("shop_id", write.ids(t.n, t.rng)).number("area (m2)", 400, 40, write.whole()).number(
        "revenue (kEUR)", 900, 0.25, write.plain(1), log=True
    )
    t.number("rent [EUR/m2]", 24, 2, write.plain()).counts("staff", 3, 2.0).copy(
        "area (m2)", "area_sqft", lambda v: f"{v * 10.7639:.0f}"
    )
    t.names("region", ("north", "south", "east", "west")).aside(
        "manager", write.skewed(write.surnames(300, t.rng), t.n, t.rng), "crowd"
    )


@table(850, 2, Layout(form="jsonl"))
def posts(t: Draft) -> None:
    t.aside("id", write.ids(t.n, t.rng, "{}")).counts("likes", 8, 3.0).vector("topic", 4)
    t.aside("text", write.remarks(t.n, t.rng)).yes_no("picture", "false", "true").number(
        "length", 120, 0.3, write.whole(), log=True
    )


@table(1000, 5)
def animals(t: Draft) -> None:
    t.number("mass", 4, 0.4, write.unit("kg", 2), log=True).number("length", 60, 6, write.unit("cm"))
    t.order("activity", OFTEN, gap=2.2).names("coat", ("short", "long", "wire", "curly")).number(
        "heart", 90, 8, write.unit("bpm", 0)
    )
