"""Months that follow each other: does `check` see drift, and no drift that is not there?

python -m bench.tomorrow check          200 fresh samples of sources of every kind; and shifts of 0.3
python -m bench.tomorrow like           20 pairs of months, every event beside what was planted
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import asterism

ROWS = 2000
MODELS, SAMPLES = 5, 10  # of every source: models, and fresh samples for each
SHIFT = 0.3  # standard deviations within groups, in one column

Rng = np.random.Generator
Maker = Callable[[Rng, int], Any]

# --- sources ----------------------------------------------------------------------------------------------------


def numbers(rng: Rng, n: int) -> pd.DataFrame:
    """Ten columns, three groups that overlap a little."""
    z = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    centers = np.array([[0.0, 0.0, 0.0], [3.5, 1.0, 0.0], [0.0, 3.0, 3.0]])
    x = rng.normal(size=(n, 10))
    x[:, :3] += centers[z]
    x[:, 4] += 0.6 * x[:, 3]
    return pd.DataFrame(x, columns=[f"c{j}" for j in range(10)])


def mixed(rng: Rng, n: int) -> pd.DataFrame:
    """Numbers, names, a scale and yes/no, with missing cells."""
    z = rng.choice(2, n, p=[0.6, 0.4])
    table = pd.DataFrame(
        {
            "income": np.exp(rng.normal(10 + 0.9 * z, 0.4)),
            "age": rng.normal(40 + 12 * z, 8),
            "visits": rng.poisson(2 + 5 * z),
            "city": np.array(["Bern", "Rome", "Oslo", "Lima"])[
                [rng.choice(4, p=[0.6, 0.2, 0.1, 0.1] if g else [0.1, 0.2, 0.3, 0.4]) for g in z]
            ],
            "member": np.where(rng.random(n) < 0.2 + 0.6 * z, "yes", "no"),
        }
    )
    table["age"] = table["age"].where(rng.random(n) > 0.1)
    return table


def moons(rng: Rng, n: int) -> pd.DataFrame:
    """Two bent groups, which no mixture of two fits."""
    t, z = rng.random(n) * np.pi, rng.integers(0, 2, n)
    x = np.column_stack([np.cos(t) + z, np.sin(t) * (1 - 2 * z) + 0.4 * z])
    return pd.DataFrame(x + rng.normal(0, 0.08, (n, 2)), columns=["a", "b"])


def cloud(rng: Rng, n: int) -> pd.DataFrame:
    """One group, cut by k-means: borders where rows are dense."""
    return pd.DataFrame(rng.standard_t(8, size=(n, 4)), columns=list("abcd"))


@dataclass(frozen=True)
class Fresh:
    """A source, and how its groups are found."""

    name: str
    make: Maker
    options: dict[str, Any]


SOURCES = (
    Fresh("numbers", numbers, {"k": 3}),
    Fresh("mixed", mixed, {"k": 2}),
    Fresh("moons", moons, {}),
    Fresh("k-means", cloud, {"k": 4, "method": "kmeans"}),
)


# --- check ------------------------------------------------------------------------------------------------------


def plain_peer(before: pd.DataFrame, now: pd.DataFrame) -> bool:
    """Kolmogorov and Smirnov's test of every column, by Bonferroni; chi^2 for names."""
    p = []
    for name in before:
        a, b = before[name].dropna(), now[name].dropna()
        if a.dtype.kind in "if":
            p.append(stats.ks_2samp(a, b).pvalue)
        else:
            levels = sorted(set(a) | set(b))
            table = [[(c == level).sum() for level in levels] for c in (a, b)]
            p.append(stats.chi2_contingency(table).pvalue)
    return min(p) <= 0.05 / len(p)


def shifted(table: pd.DataFrame, column: str, by: float) -> pd.DataFrame:
    """One column, moved."""
    return table.assign(**{column: table[column] + by})


def checks(rows: int, models: int, samples: int) -> Iterator[str]:
    """Alarms of fresh and of shifted samples."""
    total = [0, 0, 0]
    for source in SOURCES:
        alarms, theirs, n, about = 0, 0, 0, []
        seen = peer_seen = 0
        for m in range(models):
            rng = np.random.default_rng([7, m])
            before = source.make(rng, rows)
            model = asterism.find(before, **source.options).model
            for _ in range(samples):
                now = source.make(rng, rows)
                found = asterism.check(model, now)
                alarms, theirs, n = alarms + found.drifted, theirs + plain_peer(before, now), n + 1
                about += [d.about for d in found.differences if d.counts]
                if source.name == "numbers":
                    moved = shifted(now, f"c{rng.integers(10)}", SHIFT)
                    seen += asterism.check(model, moved).drifted
                    peer_seen += plain_peer(before, moved)
        total = [total[0] + alarms, total[1] + theirs, total[2] + n]
        yield f"{source.name:<10} fresh: {alarms} alarms of {n}; columns alone {theirs}  {about or ''}"
        if source.name == "numbers":
            yield f"{'':<10} {SHIFT} sd in one column of 10: seen {seen} of {n}; columns alone {peer_seen}"
    yield f"all        fresh: {total[0]} alarms of {total[2]}; columns alone {total[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.tomorrow", description=__doc__)
    parser.add_argument("part", choices=["check", "like"])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--models", type=int, default=MODELS)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    options = parser.parse_args()
    began = time.process_time()
    for line in checks(options.rows, options.models, options.samples):
        print(line, flush=True)
    print(f"{time.process_time() - began:.0f} s of processor")


if __name__ == "__main__":
    main()
