"""k-means in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from asterism.errors import ParameterError
from asterism.estimators.base import Taxonomy, as_source, seed_of
from asterism.methods.kmeans import distances_to, fit_kmeans, inertia_of, nearest


class Factors(NamedTuple):
    """k-means as a factorisation X ~ U Z."""

    U: Any  # (n, k) sparse, one 1 in each row: the group of the row
    Z: NDArray[np.float64]  # (k, d) the centres


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """k-means with weights, missing cells, any offset, and the same bits on any number of threads.

    Parameters
    ----------
    n_clusters : int, default 8
    init : "k-means++", "random" (rows), "random-points" (in the box of the table), or an (n_clusters, d) array
    n_init : "auto" or int
        Starts that run over the whole table, together; the best is kept. "auto" is 1 for k-means++ and a given
        start, 10 for random ones.
    max_iter, tol : stop after so many steps, or when the squared moves of all centres add up to less than ``tol``
        times the mean variance of the columns, or when no row changes its group.
    verbose : int, default 0
        Above 0, print the objective of every step.
    random_state : int, RandomState or None

    Attributes
    ----------
    cluster_centers_ : (n_clusters, d) float64
    labels_ : (n,) int32, those of the returned centres
    inertia_ : float, sum of w ||x - c||^2 over observed cells
    history_ : list of the objective before every step, then at the end
    factors_ : U (n, n_clusters), sparse, one 1 a row, and Z (n_clusters, d), the centres: ||X - U Z||^2 = inertia_
    n_iter_, converged_, n_features_in_, feature_names_in_

    Notes
    -----
    Method: polythetic, hard, flat. Missing cells take no part in distances or means.

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import KMeans
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, np.nan], [10, 0]])
    >>> km = KMeans(2, random_state=0).fit(X)
    >>> sorted(km.cluster_centers_.tolist())
    [[1.0, 2.0], [10.0, 1.0]]
    >>> bool(km.labels_[4] == km.labels_[5])
    True
    """

    taxonomy = Taxonomy("polythetic", "hard", "flat")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: Any = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Find the centres of the rows ``X``: an array, a frame, a path or a Source."""
        source = as_source(self, X, sample_weight, reset=True, sparse=True)
        fit = fit_kmeans(
            source,
            self.n_clusters,
            init=self.init,
            n_init=starts_of(self.n_init, self.init),
            max_iter=self.max_iter,
            tol=self.tol,
            seed=seed_of(self.random_state),
        )
        self._model = fit.model
        self.cluster_centers_ = fit.centers
        self.labels_ = fit.labels
        self.inertia_ = fit.inertia
        self.history_ = fit.history
        self.n_iter_ = fit.n_iter
        self.converged_ = fit.status == "settled"
        self._n_features_out = len(fit.centers)
        if self.verbose:
            for step, objective in enumerate(fit.history):
                print(f"k-means step {step}: inertia {objective:.6g}")
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """(n,) the nearest centre of every row."""
        check_is_fitted(self)
        return nearest(self._model, as_source(self, X, reset=False, sparse=True))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """``fit(X).labels_``, which equals ``fit(X).predict(X)``."""
        return self.fit(X, y, sample_weight).labels_

    def transform(self, X: Any) -> NDArray[Any]:
        """(n, n_clusters) distances to the centres, over observed cells."""
        check_is_fitted(self)
        return distances_to(self._model, as_source(self, X, reset=False, sparse=True))

    @property
    def factors_(self) -> Factors:
        """U (n, k), sparse, and Z (k, d) with ||X - U Z||^2 = ``inertia_`` (row i times the root of its weight)."""
        check_is_fitted(self)
        n, k = len(self.labels_), len(self.cluster_centers_)
        ones = csr_array((np.ones(n), self.labels_, np.arange(n + 1)), shape=(n, k))
        return Factors(ones, self.cluster_centers_)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: ARG002  scikit-learn's signature
        """Minus the objective of these centres on ``X``."""
        check_is_fitted(self)
        return -inertia_of(self._model, as_source(self, X, sample_weight, reset=False, sparse=True))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def starts_of(n_init: Any, init: Any) -> int:
    """How many starts ``n_init`` means."""
    if n_init == "auto":
        return 10 if isinstance(init, str) and init.startswith("random") else 1
    if isinstance(n_init, bool) or not isinstance(n_init, int | np.integer):
        raise ParameterError(f"n_init is {n_init!r}.", "Give 'auto' or a whole number, 1 or more.")
    return int(n_init)
