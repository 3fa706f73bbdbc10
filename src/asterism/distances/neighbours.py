"""Nearest neighbours of rows, and the tree of shortest edges that joins them all.

The radius of a row at mass k is the distance within which other rows of weight k lie. With d local dimensions

    log density = log k - d log radius + constant,      standard deviation sqrt(trigamma(k)), about 1 / sqrt(k)

whatever the density, the unit and the place: a depth of log density times sqrt(k) needs no model of the rows.

References
----------
1. Loftsgaarden, Quesenberry (1965), A nonparametric estimate of a multivariate density function. AMS 36:1049-1051.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from asterism import _core

Array = NDArray[np.float64]
Index = NDArray[np.int64]
SHORTEST = 1e-12  # convention: least distance, in units of the spread of rows, so that logarithms exist


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Rows, their nearest neighbours and their spanning tree."""

    rows: Array  # (n, d)
    weights: Array  # (n,) 1 in the mean
    distances: Array  # (n, m + 1) from the nearest up; first the row itself
    indices: Index  # (n, m + 1)

    @classmethod
    def of(cls, rows: Array, weights: Array, most: int) -> Neighbours:
        """With ``most`` neighbours of each row, or all there are."""
        places = np.arange(1, min(most, len(rows) - 1) + 2)  # an array, or a single place has no axis
        distances, indices = cKDTree(rows).query(rows, k=places)
        return cls(rows, weights, np.maximum(distances, SHORTEST), np.asarray(indices, np.int64))

    @property
    def width(self) -> int:
        """Neighbours known of each row."""
        return int(self.indices.shape[1]) - 1

    def log_radius(self, mass: float) -> Array:
        """(n,) log distance within which other rows of this weight lie; of the last neighbour known, at most."""
        place = np.minimum((self._mass_within < mass - 1e-9).sum(axis=1), self.width)
        return np.asarray(np.log(self.distances[np.arange(len(self.rows)), place]))

    @cached_property
    def _mass_within(self) -> Array:
        """(n, m + 1) weight of the other rows up to each neighbour: a row of weight 3 has two copies beside it."""
        return np.asarray(np.cumsum(self.weights[self.indices], axis=1) - 1.0)

    @cached_property
    def tree(self) -> tuple[Index, Array]:
        """(n - 1, 2) edges of the Euclidean minimum spanning tree, and their lengths (n - 1,)."""
        n = len(self.rows)
        scale = max(float(np.abs(self.rows).max()), SHORTEST)
        pairs, squares = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
        tiles = _core.PointTiles(np.ascontiguousarray(self.rows / scale))
        tiles.find_nearest(0, tiles.places)
        _core.spanning_tree(tiles, pairs, squares)
        return pairs, np.maximum(np.sqrt(squares) * scale, SHORTEST)

    def edges(self, width: int) -> tuple[Index, Index, Array]:
        """From, to and length of the edges to so many nearest neighbours and of the spanning tree, each once."""
        n, width = len(self.rows), min(width, self.width)
        pairs, lengths = self.tree
        a = np.concatenate([np.repeat(np.arange(n), width), pairs[:, 0]])
        b = np.concatenate([self.indices[:, 1 : width + 1].ravel(), pairs[:, 1]])
        length = np.concatenate([self.distances[:, 1 : width + 1].ravel(), lengths])
        low, high = np.minimum(a, b), np.maximum(a, b)
        first = np.unique(low * n + high, return_index=True)[1]
        return low[first], high[first], length[first]
