"""k groups by way of many: k-means with three times as many centres, joined by Ward's method, and settled.

k-means with k centres often leaves two of them in one group and one between two others, and no step leads out.
With 3 k centres hardly a group is without one of its own; Ward's method joins those that share a group,

    cost of joining a, b = m_a m_b / (m_a + m_b) ||mu_a - mu_b||^2

and a few steps more put the k means where they belong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asterism.data.block import Vector
from asterism.data.source import Source
from asterism.engines.loop import iterate
from asterism.errors import TooFewRowsError
from asterism.methods.cut import cut_tree
from asterism.methods.frame import Frame, survey
from asterism.methods.kmeans import scatter_of, starting_centers
from asterism.methods.linkage import link_points
from asterism.methods.lloyd import Centers, lloyd_for
from asterism.methods.seeding import given_centers
from asterism.stats.moments import ColumnMoments

FINE = 3  # centres a group
FIRST_STEPS = 2
FINE_STEPS = 15
STEPS = 15
TOL = 1e-4  # of the columns' mean variance


def coarse_centers(source: Source, sample: Source, k: int, seed: int) -> Centers:
    """Centres of k groups of a table, first looked for in a sample of it whose rows are distinct.

    >>> from asterism.data.source import ArraySource
    >>> table = ArraySource(np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]]))
    >>> np.sort(coarse_centers(table, table, 3, seed=0).positions, axis=0).ravel().tolist()
    [0.5, 10.5, 20.5]
    """
    table = _Surveyed.of(source)
    some = table if source is sample else _Surveyed.of(sample)
    try:
        fine = _fine(table, some, max(min(FINE * k, sample.n_rows), k), seed)
    except TooFewRowsError:  # rows that differ only in what they miss: the k that are wanted may be there
        return table.centers(k, seed)
    return table.settled(_joined(fine, scatter_of(fine, source).mass, k), STEPS)


def plain_centers(source: Source, k: int, seed: int) -> Centers:
    """Centres of k groups by k-means alone, where a rough guess will do."""
    return _Surveyed.of(source).centers(k, seed)


@dataclass(frozen=True)
class _Surveyed:
    """A table that was looked at once."""

    source: Source
    frame: Frame
    moments: ColumnMoments

    @classmethod
    def of(cls, source: Source) -> _Surveyed:
        return cls(source, *survey(source))

    def seeds(self, k: int, seed: int) -> Centers:
        return starting_centers(self.source, self.frame, self.moments, k, "k-means++", 1, seed)[0]

    def centers(self, k: int, seed: int) -> Centers:
        return self.settled(self.seeds(k, seed), STEPS)

    def settled(self, start: Centers, steps: int) -> Centers:
        """The centres after some steps of k-means."""
        method = lloyd_for(self.frame, self.moments, TOL)
        (run,) = iterate(method, self.source, [start], max_iter=steps)
        if run.status == "interrupted":
            raise KeyboardInterrupt  # there is nothing to return yet
        return Centers(self.frame, run.model.offsets)


def _fine(table: _Surveyed, some: _Surveyed, many: int, seed: int) -> Centers:
    start = some.seeds(many, seed)
    if some is table:
        return table.settled(start, FINE_STEPS)
    # Few steps on the sample: in many columns a centre clings to the rows it has.
    first = some.settled(start, FIRST_STEPS)
    return table.settled(given_centers(table.frame, first.positions, many), FINE_STEPS)


def _joined(fine: Centers, mass: Vector, k: int) -> Centers:
    """The means of the groups that Ward's method makes of fine ones."""
    offsets, mass = fine.offsets[mass > 0], mass[mass > 0]
    group = cut_tree(link_points(offsets, mass, "ward"), k=k)
    share = np.eye(k)[group] * mass[:, None]
    return Centers(fine.frame, share.T @ offsets / share.sum(axis=0)[:, None])
