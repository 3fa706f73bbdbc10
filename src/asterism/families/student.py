"""Multivariate t components: normal ones whose rows have a precision of their own, so outliers hardly count.

    x | u ~ Normal(mu, S / u),   u ~ Gamma(v/2, rate v/2)       v: degrees of freedom; large is normal, 1 is Cauchy
    log p(x) = log G((v + p)/2) - log G(v/2) - p/2 log(v pi) - log det(S)/2 - (v + p)/2 log(1 + D/v)
                                                                p known cells, D = (x - mu)' S^-1 (x - mu) of them
    E[u]     = (v + p) / (v + D)                                the weight of a row; 0 for one that is far out
    E[log u] = psi((v + p)/2) - log((v + D)/2)

Means and scatters are those of rows weighted by E[u], in any covariance structure; v solves
``log(v/2) - psi(v/2) + 1 + mean of (E[log u] - E[u]) = 0``. A missing cell is expected where the normal component
expects it, and adds its conditional covariance once: there u and the variance S/u cancel.

References
----------
1. Peel, McLachlan (2000), Robust mixture modelling using the t distribution. Statistics and Computing 10:339-348.
2. Liu, Rubin (1995), ML estimation of the t distribution using EM and its extensions. Statistica Sinica 5:19-39.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaln, psi

from asterism.data.block import Block, Vector
from asterism.errors import ParameterError
from asterism.families.base import Array, Facts
from asterism.families.covariance import FLOOR, estimate
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_pass import GaussianParams
from asterism.families.gaussian_statistic import GaussianStatistic, as_diagonals, in_form
from asterism.families.missing import Gathered, View, views
from asterism.families.priors import shrink

FEWEST, MOST, FIRST = 0.5, 1000.0, 10.0  # degrees of freedom: limits, and where they start


@dataclass(frozen=True)
class StudentParams:
    """Parameters."""

    normal: GaussianParams  # mu and S; the covariance of a component is S v / (v - 2)
    degrees: Vector  # (k,) v


@dataclass(frozen=True, slots=True)
class StudentStatistic:
    """What weighted rows say of t components."""

    mass: Vector  # (k,) N = sum w r
    logs: Vector  # (k,) sum w r (E[log u] - E[u])
    normal: GaussianStatistic  # of mass w r E[u]

    def merge(self, other: StudentStatistic) -> StudentStatistic:
        """Sums add, moments merge."""
        return StudentStatistic(
            self.mass + other.mass, self.logs + other.logs, self.normal.merge(other.normal)
        )


@dataclass(frozen=True)
class StudentFamily:
    """t components of one covariance structure.

    >>> StudentFamily(GaussianFamily("diag").at(np.zeros(2))).n_parameters(3)  # means, variances, degrees
    15
    """

    normal: GaussianFamily = field(default_factory=GaussianFamily)  # structure, prior, references
    degrees: float | None = None  # given, or None: estimated for each component
    name: str = "student"

    def prepared(self, facts: Facts) -> StudentFamily:
        """With what the normal family needs of the table."""
        if self.degrees is not None and not FEWEST <= self.degrees <= MOST:
            raise ParameterError(
                f"degrees of freedom are {self.degrees!r}.",
                f"Give {FEWEST} to {MOST:g}, or None to estimate.",
            )
        return replace(self, normal=self.normal.prepared(facts))

    @property
    def needs_covariance(self) -> bool:
        """Whether ``prepared`` wants the covariance of the table."""
        return self.normal.needs_covariance

    @property
    def oriented(self) -> bool:
        """Whether components may lie in any direction."""
        return self.normal.oriented

    def n_parameters(self, k: int) -> int:
        """Those of normal components, and the degrees of freedom unless they are given."""
        return self.normal.n_parameters(k) + (k if self.degrees is None else 0)

    # --- density ---

    def log_density(self, params: StudentParams, block: Block) -> Array:
        """(n, k) log p of the cells that are there."""
        y = self._offsets(block)
        out = np.empty((len(y), len(params.degrees)))
        for view, rows in views(params.normal, y):
            out[rows] = _log_t(view, params.degrees, y[rows])
        return out

    def log_prior(self, params: StudentParams) -> float:
        """That of normal components; degrees of freedom have none."""
        return self.normal.log_prior(params.normal)

    # --- statistic ---

    def statistic(self, params: StudentParams | None, block: Block, mass: Array) -> StudentStatistic:
        """Moments of rows weighted by E[u]; at a start all rows have u = 1."""
        if params is None:
            normal = self.normal.statistic(None, block, mass)
            return StudentStatistic(normal.mass, -normal.mass, normal)
        k, d = params.normal.means.shape
        y, degrees = self._offsets(block), params.degrees
        gathered, logs, total = Gathered.empty(k, d), np.zeros(k), np.zeros(k)
        for view, rows in views(params.normal, y):
            p, m = view.observed, mass[rows]
            if not p:
                continue  # such rows say nothing
            far = degrees + view.squares(y[rows])  # (n, k) v + D
            u = (degrees + p) / far
            logs += (m * (psi((degrees + p) / 2) - np.log(far / 2) - u)).sum(axis=0)
            gathered.add(view, y[rows], m * u)
            # what ``add`` took for missing cells was weighted by u, but their share is 1
            gathered.scatters += view.spread(m - m * u)
            total += m.sum(axis=0)
        scatters = in_form(gathered.scatters, self.normal.form)
        normal = GaussianStatistic.about(params.normal.means, gathered.mass, gathered.sums, scatters)
        return StudentStatistic(total, logs, normal)

    # --- estimate ---

    def estimate(self, statistic: StudentStatistic, previous: StudentParams | None) -> StudentParams:
        """Means and scatters of the weighted rows, over the number of rows; and v."""
        inner, normal = statistic.normal, self.normal
        before = None if previous is None else previous.normal
        empty = (inner.mass <= 0)[:, None]
        means = np.where(empty, normal.center if before is None else before.means, inner.means)
        scatters, prior = as_diagonals(inner.scatters, means.shape[1]), normal.prior_of(len(means))
        if prior is not None:
            means, scatters = shrink(prior, inner.mass, means, scatters)
        last = None if before is None else before.covariances
        covariances = estimate(
            normal.structure, statistic.mass, scatters, last, prior, FLOOR, normal.variances
        )
        return StudentParams(GaussianParams(means, covariances), self._degrees(statistic, previous))

    def _degrees(self, statistic: StudentStatistic, previous: StudentParams | None) -> Vector:
        first = np.full(len(statistic.mass), FIRST if self.degrees is None else self.degrees)
        if previous is None or self.degrees is not None:
            return first  # rows with u = 1 would say: normal, and from there the way is long
        pairs = zip(statistic.mass, statistic.logs, previous.degrees, strict=True)
        return np.array([_root(logs / mass) if mass > 0 else old for mass, logs, old in pairs])

    # --- collapse ---

    @property
    def least_rows(self) -> int:
        """As for normal components."""
        return self.normal.least_rows

    def collapsed(self, params: StudentParams, statistic: Any) -> NDArray[np.bool_]:
        """(k, d) what the floor had to hold up."""
        return self.normal.collapsed(params.normal, statistic)

    def split(self, params: StudentParams, component: int, into: int) -> StudentParams:
        """Halves as those of a normal component, with the same degrees of freedom."""
        degrees = params.degrees.copy()
        degrees[into] = degrees[component]
        return StudentParams(self.normal.split(params.normal, component, into), degrees)

    # --- sample ---

    def sample(self, params: StudentParams, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) rows of one component: normal ones, each stretched by 1/sqrt(u)."""
        nowhere = np.zeros_like(self.normal.reference)
        centered = replace(params.normal, means=np.zeros_like(params.normal.means))
        y = replace(self.normal, reference=nowhere).sample(centered, component, n, rng)
        v = params.degrees[component]
        u = rng.gamma(v / 2, 2 / v, n)
        return np.asarray(self.normal.reference + (params.normal.means[component] + y / np.sqrt(u)[:, None]))

    def impute(self, params: StudentParams, block: Block, r: Array) -> Array:
        """(n, d) conditional means: those of the normal component, for any v."""
        return self.normal.impute(params.normal, block, r)

    # --- storage ---

    def pack(self, params: StudentParams) -> Mapping[str, NDArray[Any]]:
        """Arrays for files."""
        return {**self.normal.pack(params.normal), "degrees": params.degrees}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> StudentParams:
        """From a file."""
        return StudentParams(self.normal.unpack(arrays), np.asarray(arrays["degrees"], np.float64))

    def _offsets(self, block: Block) -> Array:
        return np.subtract(block.rows, self.normal.reference, dtype=np.float64)


def _log_t(view: View, v: Vector, y: Array) -> Array:
    """(n, k) log p."""
    p = view.observed
    constant = gammaln((v + p) / 2) - gammaln(v / 2) - p / 2 * np.log(v * np.pi) + view.heights
    return np.asarray(constant - (v + p) / 2 * np.log1p(view.squares(y) / v))


def _root(mean_log: float) -> float:
    """v where log(v/2) - psi(v/2) + 1 + mean_log = 0; it falls as v grows, so there is one root or a limit."""

    def slope(log_v: float) -> float:
        half = np.exp(log_v) / 2
        return float(np.log(half) - psi(half) + 1.0 + mean_log)

    low, high = float(np.log(FEWEST)), float(np.log(MOST))
    if slope(high) >= 0:
        return MOST
    return FEWEST if slope(low) <= 0 else float(np.exp(brentq(slope, low, high, xtol=1e-13)))
