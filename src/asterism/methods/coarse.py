"""k groups by way of many: k-means with three times as many centres, joined by Ward's method, and settled.

k-means with k centres often leaves two of them in one group and one between two others, and no step leads out.
With 3 k centres hardly a group is without one of its own; Ward's method joins those that share a group,

    cost of joining a, b = m_a m_b / (m_a + m_b) ||mu_a - mu_b||^2

and a few steps more put the k means where they belong.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from asterism.data.source import Source
from asterism.errors import NotConvergedWarning, TooFewRowsError
from asterism.methods.cut import cut_tree
from asterism.methods.kmeans import KMeansFit, fit_kmeans
from asterism.methods.linkage import link_points

FINE = 3  # centres a group
FIRST_STEPS = 2
FINE_STEPS = 15
STEPS = 15


def coarse_groups(source: Source, sample: Source, k: int, seed: int) -> KMeansFit:
    """k groups of a table, first looked for in a sample of it whose rows are distinct.

    >>> from asterism.data.source import ArraySource
    >>> table = ArraySource(np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]]))
    >>> labels = coarse_groups(table, table, 3, seed=0).labels
    >>> [int(labels[a] == labels[a + 1]) for a in range(5)]
    [1, 0, 1, 0, 1]
    """
    try:
        fine = _fine(source, sample, max(min(FINE * k, sample.n_rows), k), seed)
    except TooFewRowsError:  # rows that differ only in what they miss: the k that are wanted may be there
        return _run(source, k, "k-means++", STEPS, seed)
    return _run(source, k, _joined(fine, k), STEPS, seed)


def _fine(source: Source, sample: Source, many: int, seed: int) -> KMeansFit:
    if source is sample:
        return _run(source, many, "k-means++", FINE_STEPS, seed)
    # Few steps on the sample: in many columns a centre clings to the rows it has.
    first = _run(sample, many, "k-means++", FIRST_STEPS, seed)
    return _run(source, many, first.centers, FINE_STEPS, seed)


def _run(source: Source, k: int, init: str | NDArray[np.float64], steps: int, seed: int) -> KMeansFit:
    with warnings.catch_warnings():  # a group left empty here is no loss: there are more than are wanted
        warnings.simplefilter("ignore", NotConvergedWarning)
        fit = fit_kmeans(source, k, init=init, max_iter=steps, seed=seed)
    if fit.status == "interrupted":
        raise KeyboardInterrupt  # there is nothing to return yet
    return fit


def _joined(fine: KMeansFit, k: int) -> NDArray[np.float64]:
    """(k, d) means of the groups that Ward's method makes of fine ones."""
    filled = fine.mass > 0
    offsets, mass = fine.model.offsets[filled], fine.mass[filled]
    group = cut_tree(link_points(offsets, mass, "ward"), k=k)
    share = np.eye(k)[group] * mass[:, None]
    return np.asarray(fine.model.frame.reference + share.T @ offsets / share.sum(axis=0)[:, None])
