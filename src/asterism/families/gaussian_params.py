"""k normal components: what EM estimates, and the forms in which it is used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from asterism.data.block import Vector
from asterism.families.base import Array
from asterism.families.covariance import Covariances


@dataclass(frozen=True)
class GaussianParams:
    """k normal components."""

    means: Array  # (k, d) offsets from the family's reference
    covariances: Covariances  # of k components

    @cached_property
    def passes(self) -> dict[Any, Any]:
        """What was made ready of them for passes over rows; see ``GaussianFamily``."""
        return {}

    def __reduce__(self) -> tuple[Any, ...]:
        return GaussianParams, (self.means, self.covariances)  # what was made of them is made again elsewhere

    @cached_property
    def no_weights(self) -> Vector:
        """(k,) zeros: log weights of densities."""
        return np.zeros(len(self.means))

    @cached_property
    def factors(self) -> Array:
        """W as kernels want it: (k, d, d) lower triangular, (1, d, d) where all share one, (k, d) diagonals, (k, 1)
        where a group has but one number.
        """
        if self.covariances.diagonal:
            roots = self.covariances.root_precisions()
            round_ones = self.covariances.structure in ("EII", "VII")
            return np.ascontiguousarray(roots[:, :1]) if round_ones else roots
        if self.covariances.structure == "EEE":
            return self.covariances.distinct_inverse_factors()
        return self.covariances.inverse_factors()

    @cached_property
    def matrices(self) -> Array:
        """(k, d, d) covariances, or (1, d, d) for one that all share."""
        matrices = self.covariances.full()
        return matrices[:1] if self.covariances.structure == "EEE" else matrices

    @cached_property
    def whiteners(self) -> Array:
        """(k, d, d) W, or (1, d, d) for one that all share, also of diagonal components."""
        return self.covariances.distinct_inverse_factors()


def usable_variances(variances: Vector) -> Vector:
    """Variances of columns with something in the place of 0: a constant column has no unit of its own."""
    top = float(variances.max(initial=0.0))
    return np.where(variances > 0, variances, top if top > 0 else 1.0)
