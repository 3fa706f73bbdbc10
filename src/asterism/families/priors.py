"""Conjugate priors of Gaussian groups: rows that were never seen, so they enter as statistics.

    Sigma_c ~ inverse Wishart(nu, Lambda)        mean_c | Sigma_c ~ Normal(m, Sigma_c / kappa)

The mode of the posterior is the estimate from

    mean_c  = (n_c xbar_c + kappa m) / (n_c + kappa)
    M_c     = W_c + Lambda + n_c kappa/(n_c + kappa) (xbar_c - m)(xbar_c - m)'
    count_c = n_c + nu + d + 1 + 1                                            the last 1 for the mean, if kappa > 0

in whatever structure. Where columns are independent, each variance is inverse gamma instead, ``nu + 2`` in place of
``nu + d + 1``; round groups have one variance for d columns, ``Lambda/d`` and ``(nu + 2)/d``. A covariance that all
groups share (EII, EEI, EEE) has one prior; in all other structures each group has its own.

References
----------
1. Fraley, Raftery (2007), Bayesian regularization for normal mixture estimation and model-based clustering.
   Journal of Classification 24:155-181.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from asterism.errors import ParameterError
from asterism.families.covariance_structures import Structure, structure_of

if TYPE_CHECKING:
    from asterism.families.covariance import Covariances

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ConjugatePrior:
    """What is believed of every group before rows are seen."""

    mean: Array  # (d,) m
    shrinkage: float  # kappa: m counts as so many rows; 0 leaves means alone
    degrees: float  # nu
    scale: Array  # (d, d) Lambda, or (d,) its diagonal for round and column-aligned structures

    def __post_init__(self) -> None:
        if not (self.shrinkage >= 0 and self.degrees > -2):
            raise ParameterError(
                f"A prior with shrinkage {self.shrinkage} and {self.degrees} degrees of freedom.",
                "Shrinkage is 0 or more, degrees of freedom are above the number of columns minus 1.",
            )

    @property
    def d(self) -> int:
        """Columns."""
        return len(self.mean)


def default_prior(mean: Array, covariance: Array, k: int) -> ConjugatePrior:
    """A weak prior: kappa = 0.01, nu = d + 2, Lambda = covariance / k^(2/d), the whole table cut into k groups.

    ``mean`` (d,) and ``covariance`` (d, d), or (d,) variances, are those of the whole table.
    """
    d = len(mean)
    return ConjugatePrior(np.asarray(mean), 0.01, d + 2.0, np.asarray(covariance) / k ** (2.0 / d))


def shrink(prior: ConjugatePrior, counts: Array, means: Array, scatters: Array) -> tuple[Array, Array]:
    """Means (k, d) drawn to the prior's, and scatters (k, d, d) or (k, d) with the step they made."""
    kappa = prior.shrinkage
    if kappa == 0.0:
        return means, scatters
    away = means - prior.mean
    pull = counts * kappa / (counts + kappa)
    outer = away**2 if scatters.ndim == 2 else np.einsum("ci,cj->cij", away, away)
    between = pull.reshape(-1, *[1] * (scatters.ndim - 1)) * outer
    if len(scatters) != len(counts):  # pooled
        between = between.sum(axis=0, keepdims=True)
    return means - (kappa / (counts + kappa))[:, None] * away, scatters + between


def pseudo_statistics(kind: Structure, prior: ConjugatePrior, k: int, m: int) -> tuple[Array, Array]:
    """Counts (k,) and scatters (m, d, d) or (m, d) that the prior adds to those of k groups (m = 1: pooled)."""
    d = prior.d
    scale = np.asarray(prior.scale, dtype=np.float64)
    if kind.diagonal and scale.ndim == 2:
        scale = np.diagonal(scale)
    elif not kind.diagonal and scale.ndim == 1:
        scale = np.diag(scale)
    count = {"spherical": (prior.degrees + 2.0) / d, "diagonal": prior.degrees + 2.0}.get(
        kind.kind, prior.degrees + d + 1.0
    )
    if kind.kind == "spherical":
        scale = np.full(d, scale.mean() / d)
    shares = k if kind.common else 1  # one prior, cut into equal shares
    counts = np.full(k, count / shares + (prior.shrinkage > 0))
    return counts, np.broadcast_to(scale * (k / m / shares), (m, *scale.shape))


def log_prior(prior: ConjugatePrior, covariances: Covariances, means: Array) -> float:
    """Log density of means and covariances, up to a constant: what MAP adds to the log-likelihood.

    >>> prior = ConjugatePrior(np.zeros(1), 0.0, 3.0, np.ones((1, 1)))
    >>> from asterism.families.covariance import Covariances
    >>> at = lambda variance: log_prior(prior, Covariances("VII", 1, np.array([[variance]])), np.zeros((1, 1)))
    >>> at(0.19) < at(0.2) > at(0.21)  # the mode is Lambda / (nu + 2)
    True
    """
    from asterism.families.covariance import expected_log_density

    kind = structure_of(covariances.structure, prior.d)
    k = covariances.k
    counts, scatters = pseudo_statistics(kind, prior, k, k)
    away = means - prior.mean
    if kind.diagonal:
        scatters = scatters + prior.shrinkage * away**2
    else:
        scatters = scatters + prior.shrinkage * np.einsum("ci,cj->cij", away, away)
    return expected_log_density(covariances, counts, scatters)
