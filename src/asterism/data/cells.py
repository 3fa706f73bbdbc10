"""Cells of an Arrow array as numbers, or as codes into levels. Null and NaN are missing."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from asterism.errors import DataError

# What Arrow's own cast from text to float64 takes; it stops at the first cell that is not of this form.
NUMBER = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: Any) -> bool:
    """Whether an Arrow type holds real numbers (a truth value is none)."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def plain(array: Any) -> Any:
    """Dates and times as text, so that they can be names; everything else as it is."""
    return array.cast(pa.string()) if pa.types.is_temporal(array.type) else array


def numbers_in_text(text: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values (n,), NaN where missing or not a number, and (n,) whether a cell is text and not a number.

    >>> numbers_in_text(pa.array(["1", "x", None]))
    (array([ 1., nan, nan]), array([False,  True, False]))
    """
    text = text.cast(pa.string()) if not pa.types.is_string(text.type) else text
    try:
        if not _has_word(text):  # a cast that fails takes thirty times as long as one that does not
            return _floats(text.cast(pa.float64())), np.zeros(len(text), bool)
        raise pa.ArrowInvalid
    except pa.ArrowInvalid:
        number = pc.match_substring_regex(text, NUMBER)
        values = pc.if_else(number, text, pa.scalar(None, pa.string())).cast(pa.float64())
        words = pc.fill_null(pc.invert(number), False)
        return _floats(values), words.to_numpy(zero_copy_only=False)


def _has_word(text: Any) -> bool:
    """Whether one of a few cells is no number."""
    some = (text[i].as_py() for i in (0, len(text) // 2, -1)) if len(text) else ()
    return any(cell is not None and not re.match(NUMBER, cell) for cell in some)


def as_numbers(array: Any, name: str, row: int) -> NDArray[Any]:
    """Cells as float32 if they are that, else as float64; NaN is missing. ``row`` is that of the first."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_float32(array.type):
        return _floats(array)
    if is_text(array.type):
        values, words = numbers_in_text(array)
        if words.any():
            place = int(np.argmax(words))
            raise not_a_number(array[place].as_py(), name, row + place)
        return values
    # safe=False: whole numbers beyond 2^53 are rounded, as everywhere in floating point
    return _floats(array.cast(pa.float64(), safe=False))


def as_counts(array: Any, name: str, row: int) -> NDArray[Any]:
    """Cells as whole numbers from 0 on; NaN is missing. ``row`` is that of the first cell."""
    values = as_numbers(array, name, row)
    with np.errstate(invalid="ignore"):
        wrong = ~np.isnan(values) & ~((values >= 0) & (np.floor(values) == values) & np.isfinite(values))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise DataError(
            f"{float(values[place]):g} is no count.",
            f"Counts are 0, 1, 2, ...; correct the cell, or make the column {name}=numeric.",
            row=row + place,
            column=name,
        )
    return values


def not_a_number(text: str, name: str, row: int) -> DataError:
    """What to say of a word among numbers."""
    return DataError(
        f"{_short(text)} is not a number.",
        "Correct the cell, or empty it if the value is not known; or give the column another kind "
        f"({name}=categorical, {name}=ignored).",
        row=row,
        column=name,
    )


def as_codes(array: Any, lookup: Mapping[str, int], name: str, row: int) -> NDArray[np.float64]:
    """Cells as places of their names in the levels; NaN is missing. ``row`` is that of the first cell."""
    if not pa.types.is_dictionary(array.type):
        array = plain(array).dictionary_encode()
    names = [spelled(value) for value in array.dictionary.to_pylist()]
    codes = np.array([math.nan if s is None else lookup.get(s, -1) for s in names] + [math.nan])
    places = pc.fill_null(array.indices.cast(pa.int64()), len(names)).to_numpy(zero_copy_only=False)
    cells: NDArray[np.float64] = codes[places]
    unknown = cells < 0
    if unknown.any():
        place = int(np.argmax(unknown))
        found = names[places[place]]
        raise DataError(
            f"{_short(str(found))} is none of the levels {_listed(list(lookup))}.",
            "Correct the cell, or name this level too.",
            row=row + place,
            column=name,
        )
    return cells


def spelled(value: Any) -> str | None:
    """The name of a level: 3.0 and 3 are '3', True is 'true', NaN is no level.

    >>> [spelled(v) for v in (3.0, 2.5, True, "a", float("nan"), None)]
    ['3', '2.5', 'true', 'a', None, None]
    """
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _floats(array: Any) -> NDArray[Any]:
    values: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return values


def _short(text: str, most: int = 40) -> str:
    return repr(text if len(text) <= most else text[: most - 3] + "...")


def _listed(names: list[str], most: int = 10) -> str:
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")
