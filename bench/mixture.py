"""Gaussian mixtures: EM steps alone in four structures, whole fits, R's mclust, and memory as rows grow.

``em``      10 steps from the same parameters, ``tol=0``, and labels. The same mathematics for everybody.
``dense``   the same on groups that overlap entirely: every group matters to every row. The worst case; no bar.
``mclust``  10 steps of its VVV (our "full") from the same hard start.
``fit``     ``GaussianMixture(k, random_state=seed)`` as a user calls it, mean over seeds.
``memory``  our fit as rows grow: no array of n x k.

The objective is the mean of -log p(x), taken from the rows in float64 from the parameters a contestant returns.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.harness import Contestant, Result, Turn, product_seconds, race
from bench.report import MB, Bar, Report, Session, Size, bar, bar_below, geometric_mean
from bench.tables import mixture_table

STEPS = 10
REPEATS, MORE = 3, 5  # rounds; more where shares of a product count: on a shared host all need a quiet moment
SHAPES = [(500_000, 2, 5), (200_000, 8, 10), (100_000, 32, 20), (20_000, 100, 20)]
STRUCTURES = ("full", "tied", "diag", "spherical")
FITS = [(200_000, 8, 10), (50_000, 32, 20)]
MCLUST = (20_000, 8, 10)
MEMORY_ROWS = (200_000, 2_000_000, 8_000_000)
LIMIT = 64.0  # MB beyond the table and the labels
WIDE = 32  # columns from which the share of a matrix product's speed counts
SAME = 1e-3  # of the mean log-likelihood: what whole fits must reach beside scikit-learn


class Found(NamedTuple):
    """What a contestant found."""

    weights: np.ndarray  # (k,)
    means: np.ndarray  # (k, d)
    covariances: np.ndarray  # in scikit-learn's shape
    structure: str
    steps: int
    labels: np.ndarray


@dataclass(frozen=True)
class Case:
    """One table, one kind of work."""

    part: str
    n: int
    d: int
    k: int
    dtype: str
    structure: str = "full"
    rounds: int = REPEATS

    @property
    def name(self) -> str:
        return f"{self.part} {self.n}x{self.d} k={self.k} {self.structure} {self.dtype}"

    @property
    def flops(self) -> float:
        """Of the matrix products a step comes to: of rows with factors, and of shares with rows."""
        n, d, k = self.n, self.d, self.k
        products = {
            "full": 4 * d * d * k,
            "tied": 4 * d * d + 4 * d * k,
            "diag": 8 * d * k,
            "spherical": 4 * d * k,
        }
        return STEPS * float(n * products[self.structure])


def cases(size: Size) -> list[Case]:
    """Every case; ``quick`` has a tenth of the rows, ``tiny`` next to none."""
    rounds = 1 if size == "tiny" else REPEATS
    found = [
        Case("em", _rows(n, d, size), d, k, dtype, structure, MORE if rounds > 1 and d >= WIDE else rounds)
        for n, d, k in SHAPES
        for dtype in ("float64", "float32")
        for structure in STRUCTURES
    ]
    found += [Case("dense", _rows(n, d, size), d, k, "float64", "full", 1) for n, d, k in SHAPES[2:]]
    n, d, k = MCLUST
    found.append(Case("mclust", _rows(n, d, size), d, k, "float64", "full", rounds))
    found += [Case("fit", _rows(n, d, size), d, k, "float64", "full", rounds) for n, d, k in FITS]
    many = {"full": MEMORY_ROWS, "quick": MEMORY_ROWS[:2], "tiny": (20_000,)}[size]
    found += [Case("memory-mixture", n, 8, 8, "float32", "full", 1) for n in many]
    return found


def _rows(n: int, d: int, size: Size) -> int:
    return {"full": n, "quick": max(n // 10, 40 * d), "tiny": max(n // 500, 1000)}[size]


def run(case: Case, session: Session) -> Report:
    """Measure a case."""
    table = session.folder / "rows.npy"
    labels = mixture_table(table, case.n, case.d, case.k, case.dtype, apart=case.part != "dense")
    parts = {"em": _em, "dense": _em, "mclust": _mclust, "fit": _fit, "memory-mixture": _memory}
    return parts[case.part](case, table, labels)


# --- em -----------------------------------------------------------------------------------------------------------


def _em(case: Case, table: Path, labels: np.ndarray) -> Report:
    rounds = [{"start": start_from(table, labels, case), "steps": STEPS}] * case.rounds
    contestants = [
        Contestant("asterism", "asterism", "asterism", em_asterism, gemm="own"),
        Contestant("scikit-learn", "scikit-learn", "sklearn", em_sklearn, gemm="own"),
    ]
    # A shared machine has slow minutes: the product takes turns with the fits, and the best of each counts.
    product = Contestant("matrix product", "numpy", "numpy", multiply, counted=False)
    results = race([*contestants, product] if case.d >= WIDE else contestants, judge, table, rounds)
    # In float32 a fit may end a step early, when rounding lets it climb no more: what was not done does not count.
    done = (results[0].fact("steps") or STEPS) / STEPS
    report = Report(case.name, case.part, results, objective="-log p", dtype=case.dtype)
    if case.d < WIDE or not results[-1].turns:
        return report
    return replace(report, flops=done * case.flops, peak=2.0 * _side(case.n) ** 3 / results[-1].best)


def start_from(table: Path, labels: np.ndarray, case: Case) -> dict[str, Any]:
    """Parameters of the groups as a hard start has them, in scikit-learn's shapes."""
    X = np.load(table, mmap_mode="r")[: len(labels)].astype(np.float64)
    k, d = case.k, case.d
    means = np.array([X[labels == c].mean(axis=0) for c in range(k)])
    within = np.array([np.cov(X[labels == c].T, bias=True).reshape(d, d) for c in range(k)])
    within += 1e-3 * np.eye(d)
    if case.part == "dense":
        within = np.repeat(np.cov(X.T).reshape(1, d, d), k, axis=0)
    precisions = {
        "full": lambda: np.linalg.inv(within),
        "tied": lambda: np.linalg.inv(within.mean(axis=0)),
        "diag": lambda: 1.0 / np.diagonal(within, axis1=1, axis2=2),
        "spherical": lambda: d / np.trace(within, axis1=1, axis2=2),
    }[case.structure]()
    weights = np.bincount(labels, minlength=k) / len(labels)
    return {
        "covariance_type": case.structure,
        "weights_init": weights,
        "means_init": means,
        "precisions_init": precisions,
    }


def em_asterism(X: np.ndarray, start: dict[str, Any], steps: int) -> Found:
    from asterism import GaussianMixture

    return _found(GaussianMixture(len(start["means_init"]), max_iter=steps, tol=0, **start).fit(X))


def em_sklearn(X: np.ndarray, start: dict[str, Any], steps: int) -> Found:
    from sklearn.mixture import GaussianMixture

    own = {name: value.astype(X.dtype) if name.endswith("init") else value for name, value in start.items()}
    model = GaussianMixture(len(start["means_init"]), max_iter=steps, tol=0, **own)
    labels = model.fit_predict(X)
    return _found(model)._replace(labels=labels)


def multiply(X: np.ndarray, start: dict[str, Any], steps: int) -> float:  # noqa: ARG001  one signature for all
    """Seconds of a large matrix product, in the precision of the rows."""
    side = _side(len(X))
    return product_seconds(np.random.default_rng(0).standard_normal((side, side)), str(X.dtype))


def _side(rows: int) -> int:
    """Of a product too large to be bound by memory; smaller for trials."""
    return 2048 if rows >= 10_000 else 256


def _found(model: Any) -> Found:
    labels = getattr(model, "labels_", np.empty(0, np.int32))
    return Found(
        model.weights_, model.means_, model.covariances_, model.covariance_type, int(model.n_iter_), labels
    )


# --- mclust -------------------------------------------------------------------------------------------------------


def _mclust(case: Case, table: Path, labels: np.ndarray) -> Report:
    contestants = [Contestant("asterism", "asterism", "asterism", em_asterism)]
    start = start_from(table, labels, case)
    results = race(contestants, judge, table, [{"start": start, "steps": STEPS}] * case.rounds)
    results.append(run_mclust(case, table, labels))
    return Report(case.name, case.part, results, objective="-log p", dtype=case.dtype)


def run_mclust(case: Case, table: Path, labels: np.ndarray) -> Result:
    """What R measures of itself, table loaded; its start and its end do not count."""
    result = Result(Contestant("R mclust VVV", "mclust", "numpy", run_mclust))
    if shutil.which("Rscript") is None:
        result.failure = "not installed"
        return result
    rows, groups = table.with_name("rows.bin"), table.with_name("labels.bin")
    rows.write_bytes(np.load(table).astype(np.float64).tobytes(order="F"))
    groups.write_bytes(labels.astype(np.int32).tobytes())
    script = Path(__file__).with_name("mclust.R")
    numbers = [case.n, case.d, case.k, STEPS, case.rounds]
    command = ["Rscript", str(script), str(rows), str(groups), *map(str, numbers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        result.failure = (done.stderr.strip().splitlines() or ["failed"])[-1]
    for line in done.stdout.splitlines():
        seconds, log_likelihood = map(float, line.split())
        result.turns.append(Turn(seconds, 0, {"objective": -log_likelihood / case.n, "steps": float(STEPS)}))
    return result


# --- fit ----------------------------------------------------------------------------------------------------------


def _fit(case: Case, table: Path, labels: np.ndarray) -> Report:  # noqa: ARG001  one signature for all
    contestants = [
        Contestant("asterism", "asterism", "asterism", fit_asterism),
        Contestant("scikit-learn", "scikit-learn", "sklearn", fit_sklearn),
    ]
    rounds = [{"k": case.k, "seed": seed} for seed in range(case.rounds)]
    results = race(contestants, judge, table, rounds, same=False)
    return Report(case.name, case.part, results, over="mean", objective="-log p", dtype=case.dtype)


def fit_asterism(X: np.ndarray, k: int, seed: int) -> Found:
    from asterism import GaussianMixture

    return _found(GaussianMixture(k, random_state=seed).fit(X))


def fit_sklearn(X: np.ndarray, k: int, seed: int) -> Found:
    from sklearn.mixture import GaussianMixture

    return _found(GaussianMixture(k, random_state=seed).fit(X))


# --- memory -------------------------------------------------------------------------------------------------------


def _memory(case: Case, table: Path, labels: np.ndarray) -> Report:
    start = start_from(table, labels, case)
    contestant = Contestant("asterism", "asterism", "asterism", em_asterism)
    results = race([contestant], judge_memory, table, [{"start": start, "steps": 3}])
    return Report(case.name, case.part, results, dtype=case.dtype)


def judge_memory(X: np.ndarray, found: Found, **_: Any) -> dict[str, float]:  # noqa: ARG001  one signature for all
    return {"labels": float(found.labels.nbytes)}


# --- judging ------------------------------------------------------------------------------------------------------


def judge(X: np.ndarray, found: Found | float, **_: Any) -> dict[str, float]:
    """The mean of -log p(x), in float64 from the rows, and the steps; of a product, its seconds."""
    if isinstance(found, float):
        return {"seconds": found}
    factors = _cholesky(found, X.shape[1])
    total = 0.0
    for a in range(0, len(X), 16_384):
        rows = X[a : a + 16_384].astype(np.float64)
        scores = np.empty((len(rows), len(found.weights)))
        for c, factor in enumerate(factors):
            y = np.linalg.solve(factor, (rows - found.means[c]).T)
            height = np.log(np.diagonal(factor)).sum() + 0.5 * X.shape[1] * np.log(2.0 * np.pi)
            scores[:, c] = np.log(found.weights[c]) - height - 0.5 * (y * y).sum(axis=0)
        top = scores.max(axis=1)
        total += float((top + np.log(np.exp(scores - top[:, None]).sum(axis=1))).sum())
    return {"objective": -total / len(X), "steps": float(found.steps)}


def _cholesky(found: Found, d: int) -> list[np.ndarray]:
    k, c = len(found.weights), np.asarray(found.covariances, np.float64)
    if found.structure == "tied":
        c = np.repeat(c[None], k, axis=0)
    elif found.structure == "diag":
        c = c[:, :, None] * np.eye(d)
    elif found.structure == "spherical":
        c = c[:, None, None] * np.eye(d)
    return [np.linalg.cholesky(matrix) for matrix in c]


# --- bars ---------------------------------------------------------------------------------------------------------


def bars(reports: list[Report]) -> list[Bar]:
    """What mixtures are held to, of the parts that ran."""
    found = []
    em = [r for r in reports if r.part == "em"]
    if em:
        ratios = [r.ratio(r.fastest(["scikit-learn"])) for r in em]
        found.append(bar("em: geometric mean over scikit-learn >= 10", ratios, 10.0, geometric_mean))
        found.append(bar("em: least ratio to scikit-learn >= 4", ratios, 4.0))
        shares = [r.share(r.ours) for r in em if r.flops]
        if shares:
            found.append(bar("em: least share of a matrix product's speed >= 50", shares, 50.0, unit="%"))
    mclust = [r.ratio(r.fastest(["mclust"])) for r in reports if r.part == "mclust"]
    if mclust:
        found.append(bar("mclust: VVV >= 5", mclust, 5.0))
    fit = [r for r in reports if r.part == "fit"]
    if fit:
        ratios = [r.ratio(r.fastest(["scikit-learn"])) for r in fit]
        found.append(bar("fit: least ratio to scikit-learn >= 8", ratios, 8.0))
        found.append(
            bar_below("fit: no -log p above scikit-learn's by more", [_worse(r) for r in fit], SAME, "nats")
        )
    memory = [r.ours for r in reports if r.part == "memory-mixture"]
    if memory:
        extra = [(m.turns[0].memory - m.turns[0].facts["labels"]) / MB if m.turns else None for m in memory]
        found.append(bar_below("memory: beyond table and labels, below 64", extra, LIMIT, "MB"))
    return found


def _worse(report: Report) -> float | None:
    peer = report.fastest(["scikit-learn"])
    ours, theirs = (r.fact("objective") if r is not None and r.turns else None for r in (report.ours, peer))
    return None if ours is None or theirs is None else ours - theirs
