"""Principal surfaces in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from asterism.engines.reduce import map_rows
from asterism.errors import DataError
from asterism.estimators.base import as_source
from asterism.methods.surface import fit_surface, places_of, rows_at

Array = NDArray[np.float64]


class PrincipalSurface(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A smooth sheet through the middle of the rows; a row's two coordinates are its place on the sheet.

    Parameters
    ----------
    n_knots : a side of the grid that the sheet is made of
    smoothness : near 0 bends as it likes, 1 is usual, a large one gives the plane of the first two components
    tol, max_iter : settled when a step wins less than this share of sum w |x - mean|^2

    Attributes
    ----------
    knots_ : (n_knots, n_knots, d)
    explained_ : 1 - sum w |x - surface|^2 / sum w |x - mean|^2; what PCA calls a share of the variance
    distance_ : sum w |x - surface|^2
    mean_, history_, n_iter_, converged_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import PCA, PrincipalSurface
    >>> s, t = np.random.default_rng(0).uniform(-1, 1, (2, 300))
    >>> X = np.column_stack([s, t, s**2])
    >>> surface = PrincipalSurface(6, smoothness=0.01).fit(X)
    >>> bool(surface.explained_ > PCA(2).fit(X).explained_variance_ratio_.sum()), surface.transform(X).shape
    (True, (300, 2))
    """

    def __init__(
        self, n_knots: int = 10, *, smoothness: float = 1.0, tol: float = 1e-4, max_iter: int = 200
    ) -> None:
        self.n_knots = n_knots
        self.smoothness = smoothness
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Find the surface of the rows ``X`` (n, d); a row of weight w counts as w rows."""
        source = as_source(self, X, sample_weight, reset=True, ensure_min_samples=3, ensure_min_features=2)
        fit = fit_surface(
            source, n_knots=self.n_knots, smoothness=self.smoothness, tol=self.tol, max_iter=self.max_iter
        )
        self.knots_ = (fit.knots + fit.mean).reshape(self.n_knots, self.n_knots, -1)
        self.mean_, self.explained_, self.distance_ = fit.mean, fit.explained, fit.distance
        self.history_, self.n_iter_, self.converged_ = fit.history, fit.n_iter, fit.converged
        self._fit = fit
        return self

    def transform(self, X: Any) -> Array:
        """(n, 2) where each row projects: steps from the middle of the grid, times their mean length."""
        check_is_fitted(self)
        source = as_source(self, X, reset=False)
        return map_rows(source, partial(places_of, self._fit, source.names))

    def inverse_transform(self, X: Any) -> Array:
        """(n, d) points of the surface at these coordinates (n, 2)."""
        check_is_fitted(self)
        coordinates = check_array(X, dtype=np.float64, input_name="X")
        if coordinates.shape[1] != 2:
            raise DataError(
                f"X has {coordinates.shape[1]} columns, but a surface has 2.", "Give what transform returned."
            )
        return rows_at(self._fit, coordinates)

    @property
    def _n_features_out(self) -> int:
        return 2
