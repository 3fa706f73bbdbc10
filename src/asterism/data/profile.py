"""What is known of a column after one look at its cells: a statistic, so a stream of any length has one.

It is what kinds are inferred from (``infer``). A column that looks like whole numbers for a hundred
thousand rows and then holds a word is no special case: counts of both are kept until the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from asterism.data.cells import as_numbers, is_number, is_text, numbers_in_text, plain, spelled

MOST_LEVELS = 10_000  # different spellings that are kept; a column with more has no levels
EXACT = 2.0**53  # whole numbers up to here are exact in float64


@dataclass(frozen=True, slots=True)
class Profile:
    """One column, or a part of it.

    >>> p = Profile.of(pa.array(["1", "2", None, "x"]), parse=True)
    >>> p.rows, p.missing, p.numbers, p.texts, p.first_text, sorted(p.levels)
    (4, 1, 2, 1, (3, 'x'), ['1', '2', 'x'])
    """

    rows: int = 0
    missing: int = 0  # null or NaN
    numbers: int = 0  # cells that are numbers
    texts: int = 0  # cells that are words (or truth values, or dates)
    whole: bool = True  # all numbers are whole
    low: float = np.inf  # smallest number
    high: float = -np.inf  # largest number
    fingerprint: int = 0  # sum of scrambled whole numbers modulo 2^64: tells a multiset of them
    characters: int = 0  # of all words together
    first_text: tuple[int, str] | None = None  # row and cell of the first word
    levels: frozenset[str] | None = frozenset()  # different spellings; None: more than MOST_LEVELS

    @property
    def observed(self) -> int:
        """Cells that are not missing."""
        return self.rows - self.missing

    @classmethod
    def of(cls, array: Any, start: int = 0, *, parse: bool = False, levels: bool = True) -> Profile:
        """The profile of an Arrow array whose first cell is row ``start``.

        ``parse``   look for numbers in text
        ``levels``  False: they are known to be too many already
        """
        array = plain(array)
        if parse and pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if is_number(array.type):
            values = as_numbers(array, "", start).astype(np.float64, copy=False)
            words = np.zeros(len(array), bool)
        elif is_text(array.type) and parse:
            values, words = numbers_in_text(array)
        else:
            values, words = np.full(len(array), np.nan), ~array.is_null().to_numpy(zero_copy_only=False)
        seen = values[~np.isnan(values)]
        whole = seen[(np.abs(seen) < EXACT) & (np.floor(seen) == seen)]
        texts = int(np.count_nonzero(words))
        return cls(
            rows=len(array),
            missing=len(array) - len(seen) - texts,
            numbers=len(seen),
            texts=texts,
            whole=len(whole) == len(seen),
            low=float(seen.min(initial=np.inf)),
            high=float(seen.max(initial=-np.inf)),
            fingerprint=fingerprint(whole),
            characters=_characters(array, words) if texts else 0,
            first_text=_first(array, words, start) if texts else None,
            levels=_levels(array) if levels else None,
        )

    def merge(self, other: Profile) -> Profile:
        """Both sets of rows."""
        levels = None if self.levels is None or other.levels is None else self.levels | other.levels
        firsts = [first for first in (self.first_text, other.first_text) if first is not None]
        return Profile(
            rows=self.rows + other.rows,
            missing=self.missing + other.missing,
            numbers=self.numbers + other.numbers,
            texts=self.texts + other.texts,
            whole=self.whole and other.whole,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            fingerprint=(self.fingerprint + other.fingerprint) % 2**64,
            characters=self.characters + other.characters,
            first_text=min(firsts, default=None),
            levels=levels if levels is not None and len(levels) <= MOST_LEVELS else None,
        )

    @property
    def consecutive(self) -> bool:
        """Whether the cells are low, low + 1, ..., high, each once, in any order: numbers of rows."""
        n = self.numbers
        if not self.whole or n != self.rows or n == 0 or self.high - self.low != n - 1:
            return False
        expected = 0
        for a in range(0, n, 1 << 16):  # in pieces: a long table has as many numbers as rows
            expected += fingerprint(self.low + np.arange(a, min(a + (1 << 16), n), dtype=np.float64))
        return expected % 2**64 == self.fingerprint


def fingerprint(whole: NDArray[np.float64]) -> int:
    """Sum of the splitmix64 scrambling of each number, modulo 2^64: the same in any order."""
    z = whole.astype(np.int64).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int(np.sum(z ^ (z >> np.uint64(31)), dtype=np.uint64))


def _levels(array: Any) -> frozenset[str] | None:
    if pa.types.is_dictionary(array.type):
        array = pc.take(array.dictionary, pc.drop_null(array.indices.unique()))  # only those in use
    different = array.unique()
    if len(different) > MOST_LEVELS + 2:  # null and NaN are no levels
        return None
    names = frozenset(s for s in map(spelled, different.to_pylist()) if s is not None)
    return names if len(names) <= MOST_LEVELS else None


def _characters(array: Any, words: NDArray[np.bool_]) -> int:
    if not is_text(array.type):
        return 0
    lengths = pc.fill_null(pc.utf8_length(array), 0).to_numpy(zero_copy_only=False)
    return int(lengths[words].sum())


def _first(array: Any, words: NDArray[np.bool_], start: int) -> tuple[int, str]:
    place = int(np.argmax(words))
    return start + place, str(spelled(array[place].as_py()))
