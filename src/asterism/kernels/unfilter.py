"""Undoing the filters of PNG files: a byte is stored as its difference from a guess by its neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import exact_kernel


@exact_kernel
def unfilter(
    lines: NDArray[np.uint8],  # (height, 1 + width) in: the number of the filter, then the differences
    step: int,  # bytes of a pixel: the left neighbour is so far away
    out: NDArray[np.uint8],  # (height, width) out
) -> int:
    """byte = difference + guess mod 256; returns the first filter that does not exist, or -1.

    Guesses: 0 none, 1 left, 2 up, 3 their mean, 4 of left, up and the one between them the nearest to
    left + up - between (Paeth).
    """
    for i in range(len(out)):
        how = lines[i, 0]
        if how > 4:
            return int(how)
        for j in range(out.shape[1]):
            left = int(out[i, j - step]) if j >= step else 0
            up = int(out[i - 1, j]) if i > 0 else 0
            between = int(out[i - 1, j - step]) if i > 0 and j >= step else 0
            guess = 0
            if how == 1:
                guess = left
            elif how == 2:
                guess = up
            elif how == 3:
                guess = (left + up) >> 1
            elif how == 4:
                to_left, to_up = abs(up - between), abs(left - between)
                to_between = abs(left + up - 2 * between)
                guess = up if to_up <= to_between else between
                if to_left <= to_up and to_left <= to_between:
                    guess = left
            out[i, j] = (int(lines[i, 1 + j]) + guess) & 255
    return -1
