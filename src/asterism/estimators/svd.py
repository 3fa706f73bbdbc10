"""The largest singular values in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from asterism.data.source import Source
from asterism.engines.reduce import reduce, require_rows
from asterism.errors import DataError
from asterism.estimators.base import FLOATS, as_source, seed_of
from asterism.methods.svd import Concepts, Factors, coordinates, full_svd, leading_factors, rows_in_memory
from asterism.metrics.tables import source_of
from asterism.stats.moments import ColumnMoments

Array = NDArray[np.float64]


def svd(X: Any, *, sample_weight: Any = None) -> Factors:
    """All singular values and vectors of a table, which is not centred: rank, range, null space, closest matrices.

    ``X``              array, data frame, path, ``Source`` or sparse matrix, made dense: it must fit in memory
    ``sample_weight``  (n,) row i counts as the root of its weight times the row

    >>> from asterism import svd
    >>> found = svd([[5.0, 4, 0], [4, 5, 0], [0, 0, 3], [0, 0, 0]])
    >>> found.values.round(6).tolist(), found.rank, found.null.shape
    ([9.0, 3.0, 1.0], 3, (3, 0))
    >>> near = found.closest(1)  # of rank 1; it is away by the next singular value
    >>> round(near.spectral, 6), found.concepts(2).items.shape
    (3.0, (3, 2))
    """
    source = source_of(X, sample_weight)
    require_rows(source)
    return full_svd(rows_in_memory(source))


class TruncatedSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The largest singular values of a table, which is not centred; SciPy sparse matrices stay sparse.

    Parameters
    ----------
    n_components : int, default 2
    tol : for sparse tables and those large both ways, how exact: |A'A v - s^2 v| <= tol s^2. Values are much more
        exact than that where they are apart. 0 is as exact as numbers allow.
    random_state : int, RandomState or None
        Where iteration starts.

    Attributes
    ----------
    components_ : (m, d) right singular vectors; their largest entries are positive
    singular_values_ : (m,)
    explained_variance_, explained_variance_ratio_ : (m,) of the transformed columns, as scikit-learn reports them
    reconstruction_error_ : sqrt(sum of (A - A_m)^2), the Frobenius norm of what is left out
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import TruncatedSVD
    >>> ratings = np.array([[5.0, 5, 0], [4, 4, 0], [0, 0, 3]])
    >>> svd = TruncatedSVD(2).fit(ratings)
    >>> svd.singular_values_.round(2).tolist(), svd.components_.round(2).tolist()
    ([9.06, 3.0], [[0.71, 0.71, 0.0], [0.0, 0.0, 1.0]])
    """

    def __init__(self, n_components: int = 2, *, tol: float = 0.05, random_state: Any = None) -> None:
        self.n_components = n_components
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Decompose ``X`` (n, d); a row of weight w counts as w rows."""
        self._fit(X, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[Any]:  # noqa: ARG002  scikit-learn's signature
        """``fit(X).transform(X)``."""
        return self._fit(X, sample_weight)

    def _fit(self, X: Any, sample_weight: Any) -> NDArray[Any]:
        source = self._source(X, sample_weight, reset=True)
        seed = 0 if self.random_state is None else seed_of(self.random_state)
        found = leading_factors(source, self.n_features_in_, self.n_components, self.tol, seed)
        self.components_, self.singular_values_ = found.right, found.values
        self.reconstruction_error_ = found.residual
        plain = source if sample_weight is None else self._source(X, None, reset=False)
        z = coordinates(plain, found.right)
        w = np.ones(len(z)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        z_here = np.where(w[:, None] > 0, z, 0.0)
        mean = w @ z_here / w.sum()
        self.explained_variance_ = w @ (z_here - mean) ** 2 / w.sum()
        total = float(reduce(source, ColumnMoments.of).variance.sum())
        self.explained_variance_ratio_ = self.explained_variance_ / (total or 1.0)
        return z

    def transform(self, X: Any) -> NDArray[Any]:
        """(n, m) X V: for the rows fitted to, U diag(s)."""
        check_is_fitted(self)
        return coordinates(self._source(X, None, reset=False), self.components_)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """(n, d) the rows with these coordinates (n, m)."""
        check_is_fitted(self)
        z = check_array(X, dtype=FLOATS, input_name="X")
        if z.shape[1] != len(self.components_):
            raise DataError(
                f"X has {z.shape[1]} columns, but there are {len(self.components_)} components.",
                "Give what transform returned.",
            )
        return np.asarray(z @ self.components_, z.dtype)

    def concepts(self, X: Any) -> Concepts:
        """Users (rows of ``X``), items (columns) and the concepts between them."""
        z = np.asarray(self.transform(X), np.float64)
        s = self.singular_values_
        users = np.divide(z, s, out=np.zeros_like(z), where=s > 0)
        return Concepts(s, users, self.components_.T)

    def _source(self, X: Any, sample_weight: Any, *, reset: bool) -> Source:
        return as_source(self, X, sample_weight, reset=reset, sparse=True)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
