"""Units that cells are written with, and those that can be turned into each other.

A unit is what stands before and after the digits: ``$``, ``kg``, ``%``, ``k``. Units of one dimension are
converted to the one that most cells have, ``value * factor + offset``; money is not, for no rate of exchange
is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

MONEY = (
    "€ $ £ ¥ ₹ ₽ ₩ ₺ zł US$ A$ C$ R$ USD EUR GBP CHF JPY CNY INR CAD AUD NZD SEK NOK DKK PLN CZK HUF BRL MXN ZAR "  # noqa: SIM905
    "RUB TRY KRW SGD HKD ILS AED SAR Euro Euros Dollar Dollars Rs Rs. Fr. kr kr. Kč Ft".split()
)
SAME_MONEY = {
    "€": "EUR", "euro": "EUR", "euros": "EUR", "$": "USD", "us$": "USD", "dollar": "USD", "dollars": "USD",
    "£": "GBP", "rs": "INR", "rs.": "INR", "₹": "INR", "fr.": "CHF", "c$": "CAD", "a$": "AUD", "r$": "BRL",
    "zł": "PLN", "kč": "CZK", "ft": "HUF", "₽": "RUB", "₺": "TRY", "kr.": "kr",
}  # fmt: skip

KNOWN_MONEY = frozenset(name.lower() for name in MONEY)

Scale = tuple[float, float]  # factor and offset to the unit that the dimension is counted in


def _scales(text: str, *, exact: bool = False) -> dict[str, Scale]:
    """``g 1, kg 1000`` and further spellings by a bar: ``lb|lbs 453.6``."""
    out: dict[str, Scale] = {}
    for item in text.split(", "):
        names, factor = item.rsplit(" ", 1)
        out |= {name if exact else name.lower(): (float(factor), 0.0) for name in names.split("|")}
    return out


DIMENSIONS: dict[str, dict[str, Scale]] = {
    "mass": _scales(
        "µg|mcg 1e-6, mg 1e-3, g|gr|gram|grams|gramm 1, kg|kgs|kilo|kilos|kilogram|kilograms 1e3, "
        "t|ton|tons|tonnes 1e6, lb|lbs|pound|pounds 453.59237, oz|ounce|ounces 28.349523125, "
        "st|stone 6350.29318"
    ),
    "length": _scales(
        "nm 1e-9, µm|um 1e-6, mm 1e-3, cm 1e-2, dm 0.1, m|meter|meters|metre|metres 1, "
        'km|kms|kilometer|kilometers 1e3, in|inch|inches|"|″ 0.0254, ft|feet|foot|\'|′ 0.3048, yd|yard|yards 0.9144, '
        "mi|mile|miles 1609.344"
    ),
    "time": _scales(
        "ns 1e-9, µs|us 1e-6, ms|msec 1e-3, s|sec|secs|second|seconds|sek 1, min|mins|minute|minutes 60, "
        "h|hr|hrs|hour|hours|std 3600, d|day|days|tag|tage 86400, w|wk|week|weeks|wochen 604800, "
        "month|months|mo 2629746, y|yr|yrs|year|years|jahre 31556952"
    ),
    "volume": _scales("ml 1e-3, cl 1e-2, dl 0.1, l|liter|liters|litre|litres|ltr 1, m3|m³ 1e3, "
        "gal|gallon|gallons 3.785411784"),
    "area": _scales("cm2|cm² 1e-4, m2|m²|sqm|qm 1, km2|km² 1e6, ha 1e4, "
        "sqft|ft2|ft²|sq ft 0.09290304, acre|acres 4046.8564224"),
    "speed": _scales("m/s 1, km/h|kmh|kph 0.2777777777777778, mph 0.44704, kn|knots 0.5144444444444444"),
    "energy": _scales("j 1, kj 1e3, mj 1e6, cal 4.184, kcal 4184, wh 3600, kwh 3.6e6, mwh 3.6e9"),
    "power": _scales("mW 1e-3, W 1, kW|kw 1e3, MW 1e6, hp|PS 745.7", exact=True),
    "data": _scales("b|byte|bytes 1, kb|kib 1e3, mb|mib 1e6, gb|gib 1e9, tb|tib 1e12"),
    "temperature": {
        "°c": (1.0, 0.0), "c": (1.0, 0.0), "°f": (5 / 9, -160 / 9), "f": (5 / 9, -160 / 9), "k": (1.0, -273.15),
    },
    "share": _scales("% 1, percent 1, pct 1, ‰ 0.1, bp|bps 0.01"),
    "size": _scales("k|K|Tsd.|tsd 1e3, M|m|mn|Mio|Mio.|mio|million 1e6, B|bn|Mrd|Mrd.|billion 1e9", exact=True),
}  # fmt: skip
MOST_UNITS = 40  # different decorations of a column that are counted; one with more has no units
RARE = 0.02  # share of the cells: so few may lack the unit that all others have, and be of it all the same


@dataclass(frozen=True, slots=True)
class Units:
    """What the decorations of a column mean."""

    name: str  # that values are counted in; "" for bare numbers
    scales: tuple[tuple[str, float, float], ...]  # decoration -> factor and offset to that unit
    said: str = ""  # what was converted, for people

    def with_bare(self) -> tuple[tuple[str, float, float], ...]:
        """The scales, and that of a number without any decoration: it is in the unit of the others."""
        bare = any(unit == "|" for unit, _, _ in self.scales)
        return self.scales if bare else (("|", 1.0, 0.0), *self.scales)


def is_money(text: str) -> bool:
    """Whether it is a currency, or nothing."""
    return not text or text.lower() in KNOWN_MONEY


def units_of(counts: Mapping[str, int]) -> Units | str:
    """Units of a column by its decorations ("before|after" -> cells), or why it has none that go together.

    >>> units_of({"|kg": 9, "|g": 1}).scales, units_of({"$|": 8, "€|": 2})
    ((('|g', 0.001, 0.0), ('|kg', 1.0, 0.0)), 'amounts in USD and EUR: no rate of exchange is known')
    """
    if not counts:
        return Units("", (("|", 1.0, 0.0),))
    money, sizes = _parted(counts)
    kinds = {name for name in money.values() if name}
    if len(kinds) > 1:
        return f"amounts in {' and '.join(sorted(kinds, key=_by_count(counts, money)))}: no rate of exchange is known"
    if kinds or (set(sizes.values()) <= {"", *DIMENSIONS["size"]} and set(sizes.values()) != {""}):
        unknown = set(sizes.values()) - {"", *DIMENSIONS["size"]}
        if unknown:
            return f"amounts and numbers in {', '.join(sorted(unknown))} mixed"
        factor = {"": (1.0, 0.0)} | DIMENSIONS["size"]
        scales = tuple((key, *factor[sizes[key]]) for key in sorted(counts))
        return Units(next(iter(kinds), ""), scales)
    return _measures(counts, {key: key.split("|", 1)[1] for key in counts})


def _by_count(counts: Mapping[str, int], names: Mapping[str, str]) -> Callable[[str], int]:
    return lambda name: -sum(count for key, count in counts.items() if names[key] == name)


def _parted(counts: Mapping[str, int]) -> tuple[dict[str, str], dict[str, str]]:
    """The currency of each decoration, and what else stands behind the digits."""
    money, sizes = {}, {}
    for key in counts:
        before, after = (part.strip() for part in key.split("|", 1))
        currency, rest = before, after
        for name in sorted(MONEY, key=len, reverse=True) if not before else ():
            low = after.lower()
            if (
                low == name.lower()
                or low.endswith(" " + name.lower())
                or (len(name) == 1 and low.endswith(name))
            ):
                currency, rest = name, after[: len(after) - len(name)].strip()
                break
        money[key] = SAME_MONEY.get(
            currency.lower(), currency.upper() if currency.lower() in KNOWN_MONEY else currency
        )
        sizes[key] = rest
    return money, sizes


def _measures(counts: Mapping[str, int], units: Mapping[str, str]) -> Units | str:
    """Units that are no money: all alike, or of one dimension."""
    by_unit: dict[str, int] = {}
    for key, count in counts.items():
        by_unit[units[key]] = by_unit.get(units[key], 0) + count
    bare = by_unit.pop("", 0)
    most = max(by_unit, key=lambda unit: (by_unit[unit], unit)) if by_unit else ""
    if not by_unit:
        return Units("", tuple((key, 1.0, 0.0) for key in sorted(counts)))
    alike = {_plain(unit) for unit in by_unit}
    if len(alike) == 1:
        said = f"{bare:,} cells without a unit are taken for {most}" if bare else ""
        return Units(most, tuple((key, 1.0, 0.0) for key in sorted(counts)), said)
    scales = _common(by_unit)
    total = bare + sum(by_unit.values())
    if scales is None or bare > RARE * total:
        listed = ", ".join(sorted(by_unit, key=lambda unit: -by_unit[unit])[:4])
        return f"numbers in units that do not go together ({listed}{', and some in none' if bare else ''})"
    factor, offset = scales[most]
    table = {unit: (f / factor, (o - offset) / factor) for unit, (f, o) in scales.items()} | {"": (1.0, 0.0)}
    others = sum(count for unit, count in by_unit.items() if scales[unit] != scales[most])
    return Units(
        most,
        tuple((key, *table[units[key]]) for key in sorted(counts)),
        f"{others:,} cells in other units converted" if others else "",
    )


def _plain(unit: str) -> str:
    """A unit without what does not change it: case, a full stop, an s at the end."""
    short = unit.lower().rstrip(".")
    return short[:-1] if len(short) > 3 and short.endswith("s") else short


def _common(by_unit: Mapping[str, int]) -> dict[str, Scale] | None:
    """The scales of these units in the first dimension that has all of them."""
    for known in DIMENSIONS.values():
        found = {unit: known.get(unit) or known.get(unit.lower().rstrip(".")) for unit in by_unit}
        if all(found.values()):
            return {unit: scale for unit, scale in found.items() if scale is not None}
    return None
