"""Normal components in all fourteen covariance structures.

    log p(x | c) = -d/2 log 2 pi + log det W_c - ||W_c (x - mu_c)||^2 / 2,      W_c' W_c = Sigma_c^-1

One statistic (``gaussian_statistic``) serves all structures; what a structure makes of it is in ``covariance``,
and so is the floor under every spread. Missing cells are integrated out exactly (``missing``).

Means are kept as offsets from a reference row, so a table shifted by 1e10 gives the same numbers. Nothing here is
absolute: a table in other units gives the same model in those units.

References
----------
1. Celeux, Govaert (1995), Gaussian parsimonious clustering models. Pattern Recognition 28:781-793.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector, block_of
from asterism.families.base import Array, Facts
from asterism.families.covariance import FLOOR, Covariances, estimate, n_variance_parameters, structure_of
from asterism.families.gaussian_gaps import fill_in, log_density_of, pass_over, statistic_of
from asterism.families.gaussian_pass import (
    GaussianParams,
    GaussianPass,
    Table,
    one_mixture,
    sums_of_shares,
    unknown_table,
)
from asterism.families.gaussian_statistic import (
    Form,
    GaussianStatistic,
    GaussianSums,
    as_diagonals,
    between,
)
from asterism.families.missing import gappy
from asterism.families.priors import ConjugatePrior, default_prior, log_prior, shrink

BARE_FLOOR = 1e-14  # where the user sets the regularisation: just above rounding


# --- the family -------------------------------------------------------------------------------------------------


def _nowhere() -> Vector:
    return np.zeros(0)


@dataclass(frozen=True)
class GaussianFamily:
    """Normal components of one covariance structure.

    >>> from asterism.data.block import block_of
    >>> family, block = GaussianFamily("full").at(np.zeros(1)), block_of(np.array([[-1.0], [1.0]]))
    >>> params = family.estimate(family.statistic(None, block, np.ones((2, 1))), None)
    >>> params.means.tolist(), params.covariances.full().tolist()
    ([[0.0]], [[[1.0]]])
    """

    structure: str = "VVV"  # one of the fourteen, or full, tied, diag, spherical
    added: float | str = (
        "auto"  # a variance added to every column of every component; "auto": none, only a floor
    )
    prior: Any = (
        None  # None, "conjugate" for the usual weak one, or a ``ConjugatePrior`` in the table's coordinates
    )
    frozen: frozenset[str] = frozenset()  # of "means", "covariances": what keeps its starting value
    reference: Vector = field(default_factory=_nowhere)  # (d,) means are offsets from it
    center: Vector = field(default_factory=_nowhere)  # (d,) column means, as offsets
    variances: Vector = field(default_factory=_nowhere)  # (d,) of the columns; none is 0
    covariance: Array | None = None  # (d, d) of the table, for the prior
    surveyed: bool = False  # whether the above are a table's own
    name: str = "gaussian"

    def prepared(self, facts: Facts) -> GaussianFamily:
        """References, variances and the prior from what the table told."""
        m, d = facts.moments, len(facts.names)
        family = replace(
            self,
            structure=structure_of(self.structure, d).name,
            reference=facts.reference,
            center=(m.mean - facts.reference) + m.rest,
            variances=usable_variances(m.variance),
            surveyed=True,
        )
        if isinstance(self.prior, ConjugatePrior):
            return replace(family, prior=replace(self.prior, mean=self.prior.mean - facts.reference))
        if self.prior != "conjugate":
            return family
        covariance = facts.covariance if facts.covariance is not None else np.diag(m.variance)
        return replace(family, covariance=covariance + np.diag(family.variances * FLOOR))

    def at(self, reference: Vector) -> GaussianFamily:
        """The same family about a point, for those who have no table yet."""
        d = len(reference)
        return replace(self, reference=reference, center=np.zeros(d), variances=np.ones(d), surveyed=False)

    @property
    def needs_covariance(self) -> bool:
        """Whether ``prepared`` wants the covariance of the table."""
        return isinstance(self.prior, str)

    @property
    def oriented(self) -> bool:
        """Whether components may lie in any direction: starts then look in all of them."""
        return self.form in ("full", "tied")

    def prior_of(self, k: int) -> ConjugatePrior | None:
        """The prior of k components."""
        if self.prior is None or isinstance(self.prior, ConjugatePrior):
            return self.prior
        assert self.covariance is not None, "not prepared"
        return default_prior(self.center, self.covariance, k)

    # --- density ---

    def log_density(self, params: GaussianParams, block: Block) -> Array:
        """(n, k) log p(x | c) of the cells that are there."""
        return self.scores(params, params.no_weights, block)

    def scores(self, params: GaussianParams, log_weights: Vector, block: Block) -> Array:
        """(n, k) log pi_c p(x | c) of the cells that are there, in float64."""
        ready = self._pass(params, log_weights, block.rows.dtype, rough=False)
        gaps = gappy(block.rows)
        if gaps is None:
            return ready.scores(block.rows)
        out = np.empty((len(block), len(params.means)))
        out[~gaps] = ready.scores(block_of(block.rows[~gaps]).rows)
        out[gaps] = log_density_of(params, self._offsets(block.rows[gaps])) + log_weights
        return out

    # --- passes over a block ---

    @cached_property
    def form(self) -> Form:
        """What the statistic has to hold."""
        kind = structure_of(self.structure, len(self.reference))
        if kind.diagonal:
            return "round" if kind.kind == "spherical" else "diag"
        return "tied" if kind.common else "full"

    def prepare(self, params: GaussianParams, log_weights: Vector, dtype: np.dtype[Any]) -> None:
        """Make what all blocks of a step share."""
        self._pass(params, log_weights, dtype, rough=dtype == np.float32)

    def summarize(
        self,
        params: GaussianParams,
        log_weights: Vector,
        block: Block,
        assignment: str,
        draws: Vector | None = None,
    ) -> tuple[Vector, float, GaussianStatistic | GaussianSums]:
        """Shares, what they climb, and the statistic, in one pass that keeps nothing of size n x k."""
        ready = self._pass(params, log_weights, block.rows.dtype, rough=block.rows.dtype == np.float32)
        totals, sums = ready.summarize(block.rows, block.weights, assignment, draws)
        climbed = float(totals[0, 1 if assignment == "hard" else 0])
        # A missing cell lets no likelihood be finite: complete blocks, the usual ones, need not be searched for any.
        gaps = None if math.isfinite(climbed) else gappy(block.rows)
        if gaps is None:
            return sums.mass, climbed, sums
        here, there = (None if draws is None else draws[at] for at in (~gaps, gaps))
        whole = block_of(block.rows[~gaps], block.weights[~gaps], block.start)
        one = self.summarize(params, log_weights, whole, assignment, here)
        y, w = self._offsets(block.rows[gaps]), block.weights[gaps]
        two = pass_over(params, log_weights, y, w, self.form, assignment, there)
        return one[0] + two[0], one[1] + two[1], one[2].merge(two[2])

    def classify(
        self, params: GaussianParams, log_weights: Vector, block: Block
    ) -> tuple[NDArray[np.int32], float, float] | None:
        """(n,) likeliest components, sum w log p(x), sum w max_c log pi_c p(x | c), in float64; None with gaps."""
        labels, totals = self._pass(params, log_weights, block.rows.dtype, rough=False).classify(
            block.rows, block.weights
        )
        height, best = totals[0].tolist()
        return (labels, height, best) if math.isfinite(height) else None

    def _pass(
        self, params: GaussianParams, log_weights: Vector, dtype: np.dtype[Any], *, rough: bool
    ) -> GaussianPass:
        """Made at the first block of a step and kept with the parameters for its others."""
        key = dtype, rough
        kept = params.passes.get(key)
        if kept is None or kept.components.log_weights is not log_weights:
            components = one_mixture(log_weights, params.means, params.factors)
            table = self.table(single_rows=dtype == np.float32, single=rough)
            kept = params.passes[key] = GaussianPass(components, table, self.form)
        return kept

    def table(self, *, single_rows: bool = False, single: bool = False) -> Table:
        """What a pass has to know of the rows; ``single``: whether float32 will do where it is precise."""
        if not self.surveyed:
            return unknown_table(self.reference)
        return Table(self.reference, self.center, self.variances, single_rows, single)

    def _offsets(self, rows: NDArray[Any]) -> Array:
        return np.asarray(np.subtract(rows, self.reference, dtype=np.float64))

    # --- statistic ---

    def statistic(self, params: GaussianParams | None, block: Block, mass: Array) -> GaussianStatistic:
        """Mass, means and scatters of rows with given shares."""
        y = self._offsets(block.rows)
        params = params or self._vague(y, mass)
        if np.isnan(y).any():
            return statistic_of(params, y, mass, self.form)
        return sums_of_shares(block.rows, self.reference, params.means, mass, self.form).centred

    # --- estimate ---

    def estimate(
        self, statistic: GaussianStatistic | GaussianSums, previous: GaussianParams | None
    ) -> GaussianParams:
        """Means, then the covariances that the structure makes of masses and scatters."""
        statistic = statistic.centred
        mass, xbar = statistic.mass, statistic.means
        own = as_diagonals(statistic.scatters, xbar.shape[1])
        empty = (mass <= 0)[:, None]
        if empty.any():
            xbar = np.where(empty, self.center if previous is None else previous.means, xbar)
        prior = self.prior_of(len(mass))
        if "means" in self.frozen and previous is not None:
            # About means that are not the rows' own, the scatter is larger by what the means differ.
            means = previous.means
            scatters = own + between(xbar - means, mass, own)
            if prior is not None:
                pull = np.full(len(mass), prior.shrinkage)
                scatters = scatters + between(means - prior.mean, pull, scatters)
        elif prior is not None:
            means, scatters = shrink(prior, mass, xbar, own)
        else:
            means, scatters = xbar, own
        if "covariances" in self.frozen and previous is not None:
            return replace(previous, means=means)
        return GaussianParams(means, self._covariances(mass, scatters, prior, previous))

    def _covariances(
        self, mass: Vector, scatters: Array, prior: ConjugatePrior | None, previous: GaussianParams | None
    ) -> Covariances:
        floor = FLOOR
        if not isinstance(self.added, str):
            floor = BARE_FLOOR
            scatters = scatters + self._added(mass, scatters)
        last = None if previous is None else previous.covariances
        return estimate(self.structure, mass, scatters, last, prior, floor, self.variances)

    def _added(self, mass: Vector, like: Array) -> Array:
        if like.ndim == 2:
            return np.asarray(mass[:, None] * self.added)
        total = mass if len(like) == len(mass) else mass.sum(keepdims=True)
        return np.asarray(total[:, None, None] * (np.eye(like.shape[1]) * self.added))

    def log_prior(self, params: GaussianParams) -> float:
        """Log density of the conjugate prior, up to a constant."""
        prior = self.prior_of(len(params.means))
        return 0.0 if prior is None else log_prior(prior, params.covariances, params.means)

    def n_parameters(self, k: int) -> int:
        """Means, and what the structure leaves free of the covariances; less what is frozen."""
        d = len(self.reference)
        means = 0 if "means" in self.frozen else k * d
        return means + (0 if "covariances" in self.frozen else n_variance_parameters(self.structure, k, d))

    # --- collapse and acceleration ---

    @property
    def least_rows(self) -> int:
        """d + 1 rows span all directions; 2 rows differ in every column."""
        return 2 if self.form in ("diag", "round") else len(self.reference) + 1

    def collapsed(self, params: GaussianParams, statistic: Any) -> NDArray[np.bool_]:  # noqa: ARG002  one signature for all
        """What the floor had to hold up."""
        flags = np.zeros(params.means.shape, bool)
        for mended in params.covariances.repairs:
            rows = slice(None) if mended.component is None else mended.component
            flags[rows, list(mended.columns)] = True
        return flags

    def split(self, params: GaussianParams, component: int, into: int) -> GaussianParams:
        """Halves along the longest axis, one standard deviation apart, with the covariance of the whole."""
        matrices = params.covariances.full()
        values, vectors = np.linalg.eigh(matrices[component])
        axis = vectors[:, -1] * np.sqrt(values[-1])
        means = params.means.copy()
        means[into] = params.means[component] + 0.5 * axis
        means[component] = params.means[component] - 0.5 * axis
        matrices[into] = matrices[component]
        return GaussianParams(means, Covariances.given(self.structure, matrices))

    def flatten(self, statistic: GaussianStatistic | GaussianSums) -> Vector:
        """Moments about the table's mean, in units of its variances."""
        return statistic.centred.moments(self.center, self._units)

    def unflatten(self, vector: Vector, like: GaussianStatistic | GaussianSums) -> GaussianStatistic | None:
        """The statistic of these moments, if masses and variances are positive."""
        return like.centred.of_moments(vector, self.center, self._units)

    @cached_property
    def _units(self) -> Vector:
        """(d,) standard deviations of the columns; round components have one for all."""
        if self.form == "round":
            return np.full_like(self.variances, np.sqrt(self.variances.mean()))
        return np.sqrt(self.variances)

    # --- sample ---

    def sample(self, params: GaussianParams, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) rows of one component."""
        z = rng.standard_normal((n, len(self.reference)))
        if params.covariances.diagonal:
            y = z * np.sqrt(params.covariances.diagonals()[component])
        else:
            matrices = params.matrices
            y = z @ np.linalg.cholesky(matrices[component if len(matrices) > 1 else 0]).T
        return np.asarray(self.reference + (params.means[component] + y))

    def impute(self, params: GaussianParams, block: Block, r: Array) -> Array:
        """(n, d) missing cells by sum_c r_c E[x_m | x_o, c]."""
        rows = block.rows.astype(np.float64)
        y = self._offsets(rows)
        gone = np.isnan(y)
        fill_in(params, y, r)
        rows[gone] = (self.reference + y)[gone]
        return rows

    # --- storage ---

    def pack(self, params: GaussianParams) -> Mapping[str, NDArray[Any]]:
        """Means as offsets, and the covariances in the few numbers they are kept in."""
        c = params.covariances
        kept = {"variances": c.variances, "axes": c.axes, "matrices": c.matrices}
        return {"means": params.means, **{name: a for name, a in kept.items() if a is not None}}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> GaussianParams:
        """The params again."""
        means = arrays["means"]
        variances, axes, matrices = (arrays.get(name) for name in ("variances", "axes", "matrices"))
        return GaussianParams(means, Covariances(self.structure, len(means), variances, axes, matrices))

    def _vague(self, y: Array, mass: Array) -> GaussianParams:
        """Means of the rows themselves and the table's variances: fills missing cells when nothing is known yet."""
        seen = ~np.isnan(y)
        weight = mass.T @ seen
        total = mass.T @ np.where(seen, y, 0.0)
        means = np.divide(total, weight, out=np.tile(self.center, (mass.shape[1], 1)), where=weight > 0)
        return GaussianParams(means, Covariances("EEI", len(means), self.variances[None]))


def usable_variances(variances: Vector) -> Vector:
    """Variances of columns with something in the place of 0: a constant column has no unit of its own."""
    top = float(variances.max(initial=0.0))
    return np.where(variances > 0, variances, top if top > 0 else 1.0)
