"""What stands where a value is not known: words such as ``n/a``, and numbers such as 99 or -1.

Words are told by their spelling. A number is told by spelling and place: it is one of those that people use, comes
again, and lies apart from all others,

* beyond them by as much as they spread, ``v - high >= high - low``  (99 on a scale from 1 to 5);
* or above them with an empty stretch and a heap of cells such as the others have not (99 among ages);
* or it is the only negative number, with a heap of cells or away from 0  (-1 among counts).

Whatever is taken for missing is said, and can be overruled: ``na={"q1": ()}`` (``--na q1=``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Spellings in any case, of any kind of column.
WORDS = frozenset(
    {
        *("", "-", "--", "---", "–", "—", "?", "??", "???", ".", "..", "...", "…", "/"),
        *("na", "n/a", "n.a.", "n.a", "n. a.", "#n/a", "<na>", "nan", "-nan", "null", "(null)", "nil", "nat"),
        *("#null!", "#value!", "#ref!", "#div/0!", "#num!", "#name?", "#n/v", "#wert!", "#bezug!"),
        *(
            "missing",
            "(missing)",
            "unknown",
            "(unknown)",
            "unk",
            "not known",
            "not available",
            "not applicable",
        ),
        *(
            "not specified",
            "unspecified",
            "not provided",
            "not given",
            "not stated",
            "not recorded",
            "undefined",
        ),
        *("no data", "no answer", "no response", "not answered", "blank", "(blank)", "(empty)", "empty"),
        *(
            "unbekannt",
            "k.a.",
            "k. a.",
            "k.a",
            "ka",
            "keine angabe",
            "keine angaben",
            "fehlt",
            "n.v.",
            "n. v.",
        ),
        *(
            "inconnu",
            "inconnue",
            "non renseigné",
            "nd",
            "n.d.",
            "n/d",
            "desconocido",
            "sin datos",
            "sconosciuto",
        ),
        *("tbd", "tba", "tbc", "pending", "n.v.t.", "nvt", "onbekend", "okänd", "ukendt", "nieznany"),
    }
)
# More words that say so among numbers, dates and levels in order; elsewhere they may be names of their own.
ANSWERS = frozenset(
    {
        *(
            "none",
            "refused",
            "refuse",
            "declined",
            "don't know",
            "dont know",
            "do not know",
            "dk",
            "not sure",
        ),
        *("prefer not to say", "prefer not to answer", "weiß nicht", "weiss nicht", "ne sait pas", "no sabe"),
        *("xx", "xxx", "*", "**", "#", "err", "error", "invalid", "void", "nothing", "not measured"),
    }
)
ALL_WORDS = WORDS | ANSWERS
SURELY = WORDS - {
    "nd",
    "ka",
    "nil",
    "pending",
    "empty",
    "blank",
    "tbd",
    "tba",
    "tbc",
    "void",
    ".",
}  # in names

TOP = tuple(float(d * n) for d in ("9", "8", "7") for n in range(1, 8))  # 9, 99, ... 8, 88, ...
BOTTOM = tuple(
    -v for v in (1.0, 9.0, 8.0, 7.0, 99.0, 98.0, 97.0, 88.0, 77.0, 999.0, 998.0, 9999.0, 99999.0, 999999.0)
)
CANDIDATES = np.array(sorted({*TOP, *BOTTOM}))  # convention: the numbers that people write for "not known"

MIN_CELLS = 20  # convention: fewer cells do not show what a scale is
AGAIN = 2  # cells: a number that stands for "not known" comes again
HEAP = 3.0  # times as many cells as the others have on average
SPAN = 4.0  # numbers from 0 to here on at least, for -1 to be none of a small scale such as -1, 0, 1


def folded(text: Any) -> Any:
    """Cells in lower case without blanks around them."""
    return pc.utf8_lower(pc.utf8_trim_whitespace(text))


def is_word(text: Any, words: frozenset[str]) -> Any:
    """(n,) whether a cell is spelled like one of these."""
    return pc.fill_null(pc.is_in(folded(text), value_set=pa.array(sorted(words))), False)


def spelled_missing(words: tuple[str, ...], usual: bool) -> frozenset[str]:
    """Words that stand for "not known": these, and those that usually do."""
    mine = frozenset(word.strip().lower() for word in words)
    return mine | (ALL_WORDS if usual else frozenset({"", "nan"}))


@dataclass(frozen=True, slots=True)
class Absent:
    """What the user says stands for "not known" in a column."""

    words: tuple[str, ...] = ()
    alone: bool = False  # nothing else does

    @property
    def numbers(self) -> tuple[float, ...]:
        """Those of the words that are numbers."""
        found = []
        for word in self.words:
            with suppress(ValueError):
                found.append(float(word))
        return tuple(value for value in found if math.isfinite(value))

    def without(self, array: Any) -> Any:
        """The cells of an Arrow array, those that are not known made null."""
        kind = array.type
        if not self.words or pa.types.is_nested(kind) or pa.types.is_dictionary(kind):
            return array
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            gone = pc.is_in(
                array.cast(pa.float64(), safe=False), value_set=pa.array(self.numbers, pa.float64())
            )
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            gone = is_word(array.cast(pa.string()), spelled_missing(self.words, usual=False))
        else:
            return array
        return pc.if_else(pc.fill_null(gone, False), pa.scalar(None, kind), array)


def absences(na: Mapping[str, Any] | Sequence[Any] | str | None) -> tuple[dict[str, Absent], Absent]:
    """What the user says of each column, and of all others.

    A column ``*`` stands for all columns.

    >>> absences({"q1": [99], "note": ()})[0]["note"].alone, absences(["nix", 99])[1].numbers
    (True, (99.0,))
    """
    if na is None:
        return {}, Absent()
    if isinstance(na, Mapping):
        everywhere = Absent(_texts(na.get("*", ())))
        return {
            str(name): Absent(_texts(words), alone=True) for name, words in na.items() if name != "*"
        }, everywhere
    return {}, Absent(_texts(na))


def _texts(words: Any) -> tuple[str, ...]:
    listed = (words,) if isinstance(words, str | int | float) else tuple(words)
    return tuple(str(word) for word in listed if str(word).strip())


def candidates_in(values: Any) -> tuple[dict[float, int], float, float]:
    """How often the numbers that may stand for "not known" occur, and the range of all others.

    >>> candidates_in(np.array([1.0, 5.0, 99.0, 99.0, -1.0, 3.0]))
    ({-1.0: 1, 99.0: 2}, 1.0, 5.0)
    """
    place = np.minimum(np.searchsorted(CANDIDATES, values), len(CANDIDATES) - 1)
    mine = CANDIDATES[place] == values
    found, counts = np.unique(values[mine], return_counts=True)
    rest = values[~mine & np.isfinite(values)]
    return (
        dict(zip(found.tolist(), counts.tolist(), strict=True)),
        float(rest.min(initial=np.inf)),
        float(rest.max(initial=-np.inf)),
    )


def sentinels(
    counts: Mapping[float, int], low: float, high: float, levels: Mapping[float, int] | None = None
) -> tuple[float, ...]:
    """The numbers that stand for "not known".

    ``counts``   cells of each candidate
    ``low``      the least number that is no candidate; ``high``: the greatest
    ``levels``   cells of every number, where they are few enough to be known

    >>> sentinels({99.0: 7, 3.0: 2}, 1.0, 5.0), sentinels({9.0: 4}, 1.0, 10.0), sentinels({-1.0: 9}, 1.5, 80.0)
    ((99.0,), (), (-1.0,))
    """
    if levels is not None and sum(levels.values()) < MIN_CELLS:
        return ()
    if not counts or not low <= high:
        return _few_levels(levels)
    inside = [v for v in counts if low <= v <= high]
    left = sorted(v for v in counts if v not in inside)
    found: list[float] = []
    below = [v for v in left if v < low]
    above = [v for v in left if v > high]
    # From the inside out: a candidate that is near enough to the others is one of them.
    while above and not _above(above[0], counts[above[0]], low, high, levels):
        high = above.pop(0)
    while below and not _below(below[-1], counts[below[-1]], low, high, levels):
        low = below.pop()
    found += [v for v in (*below, *above) if counts[v] >= AGAIN or _far(v, low, high)]
    return tuple(sorted(found))


def _few_levels(levels: Mapping[float, int] | None) -> tuple[float, ...]:
    """Columns such as 7, 8, 9 and 99, in which every number is a candidate."""
    if not levels or len(levels) < 3:
        return ()
    *rest, last = sorted(levels)
    far = last in TOP and last - rest[-1] >= 2 * max(rest[-1] - rest[0], 1.0)
    return (last,) if far and levels[last] >= AGAIN else ()


def _far(v: float, low: float, high: float) -> bool:
    return max(v - high, low - v) >= 10 * (high - low) > 0


def _above(v: float, count: int, low: float, high: float, levels: Mapping[float, int] | None) -> bool:
    gap, spread = v - high, high - low
    if spread <= 0 or v not in TOP:
        return False
    if (
        gap >= spread and gap > 1 and (v > 9 or low >= 1)
    ):  # 8 may be a count; on a scale from 1 to 5 it is not
        return True
    if levels is None or v < 99:
        return False
    upper = np.array(sorted(x for x in levels if (low + high) / 2 <= x <= high))
    if len(upper) < 3 or count < HEAP * np.mean([levels[x] for x in upper.tolist()]):
        return False
    return bool(gap >= 3 * np.diff(upper).max())


def _below(v: float, count: int, low: float, high: float, levels: Mapping[float, int] | None) -> bool:
    if low < 0 or v not in BOTTOM or high <= low:
        return False
    if low - v >= high - low and v < -1:
        return True
    if high < SPAN:
        return False
    near = 0 if levels is None else levels.get(low, 0)
    return low > 0 or v < -1 or (count >= AGAIN and count > 2 * near)
