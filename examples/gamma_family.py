"""A component family of your own, in one file: positive columns, gamma distributed given the component.

    log p(x | c) = sum over known cells j of  a log b - log G(a) + (a - 1) log x - b x      a shape, b rate, of (c, j)

Run it: python examples/gamma_family.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, polygamma, psi

from asterism.data.block import Block
from asterism.families.base import Facts
from asterism.families.cells import Array, Domain, filled, known_cells, ratio

POSITIVE = Domain(lambda x: (x > 0) & (x < np.inf), "not above 0.", "Gamma distributed values are.")
STEEPEST = 1e6  # the largest shape: identical values would have an infinite one


@dataclass(frozen=True)
class Gammas:
    """Parameters."""

    shapes: Array  # (k, d) a
    means: Array  # (k, d) a/b


@dataclass(frozen=True, slots=True)
class GammaTotals:
    """What the estimate asks of the rows: three sums over known cells."""

    seen: Array  # (k, d) sum of w r
    total: Array  # (k, d) sum of w r x
    logs: Array  # (k, d) sum of w r log x

    def merge(self, other: GammaTotals) -> GammaTotals:
        """Sums add."""
        return GammaTotals(self.seen + other.seen, self.total + other.total, self.logs + other.logs)


@dataclass(frozen=True)
class GammaFamily:
    """Independent gamma columns."""

    names: tuple[str, ...] = ()  # (d,) of the columns
    usual: tuple[float, ...] = ()  # (d,) their means, for components that have no rows
    name: str = "gamma"

    def prepared(self, facts: Facts) -> GammaFamily:
        """Called once with what a first pass over the table told."""
        return replace(self, names=facts.names, usual=tuple(facts.moments.mean.tolist()))

    def n_parameters(self, k: int) -> int:
        """A shape and a rate a column."""
        return 2 * k * len(self.names)

    # --- density ---

    def log_density(self, params: Gammas, block: Block) -> Array:
        """(n, k)."""
        x, known = known_cells(block, POSITIVE, self.names)
        known = np.ones_like(x) if known is None else known
        a, b = params.shapes, params.shapes / params.means
        log_x = np.log(np.where(known > 0, x, 1.0))
        constants = a * np.log(b) - gammaln(a)
        return np.asarray(log_x @ (a - 1.0).T - x @ b.T + known @ constants.T)

    def log_prior(self, params: Gammas) -> float:  # noqa: ARG002  every family has the same functions
        """No prior."""
        return 0.0

    # --- statistic ---

    def statistic(self, params: Gammas | None, block: Block, mass: Array) -> GammaTotals:  # noqa: ARG002
        """Sums over known cells; ``mass`` (n, k) is weight times responsibility."""
        x, known = known_cells(block, POSITIVE, self.names)
        known = np.ones_like(x) if known is None else known
        return GammaTotals(mass.T @ known, mass.T @ x, mass.T @ np.log(np.where(known > 0, x, 1.0)))

    # --- estimate ---

    def estimate(self, statistic: GammaTotals, previous: Gammas | None) -> Gammas:
        """The mean of x, and the shape by Newton's steps on ``log a - psi(a) = log mean(x) - mean(log x)``."""
        before = (None, None) if previous is None else (previous.means, previous.shapes)
        means = ratio(statistic.total, statistic.seen, before[0], self.usual or 1.0)
        gap = ratio(statistic.seen * np.log(means) - statistic.logs, statistic.seen, None, 1.0)
        shapes = _shapes(np.maximum(gap, 0.5 / STEEPEST))
        if before[1] is not None:
            shapes = np.where(statistic.seen > 0, shapes, before[1])
        return Gammas(shapes, means)

    # --- sample ---

    def sample(self, params: Gammas, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d)."""
        a, mean = params.shapes[component], params.means[component]
        return np.asarray(rng.gamma(a, mean / a, (n, len(a))))

    def impute(self, params: Gammas, block: Block, r: Array) -> Array:
        """(n, d) expected values in missing cells."""
        return filled(block, r @ params.means)

    # --- storage ---

    def pack(self, params: Gammas) -> Mapping[str, NDArray[Any]]:
        """Arrays for files."""
        return {"shapes": params.shapes, "means": params.means}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Gammas:
        """From a file."""
        return Gammas(np.asarray(arrays["shapes"]), np.asarray(arrays["means"]))


def _shapes(gap: Array) -> Array:
    """a with log a - psi(a) = gap, from a close first guess (Minka 2002), in terms of 1/a: there Newton is safe."""
    a = (3.0 - gap + np.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    for _ in range(5):
        a = 1.0 / (1.0 / a + (np.log(a) - psi(a) - gap) / (a * a * (1.0 / a - polygamma(1, a))))
    return np.minimum(a, STEEPEST)


def main() -> None:
    """Two groups of waiting times: many short ones, some long ones, nearly all alike."""
    from asterism import Mixture

    rng = np.random.default_rng(0)
    times = np.concatenate([rng.gamma(2.0, 1.0, (600, 1)), rng.gamma(50.0, 0.4, (200, 1))])
    model = Mixture(GammaFamily(), n_components=2, random_state=0).fit(times)
    for share, shape, mean in zip(
        model.weights_, model.params_.shapes[:, 0], model.params_.means[:, 0], strict=True
    ):
        print(f"{share:.0%} of the rows: mean {mean:.1f}, shape {shape:.1f}")


if __name__ == "__main__":
    main()
