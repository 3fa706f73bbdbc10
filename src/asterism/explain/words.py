"""Numbers and names as people write them."""

from __future__ import annotations

import math


def number_text(value: float, digits: int = 4) -> str:
    """About four digits, no exponent where it can be helped.

    >>> [number_text(x) for x in (3.14159, 2007.0, 41234.5, 0.00012345, 1.5e9, -0.0)]
    ['3.142', '2007', '41,234', '0.0001234', '1.5e+09', '0']
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    if 1e4 <= abs(value) < 1e7:
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    if "e" in text and 1e-6 < abs(value) < 1e4:
        return f"{value:.{digits + 3}f}"
    return text


def exact_text(value: float) -> str:
    """The shortest text that is the number again: for thresholds, which must divide as they are written.

    >>> [exact_text(x) for x in (41.4, 3860.0, 51234.5, 1e-7)]
    ['41.4', '3860', '51234.5', '1e-07']
    """
    return repr(float(value)).removesuffix(".0")


def listed(words: list[str], last: str = "and") -> str:
    """Words with commas, and one word before the last.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}" if words else ""
