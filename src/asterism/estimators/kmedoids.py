"""k-medoids in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from asterism.data.columns import Column
from asterism.data.memory import memory_to_keep
from asterism.data.source import ArraySource, Source, in_memory
from asterism.distances.base import Dissimilarity, dissimilarity
from asterism.distances.given import Precomputed
from asterism.distances.mixed import BY_NAME as MIXED
from asterism.distances.numeric import Cosine, Mahalanobis
from asterism.errors import ParameterError
from asterism.estimators.base import Taxonomy, as_mixed_source, as_source, seed_of
from asterism.methods.medoids import cost_of, distances_to_medoids, fit_medoids, nearest_medoid


class KMedoids(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """k-medoids by FasterPAM: groups around rows of the table, by any dissimilarity; outliers do little harm.

    Parameters
    ----------
    n_clusters : int, default 8
    metric : str, Dissimilarity or function, default "euclidean"
        "euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine", "mahalanobis"; for columns of every kind
        "gower", "mismatch", "ordinal", "weighted"; "precomputed" (X is the square matrix); one of
        ``asterism.distances`` with its settings, such as ``Gower(column_weights={"age": 2})`` or ``PNorm(3)``; or
        any function of two rows.
    kinds : dict or None
        What columns are where the guess is wrong, as in ``asterism.read``; for metrics over columns of every kind.
    init : "auto", "build", "k-means++", "random", or n_clusters row numbers
    n_init : "auto" or int
        Starts that are improved on the whole table, together; the best is kept. "auto" is 2 where all rows are
        candidates, else 1.
    max_iter : int, default 100
        Rounds through all candidates.
    candidates : "auto", "all" or int
        How many rows may become medoids. "auto" is all while their pairs are not too many (about 30,000 rows of
        8 columns), else a random sample; the cost is always that of all rows.
    random_state : int, RandomState or None

    Attributes
    ----------
    medoid_indices_ : (n_clusters,) int64, row numbers; that of the heaviest group first
    cluster_centers_ : (n_clusters, d) the medoids' rows (codes for names, see ``columns_``); not if precomputed
    labels_ : (n,) int32
    inertia_ : float, the sum of w d(x, its medoid) over all rows
    quality_ : str, in words how thoroughly medoids were looked for
    history_ : list of the cost before every step, then at the end
    n_iter_, converged_, columns_, n_features_in_, feature_names_in_

    Notes
    -----
    Weight w is w copies of a row; a row of weight 0 is no medoid.

    Examples
    --------
    >>> import pyarrow
    >>> from asterism import KMedoids
    >>> pets = pyarrow.table({"kg": [4.1, 3.9, None, 30.2, 28.1], "says": ["meow", "meow", "meow", "woof", "woof"]})
    >>> km = KMedoids(2, metric="gower", random_state=0).fit(pets)
    >>> km.labels_.tolist()
    [0, 0, 0, 1, 1]
    """

    taxonomy = Taxonomy("polythetic", "hard", "flat")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "euclidean",
        kinds: Any = None,
        init: Any = "auto",
        n_init: Any = "auto",
        max_iter: int = 100,
        candidates: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.kinds = kinds
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.candidates = candidates
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Find the medoids of the rows ``X``: an array, a frame, a path or a Source."""
        metric = dissimilarity(self.metric)
        source = _kept(self._source(X, sample_weight, metric, reset=True))
        fit = fit_medoids(
            source,
            self.n_clusters,
            metric=metric,
            init=self.init,
            n_init=self._starts(source.n_rows),
            max_iter=self.max_iter,
            candidates=self.candidates,
            seed=seed_of(self.random_state),
        )
        self._model = fit.model
        self.columns_: tuple[Column, ...] = source.columns
        self.medoid_indices_ = fit.model.numbers
        if not isinstance(metric, Precomputed):
            self.cluster_centers_ = _rows_of(source, fit.model.numbers)
        self.labels_ = fit.labels
        self.inertia_ = fit.inertia
        self.quality_ = fit.quality
        self.history_ = fit.history
        self.n_iter_ = fit.n_iter
        self.converged_ = fit.status == "settled"
        self._n_features_out = len(fit.model.numbers)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """(n,) the nearest medoid of every row; of precomputed X, (n, rows fitted), by its columns."""
        check_is_fitted(self)
        return nearest_medoid(self._model, self._source(X, None, dissimilarity(self.metric), reset=False))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """``fit(X).labels_``, which equals ``fit(X).predict(X)``."""
        return self.fit(X, y, sample_weight).labels_

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(n, n_clusters) dissimilarities to the medoids."""
        check_is_fitted(self)
        source = self._source(X, None, dissimilarity(self.metric), reset=False)
        return distances_to_medoids(self._model, source)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: ARG002  scikit-learn's signature
        """Minus the cost of these medoids on ``X``."""
        check_is_fitted(self)
        source = self._source(X, sample_weight, dissimilarity(self.metric), reset=False)
        return -cost_of(self._model, source)

    def _source(self, X: Any, sample_weight: Any, metric: Dissimilarity, *, reset: bool) -> Source:
        if not metric.takes_kinds:
            return as_source(self, X, sample_weight, reset=reset)
        kinds = self.kinds if reset else self.columns_
        return as_mixed_source(self, X, sample_weight, reset=reset, kinds=kinds)

    def _starts(self, n: int) -> int:
        if self.n_init == "auto":
            return 2 if n <= SMALL else 1
        if isinstance(self.n_init, bool) or not isinstance(self.n_init, int | np.integer):
            raise ParameterError(f"n_init is {self.n_init!r}.", "Give 'auto' or a whole number, 1 or more.")
        return int(self.n_init)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        needs_all = (
            self.metric in ("cosine", "mahalanobis", "precomputed")
            if isinstance(self.metric, str)
            else (isinstance(self.metric, Cosine | Mahalanobis | Precomputed))
        )
        tags.input_tags.allow_nan = not needs_all
        mixed = (
            self.metric in MIXED
            if isinstance(self.metric, str)
            else getattr(self.metric, "takes_kinds", False)
        )
        tags.input_tags.string = bool(mixed)
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags


SMALL = 8192  # rows up to which two starts are improved


def _kept(source: Source) -> Source:
    """Rows are read again and again: in memory, where they fit and are not there already."""
    return source if isinstance(source, ArraySource) else in_memory(source, memory_to_keep())


def _rows_of(source: Source, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """(k, d) rows of the table, by number."""
    rows = []
    for number in numbers.tolist():
        place = number // source.block_rows
        block = next(iter(source.blocks(place, place + 1)))
        rows.append(block.rows[number - block.start].astype(np.float64))
    return np.array(rows)
