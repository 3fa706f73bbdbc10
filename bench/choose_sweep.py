"""BIC of k = 1..15 in four covariance structures beside a loop over scikit-learn's GaussianMixture. The objective is
the least BIC; every cell's log-likelihood is taken from the rows by the same judge."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bench.harness import Contestant, race
from bench.mixture import Found
from bench.mixture import judge as judge_mixture
from bench.report import Bar, Report, Session, bar
from bench.tables import mixture_table

STRUCTURES = {"full": "VVV", "tied": "EEE", "diag": "VVI", "spherical": "VII"}


class Swept(NamedTuple):
    """One mixture of a sweep, to be judged."""

    found: Found
    parameters: int


def run_sweep(name: str, n: int, most: int, repeats: int, session: Session) -> Report:
    """Both on n rows of ten groups in eight columns."""
    table = session.folder / "rows.npy"
    mixture_table(table, n, 8, 10, "float64", seed=1)
    contestants = [
        Contestant("asterism", "asterism", "asterism", sweep_asterism),
        Contestant("scikit-learn loop", "scikit-learn", "sklearn", sweep_sklearn),
    ]
    results = race(contestants, judge, table, [{"most": most}] * repeats)
    picks = [f"{r.contestant.name} picks {r.fact('k'):.0f}" for r in results if r.turns]
    return Report(name, "sweep", results, objective="least BIC", remarks=[", ".join(picks)])


def sweep_asterism(X: np.ndarray, most: int) -> list[Swept]:
    from asterism.data.source import ArraySource
    from asterism.families.gaussian import GaussianFamily
    from asterism.methods.path import fit_path

    families = {name: GaussianFamily(structure) for name, structure in STRUCTURES.items()}
    cells = fit_path(ArraySource(X), families, range(1, most + 1))
    return [_swept(cell) for cell in cells.values()]


def _swept(cell: Any) -> Swept:
    family, params = cell.mixture.family, cell.mixture.params
    means, covariances = params.means + family.reference, params.covariances.full()
    return Swept(Found(cell.mixture.weights, means, covariances, "full", 0, np.empty(0)), cell.n_parameters)


def sweep_sklearn(X: np.ndarray, most: int) -> list[Swept]:
    from sklearn.mixture import GaussianMixture

    found = []
    for structure in STRUCTURES:
        for k in range(1, most + 1):
            m = GaussianMixture(k, covariance_type=structure, random_state=0).fit(X)
            mixture = Found(m.weights_, m.means_, m.covariances_, structure, m.n_iter_, np.empty(0))
            found.append(Swept(mixture, int(m._n_parameters())))
    return found


def judge(X: np.ndarray, found: list[Swept], most: int) -> dict[str, float]:
    """BIC of every cell from the rows, the least of them and its k."""
    facts, n = {}, len(X)
    order = [f"{structure} {k}" for structure in STRUCTURES for k in range(1, most + 1)]
    for cell, swept in zip(order, found, strict=True):
        facts[cell] = 2.0 * n * judge_mixture(X, swept.found)["objective"] + swept.parameters * np.log(n)
    best = min(facts, key=lambda cell: facts[cell])
    return {"objective": facts[best], "k": float(best.split()[1]), **facts}


def sweep_bars(report: Report) -> list[Bar]:
    peer = report.fastest()
    ours = report.ours.turns[0].facts
    worst = None
    if peer is not None:
        theirs = peer.turns[0].facts
        cells = [name for name in ours if " " in name]
        worst = max((ours[c] - theirs[c]) / abs(theirs[c]) for c in cells)
    return [
        bar("sweep: >= 15 times the loop", [report.ratio(peer)], 15.0),
        Bar("sweep: BIC as good in every cell", None if worst is None else worst <= 1e-6,
            "not measured" if worst is None else f"{100 * worst:+.4f}% at worst"),
        Bar("sweep: picks the true 10", ours["k"] == 10.0, f"{ours['k']:.0f}"),
    ]  # fmt: skip
