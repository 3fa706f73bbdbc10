"""Columns of counted rows in the user's own units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asterism.data.columns import Column
from asterism.data.margins import Form
from asterism.explain.words import number_text
from asterism.groups.figures import Figures, Ruler
from asterism.groups.model import GroupModel
from asterism.stats.moments import ColumnMoments

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """A column as the view shows it, and the column of the table that it comes from."""

    j: int  # its place among the columns of the view
    column: Column  # in its form
    name: str  # of the table's column
    form: Form
    whole: bool  # whether it is missing just where the table's cell is

    def value(self, seen: float) -> float:
        """A value in the table's units."""
        return seen if self.column.levels else float(self.form.back(np.array(seen)))

    def text(self, moments: ColumnMoments) -> str:
        """The mean of some rows; of a column seen by its logarithm the geometric one."""
        return number_text(self.value(float(moments.mean[self.j])))


def seen_columns(model: GroupModel) -> list[Seen]:
    """The columns that a baseline counts."""
    margins = model.view.margins
    if margins is None:
        return [Seen(j, column, column.name, Form(), True) for j, column in enumerate(model.columns)]
    found = []
    for j, (column, origin) in enumerate(zip(margins.modelled, margins.origins, strict=True)):
        form = margins.forms[origin]
        rest = form.point is not None and not column.levels
        found.append(Seen(j, column, margins.columns[origin].name, form, not rest))
    return found


def spread_within(figures: Figures) -> Array:
    """(d,) standard deviations of the columns within groups."""
    groups = figures.moments[:-1]
    weight = np.sum([part.weight for part in groups], axis=0)
    scatter = np.sum([part.scatter for part in groups], axis=0)
    variance = np.divide(scatter, weight, out=np.zeros_like(scatter), where=weight > 0)
    return np.asarray(np.sqrt(variance))


def shares_of_levels(ruler: Ruler, counts: Array, j: int) -> Array:
    """(L,) shares of the levels of a column."""
    own = counts[ruler.at(j)]
    return own / max(float(own.sum()), np.finfo(float).tiny)


def most_changed(seen: Seen, before: Array, now: Array) -> str:
    """The level whose share changed most, in words."""
    level = int(np.abs(now - before).argmax())
    return f"{seen.column.levels[level]!r} {_percent(before[level])} before, {_percent(now[level])} now"


def _percent(share: float) -> str:
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
