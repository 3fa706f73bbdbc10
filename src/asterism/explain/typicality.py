"""How unusual a row is within its group: the tail probability of highest-density regions.

    typicality(x) = P( f_g(Y) <= f_g(x) ),    Y a row of x's own group g

f_g is any score that falls as rows of the group become rarer (a log density within the group, minus a distance to its
centre). The probability is the share of the group's weight whose score is no higher, by the rows that the model was
fitted to and one more, the row itself:

    typicality = (1 + weight of rows with a score <= s) / (1 + weight of the group)

so that it is never 0, and below 0.01 for about one row in a hundred of the group itself. Below every score that was
seen it falls on with the density, ``exp(s - least score) / (1 + weight)``: of two rows far out the farther one is the
less typical. Nothing is assumed of the shape of a group.

A missing cell counts as usual: to the score of the cells that are there comes what a cell of that column adds to the
score of the group's own rows in the mean (``cell_scores``). Where several cells are missing and columns depend on
each other, this is approximate.

References
----------
1. Hyndman (1996), Computing and graphing highest density regions. American Statistician 50:120-126.
2. Vovk, Gammerman, Shafer (2005), Algorithmic Learning in a Random World, chapter 2 (the ``+ 1``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Matrix, Vector
from asterism.explain.profiles import Labels

Array = NDArray[np.float64]

TAIL_KNOTS = 96  # convention: of a group's table, evenly spaced in log share, down to its last row
BODY_KNOTS = 160  # convention: evenly spaced in share
KNOTS = TAIL_KNOTS + BODY_KNOTS
TAIL_SHARE = 0.1  # convention: the tail has finer knots
UNUSUAL = 0.01  # convention: a row below it is called unusual
LEAST = float(np.finfo(np.float64).tiny)  # derived: the least positive share that keeps all its digits


@dataclass(frozen=True, eq=False)
class Typicality:
    """Scores of the rows that groups were fitted to, as a table of quantiles a group."""

    scores: Array  # (k, KNOTS) rising; the last is repeated where a group has fewer distinct scores
    shares: Array  # (k, KNOTS) weight of scores up to there, over 1 + weight of the group
    weights: Vector  # (k,) of the groups
    cell_scores: Array  # (k, D) what a cell adds to the score of its row, in the mean

    @property
    def k(self) -> int:
        """Groups."""
        return len(self.weights)

    def of(self, labels: Labels, scores: Vector) -> Vector:
        """(n,) typicality of rows with these groups and scores, missing cells filled in; NaN for groups below 0."""
        out = np.full(len(scores), np.nan)
        for g in np.unique(labels[labels >= 0]):
            mine = labels == g
            out[mine] = self._of_group(int(g), scores[mine])
        return out

    def _of_group(self, g: int, scores: Vector) -> Vector:
        least = 1.0 / (1.0 + self.weights[g])
        with np.errstate(over="ignore", invalid="ignore"):
            # Scores are log densities: in between, and in tails above all, the log of the share is straighter.
            seen = least + np.exp(
                np.interp(scores, self.scores[g], np.log(np.maximum(self.shares[g], LEAST)))
            )
            beyond = least * np.exp(scores - self.scores[g, 0])
        shares = np.where(scores >= self.scores[g, 0], seen, beyond)
        return np.clip(np.where(np.isnan(scores), np.nan, shares), LEAST, 1.0)

    def reordered(self, order: Sequence[int]) -> Typicality:
        """The same with group ``order[0]`` first."""
        at = list(order)
        return Typicality(self.scores[at], self.shares[at], self.weights[at], self.cell_scores[at])


def typicality_of(labels: Labels, scores: Vector, weights: Vector, k: int, cell_scores: Array) -> Typicality:
    """The tables of k groups, from the scores (n,) and weights (n,) of fitted rows, missing cells filled in.

    >>> t = typicality_of(np.zeros(4, int), np.array([-3.0, -2.0, -1.0, 0.0]), np.ones(4), 1, np.zeros((1, 1)))
    >>> t.of(np.zeros(3, int), np.array([-3.0, 0.0, -9.0])).round(4).tolist()
    [0.4, 1.0, 0.0005]
    """
    tables = [
        _table(scores[(labels == g) & (weights > 0)], weights[(labels == g) & (weights > 0)])
        for g in range(k)
    ]
    totals = np.bincount(labels[labels >= 0], weights[labels >= 0], k).astype(np.float64)
    knots, shares = (np.array([table[i] for table in tables]) for i in range(2))
    return Typicality(knots, shares, totals, cell_scores)


def _table(scores: Vector, weights: Vector) -> tuple[Vector, Vector]:
    """(KNOTS,) scores and the shares of weight up to them; equal scores are one."""
    values, inverse = np.unique(scores, return_inverse=True)
    if not len(values):  # a group without rows says nothing
        return np.zeros(KNOTS), np.zeros(KNOTS)
    shares = np.cumsum(np.bincount(inverse, weights)) / (1.0 + weights.sum())
    if len(values) > KNOTS:
        first = max(float(shares[0]), LEAST)
        tail = np.geomspace(first, max(TAIL_SHARE, first), TAIL_KNOTS)
        body = np.linspace(max(TAIL_SHARE, first), float(shares[-1]), BODY_KNOTS + 1)[1:]
        at = np.searchsorted(shares, np.concatenate([tail, body]) * (1 - 1e-12))
        values, shares = values[np.minimum(at, len(values) - 1)], shares[np.minimum(at, len(values) - 1)]
        values, once = np.unique(values, return_index=True)
        shares = shares[once]
    more = KNOTS - len(values)
    return np.pad(values, (0, more), "edge"), np.pad(shares, (0, more), "edge")


# --- missing cells ----------------------------------------------------------------------------------------------


def missing_scores(cell_scores: Array, labels: Labels, rows: Matrix) -> Vector | float:
    """(n,) what the missing cells of rows would add to their scores in the mean; 0.0 where none is missing."""
    holes = np.isnan(rows)
    if not holes.any():
        return 0.0
    return np.asarray((holes * cell_scores[np.maximum(labels, 0)]).sum(axis=1))


def mean_cell_scores(
    score: Callable[[Array, Any], Vector], rows: Array, labels: Labels, weights: Vector, k: int
) -> Array:
    """(k, D) the score of a row less the score of it without a cell, in the mean over some rows of every group.

    ``score`` gives the scores of rows within given groups; rows (m, D) are a sample of all groups.
    """
    whole, out = score(rows, labels), np.zeros((k, rows.shape[1]))
    for j in range(rows.shape[1]):
        there = ~np.isnan(rows[:, j])
        if not there.any():
            continue
        without = rows[there].copy()
        without[:, j] = np.nan
        own, w = labels[there], weights[there]
        gain = whole[there] - score(without, own)
        usable = np.isfinite(gain)
        mass = np.bincount(own[usable], w[usable], k)
        total = np.bincount(own[usable], (w * gain)[usable], k)
        out[:, j] = np.divide(total, mass, out=np.zeros(k), where=mass > 0)
    return out
