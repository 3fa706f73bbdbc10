"""How sure a number of groups of mixed columns is: how often one that came about like this was right.

    log odds = b . signs,      confidence = 1 / (1 + exp(-log odds))

The signs have no unit. Their coefficients are measured: a logistic regression on drawn tables with columns of every
kind whose number of groups is known (``bench/train_confidence.py``), none of them of the fresh half of the benchmark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from asterism.verdict.climb import asked_for

if TYPE_CHECKING:
    from asterism.verdict.mixed import MixedDecision

Array = NDArray[np.float64]
SIGNS = ("always", "single", "for more", "against more", "lead of the number", "certainty")
COEFFICIENTS = np.array([-2.2, 3.74, 0.38, 0.45, 1.05, 1.3])  # measured: bench/train_confidence, 162 tables
MOST = 3.0  # convention: standard deviations beyond which evidence says no more
LEAST, HIGHEST = 0.05, 0.99  # convention: nothing is impossible, and nothing sure


def signs_of(decision: MixedDecision) -> Array:
    """What speaks for and against the number of a decision.

    * by how much the evidence for more than one group fewer exceeds what is asked; 0 for a single group
    * by how much the evidence for more groups falls short of it; of the best mixture's own number 0
    * log of BIC's lead over the mixtures of the next numbers, where that is the number
    * mean log probability of a row's own component, as ICL counts it
    """
    passed = [step.evidence - asked_for(step.k) for step in decision.steps if not step.is_last]
    last = [asked_for(step.k) - step.evidence for step in decision.steps if step.is_last]
    best = {
        cell.k: min(c.bic for c in decision.cells.values() if c.k == cell.k)
        for cell in decision.cells.values()
    }
    others = [bic for k, bic in best.items() if k != decision.top]
    lead = min(others) - best[decision.top] if others and decision.top == decision.found else 0.0
    return np.array(
        [
            1.0,
            float(decision.found == 1),
            min(min(passed), MOST) if passed else 0.0,
            min(max(last), MOST) if last else 0.0,
            float(np.log1p(max(lead, 0.0))),
            -decision.cell.surprise / decision.cell.total,
        ]
    )


def how_sure(decision: MixedDecision) -> float:
    """The share of such numbers that are right."""
    odds = float(COEFFICIENTS @ signs_of(decision))
    return float(np.clip(1.0 / (1.0 + np.exp(-odds)), LEAST, HIGHEST))
