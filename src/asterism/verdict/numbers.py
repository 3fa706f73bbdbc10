"""Numbers of groups as text: the same on the command line and in Python."""

from __future__ import annotations

import re

from asterism.errors import ParameterError


def numbers_from(text: str) -> int | range:
    """``"3"``, or ``"2:6"`` for all numbers from 2 to 6.

    >>> numbers_from("3"), numbers_from("2:6")
    (3, range(2, 7))
    """
    found = re.fullmatch(r"\s*(\d+)\s*(?::\s*(\d+)\s*)?", text)
    if not found:
        raise ParameterError(
            f"{text!r} is not a number of groups.", "Write 3 for three groups, or 2:10 to try a range."
        )
    low = int(found[1])
    high = int(found[2]) if found[2] else low
    if low < 1:
        raise ParameterError(f"{text!r} asks for {low} groups.", "The least is 1 or more.")
    if high < low:
        raise ParameterError(f"{text!r} is empty.", f"Write the smaller number first: {high}:{low}.")
    return range(low, high + 1) if found[2] else low
