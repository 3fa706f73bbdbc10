"""How far apart groups are, in standard deviations, from what a judge knows of them: no row of a table is read.

Rows x of group a have log ratios  s = log f_a(x) - log f_b(x).  Of two normal groups of one spread whose means are
D standard deviations apart, s has mean D^2 / 2 and standard deviation D. So

    apart(a, b) = min over both sides of  min( 2 mean(s) / sd(s), sqrt(2 mean(s)) )

is D there, and a number without a unit for any density: where one group is tight and the other wide, the side whose
rows lie nearer to the border counts, in its own deviations. By judge,

* mixture   s of rows drawn from the components, always the same ones
* centres   round normal groups of one size: the distance of centres over the deviation along a line
* medoids   Laplace groups of one size: s at the medoid is their dissimilarity over its unit
* regions   known rows of a: mean(d) / sd(d) of the distances d to the nearest known row of b, the lesser side
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from asterism.data.block import Vector, block_of
from asterism.families.assignment import log_sum
from asterism.groups.judges import CentersJudge, Judge, MedoidsJudge, MixtureJudge, RegionsJudge, positive
from asterism.methods.posterior import Mixture
from asterism.methods.regions import Regions

Array = NDArray[np.float64]
Index = NDArray[np.int64]
DRAWS = 400  # convention: rows of a component; 1 / sqrt(2 * 400) is a deviate's error of 4%
LARGEST = 1e6  # convention: nats; where one group can have no row of the other
TINY = 1e-300
LEAST_ROWS = 2  # derived: fewer have no spread


def separations(judge: Judge, groups: Index) -> tuple[Array, Array]:
    """(F, F) of the parts of a judge, and (k, k) of groups made of parts: ``groups`` (F,)."""
    if isinstance(judge, MixtureJudge):
        return _of_mixture(judge.mixture, groups)
    if isinstance(judge, CentersJudge):
        unit = np.sqrt(positive(judge.spread / judge.centers.offsets.shape[1]))
        parts = np.linalg.norm(judge.centers.offsets[:, None] - judge.centers.offsets[None], axis=2) / unit
    elif isinstance(judge, MedoidsJudge):
        fitted, points = judge.medoids.fitted, judge.medoids.points
        unit = positive(judge.spread / len(fitted.names))
        parts = np.sqrt(2.0 * np.maximum(np.asarray(fitted.tile(judge.medoids.ready, points)), 0.0) / unit)
    elif isinstance(judge, RegionsJudge):
        known = judge.regions
        return of_regions(known, known.labels), of_regions(known, groups[known.labels])
    else:
        raise TypeError(type(judge).__name__)
    parts = np.minimum(np.nan_to_num(parts, nan=0.0), LARGEST)  # each group is one part
    return parts, parts


# --- mixtures ---------------------------------------------------------------------------------------------------


def _of_mixture(mixture: Mixture, groups: Index) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    rows = np.concatenate([mixture.family.sample(mixture.params, c, DRAWS, rng) for c in range(mixture.k)])
    component = np.repeat(np.arange(mixture.k), DRAWS)
    with np.errstate(divide="ignore"):
        joint = mixture.scores(block_of(np.ascontiguousarray(rows)))  # (F * DRAWS, F) log pi_c p(x | c)
        alone = joint - np.log(mixture.weights)
        own = np.eye(int(groups.max()) + 1, dtype=bool)[groups].T  # (k, F)
        together = np.column_stack([log_sum(np.where(mine, joint, -np.inf)) for mine in own])
        together -= np.log(own @ mixture.weights)
    each = _ratios(alone, component, np.ones(len(rows)))
    return each, _ratios(together, groups[component], mixture.weights[component])


def _ratios(heights: Array, labels: Index, weights: Vector) -> Array:
    """(k, k) of rows with log densities (n, k), drawn from groups ``labels``."""
    k = heights.shape[1]
    sides = np.full((k, k), LARGEST)
    for a in range(k):
        mine = labels == a
        with np.errstate(invalid="ignore"):
            s = np.nan_to_num(heights[mine][:, [a]] - heights[mine], nan=LARGEST, posinf=LARGEST)
        s, w = np.clip(s, -LARGEST, LARGEST), np.maximum(weights[mine], TINY)
        share = w / w.sum()
        mean = np.maximum(share @ s, 0.0)
        spread = np.sqrt(share @ (s - share @ s) ** 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            sides[a] = np.minimum(np.fmin(2.0 * mean / spread, np.sqrt(2.0 * mean)), LARGEST)
    return _lesser(sides)


# --- regions ----------------------------------------------------------------------------------------------------


def of_regions(regions: Regions, labels: Index) -> Array:
    """(k, k) of known rows in groups ``labels`` (m,)."""
    k = int(labels.max()) + 1
    trees = [cKDTree(regions.rows[labels == g]) for g in range(k)]
    sides = np.full((k, k), LARGEST)
    for a in range(k):
        mine, w = regions.rows[labels == a], regions.weights[labels == a]
        for b in range(k):
            if a == b or len(mine) < LEAST_ROWS:
                continue
            distance = trees[b].query(mine)[0]
            mean = float(np.average(distance, weights=w))
            spread = float(np.sqrt(np.average((distance - mean) ** 2, weights=w)))
            sides[a, b] = min(mean / positive(spread), LARGEST)
    return _lesser(sides)


def _lesser(sides: Array) -> Array:
    found = np.minimum(sides, sides.T)
    np.fill_diagonal(found, 0.0)
    return found
