"""Groups of any shape that are known by their rows: which group is densest at a place.

Every known row j spreads its weight about itself as wide as its neighbours are near,

    f_g(x) = sum over j in g near x of  w_j / h_j^d  phi(|x - x_j| / h_j),      h_j = distance to its 5th neighbour

and a row belongs to group g with probability f_g / sum f. A kernel with a tail keeps places far out from being
equally far from everything.

References
----------
1. Breiman, Meisel, Purcell (1977), Variable kernel estimates of multivariate densities. Technometrics 19:135-144.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import gammaln

from asterism.distances.neighbours import Neighbours

Array = NDArray[np.float64]
Index = NDArray[np.int64]
WIDTH_MASS = 5  # convention: rows within the width of a kernel
NEAREST = 8  # convention: known rows that count at a place
CLOSE = 1e-9  # convention: logarithms that differ by less are of one distance
DEGREES = 4.0  # convention: Student's kernel, between a normal one and a heavy tail


@dataclass(frozen=True, eq=False)
class Regions:
    """Known rows, their groups and the widths of their kernels."""

    rows: Array  # (m, d)
    weights: Array  # (m,)
    labels: Index  # (m,) 0 .. k-1
    log_widths: Array  # (m,)

    @classmethod
    def of(cls, near: Neighbours, labels: Index) -> Regions:
        """Groups of rows whose neighbours are known."""
        widths = near.log_radius(min(WIDTH_MASS, near.width))
        other = labels[near.indices] != labels[:, None]
        first = other.argmax(axis=1)
        rows = np.arange(len(labels))
        # No kernel reaches far into another group: every known row lies in its own.
        border = np.where(other[rows, first], np.log(near.distances[rows, first] / 2.0), np.inf)
        return cls(near.rows, near.weights, labels, np.minimum(widths, border))

    @property
    def k(self) -> int:
        """Groups."""
        return int(self.labels.max()) + 1

    @property
    def n_columns(self) -> int:
        """Columns."""
        return int(self.rows.shape[1])

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.rows)

    def log_densities(self, rows: Array, *, without: Literal["none", "own", "nearest"] = "none") -> Array:
        """(n, k) log f_g at complete rows (n, d); minus infinity where none of a group's rows is near.

        ``without``  a known row that does not count: a row's "own", at distance 0, or the "nearest"
        """
        d, m = self.n_columns, min(NEAREST, len(self.rows))
        if without == "none":
            distance, index = self._tree.query(rows, k=np.arange(1, m + 1))
        else:
            distance, index = self._others(rows, m, without)
            m = index.shape[1]
        log_width = self.log_widths[index]
        if without != "none":  # a row within the width of a kernel has part in it
            inside = np.log(np.maximum(distance, np.finfo(float).tiny)) <= log_width + CLOSE
            log_width = np.where(inside, self._log_widths_without[index], log_width)
        norm = gammaln((DEGREES + d) / 2) - gammaln(DEGREES / 2) - 0.5 * d * np.log(DEGREES * np.pi)
        log_kernel = (
            norm
            - 0.5 * (DEGREES + d) * np.log1p((distance / np.exp(log_width)) ** 2 / DEGREES)
            - d * log_width
            + np.log(self.weights[index] / self.weights.sum())
        )
        out = np.full((len(rows), self.k), -np.inf)
        at = np.repeat(np.arange(len(rows)), m)
        np.logaddexp.at(out, (at, self.labels[index].ravel()), log_kernel.ravel())
        return out

    @cached_property
    def _log_widths_without(self) -> Array:
        """(m,) log widths of kernels if one of the rows within were not there: the next neighbour says it instead.

        Kernels that are narrow because another group is near stay as they are.
        """
        near = min(2 * WIDTH_MASS, len(self.rows))
        if near < 2:
            return self.log_widths
        distance = np.log(np.maximum(self._tree.query(self.rows, k=near)[0], np.finfo(float).tiny))
        apart = np.abs(distance - self.log_widths[:, None])
        place = np.minimum(apart.argmin(axis=1), near - 2)
        rows = np.arange(len(self.rows))
        return np.where(apart[rows, place] < CLOSE, distance[rows, place + 1], self.log_widths)

    def _others(self, rows: Array, m: int, without: Literal["own", "nearest"]) -> tuple[Array, Index]:
        """(n, m) the nearest known rows but for one, and where they are."""
        found = self._tree.query(rows, k=np.arange(1, min(m + 1, len(self.rows)) + 1))
        distance, index = np.array(found[0], np.float64), np.array(found[1], np.int64)
        gone = np.ones(len(rows), bool) if without == "nearest" else distance[:, 0] == 0
        if len(self.rows) == m:  # there is no other one to take its place
            distance[gone, 0] = np.inf
            return distance, index
        shift = gone[:, None].astype(np.int64) + np.arange(m)
        return np.take_along_axis(distance, shift, 1), np.take_along_axis(index, shift, 1)

    def reordered(self, order: Index) -> Regions:
        """The same with group ``order[0]`` first."""
        return Regions(self.rows, self.weights, np.argsort(order)[self.labels], self.log_widths)
