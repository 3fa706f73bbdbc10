"""Tables for R's cluster package, written for ``generate.R``: python generate.py && Rscript generate.R."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def mixed_table(seed: int, n: int) -> dict[str, list[object]]:
    """Numbers, names, ordered levels and 0/1 columns, a tenth of the cells missing; two rows complete."""
    rng = np.random.default_rng(seed)
    columns: dict[str, list[object]] = {
        "height": rng.normal(170.0, 10.0, n).round(3).tolist(),
        "income": np.exp(rng.normal(8.0, 1.0, n)).round(2).tolist(),
        "color": rng.choice(["blue", "green", "red"], n).tolist(),
        "size": rng.choice(["S", "M", "L", "XL"], n).tolist(),
        "smokes": rng.integers(0, 2, n).tolist(),
        "rare": (rng.random(n) < 0.3).astype(int).tolist(),
    }
    for values in columns.values():
        for i in np.flatnonzero(rng.random(n) < 0.1):
            if i > 3:
                values[int(i)] = None
    columns["size"][:4] = [
        "S",
        "XL",
        "M",
        "L",
    ]  # every level occurs: R's range of codes is that of the levels
    return columns


def numbers_table(seed: int, n: int, d: int, k: int) -> list[list[float]]:
    """Rows in k groups."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(scale=3.0, size=(k, d))
    return (centers[rng.integers(k, size=n)] + rng.normal(size=(n, d))).round(4).tolist()


if __name__ == "__main__":
    tables = {
        "mixed": [mixed_table(seed, 20) for seed in range(3)],
        "weights": [1.0, 2.5, 1.0, 0.5, 3.0, 1.0],
        "numbers": [{"rows": numbers_table(seed, 60, 3, 4), "k": 4} for seed in range(5)],
    }
    (HERE / "tables.json").write_text(json.dumps(tables) + "\n", encoding="utf-8")
