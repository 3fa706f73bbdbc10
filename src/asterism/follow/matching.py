"""Which groups of a new search are groups of an old one.

Both models place the rows of the new table. A row *explained* by old group a is one whose likeliest old group is a,
and which is typical of it: typicality 1% or more, as 99 of 100 rows of the group itself. With

    E[a, b]   weight of the rows explained by a that are in new group b;     n_b: weight of b
    f_a       share that a had in the rows of its fit;                       n: weight of the new table

* heir     the pairs (a, b), one to one, that keep most rows explained; a pair counts where a explains a row in twenty
           of b, and is the group that explains most of b or still has its rows there
* gone     an old group without an heir, few of whose rows are left
* merged   an old group without an heir whose rows are still there, most of them in b: with b's other parents
* split    a new group without a parent to succeed, most of whose rows one old group explains
* born     any other new group: strangers to all that was there
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from asterism.data.block import Vector
from asterism.explain.typicality import UNUSUAL
from asterism.groups.figures import Standing

Array = NDArray[np.float64]
OVERLAP = 0.05  # convention: of a new group's rows, explained by the one it succeeds
LEFT = 0.25  # convention: of an old group's rows, below which it is not there any more
MOST = 0.5  # derived: more than all others together


@dataclass(frozen=True, eq=False)
class Overlap:
    """Rows of the new table by their old and their new group."""

    explained: Array  # (old, new) E
    nearest: Array  # (old, new) the same of all rows, by their likeliest old group
    new: Vector  # (new,) n_b
    expected: Vector  # (old,) n f_a
    alien: float  # share of rows that no old group explains, of rows of its own source

    @classmethod
    def of(
        cls,
        standing: Standing,
        labels: NDArray[np.int32],
        weights: Vector,
        shares: Vector,
        k: int,
        alien: float,
    ) -> Overlap:
        """Of rows whose new groups are ``labels``, 0 .. k - 1; those below 0 belong to none."""
        old = len(shares)
        here = (labels >= 0) & (weights > 0)
        with np.errstate(invalid="ignore"):  # where typicality is not known, every row counts as typical
            typical = here & ~(standing.typicality < UNUSUAL)
        cell = standing.own.astype(np.int64) * k + labels

        def table(rows: NDArray[np.bool_]) -> Array:
            return np.asarray(np.bincount(cell[rows], weights[rows], old * k), np.float64).reshape(old, k)

        new = np.bincount(labels[here], weights[here], k).astype(np.float64)
        return cls(table(typical), table(here), new, shares * float(weights.sum()), alien)

    @property
    def claims(self) -> Array:
        """(old, new) share of each new group that an old one explains."""
        return np.asarray(self.explained / np.maximum(self.new, np.finfo(float).tiny))


@dataclass(frozen=True)
class Match:
    """What became of every group."""

    heirs: dict[int, int]  # old -> the new group that it is
    gone: tuple[int, ...]  # old groups
    merged: dict[int, tuple[int, ...]]  # new -> old groups that it took up, beside the one it is
    split: dict[int, tuple[int, ...]]  # old -> new groups that were parts of it, beside the one it is
    born: tuple[int, ...]  # new groups


def match(overlap: Overlap) -> Match:
    """What became of every group.

    >>> e = np.array([[98.0, 0.0, 0.0], [0.0, 60.0, 0.0], [0.0, 55.0, 0.0]])
    >>> found = match(Overlap(e, e, np.array([100.0, 120.0, 40.0]), np.array([100.0, 60.0, 60.0]), 0.01))
    >>> found.heirs, found.merged, found.born
    ({0: 0, 1: 1}, {1: (2,)}, (2,))
    """
    explained, claims = overlap.explained, overlap.claims
    parent, child = explained.argmax(axis=0), explained.argmax(axis=1)
    enough = explained.max(axis=1) >= LEFT * overlap.expected

    def succeeds(a: int, b: int) -> bool:
        return (
            claims[a, b] >= OVERLAP
            and overlap.expected[a] > 0
            and bool(parent[b] == a or (child[a] == b and enough[a]))
        )

    pairs = zip(*linear_sum_assignment(explained, maximize=True), strict=True)
    heirs = {int(a): int(b) for a, b in pairs if succeeds(int(a), int(b))}
    taken = set(heirs.values())
    gone: list[int] = []
    born: list[int] = []
    merged: dict[int, tuple[int, ...]] = {}
    split: dict[int, tuple[int, ...]] = {}
    for a in (a for a in range(len(explained)) if a not in heirs and overlap.expected[a] > 0):
        b = int(child[a])
        most = explained[a, b] >= MOST * explained[a].sum()
        if enough[a] and most and b in taken:
            merged[b] = (*merged.get(b, ()), a)
        else:
            gone.append(a)
    for b in (b for b in range(explained.shape[1]) if b not in taken):
        a = int(parent[b])
        if a in heirs and claims[a, b] >= MOST:
            split[a] = (*split.get(a, ()), b)
        else:
            born.append(b)
    return Match(dict(sorted(heirs.items())), tuple(gone), merged, split, tuple(born))
