"""Numbers in text: money, percent, thousands separators, units, limits, negative amounts in parentheses.

    (1.234,50 EUR)     = opening, digits, decoration, closing        < 5  = a limit, taken where it lies

Both conventions are tried, ``1,234.50`` with a decimal point and ``1.234,50`` with a decimal comma, and a
column has one of them: the one that more of its cells allow and the other does not. Where no cell decides
(``1,234``), the file's own convention does, else the point. A separator of thousands stands before every
three digits (or as in India).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from asterism.data.cells import is_text, not_a_number
from asterism.data.reading import Reading, all_numbers, all_texts, require
from asterism.data.units import MOST_UNITS, is_money
from asterism.data.unknown import is_word, spelled_missing

SPACES = " \u00a0\u202f\u2009"
LETTER = r"A-Za-z\x{80}-\x{10FFFF}"  # \pL takes RE2 a hundred times as long to compile, at every call
_BEFORE = r"[€$£¥₹₽₩₺]|[A-Za-z]{1,3}[$.]?|[Zz]ł"
_DIGITS = rf"\d[\d.,'’{SPACES}]*\d|\d[.,]?|[.,]\d+"
_AFTER = rf"[{LETTER}]{{1,4}}[23²³]|[%‰°\"'″′{LETTER}€$£¥₹₽₩₺][^\d()<>,;:|]{{0,14}}"
_AFTER_IN_PYTHON = r"|[^\W\d_]{1,15}|[%‰°\"'″′€$£¥₹₽₩₺][^\d()<>,;:|]{0,14}"
DECORATED = (
    rf"^(?P<open>\()?(?P<limit>[<>≤≥]=?)?\s?(?P<sign>[-+−–])?\s?(?P<before>{_BEFORE})?\s?(?P<minus>[-−–])?"
    rf"(?P<digits>{_DIGITS})(?P<power>[eE][-+]?\d+)?[-–]{{0,2}}(?P<inner>\))?\s?(?P<after>{_AFTER})?(?P<close>\))?$"
)
GATE = re.sub(r"\?P<\w+>", "?:", DECORATED)  # matching takes a tenth of what cutting apart takes
_SPACE = rf"['’{SPACES}]"
GROUPED = {  # digits that make sense where the point, or the comma, is decimal; no number starts with 00 or 01
    ".": rf"^(?:(?:0|[1-9]\d*)|[1-9]\d{{0,2}}(?:(?:,\d{{3}})+|(?:{_SPACE}\d{{3}})+)"
    r"|[1-9]\d?(?:,\d{2})+,\d{3})?(?:\.\d*)?$",
    ",": rf"^(?:(?:0|[1-9]\d*)|[1-9]\d{{0,2}}(?:(?:\.\d{{3}})+|(?:{_SPACE}\d{{3}})+))?(?:,\d*)?$",
}
CONVENTIONS = (".", ",")


@dataclass(frozen=True, eq=False)
class Parsed:
    """Cells of text as numbers, as far as they are that."""

    values: dict[str, NDArray[np.float64]]  # convention -> (n,); NaN where the cell is none under it
    units: NDArray[np.intp]  # (n,) place in ``names``; -1 where the cell is no number
    names: list[str]  # decorations, "before|after"
    limits: NDArray[np.bool_]  # (n,) whether it is a limit


def parsed(text: Any) -> Parsed:
    """Cells (an Arrow array of text without nulls), each under both conventions.

    >>> found = parsed(pa.array(["$1,234.50", "12 kg", "x", "(3)"]))
    >>> found.values["."].tolist(), [found.names[u] for u in found.units if u >= 0]
    ([1234.5, 12.0, nan, -3.0], ['$|', '|kg', '|'])
    """
    n = len(text)
    values = {convention: np.full(n, np.nan) for convention in CONVENTIONS}
    units, limits = np.full(n, -1), np.zeros(n, bool)
    names, alike = _alike(text, values)
    units[alike] = 0
    left = np.flatnonzero(~alike)
    some = text.take(pa.array(left)) if alike.any() else text
    gate = pc.match_substring_regex(some, GATE).to_numpy(zero_copy_only=False)
    place = left[gate]
    if not len(place):
        return Parsed(values, units, names, limits)
    some = some.filter(pa.array(gate))
    part = pc.extract_regex(some, DECORATED)
    piece = {name: pc.struct_field(part, name) for name in _names(part)}
    negative = _is(pc.not_equal(piece["minus"], "")) | _is(pc.is_in(piece["sign"], pa.array(["-", "−", "–"])))
    open_, inner, close = (_is(pc.not_equal(piece[name], "")) for name in ("open", "inner", "close"))
    closed = open_ & (inner ^ close)
    whole = closed | ~(open_ | inner | close)
    sign = np.where(negative | closed, -1.0, 1.0)
    for convention in CONVENTIONS:
        digits = piece["digits"]
        good = _is(pc.match_substring_regex(digits, GROUPED[convention])) & whole
        other = "," if convention == "." else "."
        bare = pc.replace_substring_regex(pc.replace_substring(digits, other, ""), rf"{_SPACE}", "")
        if convention == ",":
            bare = pc.replace_substring(bare, ",", ".")
        number = pc.if_else(pa.array(good), pc.binary_join_element_wise(bare, piece["power"], ""), None)
        values[convention][place] = sign * number.cast(pa.float64()).to_numpy(zero_copy_only=False)
    decoration = pc.binary_join_element_wise(
        piece["before"], pc.utf8_trim_whitespace(piece["after"]), "|"
    ).dictionary_encode()
    own = decoration.dictionary.to_pylist()
    units[place] = decoration.indices.to_numpy(zero_copy_only=False) + len(names)
    names = [*names, *own]
    limits[place] = _is(pc.not_equal(piece["limit"], ""))
    # Letters before the digits are a currency, or the cell is no number: A12, No. 7.
    code = np.array([not is_money(name.split("|", 1)[0]) for name in names])[units[place]]
    for convention in CONVENTIONS:
        values[convention][place[code]] = np.nan
    return Parsed(values, units, names, limits)


SIMPLE = re.compile(r"([^\d\s.,()<>≤≥+−–-]*)(\s?)([\d.,]+)(\s?)([^\d\s.,()]*)")


def _alike(text: Any, values: dict[str, NDArray[np.float64]]) -> tuple[list[str], NDArray[np.bool_]]:
    """Cells that are decorated like the first one and have no sign: those of most columns, read at once.

    The name of the decoration, and (n,) which cells are so; their values are put in place.
    """
    found = SIMPLE.fullmatch(text[0].as_py()) if len(text) > 1 else None
    if not found or not is_money(found[1]) or not re.fullmatch(_AFTER_IN_PYTHON, found[5]):
        return [], np.zeros(len(text), bool)
    before, after = found[1] + found[2], found[4] + found[5]
    mine = _is(pc.and_(pc.starts_with(text, before), pc.ends_with(text, after)))
    core = pc.utf8_slice_codeunits(text, len(before), -len(after) if after else None)
    good = np.zeros(len(text), bool)
    for convention, other in ((".", ","), (",", ".")):
        number = (
            _is(pc.match_substring_regex(core, GROUPED[convention])) & mine & (_is(pc.not_equal(core, "")))
        )
        number &= _is(pc.match_substring_regex(core, "^[0-9.,]*[0-9][0-9.,]*$"))
        bare = pc.replace_substring(core, other, "")
        if convention == ",":
            bare = pc.replace_substring(bare, ",", ".")
        some = pc.if_else(pa.array(number), bare, None).cast(pa.float64()).to_numpy(zero_copy_only=False)
        values[convention][:] = some
        good |= number
    return [f"{found[1]}|{found[5]}"], good


def _names(part: Any) -> list[str]:
    return [part.type.field(i).name for i in range(part.type.num_fields)]


def _is(mask: Any) -> NDArray[np.bool_]:
    values: NDArray[np.bool_] = mask.to_numpy(zero_copy_only=False)
    return values


# --- what is known of a column -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decorated:
    """Cells that are numbers with decoration, counted."""

    point: int = 0  # cells that are numbers where the point is decimal
    comma: int = 0
    only_point: int = 0  # those that are numbers under no other convention
    only_comma: int = 0
    limits: int = 0
    units: Mapping[str, int] | None = field(default_factory=dict)  # decorations; None: more than MOST_UNITS

    @classmethod
    def of(cls, found: Parsed, times: NDArray[np.int64]) -> Decorated:
        """Of cells that occur so many times."""
        point, comma = (~np.isnan(found.values[convention]) for convention in CONVENTIONS)
        some = point | comma
        counts = np.bincount(found.units[some], times[some], len(found.names)).astype(int)
        units: dict[str, int] = {}
        for name, count in zip(found.names, counts.tolist(), strict=True):  # a name may stand there twice
            if count:
                units[name] = units.get(name, 0) + int(count)
        return cls(
            point=int(times[point].sum()),
            comma=int(times[comma].sum()),
            only_point=int(times[point & ~comma].sum()),
            only_comma=int(times[comma & ~point].sum()),
            limits=int(times[some & found.limits].sum()),
            units=units if len(units) <= MOST_UNITS else None,
        )

    def merge(self, other: Decorated) -> Decorated:
        """Counts add."""
        units = None
        if self.units is not None and other.units is not None:
            units = {
                name: self.units.get(name, 0) + other.units.get(name, 0)
                for name in self.units.keys() | other.units.keys()
            }
        return Decorated(
            self.point + other.point,
            self.comma + other.comma,
            self.only_point + other.only_point,
            self.only_comma + other.only_comma,
            self.limits + other.limits,
            units if units is None or len(units) <= MOST_UNITS else None,
        )


# --- how it is read ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Numbers(Reading):
    """Numbers with decoration, or with cells that stand for "not known".

    >>> prices = Numbers(decimal=",", units=(("|EUR", 1.0, 0.0),), sentinels=(-1.0,))
    >>> prices.cells({"price": pa.array(["1.234,50 EUR", "unknown", "-1 EUR"])}, "price", 0).to_pylist()
    [1234.5, None, None]
    """

    form: ClassVar[str] = "numbers"
    decimal: str = "."
    units: tuple[tuple[str, float, float], ...] = (("|", 1.0, 0.0),)  # decoration, factor, offset
    words: tuple[str, ...] = ()  # that stand for "not known" here
    usual: bool = True  # so do the words that usually do
    sentinels: tuple[float, ...] = ()  # numbers that do

    def __post_init__(self) -> None:
        """Check what may come from a file."""
        require(self.decimal in CONVENTIONS, "a decimal point or comma")
        for unit in self.units:
            require(
                len(unit) == 3 and isinstance(unit[0], str) and all_numbers(unit[1:]), "units with a scale"
            )
        require(all_texts(self.words) and type(self.usual) is bool, "words")
        require(all_numbers(self.sentinels), "numbers that stand for missing cells")

    def cells(self, batch: Mapping[str, Any], name: str, row: int) -> Any:
        """Numbers; a ``DataError`` for a cell that is none and does not stand for one."""
        values = self._values(batch[name], name, row)
        gone = np.isnan(values)
        for sentinel in self.sentinels:
            gone |= values == sentinel
        return pa.array(values, mask=gone)

    def _values(self, array: Any, name: str, row: int) -> NDArray[np.float64]:
        kind = array.type
        if pa.types.is_dictionary(kind):
            array, kind = array.dictionary_decode(), kind.value_type
        if not is_text(kind):
            return np.asarray(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
        text = pc.utf8_trim_whitespace(array.cast(pa.string()))
        if self.decimal == ".":
            with suppress(pa.ArrowInvalid):
                return np.asarray(text.cast(pa.float64()).to_numpy(zero_copy_only=False))
        return self._of_text(text, name, row)

    def _of_text(self, text: Any, name: str, row: int) -> NDArray[np.float64]:
        coded = text.dictionary_encode()
        found = parsed(coded.dictionary)
        scale = {unit: (factor, offset) for unit, factor, offset in self.units}
        factors = np.array([scale.get(unit, (np.nan, 0.0)) for unit in found.names] + [(np.nan, 0.0)])
        own = found.values[self.decimal] * factors[found.units, 0] + factors[found.units, 1]
        own = np.append(np.where(np.isnan(own), _special(coded.dictionary), own), np.nan)
        missing = np.append(_is(is_word(coded.dictionary, spelled_missing(self.words, self.usual))), True)
        place = pc.fill_null(coded.indices.cast(pa.int64()), len(coded.dictionary)).to_numpy(
            zero_copy_only=False
        )
        bad = (np.isnan(own) & ~missing)[place]
        if bad.any():
            first = int(np.argmax(bad))
            raise not_a_number(text[first].as_py(), name, row + first)
        return np.asarray(np.where(missing, np.nan, own)[place])


def _special(words: Any) -> NDArray[np.float64]:
    """Infinity and what Arrow reads besides, such as 007 where a column's numbers may start so."""
    plain = pc.match_substring_regex(words, r"^[+-]?(?:0\d+(?:\.\d*)?|(?i:inf|infinity))$")
    return np.asarray(pc.if_else(plain, words, None).cast(pa.float64()).to_numpy(zero_copy_only=False))
