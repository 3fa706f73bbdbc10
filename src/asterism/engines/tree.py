"""Merging block statistics in a fixed binary tree over block numbers.

Node (level, i) covers blocks i * 2^level up to (i + 1) * 2^level. Two siblings merge left with right, whoever
finished first; a node without a right sibling rises as it is. So the order of additions, and with it every
bit of the result, depends on the number of blocks alone. Blocks that finish in order leave at most
log2(number of blocks) statistics waiting.
"""

from __future__ import annotations

import threading
from typing import Any


class MergeTree:
    """Collects statistics of blocks ``0 .. n_leaves - 1`` in any order, from any thread."""

    def __init__(self, n_leaves: int) -> None:
        self.n_leaves = n_leaves
        self._waiting: dict[tuple[int, int], Any] = {}
        self._lock = threading.Lock()

    def add(self, leaf: int, statistic: Any) -> None:
        """Put in the statistic of one block and merge upwards as far as siblings are there."""
        level, i, width = 0, leaf, self.n_leaves
        while width > 1:
            if i == width - 1 and i % 2 == 0:  # no right sibling: rise
                level, i, width = level + 1, i // 2, (width + 1) // 2
                continue
            with self._lock:
                sibling = self._waiting.pop((level, i ^ 1), None)
                if sibling is None:
                    self._waiting[level, i] = statistic
                    return
            statistic = sibling.merge(statistic) if i % 2 else statistic.merge(sibling)
            level, i, width = level + 1, i // 2, (width + 1) // 2
        self._waiting[-1, 0] = statistic

    def result(self) -> Any:
        """The statistic of all blocks."""
        return self._waiting[-1, 0]
