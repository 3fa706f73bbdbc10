"""Metrics: exact silhouettes, adjusted mutual information, and indices by moments, beside scikit-learn.

Labels travel as the last column of the table (or as the first two, where they are all there is). The objective is the
score itself: everybody must find the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness import Contestant, race
from bench.report import Bar, Report, Session, Size, bar, bar_below

REPEATS = 3


@dataclass(frozen=True)
class Case:
    """One metric on one table."""

    metric: str
    n: int
    d: int
    k: int
    rounds: int = REPEATS

    @property
    def name(self) -> str:
        return f"{self.metric} {self.n}x{self.d} k={self.k}"


def cases(size: Size) -> list[Case]:
    """Every case; ``quick`` has a tenth of the rows, ``tiny`` next to none."""
    shrink = {"full": 1, "quick": 10, "tiny": 100}[size]
    rounds = 1 if size == "tiny" else REPEATS
    shapes = [
        ("silhouette", 20_000, 8, 10),
        ("adjusted-mi", 1_000_000, 0, 1000 // shrink),
        ("moments", 4_000_000, 10, 10),
    ]
    return [Case(metric, n // shrink, d, max(k, 5), rounds) for metric, n, d, k in shapes]


def run(case: Case, session: Session) -> Report:
    """Measure a case."""
    table = session.folder / "rows.npy"
    write_table(table, case)
    ours, theirs = CONTESTANTS[case.metric]
    contestants = [
        Contestant("asterism", "asterism", "asterism", ours),
        Contestant("scikit-learn", "scikit-learn", "sklearn", theirs),
    ]
    return Report(
        case.name, case.metric, race(contestants, judge, table, [{}] * case.rounds), objective="score"
    )


def write_table(path: Path, case: Case) -> None:
    """Overlapping groups with their labels in the last column; or two labelings that agree on a third of the rows."""
    rng = np.random.default_rng(0)
    labels = rng.integers(case.k, size=case.n)
    if case.d == 0:
        other = np.where(rng.random(case.n) < 1 / 3, labels, rng.integers(case.k, size=case.n))
        np.save(path, np.c_[labels, other].astype(np.float64))
        return
    centers = rng.normal(scale=2.0, size=(case.k, case.d))
    np.save(path, np.c_[centers[labels] + rng.normal(size=(case.n, case.d)), labels])


def silhouette_asterism(X: np.ndarray) -> float:
    from asterism.metrics import silhouette_score

    return silhouette_score(X[:, :-1], X[:, -1])


def silhouette_sklearn(X: np.ndarray) -> float:
    from sklearn.metrics import silhouette_score

    return float(silhouette_score(X[:, :-1], X[:, -1]))


def information_asterism(X: np.ndarray) -> float:
    from asterism.metrics import adjusted_mutual_info_score

    return adjusted_mutual_info_score(X[:, 0].astype(int), X[:, 1].astype(int))


def information_sklearn(X: np.ndarray) -> float:
    from sklearn.metrics import adjusted_mutual_info_score

    return float(adjusted_mutual_info_score(X[:, 0].astype(int), X[:, 1].astype(int)))


def moments_asterism(X: np.ndarray) -> float:
    from asterism.metrics import internal_scores

    scores = internal_scores(X[:, :-1], X[:, -1].astype(int))
    return scores.calinski_harabasz + scores.davies_bouldin


def moments_sklearn(X: np.ndarray) -> float:
    from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score

    rows, labels = X[:, :-1], X[:, -1].astype(int)
    return float(calinski_harabasz_score(rows, labels) + davies_bouldin_score(rows, labels))


def judge(X: np.ndarray, found: Any) -> dict[str, float]:  # noqa: ARG001  one signature for all
    """The score."""
    return {"objective": found}


CONTESTANTS: dict[str, tuple[Callable[..., float], Callable[..., float]]] = {
    "silhouette": (silhouette_asterism, silhouette_sklearn),
    "adjusted-mi": (information_asterism, information_sklearn),
    "moments": (moments_asterism, moments_sklearn),
}


def bars(reports: list[Report]) -> list[Bar]:
    """What metrics are held to."""
    goals = {"silhouette": 10.0, "adjusted-mi": 50.0, "moments": 1.0}
    found = []
    for report in reports:
        ratio = report.ratio(report.fastest())
        found.append(bar(f"{report.part}: ratio >= {goals[report.part]:g}", [ratio], goals[report.part]))
        scores = [result.fact("objective") for result in report.results if result.turns]
        off = [abs(s / scores[0] - 1) / 1e-9 for s in scores if s is not None and scores[0]]
        found.append(bar_below(f"{report.part}: everybody finds the same, in 1e-9", off, 1.0, "1e-9"))
    return found
