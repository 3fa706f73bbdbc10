"""Principal component analysis in scikit-learn's manner."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from asterism.data.block import Vector
from asterism.data.source import ArraySource
from asterism.engines.reduce import map_rows
from asterism.errors import DataError
from asterism.estimators.base import FLOATS, as_source, seed_of
from asterism.methods.components import Components, log_density, precision, project, reconstruct, spectral
from asterism.methods.pca import fit_pca


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components of weighted rows: few directions that hold most of the variance.

    Parameters
    ----------
    n_components : int, float between 0 and 1, or None
        How many components; or the fewest that hold this share of the variance; or all, min(n, d).
    whiten : bool
        Scale the coordinates to variance 1. Directions in which nothing varied give 0.
    random_state : int, RandomState or None
        Where the iterative way starts, for tables that are large both ways. The result does not depend on it
        but for rounding; None always starts in the same place.

    Attributes
    ----------
    components_ : (m, d) orthonormal directions, largest variance first; their largest entries are positive
    explained_variance_, explained_variance_ratio_, singular_values_ : (m,)
        eigenvalues of the scatter matrix, divided by (sum of weights - 1) or by their total, or rooted
    mean_ : (d,)
    noise_variance_ : mean variance of the directions left out
    reconstruction_error_ : sum of w |x - inverse_transform(transform(x))|^2, the sum of dropped eigenvalues
    n_components_, n_samples_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import PCA
    >>> rows = np.array([[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]])
    >>> pca = PCA(n_components=1).fit(rows)
    >>> pca.components_.round(3).tolist(), pca.explained_variance_ratio_.round(3).tolist()
    ([[0.838, 0.545]], [0.992])
    """

    def __init__(
        self, n_components: float | None = None, *, whiten: bool = False, random_state: Any = None
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Find the components of ``X`` (n, d); a row of weight w counts as w rows."""
        source = as_source(self, X, sample_weight, reset=True, sparse=True)
        seed = 0 if self.random_state is None else seed_of(self.random_state)
        model = fit_pca(source, self.n_components, seed=seed)
        self.components_ = model.directions
        self.explained_variance_ = model.variances
        self.explained_variance_ratio_ = model.ratios
        self.singular_values_ = np.sqrt(model.eigenvalues)
        self.mean_ = model.mean
        self.noise_variance_ = model.noise
        self.reconstruction_error_ = model.dropped
        self.n_components_ = len(model.directions)
        self.n_samples_ = source.n_rows
        self._model = model
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Coordinates (n, m) of ``X`` (n, d) along the components."""
        check_is_fitted(self)
        source = as_source(self, X, reset=False, sparse=True)
        return map_rows(source, partial(project, self._model, source.names, self.whiten))

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """The rows (n, d) that have these coordinates (n, m)."""
        check_is_fitted(self)
        z = check_array(X, dtype=FLOATS, input_name="X")
        if z.shape[1] != self.n_components_:
            raise DataError(
                f"X has {z.shape[1]} columns, but there are {self.n_components_} components.",
                "Give what transform returned.",
            )
        return map_rows(ArraySource(z), partial(reconstruct, self._model, self.whiten))

    def score_samples(self, X: Any) -> Vector:
        """Log-density (n,) of each row under the Gaussian of ``get_covariance``."""
        check_is_fitted(self)
        source = as_source(self, X, reset=False, sparse=True)
        return map_rows(source, partial(log_density, self._model, source.names))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002  scikit-learn's signature
        """Mean log-density of the rows."""
        return float(self.score_samples(X).mean())

    def get_covariance(self) -> NDArray[np.float64]:
        """(d, d) the variances kept, and the noise variance in all directions left out."""
        check_is_fitted(self)
        return spectral(self._model, self.explained_variance_, self.noise_variance_)

    def get_precision(self) -> NDArray[np.float64]:
        """(d, d) the inverse of the covariance; the pseudo-inverse where it has none."""
        check_is_fitted(self)
        return precision(self._model)

    _model: Components

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
