"""Stability: do groups come back when the table is shaken?

For every k: perturb the table several times (a part of its rows, or noise on all of them), cluster each, carry every
clustering to the common rows by its own classifier, match labels best (linear assignment), and compare:

    r      = mean over pairs of clusterings of the share of rows on which they differ
    r_rand = (k - 1) / k                                                stab = 1 - r / r_rand

A table without groups can be cut stably too (one long group into two halves): stability compares numbers of groups,
it cannot say that there are none.

References
----------
1. Lange, Roth, Braun, Buhmann (2004), Stability-based validation of clustering solutions. Neural Comp. 16:1299.
2. von Luxburg (2010), Clustering stability: an overview. Foundations and Trends in ML 2:235-274.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from asterism.errors import ParameterError
from asterism.families.base import Array
from asterism.methods.kmeans import fit_kmeans_path, nearest
from asterism.metrics.matching import Stability, stability_score
from asterism.verdict.rows import Rows

TIMES, SHARE, NOISE = 6, 0.6, 0.1
STABLE = 0.9  # from here on a number of groups is called stable

Classifier = Callable[[Rows], NDArray[np.int32]]  # labels of any rows
Clusterer = Callable[[Rows, Sequence[int], int], dict[int, Classifier]]  # rows, ks, seed


def by_kmeans(rows: Rows, ks: Sequence[int], seed: int) -> dict[int, Classifier]:
    """k-means for every k; rows go to the nearest centre."""
    fits = fit_kmeans_path(rows.source, list(ks), n_init=2, max_iter=30, seed=seed)
    return {k: lambda other, model=fit.model: nearest(model, other.source) for k, fit in fits.items()}  # type: ignore[misc]


def stability(
    rows: Rows,
    ks: Sequence[int],
    clusterer: Clusterer = by_kmeans,
    *,
    how: Literal["subsample", "noise"] = "subsample",
    times: int = TIMES,
    amount: float | None = None,
    seed: int = 0,
) -> dict[int, Stability]:
    """The stability of every k.

    ``how``     "subsample": a share ``amount`` (0.6) of the rows each time; "noise": all rows, each cell with normal
                noise of ``amount`` (0.1) of its column's standard deviation
    """
    if how not in ("subsample", "noise"):
        raise ParameterError(f"how is {how!r}.", "Give 'subsample' or 'noise'.")
    if times < 2:
        raise ParameterError(f"times is {times}.", "Clusterings are compared two by two: give 2 or more.")
    labelings: dict[int, list[NDArray[np.int32]]] = {k: [] for k in ks}
    for t in range(times):
        rng = np.random.default_rng([seed, t])
        shaken = (
            _part(rows, amount or SHARE, rng) if how == "subsample" else _noisy(rows, amount or NOISE, rng)
        )
        for k, classify in clusterer(shaken, ks, seed + t).items():
            labelings[k].append(classify(rows))
    return {
        k: stability_score(found, k, sample_weight=rows.weights)
        for k, found in labelings.items()
        if len(found) > 1
    }


def _part(rows: Rows, share: float, rng: np.random.Generator) -> Rows:
    m = max(int(np.ceil(share * len(rows))), 1)
    return rows.take(np.sort(rng.choice(len(rows), min(m, len(rows)), replace=False)))


def _noisy(rows: Rows, amount: float, rng: np.random.Generator) -> Rows:
    noise: Array = rng.standard_normal(rows.x.shape) * (amount * rows.spread)
    return Rows(rows.x + noise, rows.weights)


def most_stable(found: dict[int, Stability]) -> int | None:
    """The largest k that is stable, or the most stable one; k = 1, which always is, is not judged."""
    scores = {k: s.score for k, s in found.items() if k > 1}
    stable = [k for k, score in scores.items() if score >= STABLE]
    if stable:
        return max(stable, key=lambda k: (round(scores[k], 2), k))
    return max(scores, key=lambda k: (scores[k], -k)) if scores else None
