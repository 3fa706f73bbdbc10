"""Tables whose number of groups is known: generated from easy to hopeless, and sets that R and scikit-learn bring.

A group is what a person would circle: rows gathered about a place, with fewer rows between it and the next.
Tables without groups have one such place, or are even, or wander.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rng = np.random.Generator
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class LabelledSet:
    """A table and the number of its groups."""

    name: str
    kind: str  # "easy", "hard", "shape", "wide", "real", "none"
    X: Array
    k: int
    most: int = 10  # the largest number tried

    @property
    def ks(self) -> range:
        return range(1, self.most + 1)


# --- groups -----------------------------------------------------------------------------------------------------


def normal_groups(
    rng: Rng, sizes: list[int], d: int, apart: float, *, sd: Array | float = 1.0, shape: str = "round"
) -> Array:
    """Normal groups whose centres are at least ``apart`` standard deviations (of the widest) from each other."""
    k = len(sizes)
    spread = np.broadcast_to(np.asarray(sd, float), (k,))
    centers = scattered(rng, k, d, apart * float(spread.max()))
    groups = []
    for c, n, s in zip(centers, sizes, spread, strict=True):
        z = rng.standard_normal((n, d)) * s
        if shape == "long":
            z = z * np.r_[1.0, np.full(d - 1, 0.25)] @ rotation(rng, d)
        if shape == "any":
            z = z * rng.uniform(0.3, 1.0, d) @ rotation(rng, d)
        groups.append(c + z)
    return np.vstack(groups)


def scattered(rng: Rng, k: int, d: int, apart: float) -> Array:
    """k places, none nearer than ``apart`` to another, in a box that grows until they fit; the nearest are near."""
    side = apart
    while True:
        places: list[Array] = []
        for _ in range(200 * k):
            p = rng.uniform(0, side, d)
            if all(np.linalg.norm(p - q) >= apart for q in places):
                places.append(p)
            if len(places) == k:
                return np.array(places)
        side *= 1.15


def rotation(rng: Rng, d: int) -> Array:
    return np.asarray(np.linalg.qr(rng.standard_normal((d, d)))[0])


def boxes(rng: Rng, k: int, d: int, n: int, gap: float) -> Array:
    """Even boxes of side 1 with a gap between them."""
    centers = scattered(rng, k, d, (1.0 + gap) * np.sqrt(d))
    return np.vstack([c + rng.uniform(-0.5, 0.5, (n, d)) for c in centers])


def student(rng: Rng, k: int, d: int, n: int, apart: float, degrees: float) -> Array:
    centers = scattered(rng, k, d, apart)
    return np.vstack([c + _t(rng, n, d, degrees) for c in centers])


def _t(rng: Rng, n: int, d: int, degrees: float) -> Array:
    return np.asarray(rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(degrees, (n, 1)) / degrees))


def skewed(rng: Rng, k: int, d: int, n: int, apart: float) -> Array:
    centers = scattered(rng, k, d, apart)
    return np.vstack([c + rng.gamma(2.0, 1.0, (n, d)) for c in centers])


def moons(rng: Rng, n: int, noise: float) -> Array:
    t = rng.uniform(0, np.pi, n)
    a = np.c_[np.cos(t), np.sin(t)]
    b = np.c_[1 - np.cos(t), 0.5 - np.sin(t)]
    return np.vstack([a, b]) + noise * rng.standard_normal((2 * n, 2))


def crossing(rng: Rng, n: int) -> Array:
    """Two long groups that cross."""
    a = rng.standard_normal((n, 2)) * [4.0, 0.4]
    b = rng.standard_normal((n, 2)) * [0.4, 4.0]
    return np.vstack([a, b])


def s_like(rng: Rng, k: int, n: int, sd: float) -> Array:
    """Round and oval groups in the plane in the manner of the S and A sets."""
    return normal_groups(rng, [n] * k, 2, sd, shape="any")


def unbalanced(rng: Rng) -> Array:
    """Three large dense groups and five small sparse ones, in the manner of the unbalance set."""
    dense = [np.array(c) + rng.standard_normal((500, 2)) * 0.7 for c in ((0, 0), (5, 4), (5, -4))]
    small = [np.array(c) + rng.standard_normal((60, 2)) * 1.5
             for c in ((30, 0), (40, 8), (40, -8), (52, 6), (52, -6))]  # fmt: skip
    return np.vstack(dense + small)


# --- no groups --------------------------------------------------------------------------------------------------


def walk(rng: Rng, n: int, d: int) -> Array:
    return np.asarray(np.cumsum(rng.standard_normal((n, d)), axis=0))


def correlated(rng: Rng, n: int, d: int) -> Array:
    return np.asarray(rng.standard_normal((n, d)) * np.geomspace(5.0, 0.2, d) @ rotation(rng, d))


def disc(rng: Rng, n: int, d: int) -> Array:
    z = rng.standard_normal((n, d))
    return np.asarray(z / np.linalg.norm(z, axis=1, keepdims=True) * rng.uniform(0, 1, (n, 1)) ** (1 / d))


def shell(rng: Rng, n: int) -> Array:
    """An arc: one group that is curved."""
    t = rng.uniform(0, np.pi, n)
    return np.c_[np.cos(t), np.sin(t)] + 0.1 * rng.standard_normal((n, 2))


Maker = Callable[[Rng], Array]

MADE: list[tuple[str, str, int, int, Maker]] = [
    ("3 round, d=2", "easy", 3, 10, lambda r: normal_groups(r, [100] * 3, 2, 7)),
    ("5 round, d=2", "easy", 5, 10, lambda r: normal_groups(r, [100] * 5, 2, 6)),
    ("2 groups, d=1", "easy", 2, 10, lambda r: normal_groups(r, [150, 150], 1, 6)),
    ("3 groups, d=1", "easy", 3, 10, lambda r: normal_groups(r, [100, 200, 100], 1, 5)),
    ("3 groups of 20, d=3", "easy", 3, 10, lambda r: normal_groups(r, [20] * 3, 3, 7)),
    ("4 of any shape, d=3", "easy", 4, 10, lambda r: normal_groups(r, [150] * 4, 3, 5, shape="any")),
    ("10 of any shape, d=8", "easy", 10, 15, lambda r: normal_groups(r, [150] * 10, 8, 5, shape="any")),
    ("15 in the plane, clear", "hard", 15, 20, lambda r: s_like(r, 15, 100, 4.0)),
    ("15 in the plane, touching", "hard", 15, 20, lambda r: s_like(r, 15, 100, 3.0)),
    ("20 in the plane", "hard", 20, 25, lambda r: s_like(r, 20, 75, 4.0)),
    ("8 unbalanced", "hard", 8, 12, unbalanced),
    ("sizes 400, 80, 40", "hard", 3, 10, lambda r: normal_groups(r, [400, 80, 40], 2, 6)),
    ("sizes 1000, 30, d=5", "hard", 2, 10, lambda r: normal_groups(r, [1000, 30], 5, 7)),
    ("densities 1, 2, 4", "hard", 3, 10, lambda r: normal_groups(r, [200] * 3, 2, 4, sd=[0.5, 1.0, 2.0])),
    ("2 at 3 sd, d=2", "hard", 2, 10, lambda r: normal_groups(r, [500, 500], 2, 3)),
    ("3 at 3.5 sd, d=4", "hard", 3, 10, lambda r: normal_groups(r, [200] * 3, 4, 3.5)),
    ("2 at 4 sd, d=16", "hard", 2, 10, lambda r: normal_groups(r, [300, 300], 16, 4)),
    ("3 groups, noise columns", "hard", 3, 10,
     lambda r: np.c_[normal_groups(r, [150] * 3, 2, 7), r.standard_normal((450, 8))]),
    ("3 long, d=2", "shape", 3, 10, lambda r: normal_groups(r, [150] * 3, 2, 4, shape="long")),
    ("4 long, d=5", "shape", 4, 10, lambda r: normal_groups(r, [150] * 4, 5, 4, shape="long")),
    ("4 even boxes, d=2", "shape", 4, 10, lambda r: boxes(r, 4, 2, 200, 0.3)),
    ("3 even boxes, d=5", "shape", 3, 10, lambda r: boxes(r, 3, 5, 200, 0.2)),
    ("3 heavy tails, d=2", "shape", 3, 10, lambda r: student(r, 3, 2, 200, 12, 3)),
    ("4 heavy tails, d=5", "shape", 4, 10, lambda r: student(r, 4, 5, 200, 14, 3)),
    ("3 skewed, d=2", "shape", 3, 10, lambda r: skewed(r, 3, 2, 200, 9)),
    ("4 skewed, d=4", "shape", 4, 10, lambda r: skewed(r, 4, 4, 200, 10)),
    ("two moons", "shape", 2, 10, lambda r: moons(r, 250, 0.06)),
    ("two that cross", "shape", 2, 10, lambda r: crossing(r, 300)),
    ("4 groups, d=10", "wide", 4, 10, lambda r: normal_groups(r, [100] * 4, 10, 6)),
    ("6 groups, d=10, any", "wide", 6, 10, lambda r: normal_groups(r, [120] * 6, 10, 5, shape="any")),
    ("5 groups, d=20", "wide", 5, 10, lambda r: normal_groups(r, [80] * 5, 20, 6)),
    ("3 groups, d=50", "wide", 3, 10, lambda r: normal_groups(r, [80] * 3, 50, 8)),
    ("4 groups, d=100", "wide", 4, 10, lambda r: normal_groups(r, [60] * 4, 100, 10)),
    ("one normal, d=1", "none", 1, 10, lambda r: r.standard_normal((300, 1))),
    ("one normal, d=2", "none", 1, 10, lambda r: r.standard_normal((500, 2))),
    ("one normal, 60 x 4", "none", 1, 10, lambda r: r.standard_normal((60, 4))),
    ("one normal, d=20", "none", 1, 10, lambda r: r.standard_normal((400, 20))),
    ("one normal, d=60", "none", 1, 10, lambda r: r.standard_normal((200, 60))),
    ("correlated, d=5", "none", 1, 10, lambda r: correlated(r, 500, 5)),
    ("even, d=1", "none", 1, 10, lambda r: r.uniform(size=(300, 1))),
    ("even, d=2", "none", 1, 10, lambda r: r.uniform(size=(600, 2))),
    ("even, d=5", "none", 1, 10, lambda r: r.uniform(size=(1000, 5))),
    ("even, d=10", "none", 1, 10, lambda r: r.uniform(size=(500, 10))),
    ("a disc", "none", 1, 10, lambda r: disc(r, 800, 2)),
    ("an arc", "none", 1, 10, lambda r: shell(r, 400)),
    ("walk down the rows, d=3", "none", 1, 10, lambda r: walk(r, 500, 3)),
    ("walk down the rows, d=8", "none", 1, 10, lambda r: walk(r, 1000, 8)),
    ("walk along the columns", "none", 1, 10, lambda r: np.cumsum(r.standard_normal((400, 12)), axis=1)),
    ("skewed, d=3", "none", 1, 10, lambda r: r.exponential(size=(500, 3))),
    ("skewed, d=2, lognormal", "none", 1, 10, lambda r: np.exp(0.6 * r.standard_normal((400, 2)))),
    ("heavy tails, d=3", "none", 1, 10, lambda r: _t(r, 500, 3, 3)),
]  # fmt: skip


def made_sets(seed: int = 0) -> Iterator[LabelledSet]:
    """All generated tables of one seed."""
    for i, (name, kind, k, most, make) in enumerate(MADE):
        yield LabelledSet(name, kind, np.ascontiguousarray(make(np.random.default_rng([seed, i]))), k, most)


# --- sets that others bring -------------------------------------------------------------------------------------


def scikit_sets() -> Iterator[LabelledSet]:
    from sklearn import datasets

    known = {
        "iris": (datasets.load_iris, 3),
        "wine": (datasets.load_wine, 3),
        "breast cancer": (datasets.load_breast_cancer, 2),
        "digits": (datasets.load_digits, 10),
    }
    for name, (load, k) in known.items():
        yield LabelledSet(name, "real", standard(load().data), k, 15 if name == "digits" else 10)


def penguins() -> LabelledSet:
    with (ROOT / "examples" / "penguins.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    table = [[float(row[n]) for n in names] for row in rows if all(row[n] not in ("", "NA") for n in names)]
    return LabelledSet("penguins", "real", standard(np.array(table)), 3)


R_SETS = {  # an expression for the table, the number of groups, the largest number tried
    "faithful": ("datasets::faithful", 2, 10),
    "banknote": ("mclust::banknote[, -1]", 2, 10),
    "diabetes": ("mclust::diabetes[, -1]", 3, 10),
    "thyroid": ("mclust::thyroid[, -1]", 3, 10),
    "acidity": ("data.frame(x = mclust::acidity)", 2, 10),
    "cross": ("mclust::cross[, -1]", 2, 10),
    "wreath": ("mclust::wreath", 14, 20),
    "combining 4.1": ("Baudry$ex4.1", 4, 10),
    "combining 4.2": ("Baudry$ex4.2", 4, 10),
    "ruspini": ("cluster::ruspini", 4, 10),
    "xclara": ("cluster::xclara[seq(1, 3000, 2), ]", 3, 10),
    "crabs": ("MASS::crabs[, 4:8]", 4, 10),
    "four groups of flexmix": ("Nclus", 4, 10),
}
R_BEFORE = """
suppressMessages(library(mclust))
Baudry <- new.env(); data(Baudry_etal_2010_JCGS_examples, package = "mclust", envir = Baudry)
try(data(Nclus, package = "flexmix"), silent = TRUE)
put <- function(name, x) try(write.csv(x, file.path(folder, paste0(name, ".csv")), row.names = FALSE), silent = TRUE)
"""


def r_sets() -> Iterator[LabelledSet]:
    """Sets of R's packages, where R and the package are there."""
    if shutil.which("Rscript") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        code = f'folder <- "{folder}"' + R_BEFORE
        code += "".join(f'put("{name}", {expression})\n' for name, (expression, _, _) in R_SETS.items())
        subprocess.run(["Rscript", "-e", code], capture_output=True, check=False)
        for name, (_, k, most) in R_SETS.items():
            path = Path(folder) / f"{name}.csv"
            if path.exists():
                table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
                yield LabelledSet(name, "real", standard(table), k, most)


def standard(X: Array) -> Array:
    spread = X.std(axis=0)
    return np.ascontiguousarray(((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 0])


def all_sets(seed: int = 0, *, real: bool = True) -> Iterator[LabelledSet]:
    """Generated tables of one seed, and real ones."""
    yield from made_sets(seed)
    if real:
        yield from scikit_sets()
        yield penguins()
        yield from r_sets()
