"""Sums of columns that are complete, in float64 whatever the rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel


@kernel
def column_sums(
    rows: NDArray[Any],  # (n, d) in
    origin: NDArray[np.float64],  # (d,) in
    sums: NDArray[np.float64],  # (d,) added to: sum x - origin
) -> None:
    """Four rows at a time: then sums are read and written a quarter as often."""
    n = len(rows)
    for four in range(n // 4):
        i = 4 * four
        a, b, c, d = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        for j in range(len(sums)):
            o = origin[j]
            sums[j] += ((a[j] - o) + (b[j] - o)) + ((c[j] - o) + (d[j] - o))
    for i in range(n - n % 4, n):
        row = rows[i]
        for j in range(len(sums)):
            sums[j] += row[j] - origin[j]
