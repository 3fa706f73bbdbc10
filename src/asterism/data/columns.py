"""What a column is: its name, its kind, and its levels.

A kind is one of

* ``numeric``      numbers, where differences mean something
* ``categorical``  names without an order; cells are codes 0..L-1 into ``levels``
* ``ordinal``      names with an order; cells are codes 0..L-1 into ``levels``, lowest first
* ``boolean``      two names; cells are 0 and 1
* ``ignored``      not used (an identifier, free text, a constant), and ``reason`` says why
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["numeric", "categorical", "ordinal", "boolean", "ignored"]
KINDS: tuple[Kind, ...] = ("numeric", "categorical", "ordinal", "boolean", "ignored")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    kind: Kind = "numeric"
    levels: tuple[str, ...] = ()  # names of the codes, for all kinds but numeric
    reason: str = ""  # why this kind was inferred or why the column is ignored


def numbered_columns(d: int) -> tuple[Column, ...]:
    """Names for the columns of a bare array, in scikit-learn's manner: x0, x1, ..."""
    return tuple(Column(f"x{j}") for j in range(d))
