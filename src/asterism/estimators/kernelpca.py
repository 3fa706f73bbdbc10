"""Kernel PCA in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from asterism.errors import DataError, ParameterError
from asterism.estimators.base import as_source
from asterism.methods.kernelpca import KERNELS, Kernel, PreImage, fit_kernel_pca, project_rows

Array = NDArray[np.float64]


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components in the space of a kernel: curved structures become straight.

    Parameters
    ----------
    n_components : int, or None for all that vary
    kernel : "linear", "poly", "rbf", "sigmoid", "cosine", "precomputed", or a function of two rows
    gamma : for rbf, poly and sigmoid; None is 1 / number of columns
    degree, coef0 : for poly, and coef0 for sigmoid
    alpha : ridge of the way back
    fit_inverse_transform : learn the way back to rows

    Attributes
    ----------
    eigenvalues_ : (m,) of the centred kernel, largest first
    eigenvectors_ : (n, m); the entry of largest size in each column is positive
    gamma_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import KernelPCA
    >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> rings = np.vstack([r * np.column_stack([np.cos(angle), np.sin(angle)]) for r in (1, 3)])
    >>> z = KernelPCA(1, kernel="poly", degree=2).fit_transform(rings)[:, 0]
    >>> z.shape
    (120,)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Find the components of the rows ``X`` (n, d); a row of weight w counts as w rows."""
        if not callable(self.kernel) and self.kernel not in KERNELS:
            raise ParameterError(f"kernel is {self.kernel!r}.", f"Give a function, or one of {KERNELS}.")
        source = as_source(self, X, sample_weight, reset=True)
        self.gamma_ = 1.0 / source.n_columns if self.gamma is None else float(self.gamma)
        kernel = Kernel(self.kernel, self.gamma_, float(self.degree), float(self.coef0))
        self._model = fit_kernel_pca(source, self.n_components, kernel)
        self.eigenvalues_, self.eigenvectors_ = self._model.values, self._model.vectors
        self._back = PreImage.of(self._model, self.alpha) if self.fit_inverse_transform else None
        return self

    def transform(self, X: Any) -> Array:
        """(n, m) coordinates of ``X`` (n, d)."""
        check_is_fitted(self)
        return project_rows(self._model, as_source(self, X, reset=False))

    def inverse_transform(self, X: Any) -> Array:
        """(n, d) rows whose coordinates are nearly these (n, m): needs fit_inverse_transform=True."""
        check_is_fitted(self)
        if self._back is None:
            raise ParameterError("The way back was not learnt.", "Fit with fit_inverse_transform=True.")
        z = check_array(X, dtype=np.float64, input_name="X")
        if z.shape[1] != len(self.eigenvalues_):
            raise DataError(
                f"X has {z.shape[1]} columns, but there are {len(self.eigenvalues_)} components.",
                "Give what transform returned.",
            )
        return self._back.rows(z)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
