"""How a table is looked at: which families suit its columns, and how its rows are seen."""

from __future__ import annotations

from dataclasses import dataclass, replace

from asterism.data.encode import EncodedSource
from asterism.data.margins import Margins
from asterism.data.source import Source
from asterism.verdict.view import View, view_of_numbers

WIDE = 24  # encoded columns: four times as many, and a mixed table is taken as numbers


@dataclass(frozen=True, eq=False)
class Plan:
    """How a table is to be looked at."""

    method: str  # "gaussian", "mixed", "kmeans" or "kmedoids": who makes the groups
    view: (
        View  # of the rows the mixture is made of; without an encoding: each column has its own distribution
    )
    said: str  # what was decided and why

    @property
    def numbers(self) -> bool:
        """Whether rows have places: all columns are numbers, or opened into some."""
        return self.view.encoding is not None

    def in_all_columns(self) -> Plan:
        """The same without directions: they showed no groups, and all columns did."""
        said = "Principal directions show no groups: mixtures of normal groups in all columns, which do."
        return replace(self, view=replace(self.view, axes=None), said=said)


def plan_for(source: Source, encoded: EncodedSource, method: str, margins: Margins | None = None) -> Plan:
    """The plan of a table, with its columns in their forms: their kinds and its shape decide."""
    numeric = all(column.kind == "numeric" for column in source.columns)
    d = encoded.n_columns
    if not numeric and d <= 4 * WIDE and method != "gaussian":
        said = "A mixture in which each column has a distribution of its own kind."
        return Plan("mixed" if method == "auto" else method, View(margins=margins), said)
    wanted = "gaussian" if method in ("auto", "mixed") else method
    view = view_of_numbers(encoded, margins)
    if view.axes is None:
        return Plan(wanted, view, "Groups of any shape, in the scaled columns.")
    said = f"{d} columns are many: groups of any shape, in {len(view.axes)} principal directions."
    return Plan(wanted, view, said)
