"""Some rows of a table by their numbers, brought together from its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Matrix, Vector


@dataclass(frozen=True, slots=True)
class PickedRows:
    """Rows with their numbers, which ascend."""

    numbers: NDArray[np.int64]  # (m,)
    rows: Matrix  # (m, d)
    weights: Vector  # (m,)

    @classmethod
    def of(cls, wanted: NDArray[np.int64], block: Block) -> PickedRows:
        """Those of ``wanted`` numbers, ascending, that are in a block."""
        first, last = np.searchsorted(wanted, [block.start, block.start + len(block)])
        numbers = wanted[first:last]
        here = numbers - block.start
        return cls(numbers, block.rows[here], block.weights[here])

    def merge(self, other: PickedRows) -> PickedRows:
        """Those of both."""
        numbers = np.concatenate([self.numbers, other.numbers])
        order = np.argsort(numbers, kind="stable")
        return PickedRows(
            numbers[order],
            np.concatenate([self.rows, other.rows])[order],
            np.concatenate([self.weights, other.weights])[order],
        )


def picking(wanted: NDArray[np.int64]) -> Any:
    """What a pass makes of every block."""
    return partial(PickedRows.of, wanted)
