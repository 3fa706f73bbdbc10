"""k-medoids beside the kmedoids package and R's pam, distances included; Gower sums beside the gower package.

The cost is taken from the rows and the medoids by the judge, not from what contestants say.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness import Contestant, race
from bench.report import MB, Bar, Report, Session, Size, bar, bar_below
from bench.tables import groups_table

GROUPS = 10
SEEDS = 3
SUBSET = 20_000  # rows on which a large table's medoids are held to those of a search over all of them
PAM = "R cluster::pam"


@dataclass(frozen=True)
class Case:
    """One table."""

    part: str  # "medoids", "medoids-large" or "gower"
    n: int
    d: int

    @property
    def name(self) -> str:
        return f"{self.part} {self.n}x{self.d}"


def cases(size: Size) -> list[Case]:
    """Every case; ``quick`` has fewer rows, ``tiny`` next to none."""
    shrink = {"full": 1, "quick": 5, "tiny": 50}[size]
    large = {"full": 200_000, "quick": 60_000, "tiny": 3000}[size]
    return [
        Case("medoids", 5000 // shrink, 8),
        Case("medoids-large", large, 8),
        Case("gower", 20_000 // shrink, 20),
    ]


def run(case: Case, session: Session) -> Report:
    """Measure a case."""
    table = session.folder / "rows.npy"
    groups_table(table, case.n, case.d, GROUPS, "float64")
    if case.part == "gower":
        results = race(GOWER, judge_sums, table, [{}] * 2)
        return Report(case.name, case.part, results, objective="mean dissimilarity")
    if case.part == "medoids-large":
        results = race([OURS], judge_large, table, [{"seed": 0}])
    else:
        results = race(CONTESTANTS, judge, table, [{"seed": seed} for seed in range(SEEDS)])
    return Report(case.name, case.part, results, over="mean", objective="cost")


# --- contestants: rows in, numbers of the medoids out -----------------------------------------------------------


def medoids_asterism(X: np.ndarray, seed: int) -> np.ndarray:
    from asterism import KMedoids

    return KMedoids(GROUPS, random_state=seed).fit(X).medoid_indices_


def medoids_rust(X: np.ndarray, seed: int) -> np.ndarray:
    import kmedoids
    from sklearn.metrics.pairwise import euclidean_distances

    return kmedoids.fasterpam(euclidean_distances(X), GROUPS, random_state=seed, n_cpu=2).medoids


def medoids_r(X: np.ndarray, seed: int) -> dict[str, Any]:  # noqa: ARG001  it has no randomness
    """R's own time for its own call; starting R and reading the rows belong to nobody."""
    if shutil.which("Rscript") is None:
        raise RuntimeError("R is not installed")
    with tempfile.TemporaryDirectory() as folder:
        rows, found = Path(folder) / "rows.bin", Path(folder) / "medoids.txt"
        np.ascontiguousarray(X.T).tofile(rows)
        code = (
            f"library(cluster); n <- {len(X)}; d <- {X.shape[1]};"
            f"x <- t(matrix(readBin('{rows}', 'double', n * d), d, n, byrow = TRUE));"
            f"s <- system.time(p <- pam(x, {GROUPS}, keep.diss = FALSE, keep.data = FALSE));"
            f"write(c(s[['elapsed']], p$id.med), '{found}', ncolumns = 1)"
        )
        subprocess.run(["Rscript", "-e", code], check=True, capture_output=True)
        seconds, *medoids = np.loadtxt(found)
    return {"seconds": seconds, "medoids": np.array(medoids, np.int64) - 1}


def sums_asterism(X: np.ndarray) -> np.ndarray:
    from asterism.data.source import ArraySource
    from asterism.distances.pairwise import sums

    return sums(ArraySource(X), "gower")


def sums_gower(X: np.ndarray) -> np.ndarray:
    import gower

    return gower.gower_matrix(X).sum(axis=1, dtype=np.float64)


OURS = Contestant("asterism", "asterism", "asterism", medoids_asterism)
CONTESTANTS = [
    OURS,
    Contestant("kmedoids fasterpam", "kmedoids", "kmedoids", medoids_rust),
    Contestant(PAM, "numpy", "numpy", medoids_r, counted=False),
]
GOWER = [
    Contestant("asterism", "asterism", "asterism", sums_asterism),
    Contestant("gower", "gower", "gower", sums_gower),
]


# --- judges -----------------------------------------------------------------------------------------------------


def judge(X: np.ndarray, found: Any, seed: int) -> dict[str, float]:
    """The sum of the distances of all rows to the nearest medoid."""
    if isinstance(found, dict):
        return {**judge(X, found["medoids"], seed), "seconds": found["seconds"]}
    medoids = X[np.asarray(found, np.int64)]
    total = 0.0
    for a in range(0, len(X), 4096):
        total += float(np.sqrt(((X[a : a + 4096, None] - medoids) ** 2).sum(axis=2)).min(axis=1).sum())
    return {"objective": total}


def judge_large(X: np.ndarray, found: Any, seed: int) -> dict[str, float]:
    """And on a subset of the rows, the cost beside that of FasterPAM on that subset alone."""
    facts = judge(X, found, seed)
    rows = X[np.random.default_rng(1).choice(len(X), min(SUBSET, len(X)), replace=False)]
    both = np.vstack([rows, X[np.asarray(found, np.int64)]])
    ours = judge(both, np.arange(len(rows), len(both)), seed)["objective"]
    theirs = judge(rows, medoids_subset(rows), seed)["objective"]
    return {**facts, "excess": ours / theirs - 1.0}


def medoids_subset(rows: np.ndarray) -> np.ndarray:
    """FasterPAM's medoids, by the kmedoids package; a float32 matrix, or it would not fit."""
    import kmedoids
    from sklearn.metrics.pairwise import euclidean_distances

    return kmedoids.fasterpam(
        euclidean_distances(rows.astype(np.float32)), GROUPS, random_state=0, n_cpu=2
    ).medoids


def judge_sums(X: np.ndarray, found: Any) -> dict[str, float]:
    return {"objective": float(np.mean(found) / len(X))}


# --- bars -------------------------------------------------------------------------------------------------------


def bars(reports: list[Report]) -> list[Bar]:
    """What k-medoids and Gower are held to."""
    found: list[Bar] = []
    for report in reports:
        others = {result.contestant.name: result for result in report.results[1:]}
        ours = report.ours
        if report.part == "medoids":
            rust, pam = others["kmedoids fasterpam"], others[PAM]
            found.append(bar("medoids: never slower than kmedoids fasterpam", [report.ratio(rust)], 1.0))
            found.append(bar("medoids: ten times as fast as R's pam", [report.ratio(pam)], 10.0))
            cost = [ours.fact("objective"), rust.fact("objective")]
            ratio = None if None in cost else cost[0] / cost[1]
            found.append(bar_below("medoids: mean cost beside fasterpam's", [ratio], 1.0, "x"))
        elif report.part == "medoids-large":
            memory = ours.resident / MB if ours.turns else None
            found.append(bar_below("medoids-large: resident", [memory], 2000.0, "MB"))
            excess = ours.fact("excess")
            percent = None if excess is None else 100.0 * excess
            found.append(
                bar_below("medoids-large: cost on a subset above full fasterpam's", [percent], 2.0, "%")
            )
        else:
            found.append(
                bar("gower: ten times as fast as the gower package", [report.ratio(others["gower"])], 10.0)
            )
    return found
