"""How far apart two normal groups of one size must be to be seen, by rows and columns.

    python -m bench.unseen [TABLES]

Tables of n rows and d columns, halves of them moved apart along one column. For each table the least distance from
which on the verdict says two groups is found by bisection between 1.5 and 6.5 standard deviations; printed is the
distance that is enough in four of five tables. ``asterism.verdict.unseen`` holds the numbers.
"""

from __future__ import annotations

import sys

import numpy as np

from asterism.engines.threads import one_blas_thread
from asterism.verdict.decide import decide

ROWS, COLUMNS = (50, 200, 800), (2, 6)
LOW, HIGH, STEPS = 1.5, 6.5, 4
SHARE = 0.8


def least_distance(n: int, d: int, seed: int) -> float:
    """From which on this table shows two groups; more than ``HIGH`` where it never does."""
    noise = np.random.default_rng([n, d, seed]).normal(size=(n, d))
    side = np.arange(n) % 2
    low, high = LOW, HIGH
    for _ in range(STEPS):
        middle = (low + high) / 2
        rows = noise.copy()
        rows[:, 0] += middle * side
        rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        seen = decide(rows, np.ones(n)).found == 2
        low, high = (low, middle) if seen else (middle, high)
    return high


def main(tables: int = 10) -> None:
    print(f"{tables} tables each; distance that is enough in {SHARE:.0%} of them (least and most)")
    for d in COLUMNS:
        for n in ROWS:
            with one_blas_thread():
                found = sorted(least_distance(n, d, seed) for seed in range(tables))
            enough = found[min(int(np.ceil(SHARE * tables)), tables) - 1]
            print(f"{d} columns, {n:4d} rows: {enough:.2f} ({found[0]:.2f} {found[-1]:.2f})", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
