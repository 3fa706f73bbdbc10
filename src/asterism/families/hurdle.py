"""Columns of counts with more, or fewer, zeros than counts have, independent given the component.

    p(0 | c) = q
    p(x | c) = (1 - q) NB(x - 1; m, a)      for x >= 1

with a share q of zeros, and a mean m and a dispersion a >= 0 of the counts beyond the first
(``families.negative_binomial``), for each column and component. Nothing ties q to m: there may be more zeros than a
negative binomial has, or none.

**A hurdle, not zero inflation.** A zero-inflated count, p(0) = z + (1 - z) NB(0), has two sources of zeros; which of
them a zero came from is hidden, and the estimate of z and m climbs and never arrives. Here a zero has one source. The
likelihood falls apart,

    sum w r log p = N_0 log q + (N - N_0) log(1 - q) + sum over x >= 1 of w r log NB(x - 1; m, a)

(N cells are known, N_0 of them 0), and both parts have their exact maximum: q = N_0/N, and that of the negative
binomial family for x - 1. So this family is two others side by side: Bernoulli's of "x is 0", and the negative
binomial of x - 1, which is unknown where x is 0.

**Prior.** Theirs: Beta for q, (N_0 + w/2)/(N + w), so that it is never 0 or 1; Gamma for m, worth w counts around
the mean of the column, zeros included, for how many there are is not known when a prior is made; exp(-w a).

References
----------
1. Mullahy (1986), Specification and testing of some modified count data models. Journal of Econometrics 33:341-365.
2. Lambert (1992), Zero-inflated Poisson regression. Technometrics 34:1-14 (the other model).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of
from asterism.families.base import Facts
from asterism.families.bernoulli import BernoulliFamily, Chances
from asterism.families.cells import COUNTS, Array, filled, known_cells
from asterism.families.negative_binomial import Dispersed, NegativeBinomialFamily
from asterism.stats.base import Joined


@dataclass(frozen=True)
class Hurdles:
    """Parameters."""

    zeros: Array  # (k, d) q
    means: Array  # (k, d) m, of x - 1 where x is not 0
    dispersions: Array  # (k, d) a

    @property
    def chances(self) -> Chances:
        """Those of "x is 0"."""
        return Chances(self.zeros)

    @property
    def beyond(self) -> Dispersed:
        """Those of x - 1."""
        return Dispersed(self.means, self.dispersions)

    @classmethod
    def of(cls, chances: Chances, beyond: Dispersed) -> Hurdles:
        """Of both parts."""
        return cls(chances.probabilities, beyond.means, beyond.dispersions)


@dataclass(frozen=True)
class HurdleFamily:
    """Cells are counts.

    >>> from asterism.data.block import block_of
    >>> family = HurdleFamily()
    >>> rows = block_of(np.array([[0.0], [0.0], [0.0], [1.0], [3.0], [4.0], [np.nan]]))
    >>> fit = family.estimate(family.statistic(None, rows, np.ones((7, 1))), None)
    >>> fit.zeros.tolist(), fit.means.round(3).tolist(), fit.dispersions.tolist()
    ([[0.5]], [[1.667]], [[0.0]])
    """

    prior: Any = None  # None, "conjugate", or how many counts of each column it is worth
    names: tuple[str, ...] = ()  # (d,) of the columns, for messages
    usual: tuple[float, ...] = ()  # (d,) means the prior expects: the table's, never 0
    tops: tuple[int, ...] = ()  # (d,) x - 1 up to these have a place of their own in the histogram
    name: str = "hurdle"

    def prepared(self, facts: Facts) -> HurdleFamily:
        """With the means and the largest counts of the table."""
        counts = NegativeBinomialFamily(self.prior).prepared(facts)
        tops = tuple(max(top - 1, 0) for top in counts.tops)
        return replace(self, names=facts.names, usual=counts.usual, tops=tops)

    def n_parameters(self, k: int) -> int:
        """A share of zeros, a mean and a dispersion a column."""
        return 3 * k * len(self.names)

    # --- the two families it is made of ---

    @property
    def _zeros(self) -> BernoulliFamily:
        return BernoulliFamily(self.prior, self.names)

    def _beyond(self, d: int) -> NegativeBinomialFamily:
        return NegativeBinomialFamily(self.prior, self.names, self.usual or (1.0,) * d, self.tops or (0,) * d)

    def _blocks(self, block: Block) -> tuple[Block, Block]:
        """Whether cells are 0, and x - 1 where they are not."""
        x, known = known_cells(block, COUNTS, self.names)
        is_zero = (x == 0).astype(np.float64)
        if known is not None:
            is_zero[known == 0] = np.nan
        beyond = np.where(x > 0, x - 1.0, np.nan)
        return block_of(is_zero, block.weights, block.start), block_of(beyond, block.weights, block.start)

    # --- density ---

    def log_density(self, params: Hurdles, block: Block) -> Array:
        """(n, k) over known cells."""
        is_zero, beyond = self._blocks(block)
        counts = self._beyond(block.rows.shape[1]).log_density(params.beyond, beyond)
        return self._zeros.log_density(params.chances, is_zero) + counts

    def log_prior(self, params: Hurdles) -> float:
        """Of both parts."""
        counts = self._beyond(params.means.shape[1])
        return self._zeros.log_prior(params.chances) + counts.log_prior(params.beyond)

    # --- statistic ---

    def statistic(self, params: Hurdles | None, block: Block, mass: Array) -> Joined:  # noqa: ARG002  one signature for all
        """How many cells are known and how many are 0; how often each x - 1 occurs."""
        is_zero, beyond = self._blocks(block)
        counts = self._beyond(block.rows.shape[1])
        return Joined(
            (self._zeros.statistic(None, is_zero, mass), counts.statistic(None, beyond, mass)),
        )

    def flatten(self, statistic: Joined) -> Vector:
        """All masses, a row."""
        zeros, counts = statistic.parts
        return np.concatenate([self._zeros.flatten(zeros), self._beyond(0).flatten(counts)])

    def unflatten(self, vector: Vector, like: Joined) -> Joined | None:
        """The statistic again; no mass can be negative, and no more cells 0 than known."""
        zeros, counts = like.parts
        cut = self._zeros.flatten(zeros).size
        first = self._zeros.unflatten(vector[:cut], zeros)
        second = self._beyond(0).unflatten(vector[cut:], counts)
        if first is None or second is None or (first.total > first.seen).any():
            return None
        return Joined((first, second))

    # --- estimate ---

    def estimate(self, statistic: Joined, previous: Hurdles | None) -> Hurdles:
        """The share of zeros, and the negative binomial of the others' x - 1: each the likeliest."""
        zeros, counts = statistic.parts
        before = (None, None) if previous is None else (previous.chances, previous.beyond)
        beyond = self._beyond(zeros.seen.shape[1]).estimate(counts, before[1])
        return Hurdles.of(self._zeros.estimate(zeros, before[0]), beyond)

    # --- sample ---

    def sample(self, params: Hurdles, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) counts."""
        is_zero = self._zeros.sample(params.chances, component, n, rng)
        beyond = self._beyond(is_zero.shape[1]).sample(params.beyond, component, n, rng)
        return np.where(is_zero > 0, 0.0, 1.0 + beyond)

    def impute(self, params: Hurdles, block: Block, r: Array) -> Array:
        """(n, d) expected counts in missing cells."""
        return filled(block, r @ ((1.0 - params.zeros) * (1.0 + params.means)))

    def pack(self, params: Hurdles) -> Mapping[str, NDArray[Any]]:
        """Arrays for files."""
        return {"zeros": params.zeros, "means": params.means, "dispersions": params.dispersions}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Hurdles:
        """From a file."""
        return Hurdles(*(np.asarray(arrays[name], np.float64) for name in ("zeros", "means", "dispersions")))
