"""Which mixtures are compared for which model, and which of them a table is large enough for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from asterism.errors import ParameterError
from asterism.families.base import Family
from asterism.families.covariance import structure_of
from asterism.families.gaussian import GaussianFamily

STRUCTURES = ("EII", "VII", "EEI", "VVI", "EEE", "VEV", "VVV")
WIDE, WIDE_STRUCTURES = (
    32,
    ("EII", "VII", "EEI", "VVI"),
)  # beyond so many columns: no d^2 parameters, no Student
HEAVY = "student "  # before the structure's name
OTHERS = {
    "categorical": "CategoricalFamily",
    "bernoulli": "BernoulliFamily",
    "multinomial": "MultinomialFamily",
    "poisson": "PoissonFamily",
    "negative_binomial": "NegativeBinomialFamily",
}
NO_VALLEYS = ("categorical", "bernoulli", "multinomial")  # names and 0/1 have no places between them


@dataclass(frozen=True)
class Compared:
    """Families that compete, by name."""

    families: Mapping[str, Family]
    valleys: bool  # whether rows have places, so that there can be fewer rows between two groups
    continuous: bool  # whether equal values are an accident of rounding
    extra: int  # components beyond the largest number of groups: for groups that are not of the family
    large_enough: Callable[[str, int, float, int], bool]  # name, k, weight of the rows, columns


def compared_for(model: Any, d: int, structures: Any = None) -> Compared:
    """``model``: "gaussian", "kmeans", "student", another family's name, or a family."""
    if not isinstance(model, str):
        return Compared({model.name: model}, model.name not in NO_VALLEYS, False, 0, _always)
    if model in ("gaussian", "student", "kmeans"):
        usual = STRUCTURES if d <= WIDE else WIDE_STRUCTURES
        names = ("EII", "VII") if model == "kmeans" or d == 1 else structures or usual
        names = tuple(dict.fromkeys(structure_of(name, d).name for name in names))
        from asterism.families.student import StudentFamily

        heavy: dict[str, Family] = {HEAVY + name: StudentFamily(GaussianFamily(name)) for name in names}
        plain: dict[str, Family] = {name: GaussianFamily(name) for name in names}
        both = plain | heavy if d <= WIDE else plain
        return Compared(heavy if model == "student" else both, True, True, 5, rows_enough)
    if model in OTHERS:
        family = getattr(import_module(f"asterism.families.{model}"), OTHERS[model])()
        return Compared({model: family}, model not in NO_VALLEYS, False, 0, _always)
    raise ParameterError(
        f"model is {model!r}.",
        f"Give a family, or one of gaussian, kmeans, student, {', '.join(OTHERS)}.",
    )


def rows_enough(name: str, k: int, total: float, d: int) -> bool:
    """Rows a component: twice what it takes to span all directions, where it has directions of its own."""
    own = name.removeprefix(HEAVY) in ("VEV", "VVV", "EEV", "EVV", "EVE", "VVE")
    return k == 1 or total / k >= (2 * (d + 1) if own else 4)


def _always(name: str, k: int, total: float, d: int) -> bool:  # noqa: ARG001  one signature
    return True
