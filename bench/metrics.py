"""Metrics: exact silhouettes, adjusted mutual information, indices by moments; beside scikit-learn, and their memory.

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
from bench.report import MB, Bar, Report, Session, Size, bar, bar_below

REPEATS = 3
FLAT = "memory-moments"  # the indices by moments as rows grow: what they need beyond the table and the labels
GROWING = (1_000_000, 10_000_000)
LIMIT = 64.0  # MB, whatever n


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
    found = [Case(metric, n // shrink, d, max(k, 5), rounds) for metric, n, d, k in shapes]
    return found + [Case(FLAT, n // shrink, 10, 10, 1) for n in GROWING]


def run(case: Case, session: Session) -> Report:
    """Measure a case."""
    table = session.folder / "rows.npy"
    if case.metric == FLAT:
        return run_flat(case, table)
    write_table(table, case)
    ours, theirs = CONTESTANTS[case.metric]
    contestants = [
        Contestant("asterism", "asterism", "asterism", ours),
        Contestant("scikit-learn", "scikit-learn", "sklearn", theirs),
    ]
    return Report(
        case.name, case.metric, race(contestants, judge, table, [{}] * case.rounds), objective="score"
    )


def run_flat(case: Case, table: Path) -> Report:
    """One pass over a float32 table, with centres that are known: our peak memory."""
    rows = np.lib.format.open_memmap(table, "w+", np.float32, (case.n, case.d))
    for start in range(0, case.n, 1_000_000):
        part = rows[start : start + 1_000_000]
        part[:] = np.random.default_rng(start).standard_normal(part.shape, np.float32)
    rows.flush()
    results = race(
        [Contestant("asterism", "asterism", "asterism", flat_asterism)], judge_flat, table, [{"k": case.k}]
    )
    report = Report(case.name, FLAT, results, objective="score", dtype="float32")
    if results[0].turns:
        report.remarks.append(
            f"{beyond(report):.1f} MB beyond the table ({rows.nbytes / MB:.0f} MB) and the labels"
        )
    return report


def flat_asterism(X: np.ndarray, k: int) -> tuple[float, int]:
    """Centroid silhouette, Calinski-Harabasz and Davies-Bouldin together; and how large the labels were."""
    from asterism.metrics import internal_scores

    labels = np.resize(np.arange(k, dtype=np.int32), len(X))
    scores = internal_scores(X, labels, centers=X[:k])
    return scores.silhouette + scores.calinski_harabasz + scores.davies_bouldin, labels.nbytes


def judge_flat(X: np.ndarray, found: tuple[float, int], k: int) -> dict[str, float]:  # noqa: ARG001  one signature for all
    return {"objective": found[0], "labels": float(found[1])}


def beyond(report: Report) -> float | None:
    """MB at the peak that are neither the table nor the labels."""
    turns = report.ours.turns
    return max(turns[0].memory - turns[0].facts["labels"], 0.0) / MB if turns else None


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
    flat = [report for report in reports if report.part == FLAT]
    if flat:
        text = f"{FLAT}: below {LIMIT:.0f} MB beyond table and labels"
        found.append(bar_below(text, [beyond(report) for report in flat], LIMIT, "MB"))
    for report in [report for report in reports if report.part != FLAT]:
        ratio = report.ratio(report.fastest())
        found.append(bar(f"{report.part}: ratio >= {goals[report.part]:g}", [ratio], goals[report.part]))
        scores = [result.fact("objective") for result in report.results if result.turns]
        off = [abs(s / scores[0] - 1) / 1e-9 for s in scores if s is not None and scores[0]]
        found.append(bar_below(f"{report.part}: everybody finds the same, in 1e-9", off, 1.0, "1e-9"))
    return found
