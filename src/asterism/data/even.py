"""The same table in blocks of nearly equal size, a power of two of them.

Thirteen blocks on two threads take as long as fourteen, and the last is often short: for a method that goes over a
table ten times, and does little else, a sixth of its time. How many blocks there are depends on the table alone.
"""

from __future__ import annotations

import math

from asterism.data.reblocked import Reblocked
from asterism.data.source import Source

RUN = 128  # blocks have a multiple of so many rows: kernels take tiles of them


def in_even_blocks(source: Source) -> Source:
    """The same rows in 4, 8, 16, ... blocks, at most half as long again as the source's own.

    >>> import numpy as np
    >>> from asterism.data.source import ArraySource
    >>> source = ArraySource(np.zeros((100_000, 32)))
    >>> [(each.n_blocks, each.block_rows) for each in (source, in_even_blocks(source))]
    [(13, 8192), (16, 6272)]
    """
    n = source.n_blocks
    if n < 3 or source.sparse:
        return source
    count = 1 << round(math.log2(n))
    rows = -(-source.n_rows // (count * RUN)) * RUN
    return source if rows == source.block_rows else Reblocked(source, rows)
