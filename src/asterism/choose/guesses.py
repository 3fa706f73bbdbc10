"""Where mixtures of a sweep begin: groups of a sample for every k, and neighbours' shares of its rows.

References
----------
1. Ueda, Nakano, Ghahramani, Hinton (2000), SMEM algorithm for mixture models. Neural Computation 12:2109-2128.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from asterism.choose.together import Candidate
from asterism.families.assignment import assign
from asterism.families.base import Array
from asterism.methods.kmeans import fit_kmeans_path
from asterism.methods.splitmerge import scores_of
from asterism.methods.starts import WARD_ROWS, Sample, in_order, nearest_of, one_hot

FEW, STARTS = 6, 4  # up to so few components, so many starts of k-means: optima are many, and steps cheap


def labels_of_sample(sample: Sample, ks: Sequence[int], seed: int) -> dict[int, list[NDArray[np.int32]]]:
    """Groups of the sample for every k to begin with: of k-means, several for few groups, and of Ward's tree."""
    several = [k for k in ks if 1 < k <= len(sample.w)]
    found: dict[int, list[NDArray[np.int32]]] = {k: [] for k in ks}
    found[1] = [np.zeros(len(sample.w), np.int32)]
    if several:
        fits = fit_kmeans_path(sample.source(), several, n_init=1, max_iter=10, seed=seed)
        cuts = ward_cuts(sample, several, seed)
        for k in several:
            found[k] = [fits[k].labels, *([cuts[k]] if k in cuts else [])]
        few = [k for k in several if k <= FEW]
        for again in range(1, STARTS if few else 1):
            for k, fit in fit_kmeans_path(sample.source(), few, max_iter=10, seed=seed + again).items():
                found[k].append(fit.labels)
    return found


def partitions(
    sample: Sample, ks: Sequence[int], seed: int, kinds: Sequence[str] = ("kmeans", "standard", "ward")
) -> dict[int, list[Array]]:
    """For every k, shares (m, k) of the groups of k-means, raw and in standard units, and of Ward's tree."""
    found: dict[int, list[Array]] = {k: [] if k > 1 else [np.ones((len(sample.w), 1))] for k in ks}
    several = [k for k in ks if 1 < k <= len(sample.w)]
    for kind in kinds if several else ():
        if kind == "ward":
            labels = ward_cuts(sample, several, seed)
        else:
            table = sample.compared("standard" if kind == "standard" else "plain")
            fits = fit_kmeans_path(table, several, n_init=2, max_iter=30, seed=seed)
            labels = {k: fit.labels for k, fit in fits.items()}
        for k, mine in labels.items():
            found[k].append(in_order(sample, one_hot(mine, k)))
    return found


def ward_cuts(sample: Sample, ks: Sequence[int], seed: int) -> dict[int, NDArray[np.int32]]:
    """One Ward tree on some rows, cut at every k; the other rows go to the nearest group mean."""
    from scipy.cluster.hierarchy import fcluster, linkage

    y, m = sample.standard, len(sample.w)
    rng = np.random.default_rng([seed, m])
    some = np.arange(m) if m <= WARD_ROWS else np.sort(rng.choice(m, WARD_ROWS, replace=False))
    tree = linkage(y[some], "ward")
    cuts = {}
    for k in ks:
        if k >= len(some):
            continue
        groups = fcluster(tree, k, "maxclust").astype(np.int32) - 1
        share = one_hot(groups, k) * sample.w[some, None]
        mass = share.sum(axis=0)
        means = (share.T @ y[some]) / np.maximum(mass, np.finfo(float).tiny)[:, None]
        cuts[k] = nearest_of(y, means[mass > 0])
    return cuts


def split_shares(candidate: Candidate, sample: Sample) -> Array:
    """The shares of the mixture with the component of the most scatter cut across its longest axis."""
    r = assign(scores_of(candidate.em, sample.block, candidate.model), "soft")[0]
    y, mass = sample.standard, r * sample.w[:, None]
    total = np.maximum(mass.sum(axis=0), np.finfo(float).tiny)
    worst, most, side = 0, -1.0, np.zeros(len(y), bool)
    for c in range(r.shape[1]):
        about = y - (mass[:, c] @ y) / total[c]
        values, vectors = np.linalg.eigh((about * mass[:, [c]]).T @ about)
        if values[-1] > most:
            worst, most, side = c, float(values[-1]), about @ vectors[:, -1] > 0
    return np.asarray(np.column_stack([np.delete(r, worst, axis=1), r[:, worst] * side, r[:, worst] * ~side]))


def merged_shares(candidate: Candidate, sample: Sample) -> Array:
    """The shares of the mixture with the two components brought together that share most rows."""
    r = assign(scores_of(candidate.em, sample.block, candidate.model), "soft")[0]
    likeness = (r * sample.w[:, None]).T @ r
    size = np.sqrt(np.maximum(np.diagonal(likeness), np.finfo(float).tiny))
    likeness = likeness / np.outer(size, size)
    np.fill_diagonal(likeness, -1.0)
    a, b = sorted(divmod(int(likeness.argmax()), len(size)))
    merged = np.delete(r, b, axis=1)
    merged[:, a] += r[:, b]
    return merged
