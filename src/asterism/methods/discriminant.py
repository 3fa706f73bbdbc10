"""Groups apart in any direction, however little rows differ in it: components that share one covariance.

Where all rows together are round, z = L^-1 (x - mean), the M-step of k components with proportions p, means m and one
covariance W is

    R_c = sqrt(p_c) m_c,    W = I - R'R,    W^-1 R' = R' S^-1,    log det W = log det S,    S = I - R R' of k rows

so a step of EM costs two products of the rows with k vectors, as a step of k-means does, and no row is ever turned by a
matrix of d columns. Yet it measures in units of W: a direction in which groups differ counts for more with each step,
until they are told apart there. Groups that are hardly better than chance are enough to begin with; k-means, for which
all directions of round rows are alike, does not get on from there.

It begins three times, from groups of k-means in all directions, and in the k - 1 with the lightest and with the heaviest
tails. These are the outer axes of sum w |z|^2 z z': a direction with groups of like size has light tails, one with a
small group heavy ones.

References
----------
1. Friedman, Rubin (1967), On some invariant criteria for grouping data. JASA 62:1159-1178.
2. Tyler, Critchley, Duembgen, Oja (2009), Invariant co-ordinate selection. JRSS B 71:549-592.
3. Ding, Li (2007), Adaptive dimension reduction using discriminant analysis and k-means clustering. ICML 2007:521-528.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from asterism.data.block import Vector
from asterism.data.source import ArraySource
from asterism.families.base import Array
from asterism.methods.coarse import coarse_centers
from asterism.methods.kmeans import nearest

LEAST = 1e-8  # variance of a direction, in standard units: below, it is rounding
STEPS = 50  # of EM, at most
GAIN = 1e-4  # nats a row: a step that wins less is the last


@dataclass(frozen=True)
class Discriminant:
    """Which group a row belongs to: the one with the largest of k linear functions."""

    slopes: Array  # (k, d)
    heights: Vector  # (k,)

    def labels(self, rows: Array) -> NDArray[np.int32]:
        """(n,) groups of rows (n, d)."""
        return np.asarray((self.slopes @ rows.T + self.heights[:, None]).argmax(axis=0), np.int32)

    def ordered(self, order: NDArray[np.intp]) -> Discriminant:
        """The same groups, numbered otherwise."""
        return Discriminant(self.slopes[order], self.heights[order])


@dataclass(frozen=True)
class Sphering:
    """L^-1 (x - mean) of rows whose covariance is L L': no direction is less than another.

    Components of any orientation are the same in any units, and groups may be far apart in a direction in which rows
    hardly differ. ``LEAST`` keeps directions without spread from being all rounding.
    """

    mean: Vector  # (d,)
    lower: Array  # (d, d) L

    @classmethod
    def of(cls, rows: Array, w: Vector) -> Sphering:
        """The units in which rows (n, d) with weights (n,) are round together."""
        share = w / w.sum()
        mean = share @ rows
        about = rows - mean
        covariance = (about * share[:, None]).T @ about + LEAST * np.eye(len(mean))
        return cls(mean, np.linalg.cholesky(covariance))

    def sphered(self, rows: Array) -> Array:
        """(n, d) rows in these units."""
        return np.ascontiguousarray(solve_triangular(self.lower, (rows - self.mean).T, lower=True).T)

    def undone(self, found: Discriminant) -> Discriminant:
        """What was found among sphered rows, of rows as they were."""
        slopes = solve_triangular(self.lower, found.slopes.T, lower=True, trans="T").T
        return Discriminant(slopes, found.heights - slopes @ self.mean)


def hidden_groups(z: Array, w: Vector, k: int, rng: np.random.Generator) -> list[Discriminant]:
    """What EM makes of each of its starts, on rows (m, d) that are round together."""
    views = [z]
    if k <= z.shape[1]:
        weight = w * np.einsum("ij,ij->i", z, z)
        axes = np.linalg.eigh((z * weight[:, None]).T @ z)[1]
        views += [np.ascontiguousarray(z @ axes[:, outer]) for outer in (slice(k - 1), slice(1 - k, None))]
    found = []
    for view in views:
        rows = ArraySource(view, w)
        labels = nearest(coarse_centers(rows, rows, k, int(rng.integers(2**31))), rows)
        found.append(with_common_covariance(z, w, np.arange(k)[:, None] == labels))
    return found


def with_common_covariance(z: Array, w: Vector, shares: NDArray[np.float64 | np.bool_]) -> Discriminant:
    """EM of normal components with one covariance, from shares (k, m) of rows (m, d) that are round together.

    A component that is left without rows is dropped.
    """
    share, reached = w / w.sum(), -np.inf
    for _ in range(STEPS):
        mass = shares * share
        p = mass.sum(axis=1)
        mass, p = mass[p > LEAST], p[p > LEAST]
        roots = np.sqrt(p)[:, None]
        R = (mass @ z) / roots
        S = (1.0 + LEAST) * np.eye(len(p)) - R @ R.T
        inverse = np.linalg.inv(S)
        # of m' W^-1 z - m' W^-1 m / 2 + log p
        found = Discriminant(inverse @ R / roots, np.log(p) - (np.diagonal(inverse) - 1.0) / (2.0 * p))
        scores = found.slopes @ z.T + found.heights[:, None]
        top = scores.max(axis=0)
        shares = np.exp(scores - top)
        total = shares.sum(axis=0)
        shares /= total
        # up to a constant: the mean of z' W^-1 z is the trace of W^-1
        height = share @ (top + np.log(total)) - 0.5 * (np.trace(inverse) + np.linalg.slogdet(S)[1])
        if height - reached < GAIN:
            break
        reached = height
    return found
