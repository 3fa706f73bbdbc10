"""Which centres share a bound, and how far they have gone (``kernels.grouped``).

A bound takes four bytes a row, so how many there are follows from the rows, the centres and a budget: from a bound
for every panel of sixteen centres down to one for all of them, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.engines.loop import MEMORY_BYTES

PANEL = 16  # centres that are scored together
FEW_COLUMNS = 48  # up to so many columns and masks, rows pass all centres as vector lanes (``kernels.scan``)
MANY_CENTERS = 25  # from here on, with rows of more columns, panels beat the other way to score


@dataclass(frozen=True)
class Groups:
    """Consecutive centres that share a bound."""

    span: int = 0  # panels of a group; 0: no bounds are kept
    lines: int = 0  # bounds of a row, for the candidate with most centres

    def count(self, k: int) -> int:
        """Groups of k centres."""
        return -(-panels(k) // self.span) if self.span else 0

    def fastest(self, gone: Vector) -> Vector:
        """(groups,) the farthest that a centre of each group has gone."""
        size = PANEL * self.span
        return np.array([gone[g * size : (g + 1) * size].max() for g in range(self.count(len(gone)))])


NO_GROUPS = Groups()


def panels(k: int) -> int:
    """Panels that k centres fill."""
    return -(-k // PANEL)


def in_panels(k: int, width: int) -> bool:
    """Whether centres are scored in panels, with rows of so many columns and masks."""
    return k >= MANY_CENTERS and width > FEW_COLUMNS


def groups_for(ks: Sequence[int], width: int, n: int) -> Groups:
    """The smallest groups whose bounds fit the budget, for candidates of ``ks`` centres on n rows.

    >>> groups_for([100], 65, 200_000), groups_for([100], 65, 2_000_000), groups_for([100], 65, 20_000_000)
    (Groups(span=1, lines=7), Groups(span=3, lines=3), Groups(span=0, lines=0))
    """
    many = [k for k in ks if in_panels(k, width)]
    if not many:
        return NO_GROUPS
    room = MEMORY_BYTES // (4 * n * len(ks)) - 2  # beside a label, and the distance from the own centre
    if room < 1:
        return NO_GROUPS
    most = panels(max(many))
    span = -(-most // min(room, most))
    return Groups(span, -(-most // span))


def window(bounds: NDArray[np.float32]) -> tuple[NDArray[np.float32], int]:
    """Lines of a larger array, as kernels take them: everything from their first to their last number, and the pitch.

    Rows of a slice are not known to be contiguous, and the compiler would make no vectors of them.
    """
    pitch = bounds.strides[0] // bounds.itemsize
    length = (len(bounds) - 1) * pitch + bounds.shape[1]
    return np.lib.stride_tricks.as_strided(bounds[0], (length,), (bounds.itemsize,)), pitch
