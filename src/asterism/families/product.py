"""A family for each part of a mixed table; parts are independent given the component.

    log p(x | c) = sum over parts of log p_part(x_part | c)

So does everything else fall apart: statistics side by side, estimates part by part. A table of measurements, names
and ratings is a Gaussian part (diagonal, or any structure), a categorical and an ordinal one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, block_of
from asterism.errors import ParameterError
from asterism.families.base import Array, Collapsible, Facts, Family
from asterism.stats.base import Joined

Columns = tuple[int, ...]


@dataclass(frozen=True)
class Parts:
    """Parameters: those of each part."""

    parts: tuple[Any, ...]


@dataclass(frozen=True)
class ProductFamily:
    """Parts (family, columns); every column of the table belongs to one of them.

    >>> from asterism.families.bernoulli import BernoulliFamily
    >>> from asterism.families.poisson import PoissonFamily
    >>> mixed = ProductFamily(((PoissonFamily(), (0, 2)), (BernoulliFamily(), (1,))))
    >>> rows = block_of(np.array([[1.0, 1.0, 2.0], [3.0, 0.0, np.nan]]))
    >>> params = mixed.estimate(mixed.statistic(None, rows, np.ones((2, 1))), None)
    >>> params.parts[0].rates.tolist(), params.parts[1].probabilities.tolist()
    ([[2.0, 2.0]], [[0.5]])
    """

    parts: tuple[tuple[Family, Columns], ...]
    name: str = "product"

    def __post_init__(self) -> None:
        taken = sorted(j for _, columns in self.parts for j in columns)
        if not taken or taken != list(range(len(taken))):
            raise ParameterError(
                f"The parts of a product have the columns {taken}.",
                "Give every column 0 .. d - 1 to one part.",
            )

    def prepared(self, facts: Facts) -> ProductFamily:
        """Each part with the facts of its columns."""
        if len(facts.names) != self._d:
            raise ParameterError(
                f"The parts have {self._d} columns, the table has {len(facts.names)}.",
                "Give every column to one part.",
            )
        parts = ((family.prepared(facts.select(np.array(js, np.int64))), js) for family, js in self.parts)
        return replace(self, parts=tuple(parts))

    def n_parameters(self, k: int) -> int:
        """Of all parts."""
        return sum(family.n_parameters(k) for family, _ in self.parts)

    # --- density ---

    def log_density(self, params: Parts, block: Block) -> Array:
        """(n, k) sum over parts."""
        first, *others = (
            family.log_density(own, _columns(block, columns))
            for (family, columns), own in zip(self.parts, params.parts, strict=True)
        )
        return np.asarray(sum(others, first))

    def log_prior(self, params: Parts) -> float:
        """Sum over parts."""
        return sum(family.log_prior(own) for (family, _), own in zip(self.parts, params.parts, strict=True))

    # --- statistic ---

    def statistic(self, params: Parts | None, block: Block, mass: Array) -> Joined:
        """Side by side."""
        known = (None,) * len(self.parts) if params is None else params.parts
        return Joined(
            tuple(
                family.statistic(own, _columns(block, columns), mass)
                for (family, columns), own in zip(self.parts, known, strict=True)
            )
        )

    # --- estimate ---

    def estimate(self, statistic: Joined, previous: Parts | None) -> Parts:
        """Part by part."""
        known = (None,) * len(self.parts) if previous is None else previous.parts
        return Parts(
            tuple(
                family.estimate(part, own)
                for (family, _), part, own in zip(self.parts, statistic.parts, known, strict=True)
            )
        )

    # --- collapse ---

    @property
    def needs_covariance(self) -> bool:
        """Whether a part wants the covariance of the table."""
        return any(getattr(family, "needs_covariance", False) for family, _ in self.parts)

    @property
    def least_rows(self) -> int:
        """What the parts that can collapse need; 0 if there are none."""
        return max(
            (family.least_rows for family, _ in self.parts if isinstance(family, Collapsible)), default=0
        )

    def collapsed(self, params: Parts, statistic: Any) -> NDArray[np.bool_]:  # noqa: ARG002  one signature for all
        """(k, d) flags of the parts that can collapse."""
        k = len(next(iter(self.pack(params).values())))
        flags = np.zeros((k, self._d), bool)
        for (family, columns), own in zip(self.parts, params.parts, strict=True):
            if isinstance(family, Collapsible):
                flags[:, columns] = family.collapsed(own, None)
        return flags

    def split(self, params: Parts, component: int, into: int) -> Parts:
        """Parts that can be are cut in two; of the others both halves have all."""
        return Parts(
            tuple(
                family.split(own, component, into)
                if isinstance(family, Collapsible)
                else family.unpack({n: _copied(a, component, into) for n, a in family.pack(own).items()})
                for (family, _), own in zip(self.parts, params.parts, strict=True)
            )
        )

    # --- sample ---

    def sample(self, params: Parts, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) rows."""
        rows = np.empty((n, self._d))
        for (family, columns), own in zip(self.parts, params.parts, strict=True):
            rows[:, columns] = family.sample(own, component, n, rng)
        return rows

    def impute(self, params: Parts, block: Block, r: Array) -> Array:
        """(n, d) each part in its own manner."""
        rows = np.empty(block.rows.shape)
        for (family, columns), own in zip(self.parts, params.parts, strict=True):
            rows[:, columns] = family.impute(own, _columns(block, columns), r)
        return rows

    def pack(self, params: Parts) -> Mapping[str, NDArray[Any]]:
        """Arrays of all parts, named "<number of the part>.<array>"."""
        return {
            f"{i}.{key}": array
            for i, ((family, _), own) in enumerate(zip(self.parts, params.parts, strict=True))
            for key, array in family.pack(own).items()
        }

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Parts:
        """From a file."""
        return Parts(
            tuple(
                family.unpack({k.partition(".")[2]: v for k, v in arrays.items() if k.startswith(f"{i}.")})
                for i, (family, _) in enumerate(self.parts)
            )
        )

    @property
    def _d(self) -> int:
        return sum(len(columns) for _, columns in self.parts)


def _copied(array: NDArray[Any], component: int, into: int) -> NDArray[Any]:
    array = array.copy()
    array[into] = array[component]
    return array


def _columns(block: Block, columns: Columns) -> Block:
    """The same rows, fewer columns."""
    return block_of(block.rows[:, columns], block.weights, block.start)
