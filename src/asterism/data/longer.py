"""The same table in longer blocks, for statistics whose merging costs as much as their making.

Every block costs its merge, and a score of small array operations, between which threads wait for each other at the
interpreter. Where a block is one matrix product, four times as many rows a block halve the time of a pass.
"""

from __future__ import annotations

from asterism.data.block import MOST_ROWS
from asterism.data.reblocked import Reblocked
from asterism.data.source import Source

MOST_BYTES = 8 << 20  # of a longer block, counted at 8 bytes a cell
FEWEST = 16  # blocks of a table: enough that all threads end at about the same time


def in_longer_blocks(source: Source, fewest: int = FEWEST) -> Source:
    """The same rows in the longest blocks of up to 8 MB that leave the table in at least ``fewest`` of them.

    >>> import numpy as np
    >>> from asterism.data.source import ArraySource
    >>> source = ArraySource(np.zeros((200_000, 100), np.float32))
    >>> source.block_rows, in_longer_blocks(source).block_rows
    (2048, 8192)
    """
    if source.sparse:
        return source
    rows = source.block_rows
    most = min(MOST_BYTES // (8 * source.n_columns), MOST_ROWS, source.n_rows // fewest)
    while 2 * rows <= most:
        rows *= 2
    return source if rows == source.block_rows else Reblocked(source, rows)
