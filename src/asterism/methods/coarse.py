"""k groups by way of many: k-means with three times as many centres, joined by Ward's method, and k-means again.

k-means with k centres often leaves two of them in one group and one between two others, and no step leads out.
With 3 k centres hardly a group is without one of its own; Ward's method joins those that share a group,

    cost of joining a, b = m_a m_b / (m_a + m_b) ||mu_a - mu_b||^2

and a few steps more put the k means where they belong.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from asterism.data.source import Source
from asterism.engines.loop import iterate
from asterism.errors import TooFewRowsError
from asterism.families.base import Array
from asterism.methods.cut import cut_tree
from asterism.methods.frame import survey
from asterism.methods.kmeans import nearest, scatter_of, starting_centers
from asterism.methods.linkage import link_points
from asterism.methods.lloyd import Centers, centers_at, lloyd_for

FINE = 3  # centres a group
STEPS = 15
TOL = 1e-4  # of the columns' mean variance


def coarse_centers(source: Source, k: int, seed: int) -> Centers:
    """Centres of k groups of a table.

    >>> from asterism.data.source import ArraySource
    >>> table = ArraySource(np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]]))
    >>> np.sort(coarse_centers(table, 3, seed=0).positions, axis=0).ravel().tolist()
    [0.5, 10.5, 20.5]
    """
    try:
        fine = plain_centers(source, max(min(FINE * k, source.n_rows), k), seed)
    except TooFewRowsError:  # rows that differ only in what they miss: the k that are wanted may be there
        return plain_centers(source, k, seed)
    mass = scatter_of(fine, source).mass
    offsets, mass = fine.offsets[mass > 0], mass[mass > 0]
    share = np.eye(k)[cut_tree(link_points(offsets, mass, "ward"), k=k)] * mass[:, None]
    return _moved(source, Centers(fine.frame, share.T @ offsets / share.sum(axis=0)[:, None]))


def plain_centers(source: Source, k: int, seed: int) -> Centers:
    """Centres of k groups by k-means alone, where a rough guess will do."""
    frame, moments = survey(source)
    return _moved(source, starting_centers(source, frame, moments, k, "k-means++", 1, seed)[0])


def labels_from(source: Source, positions: Array) -> NDArray[np.int32]:
    """(n,) groups of k-means from centres (k, d)."""
    return nearest(_moved(source, centers_at(survey(source)[0], positions)), source)


def _moved(source: Source, start: Centers) -> Centers:
    """The centres after some steps of k-means."""
    frame, moments = survey(source)
    (run,) = iterate(lloyd_for(frame, moments, TOL), source, [start], max_iter=STEPS)
    if run.status == "interrupted":
        raise KeyboardInterrupt  # there is nothing to return yet
    return Centers(frame, run.model.offsets)
