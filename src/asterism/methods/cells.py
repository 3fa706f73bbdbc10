"""One mixture of a path, finished, and what it says of its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.methods.posterior import Mixture, RowTotals, classify_rows


@dataclass(frozen=True)
class Cell:
    """One mixture of the path, finished."""

    structure: str  # name of the family or of the covariance structure
    k: int
    mixture: Mixture
    log_likelihood: float
    surprise: float  # -sum w log max r, what ICL adds
    mass: NDArray[np.float64]  # (k,) of the labels
    total: float  # sum of weights
    sound: bool = True  # every component has rows enough to show a spread of its own

    @property
    def n_parameters(self) -> int:
        """Proportions included."""
        return self.mixture.n_parameters

    @property
    def bic(self) -> float:
        """-2 log-likelihood + parameters * log n; smaller is better."""
        return -2.0 * self.log_likelihood + self.n_parameters * float(np.log(self.total))

    @property
    def icl(self) -> float:
        """BIC + 2 * surprise."""
        return self.bic + 2.0 * self.surprise


Place = tuple[str, int]  # structure, number of components
Cells = dict[Place, Cell]


def cell_of(name: str, mixture: Mixture, source: Source, *, sound: bool = True) -> Cell:
    """What a mixture says of a table."""
    told: RowTotals = reduce(source, lambda block: classify_rows(mixture, block)[1])
    total = float(told.mass.sum())
    k = len(mixture.weights)
    return Cell(name, k, mixture, told.log_likelihood, told.surprise, told.mass, total, sound)
