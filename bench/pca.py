"""PCA: ten components of a tall and of a wide table, beside every solver of scikit-learn.

The objective is the share of the variance that the ten components hold, taken from the rows themselves: solvers
that are quick because they are loose show it there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bench.harness import Contestant, race
from bench.report import Bar, Report, Session, Size, bar
from bench.tables import spectrum_table

REPEATS = 3
COMPONENTS = 10
SOLVERS = ("full", "covariance_eigh", "arpack", "randomized", "auto")
SHAPES = [(200_000, 100), (500, 20_000)]
INCREMENTAL = "scikit-learn IncrementalPCA"
MOST_COLUMNS = 5000  # beyond, covariance_eigh decomposes a d x d matrix for minutes or hours


@dataclass(frozen=True)
class Case:
    """One table."""

    n: int
    d: int
    dtype: str
    rounds: int = REPEATS

    @property
    def name(self) -> str:
        return f"pca {self.n}x{self.d} m={COMPONENTS} {self.dtype}"


def cases(size: Size) -> list[Case]:
    """Every case; ``quick`` has a tenth of the longer side, ``tiny`` next to nothing."""
    shrink = {"full": 1, "quick": 10, "tiny": 100}[size]
    found = []
    for dtype in ("float32", "float64"):
        for n, d in SHAPES:
            small = (n // shrink, d) if n > d else (n, d // shrink)
            found.append(Case(*small, dtype, 1 if size == "tiny" else REPEATS))
    return found


def run(case: Case, session: Session) -> Report:
    """Measure a case."""
    table = session.folder / "rows.npy"
    spectrum_table(table, case.n, case.d, case.dtype)
    contestants = [Contestant("asterism", "asterism", "asterism", pca_asterism)]
    contestants += [
        Contestant(f"scikit-learn {solver}", "scikit-learn", "sklearn", partial(pca_sklearn, solver))
        for solver in SOLVERS
        if not (solver == "covariance_eigh" and case.d > MOST_COLUMNS)
    ]
    contestants.append(Contestant("scikit-learn-intelex", "scikit-learn-intelex", "sklearnex", pca_sklearnex))
    if case.n > case.d:
        # Another job, in little memory: it has a bar of its own and is nobody's "fastest solver".
        contestants.append(Contestant(INCREMENTAL, "scikit-learn", "sklearn", pca_incremental, counted=False))
    results = race(contestants, judge, table, [{}] * case.rounds)
    remarks = ["covariance_eigh left out: a d x d matrix of this size"] if case.d > MOST_COLUMNS else []
    return Report(case.name, "pca", results, objective="variance held", dtype=case.dtype, remarks=remarks)


def pca_asterism(X: np.ndarray) -> np.ndarray:
    from asterism import PCA

    return PCA(n_components=COMPONENTS).fit(X).components_


def pca_sklearn(solver: str, X: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import PCA

    return PCA(n_components=COMPONENTS, svd_solver=solver, random_state=0).fit(X).components_


def pca_sklearnex(X: np.ndarray) -> np.ndarray:
    from sklearnex.decomposition import PCA

    pca = PCA(n_components=COMPONENTS).fit(X)
    if not hasattr(pca, "_onedal_estimator"):
        raise RuntimeError("fell back to scikit-learn")
    return pca.components_


def pca_incremental(X: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import IncrementalPCA

    return IncrementalPCA(n_components=COMPONENTS).fit(X).components_


def judge(X: np.ndarray, found: Any) -> dict[str, float]:
    """The share of the variance along the components, made orthonormal first, in float64 from the rows."""
    basis = np.linalg.qr(np.asarray(found, np.float64).T)[0]
    mean = X.mean(axis=0, dtype=np.float64)
    held = total = 0.0
    for a in range(0, len(X), 4096):
        rows = X[a : a + 4096] - mean
        along = rows @ basis
        held += float(np.einsum("ij,ij->", along, along))
        total += float(np.einsum("ij,ij->", rows, rows))
    return {"objective": held / total}


def bars(reports: list[Report]) -> list[Bar]:
    """What PCA is held to."""
    best = [r.ratio(r.fastest(["scikit-learn"])) for r in reports]
    incremental = [
        r.ratio(result) for r in reports for result in r.results if result.contestant.name == INCREMENTAL
    ]
    found = [bar("pca: never slower than scikit-learn's best solver, least ratio >= 1", best, 1.0)]
    if incremental:
        found.append(bar("pca: least ratio to IncrementalPCA >= 10", incremental, 10.0))
    return found
