"""Probabilistic PCA of a table: in closed form, by EM on its moments, or by exact EM where cells are missing.

A fitted model is a mixture of one ``families.ppca`` component, so densities, missing cells and samples are those of
any mixture. Three ways to it:

``closed``   the principal components (``methods.pca``) and the mean of the eigenvalues left out
``em``       complete rows: their moments are enough, and every step is one of d x d matrices

                 M = W'W + s2 I,   F = E[z z'] = M^-1 (s2 M + W'S W) M^-1
                 W* = S W (F M)^-1,   s2 <- tr(S - S W M^-1 W*') / d,   W <- W* F^(1/2)

             The last product lets the scale of z vary too (parameter expansion). Without it W creeps to its length
             by a factor 1 - 2 s2 / l a step: ten thousand steps where the noise is small.

``em``       cells are missing: they are the hidden part, the components are found in closed form at every step,
             and leaps (``methods.accelerate``) shorten the way

References
----------
1. Tipping, Bishop (1999), Probabilistic principal component analysis. JRSS B 61:611-622.
2. Liu, Rubin, Wu (1998), Parameter expansion to accelerate EM: the PX-EM algorithm. Biometrika 85:755-770.
3. Ilin, Raiko (2010), Practical approaches to principal component analysis in the presence of missing values.
   JMLR 11:1957-2000.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg

from asterism.data.block import Block, Vector, present
from asterism.data.finite import require_finite
from asterism.data.source import Source
from asterism.engines.loop import iterate
from asterism.engines.reduce import map_rows, reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import NotConvergedWarning, ParameterError
from asterism.families.base import Array, Facts
from asterism.families.missing import LOG_2_PI
from asterism.families.ppca import PPCAFamily, PPCAParams
from asterism.methods.em import EM, MixtureModel, pieces
from asterism.methods.frame import survey
from asterism.methods.pca import fit_pca
from asterism.methods.posterior import Mixture, told
from asterism.stats.moments import Moments

METHODS = ("auto", "closed", "em")
STILL_NOISE = 1e-10  # of s2, which is a small difference of large numbers
STILL = 1e-12  # a relative move of W below which EM on moments has arrived: a step costs next to nothing


@dataclass(frozen=True)
class PPCAFit:
    """A fitted model and how it was found."""

    mixture: Mixture  # of one component
    log_likelihood: float  # sum of w log p(x_o)
    weight: float  # of the rows
    history: list[float]  # log-likelihood a row before every step, then the last
    n_iter: int
    converged: bool

    @property
    def family(self) -> PPCAFamily:
        """The component's family."""
        return self.mixture.family  # type: ignore[return-value]

    @property
    def mean(self) -> Vector:
        """(d,)"""
        return np.asarray(self.family.normal.reference + self.mixture.params.means[0])

    @property
    def loadings(self) -> Array:
        """(d, m) W."""
        return np.asarray(self.mixture.params.loadings[0])

    @property
    def noise(self) -> float:
        """s2"""
        return float(self.mixture.params.noise[0])

    @property
    def bic(self) -> float:
        """-2 log-likelihood + parameters log n; smaller is better."""
        return -2.0 * self.log_likelihood + self.mixture.n_parameters * float(np.log(self.weight))


@one_blas_thread()  # the sums of a product depend on how many threads share it
def fit_ppca(
    source: Source, m: int, *, method: str = "auto", tol: float = 1e-8, max_iter: int = 1000, seed: int = 0
) -> PPCAFit:
    """Fit m components; ``tol`` is the gain in log-likelihood a row at which EM over missing cells ends.

    >>> from asterism.data.source import ArraySource
    >>> rows = np.random.default_rng(0).normal(size=(500, 4)) * [3.0, 1.0, 1.0, 1.0]
    >>> fit = fit_ppca(ArraySource(rows), 1)
    >>> bool(abs(fit.loadings[0, 0] - np.sqrt(8)) < 0.2), round(fit.noise, 1)
    (True, 1.0)
    """
    if method not in METHODS:
        raise ParameterError(f"method is {method!r}.", f"Give one of {METHODS}.")
    if not max_iter >= 1:
        raise ParameterError(f"max_iter is {max_iter!r}.", "Give 1 or more.")
    frame, moments = survey(source)
    family = PPCAFamily(m).prepared(Facts(source.names, moments, frame.reference))
    if moments.missing:
        if method == "closed":
            raise ParameterError(
                "Cells are missing, and there is no closed form then.", "Give method='em' or 'auto'."
            )
        return _by_cells(source, family, moments.total, tol, max_iter)
    if method == "em":
        found: Moments = reduce(source, Moments.of)
        return em_from_moments(family, found, max_iter, seed)
    return _closed(source, family, seed)


# ---- closed form


def _closed(source: Source, family: PPCAFamily, seed: int) -> PPCAFit:
    found = fit_pca(source, family.n_components, seed=seed)
    values, total = found.eigenvalues / found.weight, found.total / found.weight
    loadings, noise = family.of_spectrum(values, found.directions.T, total)
    d, m = loadings.shape
    lengths = (loadings**2).sum(axis=0) + noise
    # the trace of C^-1 S: d, or less where the floor holds the noise up
    within = float((values / lengths).sum()) + (total - float(values.sum())) / noise
    log_det = float(np.log(lengths).sum()) + (d - m) * float(np.log(noise))
    height = -0.5 * (d * LOG_2_PI + log_det + within)
    return _fit_of(family, found.mean, loadings, noise, found.weight, [height])


def _fit_of(
    family: PPCAFamily,
    mean: Vector,
    loadings: Array,
    noise: float,
    weight: float,
    history: list[float],
    converged: bool = True,
) -> PPCAFit:
    params = PPCAParams((mean - family.normal.reference)[None], loadings[None], np.array([noise]))
    mixture = Mixture(family, np.ones(1), params)
    n_iter = max(len(history) - 1, 1)
    return PPCAFit(mixture, weight * history[-1], weight, history, n_iter, converged)


# ---- EM on moments


def em_from_moments(family: PPCAFamily, moments: Moments, max_iter: int, seed: int = 0) -> PPCAFit:
    """EM with the hidden z of every row, from the moments of complete rows; no further pass over them."""
    covariance = moments.scatter / moments.weight
    d, m, total = len(covariance), family.n_components, float(np.trace(covariance))
    noise = max(total / d, family.floor)
    loadings = np.random.default_rng(seed).standard_normal((d, m)) * np.sqrt(noise)
    history: list[float] = []
    still = False
    while not still and len(history) < max_iter:
        before, last = loadings, noise
        loadings, noise, height = _em_step(covariance, total, loadings, noise, family.floor)
        history.append(height)
        moved = np.abs(loadings - before).max() / np.abs(loadings).max()
        still = bool(moved <= STILL and abs(noise - last) <= STILL_NOISE * noise)
    if not still:
        _warn(max_iter)
    history.append(_em_step(covariance, total, loadings, noise, family.floor)[2])
    # EM finds W up to a rotation of its columns: turn them into eigenvectors
    vectors, lengths, _ = linalg.svd(loadings, full_matrices=False)
    loadings, _ = family.of_spectrum(lengths**2 + noise, vectors, float((lengths**2).sum()) + d * noise)
    return _fit_of(family, moments.mean, loadings, noise, moments.weight, history, still)


def _em_step(
    covariance: Array, total: float, w: Array, noise: float, floor: float
) -> tuple[Array, float, float]:
    """The next W and s2, and the log-likelihood a row of the last."""
    d, m = w.shape
    inner = w.T @ w + noise * np.eye(m)  # M
    sw = covariance @ w
    inverse = linalg.inv(inner)
    kept = w.T @ sw @ inverse  # W'S W M^-1
    log_det = float(np.linalg.slogdet(inner)[1]) + (d - m) * float(np.log(noise))
    height = -0.5 * (d * LOG_2_PI + log_det + (total - float(np.trace(kept))) / noise)
    spread = inverse @ (noise * np.eye(m) + kept)  # F
    after = linalg.solve(spread, inverse @ sw.T, assume_a="pos").T  # W*
    left = (total - float(np.einsum("dm,dm->", sw @ inverse, after))) / d
    return after @ linalg.cholesky(0.5 * (spread + spread.T), lower=True), max(left, floor), height


# ---- EM over missing cells


def _by_cells(source: Source, family: PPCAFamily, weight: float, tol: float, max_iter: int) -> PPCAFit:
    first = family.estimate(reduce(source, partial(_vaguely, family)), None)
    em = EM(family, tol=tol, accelerated=True, name="probabilistic PCA")
    (run,) = iterate(em, source, [MixtureModel(np.ones(1), first)], max_iter=max_iter)
    if run.status == "step limit":
        _warn(max_iter)
    mixture = Mixture(family, np.ones(1), run.model.params)
    reached = told(mixture, source).log_likelihood
    history = [-value / weight for value in run.history] + [reached / weight]
    return PPCAFit(mixture, reached, weight, history, run.steps, run.status == "settled")


def _vaguely(family: PPCAFamily, block: Block) -> Any:
    """Missing cells at their column's mean, with its variance."""
    here = present(block)
    return family.statistic(None, here, here.weights[:, None])


def _warn(max_iter: int) -> None:
    warnings.warn(
        f"Probabilistic PCA did not settle in {max_iter} steps. The result is usable; give a larger max_iter, or "
        "a larger tol.",
        NotConvergedWarning,
        stacklevel=4,
    )


# ---- using it


def latent_of(fit: PPCAFit, source: Source) -> Array:
    """(n, m) E[z | x_o] = M^-1 W'(x - mean) of every row."""
    return map_rows(source, partial(_latent, fit.family, fit.mixture.params, source.names))


def _latent(family: PPCAFamily, params: PPCAParams, names: tuple[str, ...], block: Block) -> Array:
    require_finite(block, names, missing_ok=True)
    return np.concatenate([family.posterior(params, 0, piece) for _, piece in pieces(block)])


def rows_of(fit: PPCAFit, z: Array) -> Array:
    """(n, d) the rows whose posterior means these are, as far as m directions can tell: mean + W (W'W)^-1 M z.

    Of complete rows this is their orthogonal projection, the reconstruction of PCA.
    """
    lengths = (fit.loadings**2).sum(axis=0)  # W'W is diagonal
    ratio = np.divide(lengths + fit.noise, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.asarray(fit.mean + (z * ratio) @ fit.loadings.T)
