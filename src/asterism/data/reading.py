"""How the cells of a table, as people write them, become the plain cells of a column: numbers, or names of levels.

A column without a reading is read as it stands. One that has a reading says how: numbers with a currency
(``numbers``), dates of which the weekday counts (``dates``), names of which the rare ones are pooled
(``names``). Several columns may read the same column of the table. A reading is plain data, so that a model
file can keep it and a new table is read in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

Plain = tuple[Any, ...] | str | int | float | bool


@dataclass(frozen=True, slots=True)
class Reading:
    """Base of all readings. A new one is a frozen dataclass of plain values and is listed in ``READINGS``."""

    form: ClassVar[str] = ""  # what a model file calls it

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns of the table whose cells are read; empty: the one of the column's own name."""
        return ()

    def cells(self, batch: Mapping[str, Any], name: str, row: int) -> Any:
        """Plain cells of a batch, an Arrow array, for the column ``name``; ``row`` is that of the first."""
        raise NotImplementedError

    def text(self, value: float) -> str | None:
        """A number of the column in the user's own units, where those are no number; else None."""
        del value
        return None


def to_dict(reading: Reading) -> dict[str, Any]:
    """Plain values for a model file."""
    return {"form": reading.form} | {field.name: getattr(reading, field.name) for field in fields(reading)}


def from_dict(spec: Mapping[str, Any], known: Mapping[str, type[Reading]]) -> Reading:
    """What ``to_dict`` gave; a ``ValueError`` where it makes no sense."""
    made = known[spec["form"]]
    names = {field.name for field in fields(made)}
    if set(spec) != names | {"form"}:
        raise ValueError(f"a reading of the form {spec['form']!r} has {', '.join(sorted(names))}")
    return made(**{name: _frozen(spec[name]) for name in names})


def require(holds: bool, what: str) -> None:
    """A ``ValueError`` unless it holds: fields of a reading may come from a stranger's file."""
    if not holds:
        raise ValueError(f"a reading needs {what}")


def all_texts(values: Any) -> bool:
    """Whether it is a tuple of text."""
    return isinstance(values, tuple) and all(isinstance(value, str) for value in values)


def all_numbers(values: Any) -> bool:
    """Whether it is a tuple of finite numbers."""
    return isinstance(values, tuple) and all(
        type(value) in (int, float) and abs(value) < float("inf") for value in values
    )


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value
