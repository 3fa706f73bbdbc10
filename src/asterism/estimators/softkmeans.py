"""Soft k-means in scikit-learn's manner."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from asterism.estimators.base import Taxonomy, as_source, seed_of
from asterism.estimators.kmeans import starts_of
from asterism.methods.kmeans import distances_to, nearest
from asterism.methods.softkmeans import fit_soft_kmeans, responsibilities


class SoftKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """k-means with shares: a row belongs to every centre in proportion to ``exp(-stiffness * distance^2)``.

    Parameters
    ----------
    n_clusters : int, default 8
    stiffness : float or "auto"
        Large is k-means; small lets all centres meet in the mean. "auto" takes the spread of the start's groups.
    init, n_init, max_iter, tol, random_state : as in ``KMeans``

    Attributes
    ----------
    cluster_centers_ : (n_clusters, d) float64
    labels_ : (n,) int32, the group with the largest share
    free_energy_ : float, what the fit lowers; tends to the inertia of k-means as the stiffness grows
    history_ : list of the free energy before every step, then at the end
    stiffness_, n_iter_, converged_, n_features_in_, feature_names_in_

    Notes
    -----
    Method: polythetic, soft, flat.

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import SoftKMeans
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> soft = SoftKMeans(2, stiffness=0.1, random_state=0).fit(X)
    >>> soft.predict_proba([[5.5]]).round(2).tolist()
    [[0.5, 0.5]]
    """

    taxonomy = Taxonomy("polythetic", "soft", "flat")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        stiffness: Any = "auto",
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.stiffness = stiffness
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Find the centres of the rows ``X``."""
        source = as_source(self, X, sample_weight, reset=True)
        fit = fit_soft_kmeans(
            source,
            self.n_clusters,
            stiffness=self.stiffness,
            init=self.init,
            n_init=starts_of(self.n_init, self.init),
            max_iter=self.max_iter,
            tol=self.tol,
            seed=seed_of(self.random_state),
        )
        self._model = fit.model
        self.stiffness_ = fit.stiffness
        self.cluster_centers_ = fit.model.positions
        self.labels_ = fit.labels
        self.free_energy_ = fit.energy
        self.history_ = fit.history
        self.n_iter_ = fit.n_iter
        self.converged_ = fit.status == "settled"
        self._n_features_out = len(self.cluster_centers_)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """(n,) the group with the largest share: the nearest centre."""
        check_is_fitted(self)
        return nearest(self._model, as_source(self, X, reset=False))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """(n, n_clusters) shares; each row adds up to 1."""
        check_is_fitted(self)
        return responsibilities(self.stiffness_, self._model, as_source(self, X, reset=False))

    def transform(self, X: Any) -> NDArray[Any]:
        """(n, n_clusters) distances to the centres."""
        check_is_fitted(self)
        return distances_to(self._model, as_source(self, X, reset=False))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """``fit(X).labels_``, which equals ``fit(X).predict(X)``."""
        return self.fit(X, y, sample_weight).labels_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
