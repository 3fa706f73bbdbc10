"""A name and a sentence for a group, from the columns that set it apart most.

    flipper_length_mm much higher  ->  "long flipper"        body_mass_g much higher  ->  "heavy"
    income lower                   ->  "low income"          island mostly Biscoe     ->  "Biscoe"

Names are suggestions: a table's own words, short enough for a legend, no two alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from asterism.data.columns import NUMBERS
from asterism.explain.effects import Effect
from asterism.explain.words import listed, number_text

UNITS = frozenset(  # words read better than a list of quotes
    "mm cm m km um nm g kg mg lb lbs oz t s sec min h hr ms usd eur gbp pct percent deg c f k l ml sqm sqft "  # noqa: SIM905  a list of words reads better
    "m2 m3 cm2 mmhg bpm kwh kw w v hz px".split()
)
ADJECTIVES = {  # last word of a column's name -> what more of it is called, what less
    "length": ("long", "short"),
    "width": ("wide", "narrow"),
    "depth": ("deep", "shallow"),
    "height": ("tall", "short"),
    "mass": ("heavy", "light"),
    "weight": ("heavy", "light"),
    "age": ("old", "young"),
    "speed": ("fast", "slow"),
    "price": ("expensive", "cheap"),
    "cost": ("expensive", "cheap"),
    "size": ("large", "small"),
    "area": ("large", "small"),
    "temperature": ("warm", "cold"),
    "distance": ("far", "near"),
    "duration": ("long", "short"),
}
WHOLE = frozenset(["body", "total", "overall"])  # "heavy" says "heavy body"
YES = frozenset(["yes", "true", "1", "y", "t", "on"])
NO = frozenset(["no", "false", "0", "n", "f", "off"])
WEAK = 0.2  # strength below which a column names nothing
BESIDE = 0.5  # a second trait must be so strong beside the first
LONGEST = 60  # characters of a name


def suggested_names(effects: Sequence[Sequence[Effect]]) -> list[str]:
    """A name for every group, given the effects of each, the strongest first.

    >>> tall = Effect("height_cm", "numeric", 2.0, 0.9, 190.0, 170.0, None, None)
    >>> small = Effect("height_cm", "numeric", -2.0, 0.9, 170.0, 190.0, None, None)
    >>> suggested_names([[tall], [small]])
    ['tall', 'short']
    """
    if len(effects) == 1:
        return ["all rows"]
    words = [_words(each) for each in effects]
    names = [", ".join(each[:2]) for each in words]
    for length in (3, 4):  # a name that another group has too is made longer
        doubled = {name for name in names if names.count(name) > 1}
        names = [
            ", ".join(each[:length]) if name in doubled else name
            for name, each in zip(names, words, strict=True)
        ]
    seen: dict[str, int] = {}
    unique = []
    for name in (_cut(name) for name in names):
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def sentence(effects: Sequence[Effect], size: int, share: float) -> str:
    """A group in one plain sentence."""
    rows = f"{size:,} row{'s' if size != 1 else ''} ({share:.0%} of the total)"
    told = [_clause(e) for e in effects[:3] if e.strength >= WEAK and e.value is not None]
    if not told:
        return f"{rows} that no single column sets apart."
    return f"{rows}; beside the other rows, {listed(told)}."


def _words(effects: Sequence[Effect]) -> list[str]:
    strong = [e for e in effects if e.strength >= WEAK and e.value is not None]
    if not strong:
        return ["in between"]
    near = [e for e in strong if e.strength >= BESIDE * strong[0].strength]
    words: list[str] = []
    for effect in [*near, *[e for e in strong if e not in near]]:
        word = _word(effect)
        if word not in words:
            words.append(word)
    return words[: max(len(near), 1)] if len(near) > 1 else words


def _word(effect: Effect) -> str:
    if effect.kind in NUMBERS and isinstance(effect.value, str):  # a date
        return f"{'late' if effect.size > 0 else 'early'} {' '.join(_tokens(effect.column)) or effect.column}"
    if effect.kind in (*NUMBERS, "ordinal"):
        return _more_or_less(effect.column, effect.size > 0)
    level, name = str(effect.value), " ".join(_tokens(effect.column)) or effect.column
    if effect.kind == "boolean" and level.lower() in YES | NO:
        return name if level.lower() in YES else f"not {name}"
    if re.fullmatch(r"[\d.,+-]*|.{1,2}", level):  # "3" alone says nothing
        return f"{name} {level}"
    return level


def _more_or_less(column: str, more: bool) -> str:
    tokens = _tokens(column)
    if not tokens:
        return f"{'high' if more else 'low'} {column}"
    pair = ADJECTIVES.get(tokens[-1])
    if pair is None:
        return f"{'high' if more else 'low'} {' '.join(tokens)}"
    rest = [token for token in tokens[:-1] if token not in WHOLE]
    return " ".join([pair[0] if more else pair[1], *rest])


def _tokens(column: str) -> list[str]:
    """The words of a column's name, without its unit."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column)  # bodyMass
    spaced = re.sub(r"[\(\[].{0,20}[\)\]]", " ", spaced)  # body mass (g)
    words = [word for word in re.split(r"[\s_.\-/]+", spaced) if word]
    while len(words) > 1 and words[-1].lower() in UNITS:
        words.pop()
    return [word.lower() if word.istitle() or word.islower() else word for word in words]


def _clause(effect: Effect) -> str:
    name = effect.column
    if effect.kind in NUMBERS and isinstance(effect.value, float) and isinstance(effect.elsewhere, float):
        way = "higher" if effect.size > 0 else "lower"
        return f"{name} is {way} ({number_text(effect.value)} against {number_text(effect.elsewhere)})"
    if effect.kind in NUMBERS and effect.elsewhere is not None:  # a date
        return f"{name} is {'later' if effect.size > 0 else 'earlier'} ({effect.value} against {effect.elsewhere})"
    if effect.kind == "ordinal":
        way = "higher" if effect.size > 0 else "lower"
        return f"{name} is {way} (mostly {effect.value} against {effect.elsewhere})"
    here, rest = effect.share or 0.0, effect.share_elsewhere or 0.0
    return f"{name} is {effect.value} for {here:.0%} (against {rest:.0%})"


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1].rstrip() + "…"
