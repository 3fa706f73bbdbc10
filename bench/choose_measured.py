"""Measured tables with their published classes: those that scikit-learn brings, the penguins of the examples, and
those of R's packages, which ``measured.R`` writes once into a folder that git does not see.

A class need not be a group: where classes overlap, no score can be high. Sets whose classes a linear discriminant can
hardly tell apart are not taken. ``ACCEPTED`` are tables without classes, of which only the number of groups usually
given is known: they count for numbers of groups, not for the adjusted Rand index.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from bench.choose_pieces import Array, Labels
from bench.choose_tables import LabelledTable

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "bench" / "measured.R"
FOLDER = ROOT / "bench" / "results" / "measured"
ACCEPTED = {"faithful": 2, "acidity": 2, "xclara": 3}


def measured_tables() -> Iterator[LabelledTable]:
    """All of them that are there."""
    for name, rows, labels in (*_of_scikit_learn(), _penguins(), *_of_r()):
        yield LabelledTable(name, "measured", rows, labels, accepted=ACCEPTED.get(name, 0))


def _of_scikit_learn() -> Iterator[tuple[str, Array, Labels]]:
    from sklearn import datasets

    for name in ("iris", "wine", "breast_cancer", "digits"):
        rows, classes = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name.replace("_", " "), np.ascontiguousarray(rows), classes.astype(np.int64) + 1


def _penguins() -> tuple[str, Array, Labels]:
    columns = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    with (ROOT / "examples" / "penguins.csv").open() as file:
        whole = [row for row in csv.DictReader(file) if all(row[c] not in ("", "NA") for c in columns)]
    species = np.unique([row["species"] for row in whole], return_inverse=True)[1]
    return (
        "penguins",
        np.array([[float(row[c]) for c in columns] for row in whole]),
        species.astype(np.int64) + 1,
    )


def _of_r() -> Iterator[tuple[str, Array, Labels]]:
    for path in sorted(_written(FOLDER).glob("*.csv")):
        table = np.loadtxt(path, delimiter=",", ndmin=2)
        yield path.stem, np.ascontiguousarray(table[:, :-1]), table[:, -1].astype(np.int64)


@cache
def _written(folder: Path) -> Path:
    """The folder, written by R if it is not there or the script is younger."""
    files = list(folder.glob("*.csv"))
    if files and min(f.stat().st_mtime for f in files) > SCRIPT.stat().st_mtime:
        return folder
    if shutil.which("Rscript") is None:
        print("R is not installed: measured tables of its packages are left out", file=sys.stderr)
        return folder
    done = subprocess.run(["Rscript", str(SCRIPT), str(folder)], capture_output=True, text=True, check=False)
    for line in done.stderr.splitlines():
        if "no package" in line:
            print(f"measured tables left out: {line.partition(':')[2].strip()}", file=sys.stderr)
    return folder
