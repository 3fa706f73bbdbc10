"""How sure numbers of groups of mixed columns are: the coefficients of ``src/asterism/verdict/confidence.py``.

    python -m bench.train_confidence --seeds 101-106 --keep FOLDER [--part 1/2]      # signs of tables, kept
    python -m bench.train_confidence --keep FOLDER --fit                             # prints the coefficients

Tables are those of the older half of ``bench/mixed_tables.py``, by seeds that no figure is reported on.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from asterism.data.read import read
from asterism.search.ranks import with_ranks
from asterism.verdict import climb
from asterism.verdict.confidence import SIGNS, signs_of
from asterism.verdict.margins import margins_of
from asterism.verdict.mixed import SAMPLE, AsNumbers, decide_mixed
from asterism.verdict.repeated import without_repeated
from asterism.verdict.rows import draw
from asterism.verdict.view import SAMPLE_SEED
from bench.mixed_answers import seeds_of
from bench.mixed_tables import MixedTable, all_tables

Array = NDArray[Any]
RIDGE = 0.3  # convention: on all coefficients but the first


def signs(table: MixedTable) -> tuple[list[float], bool] | None:
    """The signs of a table's decision and whether its number is right; None where all columns are numbers."""
    source = without_repeated(with_ranks(read(table.frame), ()))
    margins = margins_of(source)
    if all(column.kind == "numeric" for column in margins.modelled):
        return None
    drawn = draw(AsNumbers(source), SAMPLE, SAMPLE_SEED)
    decision = decide_mixed(climb.Rows(margins, drawn.x, drawn.weights))
    return signs_of(decision).tolist(), decision.k == table.k


def fitted(x: Array, right: Array) -> Array:
    """Coefficients of the logistic regression."""

    def loss(b: Array) -> float:
        odds = x @ b
        return float(np.logaddexp(0.0, np.where(right, -odds, odds)).sum() + RIDGE * (b[1:] ** 2).sum())

    return np.asarray(minimize(loss, np.zeros(x.shape[1]), method="BFGS").x)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.train_confidence", description="How sure numbers are."
    )
    parser.add_argument("--keep", type=Path, required=True, metavar="FOLDER", help="where signs are kept")
    parser.add_argument("--seeds", default="101-103", help="of the tables")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="every N-th table from the I-th on")
    parser.add_argument("--fit", action="store_true", help="fit to what is kept")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    if options.fit:
        rows = [json.loads(line) for path in sorted(options.keep.glob("*.jsonl")) for line in path.open()]
        x, right = np.array([row["signs"] for row in rows]), np.array([row["right"] for row in rows])
        b = fitted(x, right)
        sure = 1.0 / (1.0 + np.exp(-(x @ b)))
        print(dict(zip(SIGNS, b.round(2).tolist(), strict=True)))
        print(f"{len(x)} tables, right {right.mean():.3f}, stated {sure.mean():.3f}, "
              f"of {(sure >= 0.9).mean():.2f} stated 0.9 or more {right[sure >= 0.9].mean():.3f} right")  # fmt: skip
        return
    part, parts = map(int, options.part.split("/"))
    with (options.keep / f"{part}-of-{parts}.jsonl").open("a") as file:
        for seed in seeds_of(options.seeds):
            for j, table in enumerate(all_tables(seed, measured=False, half="older")):
                found = signs(table) if j % parts == part - 1 else None
                if found is not None:
                    row = {"seed": seed, "name": table.name, "signs": found[0], "right": bool(found[1])}
                    print(json.dumps(row), file=file, flush=True)


if __name__ == "__main__":
    main()
