"""Seconds of ``find`` on three tables: with missing cells, with many numbers to choose from, with many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.choose_pieces import Array, Rng, normal_groups
from bench.harness import Contestant, race
from bench.report import Bar, Report, Session, bar_below


@dataclass(frozen=True)
class Timed:
    """A table's size, how it is made, and the seconds allowed."""

    name: str
    n: int
    d: int
    groups: int
    missing: float
    most: int  # groups to choose from; 0: find's own range
    limit: float


TIMED = {
    "missing": Timed("3000x12, 5% missing", 3000, 12, 4, 0.05, 0, 5.0),
    "many": Timed("5000x2, k=1..60", 5000, 2, 45, 0.0, 60, 10.0),
    "long": Timed("1000000x10", 1_000_000, 10, 5, 0.0, 0, 20.0),
}


def drawn_table(timed: Timed, n: int, rng: Rng) -> Array:
    """Normal groups, n rows in all, cells missing at random."""
    rows = normal_groups(rng, [2 * n // timed.groups] * timed.groups, timed.d, 5.0)[0]
    rows = rng.permutation(rows)[:n]
    rows[rng.uniform(size=rows.shape) < timed.missing] = np.nan
    return rows


def run_times(part: str, name: str, n: int, session: Session) -> Report:
    """``find`` on one of TIMED with n rows."""
    timed = TIMED[part]
    table = session.folder / "rows.npy"
    np.save(table, drawn_table(timed, n, np.random.default_rng(1)))
    results = race(
        [Contestant("asterism", "asterism", "asterism", find)], judge, table, [{"most": timed.most}]
    )
    remarks = [f"{r.fact('objective'):.0f} groups, {timed.groups} true" for r in results if r.turns]
    return Report(name, "times", results, objective="groups", remarks=remarks)


def find(X: np.ndarray, most: int) -> int:
    import asterism

    settings: dict[str, Any] = {"k": range(1, most + 1)} if most else {}
    return int(asterism.find(X, **settings).k)


def judge(X: np.ndarray, found: int, most: int) -> dict[str, float]:  # noqa: ARG001  one signature for all
    return {"objective": float(found)}


def time_bars(report: Report) -> list[Bar]:
    """The seconds allowed, of full sizes."""
    timed = next(timed for timed in TIMED.values() if report.name == f"times {timed.name}")
    return [bar_below(report.name, [report.seconds(report.ours)], timed.limit, "s")]
