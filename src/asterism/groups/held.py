"""Groups of rows of which something was known: what a model alone would say of them does not count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.groups.outliers import Judged
from asterism.methods.linked import Labels

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Held:
    """Rows of a table by their numbers, their groups, and how probable each group is given what is known."""

    rows: NDArray[np.int64]  # (m,) ascending
    labels: Labels  # (m,)
    shares: Array  # (m, k)

    def reordered(self, order: Sequence[int]) -> Held:
        """With group ``order[0]`` first."""
        number = np.argsort(np.asarray(order)).astype(np.int32)
        return Held(self.rows, number[self.labels], self.shares[:, list(order)])

    def numbered(self, numbers: Sequence[int], places: int) -> Held:
        """With these numbers for the groups, out of so many."""
        at = np.asarray(numbers, np.int32)
        shares = np.zeros((len(self.rows), places))
        shares[:, at] = self.shares
        return Held(self.rows, at[self.labels], shares)

    def in_labels(self, labels: Labels) -> Labels:
        """(n,) groups of all rows, these in place of what a model says."""
        labels = labels.copy()
        labels[self.rows] = self.labels
        return labels

    def in_judged(self, judged: Judged) -> Judged:
        """None of these rows belongs to no group."""
        return replace(judged, labels=self.in_labels(judged.labels))

    def in_probabilities(self, probabilities: Array) -> Array:
        """(n, k) the same of probabilities."""
        probabilities = probabilities.copy()
        probabilities[self.rows] = self.shares
        return probabilities

    def in_ranked(self, ranked: Array, typicality: Vector) -> Array:
        """(n, 5) the same of the likeliest two groups (``GroupModel.ranked``): a row's own group comes first."""
        ranked, every = ranked.copy(), np.arange(len(self.rows))
        others = self.shares.copy()
        others[every, self.labels] = -1.0
        second = others.argmax(axis=1)
        lonely = self.shares.shape[1] == 1
        ranked[self.rows] = np.column_stack(
            [
                self.labels,
                self.shares[every, self.labels],
                np.where(lonely, -1, second),
                np.where(lonely, np.nan, others[every, second]),
                typicality[self.rows],
            ]
        )
        return ranked
