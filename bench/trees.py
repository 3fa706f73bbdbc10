"""Trees: four linkages beside SciPy, fastcluster, scikit-learn and genieclust; O(n) memory at ten times the rows;
splinter groups beside R's diana, where R is installed.

The objective is the sum of all heights, so a contestant with another tree shows it there.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness import Contestant, Params, race
from bench.report import Bar, Report, Session, Size, bar, bar_below

REPEATS = 3
LINKAGES = ("single", "complete", "average", "ward")
IN_VECTORS = ("single", "ward")  # those fastcluster has without a matrix
MB = 1e6


@dataclass(frozen=True)
class Case:
    """One tree of one table."""

    linkage: str
    n: int
    d: int = 8
    large: bool = False  # of a size at which a matrix of all pairs does not fit
    rounds: int = REPEATS

    @property
    def name(self) -> str:
        return f"{self.linkage} {self.n}x{self.d}"


def cases(size: Size) -> list[Case]:
    """Every case; ``quick`` has a tenth of the rows, ``tiny`` next to nothing."""
    shrink, rounds = {"full": (1, REPEATS), "quick": (10, REPEATS), "tiny": (100, 1)}[size]
    found = [Case(linkage, 10_000 // shrink, rounds=rounds) for linkage in LINKAGES]
    found += [Case(linkage, 100_000 // shrink, large=True, rounds=1) for linkage in IN_VECTORS]
    return [*found, Case("diana", 2000 // shrink, rounds=1)]


def run(case: Case, session: Session) -> Report:
    """Measure a case."""
    table = session.folder / "rows.npy"
    rng = np.random.default_rng(0)
    centers = 4 * rng.standard_normal((12, case.d))
    np.save(table, rng.standard_normal((case.n, case.d)) + centers[rng.integers(0, 12, case.n)])
    rounds: list[Params] = [{"linkage": case.linkage}] * case.rounds
    results = race(contestants(case), judge, table, rounds)
    return Report(case.name, "trees", results, objective="sum of heights")


def contestants(case: Case) -> list[Contestant]:
    """Who can do the case."""
    if case.linkage == "diana":
        found = [Contestant("asterism", "asterism", "asterism", diana_asterism)]
        if shutil.which("Rscript"):
            found.append(Contestant("R cluster::diana", "R", "numpy", diana_r))
        return found
    found = [Contestant("asterism", "asterism", "asterism", tree_asterism)]
    if case.linkage in IN_VECTORS and not case.large:  # it takes minutes there, and shows nothing new
        found.append(
            Contestant("fastcluster vector", "fastcluster", "fastcluster", partial(tree_fastcluster, True))
        )
    if case.linkage == "single":
        found.append(Contestant("genieclust", "genieclust", "genieclust", tree_genieclust, counted=False))
    if not case.large:
        found.append(
            Contestant("fastcluster", "fastcluster", "fastcluster", partial(tree_fastcluster, False))
        )
        found.append(Contestant("SciPy", "scipy", "scipy", tree_scipy))
        found.append(Contestant("scikit-learn", "scikit-learn", "sklearn", tree_sklearn))
    return found


def tree_asterism(X: np.ndarray, linkage: str) -> np.ndarray:
    from asterism import AgglomerativeClustering

    return AgglomerativeClustering(2, linkage=linkage).fit(X).linkage_matrix_[:, 2]


def tree_fastcluster(vector: bool, X: np.ndarray, linkage: str) -> np.ndarray:
    import fastcluster

    return (fastcluster.linkage_vector if vector else fastcluster.linkage)(X, linkage)[:, 2]


def tree_scipy(X: np.ndarray, linkage: str) -> np.ndarray:
    from scipy.cluster import hierarchy

    return hierarchy.linkage(X, linkage)[:, 2]


def tree_sklearn(X: np.ndarray, linkage: str) -> np.ndarray:
    from sklearn.cluster import AgglomerativeClustering

    return AgglomerativeClustering(2, linkage=linkage, compute_distances=True).fit(X).distances_


def tree_genieclust(X: np.ndarray, linkage: str) -> np.ndarray:  # noqa: ARG001  single alone
    """Its Genie without the correction for inequality is single linkage."""
    from genieclust import Genie

    return Genie(n_clusters=1, gini_threshold=1.0).fit(X).distances_


def diana_asterism(X: np.ndarray, linkage: str) -> np.ndarray:  # noqa: ARG001  one signature for all
    from asterism import DivisiveClustering

    return DivisiveClustering(2).fit(X).linkage_matrix_[:, 2]


def diana_r(X: np.ndarray, linkage: str) -> dict[str, Any]:  # noqa: ARG001  one signature for all
    """R's own time for its own call; starting R and reading the table belong to nobody."""
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(Path(folder) / "rows.csv", X, delimiter=",", fmt="%.17g")
        script = (
            "library(cluster); X <- as.matrix(read.csv('rows.csv', header = FALSE)); "
            "s <- system.time(t <- diana(X, keep.diss = FALSE, keep.data = FALSE)); "
            "cat(s[['elapsed']], sprintf('%.17g', sort(t$height)))"
        )
        said = subprocess.run(
            ["Rscript", "-e", script], cwd=folder, capture_output=True, text=True, check=True
        )
    seconds, *heights = map(float, said.stdout.split())
    return {"seconds": seconds, "heights": np.array(heights)}


def judge(X: np.ndarray, found: Any, linkage: str) -> dict[str, float]:  # noqa: ARG001
    if isinstance(found, dict):
        return {"objective": float(found["heights"].sum()), "seconds": found["seconds"]}
    return {"objective": float(np.sum(found))}


def bars(reports: list[Report]) -> list[Bar]:
    """What trees are held to."""
    found = []
    small = [r for r in reports if not r.name.startswith("diana") and len(r.results) > 3]
    peers = ("scipy", "fastcluster")
    for goal, names in ((2.0, ("complete", "average")), (3.0, IN_VECTORS)):
        ratios = [r.ratio(r.fastest(peers)) for r in small if r.name.split()[0] in names]
        if ratios:
            found.append(bar(f"trees: {' and '.join(names)}, least ratio >= {goal:g}", ratios, goal))
    large = [r for r in reports if r not in small and not r.name.startswith("diana")]
    if large:
        memory = [r.ours.resident / MB if r.ours.turns else None for r in large]
        found.append(bar_below("trees: of ten times the rows, resident <= 500 MB", memory, 500.0, "MB"))
    for r in reports:
        if r.name.startswith("diana"):
            ratios = [r.ratio(other) for other in r.results if other is not r.ours]
            found.append(bar("trees: diana beside R's, ratio >= 20", ratios, 20.0))
    return found
