"""Rows that belong to none: whether a table has a background of evenly spread rows, and how large it is.

    p(x) = (1 - e) f(x) + e / V          f: density of the groups;  V: volume of the box of all rows

Heavy tails gain likelihood from any flat component, so likelihood alone proves nothing. Nothing is background unless

* gain       log-likelihood rises by more than BIC asks for the share and the two ends of every column,
             (1 + 2 d) / 2 log n; f is fitted anew beside the background where groups are a mixture, and a mixture of
             heavy tails has to be beaten as it is
* minority   e <= 1/2: a table that is even all over is one group, not noise
* even       R is where background is likelier than groups, (1 - e) f(x) < e / V. Cut in two halves of the same
             volume, the nearer to the groups (larger f) and the farther, R has as many rows in one as in the other
             if they are evenly spread. Tails hug their group. Odds of x of N rows in the farther half, for a half of
             them against the fourth part:  x log 2 + (N - x) log(2/3) >= log 20
* no clumps  a place of R drawn at random is as far from the nearest row of R as these rows are from each other
             (Hopkins and Skellam); rows in clumps or threads, such as a small group that was not found, are nearer

Volumes are measured with uniform points in the box. ``find_background`` is a pure function of rows, weights and a
density, the same for any model.

References
----------
1. Hopkins, Skellam (1954), A new method for determining the type of distribution of plant individuals.
   Annals of Botany 18:213-227.
2. Fraley, Raftery (1998), How many clusters? Which clustering method? Computer Journal 41:578-588.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.methods.noise import Box

Array = NDArray[np.float64]
LogDensity = Callable[[Array], Vector]  # (n, d) rows -> (n,)

POINTS = 4096  # convention: uniform in the box; volumes to about 1%
NEAR_POINTS = 1024  # convention: whose nearest row is asked for
MOST_SHARE = 0.5  # derived: more than half is no background
EVEN_ODDS = float(np.log(20.0))  # convention: 20 to 1
FALLING = 0.25  # convention: share of the farther half, of tails that fall off; measured: bench/outliers
CLUMP_SLACK = 0.1  # measured: bench/outliers; rows at the edge of a group are a little nearer to each other
CLUMP_DEVIATION = 2.0 * float(
    np.sqrt(1.0 / 12.0)
)  # derived: two standard deviations of the mean of a uniform variate
ROUNDS = 10  # convention: of share and region in turn


@dataclass(frozen=True, eq=False)
class Background:
    """Evenly spread rows beside groups."""

    share: float  # e
    box: Box

    def probability(self, rows: NDArray[Any], log_density: Vector) -> Vector:
        """(n,) of the background, of rows with this log density in the groups."""
        with np.errstate(over="ignore", invalid="ignore"):
            odds = np.log1p(-self.share) + log_density - np.log(self.share) - self.box.log_density(rows)
            return np.asarray(np.where(np.isnan(odds), 0.0, 1.0 / (1.0 + np.exp(odds))))


@dataclass(frozen=True)
class Evidence:
    """What the tests found; ``background`` is None where one of them failed."""

    share: float  # e
    gain: float  # log-likelihood, over the groups alone
    asked: float  # the gain that BIC asks for
    rows: float  # N, weight of the rows of R
    far: float  # x / N
    even_odds: float  # log odds of evenly spread rows against tails
    clumping: float  # P(a place is farther from the nearest row than a row is); 1/2: even
    background: Background | None = None


def find_background(
    rows: Array, weights: Vector, density: LogDensity, *, alone: LogDensity | None = None, seed: int = 0
) -> Evidence:
    """Test complete rows (n, d) for a background.

    ``density``  log density of the groups, best fitted beside a background
    ``alone``    log density of groups that have to explain all rows; None: the same

    >>> rng = np.random.default_rng(0)
    >>> x = np.vstack([rng.normal(0.5, 0.02, (900, 2)), rng.random((100, 2))])
    >>> f = lambda z: -((z - 0.5) ** 2).sum(axis=1) / (2 * 0.02**2) - np.log(2 * np.pi * 0.02**2)
    >>> round(find_background(x, np.ones(1000), f).background.share, 1)
    0.1
    >>> find_background(x[:900], np.ones(900), f).background is None
    True
    """
    # Rows written twice are one row of twice the weight: copies would be each other's neighbours.
    rows, inverse = np.unique(rows, axis=0, return_inverse=True)
    w: Vector = np.bincount(inverse.ravel(), weights).astype(np.float64)
    n, d = float(w.sum()), rows.shape[1]
    box = Box(rows.min(axis=0), rows.max(axis=0))
    if not (box.high > box.low).all():
        return Evidence(0.0, 0.0, np.inf, 0.0, np.nan, -np.inf, np.nan)
    points = np.random.default_rng(seed).uniform(box.low, box.high, (POINTS, d))
    height = float(-box.log_widths.sum())
    at_rows, at_points = density(rows), density(points)
    share, inside, places = _region(at_rows, at_points, w, height)
    asked = 0.5 * (1 + 2 * d) * float(np.log(n))
    total = float(w[inside].sum())
    if not 0 < share < 1 or not inside.any():
        return Evidence(share, 0.0, asked, total, np.nan, -np.inf, np.nan)
    both = np.logaddexp(np.log1p(-share) + at_rows, np.log(share) + height)
    gain = float(w @ (both - (at_rows if alone is None else alone(rows))))
    level = np.median(at_points[places])
    x = float(w[inside & (at_rows < level)].sum())
    even_odds = x * np.log(0.5 / FALLING) + (total - x) * np.log(0.5 / (1.0 - FALLING))
    unit = box.high - box.low
    clumping = _clumping(rows[inside] / unit, w[inside], points[places][:NEAR_POINTS] / unit)
    most = 0.5 + CLUMP_SLACK + CLUMP_DEVIATION / np.sqrt(total)
    passed = gain > asked and share <= MOST_SHARE and even_odds >= EVEN_ODDS and clumping <= most
    found = Background(share, box) if passed else None
    return Evidence(share, gain, asked, total, x / total, float(even_odds), clumping, found)


def _region(
    at_rows: Vector, at_points: Vector, w: Vector, height: float
) -> tuple[float, NDArray[np.bool_], NDArray[np.bool_]]:
    """The share, and which rows and points are in R: at the least the farthest half of the box."""
    n, middle = float(w.sum()), float(np.median(at_points))
    level, share = middle, 0.0
    for _ in range(ROUNDS):
        inside, places = at_rows <= level, at_points <= level
        last, share = share, float(w[inside].sum()) / n / float(places.mean())
        if not 0 < share < 1 or share == last:
            break
        level = max(middle, height + float(np.log(share) - np.log1p(-share)))
    return share, inside, places


def _clumping(rows: Array, w: Vector, places: Array) -> float:
    """P(place farther from its nearest row than a row from its own): 1/2 for even rows, near 1 for clumps."""
    from scipy.spatial import KDTree

    if len(rows) < 2 or not len(places):
        return 1.0
    tree = KDTree(rows)
    own = np.asarray(tree.query(rows, 2)[0])[:, 1]
    places_far = np.sort(np.asarray(tree.query(places)[0]))
    below = np.searchsorted(places_far, own, "left") + np.searchsorted(places_far, own, "right")
    return float(np.average(1.0 - below / (2.0 * len(places)), weights=w))
