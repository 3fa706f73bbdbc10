"""k-means: Lloyd's steps alone, whole fits, seeding alone, and memory as rows grow.

``lloyd``    20 steps from the same start, then labels. The same mathematics for everybody, so objectives agree.
``fit``      ``KMeans(k, n_init=1, random_state=seed)`` as a user calls it, seeding included, mean over seeds.
``seeding``  k-means++ alone; the objective is that of the starting centres.
``memory``   as rows grow (``bench.memory``).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench import memory
from bench.harness import Contestant, race
from bench.report import Bar, Report, Session, Size, bar, bar_below, geometric_mean, objective_excess
from bench.tables import groups_table

STEPS = 20
REPEATS = 3
SHAPES = [(1_000_000, 2, 8), (500_000, 10, 20), (200_000, 32, 100), (100_000, 128, 256), (60_000, 784, 10)]
SEEDING = (100_000, 128, 256)
GEMM_BOUND = 1000  # d k from which a matrix product is most of a step
CHECK_ROWS = 5_000  # from here on we look whether labels still change in the last step
STILL_CHANGING = 0.001  # of the labels: what we want to see then
LONG = 2e9  # n d k from which a whole fit takes minutes elsewhere: fewer seeds


class Found(NamedTuple):
    """What a contestant found."""

    centers: np.ndarray  # (k, d)
    labels: np.ndarray | None = None  # (n,)
    steps: int | None = None


@dataclass(frozen=True)
class Case:
    """One table, one kind of work."""

    part: str
    n: int
    d: int
    k: int
    dtype: str
    rounds: int = REPEATS

    @property
    def name(self) -> str:
        return f"{self.part} {self.n}x{self.d} k={self.k} {self.dtype}"


def cases(size: Size) -> list[Case]:
    """Every case; ``quick`` has a tenth of the rows, ``tiny`` next to none."""
    once = size == "tiny"
    found = []
    for part in ("lloyd", "fit"):
        for dtype in ("float32", "float64"):
            for n, d, k in SHAPES:
                few = part == "fit" and n * d * k > LONG
                rounds = 1 if once else 2 if few else REPEATS
                found.append(Case(part, _rows(n, size), d, k, dtype, rounds))
    n, d, k = SEEDING
    found.append(Case("seeding", _rows(n, size), d, k, "float32", 1 if once else REPEATS))
    found += [Case(part, n, d, k, "float32", 1) for part, n, d, k in memory.shapes(size)]
    return found


def _rows(n: int, size: Size) -> int:
    return {"full": n, "quick": n // 10, "tiny": max(n // 500, 600)}[size]


def run(case: Case, session: Session) -> Report:
    """Measure a case."""
    table = session.folder / "rows.npy"
    start = groups_table(table, case.n, case.d, case.k, case.dtype)
    if case.part in memory.FITS:
        return memory.run(case.name, case.part, case.n * case.d, case.k, table)
    return {"lloyd": _lloyd, "fit": _fit, "seeding": _seeding}[case.part](case, table, start)


# --- lloyd ------------------------------------------------------------------------------------------------------


def _lloyd(case: Case, table: Path, start: np.ndarray) -> Report:
    remarks = [changing(table, start)] if case.n >= CHECK_ROWS else []
    narrow = "rows converted in its time" if case.dtype == "float64" else ""
    contestants = [
        Contestant("asterism", "asterism", "asterism", lloyd_asterism, gemm="float32"),
        Contestant("scikit-learn lloyd", "scikit-learn", "sklearn", lloyd_sklearn, gemm="own"),
        Contestant("scikit-learn elkan", "scikit-learn", "sklearn", elkan_sklearn),
        Contestant("scikit-learn-intelex", "scikit-learn-intelex", "sklearnex", lloyd_sklearnex, gemm="own"),
        Contestant(
            "faiss",
            "faiss-cpu",
            "faiss",
            lloyd_faiss,
            gemm="float32",
            note=f"float32 only{narrow and ', '}{narrow}",
        ),
    ]
    results = race(contestants, judge, table, [{"start": start, "steps": STEPS}] * case.rounds)
    early = [r for r in results if r.turns and r.fact("steps") != STEPS]
    remarks += [f"WARNING: {r.contestant.name} made {r.fact('steps'):.0f} steps" for r in early]
    flops = 2.0 * case.n * case.d * case.k * STEPS if case.d * case.k >= GEMM_BOUND else 0.0
    return Report(case.name, case.part, results, flops=flops, dtype=case.dtype, remarks=remarks)


def changing(table: Path, start: np.ndarray) -> str:
    """What share of the labels the last step changes: where it is above 0, nobody has reason to stop early."""
    check = Contestant("step check", "asterism", "asterism", last_step)
    [result] = race([check], judge_change, table, [{"start": start}])
    share = result.fact("changed")
    if share is None:
        return f"WARNING: whether labels still change in step {STEPS} is not known ({result.failure})"
    words = f"{share:.2%} of the labels still change in step {STEPS}"
    return words if share >= STILL_CHANGING else f"WARNING: only {words}"


def last_step(X: np.ndarray, start: np.ndarray) -> float:
    before, after = (lloyd_asterism(X, start, steps).labels for steps in (STEPS - 1, STEPS))
    return float(np.mean(before != after))


def judge_change(X: np.ndarray, found: float, start: np.ndarray) -> dict[str, float]:  # noqa: ARG001  one signature for all
    return {"changed": found}


def lloyd_asterism(X: np.ndarray, start: np.ndarray, steps: int) -> Found:
    from asterism import KMeans

    km = KMeans(len(start), init=start, n_init=1, max_iter=steps, tol=0).fit(X)
    return Found(km.cluster_centers_, km.labels_, km.n_iter_)


def lloyd_sklearn(X: np.ndarray, start: np.ndarray, steps: int, algorithm: str = "lloyd") -> Found:
    from sklearn.cluster import KMeans

    km = KMeans(len(start), init=start, n_init=1, max_iter=steps, tol=0, algorithm=algorithm).fit(X)
    return Found(km.cluster_centers_, km.labels_, km.n_iter_)


def elkan_sklearn(X: np.ndarray, start: np.ndarray, steps: int) -> Found:
    return lloyd_sklearn(X, start, steps, "elkan")


def lloyd_sklearnex(X: np.ndarray, start: np.ndarray, steps: int) -> Found:
    from sklearnex.cluster import KMeans

    km = KMeans(len(start), init=start, n_init=1, max_iter=steps, tol=0).fit(X)
    return _onedal(km)


def _onedal(km: Any) -> Found:
    """Its result, unless it quietly handed the work to scikit-learn."""
    if not hasattr(km, "_onedal_estimator"):
        raise RuntimeError("fell back to scikit-learn")
    return Found(km.cluster_centers_, km.labels_, km.n_iter_)


def lloyd_faiss(X: np.ndarray, start: np.ndarray, steps: int) -> Found:
    import faiss

    k, d = start.shape
    rows = np.ascontiguousarray(X, np.float32)  # inside the time: a user with float64 rows pays for it
    # It trains on a sample of 256 rows a centre unless told otherwise.
    km = faiss.Kmeans(d, k, niter=steps, min_points_per_centroid=1, max_points_per_centroid=len(X))
    km.train(rows, init_centroids=np.ascontiguousarray(start, np.float32))
    _, labels = km.index.search(rows, 1)
    return Found(km.centroids, labels[:, 0], len(km.obj))


# --- fit --------------------------------------------------------------------------------------------------------


def _fit(case: Case, table: Path, start: np.ndarray) -> Report:  # noqa: ARG001  one signature for all
    contestants = [
        Contestant("asterism", "asterism", "asterism", fit_asterism),
        Contestant("scikit-learn", "scikit-learn", "sklearn", fit_sklearn),
        Contestant("scikit-learn-intelex", "scikit-learn-intelex", "sklearnex", fit_sklearnex),
    ]
    rounds = [{"k": case.k, "seed": seed} for seed in range(case.rounds)]
    results = race(contestants, judge, table, rounds, same=False)
    remarks = [f"mean of {case.rounds} seeds; steps are those of the whole table"]
    return Report(case.name, case.part, results, over="mean", dtype=case.dtype, remarks=remarks)


def fit_asterism(X: np.ndarray, k: int, seed: int) -> Found:
    from asterism import KMeans

    km = KMeans(k, n_init=1, random_state=seed).fit(X)
    return Found(km.cluster_centers_, km.labels_, km.n_iter_)


def fit_sklearn(X: np.ndarray, k: int, seed: int) -> Found:
    from sklearn.cluster import KMeans

    km = KMeans(k, n_init=1, random_state=seed).fit(X)
    return Found(km.cluster_centers_, km.labels_, km.n_iter_)


def fit_sklearnex(X: np.ndarray, k: int, seed: int) -> Found:
    from sklearnex.cluster import KMeans

    return _onedal(KMeans(k, n_init=1, random_state=seed).fit(X))


# --- seeding ----------------------------------------------------------------------------------------------------


def _seeding(case: Case, table: Path, start: np.ndarray) -> Report:  # noqa: ARG001  one signature for all
    contestants = [
        Contestant("asterism", "asterism", "asterism", seeding_asterism, note="polished on a sample"),
        Contestant("scikit-learn", "scikit-learn", "sklearn", seeding_sklearn),
    ]
    rounds = [{"k": case.k, "seed": seed} for seed in range(case.rounds)]
    results = race(contestants, judge_centers, table, rounds, same=False)
    remarks = ["the objective is that of the starting centres; ours have seen a few steps on a sample"]
    return Report(case.name, case.part, results, over="mean", dtype=case.dtype, remarks=remarks)


def seeding_asterism(X: np.ndarray, k: int, seed: int) -> Found:
    from asterism.data.source import ArraySource
    from asterism.methods.frame import survey
    from asterism.methods.seeding import seed_centers

    source = ArraySource(X)
    frame, moments = survey(source)  # a pass of its own, and part of the price
    [start] = seed_centers(source, frame, moments, k, how="k-means++", n_starts=1, seed=seed)
    return Found(start.positions)


def seeding_sklearn(X: np.ndarray, k: int, seed: int) -> Found:
    from sklearn.cluster import kmeans_plusplus

    return Found(kmeans_plusplus(X, k, random_state=seed)[0])


# --- judging ----------------------------------------------------------------------------------------------------


def judge(X: np.ndarray, found: Found, **_: Any) -> dict[str, float]:
    """J of the centres and labels a contestant returned, in float64 from the rows, and its steps."""
    total = 0.0
    centers = np.asarray(found.centers, np.float64)
    for a in range(0, len(X), 8192):
        rest = X[a : a + 8192] - centers[found.labels[a : a + 8192]]
        total += float(np.einsum("ij,ij->", rest, rest))
    return {"objective": total, **({} if found.steps is None else {"steps": float(found.steps)})}


def judge_centers(X: np.ndarray, found: Found, **_: Any) -> dict[str, float]:
    """J of centres alone, every row at the nearest of them."""
    total = 0.0
    centers = np.asarray(found.centers, np.float64)
    norms = (centers**2).sum(axis=1)
    for a in range(0, len(X), 4096):
        rows = X[a : a + 4096].astype(np.float64)
        squares = norms - 2.0 * (rows @ centers.T)
        total += float(squares.min(axis=1).sum() + (rows**2).sum())
    return {"objective": total}


# --- bars -------------------------------------------------------------------------------------------------------


def bars(reports: list[Report]) -> list[Bar]:
    """What k-means is held to, of the parts that ran."""
    lloyd = [r for r in reports if r.part == "lloyd"]
    fit = [r for r in reports if r.part == "fit"]
    found = []
    if lloyd:
        ratios = [r.ratio(r.fastest()) for r in lloyd]
        found.append(bar("lloyd: geometric mean over the fastest peer >= 1.5", ratios, 1.5, geometric_mean))
        found.append(bar("lloyd: never slower than the fastest peer, least ratio >= 1", ratios, 1.0))
    if fit:
        peers = [r.fastest(["scikit-learn"]) for r in fit]
        ratios = [r.ratio(peer) for r, peer in zip(fit, peers, strict=True)]
        # Above ours by so much means that ours is below theirs: the sign is turned round.
        worse = [_worse(r, peer) for r, peer in zip(fit, peers, strict=True)]
        found.append(bar("fit: geometric mean over scikit-learn >= 3", ratios, 3.0, geometric_mean))
        found.append(bar_below("fit: no mean objective above scikit-learn's by > 0.5%", worse, 0.5, "%"))
    found += memory.bars(reports)
    return found


def _worse(report: Report, peer: Any) -> float | None:
    """How far our objective is above the peer's, in percent of the peer's."""
    excess = None if peer is None else objective_excess(report, peer)
    return None if excess is None else 100.0 * (1.0 / (1.0 + excess / 100.0) - 1.0)
