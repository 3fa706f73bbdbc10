"""A sample with the moments of its table, group by group.

How well a normal mixture fits some rows depends, where a component has them to itself, on their number, mean and
covariance alone. A plain sample has these but for chance, and chance is what decides between two mixtures of 20,000
rows seen through 4,000 of them. So the sample is parted into small groups, and what the whole table has in each
(one pass: rows go to the nearest centre) is given to it:

    weights  w N_table / N_sample        rows  x' = mean_table + A (x - mean_sample),   A S_sample A' = S_table

with A = L M^(1/2) L^-1, L L' = S_sample, M = L^-1 S_table L^-T: the nearest such map to none at all. Differences in
likelihood between mixtures then vary as if the sample had two to seven times its rows. The idea is that of calibrated
weights in surveys (Deville, Sarndal 1992, JASA 87:376-382), with rows that move as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from asterism.choose.grow import moments_of_labels, moments_of_nearest
from asterism.data.block import block_of
from asterism.data.source import Source
from asterism.families.base import Array
from asterism.families.gaussian_statistic import GaussianStatistic
from asterism.methods.kmeans import fit_kmeans
from asterism.methods.starts import Sample, nearest_of

GROUP, A_COLUMN = 128, 8  # rows a group has in the mean: at all, and for every column
FACTOR = 4.0  # by which a variance may change in any direction; else a group keeps its own


def matched(source: Source, sample: Sample, seed: int) -> Sample:
    """The sample, of complete rows, with the table's own moments; a sample that is the whole table as it is."""
    m, d = sample.y.shape
    if source.n_rows <= m:
        return sample
    k = max(m // max(GROUP, A_COLUMN * d), 1)
    labels = fit_kmeans(sample.compared("standard"), k, n_init=1, max_iter=10, seed=seed).labels
    centers = moments_of_labels(sample.y, sample.w, labels, k).means
    reference = np.asarray(sample.block.rows[0] - sample.y[0])
    labels = nearest_of(sample.standard, centers / sample.unit)
    here = moments_of_labels(sample.y, sample.w, labels, k)
    there = moments_of_nearest(source, centers, sample.unit, reference)
    w, y = sample.w.copy(), sample.y.copy()
    for c in range(k):
        mine = np.flatnonzero(labels == c)
        if len(mine) and there.mass[c] > 0:
            w[mine] *= there.mass[c] / here.mass[c]
            y[mine] = there.means[c] + (y[mine] - here.means[c]) @ _map(here, there, c).T
    w *= sample.w.sum() / w.sum()
    return Sample(block_of(y + reference, w), y, sample.unit, sample.whole)


def _map(here: GaussianStatistic, there: GaussianStatistic, c: int) -> Array:
    """(d, d) A, or none at all where a group is flat or would change too much."""
    S, T = here.scatters[c] / here.mass[c], there.scatters[c] / there.mass[c]
    same: NDArray[np.float64] = np.eye(len(S))
    try:
        lower = np.linalg.cholesky(S)
        inverse = np.linalg.inv(lower)
        values, vectors = np.linalg.eigh(inverse @ T @ inverse.T)
    except np.linalg.LinAlgError:
        return same
    if not (values[0] > 1.0 / FACTOR and values[-1] < FACTOR):
        return same
    return np.asarray(lower @ (vectors * np.sqrt(values)) @ vectors.T @ inverse)
