"""Principal curves in scikit-learn's manner: thin, no mathematics."""

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
from asterism.methods.curve import fit_curve, places_of, rows_at

Array = NDArray[np.float64]


class PrincipalCurve(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A smooth curve through the middle of the rows; a row's coordinate is how far along it lies.

    Parameters
    ----------
    n_knots : straight pieces + 1 that the curve is made of
    smoothness : 0 bends as it likes, 1 is usual, a large one gives the first principal component
    tol, max_iter : settled when a step wins less than this share of sum w |x - mean|^2

    Attributes
    ----------
    knots_ : (n_knots, d)
    length_ : of the curve
    explained_ : 1 - sum w |x - curve|^2 / sum w |x - mean|^2; what PCA calls a share of the variance
    distance_ : sum w |x - curve|^2
    mean_, history_, n_iter_, converged_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import PCA, PrincipalCurve
    >>> t = np.linspace(-1, 1, 200)
    >>> X = np.column_stack([t, t**2])
    >>> bool(PrincipalCurve(smoothness=0.01).fit(X).explained_ > PCA(1).fit(X).explained_variance_ratio_[0])
    True
    """

    def __init__(
        self, n_knots: int = 40, *, smoothness: float = 1.0, tol: float = 1e-4, max_iter: int = 200
    ) -> None:
        self.n_knots = n_knots
        self.smoothness = smoothness
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Find the curve of the rows ``X`` (n, d); a row of weight w counts as w rows."""
        source = as_source(self, X, sample_weight, reset=True, ensure_min_samples=2)
        fit = fit_curve(
            source, n_knots=self.n_knots, smoothness=self.smoothness, tol=self.tol, max_iter=self.max_iter
        )
        self.knots_, self.mean_, self.length_ = fit.knots + fit.mean, fit.mean, float(fit.arc[-1])
        self.explained_, self.distance_ = fit.explained, fit.distance
        self.history_, self.n_iter_, self.converged_ = fit.history, fit.n_iter, fit.converged
        self._fit = fit
        return self

    def transform(self, X: Any) -> Array:
        """(n, 1) arc length at which each row projects onto the curve."""
        check_is_fitted(self)
        source = as_source(self, X, reset=False)
        return map_rows(source, partial(places_of, self._fit, source.names))

    def inverse_transform(self, X: Any) -> Array:
        """(n, d) points of the curve at these arc lengths (n, 1)."""
        check_is_fitted(self)
        arc = check_array(X, dtype=np.float64, input_name="X")
        if arc.shape[1] != 1:
            raise DataError(
                f"X has {arc.shape[1]} columns, but a curve has 1.", "Give what transform returned."
            )
        return rows_at(self._fit, arc[:, 0])

    @property
    def _n_features_out(self) -> int:
        return 1
