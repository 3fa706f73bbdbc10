"""The same answer whatever cannot matter: every table by six changes, answers compared on the rows in common."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bench.choose_answers import FIND, Answer, Kept, by_find
from bench.choose_pieces import Array, Rng
from bench.choose_tables import LabelledTable

LEFT_OUT = 0.05


@dataclass(frozen=True)
class Changed:
    """A changed table: its rows, which row of the original each is, and settings of ``find``."""

    rows: Array
    origin: np.ndarray
    settings: dict[str, Any] = field(default_factory=dict)


def row_order(rows: Array, rng: Rng) -> Changed:
    order = rng.permutation(len(rows))
    return Changed(rows[order], order)


def column_order(rows: Array, rng: Rng) -> Changed:
    """And their signs."""
    d = rows.shape[1]
    signs = rng.choice([-1.0, 1.0], d)
    return Changed((rows * signs)[:, rng.permutation(d)], np.arange(len(rows)))


def units(rows: Array, rng: Rng) -> Changed:
    """Every column in another unit, from another origin."""
    d = rows.shape[1]
    factor = 10.0 ** rng.uniform(-3, 3, d)
    return Changed((rows + rows.std(axis=0) * rng.uniform(-5, 5, d)) * factor, np.arange(len(rows)))


def other_seed(rows: Array, rng: Rng) -> Changed:
    return Changed(rows, np.arange(len(rows)), {"seed": int(rng.integers(1, 1000))})


def written_twice(rows: Array, _: Rng) -> Changed:
    """Each row twice with half the weight."""
    origin = np.tile(np.arange(len(rows)), 2)
    return Changed(rows[origin], origin, {"weights": np.full(len(origin), 0.5)})


def left_out(rows: Array, rng: Rng) -> Changed:
    """One row in twenty."""
    kept = np.sort(rng.permutation(len(rows))[round(LEFT_OUT * len(rows)) :])
    return Changed(rows[kept], kept)


CHANGES: dict[str, Callable[[Array, Rng], Changed]] = {
    "row order": row_order,
    "column order": column_order,
    "units": units,
    "seed": other_seed,
    "written twice": written_twice,
    "left out": left_out,
}


@dataclass(frozen=True)
class Pair:
    """Two answers to what should be the same."""

    table: str
    kind: str
    change: str
    ks: tuple[int, int]
    rand: float

    @property
    def same(self) -> bool:
        return self.ks[0] == self.ks[1]


def changed(table: LabelledTable, change: str) -> Changed:
    """The change of a table, the same every time."""
    return CHANGES[change](table.rows, np.random.default_rng([len(table.rows), list(CHANGES).index(change)]))


def answer_of(kept: Kept, table: LabelledTable, change: str = "") -> Answer:
    """Our answer, kept or computed. That to a changed table has labels in the order of the changed rows."""
    name = f"{FIND} {change}".strip()
    found = kept.get(name, table)
    if found is None:
        began = time.process_time()
        if change:
            c = changed(table, change)
            found = by_find(replace(table, rows=np.ascontiguousarray(c.rows)), **c.settings)
        else:
            found = by_find(table)
        found = replace(found, seconds=time.process_time() - began)
        kept.put(name, table, found)
    return found


def compared(first: Answer, second: Answer, origin: np.ndarray) -> float:
    """Adjusted Rand index between both on the rows in common; 1 where both find one group."""
    return float(adjusted_rand_score(first.labels[origin], second.labels))


def pairs(kept: Kept, tables: Sequence[LabelledTable], seconds: float = float("inf")) -> list[Pair]:
    """All tables by all changes, as far as the time goes."""
    found, began = [], time.monotonic()
    for table in tables:
        if time.monotonic() - began > seconds:
            break
        first = answer_of(kept, table)
        for change in CHANGES:
            second = answer_of(kept, table, change)
            rand = compared(first, second, changed(table, change).origin)
            found.append(Pair(table.name, table.kind, change, (first.k, second.k), rand))
        print(f"  same: {table.name}", file=sys.stderr, flush=True)
    return found


def described(found: Sequence[Pair]) -> list[str]:
    """By change and by kind, and the pairs that differ."""
    lines = [f"{'':16} {'pairs':>6} {'same k':>8} {'adjusted Rand':>14}"]
    groups: dict[str, list[Pair]] = defaultdict(list)
    for pair in found:
        for heading in (pair.change, pair.kind, "all"):
            groups[heading].append(pair)
    for heading, of in groups.items():
        same, rand = np.mean([p.same for p in of]), np.mean([p.rand for p in of])
        lines.append(f"{heading:16} {len(of):6} {same:8.1%} {rand:14.3f}")
    lines += [
        f"  {p.table}, {p.change}: {p.ks[0]} and {p.ks[1]}, {p.rand:.2f}"
        for p in found
        if not p.same or p.rand < 0.9
    ]
    return lines
