"""Divisive clustering in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from asterism.distances.base import dissimilarity
from asterism.distances.pairwise import prepared, square
from asterism.estimators.base import Taxonomy
from asterism.estimators.tree import TreeClustering
from asterism.methods.divisive import split_matrix
from asterism.methods.leaves import gathered, placed, require_comparable
from asterism.methods.medoids import comparing_all


class DivisiveClustering(TreeClustering):
    """Split the cluster of largest diameter, by a splinter group, until all rows are alone (DIANA).

    Parameters
    ----------
    n_clusters : int or None, default 2
        Exactly so many clusters, also where diameters are equal.
    metric : name, Dissimilarity, function of two rows or "precomputed"
    distance_threshold : float, optional
        Cut where diameters exceed this instead; n_clusters must be None then.
    kinds : what columns are, for "gower" and other metrics of mixed tables; as in ``asterism.read``

    Attributes
    ----------
    linkage_matrix_ : (m - 1, 4), in SciPy's format; heights are the diameters of the clusters split
    leaves_ : (m,) row of each leaf: those with weight above 0
    labels_ : (n,) int32, clusters numbered from the heaviest down
    n_clusters_, n_leaves_ : int
    coefficient_ : float, divisive coefficient: 0 no structure, 1 very clear
    columns_, n_features_in_, feature_names_in_

    Notes
    -----
    Method: polythetic, hard, hierarchical. An n x n matrix must fit the memory. Missing cells: for metrics that
    take them. Weight 3 is three copies.

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import DivisiveClustering
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> DivisiveClustering(2).fit(X).labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    taxonomy = Taxonomy("polythetic", "hard", "hierarchical")

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
        kinds: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.distance_threshold = distance_threshold
        self.kinds = kinds

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Make the tree of the rows ``X``: an array, a frame, a path or a Source."""
        metric = dissimilarity(self.metric)
        source = self._source(X, sample_weight, metric, reset=True)
        leaves = gathered(source, square=self.metric == "precomputed")
        fitted, _ = prepared(leaves.source, metric)
        fitted = fitted if fitted.by_number else comparing_all(leaves.source, fitted)
        matrix = square(leaves.source, fitted)
        require_comparable(matrix, leaves)
        tree = split_matrix(matrix, leaves.weights)
        self._keep(tree, placed(replace(leaves, fitted=fitted), source), self.distance_threshold)
        return self
