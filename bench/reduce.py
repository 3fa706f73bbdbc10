"""Fewer dimensions: independent components and sparse singular values beside scikit-learn, PPCA beside itself.

``ica``    4 sources at a million rows. The objective is the Amari distance of the unmixing matrix: 0 is perfect.
``svd``    the 20 largest singular values of a sparse matrix; the objective is the Frobenius norm of what is left out.
           The matrix is made from its cells in the first turn of everybody, and kept: the best turn counts.
``ppca``   closed form against EM, and 30 % missing cells against none. Peers have no such thing: only facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.harness import Contestant, race
from bench.report import Bar, Report, Session, Size, bar, bar_below

REPEATS = 3
WANTED = 20


@dataclass(frozen=True)
class Case:
    """One table."""

    kind: str  # ica, svd, ppca
    n: int
    d: int
    rounds: int = REPEATS

    @property
    def name(self) -> str:
        return f"{self.kind} {self.n}x{self.d}"


def cases(size: Size) -> list[Case]:
    """Every case."""
    shrink = {"full": 1, "quick": 10, "tiny": 100}[size]
    rounds = 1 if size == "tiny" else REPEATS
    return [
        Case("ica", 1_000_000 // shrink, 4, rounds),
        Case("svd", 200_000 // shrink, 50_000 // shrink, rounds),
        Case("ppca", 4000 // min(shrink, 10), 20, 1),
    ]


def run(case: Case, session: Session) -> Report:
    """Measure a case."""
    table = session.folder / "rows.npy"
    make, judge, contestants = {"ica": ICA, "svd": SVD, "ppca": PPCA}[case.kind]
    make(table, case.n, case.d)
    results = race(contestants, judge, table, [{}] * case.rounds)
    words = {"ica": "Amari distance", "svd": "left out", "ppca": "log-likelihood a row"}
    report = Report(case.name, case.kind, results, objective=words[case.kind])
    if case.kind == "ppca" and results[0].turns:
        facts = results[0].turns[0].facts
        report.remarks.extend(f"{name} {value:.3g}" for name, value in facts.items() if name != "objective")
    return report


# --- independent components


def mixing() -> np.ndarray:
    return np.random.default_rng(7).normal(size=(4, 4))


def mixed_table(path: Any, n: int, _d: int) -> None:
    rng = np.random.default_rng(0)
    two = np.sign(rng.normal(size=n)) + 0.3 * rng.normal(size=n)
    sources = [rng.uniform(-1, 1, n), rng.laplace(size=n), two, np.sin(np.arange(n) / 17.0)]
    s = np.column_stack([(x - x.mean()) / x.std() for x in sources])
    np.save(path, s @ mixing().T)


def ica_asterism(X: np.ndarray) -> np.ndarray:
    from asterism import FastICA

    return FastICA(4, random_state=0).fit(X).components_


def ica_sklearn(X: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import FastICA

    return FastICA(4, whiten="unit-variance", whiten_solver="eigh", random_state=0).fit(X).components_


def ica_sklearn_svd(X: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import FastICA

    return FastICA(4, whiten="unit-variance", random_state=0).fit(X).components_


def judge_ica(_X: np.ndarray, found: Any) -> dict[str, float]:
    p = np.abs(np.asarray(found) @ mixing())
    apart = (p.sum(1) / p.max(1) - 1).sum() + (p.sum(0) / p.max(0) - 1).sum()
    return {"objective": float(apart / (2 * 4 * 3))}


# --- sparse singular values


def sparse_table(path: Any, n: int, d: int) -> None:
    """Row, column and value of the cells of a random matrix of density 1e-4, after a row with n and d."""
    rng = np.random.default_rng(0)
    count = max(int(n * d * 1e-4), 40 * WANTED)
    cells = np.column_stack([rng.integers(n, size=count), rng.integers(d, size=count), rng.random(count)])
    np.save(path, np.vstack([[[n, d, 0.0]], cells]))


KEPT: dict[int, Any] = {}  # rows of the table of cells -> its matrix


def sparse_of(X: np.ndarray) -> Any:
    from scipy import sparse

    if len(X) not in KEPT:
        n, d = int(X[0, 0]), int(X[0, 1])
        at = X[1:, :2].astype(np.int64)
        KEPT[len(X)] = sparse.csr_matrix((X[1:, 2], (at[:, 0], at[:, 1])), shape=(n, d))
    return KEPT[len(X)]


def svd_asterism(X: np.ndarray) -> np.ndarray:
    from asterism import TruncatedSVD

    return TruncatedSVD(WANTED).fit(sparse_of(X)).components_


def svd_sklearn(X: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD

    return TruncatedSVD(WANTED, random_state=0).fit(sparse_of(X)).components_


def svd_arpack(X: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD

    return TruncatedSVD(WANTED, algorithm="arpack", random_state=0).fit(sparse_of(X)).components_


def judge_svd(X: np.ndarray, found: Any) -> dict[str, float]:
    a = sparse_of(X)
    basis = np.linalg.qr(np.asarray(found, np.float64).T)[0]
    kept = a @ basis
    return {"objective": float(np.sqrt((a.data**2).sum() - (kept**2).sum()))}


# --- probabilistic PCA


def planes_table(path: Any, n: int, d: int) -> None:
    rng = np.random.default_rng(0)
    w = rng.normal(size=(d, 5)) * np.linspace(3, 1.5, 5)
    np.save(path, rng.normal(size=(n, 5)) @ w.T + 0.5 * rng.normal(size=(n, d)) + 10 * rng.normal(size=d))


def holed(X: np.ndarray) -> np.ndarray:
    rows = np.array(X)
    rows[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    return rows


def ppca_asterism(X: np.ndarray) -> Any:
    from asterism import ProbabilisticPCA

    return [
        ProbabilisticPCA(5).fit(X),
        ProbabilisticPCA(5, method="em").fit(X),
        ProbabilisticPCA(5).fit(holed(X)),
    ]


def judge_ppca(X: np.ndarray, found: Any) -> dict[str, float]:
    from scipy.linalg import subspace_angles

    closed, em, gaps = found
    rows, gone = holed(X), np.isnan(holed(X))
    means = np.broadcast_to(np.nanmean(rows, axis=0), X.shape)
    ours, theirs = (np.sqrt(((x - X)[gone] ** 2).mean()) for x in (gaps.impute(rows), means))
    return {
        "objective": closed.log_likelihood_ / len(X),
        "em: radians": float(subspace_angles(closed.loadings_, em.loadings_).max()),
        "em: noise": abs(em.noise_variance_ / closed.noise_variance_ - 1),
        "em: likelihood": abs(em.log_likelihood_ / closed.log_likelihood_ - 1),
        "gaps: degrees": float(np.degrees(subspace_angles(closed.loadings_, gaps.loadings_)).max()),
        "gaps: error of column means over ours": float(theirs / ours),
    }


ICA = (
    mixed_table,
    judge_ica,
    [
        Contestant("asterism", "asterism", "asterism", ica_asterism),
        Contestant("scikit-learn eigh", "scikit-learn", "sklearn", ica_sklearn),
        Contestant("scikit-learn svd", "scikit-learn", "sklearn", ica_sklearn_svd),
    ],
)
SVD = (
    sparse_table,
    judge_svd,
    [
        Contestant("asterism", "asterism", "asterism", svd_asterism),
        Contestant("scikit-learn randomized", "scikit-learn", "sklearn", svd_sklearn),
        Contestant("scikit-learn arpack", "scikit-learn", "sklearn", svd_arpack, counted=False),
    ],
)
PPCA = (planes_table, judge_ppca, [Contestant("asterism", "asterism", "asterism", ppca_asterism)])


def bars(reports: list[Report]) -> list[Bar]:
    """What these methods are held to."""
    found: list[Bar] = []
    by = {report.part: report for report in reports}
    for part, goal in (("ica", 2.0), ("svd", 1.5)):
        if part in by:
            report = by[part]
            found.append(
                bar(f"{part}: ratio to scikit-learn >= {goal}", [report.ratio(report.fastest())], goal)
            )
            peer = min(
                (r.fact("objective") or np.inf for r in report.results[1:] if r.contestant.counted),
                default=None,
            )
            ours = report.ours.fact("objective")
            worse = None if ours is None or peer is None else 100.0 * (ours / peer - 1.0)
            found.append(bar_below(f"{part}: {report.objective} above scikit-learn's", [worse], 0.0, "%"))
    if "ppca" in by:
        fact = by["ppca"].ours.fact
        apart = [fact(f"em: {name}") for name in ("radians", "noise", "likelihood")]
        apart = [None if x is None else x / 1e-8 for x in apart]
        found.append(bar_below("ppca: EM apart from the closed form, in 1e-8", apart, 1.0, "1e-8"))
        found.append(bar_below("ppca: turned by 30 % missing", [fact("gaps: degrees")], 5.0, "degrees"))
        found.append(
            bar(
                "ppca: error of column means over ours >= 3",
                [fact("gaps: error of column means over ours")],
                3.0,
            )
        )
    return found
