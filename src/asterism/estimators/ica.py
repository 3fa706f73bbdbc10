"""Independent components in scikit-learn's manner: thin, no mathematics."""

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
from asterism.estimators.base import FLOATS, as_source, seed_of
from asterism.methods.ica import Contrast, fit_ica, sources_of


class FastICA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Independent components: the sources that were mixed to make the rows.

    Parameters
    ----------
    n_components : int or None
        How many; None for as many as directions vary.
    algorithm : "parallel" (all together) or "deflation" (one after the other)
    fun : "logcosh", "exp" or "cube"
        The contrast. logcosh is for all sorts; exp for outliers; cube (kurtosis) for none.
    fun_args : {"alpha": 1 to 2} for logcosh, or None
    max_iter, tol : stop after so many passes, or when no direction turns by more: 1 - |cosine| < tol
    w_init : (m, m) where to start, or None
    random_state : int, RandomState or None

    Attributes
    ----------
    components_ : (m, d) the unmixing matrix; sources have variance 1
    mixing_ : (d, m) its pseudo-inverse. The source that makes the largest part of the variance is first, and the
        largest entry of every column is positive: order and signs do not depend on the start
    mean_ : (d,)
    whitening_ : (m, d)
    history_ : 1 - |cosine| of the largest turn of every step
    n_iter_, converged_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import FastICA
    >>> rng = np.random.default_rng(0)
    >>> S = np.column_stack([rng.uniform(-1, 1, 5000), rng.laplace(size=5000)])
    >>> found = FastICA(random_state=0).fit_transform(S @ [[1.0, 2.0], [3.0, 1.0]])
    >>> np.abs(np.corrcoef(S.T, found.T)[:2, 2:]).round(1).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        algorithm: str = "parallel",
        fun: str = "logcosh",
        fun_args: Any = None,
        max_iter: int = 200,
        tol: float = 1e-6,
        w_init: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.fun = fun
        self.fun_args = fun_args
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Find the components of ``X`` (n, d): an array, a frame, a path or a Source."""
        source = as_source(self, X, sample_weight, reset=True, ensure_min_samples=2)
        fit = fit_ica(
            source,
            self.n_components,
            algorithm=self.algorithm,
            contrast=Contrast(self.fun, (self.fun_args or {}).get("alpha", 1.0)),
            max_iter=self.max_iter,
            tol=self.tol,
            start=self.w_init,
            seed=seed_of(self.random_state),
        )
        self.components_, self.mixing_, self.mean_ = fit.unmixing, fit.mixing, fit.mean
        self.whitening_ = fit.whitener
        self.history_, self.n_iter_, self.converged_ = fit.history, fit.n_iter, fit.converged
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """(n, m) the sources of ``X`` (n, d)."""
        check_is_fitted(self)
        source = as_source(self, X, reset=False)
        return map_rows(source, partial(sources_of, self.mean_, self.components_, source.names))

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """(n, d) the rows that these sources (n, m) make."""
        check_is_fitted(self)
        s = check_array(X, dtype=FLOATS, input_name="X")
        if s.shape[1] != len(self.components_):
            raise DataError(
                f"X has {s.shape[1]} columns, but there are {len(self.components_)} components.",
                "Give what transform returned.",
            )
        return np.asarray(s @ self.mixing_.T + self.mean_, s.dtype)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
