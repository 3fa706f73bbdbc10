"""Mixtures with one more component for rows that belong to none: a uniform density over the box of the table.

    p(x) = sum_c pi_c p(x | c) + pi_0 / V,        V = prod_j (high_j - low_j)

``WithNoise`` is a family of k + 1 components, the last of which has no parameters: EM (``methods.em``) needs no
change, and the likelihood never falls. The density is 1 / V outside of the box as well (an improper one): a new row
far out is noise, and not what the nearest group has to take. A missing cell takes its column out of V.

Starts. Noise makes groups wide and groups in noise hard to see, so groups are looked for among the rows that are left
when those with a far k-th neighbour are put aside; and among all rows with a little noise beside them. The likelihood
decides. Distances D to the k-th neighbour are two Gamma distributions, of D^d, one for groups and one for noise.

References
----------
1. Banfield, Raftery (1993), Model-based Gaussian and non-Gaussian clustering. Biometrics 49:803-821.
2. Byers, Raftery (1998), Nearest-neighbor clutter removal for estimating features in spatial point processes.
   JASA 93:577-584.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from asterism.data.block import Block, Vector
from asterism.errors import DataError
from asterism.families.base import Array, Facts, Family
from asterism.methods.em import MixtureModel

FIRST_SHARE = 0.05  # convention: of noise, where a start knows nothing of it
NEIGHBOURS = 12  # convention: Byers and Raftery's usual choice is 10 to 20
CLEANING_STEPS = 50  # convention: of EM for two Gamma distributions


@dataclass(frozen=True)
class Box:
    """A uniform density over the box of a table."""

    low: Vector  # (d,)
    high: Vector  # (d,)

    @property
    def log_widths(self) -> Vector:
        """(d,)"""
        return np.asarray(np.log(self.high - self.low))

    def log_density(self, rows: NDArray[Any]) -> Vector:
        """(n,) minus the log volume of the columns whose cells are there, wherever the row is."""
        widths = self.log_widths
        holes = np.isnan(rows)
        if not holes.any():
            return np.full(len(rows), -widths.sum())
        return np.asarray(-(~holes @ widths))


@dataclass(frozen=True)
class WithNoise:
    """k components of a family, and the noise."""

    inner: Family
    box: Box | None = None  # None: not prepared

    @property
    def name(self) -> str:
        """Of the components."""
        return self.inner.name

    @property
    def needs_covariance(self) -> bool:
        """Whether ``prepared`` wants the covariance of the table."""
        return bool(getattr(self.inner, "needs_covariance", False))

    def prepared(self, facts: Facts) -> WithNoise:
        """With the box of the table; a column without any width has no volume."""
        low, high = facts.moments.low, facts.moments.high
        for j in np.flatnonzero(~(high > low)):
            raise DataError(
                "all cells are the same: a uniform density over this column has no volume.",
                "Leave the column out, or fit without noise_component.",
                column=facts.names[int(j)],
            )
        box = self.box or Box(np.asarray(low, np.float64), np.asarray(high, np.float64))
        return WithNoise(self.inner.prepared(facts), box)

    # --- density ---

    def log_density(self, params: Any, block: Block) -> Array:
        """(n, k + 1), the noise last."""
        assert self.box is not None, "not prepared"
        return np.column_stack([self.inner.log_density(params, block), self.box.log_density(block.rows)])

    # --- statistic and estimate ---

    def statistic(self, params: Any | None, block: Block, mass: Array) -> Any:
        """That of the components: the noise has nothing to learn."""
        return self.inner.statistic(params, block, np.ascontiguousarray(mass[:, :-1]))

    def estimate(self, statistic: Any, previous: Any | None) -> Any:
        """That of the components."""
        return self.inner.estimate(statistic, previous)

    def log_prior(self, params: Any) -> float:
        """That of the components."""
        return self.inner.log_prior(params)

    def n_parameters(self, k: int) -> int:
        """Those of k - 1 components; the box is not counted, as its density is improper."""
        return self.inner.n_parameters(k - 1)

    # --- sample ---

    def sample(self, params: Any, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) rows of one component; noise in the box."""
        assert self.box is not None, "not prepared"
        if component < self._components(params):
            return self.inner.sample(params, component, n, rng)
        return np.asarray(rng.uniform(self.box.low, self.box.high, (n, len(self.box.low))))

    def impute(self, params: Any, block: Block, r: Array) -> Array:
        """(n, d) what the components expect, by their shares alone: noise expects nothing."""
        shares = r[:, :-1]
        total = shares.sum(axis=1, keepdims=True)
        even = np.full_like(shares, 1.0 / shares.shape[1])
        shares = np.divide(shares, total, out=even, where=total > 0)
        return self.inner.impute(params, block, shares)

    def pack(self, params: Any) -> Mapping[str, NDArray[Any]]:
        """That of the components."""
        return self.inner.pack(params)

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Any:
        """That of the components."""
        return self.inner.unpack(arrays)

    def _components(self, params: Any) -> int:
        return max(len(array) for array in self.inner.pack(params).values())


def with_share(model: MixtureModel, share: float) -> MixtureModel:
    """The model of k components with noise of some share beside it."""
    return MixtureModel(np.append(model.weights * (1.0 - share), share), model.params)


# --- nearest-neighbour cleaning ---------------------------------------------------------------------------------


def noise_probabilities(rows: Array, weights: Vector) -> Vector:
    """(n,) how likely a row is noise, by the distance to its k-th neighbour (reference 2); rows (n, d) complete.

    >>> rng = np.random.default_rng(0)
    >>> x = np.vstack([rng.normal(0, 0.01, (300, 2)), rng.uniform(-1, 1, (100, 2))])
    >>> p = noise_probabilities(x, np.ones(400))
    >>> float((p[:300] > 0.5).mean()) < 0.05, float((p[300:] > 0.5).mean()) > 0.9
    (True, True)
    """
    from scipy.spatial import KDTree

    n, d = rows.shape
    k = min(NEIGHBOURS, n - 1)
    if k < 1:
        return np.zeros(n)
    far = np.asarray(KDTree(rows).query(rows, k + 1)[0])[:, -1]
    log_far = d * np.log(np.maximum(far, np.finfo(float).tiny))
    # D^d is Gamma(k, rate): log density of log D^d = k (log rate + log D^d) - rate D^d - log Gamma(k)
    log_rates = -np.array([np.quantile(log_far, q) for q in (0.25, 0.9)]) + np.log(k)
    shares = np.array([0.75, 0.25])
    r = np.zeros((n, 2))
    with np.errstate(over="ignore", divide="ignore"):
        for _ in range(CLEANING_STEPS):
            reach = log_rates + log_far[:, None]
            scores = np.log(shares) + k * reach - np.exp(reach) - gammaln(k)
            r = np.exp(scores - scores.max(axis=1, keepdims=True))
            r /= r.sum(axis=1, keepdims=True)
            mass = np.maximum(weights @ r, np.finfo(float).tiny)
            top = log_far.max()
            log_rates = np.log(k * mass) - top - np.log(np.maximum((weights[:, None] * r).T @ np.exp(log_far - top),
                                                                   np.finfo(float).tiny))  # fmt: skip
            shares = mass / mass.sum()
    return r[:, int(np.argmin(log_rates))]


def without_noise(sample: Any) -> tuple[Any, float]:
    """The rows of a sample (``methods.starts.Sample``) that are likelier of groups, and the share of the others."""
    noise = noise_probabilities(sample.standard, sample.w) > 0.5
    share = float(sample.w[noise].sum() / sample.w.sum())
    return replace(sample, block=_rows(sample.block, ~noise), y=sample.y[~noise], whole=sample.whole), share


def _rows(block: Block, keep: NDArray[np.bool_]) -> Block:
    from asterism.data.block import block_of

    return block_of(block.rows[keep], block.weights[keep], block.start)
