"""Clustering by median splits in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from asterism.data.block import Block
from asterism.data.finite import require_finite
from asterism.data.source import Source
from asterism.engines.reduce import map_rows
from asterism.errors import DataError, ParameterError
from asterism.estimators.base import Taxonomy, as_mixed_source, as_source
from asterism.methods.cut import check_k
from asterism.methods.kdtree import check_how, grow
from asterism.methods.leaves import gathered


class KDTreeClustering(ClusterMixin, BaseEstimator):
    """Split the table at medians of single columns: every cluster is a short rule, and the rule is the cluster.

    Parameters
    ----------
    n_clusters : int or None, default 8
        Exactly so many clusters. None: as many as ``max_depth`` allows.
    max_depth : int, optional
        No cluster has a rule of more splits than this.
    split : "separating" or "widest"
        Which leaf and column come next: where the two halves differ most beside the column's spread in the table,
        or the heaviest leaf at the column that reaches farthest in it, in the columns' own units.
    kinds : what columns are, as in ``asterism.read``

    Attributes
    ----------
    labels_ : (n,) int32, clusters from left to right in the tree
    rules_ : list of str, the rule of each cluster
    n_clusters_ : int
    tree_ : the splits
    columns_, n_features_in_, feature_names_in_

    Notes
    -----
    Method: monothetic, hard, hierarchical. Missing cells go with the heavier side of a split, and the rule says so.
    Columns may be numeric, ordinal, boolean or categorical.

    Examples
    --------
    >>> import pyarrow
    >>> from asterism import KDTreeClustering
    >>> pets = pyarrow.table({"kg": [4.1, 3.9, 4.4, 30.2, 28.1, 25.3], "says": ["meow"] * 3 + ["woof"] * 3})
    >>> tree = KDTreeClustering(2).fit(pets)
    >>> tree.rules_
    ['says is meow or missing', 'says is woof']
    >>> tree.cut(k=1).tolist()
    [0, 0, 0, 0, 0, 0]
    """

    taxonomy = Taxonomy("monothetic", "hard", "hierarchical")

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        max_depth: int | None = None,
        split: str = "separating",
        kinds: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_depth = max_depth
        self.split = split
        self.kinds = kinds

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Split the rows ``X``: an array, a frame, a path or a Source."""
        how, depth = check_how(self.split), _checked_depth(self.max_depth)
        if self.n_clusters is None and depth is None:
            raise ParameterError("Neither n_clusters nor max_depth is given.", "Give one of them, or both.")
        k = None if self.n_clusters is None else check_k(self.n_clusters, 2**62)
        source = self._source(X, sample_weight, reset=True)
        leaves = gathered(source, least=1)
        self.columns_ = source.columns
        self.tree_ = grow(leaves.rows, leaves.weights, source.columns, k, depth, how)
        self.rules_ = self.tree_.rules()
        self.n_clusters_ = self.tree_.n_leaves
        self.labels_ = self._labels(source)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """(n,) the cluster whose rule each row follows."""
        check_is_fitted(self)
        return self._labels(self._source(X, reset=False))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """``fit(X).labels_``, which equals ``fit(X).predict(X)``."""
        return self.fit(X, y, sample_weight).labels_

    def cut(self, k: int | None = None, depth: int | None = None) -> NDArray[np.int32]:
        """(n,) labels of exactly ``k`` clusters, at most as many as were fitted, or of those at a ``depth``."""
        check_is_fitted(self)
        return self._merged(k, depth)[self.labels_]

    def rules(self, k: int | None = None, depth: int | None = None) -> list[str]:
        """The rules of the clusters that ``cut`` gives."""
        check_is_fitted(self)
        self._merged(k, depth)
        return self.tree_.rules(k, _checked_depth(depth))

    def _merged(self, k: Any, depth: Any) -> NDArray[np.int32]:
        """(n_clusters_,) the cluster of the cut that each cluster fitted is in."""
        if (k is None) == (depth is None):
            raise ParameterError(
                "A tree is cut either at a number of clusters or at a depth.", "Give one of them."
            )
        k = None if k is None else check_k(k, self.n_clusters_)
        return self.tree_.merged(k, _checked_depth(depth))

    def _source(self, X: Any, sample_weight: Any = None, *, reset: bool) -> Source:
        if isinstance(X, np.ndarray) and X.dtype.kind == "O" and self.kinds is None:
            try:
                return as_source(self, X, sample_weight, reset=reset)  # numbers in disguise
            except DataError:
                pass  # names are among the cells
        kinds = self.kinds if reset else self.columns_
        return as_mixed_source(self, X, sample_weight, reset=reset, kinds=kinds)

    def _labels(self, source: Source) -> NDArray[np.int32]:
        def follow(block: Block) -> NDArray[np.int32]:
            require_finite(block, source.names, missing_ok=True)
            return self.tree_.labels(block.rows)

        return map_rows(source, follow)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _checked_depth(depth: Any) -> int | None:
    if depth is None:
        return None
    if isinstance(depth, bool) or not isinstance(depth, int | np.integer) or depth < 0:
        raise ParameterError(f"The depth is {depth!r}.", "Give a whole number, 0 or more.")
    return int(depth)
