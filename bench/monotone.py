"""Does EM ever lead down? 10,000 small random problems, the largest fall of each.

    python -m bench.monotone [cases]

Any structure, k = 1..4, d = 1..4, 8..59 rows; every fortieth has 24 columns and 60 rows more, as kernels differ with
the number of columns. Weights, missing cells, priors, offsets and units. The bar: no step that a run keeps lowers the
log-likelihood (log-posterior) by more than 1e-10 of its size.

Beside it stands the largest fall of plain steps, of which a run takes back those beyond 1e-10 and ends there. Cases
in which a component collapsed are told apart: its covariance is held up by a floor of 1e-8, and its density itself is
rounded by about 1e8 units in the last place.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, block_of
from asterism.data.source import ArraySource
from asterism.engines.threads import one_blas_thread
from asterism.families.covariance import STRUCTURES
from asterism.families.gaussian import GaussianFamily
from asterism.methods.em import EM, MixtureModel
from asterism.methods.frame import survey
from asterism.methods.mixture import facts_of
from asterism.methods.starts import expected_of, started

STEPS = 12
Array = NDArray[np.float64]


def random_case(seed: int) -> tuple[Array, Array, GaussianFamily, int]:
    """Rows, weights, a family and a number of components."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(8, 60)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    n, d = (n + 60, d + 24) if seed % 40 == 39 else (n, d)
    apart, missing = float(rng.choice([0.0, 1.0, 5.0])), float(rng.choice([0.0, 0.0, 0.3]))
    rows = rng.normal(size=(n, d)) + apart * rng.normal(size=(k, d))[rng.integers(0, k, n)]
    holes = rng.random(rows.shape) < missing
    holes[0] = False  # no column is empty
    rows = np.where(holes, np.nan, rows * 10.0 ** rng.integers(-3, 4) + rng.choice([0.0, 1e4]))
    prior = "conjugate" if rng.random() < 0.3 else None
    family = GaussianFamily(str(rng.choice(list(STRUCTURES))), prior=prior)
    weights = rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else np.ones(n)
    return rows, weights, family, k


def worst_fall(seed: int) -> tuple[float, float, str]:
    """The largest relative fall that a run keeps, that of plain steps, and what kind of case it was."""
    rows, weights, family, k = random_case(seed)
    source = ArraySource(rows, weights)
    frame, moments = survey(source)
    em = EM(family.prepared(facts_of(source, family, frame, moments)))
    block = block_of(rows, weights)
    shares = np.random.default_rng(seed).dirichlet(np.full(k, 0.3), len(rows))
    first = started(em, expected_of(em, shares, block))
    kept, _ = heights_of(em, first, block, plain=False)
    plain, collapsed = heights_of(em, first, block, plain=True)
    return _fall(kept), _fall(plain), family.structure + (", collapsed" if collapsed else "")


def heights_of(em: EM, model: MixtureModel, block: Block, *, plain: bool) -> tuple[list[float], bool]:
    """The log-posterior before each step, and whether a component collapsed. No component is put elsewhere."""
    heights, collapsed = [], False
    for _ in range(STEPS):
        expected = em.summarize(model, block)
        collapsed = collapsed or bool(model.params.covariances.repairs)
        heights.append(-em.objective(model, expected))
        before = None if plain else model.before
        after = em.update(replace(model, before=before, repairs=10**6), expected)
        if not plain and after.gain <= 0.0:
            break  # as a run would
        model = replace(after, repairs=0)
    return heights, collapsed


def _fall(heights: list[float]) -> float:
    return float((-np.diff(heights) / np.abs(heights[1:])).max(initial=-np.inf))


def main() -> None:
    """The worst of all cases, by structure."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    worst: dict[str, list[float]] = {}
    with one_blas_thread():
        for seed in range(cases):
            kept, plain, structure = worst_fall(seed)
            falls = worst.setdefault(structure, [-np.inf, -np.inf])
            falls[:] = max(falls[0], kept), max(falls[1], plain)
    for structure, (kept, plain) in sorted(worst.items()):
        print(f"{structure:14}  largest fall kept {kept:9.2e}   of plain steps {plain:9.2e}")
    largest = max(kept for kept, _ in worst.values())
    print(f"{cases} cases: {'never' if largest <= 1e-10 else 'SOMETIMES'} beyond 1e-10")


if __name__ == "__main__":
    main()
