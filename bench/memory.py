"""Memory as rows grow: the peak of our fits beyond the table and the labels they return."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.harness import Contestant, Turn, race
from bench.report import MB, Bar, Report, Size, bar_below

ROWS = [200_000, 2_000_000, 8_000_000]
COLUMNS = GROUPS = 8
LIMIT = 64.0  # MB, whatever n


def shapes(size: Size) -> list[tuple[str, int, int, int]]:
    """(part, n, d, k) of every case."""
    rows = {"full": ROWS, "quick": ROWS[:2], "tiny": [20_000]}[size]
    return [(part, n, COLUMNS, GROUPS) for part in FITS for n in rows]


def run(name: str, part: str, cells: int, k: int, table: Path) -> Report:
    """Measure a case: a float32 table of so many cells."""
    contestant = Contestant("asterism", "asterism", "asterism", FITS[part])
    results = race([contestant], judge, table, [{"k": k}])
    report = Report(name, part, results, dtype="float32")
    if results[0].turns:
        extra = beyond(results[0].turns[0])
        report.remarks.append(f"{extra:.1f} MB beyond the table ({4 * cells / MB:.0f} MB) and the labels")
    return report


def beyond(turn: Turn) -> float:
    """MB at the peak that are neither the table nor the labels."""
    return max(turn.memory - turn.facts["labels"], 0.0) / MB


def fit_kmeans(X: np.ndarray, k: int) -> np.ndarray:
    from asterism import KMeans

    return KMeans(k, n_init=1, max_iter=10, random_state=0).fit(X).labels_


def fit_pca(X: np.ndarray, k: int) -> np.ndarray:  # noqa: ARG001  one signature for all
    from asterism import PCA

    PCA(n_components=3).fit(X)
    return np.empty(0)


def judge(X: np.ndarray, labels: np.ndarray, k: int) -> dict[str, float]:  # noqa: ARG001  one signature for all
    return {"labels": float(labels.nbytes)}


FITS = {"memory-kmeans": fit_kmeans, "memory-pca": fit_pca}


def bars(reports: list[Report]) -> list[Bar]:
    """Constant, whatever n."""
    ours = [r.ours for r in reports if r.part in FITS]
    extra = [beyond(r.turns[0]) if r.turns else None for r in ours]
    text = f"memory: below {LIMIT:.0f} MB beyond table and labels"
    return [bar_below(text, extra, LIMIT, "MB")] if ours else []
