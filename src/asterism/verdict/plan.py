"""How a table is looked at: which families suit its columns, and how its rows are seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from asterism.data.columns import Column
from asterism.data.encode import EncodedSource
from asterism.data.margins import Margins
from asterism.data.source import Source
from asterism.families.base import Family
from asterism.families.bernoulli import BernoulliFamily
from asterism.families.categorical import CategoricalFamily
from asterism.families.gaussian import GaussianFamily
from asterism.families.ordinal import OrdinalFamily
from asterism.families.poisson import PoissonFamily
from asterism.families.product import ProductFamily
from asterism.verdict.view import View, view_of_numbers

SAMPLE = 2000  # rows that structures are compared on
WIDE = 24  # encoded columns: four times as many, and a mixed table is taken as numbers
MIXED_STRUCTURES = ("EEI", "VVI", "EEE", "VVV")


@dataclass(frozen=True, eq=False)
class Plan:
    """How a table is to be looked at."""

    method: str  # "gaussian", "mixed", "kmeans" or "kmedoids": who makes the groups
    view: View  # of the rows the mixture is made of
    families: Mapping[str, Family]  # that compete, by structure; none: those of normal groups
    said: str  # what was decided and why

    def in_all_columns(self) -> Plan:
        """The same without directions: they showed no groups, and all columns did."""
        said = "Principal directions show no groups: mixtures of normal groups in all columns, which do."
        return replace(self, view=replace(self.view, axes=None), said=said)


def plan_for(source: Source, encoded: EncodedSource, method: str, margins: Margins | None = None) -> Plan:
    """The plan of a table, with its columns in their forms: their kinds and its shape decide."""
    numeric = all(column.kind == "numeric" for column in source.columns)
    d = encoded.n_columns
    if not numeric and d <= 4 * WIDE and method != "gaussian":
        some = any(column.kind == "numeric" for column in source.columns)
        families = {s: mixed_family(source.columns, s) for s in (MIXED_STRUCTURES if some else ("EEI",))}
        said = "A mixture in which each column has a distribution of its own kind."
        return Plan("mixed" if method == "auto" else method, View(margins=margins), families, said)
    wanted = "gaussian" if method in ("auto", "mixed") else method
    view = view_of_numbers(encoded, margins)
    if view.axes is None:
        return Plan(wanted, view, {}, "Groups of any shape, in the scaled columns.")
    said = f"{d} columns are many: groups of any shape, in {len(view.axes)} principal directions."
    return Plan(wanted, view, {}, said)


def mixed_family(columns: Sequence[Column], structure: str) -> ProductFamily:
    """A family for each kind of column; priors keep a level that a small group lacks from being impossible there."""
    made: dict[str, list[int]] = {}
    for j, column in enumerate(columns):
        made.setdefault(_distribution(column), []).append(j)
    return ProductFamily(
        tuple(
            (MADE_OF[name](structure, tuple(len(columns[j].levels) for j in made[name])), tuple(made[name]))
            for name in MADE_OF
            if name in made
        )
    )


def _distribution(column: Column) -> str:
    """Its kind; three ordered levels have two free shares either way, and shares that need no order are quick."""
    return "categorical" if column.kind == "ordinal" and len(column.levels) <= 3 else column.kind


MADE_OF: dict[str, Any] = {
    "numeric": lambda structure, _: GaussianFamily(structure),
    "categorical": lambda _, levels: CategoricalFamily(levels, "conjugate"),
    "boolean": lambda *_: BernoulliFamily("conjugate"),
    "ordinal": lambda _, levels: OrdinalFamily(levels, "conjugate"),
    "count": lambda *_: PoissonFamily("conjugate"),
}
