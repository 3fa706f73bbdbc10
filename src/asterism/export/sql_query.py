"""A query while it is being written: steps, each with columns that later steps use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from asterism.export.describe import Entry
from asterism.export.dialects import Dialect

OWN = "asterism_"  # what steps and columns of the result begin with
NAME = re.compile(r"\b[a-z]+\d*(?:_\d+)*\b")  # of our columns: words and functions of SQL are in capitals


@dataclass
class Terms:
    """What a part adds to scores."""

    scores: list[list[str]]  # of each component
    common: list[str] = field(
        default_factory=list
    )  # of all alike: of no account for shares, but for densities


@dataclass
class Query:
    """Steps of a query."""

    told: Entry  # what ``describe`` says of the model
    dialect: Dialect
    patterns: int  # of missing cells that normal components with covariances are written for
    steps: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def add(self, name: str, columns: dict[str, str]) -> None:
        """A step: its columns, made of those of the steps before it."""
        if columns:
            self.steps.append((name, columns))

    def number(self, value: float) -> str:
        """In the dialect."""
        return self.dialect.number(value)

    @property
    def wants_density(self) -> bool:
        """Whether densities are asked for, not only shares."""
        return self.told["background"] is not None or self.wants_typicality

    @property
    def wants_typicality(self) -> bool:
        """Whether rows of little typicality belong to none."""
        return self.told["least_typicality"] > 0 and self.told["typicality"] is not None

    def written(self, source: str, last: dict[str, str]) -> str:
        """The whole query; every step passes on what later ones use, and leaves out what none does."""
        needed = _names(last.values())
        out: list[tuple[str, dict[str, str], str]] = []
        for place in range(len(self.steps) - 1, -1, -1):
            columns = self.steps[place][1]
            made = {column for _, earlier in self.steps[:place] for column in earlier}
            passed = {column: column for column in sorted(needed & made - set(columns), key=_natural)}
            own = {column: text for column, text in columns.items() if column in needed}
            of = self._named(place - 1) if place else source
            out.append((self._named(place), {**passed, **own}, of))
            needed = (needed - set(own)) | _names(own.values())
        select = ",\n".join(f"  {text} AS {name}" for name, text in last.items())
        return self.dialect.steps(out[::-1], f"SELECT\n{select}\nFROM {self._named(len(self.steps) - 1)}")

    def _named(self, place: int) -> str:
        return f"{OWN}{place + 1}_{self.steps[place][0]}"


def _names(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in NAME.findall(text)}


def _natural(name: str) -> tuple[str, list[int]]:
    return re.sub(r"\d.*", "", name), [int(number) for number in re.findall(r"\d+", name)]
