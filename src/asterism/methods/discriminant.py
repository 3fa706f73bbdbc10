"""Groups apart in any direction, however little rows differ in it: components that share one covariance.

Where all rows together are round, z = L^-1 (x - mean), the M-step of k components with proportions p, means m and one
covariance W is

    R_c = sqrt(p_c) m_c,    W = I - R'R,    W^-1 R' = R' S^-1,    log det W = log det S,    S = I - R R' of k rows

so a step of EM costs two products of the rows with k vectors, as a step of k-means does. But it measures in units of
W: a direction in which groups differ counts for more with each step, until they are apart in it. Groups hardly better
than chance are enough to begin with, where k-means stays, for which all directions of round rows are alike.

EM begins three times: from groups of k-means in all directions, in the k - 1 with the lightest tails, and in the
k - 1 with the heaviest. Groups of like size make for light tails, a small group for heavy ones; both are outer axes
of sum w |z|^2 z z' (Tyler, Critchley, Duembgen, Oja 2009).

References
----------
1. Friedman, Rubin (1967), On some invariant criteria for grouping data. JASA 62:1159-1178.
2. Tyler, Critchley, Duembgen, Oja (2009), Invariant co-ordinate selection. JRSS B 71:549-592.
3. Ding, Li (2007), Adaptive dimension reduction using discriminant analysis and k-means clustering. ICML 2007.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from asterism.data.block import Vector
from asterism.data.source import ArraySource
from asterism.families.base import Array
from asterism.methods.coarse import plain_centers
from asterism.methods.kmeans import nearest

LEAST = 1e-8  # variance of a direction, in standard units: below, it is rounding
THINNEST = 1e-4  # variance of components, where that of all rows is 1
STEPS = 100  # of EM, at most
GAIN = 2e-4  # nats a row: a step that wins less is the last


@dataclass(frozen=True)
class Discriminant:
    """Which group a row belongs to: the one with the largest of k linear functions."""

    slopes: Array  # (k, d)
    heights: Vector  # (k,)

    def scores(self, rows: Array) -> Array:
        """(k, n) the functions at rows (n, d), in their precision."""
        slopes, heights = self.slopes.astype(rows.dtype), self.heights.astype(rows.dtype)
        return np.asarray(slopes @ rows.T + heights[:, None])

    def labels(self, rows: Array) -> NDArray[np.int32]:
        """(n,) groups of rows (n, d)."""
        return np.asarray(self.scores(rows).argmax(axis=0), np.int32)

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


def hidden_groups(z: Array, w: Vector, k: int, rng: np.random.Generator) -> tuple[Discriminant, float]:
    """The best that EM makes of its starts on rows (m, d) that are round together, and its height."""
    views = [z]
    if k <= z.shape[1]:
        weight = w * np.einsum("ij,ij->i", z, z)
        axes = np.linalg.eigh((z * weight[:, None]).T @ z)[1]
        views += [np.ascontiguousarray(z @ axes[:, outer]) for outer in (slice(k - 1), slice(1 - k, None))]
    found = []
    for view in views:
        rows = ArraySource(view, w)
        labels = nearest(plain_centers(rows, k, int(rng.integers(2**31))), rows)
        found.append(with_common_covariance(z, w, np.arange(k)[:, None] == labels))
    return max(found, key=lambda each: each[1])


def with_common_covariance(
    z: Array, w: Vector, shares: Array | NDArray[np.bool_], steps: int = STEPS
) -> tuple[Discriminant, float]:
    """EM of normal components with one covariance, from shares (k, m) of rows (m, d) that are round together.

    Beside it the height they reach: what they win over a single component, nats a row, the same in any units.
    Components without rows are dropped. Rows are taken in float32: it is only a start.
    """
    z, share, reached = z.astype(np.float32), (w / w.sum()).astype(np.float32), -np.inf
    for _ in range(steps):
        mass = shares * share
        p = mass.sum(axis=1, dtype=np.float64)
        mass, p = mass[p > LEAST], p[p > LEAST]
        roots, eye = np.sqrt(p)[:, None], np.eye(len(p))
        R = (mass @ z) / roots
        S = eye - R @ R.T + THINNEST * eye
        inverse = np.linalg.inv(S)
        slopes = inverse @ R / roots
        found = Discriminant(slopes, np.log(p) - 0.5 * (slopes * R / roots).sum(axis=1))
        scores = found.scores(z)
        top = scores.max(axis=0)
        shares = np.exp(scores - top)
        total = shares.sum(axis=0)
        shares /= total
        # The mean of z' W^-1 z is the trace of W^-1, which is that of S^-1 in k directions and 1 in all others.
        height = float(
            share @ (top + np.log(total)) - 0.5 * (np.trace(inverse - eye) + np.linalg.slogdet(S)[1])
        )
        if height - reached < GAIN:
            break
        reached = height
    return found, height
