"""Probabilistic PCA in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from asterism.data.block import Vector
from asterism.errors import DataError, ParameterError
from asterism.estimators.base import as_source, seed_of
from asterism.methods import posterior
from asterism.methods.ppca import PPCAFit, fit_ppca, latent_of, rows_of
from asterism.methods.ppca_order import choose_order

Array = NDArray[np.float64]


class ProbabilisticPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components with a density: rows may miss cells, be scored, drawn and filled in.

    Parameters
    ----------
    n_components : int below the number of columns, "bic" or "cv"
        How many components; or as many as BIC, or the likelihood of rows left out (five folds), likes best.
    method : "auto", "closed" or "em"
        "auto" takes the closed form, or EM where cells are missing.
    tol : EM over missing cells ends when a step wins less than this in log-likelihood a row
    max_iter : steps of EM
    random_state : int, RandomState or None
        Folds, draws, and where iterative ways start.

    Attributes
    ----------
    components_ : (m, d) orthonormal directions, largest variance first
    loadings_ : (d, m) W, the directions times sqrt(explained_variance_ - noise_variance_)
    explained_variance_ : (m,) maximum likelihood variance along each direction, noise included
    noise_variance_ : s2, the variance in every other direction
    mean_ : (d,)
    log_likelihood_ : of the rows fitted to, their missing cells integrated out
    order_ : criteria against m where n_components was "bic" or "cv", else None
    history_, n_iter_, converged_, n_components_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import ProbabilisticPCA
    >>> rng = np.random.default_rng(0)
    >>> X = np.outer(rng.normal(size=200), [2.0, 1.0, 1.0]) + 0.01 * rng.normal(size=(200, 3))
    >>> X[0] = [2.0, np.nan, np.nan]
    >>> ProbabilisticPCA(1).fit(X).impute(X[:1]).round(1).tolist()
    [[2.0, 1.0, 1.0]]
    """

    def __init__(
        self,
        n_components: Any = "bic",
        *,
        method: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Find the components of ``X`` (n, d), NaN for a missing cell; a row of weight w counts as w rows."""
        source = as_source(self, X, sample_weight, reset=True, ensure_min_samples=2)
        seed = 0 if self.random_state is None else seed_of(self.random_state)
        m: Any = self.n_components
        self.order_ = choose_order(source, m, seed=seed) if isinstance(m, str) else None
        m = m if self.order_ is None else self.order_.m
        fit = fit_ppca(source, m, method=self.method, tol=self.tol, max_iter=self.max_iter, seed=seed)
        lengths = np.sqrt((fit.loadings**2).sum(axis=0))
        self.loadings_ = fit.loadings
        self.components_ = np.divide(
            fit.loadings, lengths, out=np.zeros_like(fit.loadings), where=lengths > 0
        ).T
        self.explained_variance_ = lengths**2 + fit.noise
        self.noise_variance_ = fit.noise
        self.mean_ = fit.mean
        self.log_likelihood_ = fit.log_likelihood
        self.history_, self.n_iter_, self.converged_ = fit.history, fit.n_iter, fit.converged
        self.n_components_ = len(self.components_)
        self._fit = fit
        return self

    def transform(self, X: Any) -> Array:
        """(n, m) posterior means M^-1 W'(x - mean) of the cells that are there."""
        check_is_fitted(self)
        return latent_of(self._fit, as_source(self, X, reset=False))

    def inverse_transform(self, X: Any) -> Array:
        """(n, d) the rows with these posterior means (n, m): for complete rows what PCA reconstructs."""
        check_is_fitted(self)
        z = check_array(X, dtype=np.float64, input_name="X")
        if z.shape[1] != self.n_components_:
            raise DataError(
                f"X has {z.shape[1]} columns, but there are {self.n_components_} components.",
                "Give what transform returned.",
            )
        return rows_of(self._fit, z)

    def impute(self, X: Any) -> Array:
        """(n, d) the rows, missing cells filled with their conditional means."""
        check_is_fitted(self)
        return posterior.imputed(self._fit.mixture, as_source(self, X, reset=False))

    def score_samples(self, X: Any) -> Vector:
        """(n,) log density of the cells that are there."""
        check_is_fitted(self)
        return posterior.heights_of(self._fit.mixture, as_source(self, X, reset=False))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: ARG002  scikit-learn's signature
        """Mean log density of the rows."""
        check_is_fitted(self)
        found = posterior.told(self._fit.mixture, as_source(self, X, sample_weight, reset=False))
        return found.log_likelihood / float(found.mass.sum())

    def sample(self, n_samples: int = 1) -> Array:
        """(n, d) rows drawn from the model: mean + W z + noise."""
        check_is_fitted(self)
        if n_samples < 1:
            raise ParameterError(f"n_samples is {n_samples}.", "Give 1 or more.")
        rng = np.random.default_rng(seed_of(self.random_state))
        return self._fit.family.sample(self._fit.mixture.params, 0, n_samples, rng)

    def get_covariance(self) -> Array:
        """(d, d) W W' + s2 I."""
        check_is_fitted(self)
        return np.asarray(self.loadings_ @ self.loadings_.T + self.noise_variance_ * np.eye(len(self.mean_)))

    def get_precision(self) -> Array:
        """(d, d) (I - W M^-1 W') / s2, the inverse of the covariance."""
        check_is_fitted(self)
        inner = self.loadings_ / self.explained_variance_  # M is diagonal
        return np.asarray((np.eye(len(self.mean_)) - inner @ self.loadings_.T) / self.noise_variance_)

    def bic(self) -> float:
        """-2 log-likelihood + parameters log n of the rows fitted to; smaller is better."""
        check_is_fitted(self)
        return self._fit.bic

    _fit: PPCAFit

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
