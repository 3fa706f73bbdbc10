"""Auto-associative networks in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from asterism.data.source import ArraySource
from asterism.engines.reduce import map_rows
from asterism.errors import DataError
from asterism.estimators.base import as_source, seed_of
from asterism.methods.network import fit_network

Array = NDArray[np.float64]


class AutoAssociativeNetwork(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A small network that learns to repeat its input through a bottleneck: PCA that may bend.

    Parameters
    ----------
    n_components : units in the middle
    hidden_layer_sizes : tanh units of the layers before it, mirrored after it; () is a linear network, which finds
        the subspace of PCA
    alpha : penalty on squared weights
    tol, max_iter : settled when no entry of the gradient is larger than tol
    random_state : int, RandomState or None
        The weights it starts from: results depend on them unless the network is linear.

    Attributes
    ----------
    explained_ : 1 - sum w |x - output|^2 / sum w |x - mean|^2
    loss_ : sum w |x - output|^2
    mean_, history_, n_iter_, converged_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import AutoAssociativeNetwork
    >>> t = np.linspace(-1, 1, 100)
    >>> X = np.column_stack([t, t**2])
    >>> bool(AutoAssociativeNetwork(1, hidden_layer_sizes=(6,), tol=1e-4, random_state=0).fit(X).explained_ > 0.99)
    True
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        hidden_layer_sizes: Any = (16,),
        alpha: float = 1e-6,
        tol: float = 1e-5,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Train on the rows ``X`` (n, d); a row of weight w counts as w rows."""
        source = as_source(self, X, sample_weight, reset=True)
        fit = fit_network(
            source,
            self.n_components,
            hidden=tuple(self.hidden_layer_sizes),
            penalty=self.alpha,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=seed_of(self.random_state),
        )
        self._network = fit.network
        self.mean_, self.loss_, self.explained_ = fit.network.mean, fit.loss, fit.explained
        self.history_, self.n_iter_, self.converged_ = fit.history, fit.n_iter, fit.converged
        return self

    def transform(self, X: Any) -> Array:
        """(n, m) what the units in the middle say of ``X`` (n, d)."""
        check_is_fitted(self)
        source = as_source(self, X, reset=False)
        return map_rows(source, partial(self._network.encode, source.names))

    def inverse_transform(self, X: Any) -> Array:
        """(n, d) the rows that these units (n, m) stand for."""
        check_is_fitted(self)
        z = check_array(X, dtype=np.float64, input_name="X")
        if z.shape[1] != self.n_components:
            raise DataError(
                f"X has {z.shape[1]} columns, but there are {self.n_components} components.",
                "Give what transform returned.",
            )
        return map_rows(ArraySource(z), self._network.decode)

    @property
    def _n_features_out(self) -> int:
        return self.n_components
