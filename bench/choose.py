"""How many groups: verdicts on labelled tables beside the usual ways, and the sweep of mixtures that they rest on.

``sets``   every table of ``choose_sets``: exact hits, hits within one, alarms where there are no groups, and of our
           verdicts at a confidence of 0.9 or more the share that is right. Generated tables come from ``--seed``:
           rules were found on 0, 2 and 3, so figures are those of another. With ``--keep FILE`` a run goes on where
           one was stopped (``choose_answers``). Times are of the processor, compared by nobody.
``sweep``  BIC of k = 1..15 in four covariance structures beside a loop over scikit-learn's GaussianMixture. The
           objective is the least BIC; every cell's log-likelihood is taken from the rows by the same judge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.choose_answers import CONTESTANTS, OURS, Answer, Kept, answers, ask, present
from bench.choose_sets import LabelledSet, all_sets
from bench.harness import Contestant, Result, Turn, race
from bench.mixture import Found
from bench.mixture import judge as judge_mixture
from bench.report import Bar, Report, Session, Size, bar
from bench.tables import mixture_table

STRUCTURES = {"full": "VVV", "tied": "EEE", "diag": "VVI", "spherical": "VII"}
SURE = 0.9  # a confidence from which on we must be right as often
TINY = ("3 round, d=2", "one normal, 60 x 4")
REPEATS = 2


@dataclass(frozen=True)
class Case:
    """One kind of work."""

    part: str
    n: int = 0
    seed: int = 1
    most: int = 15  # components
    size: Size = "full"
    keep: Path | None = None  # where answers are kept between runs

    @property
    def name(self) -> str:
        return f"sets seed={self.seed}" if self.part == "sets" else f"sweep {self.n}x8 k=1..{self.most}"


def cases(size: Size) -> list[Case]:
    """Both; ``quick`` has the generated tables only and a tenth of the rows, ``tiny`` two tables."""
    n, most = {"full": (20_000, 15), "quick": (2000, 15), "tiny": (600, 3)}[size]
    return [Case("sweep", n, most=most, size=size), Case("sets", size=size)]


def seeded(case: Case, seed: int) -> Case:
    """The case with tables of another seed."""
    return replace(case, seed=seed)


def kept(case: Case, file: Path) -> Case:
    """The case with answers of earlier runs, if they are there; new ones are added."""
    return replace(case, keep=file)


def run(case: Case, session: Session) -> Report:
    """Measure a case."""
    return _sweep(case, session) if case.part == "sweep" else _sets(case)


# --- labelled sets ------------------------------------------------------------------------------------------------


def _sets(case: Case) -> Report:
    tables = list(all_sets(case.seed, real=case.size == "full"))
    if case.size == "tiny":
        tables = [replace(table, most=4) for table in tables if table.name in TINY]
    ask(OURS, replace(tables[0], X=tables[0].X[:50]))  # compiled and warm before it is timed
    kept, names = Kept(case.keep), present()
    answers(kept, names, tables)
    said = {name: [kept.get(name, table) or Answer(0) for table in tables] for name in names}
    results = []
    for name, (package, _) in CONTESTANTS.items():
        result = Result(Contestant(name, package, "numpy", ask_nobody))
        if name in said:
            result.turns.append(Turn(sum(a.seconds for a in said[name]), 0, scores(tables, said[name])))
        else:
            result.failure = "not installed"
        results.append(result)
    return Report(case.name, "sets", results, objective="exact hits", remarks=_told(tables, said, results))


def ask_nobody(X: np.ndarray) -> None:
    """Contestants of the sets are asked table by table, not raced."""


def scores(tables: list[LabelledSet], answers: list[Answer]) -> dict[str, float]:
    """Exact hits, within one, false alarms, and how many of the sure verdicts are right."""
    pairs = list(zip(tables, answers, strict=True))
    sure = [table.k == a.k for table, a in pairs if a.confidence >= SURE]
    return {
        "objective": float(sum(table.k == a.k for table, a in pairs)),
        "within one": float(sum(abs(table.k - a.k) <= 1 for table, a in pairs)),
        "false alarms": float(sum(a.k > 1 for table, a in pairs if table.k == 1)),
        "sure": float(len(sure)),
        "sure and right": float(sum(sure)),
    }


def _told(tables: list[LabelledSet], said: dict[str, list[Answer]], results: list[Result]) -> list[str]:
    """The columns, and every table that somebody got wrong."""
    lines = [f"{len(tables)} tables, {sum(table.k == 1 for table in tables)} of them without groups"]
    for result in results:
        if not result.turns:
            continue
        facts = result.turns[0].facts
        line = f"{result.contestant.name:12} exact {facts['objective']:3.0f}  within one {facts['within one']:3.0f}"
        line += f"  false alarms {facts['false alarms']:3.0f}"
        if facts["sure"]:
            line += f"  at {SURE} or surer {facts['sure and right']:.0f} of {facts['sure']:.0f} right"
        lines.append(line)
    lines += ["", f"{'':28} {'true':>4} " + " ".join(f"{name:>10}" for name in said)]
    for i, table in enumerate(tables):
        cells = [f"{a[i].k}{'' if a[i].k == table.k else ' *'}" for a in said.values()]
        ours = said["asterism"][i]
        if any(cell.endswith("*") for cell in cells):
            line = f"{table.name:28} {table.k:4} " + " ".join(f"{cell:>10}" for cell in cells)
            lines.append(line + f"  ({ours.confidence:.2f})")
    return lines


# --- sweep --------------------------------------------------------------------------------------------------------


class Swept(NamedTuple):
    """One mixture of a sweep, to be judged."""

    found: Found
    parameters: int


def _sweep(case: Case, session: Session) -> Report:
    table = session.folder / "rows.npy"
    mixture_table(table, case.n, 8, 10, "float64", seed=case.seed)
    contestants = [
        Contestant("asterism", "asterism", "asterism", sweep_asterism),
        Contestant("scikit-learn loop", "scikit-learn", "sklearn", sweep_sklearn),
    ]
    rounds = [{"most": case.most}] * (1 if case.size == "tiny" else REPEATS)
    results = race(contestants, judge, table, rounds)
    picks = [f"{r.contestant.name} picks {r.fact('k'):.0f}" for r in results if r.turns]
    return Report(case.name, "sweep", results, objective="least BIC", remarks=[", ".join(picks)])


def sweep_asterism(X: np.ndarray, most: int) -> list[Swept]:
    from asterism.choose.sweep import sweep
    from asterism.data.source import ArraySource
    from asterism.families.gaussian import GaussianFamily

    families = {name: GaussianFamily(structure) for name, structure in STRUCTURES.items()}
    cells = sweep(ArraySource(X), families, range(1, most + 1))
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


# --- bars ---------------------------------------------------------------------------------------------------------


def bars(reports: list[Report]) -> list[Bar]:
    """What choosing is held to."""
    found: list[Bar] = []
    for report in reports:
        if report.ours.turns:
            found += _sweep_bars(report) if report.part == "sweep" else _set_bars(report)
    return found


def _sweep_bars(report: Report) -> list[Bar]:
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


def _set_bars(report: Report) -> list[Bar]:
    ours = report.ours.turns[0].facts
    others = [r.turns[0].facts for r in report.results if r.turns and r is not report.ours]
    found = []
    for text, name, sign in (("most exact hits", "objective", 1), ("most within one", "within one", 1),
                             ("fewest false alarms", "false alarms", -1)):  # fmt: skip
        best = max((sign * facts[name] for facts in others), default=None)
        met = None if best is None else sign * ours[name] >= best
        value = f"{ours[name]:.0f}" + ("" if best is None else f", best peer {sign * best:.0f}")
        found.append(Bar(f"sets: {text}", met, value))
    found.append(Bar("sets: no false alarm", ours["false alarms"] == 0.0, f"{ours['false alarms']:.0f}"))
    share = ours["sure and right"] / ours["sure"] if ours["sure"] else None
    found.append(bar(f"sets: right at {SURE} or surer >= 0.9", [share], 0.9, unit=""))
    return found
