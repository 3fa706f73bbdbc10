"""Bags of visual words: a picture is the histogram of the codes of its parts.

    picture -> parts (patches on a grid, segments, keypoints) -> features -> nearest words -> histogram

Where nobody says how many words there are, the number is the one whose description of all features is shortest:
words at (f / 2) log2 n bits each, the numbers of words at their entropy, residuals at (n f / 2) log2 D.

References
----------
1. Csurka et al. (2004), Visual categorization with bags of keypoints. ECCV Workshop on Statistical Learning.
2. Lazebnik, Schmid, Ponce (2006), Beyond bags of features: spatial pyramid matching. CVPR 2006:2169-2178.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.data.source import ArraySource
from asterism.errors import DataError
from asterism.methods.kmeans import KMeansFit, fit_kmeans_path, nearest
from asterism.methods.lloyd import Centers
from asterism.methods.patches import Floats, Parts
from asterism.methods.quantize import entropy_of

CANDIDATES = (8, 16, 32, 64, 128, 256, 512)
LEAST_SHARE = 8  # parts for each word, at least, of a vocabulary that is worth trying


@dataclass(frozen=True)
class Vocabulary:
    """Words, and how their number was found."""

    words: Centers  # k words, features scaled by ``spread``
    spread: Vector  # (f,) standard deviations that features are divided by, group by group
    lengths: dict[int, float]  # bits of the description with so many words; of one where the number was given

    @property
    def size(self) -> int:
        """How many words."""
        return len(self.words.offsets)


def fit_vocabulary(
    parts: Sequence[Parts],
    weights: Vector,
    k: int | None,
    groups: Sequence[int],
    *,
    max_iter: int,
    seed: int,
) -> Vocabulary:
    """Words for the parts of many pictures; a picture of weight w counts as w pictures.

    ``groups``: how many columns each sort of feature has. Each sort counts the same, whatever its unit.
    """
    rows = np.vstack([part.features for part in parts])
    w = np.concatenate(
        [weight * part.sizes * len(part.sizes) for weight, part in zip(weights, parts, strict=True)]
    )
    if not w.sum() > 0:
        raise DataError(
            "No picture has a keypoint.", "Give larger pictures, or such with more contrast; or take patches."
        )
    spread = _spread(rows, w, groups)
    source = ArraySource(rows / spread, w)
    counted = int((w > 0).sum())
    if k is not None:
        ks: list[int] = [k]
    else:
        ks = [c for c in CANDIDATES if c * LEAST_SHARE <= counted] or [max(1, counted // LEAST_SHARE)]
        distinct = len(np.unique(source.array[w > 0], axis=0))
        ks = [c for c in ks if c <= distinct] or [distinct]
    fits = fit_kmeans_path(source, ks, max_iter=max_iter, tol=1e-3, seed=seed)
    lengths = {c: description_length(fit, w, rows.shape[1]) for c, fit in fits.items()}
    best = min(lengths, key=lambda c: lengths[c])
    return Vocabulary(fits[best].model, spread, lengths)


def description_length(fit: KMeansFit, weights: Vector, f: int) -> float:
    """Bits for words, numbers of words, and residuals to a fixed precision (the same for all k)."""
    n, k = float(weights.sum()), len(fit.centers)
    mass = np.bincount(fit.labels, weights, minlength=k).astype(np.float64)
    distortion = max(fit.inertia / (n * f), 1e-12)  # parts without a residual cost nothing more than that
    return 0.5 * k * f * log2(max(n, 2.0)) + n * entropy_of(mass) + 0.5 * n * f * log2(distortion)


def _spread(rows: Floats, weights: Vector, groups: Sequence[int]) -> Vector:
    """(f,) one number for all columns of a sort of feature, so that its total variance is 1."""
    mean = np.average(rows, axis=0, weights=weights)
    variance = np.average((rows - mean) ** 2, axis=0, weights=weights)
    ends = np.cumsum(groups)
    totals = [float(variance[end - size : end].sum()) for size, end in zip(groups, ends, strict=True)]
    each = [np.sqrt(total) if total > 0 else 1.0 for total in totals]
    return np.repeat(each, groups)


def histograms(vocabulary: Vocabulary, parts: Sequence[Parts], pyramid: Sequence[int]) -> NDArray[np.float64]:
    """(n, k fields) shares of the words in each picture: as a whole, or in each field of the grids of ``pyramid``.

    The shares of one grid add up to 1: each field holds its part of the picture. A picture without parts has zeros.
    """
    rows = np.vstack([part.features for part in parts])
    if len(rows) == 0:
        return np.zeros((len(parts), vocabulary.size * sum(side * side for side in pyramid)))
    labels = nearest(vocabulary.words, ArraySource(rows / vocabulary.spread))
    picture = np.repeat(np.arange(len(parts)), [len(part.sizes) for part in parts])
    places = np.vstack([part.places for part in parts])
    sizes = np.concatenate([part.sizes for part in parts])
    shares = []
    for side in pyramid:
        field = np.minimum((places * side).astype(np.intp), side - 1) @ np.array([side, 1])
        cells = side * side * vocabulary.size
        bins = picture * cells + field * vocabulary.size + labels
        shares.append(np.bincount(bins, sizes, minlength=len(parts) * cells).reshape(len(parts), cells))
    return np.hstack(shares)


def scaled_histograms(shares: NDArray[np.float64], norm: str | None) -> NDArray[np.float64]:
    """Histograms ready for a classifier: "l1" shares, "hellinger" their roots, "l2" unit length."""
    if norm == "hellinger":
        return np.sqrt(shares)
    if norm == "l2":
        length = np.sqrt((shares**2).sum(axis=1, keepdims=True))
        return shares / np.where(length > 0, length, 1.0)
    return shares
