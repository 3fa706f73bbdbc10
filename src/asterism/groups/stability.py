"""How often each group comes back when half of the rows are looked at.

Halves of the rows are drawn without replacement, the chosen structure is fitted to each anew with its number of
groups given, and for every group g of the finding

    J(g) = max over groups c of the half of  |g and c| / |g or c|,      counted over the rows of the half

The mean over halves is the group's stability: from 0.85 on a group comes back as it is, below 0.6 it should not be
trusted, at 0.5 and below it dissolves [1]. It says nothing of whether groups are real: one long group cut in two
comes back cut in two.

The structure: components of a mixture of the same family and number, from the starts of the search; centres; for
groups of any shape, of linkage and density the one that comes nearest to the groups in all rows.

References
----------
1. Hennig (2007), Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis 52:258-271.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import block_of
from asterism.data.source import ArraySource, Source
from asterism.distances.neighbours import Neighbours
from asterism.engines.threads import one_blas_thread
from asterism.groups.judges import CentersJudge, Judge, MixtureJudge, RegionsJudge
from asterism.methods.density_tree import grow_tree, least_size, scales_of
from asterism.methods.even_linkage import cut, join_evenly
from asterism.methods.kmeans import fit_kmeans, nearest
from asterism.methods.path import fit_path
from asterism.methods.posterior import Mixture, shares_of
from asterism.metrics.pairs import adjusted_rand_score
from asterism.verdict.propose import UNEVENNESS, brought_together
from asterism.verdict.rows import draw

Array = NDArray[np.float64]
Index = NDArray[np.int64]
HALVES = 20  # convention: the error of a mean is below 0.05, for J varies by 0.2 at most of sound groups
ROWS = 600  # convention: of the table at the most; with more, groups come back more often
MOST_ROWS = 20_000  # convention: longer tables are not looked at unless asked
MOST_WORK = 2e5  # convention: components times squared columns; about ten seconds
LEAST_ROWS_A_GROUP = 4  # convention: a half with fewer says nothing

Refit = Callable[[Array, NDArray[np.float64]], Index]  # rows and weights -> their groups


def is_cheap(judge: Judge, n_rows: int, width: int) -> bool:
    """Whether stability is worth its time without being asked for."""
    parts = len(judge.groups) if isinstance(judge, MixtureJudge) else judge.k
    return judge.k > 1 and n_rows <= MOST_ROWS and parts * width**2 <= MOST_WORK


def group_stability(judge: Judge, source: Source, seed: int = 0) -> Array | None:
    """(k,) of rows as the judge takes them; NaN for a group that too few drawn rows are in, None for medoids."""
    drawn = draw(source, ROWS, seed)
    with one_blas_thread():
        labels = judge.look(block_of(np.ascontiguousarray(drawn.x), drawn.weights))[0].astype(np.int64)
        refit = _refit_of(judge, drawn.x, drawn.weights, labels)
        if refit is None or judge.k == 1:
            return None
        found = []
        for number in range(HALVES):
            rng = np.random.default_rng([seed, number])
            half = np.sort(rng.choice(len(labels), (len(labels) + 1) // 2, replace=False))
            again = refit(np.ascontiguousarray(drawn.x[half]), drawn.weights[half])
            found.append(best_overlaps(labels[half], again, judge.k))
    counts = np.bincount(labels, minlength=judge.k)
    mean = np.nanmean(np.where(np.isfinite(found), found, 0.0), axis=0)
    return np.where(counts >= 2 * LEAST_ROWS_A_GROUP, mean, np.nan)


def best_overlaps(labels: Index, again: Index, k: int) -> Array:
    """(k,) Jaccard's index of each group with the group of the other partition that is most like it.

    >>> best_overlaps(np.array([0, 0, 0, 1, 1]), np.array([5, 5, 7, 7, 7]), 2).round(2).tolist()
    [0.67, 0.67]
    """
    _, again = np.unique(again, return_inverse=True)
    both = np.zeros((k, int(again.max()) + 1))
    np.add.at(both, (labels, again), 1.0)
    either = both.sum(axis=1)[:, None] + both.sum(axis=0) - both
    return np.asarray((both / np.maximum(either, 1.0)).max(axis=1))


# --- the structure, fitted anew ---------------------------------------------------------------------------------


def _refit_of(judge: Judge, x: Array, weights: Array, labels: Index) -> Refit | None:
    if isinstance(judge, MixtureJudge):
        mixture, k = judge.mixture, judge.k
        return lambda rows, w: _by_mixture(mixture, k, rows, w)
    if isinstance(judge, CentersJudge):
        k = judge.k

        def by_centres(rows: Array, w: Array) -> Index:
            table = ArraySource(rows, w)
            return nearest(fit_kmeans(table, k, n_init=3, seed=0).model, table).astype(np.int64)

        return by_centres
    if isinstance(judge, RegionsJudge):
        k, few = judge.k, len(np.unique(labels))
        ways = _shapes(k)
        filled = np.nan_to_num(x)
        best = max(
            ways, key=lambda way: adjusted_rand_score(labels, way(filled, weights)) if few > 1 else 0.0
        )
        return lambda rows, w: best(np.nan_to_num(rows), w)
    return None


def _by_mixture(mixture: Mixture, k: int, rows: Array, weights: Array) -> Index:
    table = ArraySource(rows, weights)
    components = min(mixture.k, max(len(np.unique(rows, axis=0)) - 1, 1))
    cells = fit_path(table, {"": mixture.family}, [components], passes=1)
    shares = shares_of(cells["", components].mixture, table)
    for group_of in brought_together(shares, weights) if components > k > 1 else ():
        if int(group_of.max()) + 1 == k:
            shares = shares @ np.eye(k)[group_of]
            break
    return np.asarray(shares.argmax(axis=1), np.int64)


def _shapes(k: int) -> Sequence[Refit]:
    """Ways to k groups of any shape."""

    def linked(gini: float, rows: Array, weights: Array) -> Index:
        near = Neighbours.of(rows, weights / weights.mean(), 3)
        pairs, lengths = near.tree
        order = join_evenly(pairs, lengths, np.ones(len(rows), np.int64), gini)
        return cut(pairs, len(rows), order[: len(rows) - min(k, len(rows))])

    def parted(scale: int, rows: Array, weights: Array) -> Index:
        w = weights / weights.mean()
        mass = min(scale, max(scales_of(float(w.sum()))))
        near = Neighbours.of(rows, w, max(mass, 3))
        tree = grow_tree(near, mass, least_size(float(w.sum())))
        clearest = sorted((valley.evidence for valley in tree.valleys), reverse=True)
        return tree.regions(clearest[k - 1] if len(clearest) >= k else 0.0)

    return [
        *(lambda rows, w, gini=gini: linked(gini, rows, w) for gini in UNEVENNESS),
        *(lambda rows, w, scale=scale: parted(scale, rows, w) for scale in (5, 12, 27)),
    ]
