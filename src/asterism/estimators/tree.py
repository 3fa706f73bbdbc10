"""What all estimators of trees share: rows gathered from a source, cuts, the nearest leaf of a new row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from asterism.data.source import Source
from asterism.distances.base import Dissimilarity, dissimilarity
from asterism.distances.given import Precomputed
from asterism.distances.numeric import Cosine, Mahalanobis
from asterism.errors import ParameterError
from asterism.estimators.base import as_mixed_source, as_source
from asterism.methods.cut import Tree, coefficient, cut_tree
from asterism.methods.leaves import Leaves, nearest_leaf


class TreeClustering(ClusterMixin, BaseEstimator):
    """An estimator with a tree: ``linkage_matrix_`` in SciPy's format over the rows ``leaves_``."""

    n_clusters: Any
    metric: Any
    kinds: Any
    linkage_matrix_: Tree
    labels_: NDArray[np.int32]

    def predict(self, X: Any) -> NDArray[np.int32]:
        """(n,) the cluster of the nearest row that was fitted; of equals, the first."""
        check_is_fitted(self)
        source = self._source(X, None, dissimilarity(self.metric), reset=False)
        return self._leaf_labels[nearest_leaf(self._leaves, source)]

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """``fit(X).labels_``."""
        self.fit(X, y, sample_weight)
        return self.labels_

    def cut(self, k: int | None = None, height: float | None = None) -> NDArray[np.int32]:
        """(n,) labels of exactly ``k`` clusters, or of those that merged at or below ``height``."""
        check_is_fitted(self)
        return self._numbered(cut_tree(self.linkage_matrix_, k, height))[self._leaves.of_row]

    def plot_dendrogram(self, **options: Any) -> Any:
        """A plotly figure of the tree; see ``asterism.estimators.dendrogram.plot_tree`` for the options."""
        from asterism.estimators.dendrogram import plot_tree

        check_is_fitted(self)
        k = options.setdefault("k", self.n_clusters_)
        options.setdefault("clusters", self._numbered(cut_tree(self.linkage_matrix_, k)))
        if options.get("labels") is None:
            options["labels"] = [str(row) for row in self.leaves_]
        return plot_tree(self.linkage_matrix_, **options)

    # --- for those that fit

    def _source(self, X: Any, sample_weight: Any, metric: Dissimilarity, *, reset: bool) -> Source:
        if not metric.takes_kinds:
            return as_source(self, X, sample_weight, reset=reset, ensure_min_samples=2 if reset else 1)
        kinds = self.kinds if reset else self.columns_
        return as_mixed_source(self, X, sample_weight, reset=reset, kinds=kinds)

    def _keep(self, tree: Tree, leaves: Leaves, threshold: Any) -> None:
        """Attributes of a fit."""
        if (self.n_clusters is None) == (threshold is None):
            raise ParameterError(
                f"n_clusters is {self.n_clusters!r} and distance_threshold {threshold!r}.",
                "Give one of them, and None for the other.",
            )
        self._leaves = leaves
        self._leaf_labels = self._numbered(cut_tree(tree, self.n_clusters, threshold))
        self.linkage_matrix_ = tree
        self.leaves_ = leaves.numbers
        self.coefficient_ = coefficient(tree, leaves.weights)
        self.n_leaves_ = len(tree) + 1
        self.n_clusters_ = int(self._leaf_labels.max()) + 1
        self.columns_ = leaves.columns
        self.labels_ = self._leaf_labels[leaves.of_row]  # a row of weight 0 goes with its nearest leaf

    def _numbered(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Clusters numbered from the heaviest down; equals by their least row, so that no order of rows matters."""
        leaves = self._leaves
        weight = np.bincount(labels, weights=leaves.weights)
        first = np.arange(len(weight))  # labels come in the order of first rows
        if not leaves.square and len(np.unique(weight)) < len(weight):
            order = np.lexsort(leaves.rows.T[::-1])
            first[labels[order[::-1]]] = np.arange(len(order))[
                ::-1
            ]  # of all rows of a cluster, the last written stays
        number = np.empty(len(weight), np.int32)
        number[np.lexsort((first, -weight))] = np.arange(len(weight))
        return number[labels]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.allow_nan = self._missing_ok()
        return tags

    def _missing_ok(self) -> bool:
        if isinstance(self.metric, str):
            return self.metric not in ("cosine", "mahalanobis", "precomputed")
        return not isinstance(self.metric, Cosine | Mahalanobis | Precomputed)
