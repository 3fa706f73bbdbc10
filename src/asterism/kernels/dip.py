"""Hartigan's dip of a weighted sample: how far its distribution is from the nearest one with a single hump.

    dip = min over G with one hump of max |F - G|

With the hump at value number m, G is convex before it and concave after it, so the least possible distance is half
of what F rises above the greatest convex minorant of its lower corners on the left, or falls below the least concave
majorant of its upper corners on the right:

    dip = min_m max(left(m), right(m))      left(m) = max_{i <= m} (F(x_i) - minorant_m(x_i)) / 2

A longer stretch has a lower minorant, so left(m) grows with m and right(m) falls: m is found by halving.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import exact_kernel


@exact_kernel
def _left(
    x: NDArray[np.float64],  # (n,) in
    below: NDArray[np.float64],  # (n,) in
    above: NDArray[np.float64],  # (n,) in
    m: int,
    hull: NDArray[np.int64],  # (n,) scratch
) -> float:
    """left(m) for distinct ascending x, with F just before (below) and at (above) each."""
    size = 0
    for i in range(m + 1):  # lower hull of (x, below)
        while size > 1:
            a, b = hull[size - 2], hull[size - 1]
            if (below[b] - below[a]) * (x[i] - x[b]) < (below[i] - below[b]) * (x[b] - x[a]):
                break
            size -= 1
        hull[size] = i
        size += 1
    worst = 0.0
    for s in range(size):
        a = hull[s]
        worst = max(worst, above[a] - below[a])
        if s + 1 < size:
            b = hull[s + 1]
            slope = (below[b] - below[a]) / (x[b] - x[a])
            for i in range(a + 1, b):
                worst = max(worst, above[i] - (below[a] + slope * (x[i] - x[a])))
    return 0.5 * worst


@exact_kernel
def dip_of(
    x: NDArray[np.float64],  # (n,) in: distinct values, ascending
    w: NDArray[np.float64],  # (n,) in: their shares, adding up to 1
) -> float:
    """The dip; 1/(2n) at least for n equal shares, 1/4 for two far heaps of one half each (at most)."""
    n = len(x)
    below, above = np.empty(n), np.empty(n)
    total = 0.0
    for i in range(n):
        below[i] = total
        total += w[i]
        above[i] = total
    # Seen from the other end, the right side is a left side: x -> -x, F -> 1 - F.
    back_x, back_below, back_above = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        back_x[i] = -x[n - 1 - i]
        back_below[i] = total - above[n - 1 - i]
        back_above[i] = total - below[n - 1 - i]
    hull = np.empty(n, np.int64)
    low, high, best = 0, n - 1, 1.0
    while low <= high:
        m = (low + high) // 2
        left = _left(x, below, above, m, hull)
        right = _left(back_x, back_below, back_above, n - 1 - m, hull)
        best = min(best, max(left, right))
        if left < right:
            low = m + 1
        else:
            high = m - 1
    return best
