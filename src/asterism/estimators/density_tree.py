"""The tree of density in scikit-learn's manner: thin, no mathematics."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from asterism.data.block import Block
from asterism.data.finite import missing_cell, require_finite
from asterism.data.source import Source
from asterism.engines.reduce import map_rows
from asterism.errors import CompressedWarning, ParameterError
from asterism.estimators.base import Taxonomy, as_source
from asterism.methods.density_layers import Known, clearest, distinct, layers_of, neighbours_of
from asterism.methods.density_tree import SCALES, grow_tree, least_size, scales_of
from asterism.methods.leaves import gathered

Array = NDArray[np.float64]
FARTHEST = 1e100  # convention: new rows are never farther out, in units of the table, so that squares exist
AT_ONCE = 4096  # convention: new rows whose neighbours are in memory together


class DensityTree(ClusterMixin, BaseEstimator):
    """Groups of any shape and number: dense regions that are parted by valleys deeper than chance makes them.

    Parameters
    ----------
    scale : "auto" or int, default "auto"
        Weight of the neighbours that the density of a row is taken from; small sees small groups, large is sure of
        large ones. "auto": of 3, 5, 8, .. 200 (a quarter of the distinct rows at most) the one at which the evidence
        of all clear valleys exceeds ``evidence`` by most in sum; without a clear valley, the largest.
    evidence : float, default 1.0
        How clear a valley must be to part groups. At 1, one table without groups in a hundred has such a valley.
    min_size : "auto" or number, default "auto"
        Least weight of a group. "auto": that of √n / 4 of the n distinct rows, 4 at least.
    max_rows : int or None, default 20_000
        Distinct rows of which the tree is made: of more, a sample, with a warning. None: of all.
    noise : bool, default False
        Label rows -1 that stand no higher than the saddle of their group (strength 0), as HDBSCAN does.

    Attributes
    ----------
    labels_ : (n,) int32, groups numbered from the heaviest down; with ``noise``, -1 for rows of none
    probabilities_ : (n,) strength of membership: 1 at the peak of the group, 0 at its saddle and below
    layers_ : list of records (parent, children, size, evidence, log_level)
        ``n_groups_`` groups by label, then what they make together, the whole table last. ``evidence`` is that of the
        valley between the children, ``log_level`` the log radius at its saddle (of a group: at its peak).
    n_groups_ : int, 1 where no valley is clear or rows are too few
    scale_ : int
    n_features_in_, feature_names_in_

    Notes
    -----
    Method: polythetic, hard, hierarchical. Distances add up columns as they are: standardise first if their units
    differ. Missing cells are refused. Weight w is w copies of a row, and copies are no evidence: equal rows are one
    row of their common weight, only ratios of weights matter, and distances below the usual one between distinct rows
    are not seen where weights differ. Rounding makes no groups. The order of rows does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> from asterism import DensityTree
    >>> angle, out = np.linspace(0, 2 * np.pi, 300), np.tile([0.0, 0.5, 0.2], 100)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)]) * (8 + out[:, None])
    >>> tree = DensityTree().fit(np.vstack([ring, ring / 10]))
    >>> tree.n_groups_, tree.labels_[[0, 299, 300, 599]].tolist()
    (2, [0, 0, 1, 1])
    >>> tree.predict([[0.0, 8.4], [0.1, 0.7]]).tolist()
    [0, 1]
    >>> tree.layers_[-1].children, tree.layers_[-1].size
    ((0, 1), 600.0)
    """

    taxonomy = Taxonomy("polythetic", "hard", "hierarchical")

    def __init__(
        self,
        scale: Any = "auto",
        *,
        evidence: float = 1.0,
        min_size: Any = "auto",
        max_rows: int | None = 20_000,
        noise: bool = False,
    ) -> None:
        self.scale = scale
        self.evidence = evidence
        self.min_size = min_size
        self.max_rows = max_rows
        self.noise = noise

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002  scikit-learn's signature
        """Find the groups of the rows ``X``: an array, a frame, a path or a Source."""
        self._check_parameters()
        source = as_source(self, X, sample_weight, reset=True)
        leaves = gathered(source, least=1)
        if leaves.missing:
            i, j = divmod(int(np.isnan(leaves.rows).argmax()), leaves.rows.shape[1])
            raise missing_cell(source.names, int(leaves.numbers[i]), j)
        low, high = (np.asarray(f(leaves.rows, axis=0), np.float64) for f in (np.min, np.max))
        self._middle = low / 2.0 + high / 2.0
        # A power of two: units of the table change no digit of its rows.
        self._unit = float(np.ldexp(1.0, int(np.frexp((high / 2.0 - low / 2.0).max())[1])))
        rows, weights = distinct(self._placed(leaves.rows), leaves.weights)
        if self.max_rows is not None and len(rows) > self.max_rows:
            rows, weights = _sampled(rows, weights, int(self.max_rows))
        self._known = self._find(rows, weights)
        self.labels_, self.probabilities_ = self._join(source)
        self.scale_ = self._known.tree.scale
        self.n_groups_ = self._known.layers.k
        shift = float(np.log(self._unit))
        self.layers_ = [
            layer._replace(log_level=layer.log_level + shift) for layer in self._known.layers.layers
        ]
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """(n,) the group of the nearest fitted row that is at least as dense; of the nearest, if none is near."""
        check_is_fitted(self)
        return self._join(as_source(self, X, reset=False))[0]

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int32]:
        """``fit(X).labels_``, which equals ``fit(X).predict(X)``."""
        return self.fit(X, y, sample_weight).labels_

    def _find(self, rows: Array, weights: Array) -> Known:
        n = len(rows)
        least = least_size(n) if self.min_size == "auto" else float(self.min_size) / float(weights.mean())
        scales = scales_of(n) if self.scale == "auto" else [int(self.scale)]
        near = neighbours_of(rows, weights, max(scales[-1], min(SCALES[-1], n // 4)))
        tree = clearest([grow_tree(near, scale, least) for scale in scales], self.evidence)
        enough = n > scales[0] and n >= 2.0 * least
        return Known(near, tree, layers_of(tree, weights, self.evidence if enough else np.inf))

    def _placed(self, rows: NDArray[Any]) -> Array:
        """Rows about 0, in the unit of the table."""
        with np.errstate(over="ignore"):  # of new rows only
            offsets = (rows.astype(np.float64) - self._middle) / self._unit
        return np.clip(offsets, -FARTHEST, FARTHEST)

    def _join(self, source: Source) -> tuple[NDArray[np.int32], Array]:
        """(n,) labels and (n,) strengths."""

        def join(block: Block) -> Array:
            require_finite(block, source.names)
            rows = np.where(np.isfinite(block.rows), block.rows, 0.0)  # of weight 0, or they were refused
            parts = [
                self._known.join(self._placed(rows[a : a + AT_ONCE])) for a in range(0, len(rows), AT_ONCE)
            ]
            return np.concatenate([np.column_stack(part) for part in parts])

        found = map_rows(source, join)
        labels, strengths = found[:, 0].astype(np.int32), np.ascontiguousarray(found[:, 1])
        if self.noise and self._known.layers.k > 1:
            labels[strengths == 0.0] = -1
        return labels, strengths

    def _check_parameters(self) -> None:
        if self.scale != "auto" and not _whole(self.scale, 2):
            raise ParameterError(f"scale is {self.scale!r}.", "Give 'auto' or a whole number, 2 or more.")
        if self.max_rows is not None and not _whole(self.max_rows, 2):
            raise ParameterError(f"max_rows is {self.max_rows!r}.", "Give None or a whole number, 2 or more.")
        if not _real(self.evidence) or not self.evidence >= 0:
            raise ParameterError(f"evidence is {self.evidence!r}.", "Give a number, 0 or more; 1 is usual.")
        if self.min_size != "auto" and not (_real(self.min_size) and self.min_size > 0):
            raise ParameterError(f"min_size is {self.min_size!r}.", "Give 'auto' or a number above 0.")


def _real(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)


def _sampled(rows: Array, weights: Array, m: int) -> tuple[Array, Array]:
    """``m`` of the rows, drawn from their order of values, so that the order of the table does not matter."""
    kept = np.sort(np.random.default_rng(0).choice(len(rows), m, replace=False))
    warnings.warn(
        f"The tree of density is one of {m} of {len(rows)} distinct rows; the others were joined to it. Groups of "
        "few rows may be lost. Give max_rows=None to insist on all, which takes memory for 200 neighbours of each.",
        CompressedWarning,
        stacklevel=3,
    )
    return rows[kept], weights[kept]
