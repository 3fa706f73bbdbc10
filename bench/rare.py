"""Whether far groups of 100 to 1,000 rows are found in tables of a million, and none where there are none.

    python -m bench.rare                       all tables, about ten minutes
    python -m bench.rare --rows 200000         a first look
    python -m bench.rare --only "t(2)"         tables with these words in their name

A rare group is found where one group of the answer has at least 95% of its rows, and these are 95% of that group. A
false one is any other group that has less than 1% of the rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SIZES = (100, 130, 200, 410, 1000)  # rows of rare groups
FAR = 12.0  # standard deviations between their centres and those of all other groups, at least
SHARE = 0.01  # of the rows: smaller groups are rare ones


@dataclass(frozen=True)
class Table:
    """Rows, and which of them are in rare groups."""

    name: str
    rows: Array  # (n, d) numbers
    rare: NDArray[np.int64]  # (n,) from 0; -1: in none
    names: NDArray[np.int64] | None = None  # (n, c) codes of categories, beside the numbers

    @property
    def table(self) -> object:
        """As ``asterism.find`` takes it."""
        if self.names is None:
            return self.rows
        import pyarrow as pa

        columns = {f"x{j}": column for j, column in enumerate(self.rows.T)}
        levels = np.array(["ash", "birch", "cedar", "dogwood", "elm"])
        return pa.table(columns | {f"name{j}": levels[codes] for j, codes in enumerate(self.names.T)})


Rows = Callable[[np.random.Generator, int, int], Array]


def normals(k: int) -> Rows:
    """Normal groups that are apart, of unequal shares."""

    def rows(rng: np.random.Generator, n: int, d: int) -> Array:
        centers = rng.normal(0, 8, (k, d))
        spreads = rng.uniform(0.5, 1.5, (k, d))
        own = rng.choice(k, n, p=rng.dirichlet(np.full(k, 8.0)))
        return centers[own] + spreads[own] * rng.standard_normal((n, d))

    return rows


def correlated(rng: np.random.Generator, n: int, d: int) -> Array:
    """One normal group whose columns depend on each other."""
    return rng.standard_normal((n, d)) @ rng.normal(size=(d, d))


def student(v: float) -> Rows:
    """Multivariate t."""
    return lambda rng, n, d: rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(v, n) / v)[:, None]


def ring(rng: np.random.Generator, n: int, d: int) -> Array:
    """A ring with a ball in the middle, in two columns; noise in the others."""
    x = rng.standard_normal((n, d))
    angle, far = rng.uniform(0, 2 * np.pi, n), rng.random(n) < 0.6
    x[far, :2] = 12 * np.column_stack([np.cos(angle), np.sin(angle)])[far] + 0.7 * x[far, :2]
    return x


def rounded(rng: np.random.Generator, n: int, d: int) -> Array:
    """Whole numbers, one column of counts."""
    x = np.round(rng.normal(20, 3, (n, d)))
    x[:, 0] = rng.poisson(0.4, n)
    return x


def heaped(rng: np.random.Generator, n: int, d: int) -> Array:
    """Log-normal, with popular numbers: multiples of ten are far more frequent."""
    x = 10 * rng.lognormal(size=(n, d))
    popular = rng.random((n, d)) < 0.1
    return np.where(popular, np.round(x, -1), x)


def copied(rng: np.random.Generator, n: int, d: int) -> Array:
    """One row written 500 times, near the middle and in the tail."""
    x = rng.standard_normal((n, d))
    x[:500], x[500:1000] = x[1000], x[np.argmax((x**2).sum(axis=1))] * 0.9
    return x


def line(rng: np.random.Generator, n: int, d: int) -> Array:
    """A normal group, and 600 rows that lead away from it, fewer and fewer."""
    x = rng.standard_normal((n, d))
    x[:600] += 4.0 + rng.exponential(20, (600, 1)) * np.linspace(0.5, 1, d)
    return x


def product_t(rng: np.random.Generator, n: int, d: int) -> Array:
    """Heavy tails in each column by itself."""
    return rng.standard_t(2, (n, d))


BODIES: tuple[tuple[str, Rows, int], ...] = (
    ("one normal, 2", normals(1), 2),
    ("three normals, 3", normals(3), 3),
    ("five normals, 5", normals(5), 5),
    ("three normals, 10", normals(3), 10),
    ("one normal, 10", normals(1), 10),
    ("correlated, 6", correlated, 6),
    ("t(5), 4", student(5), 4),
    ("ring, 2", ring, 2),
    ("ring, 4", ring, 4),
    ("uniform, 3", lambda rng, n, d: rng.random((n, d)) * 5, 3),
    ("four normals, 8", normals(4), 8),
    ("two normals, 13", normals(2), 13),
    ("rounded, 4", lambda rng, n, d: np.round(normals(2)(rng, n, d), 1), 4),
    ("exponential, 3", lambda rng, n, d: rng.exponential(size=(n, d)), 3),
    ("six normals, 2", normals(6), 2),
)
MIXED: tuple[tuple[str, Rows, int], ...] = (
    ("two normals, 3, a category", normals(2), 3),
    ("one normal, 2, a category", normals(1), 2),
    ("three normals, 5, two categories", normals(3), 5),
    ("correlated, 4, a category", correlated, 4),
    ("three normals, 2, two categories", normals(3), 2),
)
WITHOUT: tuple[tuple[str, Rows, int], ...] = (
    ("normal, 10", normals(1), 10),
    ("three normals, 4", normals(3), 4),
    ("t(2), 3", student(2), 3),
    ("t(2) in each column, 4", product_t, 4),
    ("log-normal, 3", lambda rng, n, d: rng.lognormal(size=(n, d)), 3),
    ("uniform, 2", lambda rng, n, d: rng.random((n, d)), 2),
    ("rounded and counts, 4", rounded, 4),
    ("popular numbers, 2", heaped, 2),
    ("one row 500 times, 3", copied, 3),
    ("a line of outliers, 3", line, 3),
)


def with_rare(name: str, body: Rows, d: int, n: int, seed: int) -> Table:
    """A table with one to five rare groups, far from everything and from each other."""
    rng = np.random.default_rng(seed)
    x = body(rng, n, d)
    rare = np.full(n, -1)
    sizes = rng.choice(SIZES, rng.integers(1, len(SIZES) + 1), replace=False)
    low, high = np.quantile(x, [0.0001, 0.9999], axis=0)
    spread = x[:2000].std(axis=0).min() if name.startswith(("t(", "exp", "uniform")) else 1.0
    reach = float(np.linalg.norm(high - low)) / 2
    places: list[Array] = []
    at = rng.permutation(n)
    for g, size in enumerate(sizes):
        while True:
            way = rng.standard_normal(d)
            own = spread * rng.uniform(0.3, 1.0)
            center = (low + high) / 2 + way / np.linalg.norm(way) * (reach + spread * rng.uniform(8, 40))
            if all(np.linalg.norm(center - other) > FAR * spread for other in places):
                break
        places.append(center)
        rows, at = at[:size], at[size:]
        x[rows], rare[rows] = center + own * rng.standard_normal((size, d)), g
    return Table(name, np.round(x, 1) if name.startswith("rounded") else x, rare)


def with_names(table: Table, columns: int, seed: int) -> Table:
    """The same with categories, of which rare groups have their own mix."""
    rng = np.random.default_rng([seed, 1])
    shares = rng.dirichlet(np.ones(5), (columns, int(table.rare.max()) + 2))
    codes = np.empty((len(table.rows), columns), np.int64)
    for j in range(columns):
        for g in range(-1, int(table.rare.max()) + 1):
            own = table.rare == g
            codes[own, j] = rng.choice(5, own.sum(), p=shares[j, g + 1])
    return Table(table.name, table.rows, table.rare, codes)


def tables(n: int, seed: int) -> list[Callable[[], Table]]:
    """All tables, each made when it is its turn."""
    made: list[Callable[[], Table]] = []
    for i, (name, body, d) in enumerate(BODIES):
        made.append(lambda name=name, body=body, d=d, i=i: with_rare(name, body, d, n, 100 * seed + i))
    for i, (name, body, d) in enumerate(MIXED):
        columns = 2 if "two cat" in name else 1
        made.append(
            lambda name=name, body=body, d=d, i=i, columns=columns: with_names(
                with_rare(name, body, d, n, 100 * seed + 50 + i), columns, seed
            )
        )
    for i, (name, body, d) in enumerate(WITHOUT):
        made.append(
            lambda name=name, body=body, d=d, i=i: Table(
                f"without: {name}", body(np.random.default_rng(100 * seed + 70 + i), n, d), np.full(n, -1)
            )
        )
    return made


def score(table: Table, labels: NDArray[np.int32]) -> tuple[int, int, int]:
    """Rare groups, those of them that were found, and false ones."""
    there, found, ours = int(table.rare.max()) + 1, 0, set()
    sizes = np.bincount(labels[labels >= 0])
    for g in range(there):
        own = np.bincount(labels[(table.rare == g) & (labels >= 0)], minlength=len(sizes))
        best = int(own.argmax())
        rows = int((table.rare == g).sum())
        if own[best] >= 0.95 * rows and own[best] >= 0.95 * sizes[best]:
            found += 1
            ours.add(best)
    false = sum(1 for g, size in enumerate(sizes) if 0 < size < SHARE * len(labels) and g not in ours)
    return there, found, false


def main() -> None:
    parser = argparse.ArgumentParser(description="Far groups of 100 to 1,000 rows in long tables.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()

    import asterism

    warnings.simplefilter("ignore")
    totals = np.zeros(3, int)
    for make in tables(options.rows, options.seed):
        table = make()
        if options.only not in table.name:
            continue
        start = time.perf_counter()
        answer = asterism.find(table.table, outliers="none")
        took = time.perf_counter() - start
        here = score(table, answer.labels)
        totals += here
        print(f"{table.name:40} rare {here[0]}  found {here[1]}  false {here[2]}  {took:5.1f} s", flush=True)
    print(f"rare groups {totals[0]}, found {totals[1]}, false {totals[2]}")


if __name__ == "__main__":
    main()
