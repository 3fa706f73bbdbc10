"""Agglomerative clustering in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np

from asterism.data.finite import missing_cell
from asterism.data.source import Source
from asterism.distances.base import dissimilarity
from asterism.distances.numeric import PNorm
from asterism.distances.pairwise import condensed, every_weight, memory_budget, prepared, require_memory
from asterism.errors import CompressedWarning, ParameterError
from asterism.estimators.base import Taxonomy
from asterism.estimators.tree import TreeClustering
from asterism.methods.cut import Tree
from asterism.methods.leaves import Leaves, gathered, placed, require_comparable
from asterism.methods.linkage import EUCLIDEAN_ONLY, check_linkage, link_pairs, link_points
from asterism.methods.medoids import comparing_all

MOST_ROWS = 200_000  # of which a tree is made without being asked for: beyond, it takes minutes


class AgglomerativeClustering(TreeClustering):
    """Merge the two nearest clusters until one is left, and cut that tree.

    Parameters
    ----------
    n_clusters : int or None, default 2
        Exactly so many clusters, also where heights are equal.
    linkage : "ward", "single", "complete", "average", "weighted", "centroid" or "median"
    metric : name, Dissimilarity, function of two rows or "precomputed"
        "ward", "centroid" and "median" are about centroids and need "euclidean".
    distance_threshold : float, optional
        Cut at this height instead; n_clusters must be None then.
    kinds : what columns are, for "gower" and other metrics of mixed tables; as in ``asterism.read``
    compress : "auto", int or None
        Leaves that k-means makes of the rows first. "auto": 2048 of a table that has more than 200,000 rows, or whose
        pairs do not fit the memory, with a warning. None: never.

    Attributes
    ----------
    linkage_matrix_ : (m - 1, 4), in SciPy's format; the last column is the weight of a cluster
    leaves_ : (m,) row of each leaf: those with weight above 0
    labels_ : (n,) int32, clusters numbered from the heaviest down
    n_clusters_, n_leaves_ : int
    coefficient_ : float, agglomerative coefficient: 0 no structure, 1 very clear
    compressed_ : str, empty, or how rows were brought together before the tree was made
    columns_, n_features_in_, feature_names_in_

    Notes
    -----
    Method: polythetic, hard, hierarchical. Missing cells: with single, complete, average and weighted linkage, for
    metrics that take them. Weight 3 is three copies, which merge at height 0.

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import AgglomerativeClustering
    >>> X = np.array([[1.0, 2], [1, 4.5], [1, 0], [10, 2], [10, 4.2], [10, 1]])
    >>> tree = AgglomerativeClustering(2).fit(X)
    >>> tree.labels_.tolist(), tree.cut(k=3).tolist()
    ([0, 0, 0, 1, 1, 1], [1, 2, 1, 0, 0, 0])
    >>> tree.predict([[9.0, 9.0]]).tolist()
    [1]
    """

    taxonomy = Taxonomy("polythetic", "hard", "hierarchical")

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "ward",
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
        kinds: Any = None,
        compress: Any = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.metric = metric
        self.distance_threshold = distance_threshold
        self.kinds = kinds
        self.compress = compress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Make the tree of the rows ``X``: an array, a frame, a path or a Source."""
        linkage, metric = check_linkage(self.linkage), dissimilarity(self.metric)
        if linkage in EUCLIDEAN_ONLY and metric != PNorm(2.0):
            raise ParameterError(
                f"{linkage} linkage is of centroids, which only Euclidean distance has. metric is {self.metric!r}.",
                "Use metric='euclidean', or average, complete or single linkage.",
            )
        source = self._source(X, sample_weight, metric, reset=True)
        k = self._leaves_wanted(source, metric)
        self.compressed_ = ""
        tree, leaves = self._compressed(source, k) if k else self._linked(source, metric)
        self._keep(tree, leaves, self.distance_threshold)
        return self

    def _linked(self, source: Source, metric: Any) -> tuple[Tree, Leaves]:
        linkage = check_linkage(self.linkage)
        square = bool(getattr(metric, "by_number", False)) or self.metric == "precomputed"
        leaves = gathered(source, square=square)
        if metric == PNorm(2.0) and not leaves.missing:
            tree = link_points(leaves.rows, leaves.weights, linkage)
        else:
            if leaves.missing and linkage in EUCLIDEAN_ONLY:
                i, j = divmod(int(np.isnan(leaves.rows).argmax()), leaves.rows.shape[1])
                raise missing_cell(source.names, int(leaves.numbers[i]), j)
            fitted, _ = prepared(leaves.source, metric)
            fitted = fitted if fitted.by_number else comparing_all(leaves.source, fitted)
            pairs = condensed(leaves.source, fitted)
            require_comparable(pairs, leaves)
            tree = link_pairs(pairs, leaves.weights, linkage)
            leaves = replace(leaves, fitted=fitted)
        return tree, placed(leaves, source)

    def _leaves_wanted(self, source: Source, metric: Any) -> int:
        """How many leaves k-means should make; 0: none, every row is one."""
        from asterism.methods.compress import LEAVES

        if self.compress is None:
            return 0
        euclidean = metric == PNorm(2.0)
        if self.compress == "auto":
            n = source.n_rows
            pairs = 0 if euclidean else 4 * n * (n - 1)
            if n <= MOST_ROWS and pairs <= memory_budget():
                return 0
            if not euclidean:
                require_memory(pairs, f"A list of all {n * (n - 1) // 2} pairs of {n} rows")
                return 0
            return LEAVES
        if (
            isinstance(self.compress, bool)
            or not isinstance(self.compress, int | np.integer)
            or self.compress < 2
        ):
            raise ParameterError(f"compress is {self.compress!r}.", "Give 'auto', None, or 2 leaves or more.")
        if not euclidean:
            raise ParameterError(
                f"k-means cannot make leaves for metric {self.metric!r}.",
                "Use compress=None, or 'euclidean'.",
            )
        return int(self.compress)

    def _compressed(self, source: Source, k: int) -> tuple[Tree, Leaves]:
        from asterism.methods.compress import compressed, in_words

        leaves, _ = compressed(source, k, every_weight(source))
        tree = link_points(leaves.rows, leaves.weights, check_linkage(self.linkage))
        self.compressed_ = in_words(source.n_rows, len(leaves.rows), self.linkage)
        if self.compress == "auto":
            warnings.warn(self.compressed_, CompressedWarning, stacklevel=3)
        return tree, leaves

    def _missing_ok(self) -> bool:
        return self.linkage not in EUCLIDEAN_ONLY and super()._missing_ok()
