"""Columns that are noise: are they found, are others left out, and does leaving them out help?

    python -m bench.select                    ten tables of each kind
    python -m bench.select --tables 2         a first look
    python -m bench.select --only mixed       kinds with this word in their name

Tables have three groups in a few columns, and noise beside them: alone, or correlated with columns that carry groups.
Counted are noise columns that are kept, carriers that are left out, and the adjusted Rand index with and without.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import asterism
from asterism.metrics import adjusted_rand_score

Array = NDArray[np.float64]
Made = tuple[
    dict[str, NDArray[np.generic]], NDArray[np.int64]
]  # columns, those of noise named "noise ..."; groups
ROWS = 500
SHARES = (0.5, 0.3, 0.2)


def numbers(rng: np.random.Generator, *, noise: int = 2, along: int = 0, apart: float = 3.5) -> Made:
    """Normal groups in three columns; noise, and noise that goes along with a carrier."""
    z = rng.choice(3, ROWS, p=SHARES)
    centers = apart * np.array([[0, 0, 0], [1, 1, 0], [0, 1, 1]])
    x = centers[z] + rng.normal(size=(ROWS, 3))
    found = {f"x{j}": column for j, column in enumerate(x.T)}
    found |= {f"noise {j}": rng.normal(size=ROWS) for j in range(noise)}
    found |= {f"noise along {j}": 0.7 * x[:, j] + rng.normal(size=ROWS) for j in range(along)}
    return found, z


def mixed(rng: np.random.Generator) -> Made:
    """Names and numbers that carry groups, names and numbers that do not."""
    found, z = numbers(rng, noise=1, apart=2.5)
    names = np.array(["ash", "birch", "cedar"])
    found["name"] = names[np.where(rng.random(ROWS) < 0.6, z, rng.integers(3, size=ROWS))]
    found["noise name"] = names[rng.integers(3, size=ROWS)]
    return found, z


def rings(rng: np.random.Generator) -> Made:
    """A ring about a ball in two columns."""
    z = (rng.random(ROWS) < 0.5).astype(np.int64)
    angle = rng.uniform(0, 2 * np.pi, ROWS)
    x = 5.0 * z[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.5 * rng.normal(size=(ROWS, 2))
    return {"x": x[:, 0], "y": x[:, 1], "noise": rng.normal(size=ROWS)}, z


KINDS: dict[str, Callable[[np.random.Generator], Made]] = {
    "numbers, 2 of noise": lambda rng: numbers(rng),
    "numbers, 5 of noise": lambda rng: numbers(rng, noise=5),
    "numbers, noise that goes along": lambda rng: numbers(rng, noise=1, along=2),
    "mixed": mixed,
    "rings": rings,
}


def measured(made: Made, k: int | None) -> tuple[float, float, float, float]:
    """Shares of noise kept and of carriers left out; adjusted Rand index without and with selection."""
    columns, z = made
    table = pa.table(columns)
    before, after = asterism.find(table, k=k), asterism.find(table, k=k, select=True)
    kept = {column.name for column in after.columns}
    noise = [name for name in columns if name.startswith("noise")]
    carriers = [name for name in columns if name not in noise]
    return (
        float(np.mean([name in kept for name in noise])),
        float(np.mean([name not in kept for name in carriers])),
        adjusted_rand_score(z, before.labels),
        adjusted_rand_score(z, after.labels),
    )


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.select")
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--only", default="")
    parser.add_argument("--given", action="store_true", help="with the number of groups given")
    options = parser.parse_args(arguments)
    print(f"{'':34}noise kept  carriers left out  adjusted Rand before  after")
    for name, make in KINDS.items():
        if options.only not in name:
            continue
        found = []
        for seed in range(options.tables):
            made = make(np.random.default_rng([seed, len(name)]))
            found.append(measured(made, int(made[1].max()) + 1 if options.given else None))
        kept, left, before, after = np.mean(found, axis=0)
        print(f"{name:34}{kept:10.1%}  {left:17.1%}  {before:20.3f}  {after:5.3f}", flush=True)


if __name__ == "__main__":
    main()
