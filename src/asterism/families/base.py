"""What a component distribution must offer; a new one is one file and no edit elsewhere.

A family is a frozen value: its settings, and what the table told (levels, references, floors). Everything that
is fitted lives in ``params``, a frozen dataclass whose arrays have a leading axis ``k``. Proportions belong to
the mixture, never to a family.

Files of families read alike, under the same banners in the same order: parameters, density, statistic,
estimate, sample. What every family obeys, and ``tests/laws`` asks of it:

* the density integrates (or sums) to 1; a missing cell (NaN) is integrated out of it
* the statistic merges (``stats.base``); ``mass`` already holds the row weights
* ``estimate`` maximises ``Q + log prior``, or at least never lowers it from ``previous`` (generalised EM)
* sampling, then fitting, recovers
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Matrix, Vector
from asterism.stats.base import Statistic
from asterism.stats.moments import ColumnMoments

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Facts:
    """What one pass over a table told, before anything is fitted."""

    names: tuple[str, ...]  # (d,) of the columns
    moments: ColumnMoments  # (d,) weight, mean, scatter, extremes of every column
    reference: Vector  # (d,) a value that occurs in each column: exact to subtract from values near it
    covariance: Array | None = None  # (d, d) of the table, for families that say ``needs_covariance``

    def select(self, columns: NDArray[np.int64]) -> Facts:
        """The facts of some columns, for a family that has only these."""
        j = columns
        covariance = None if self.covariance is None else self.covariance[np.ix_(j, j)]
        return Facts(
            tuple(self.names[int(i)] for i in j), self.moments.select(j), self.reference[j], covariance
        )


class Family(Protocol):
    """Component distributions of one kind. ``params`` is the family's own class, opaque to the mixture."""

    @property
    def name(self) -> str:
        """A short word: "gaussian", "poisson"."""
        ...

    def prepared(self, facts: Facts) -> Self:
        """This family with what the table told (levels, references, floors, vague priors), or a typed error."""
        ...

    def log_density(self, params: Any, block: Block) -> Array:
        """(n, k) log p(x | component); missing cells are integrated out."""
        ...

    def statistic(self, params: Any | None, block: Block, mass: Array) -> Statistic:
        """What ``estimate`` needs to know of these rows; ``mass`` (n, k) is ``w_n r_nk``.

        ``params`` fills in missing cells by what they are expected to be; None at a start from responsibilities.
        """
        ...

    def estimate(self, statistic: Any, previous: Any | None) -> Any:
        """The params that maximise ``Q + log prior``, or at least do not lower it from ``previous``.

        A component without mass keeps its ``previous`` parameters where there are any.
        """
        ...

    def log_prior(self, params: Any) -> float:
        """Log density of the prior up to a constant; 0.0 without a prior."""
        ...

    def n_parameters(self, k: int) -> int:
        """Free parameters of ``k`` components, without the ``k - 1`` proportions."""
        ...

    def sample(self, params: Any, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) rows drawn from one component."""
        ...

    def impute(self, params: Any, block: Block, r: Array) -> Array:
        """(n, d) the rows, missing cells filled with their conditional mean (mode for categories).

        ``r`` (n, k) are the responsibilities given the observed cells.
        """
        ...

    def pack(self, params: Any) -> Mapping[str, NDArray[Any]]:
        """Arrays for checkpoints and model files."""
        ...

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Any:
        """The params of ``pack``."""
        ...


# --- what a family may offer besides ----------------------------------------------------------------------------


@runtime_checkable
class Fused(Protocol):
    """A family with a pass of its own over a block that never makes an (n, k) array."""

    def summarize(
        self, params: Any, log_weights: Vector, block: Block, assignment: str, draws: Vector | None
    ) -> tuple[Vector, float, Statistic]:
        """Mass (k,), what the assignment climbs, and the statistic. ``draws`` (n,) picks for "stochastic"."""
        ...


@runtime_checkable
class Classifying(Protocol):
    """A family that classifies the rows of a block without an (n, k) array, to the bit as its ``scores`` do."""

    def scores(self, params: Any, log_weights: Vector, block: Block) -> Array:
        """(n, k) log pi_c p(x | c)."""
        ...

    def classify(
        self, params: Any, log_weights: Vector, block: Block
    ) -> tuple[NDArray[np.int32], float, float] | None:
        """(n,) likeliest components, sum w log p(x), sum w max_c log pi_c p(x | c); None where it cannot."""
        ...


@runtime_checkable
class Linear(Protocol):
    """A family whose statistics can be extrapolated, for the accelerator."""

    def flatten(self, statistic: Any) -> Vector:
        """The statistic as a vector without units, in which the statistics of all rows add up."""
        ...

    def unflatten(self, vector: Vector, like: Any) -> Any | None:
        """The statistic again; None where no rows could have it (a negative mass or variance)."""
        ...


@runtime_checkable
class Collapsible(Protocol):
    """A family whose components can shrink onto a few rows."""

    @property
    def least_rows(self) -> int:
        """Rows below which a component is bound to have no spread in some direction."""
        ...

    def collapsed(self, params: Any, statistic: Any) -> NDArray[np.bool_]:
        """(k, d) components that are as thin as the floor lets them be, and the columns in which they are."""
        ...

    def split(self, params: Any, component: int, into: int) -> Any:
        """The params with ``component`` cut in two: one half stays, the other takes the place ``into``."""
        ...


@runtime_checkable
class Compared(Protocol):
    """A family whose rows are alike in another sense than that their numbers are near."""

    def compared(self, rows: Matrix) -> Array:
        """(n, d) the rows so that like ones are near; NaN where a cell is missing. Starts look at these."""
        ...
