"""Does EM ever lead down? 10,000 small random problems, the largest fall of each.

    python -m bench.monotone [cases]

Any structure, k = 1..4, d = 1..4, 8..59 rows, weights, missing cells, priors, offsets and units. The bar: no
step lowers the log-likelihood (log-posterior) by more than 1e-10 of its size.

Cases in which a component collapsed are told apart: its covariance is held up by a floor of 1e-8, and its density
itself is rounded by about 1e8 units in the last place. A fit takes such a fall back; here it is seen.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.engines.threads import one_blas_thread
from asterism.families.covariance import STRUCTURES
from asterism.families.gaussian import GaussianFamily
from asterism.methods.em import EM
from asterism.methods.frame import survey
from asterism.methods.mixture import facts_of
from asterism.methods.starts import expected_of, started

STEPS = 12
Array = NDArray[np.float64]


def random_case(seed: int) -> tuple[Array, Array, GaussianFamily, int]:
    """Rows, weights, a family and a number of components."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(8, 60)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    apart, missing = float(rng.choice([0.0, 1.0, 5.0])), float(rng.choice([0.0, 0.0, 0.3]))
    rows = rng.normal(size=(n, d)) + apart * rng.normal(size=(k, d))[rng.integers(0, k, n)]
    holes = rng.random(rows.shape) < missing
    holes[0] = False  # no column is empty
    rows = np.where(holes, np.nan, rows * 10.0 ** rng.integers(-3, 4) + rng.choice([0.0, 1e4]))
    prior = "conjugate" if rng.random() < 0.3 else None
    family = GaussianFamily(str(rng.choice(list(STRUCTURES))), prior=prior)
    weights = rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else np.ones(n)
    return rows, weights, family, k


def worst_fall(seed: int) -> tuple[float, str]:
    """The largest relative fall of one case, steps that are taken back included; and what kind of case it was."""
    rows, weights, family, k = random_case(seed)
    source = ArraySource(rows, weights)
    frame, moments = survey(source)
    em = EM(family.prepared(facts_of(source, family, frame, moments)))
    block = block_of(rows, weights)
    shares = np.random.default_rng(seed).dirichlet(np.full(k, 0.3), len(rows))
    model = started(em, expected_of(em, shares, block))
    heights, collapsed = [], False
    for _ in range(STEPS):
        expected = em.summarize(model, block)
        collapsed = collapsed or bool(model.params.covariances.repairs)
        heights.append(-em.objective(model, expected))
        # A component that is put elsewhere starts anew; here none is, and no step is taken back.
        model = replace(em.update(replace(model, before=None, repairs=10**6), expected), repairs=0)
    falls = -np.diff(heights) / np.abs(heights[1:])
    return float(falls.max()), family.structure + (", collapsed" if collapsed else "")


def main() -> None:
    """The worst of all cases, by structure."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    worst: dict[str, tuple[float, int]] = {}
    with one_blas_thread():
        for seed in range(cases):
            fall, structure = worst_fall(seed)
            worst[structure] = max(worst.get(structure, (-np.inf, -1)), (fall, seed))
    for structure, (fall, seed) in sorted(worst.items()):
        print(f"{structure:14}  largest fall {fall:9.2e}  (case {seed})")
    print(f"{cases} cases: {'never' if max(worst.values())[0] <= 1e-10 else 'SOMETIMES'} beyond 1e-10")


if __name__ == "__main__":
    main()
