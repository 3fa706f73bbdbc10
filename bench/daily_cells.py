"""How people write cells: numbers, money, shares, dates, names. Every function gives one text a number, or a name."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence

import numpy as np

Write = Callable[[float], str]
EPOCH = datetime.datetime(2023, 1, 1)


def plain(digits: int = 2) -> Write:
    """12.35"""
    return lambda x: f"{x:.{digits}f}"


def whole() -> Write:
    """12"""
    return lambda x: f"{round(x)}"


def unit(name: str, digits: int = 1, gap: str = " ") -> Write:
    """12.3 kg, 45cm"""
    return lambda x: f"{x:.{digits}f}{gap}{name}"


def comma(digits: int = 2) -> Write:
    """12,35"""
    return lambda x: f"{x:.{digits}f}".replace(".", ",")


def thousands(mark: str = ",") -> Write:
    """12,345 or 12.345 or 12 345"""
    return lambda x: f"{round(x):,}".replace(",", mark)


def dollars(x: float) -> str:
    """$1,234.50, and (12.50) for what is owed"""
    return f"${x:,.2f}" if x >= 0 else f"({-x:,.2f})"


def euros(x: float) -> str:
    """1.234,50 EUR"""
    return f"{x:,.2f}".translate(str.maketrans(",.", ".,")) + " EUR"


def pounds(x: float) -> str:
    """£12.50"""
    return f"£{x:,.2f}"


def percent(gap: str = " ") -> Write:
    """12.5 %"""
    return lambda x: f"{x:.1f}{gap}%"


def at_least(limit: float, digits: int = 1) -> Write:
    """<5 below what can be measured; the truth is cut there, too"""
    return lambda x: f"<{limit:g}" if x < limit else f"{x:.{digits}f}"


def clock(x: float) -> str:
    """14:35 of hours"""
    minutes = round(x * 60) % 1440
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def day(form: str = "%Y-%m-%d") -> Write:
    """2024-08-07 of days since the start of 2023"""
    return lambda x: (EPOCH + datetime.timedelta(days=int(x))).strftime(form)


def moment(form: str = "%Y-%m-%d %H:%M:%S") -> Write:
    """2024-08-07 14:35:00 of days, with their fractions"""
    return lambda x: (EPOCH + datetime.timedelta(days=float(x))).strftime(form)


def american(x: float) -> str:
    """8/7/2024"""
    date = EPOCH + datetime.timedelta(days=int(x))
    return f"{date.month}/{date.day}/{date.year}"


def ids(n: int, rng: np.random.Generator, form: str = "K{:06d}") -> list[str]:
    """One for each row, in no order."""
    return [form.format(number) for number in rng.permutation(900_000)[:n] + 100_000]


def uuids(n: int, rng: np.random.Generator) -> list[str]:
    """Random identifiers of 128 bits."""
    return ["-".join(h[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
            for h in (rng.bytes(16).hex() for _ in range(n))]  # fmt: skip


FIRST = (  # noqa: SIM905  a list of words is read best as a sentence
    "anna ben carla david emma felix greta hugo ines jonas klara leo mia noah olga paul rosa tom vera yusuf"
).split()
SYLLABLES = (  # noqa: SIM905  a list of words is read best as a sentence
    "ba be bo da de fel gar hal in ka kor la len ma mer mi nor o pel ra ri ros sa sel ta ter ul van vi wol"
).split()
WORDS = (  # noqa: SIM905  a list of words is read best as a sentence
    "the order came late and box was open please call back about delivery thank you great service will "
    "buy again color not as shown size fits well refund asked twice no answer friendly staff parking hard "
    "to find recommended"
).split()


def surnames(many: int, rng: np.random.Generator) -> list[str]:
    """Made-up names, each once."""
    found: dict[str, None] = {}
    while len(found) < many:
        found["".join(rng.choice(SYLLABLES, int(rng.integers(2, 4)))).capitalize()] = None
    return list(found)


def skewed(names: Sequence[str], n: int, rng: np.random.Generator) -> list[str]:
    """Names by Zipf's law: a few are frequent, most are rare."""
    share = 1 / np.arange(1, len(names) + 1)
    return [names[j] for j in rng.choice(len(names), n, p=share / share.sum())]


def mails(n: int, rng: np.random.Generator) -> list[str]:
    """One a row."""
    return [
        f"{FIRST[rng.integers(len(FIRST))]}.{number}@example.org" for number in rng.permutation(10 * n)[:n]
    ]


def remarks(n: int, rng: np.random.Generator) -> list[str]:
    """Free text of 6 to 18 words."""
    return [" ".join(rng.choice(WORDS, int(rng.integers(6, 19)))).capitalize() + "." for _ in range(n)]


def phones(n: int, rng: np.random.Generator) -> list[str]:
    """+49 171 2345678"""
    return [f"+49 {rng.integers(150, 180)} {rng.integers(10**6, 10**7)}" for _ in range(n)]


def zips(n: int, rng: np.random.Generator) -> list[str]:
    """Five digits, some with leading zeros; of no use."""
    return [
        f"{rng.integers(1001, 9999):05d}" if rng.random() < 0.3 else f"{rng.integers(10000, 99999)}"
        for _ in range(n)
    ]
