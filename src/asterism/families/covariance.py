"""Covariances of the groups of a Gaussian mixture, from statistics: fourteen structures, one entry.

``estimate`` takes what one pass over the rows leaves of each group, its weight and its centred scatter, and gives
``Covariances``: the structure's own few numbers, and every form of them that a density or a user asks for.
The structures are in ``covariance_structures``, floors in ``covariance_repair``, priors in ``priors``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from asterism.errors import ParameterError
from asterism.families.covariance_repair import FLOOR, Repair, fill_empty
from asterism.families.covariance_structures import (
    ALIASES,
    STRUCTURES,
    Parts,
    n_parameters,
    n_variance_parameters,
    structure_of,
)
from asterism.families.priors import ConjugatePrior, pseudo_statistics

__all__ = [
    "ALIASES",
    "FLOOR",
    "STRUCTURES",
    "ConjugatePrior",
    "Covariances",
    "Repair",
    "estimate",
    "expected_log_density",
    "n_parameters",
    "n_variance_parameters",
    "structure_of",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Covariances:
    """Covariances of k groups, in as few numbers as their structure needs.

    Σ is ``diag(variances)``, ``axes diag(variances) axes'`` or ``matrices``; a leading 1 means all groups share it.
    """

    structure: str  # three letters
    k: int  # groups
    variances: Array | None  # (1 or k, d) along the columns, or along ``axes``
    axes: Array | None = None  # (1 or k, d, d) orientation, axes in columns
    matrices: Array | None = None  # (1 or k, d, d)
    repairs: tuple[Repair, ...] = ()  # what had to be mended

    @classmethod
    def given(cls, structure: str, matrices: Array) -> Covariances:
        """Of matrices that have this structure already, say those of a user or of a file.

        (k, d, d), or for diagonal structures (k, d).
        """
        k, d = matrices.shape[:2]
        kind = structure_of(structure, d)
        if kind.diagonal:
            kept = matrices if matrices.ndim == 2 else np.diagonal(matrices, axis1=1, axis2=2).copy()
            return cls(kind.name, k, kept[:1] if kind.common else kept)
        if kind.kind == "full":
            return cls(kind.name, k, None, None, matrices[:1] if kind.common else matrices)
        if kind.name in ("EVE", "VVE"):
            axes = np.linalg.eigh((matrices / _mean_variance(matrices)).sum(axis=0))[1][None]
            return cls(kind.name, k, np.einsum("cij,ij->cj", matrices @ axes[0], axes[0]), axes)
        values, vectors = np.linalg.eigh(matrices)
        return cls(kind.name, k, values[:, ::-1], vectors[:, :, ::-1])

    @property
    def d(self) -> int:
        """Columns."""
        return int((self.variances if self.variances is not None else self._matrices).shape[-1])

    @property
    def _matrices(self) -> Array:
        assert self.matrices is not None
        return self.matrices

    # ---- forms ---------------------------------------------------------------------------------------------

    @property
    def diagonal(self) -> bool:
        """Whether every Σ is diagonal: ``variances`` is all there is."""
        return self.axes is None and self.matrices is None

    def full(self) -> Array:
        """(k, d, d) Σ of every group."""
        return _repeat(self._distinct(), self.k)

    def diagonals(self) -> Array:
        """(k, d) the variance of every column."""
        if self.diagonal and self.variances is not None:
            return _repeat(self.variances, self.k)
        return np.ascontiguousarray(np.diagonal(self.full(), axis1=1, axis2=2))

    def log_determinants(self) -> Array:
        """(k,) log det Σ; sums of logarithms, so nothing over- or underflows."""
        if self.variances is not None:
            logs = np.log(self.variances).sum(axis=-1)
        else:
            factors = np.linalg.cholesky(self._matrices)
            logs = 2.0 * np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=-1)
        return _repeat(logs, self.k)

    def inverse_factors(self) -> Array:
        """(k, d, d) lower triangular T with T'T = Σ^-1: |T (x - mean)|² is the squared Mahalanobis distance."""
        return _repeat(self.distinct_inverse_factors(), self.k)

    def distinct_inverse_factors(self) -> Array:
        """The same, but one matrix where all groups share it."""
        if self.matrices is not None:
            return _cholesky_inverses(self.matrices)
        assert self.variances is not None
        if self.axes is None:
            return (1.0 / np.sqrt(self.variances))[:, :, None] * np.eye(self.d)
        whiten = (self.axes / np.sqrt(self.variances)[:, None, :]).swapaxes(1, 2)
        return _lower(whiten)

    def root_precisions(self) -> Array:
        """(k, d) 1/sqrt(variance) of diagonal structures."""
        if self.variances is None or not self.diagonal:
            raise ParameterError(f"{self.structure} is not diagonal.", "Ask for inverse_factors().")
        return _repeat(1.0 / np.sqrt(self.variances), self.k)

    def precisions(self) -> Array:
        """(k, d, d) Σ^-1."""
        t = self.distinct_inverse_factors()
        return _repeat(t.swapaxes(1, 2) @ t, self.k)

    def like_sklearn(self) -> Array:
        """scikit-learn's shapes: (k, d, d) full, (d, d) tied, (k, d) diag, (k,) spherical; (k, d, d) for the rest."""
        if self.structure in ("VII", "VVI"):
            diagonals = self.diagonals()
            return diagonals[:, 0].copy() if self.structure == "VII" else diagonals
        return self.full()[0] if self.structure == "EEE" else self.full()

    def precisions_like_sklearn(self) -> Array:
        """Inverses in the same shapes."""
        if self.structure in ("VII", "VVI"):
            return 1.0 / self.like_sklearn()
        return self.precisions()[0] if self.structure == "EEE" else self.precisions()

    # ---- volume, shape, orientation ------------------------------------------------------------------------

    def volumes(self) -> Array:
        """(k,) det(Σ)^(1/d)."""
        return np.exp(self.log_determinants() / self.d)

    def decomposed(self) -> tuple[Array, Array, Array]:
        """volumes (k,), shapes (k, d) of product 1, orientations (k, d, d): Σ = volume D diag(shape) D'."""
        if self.variances is not None:
            lengths = _repeat(self.variances, self.k)
            axes = np.eye(self.d)[None] if self.axes is None else self.axes
        else:
            values, vectors = np.linalg.eigh(self._matrices)
            lengths, axes = _repeat(values[:, ::-1], self.k), vectors[:, :, ::-1]
        volumes = np.exp(np.log(lengths).mean(axis=1))
        return volumes, lengths / volumes[:, None], _repeat(axes, self.k)

    @property
    def n_variance_parameters(self) -> int:
        """Free numbers."""
        return n_variance_parameters(self.structure, self.k, self.d)

    # ---- inside --------------------------------------------------------------------------------------------

    def _distinct(self) -> Array:
        if self.matrices is not None:
            return self.matrices
        assert self.variances is not None
        if self.axes is None:
            return self.variances[:, :, None] * np.eye(self.d)
        return (self.axes * self.variances[:, None, :]) @ self.axes.swapaxes(1, 2)


@dataclass(frozen=True, slots=True)
class _Units:
    """Powers of two that bring columns near variance 1: scaling and scaling back round nothing."""

    roots: Array  # (d,) a column is divided by it
    variances: Array  # (d,) column variances after that

    @classmethod
    def of(cls, s: Array, each: bool) -> _Units:
        positive = s[s > 0]
        # A constant column has no units of its own; any will do, and those of the others keep numbers near 1.
        s = np.where(s > 0, s, np.exp(np.log(positive).mean()) if len(positive) else 1.0)
        exponents = np.frexp(np.sqrt(s))[1]
        roots = np.ldexp(1.0, exponents if each else np.full_like(exponents, exponents.max()))
        return cls(roots, s / roots / roots)

    def scaled(self, scatters: Array) -> Array:
        if scatters.ndim == 2:
            return scatters / self.roots / self.roots
        return scatters / self.roots[:, None] / self.roots

    def back(self, parts: Parts) -> Parts:
        variances, axes, matrices = parts
        if matrices is not None:
            matrices = matrices * self.roots[:, None] * self.roots
        if variances is not None:  # along axes all roots are the same
            variances = variances * self.roots * self.roots
        return Parts(variances, axes, matrices)


@lru_cache(maxsize=64)
def _units_of(column_variances: bytes, each: bool) -> _Units:
    """The same at every step of a fit."""
    return _Units.of(np.frombuffer(column_variances), each)


def estimate(
    structure: str,
    counts: Array,
    scatters: Array,
    previous: Covariances | None = None,
    prior: ConjugatePrior | None = None,
    floor: float = FLOOR,
    column_variances: Array | None = None,
) -> Covariances:
    """The covariances of a structure that maximise Q (plus the log prior), given weights and centred scatters.

    >>> counts, scatters = np.array([2.0, 2.0]), np.array([[[2.0, 0.0], [0.0, 4.0]], [[4.0, 0.0], [0.0, 2.0]]])
    >>> estimate("tied", counts, scatters).like_sklearn().tolist()
    [[1.5, 0.0], [0.0, 1.5]]

    Parameters
    ----------
    structure : one of the fourteen names, or full, tied, diag, spherical; E or V in one dimension.
    counts : (k,) sum of weights times responsibilities, N_c.
    scatters : (k, d, d) about each group's own mean; (k, d) their diagonals is enough for round and column-aligned
        structures; a leading 1 instead of k (the pooled scatter) is enough for EII, EEI and EEE.
    previous : what the last step gave. EVE and VVE start from its axes; where the new ones would be worse
        (a local search, a repaired group) it is kept, so Q never falls.
    prior : conjugate prior; its part about means must be in ``scatters`` already (``priors.shrink``).
    floor : the least variance in any direction, as a share of the column variances.
    column_variances : (d,) of the whole table; without them, those within groups stand in.
    """
    n, M = np.asarray(counts, dtype=np.float64), np.asarray(scatters, dtype=np.float64)
    kind = structure_of(structure, M.shape[-1])
    if kind.diagonal and M.ndim == 3:
        M = np.ascontiguousarray(np.diagonal(M, axis1=1, axis2=2))
    if prior is not None:
        more_n, more_M = pseudo_statistics(kind, prior, len(n), len(M))
        n, M = n + more_n, M + more_M
    if column_variances is None:
        column_variances = _column_variances(n, M)
    column_variances = np.asarray(column_variances, dtype=np.float64)
    units = _units_of(column_variances.tobytes(), kind.free_units)
    filled_n, filled, empty = fill_empty(n, units.scaled(M))
    lifted, collapsed = kind.lift(filled_n, filled, units.variances, floor)
    repairs = empty + collapsed
    start = None if previous is None or previous.axes is None else previous.axes[0]
    parts = units.back(kind.fit(filled_n, lifted, start))
    found = Covariances(kind.name, len(n), *parts, repairs)
    if previous is None or not (kind.local or repairs):
        return found
    better = expected_log_density(found, n, M) >= expected_log_density(previous, n, M)
    return found if better else replace(previous, repairs=repairs)


def expected_log_density(covariances: Covariances, counts: Array, scatters: Array) -> float:
    """Q = -1/2 sum_c [ n_c log det Σ_c + tr(Σ_c^-1 W_c) ], without the constant -n d/2 log 2 pi.

    Statistics as for ``estimate``.
    """
    volume = float(counts @ covariances.log_determinants())
    pooled = len(scatters) == 1
    precisions = covariances.root_precisions() ** 2 if scatters.ndim == 2 else covariances.precisions()
    return -0.5 * (volume + float(np.sum((precisions[:1] if pooled else precisions) * scatters)))


def _column_variances(n: Array, M: Array) -> Array:
    pooled = M.sum(axis=0)
    within: Array = (pooled if pooled.ndim == 1 else np.diagonal(pooled)) / n.sum()
    return within


def _mean_variance(matrices: Array) -> Array:
    means: Array = np.trace(matrices, axis1=1, axis2=2)[:, None, None]
    return means


def _cholesky_inverses(matrices: Array) -> Array:
    """(m, d, d) L^-1 of matrices L L', of correlations first: columns may be in any units."""
    scale = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
    factors = np.linalg.cholesky(matrices / scale[:, :, None] / scale[:, None, :])
    inverses = np.empty_like(factors)
    for factor, inverse in zip(factors, inverses, strict=True):
        inverse[:] = dtrtri(factor.T)[
            0
        ].T  # an upper triangle by columns is a lower one by rows: nothing is copied
    inverses /= scale[:, None, :]
    return inverses


def _lower(whiten: Array) -> Array:
    """Lower triangular T with T'T = B'B and a positive diagonal: QR with rows and columns counted from the end."""
    r = np.linalg.qr(whiten[:, ::-1, ::-1])[1][:, ::-1, ::-1]
    signs = np.sign(np.diagonal(r, axis1=1, axis2=2))
    lower: Array = np.tril(r * signs[:, :, None])
    return lower


def _repeat(a: Array, k: int) -> Array:
    return a if len(a) == k else np.repeat(a, k, axis=0)
