"""A table of daily life in the making: planted groups, columns as they are and as people write them.

A column has a *clean* side, which the oracle gets (numbers, codes of levels, with the kind), and a *written* side,
which goes to the file. ``sort`` says what it truly is:

    number    a quantity, however written           names   labels without an order      order   labels with one
    yes/no    two labels                            moment  a date or time               place   latitude or longitude
    vector    several numbers in a cell             aside   of no use: an identifier, free text, a constant, a copy
    crowd     names of which most are rare: used with rare ones pooled, or set aside
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.choose_pieces import Array, Labels
from bench.daily_cells import Write, plain

GAP = (
    2.6  # convention: standard deviations between neighbouring groups in a column that tells them apart well
)


@dataclass
class Column:
    """One column."""

    name: str
    sort: str
    written: list[Any]
    clean: dict[str, Any] = field(default_factory=dict)  # columns of the oracle's; none: it goes without
    kinds: dict[str, Any] = field(default_factory=dict)  # what they are


@dataclass
class Draft:
    """The rows so far."""

    n: int
    k: int
    rng: np.random.Generator
    shares: Sequence[float] | None = None
    columns: list[Column] = field(default_factory=list)
    holes: float = 0.0  # share of cells that are missing in every useful column

    def __post_init__(self) -> None:
        shares = np.asarray(self.shares or self.rng.dirichlet(np.full(self.k, 8.0)))
        shares = np.maximum(shares, 0.5 / self.k)
        self.z: Labels = self.rng.choice(self.k, self.n, p=shares / shares.sum())
        self.z[: 5 * self.k] = np.tile(np.arange(self.k), 5)

    # --- what tells groups apart ---

    def score(self, gap: float = GAP, sd: float = 1.0) -> Array:
        """(n,) standard normal within groups, whose means lie ``gap`` apart, in an order of their own."""
        places = self.rng.permutation(self.k) - (self.k - 1) / 2
        return places[self.z] * gap + self.rng.normal(0, sd, self.n)

    def missing(self, x: Array, more: float = 0.0) -> Array:
        """The same with holes."""
        out = np.asarray(x, float).copy()
        out[self.rng.random(self.n) < self.holes + more] = np.nan
        return out

    # --- columns ---

    def number(
        self, name: str, mean: float, sd: float, write: Write | None = None, *, gap: float = GAP,
        low: float = -np.inf, high: float = np.inf, log: bool = False, blank: str = "", holes: float = 0.0,
    ) -> Draft:  # fmt: skip
        """A quantity; with ``log`` its logarithm is normal, ``sd`` then a factor, e.g. 0.4."""
        s = self.score(gap)
        x = mean * np.exp(sd * s) if log else mean + sd * s
        return self.values(name, np.clip(x, low, high), write or plain(), blank=blank, holes=holes)

    def values(
        self, name: str, x: Array, write: Write, *, sort: str = "number", blank: str = "", holes: float = 0.0,
        kind: str = "numeric",
    ) -> Draft:  # fmt: skip
        """Given numbers, and how they are written; ``blank`` stands where one is not known."""
        x = self.missing(x, holes)
        written = [blank if np.isnan(v) else write(float(v)) for v in x]
        self.columns.append(Column(name, sort, written, {name: x}, {name: kind}))
        return self

    def counts(self, name: str, base: float, ratio: float = 2.6, write: Write | None = None) -> Draft:
        """Poisson counts, of means that differ by a ratio."""
        places = self.rng.permutation(self.k)
        x = self.rng.poisson(base * ratio ** places[self.z]).astype(float)
        return self.values(name, x, write or plain(0), kind="count")

    def names(self, name: str, levels: Sequence[str], sure: float = 0.75, blank: str = "") -> Draft:
        """Every group has favourites among the levels."""
        L = len(levels)
        favourite = self.rng.permutation(max(L, self.k))[: self.k] % L
        any_level = self.rng.integers(0, L, self.n)
        code = np.where(self.rng.random(self.n) < sure, favourite[self.z], any_level)
        return self._levels(name, "names", levels, code, "categorical", blank)

    def order(
        self, name: str, levels: Sequence[str], gap: float = GAP, sort: str = "order", blank: str = ""
    ) -> Draft:
        """A normal score cut into ordered levels."""
        s = self.score(gap)
        cuts = np.quantile(s, np.linspace(0, 1, len(levels) + 1)[1:-1])
        return self._levels(name, sort, levels, np.searchsorted(cuts, s), "ordinal", blank)

    def yes_no(self, name: str, no: str = "no", yes: str = "yes", sure: float = 0.85) -> Draft:
        """Half of the groups mostly say yes."""
        mostly = self.rng.permutation(self.k)[self.z] % 2
        code = np.where(self.rng.random(self.n) < sure, mostly, 1 - mostly)
        return self._levels(name, "yes/no", (no, yes), code, "boolean", "")

    def moments(
        self, name: str, write: Write, *, mean: float = 300.0, sd: float = 60.0, gap: float = GAP
    ) -> Draft:
        """Days since the start of 2023, as dates."""
        x = np.floor(mean + sd * self.score(gap))
        return self.values(name, x, write, sort="moment")

    def daily(self, name: str, write: Write, *, spread: float = 0.9, days: int = 28) -> Draft:
        """Timestamps: any day of some weeks, at the hour of the group."""
        hours = 12 + 3.6 * (self.rng.permutation(self.k)[self.z] - (self.k - 1) / 2)
        hour = np.clip(hours + self.rng.normal(0, spread, self.n), 0, 23.99)
        x = self.rng.integers(0, days, self.n) + hour / 24
        self.columns.append(
            Column(name, "moment", [write(float(v)) for v in x], {name: hour}, {name: "numeric"})
        )
        return self

    def towns(self, lat: str, lon: str, sd: float = 0.25) -> Draft:
        """Every group about a place of its own."""
        centers = np.column_stack([self.rng.uniform(44, 56, self.k), self.rng.uniform(-3, 22, self.k)])
        for j, name in enumerate((lat, lon)):
            x = centers[self.z, j] + sd * self.rng.normal(size=self.n)
            self.columns.append(Column(name, "place", [f"{v:.5f}" for v in x], {name: x}, {name: "numeric"}))
        return self

    def vector(self, name: str, length: int, gap: float = 1.2) -> Draft:
        """A list of numbers in every cell."""
        centers = self.rng.normal(0, gap, (self.k, length))
        x = centers[self.z] + self.rng.normal(size=(self.n, length))
        clean = {f"{name}_{j}": x[:, j] for j in range(length)}
        written = [[round(float(v), 4) for v in row] for row in x]
        self.columns.append(Column(name, "vector", written, clean, dict.fromkeys(clean, "numeric")))
        return self

    def aside(self, name: str, written: Sequence[Any], sort: str = "aside") -> Draft:
        """A column of no use."""
        self.columns.append(Column(name, sort, list(written)))
        return self

    def copy(self, of: str, name: str, change: Write) -> Draft:
        """A column that repeats another in other units."""
        source = next(column for column in self.columns if column.name == of)
        x = source.clean[of]
        self.columns.append(Column(name, "aside", ["" if np.isnan(v) else change(float(v)) for v in x]))
        return self

    def sentinel(self, name: str, mark: str, share: float = 0.08) -> Draft:
        """Some cells of a column hold a mark for "no answer"; the truth is that they are missing."""
        column = next(column for column in self.columns if column.name == name)
        gone = self.rng.random(self.n) < share
        column.written = [mark if lost else cell for cell, lost in zip(column.written, gone, strict=True)]
        for key, cells in column.clean.items():
            column.clean[key] = [None if lost else c for c, lost in zip(cells, gone, strict=True)]
        return self

    def _levels(
        self, name: str, sort: str, levels: Sequence[str], code: Labels, kind: str, blank: str
    ) -> Draft:
        gone = self.rng.random(self.n) < self.holes
        cells = [None if lost else levels[c] for c, lost in zip(code, gone, strict=True)]
        written = [blank if cell is None else cell for cell in cells]
        wish = kind if kind == "categorical" else (kind, tuple(levels))
        self.columns.append(Column(name, sort, written, {name: cells}, {name: wish}))
        return self
